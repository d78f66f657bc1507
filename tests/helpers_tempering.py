"""A tempered run whose every log Z is known, as tests of what is estimated from it make it."""

import numpy as np

import rbmlib as rl
from rbmlib import GeometricPath

RBM = rl.testsystems.random_rbm(12, 6, coupling=4.0, rng=0)
PATH = GeometricPath(RBM, base=np.zeros(12))
BETAS = rl.schedules.linear(9)
EXACT = np.array([rl.exact(PATH.at(b)).log_z for b in BETAS])


def run(n_chains=50, n_sweeps=400, rng=0, guess=EXACT, **options):
    return rl.simulated_tempering(PATH, BETAS, guess, n_chains, n_sweeps, rng, **options)
