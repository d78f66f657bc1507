"""Runs of RTS that the chapter's sweeps begin in several ways."""

import numpy as np
import pytest

import rbmlib as rl
from rbmbook.carlson2016.rounds import distance, rounds, rts_from_rounds
from rbmbook.sweeps.words import ESTIMATORS

RBM = rl.testsystems.random_rbm(12, 6, coupling=4.0, rng=0)
PATH = rl.GeometricPath(RBM, base=np.zeros(12))
BETAS = rl.schedules.linear(9)
EXACT = rl.exact(RBM).log_z
pytestmark = pytest.mark.filterwarnings("ignore::rbmlib.ConvergenceWarning")


def task(name, **settings):
    return ESTIMATORS[name](PATH, BETAS, 3, **settings)


def test_rounds_are_kept_on_the_way():
    run, more = task("rounds", n_chains=20, n_sweeps=400, round_sweeps=100, round_burn_in=10)
    wanted = rounds(PATH, BETAS, 20, 3, 4, sweeps=100, left_out=10)
    assert run.log_z == more["log_z_400"] == wanted[-1].guesses[-1]
    assert np.isnan(run.std_error)
    assert more["log_z_250"] == more["log_z_200"] == wanted[1].guesses[-1]
    assert np.isnan(more["log_z_50"])
    assert np.isnan(more["log_z_500"])
    far = np.array([distance(one.shares) for one in wanted])
    assert more["least_distance"] == far.min()
    assert more["n_close"] == (far < 0.1).sum()


def test_when_rounds_were_close_is_counted_in_sweeps():
    _, more = task("rounds", n_chains=400, n_sweeps=2000, round_sweeps=500, round_burn_in=10)
    assert more["close_after"] in (500, 1000, 1500, 2000)
    _, never = task("rounds", n_chains=5, n_sweeps=100)
    assert np.isnan(never["close_after"])


def test_rts_goes_on_from_rounds():
    estimate, more = task("rts_from_rounds", n_chains=20, n_sweeps=400, round_burn_in=10)
    again, made = rts_from_rounds(PATH, BETAS, 20, 400, 3, left_out=10)
    assert estimate.log_z == again.log_z
    assert more["n_rounds"] == len(made) <= 10
    assert abs(more["start_log_z"] - EXACT) < 2
