"""Runs of RTS that the chapter's sweeps begin in several ways."""

from itertools import islice

import numpy as np
import pytest

import rbmlib as rl
from rbmbook.experiments.rts import beginnings as experiments
from rbmbook.sweeps.words import ESTIMATORS
from rbmlib.estimators.rts import rounds, rts

RBM = rl.testsystems.random_rbm(12, 6, coupling=4.0, rng=0)
PATH = rl.GeometricPath(RBM, base=np.zeros(12))
BETAS = rl.schedules.linear(9)
EXACT = rl.exact(RBM).log_z
pytestmark = pytest.mark.filterwarnings("ignore::rbmlib.ConvergenceWarning")
OPTIONS = {"prior": np.full(10, 0.1), "conditional": "joint"}


def task(name, **settings):
    return ESTIMATORS[name](PATH, BETAS, 3, **settings)


def test_rounds_are_kept_on_the_way():
    run, more = task("rounds", n_chains=20, n_sweeps=400, round_sweeps=100, round_burn_in=10)
    source = np.random.default_rng(3)
    options = experiments.uniform_prior(BETAS, "joint")
    wanted = list(islice(rounds(PATH, BETAS, 20, source, options, n_sweeps=100, burn_in=10), 4))
    assert run.log_z == more["log_z_400"] == wanted[-1].log_z_path[-1]
    assert np.isnan(run.std_error)
    assert more["log_z_250"] == more["log_z_200"] == wanted[1].log_z_path[-1]
    assert np.isnan(more["log_z_50"])
    assert np.isnan(more["log_z_500"])
    distance = np.array([one.distance for one in wanted])
    assert more["least_distance"] == distance.min()
    assert more["n_close"] == (distance < 0.1).sum()


def test_when_rounds_were_close_is_counted_in_sweeps():
    _, more = task("rounds", n_chains=400, n_sweeps=2000, round_sweeps=500, round_burn_in=10)
    assert more["close_after"] in (500, 1000, 1500, 2000)
    _, never = task("rounds", n_chains=5, n_sweeps=100)
    assert np.isnan(never["close_after"])


@pytest.mark.parametrize("begin", experiments.BEGINNINGS)
def test_every_start_is_followed_by_the_same_run(begin):
    estimate, more = task("begun", begin=begin, n_chains=20, n_sweeps=600)
    assert abs(estimate.log_z - EXACT) < 1.5
    assert abs(more["rts"] - EXACT) < 5 * more["rts_error"] + 0.1
    assert 0 < more["distance"] < 2
    assert more["round_trips"] > 2


def test_rts_goes_on_from_rounds():
    estimate, more = task("rts_from_rounds", n_chains=20, n_sweeps=400, round_burn_in=10)
    again = rts(PATH, BETAS, 20, 400, 3, start="paper", round_burn_in=10)
    assert estimate.log_z == again.log_z
    assert 1 <= more["n_rounds"] <= 10
    assert abs(more["start_log_z"] - EXACT) < 2


def test_rts_goes_on_after_more_rounds():
    estimate, more = task(
        "rts_after_rounds", n_chains=20, n_sweeps=400, n_rounds=12, round_burn_in=10
    )
    every = rounds(PATH, BETAS, 20, np.random.default_rng(3), OPTIONS, burn_in=10)
    *_, last = islice(every, 12)
    assert more["start_log_z"] == last.log_z_path[-1]
    assert abs(estimate.log_z - EXACT) < 5 * estimate.std_error
