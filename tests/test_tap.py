"""TAP: the orders of its error, derivatives and fixed points, what is flagged."""

import math
import warnings

import numpy as np
import pytest
from helpers_stats import log_sum, rbm_table
from scipy.special import expit, logit

import rbmlib as rl
from rbmbook.models import of_spins
from rbmlib.estimators.tap_solvers import Expansion

MODELS = ["pcd_10", "cd25_20"]


@pytest.mark.parametrize("order", [1, 2, 3])
def test_the_gradient_and_the_hessian_are_derivatives(order):
    rbm = rl.testsystems.random_rbm(7, 5, coupling=4.0, rng=2)
    expansion, step = Expansion.of(rbm, order), 1e-6
    m = np.random.default_rng(0).uniform(0.1, 0.9, 12)

    def rises(function):
        ends = [[function(logit(m + s * e)[None])[0] for s in (step, -step)] for e in np.eye(12)]
        return np.array([(up - down) / (2 * step) for up, down in ends])

    x = logit(m)
    gradient = expansion.gradient(x[None])[0]
    np.testing.assert_allclose(gradient, rises(expansion.free_energy), rtol=1e-6, atol=1e-6)
    d_v, d_h, block = expansion.hessian(x)
    hessian = np.block([[np.diag(d_v), block], [block.T, np.diag(d_h)]])
    wanted = rises(expansion.gradient)
    np.testing.assert_allclose(hessian, wanted, atol=1e-6 * np.abs(wanted).max())


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("order", [1, 2, 3])
def test_gradient_is_zero_at_every_fixed_point(model, order):
    estimate = rl.tap(rl.load_rbm(model), order, rng=1, n_starts=2)
    points, expansion = estimate.states, Expansion.of(rl.load_rbm(model), order)
    assert estimate.details["solved"]
    assert points.n_starts.sum() == 2
    logits = np.hstack([points.visible_logit, points.hidden_logit])
    assert np.abs(expansion.gradient(logits)).max() < 1e-9
    np.testing.assert_allclose(expansion.free_energy(logits), points.free_energy)
    np.testing.assert_allclose(np.hstack([points.visible, points.hidden]), expit(logits))
    assert np.all(np.diff(points.free_energy) > 0)
    assert estimate.log_z == -points.free_energy[0]


@pytest.mark.parametrize("order", [1, 2, 3])
def test_log_z_is_exact_to_the_stated_order(order):
    """Halving the couplings divides the error by 2 ** (order + 1)."""
    rng = np.random.default_rng(3)
    weights, b, a = rng.normal(size=(6, 4)), rng.normal(size=6), rng.normal(size=4)
    errors = []
    for scale in (0.04, 0.02, 0.01):
        rbm = rl.BernoulliRBM(scale * weights, b, a)
        errors.append(rl.tap(rbm, order, n_starts=2).log_z - float(log_sum(rbm_table(rbm))))
    powers = np.log2(np.divide(errors[:-1], errors[1:]))
    assert abs(powers[1] - (order + 1)) < 0.15
    assert abs(powers[1] - (order + 1)) < abs(powers[0] - (order + 1))


@pytest.mark.parametrize("order", [1, 2, 3])
def test_minimising_never_raises_the_free_energy(order):
    rbm = rl.testsystems.random_rbm(40, 15, coupling=12.0, rng=4)
    history = rl.tap(rbm, order, n_starts=30, rng=2).trace["free_energy"]
    assert history.shape[1] == 30
    assert np.diff(history, axis=0).max() < 1e-9
    assert history[0].min() > history[-1].max() + 1


def test_layers_may_be_exchanged_and_the_scale_is_kept():
    rbm = rl.testsystems.random_rbm(9, 6, coupling=2.0, rng=7)
    scaled = rl.BernoulliRBM(rbm.weights, rbm.visible_bias, rbm.hidden_bias, log_scale=3.5)
    for order in (1, 2, 3):
        here, there = rl.tap(rbm, order), rl.tap(scaled, order)
        assert here.bound == ("lower" if order == 1 else None)
        assert order > 1 or here.mean_log_z == here.log_z < rl.exact(rbm).log_z
        assert rl.tap(rbm.transposed(), order).log_z == pytest.approx(here.log_z, abs=1e-9)
        assert there.log_z == pytest.approx(here.log_z + 3.5, abs=1e-9)
        wanted = {name: value + 3.5 for name, value in here.details["orders"].items()}
        assert there.details["orders"] == pytest.approx(wanted, abs=1e-9)


def test_modes_are_told_apart_and_summed():
    """Two modes of equal weight, far apart: the sum over fixed points is log 2 above each."""
    rbm, log_z = rl.testsystems.two_mode_rbm(40, strength=3.0)
    estimate = rl.tap(rbm, 1, n_starts=40)
    assert len(estimate.states.free_energy) == 2
    assert estimate.log_z == pytest.approx(log_z - math.log(2), abs=1e-6)
    assert estimate.details["log_z_sum"] == pytest.approx(log_z, abs=1e-6)


