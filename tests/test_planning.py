"""Betas and sweeps by pilot: default calls converge and are right, or are named before they run."""

import re
import warnings
from types import SimpleNamespace

import numpy as np
import pytest
from helpers_models import hopfield_rbm, independent_rbm

import rbmlib as rl
from rbmlib.checks import generator
from rbmlib.estimators.rts import TRIPS
from rbmlib.sampling import planning

MODES = hopfield_rbm(100, 8, strength=2.5, rng=3)  # a round trip: 120 sweeps
PATH = rl.GeometricPath(MODES)
SMALL = rl.GeometricPath(rl.testsystems.random_rbm(12, 6, rng=0))
ESTIMATORS = [rl.sams, rl.wang_landau, rl.rts, rl.mbar, rl.ti]
FROZEN = rl.GeometricPath(hopfield_rbm(60, 4, strength=12.0, rng=0), np.zeros(60))


def assert_right(run, truth):
    assert run.converged
    assert run.details["round_trips"] >= 2
    assert abs(run.log_z - truth) < 3 * run.std_error
    assert run.std_error < 0.3


@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_a_default_call_is_not_flagged_and_right(estimator):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        run = estimator(PATH, rng=1)
    assert_right(run, rl.exact(MODES).log_z)
    assert run.details["planned"]["needed"] <= run.n_sweeps


@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_the_plan_given_outright_has_the_same_bits(estimator):
    run = estimator(SMALL, rng=3, n_chains=20)
    again = estimator(SMALL, run.betas, 20, run.n_sweeps, 3)
    assert again.log_z == run.log_z
    assert "planned" not in again.details
    assert run.details["planned"]["pilot_sweeps"] > 0


def test_the_plan_does_not_depend_on_threads_or_chains():
    plans = []
    for n in (1, 2):
        with rl.using(n_threads=n):
            plans.append(planning.planned("x", SMALL, None, None, generator(0), trips=TRIPS))
    one, two = plans
    assert np.array_equal(one.betas, two.betas)
    assert one.details == two.details
    run = rl.rts(SMALL, rng=0, n_chains=20)
    assert run.details["planned"] == one.details["planned"]


def test_what_is_given_stays():
    betas = rl.schedules.linear(7)
    rng = generator(0)
    plan = planning.planned("x", SMALL, betas, 100, rng, trips=3.0)
    assert plan.details == {}
    assert np.array_equal(plan.betas, betas)
    assert plan.n_sweeps == 100
    assert rng.random() == generator(0).random()
    assert planning.planned("x", SMALL, None, 100, rng, trips=3.0).n_sweeps == 100
    assert np.array_equal(planning.planned("x", SMALL, betas, None, rng, trips=3.0).betas, betas)


def test_sweeps_are_as_many_as_the_trips_take():
    """A long run with the planned betas makes as many round trips as foretold."""
    plan = planning.planned("x", PATH, None, None, generator(0), trips=40.0)
    run = rl.rts(PATH, plan.betas, 100, plan.n_sweeps, rng=5)
    assert 36 < run.details["round_trips"] < 60  # a pilot leaves trips unfinished


def test_round_trips_of_the_pilot_are_those_under_the_prior():
    """Both ends are hardly visited, so that it takes long to go from one to the other."""
    betas, prior = rl.schedules.linear(4), np.array([0.05, 1.0, 1.0, 1.0, 0.05])
    even, uneven = (
        planning.trip_time(SMALL, betas, r / r.sum(), generator(0)).sweeps_a_trip
        for r in (np.ones(5), prior)
    )
    assert uneven > 4 * even


def test_the_length_of_a_path_is_that_of_its_slopes():
    """Independent bits: the slope is a sum of b_i v_i, each of probability expit(beta b_i)."""
    bias = np.full(50, 4.0)
    rbm = independent_rbm(bias, [0.0])[0]
    betas, length = planning.own_ladder(rl.GeometricPath(rbm, np.zeros(50)), generator(0), 4)
    fine = (np.arange(10_000) + 0.5) / 10_000
    on = 1 / (1 + np.exp(-4 * fine))
    density = 4 * np.sqrt(50 * on * (1 - on))
    assert length == pytest.approx(density.mean(), rel=0.05)
    assert betas.size == np.ceil(4 * length) + 1
    at = np.interp(betas, fine, np.cumsum(density) / density.sum())
    assert np.abs(np.diff(at) * (betas.size - 1) - 1).max() < 0.3


def test_a_flat_path_is_cut_evenly():
    flat = rl.GeometricPath(rl.BernoulliRBM(np.zeros((6, 3)), np.ones(6), np.zeros(3)), np.ones(6))
    betas, length = planning.own_ladder(flat, generator(0), 4)
    assert length == pytest.approx(0, abs=1e-9)
    np.testing.assert_allclose(np.diff(betas), 1 / (betas.size - 1), rtol=1e-3)
    assert rl.rts(flat, rng=0).converged


def test_a_model_that_will_not_converge_is_named_before_the_run(monkeypatch):
    monkeypatch.setattr(planning, "MOST_SWEEPS", 100)
    monkeypatch.setattr(planning, "FEWEST_SWEEPS", 40)
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        run = rl.rts(PATH, rng=0)
    assert re.match(r"rts: this run will not converge: .* took [\d,]+ sweeps from end to end of "
                    r"the betas and back, for which about [\d,]+ sweeps are needed, and 100 at "
                    r"most are taken unasked; it takes 40 now", str(said[0].message))  # fmt: skip
    assert "inconclusive: " in str(said[1].message)
    assert run.n_sweeps == 40
    assert not run.converged


def test_no_round_trip_in_the_pilot_is_said(monkeypatch):
    monkeypatch.setattr(planning, "MOST_PILOT_SWEEPS", 200)
    with pytest.warns(rl.ConvergenceWarning, match=r"took more than 20,000 .* far more sweeps"):
        plan = planning.planned("x", FROZEN, [0.0, 1.0], None, generator(0), trips=3.0)
    assert plan.n_sweeps == planning.FEWEST_SWEEPS
    assert plan.details["planned"]["needed"] == np.inf


@pytest.mark.parametrize("estimator", [rl.sams, rl.wang_landau])
def test_the_error_of_adjusted_log_z_holds_the_memory_of_a_trip(estimator):
    run = estimator(SMALL, rng=3, n_chains=20)
    plain = estimator(SMALL, run.betas, 20, run.n_sweeps, 3)
    memory = run.details["planned"]["sweeps_a_trip"] / (0.7 * run.n_sweeps)
    assert run.details["memory"] == pytest.approx(memory)
    assert run.std_error == pytest.approx(np.hypot(plain.std_error, memory))
    assert run.interval[0] < plain.interval[0] < plain.interval[1] < run.interval[1]


def test_the_pilot_ends_with_the_fiftieth_trip(monkeypatch):
    """Twenty-five trips a block: two blocks, and so many sweeps of 100 chains a trip."""
    made = SimpleNamespace(round_trips=np.array([20, 5]))
    ends = None, np.zeros((100, 2)), np.zeros(100, int)
    monkeypatch.setattr(planning, "both_ends", lambda *_: ends)
    monkeypatch.setattr(planning, "simulated_tempering", lambda *_, **more: made)
    found = planning.trip_time(SMALL, np.array([0.0, 1.0]), None, None)
    assert found == (100 * 400 / 50, 50, 400)
