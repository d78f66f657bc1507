"""`log_z` chooses, runs, checks, and gives a verdict."""

import warnings

import numpy as np
import pytest
from helpers_models import coupled_rbm, independent_rbm, quiet, two_modes, with_idle_units

import rbmlib as rl
from rbmbook import load_reference
from rbmlib.automatic import problem


@pytest.fixture(scope="module")
def model():
    return coupled_rbm()


def test_small_models_are_enumerated(model):
    estimate = rl.log_z(model)
    assert (estimate.method, estimate.verdict) == ("exact", "exact")


def test_estimate_brackets_the_exact_value(model, without_sum):
    exact = rl.exact(model).log_z
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        estimate = rl.log_z(model, n_steps=1000, rng=0, enumerate_small=False)
    assert estimate.converged
    assert abs(estimate.log_z - exact) < 4 * estimate.std_error
    low, low_error = estimate.details["lower_bound"]
    high, high_error = estimate.details["upper_bound"]
    assert low - 4 * low_error < exact < high + 4 * high_error
    assert all(check.passed for check in estimate.checks)


def bases(monkeypatch, first, second):
    monkeypatch.setattr(problem, "first_base", lambda *_: first)
    monkeypatch.setattr(problem, "mean_field_biases", lambda rbm, smoothings: [second, second])


def test_a_missed_mode_is_found_by_the_runs_together(monkeypatch, without_paths_to_modes):
    """Forward AIS finds one of two modes, with a perfect ESS; the runs together disagree."""
    rbm, exact = two_modes()
    bases(monkeypatch, np.full(120, 3.0), np.zeros(120))
    with pytest.warns(rl.ConvergenceWarning, match="log_z: contradicted: "):
        estimate = rl.log_z(rbm, n_steps=266, rng=0, enumerate_small=False)
    assert estimate.ess > 0.9 * estimate.n_chains  # the forward run alone looks perfect
    value, error = estimate.details["first_base"]
    assert abs(value - exact) > 100 * error
    assert estimate.verdict == "contradicted"
    assert estimate.interval[0] < exact < estimate.interval[1]
    assert estimate.std_error > abs(value - exact) / 2


def test_a_mode_that_every_base_loses_gets_one_of_its_own(monkeypatch, without_sum):
    """The same model and bases, and others that lose the same mode: all of Z is found."""
    rbm, exact = two_modes()
    for first, second in ((3.0, 0.0), (3.0, 3.0), (0.0, 0.0)):
        bases(monkeypatch, np.full(120, first), np.full(120, second))
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            estimate = rl.log_z(rbm, n_steps=200, rng=0, enumerate_small=False)
        assert estimate.details["n_missed_modes"] > 0
        assert abs(estimate.log_z - exact) < 4 * estimate.std_error < 0.1
        assert estimate.verdict == "consistent"


def test_a_mode_that_all_runs_miss_is_found_by_its_bound(monkeypatch, without_paths_to_modes):
    """Forward, second base and reverse agree 12 nats below log Z; a mean-field bound does not.

    No upper bound is left then; the value and the lower end of the interval are the bound.
    """
    rbm, exact = with_idle_units(3.0, 12.0)
    bases(monkeypatch, np.full(300, 0.6), np.full(300, 0.6))
    words = "the highest lower bound, .* lies above the value by"
    with pytest.warns(rl.ConvergenceWarning, match=words):
        estimate = rl.log_z(rbm, n_steps=166, rng=0, enumerate_small=False)
    assert estimate.details["first_base"][0] - exact < -10
    *others, guard = (check.passed for check in estimate.checks)
    assert all(others)
    assert not guard
    assert estimate.verdict == "inconclusive", "the value that is returned is the bound"
    assert estimate.details["best_lower_bound"] == pytest.approx(exact, abs=0.01)
    assert estimate.log_z == estimate.details["best_lower_bound"]
    assert estimate.interval == (estimate.log_z, np.inf)


def test_a_model_without_couplings_is_exact_and_trusted():
    rbm, log_z = independent_rbm(np.zeros(40), np.zeros(25))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        estimate = rl.log_z(rbm, n_steps=100, rng=0)
    assert estimate.converged
    assert estimate.log_z == pytest.approx(log_z, rel=1e-12)
    assert estimate.interval == pytest.approx((log_z, log_z), rel=1e-9)


def test_the_interval_of_a_short_run_holds_what_its_checks_say():
    """pcd_500 from a few steps: the run is nats too low, and its own error bar hides it."""
    reference = load_reference()["pcd_500"]
    with pytest.warns(rl.ConvergenceWarning):
        estimate = rl.log_z(rl.load_rbm("pcd_500"), n_steps=100, n_chains=100, rng=0)
    value, error = estimate.details["first_base"]
    assert value + 4 * error < reference.log_z, "the check would have nothing to say"
    low, high = estimate.interval
    assert low < reference.log_z < high
    assert low > reference.log_z - 20


def many(rbm, n_steps, n_seeds, n_chains=None):
    options = {"n_steps": n_steps, "n_chains": n_chains, "enumerate_small": False}
    return [quiet(rl.log_z, rbm, rng=seed, **options) for seed in range(n_seeds)]


def holds(interval, value) -> bool:
    return interval[0] <= value <= interval[1]


@pytest.mark.statistical
def test_intervals_of_runs_that_pass_cover(without_sum):
    rbm = rl.testsystems.random_rbm(30, 10, coupling=6.0, rng=1)
    exact = rl.exact(rbm).log_z
    for n_steps in (20, 100):
        runs = [run for run in many(rbm, n_steps, 25, 200) if run.converged]
        assert len(runs) >= 20
        outside = sum(not holds(run.interval, exact) for run in runs)
        assert outside <= 6, f"{outside} of {len(runs)} miss log Z"  # P < 0.1%


@pytest.mark.statistical
def test_intervals_of_runs_that_fail_hold_what_was_missed(without_paths_to_modes):
    """Of two equal modes most runs find one only: log 2 too low, with a small error bar."""
    rbm, exact = two_modes()
    runs = [run for run in many(rbm, 100, 12) if not run.converged]
    assert len(runs) >= 6
    assert all(holds(run.interval, exact) for run in runs)
    first = [run.details["first_base"] for run in runs]
    missed = sum(abs(value - exact) > 4 * error for value, error in first)
    assert missed >= len(runs) / 2, "the checks would have nothing to say"
