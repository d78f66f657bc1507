"""`log_z` chooses, runs, checks, and says whether to trust it."""

import warnings

import numpy as np
import pytest
from helpers_models import coupled_rbm, two_modes, with_idle_units

import rbmlib as rl
from rbmlib.automatic import rounds


@pytest.fixture(scope="module")
def model():
    return coupled_rbm()


def test_small_models_are_enumerated(model):
    estimate = rl.log_z(model)
    assert estimate.method == "exact"
    assert estimate.settings["lower_bound"] == estimate.settings["upper_bound"]


def test_estimate_brackets_the_exact_value(model, without_sum):
    exact = rl.exact(model).log_z
    estimate = rl.log_z(model, n_steps=1000, rng=0, enumerate_small=False)
    assert estimate.converged
    assert abs(estimate.log_z - exact) < 4 * estimate.std_error
    (low, low_error), (high, high_error) = (
        estimate.settings["lower_bound"],
        estimate.settings["upper_bound"],
    )
    assert low - 4 * low_error < exact < high + 4 * high_error
    assert all(estimate.settings["checks"].values())


def bases(monkeypatch, first, second):
    monkeypatch.setattr(rounds, "first_base", lambda *_: first)
    monkeypatch.setattr(rounds, "mean_field_biases", lambda rbm, smoothings: [second, second])


def test_a_missed_mode_is_found_by_the_runs_together(monkeypatch, without_cover):
    """Forward AIS finds one of two modes, with a perfect ESS; the runs together disagree."""
    rbm, exact = two_modes()
    bases(monkeypatch, np.full(120, 3.0), np.zeros(120))
    with pytest.warns(rl.ConvergenceWarning, match="do not trust"):
        estimate = rl.log_z(rbm, n_steps=266, rng=0, enumerate_small=False)
    assert estimate.ess > 0.9 * estimate.n_chains  # the forward run alone looks perfect
    value, error = estimate.settings["first_base"]
    assert abs(value - exact) > 100 * error
    assert not estimate.converged
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
        assert estimate.settings["n_parts"] > 1
        assert abs(estimate.log_z - exact) < 4 * estimate.std_error < 0.1
        assert estimate.settings["verdict"].startswith("trust")


def test_a_mode_that_all_runs_miss_is_found_by_its_mean_field_bound(monkeypatch, without_cover):
    """Forward, second base and reverse agree 12 nats below log Z; a mean-field bound does not.

    No upper bound is left then, and the lower end of the interval is the mean-field bound.
    """
    rbm, exact = with_idle_units(3.0, 12.0)
    bases(monkeypatch, np.full(300, 0.6), np.full(300, 0.6))
    with (
        pytest.warns(
            rl.ConvergenceWarning, match="no sum over states or mean-field bound lies above"
        ),
        rl.using(second_opinion=False),
    ):
        estimate = rl.log_z(rbm, n_steps=166, rng=0, enumerate_small=False)
    assert estimate.log_z - exact < -10
    *others, guard = estimate.settings["checks"].values()
    assert all(others)
    assert not guard
    assert estimate.settings["verdict"].startswith("do not trust")
    assert "a mode was missed" in estimate.settings["verdict"]
    assert estimate.settings["best_lower_bound"] == pytest.approx(exact, abs=0.01)
    assert estimate.interval == (estimate.settings["best_lower_bound"], np.inf)


def test_a_model_without_couplings_is_exact_and_trusted():
    rbm, log_z = rl.testsystems.independent_rbm(np.zeros(40), np.zeros(25))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        estimate = rl.log_z(rbm, n_steps=100, rng=0)
    assert estimate.converged
    assert estimate.log_z == pytest.approx(log_z, rel=1e-12)
    assert estimate.interval == pytest.approx((log_z, log_z), rel=1e-9)


def test_no_warning_where_all_is_well(model):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        rl.log_z(model, n_steps=1000, rng=1, enumerate_small=False)
