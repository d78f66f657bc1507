"""Runs of RTS that the chapter's sweeps begin in several ways."""

import numpy as np
import pytest

import rbmlib as rl
from rbmbook.carlson2016.rounds import rts_from_rounds
from rbmbook.sweeps.words import ESTIMATORS

RBM = rl.testsystems.random_rbm(12, 6, coupling=4.0, rng=0)
PATH = rl.GeometricPath(RBM, base=np.zeros(12))
BETAS = rl.schedules.linear(9)
EXACT = rl.exact(RBM).log_z
pytestmark = pytest.mark.filterwarnings("ignore::rbmlib.ConvergenceWarning")


def task(name, **settings):
    return ESTIMATORS[name](PATH, BETAS, 3, **settings)


def test_rts_goes_on_from_rounds():
    estimate, more = task("rts_from_rounds", n_chains=20, n_sweeps=400, round_burn_in=10)
    again, made = rts_from_rounds(PATH, BETAS, 20, 400, 3, left_out=10)
    assert estimate.log_z == again.log_z
    assert more["n_rounds"] == len(made) <= 10
    assert abs(more["start_log_z"] - EXACT) < 2