def test_minima_and_saddles():
    """A symmetric pair of modes: the symmetric point between them is a saddle."""
    weights = np.full((1, 1), 8.0)
    rbm = rl.BernoulliRBM(weights, [-4.0], [-4.0])
    middle = rl.tap(rbm, 1, starts=[[0.5]])
    assert middle.states.visible[0, 0] == pytest.approx(0.5)
    assert not middle.states.is_minimum[0]
    assert np.all(rl.tap(rbm, 1, starts=[[0.9]]).states.is_minimum)


def test_a_value_without_meaning_is_flagged():
    """TAP2 of pcd_20 is 37 nats too high."""
    rbm = rl.load_rbm("pcd_20")
    with pytest.warns(
        rl.ConvergenceWarning, match=r"unreliable.*TAP2 and TAP3 differ by 10.*52\.1"
    ):
        estimate = rl.tap(rbm, order=2, rng=0, n_starts=2)
    truth, orders = rl.exact(rbm).log_z, estimate.details["orders"]
    assert estimate.log_z - truth > 30
    assert orders["mean field"] < truth < orders["TAP3"] < orders["TAP2"] == estimate.log_z
    assert estimate.details["disagreement"] == pytest.approx(52.1, abs=0.05)
    assert not all(check.passed for check in estimate.checks)
    assert (estimate.details["solved"], estimate.converged) == (True, False)


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("order", [1, 2, 3])
def test_a_good_value_is_not_flagged(order):
    rbm = rl.testsystems.random_rbm(20, 10, coupling=0.6, rng=0)
    estimate = rl.tap(rbm, order)
    alone = rl.tap(rbm, order, compare=False)
    with rl.using(independent_check=False):
        unasked = rl.tap(rbm, order)
    assert abs(estimate.log_z - rl.exact(rbm).log_z) < 0.1
    assert all(check.passed for check in estimate.checks)
    assert estimate.checks[-1].name.startswith("the sum over all 1,024 states differs")
    assert (estimate.converged, alone.converged, unasked.converged) == (True, False, False)
    assert all(check.passed for check in unasked.checks)
    assert str(unasked).endswith("no error bar (20 x 10, units 0/1), inconclusive")
    assert math.isnan(estimate.std_error)
    assert estimate.log_z == alone.log_z
    assert "orders" not in alone.details
    for other, value in zip((1, 2, 3), estimate.details["orders"].values(), strict=True):
        assert value == pytest.approx(rl.tap(rbm, other).log_z, abs=1e-8)


def test_a_value_below_the_mean_field_bound_is_flagged():
    """Two modes of which the start leads to the lighter one, 20 nats below the other."""
    rbm = rl.BernoulliRBM(np.full((20, 1), 6.0), np.full(20, -3.0), [-40.0])
    with pytest.warns(rl.ConvergenceWarning, match="the mean-field bound, .* lies above"):
        low = rl.tap(rbm, 1, starts=[np.zeros(20)])
    assert low.details["orders"]["mean field"] - low.log_z == pytest.approx(20, abs=0.1)
    assert low.details["orders"]["mean field"] <= rl.exact(rbm).log_z + 1e-9


def test_modes_of_equal_weight_are_flagged():
    """Of two modes TAP2 counts one: log 2 is less than a nat, log 4 is more."""
    pair = np.kron(np.eye(2), np.full((10, 1), 6.0))
    rbm = rl.BernoulliRBM(pair, np.full(20, -3.0), np.full(2, -30.0))
    with pytest.warns(rl.ConvergenceWarning, match="other fixed points add 1.39 nats"):
        rl.tap(rbm, 2, n_starts=60)


def test_what_did_not_converge_is_said():
    with pytest.warns(rl.ConvergenceWarning, match="2 of 2 starts did not converge"):
        estimate = rl.tap(rl.load_rbm("pcd_10"), 2, n_starts=2, max_sweeps=1)
    assert (estimate.details["solved"], estimate.converged) == (False, False)
    assert math.isnan(estimate.log_z)
    assert len(estimate.states.free_energy) == 0


def test_one_start_of_two_that_is_solved_is_not_enough():
    rbm = rl.testsystems.random_rbm(12, 6, rng=0)
    whole = rl.tap(rbm, 1, n_starts=1, compare=False)
    begin = np.stack([whole.states.visible[0], np.linspace(0.01, 0.99, 12)])
    with pytest.warns(rl.ConvergenceWarning, match="1 of 2 starts did not converge"):
        half = rl.tap(rbm, 1, starts=begin, max_sweeps=1, compare=False)
    assert half.details["n_solved"] == 1
    assert (half.details["solved"], half.converged) == (False, False)
    assert half.log_z == pytest.approx(whole.log_z, abs=1e-6)


def test_without_fields_the_third_order_is_no_check():
    """Spin: TAP3 repeats TAP2 however far both are off. Weak couplings need no such check."""
    weights = np.random.default_rng(0).normal(size=(60, 14))
    for strength, flagged in ((0.02, False), (0.3, True)):
        rbm = of_spins(strength * weights, np.zeros(60), np.zeros(14))
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            estimate = rl.tap(rbm, 2, starts=[[0.5] * 60])
        orders = estimate.details["orders"]
        assert orders["TAP2"] == pytest.approx(orders["TAP3"], abs=1e-9)
        assert all(check.passed for check in estimate.checks[:-1]) is not flagged  # but for the sum
        assert estimate.converged is not flagged
        assert any("TAP3 repeats" in str(one.message) for one in caught) is flagged
