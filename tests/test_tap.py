"""TAP: the expansion against exact Legendre transforms, fixed points by complex steps."""

import math
import warnings
from functools import cache

import numpy as np
import pytest
from helpers_stats import all_states, log_sum, rbm_table
from scipy.optimize import root

import rbmlib as rl
from rbmbook.testsystems import of_spins
from rbmlib.estimators.tap_solvers import Expansion

MODELS = ["pcd_10", "cd25_20"]


def plain_free_energy(rbm, order, on, off):
    """Gamma from magnetisations of (visible, hidden) and their complements; complex is fine.

    The terms are written out as in eq. (14) of the report, with its a and b exchanged.
    """
    (v, h), (cv, ch) = on, (on[0] * off[0], on[1] * off[1])
    value = sum((m * np.log(m) + q * np.log(q)).sum() for m, q in zip(on, off, strict=True))
    value -= rbm.visible_bias @ v + rbm.hidden_bias @ h + v @ rbm.weights @ h
    if order > 1:
        value -= cv @ power(rbm, 2) @ ch / 2
    if order > 2:
        value -= 2 / 3 * (cv * (off[0] - v) / 2) @ power(rbm, 3) @ (ch * (off[1] - h) / 2)
    return value


@cache
def power(rbm, n):
    return rbm.weights**n


def complex_step_gradient(rbm, order, logits):
    """d Gamma / dm of every unit, from Gamma alone."""
    on = [1 / (1 + np.exp(-x)) for x in logits]
    off = [1 / (1 + np.exp(x)) for x in logits]
    out = []
    for layer in (0, 1):
        for i in range(on[layer].size):
            up, down = [m.astype(complex) for m in on], [q.astype(complex) for q in off]
            h = 1e-30 * min(on[layer][i], off[layer][i])
            up[layer][i] += 1j * h
            down[layer][i] -= 1j * h
            out.append(plain_free_energy(rbm, order, up, down).imag / h)
    return np.array(out)


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("order", [1, 2, 3])
def test_gradient_is_zero_at_every_fixed_point(model, order):
    rbm = rl.load_rbm(model)
    estimate = rl.tap(rbm, order, rng=1, n_starts=2)
    points = estimate.states
    assert estimate.details["solved"]
    assert points.n_starts.sum() == 2
    for i in range(len(points.free_energy)):
        logits = points.visible_logit[i], points.hidden_logit[i]
        assert np.abs(complex_step_gradient(rbm, order, logits)).max() < 1e-10
        on = points.visible[i], points.hidden[i]
        off = [1 / (1 + np.exp(x)) for x in logits]
        assert plain_free_energy(rbm, order, on, off) == pytest.approx(points.free_energy[i])
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


def legendre(weights, m_v, m_h):
    """The exact Gamma of two layers without biases, at given magnetisations, by enumeration."""
    v, h = all_states(m_v.size), all_states(m_h.size)
    pairs = np.concatenate([np.repeat(v, len(h), 0), np.tile(h, (len(v), 1))], axis=1)
    m, coupling = np.concatenate([m_v, m_h]), np.einsum("ri,ij,cj->rc", v, weights, h).ravel()

    def moments(q):
        logs = coupling + pairs @ q
        return np.exp(logs - log_sum(logs)) @ pairs - m

    q = root(moments, np.log(m / (1 - m)), tol=1e-14).x
    return m @ q - log_sum(coupling + pairs @ q)


@pytest.mark.parametrize("order", [1, 2, 3])
def test_expansion_of_the_exact_legendre_transform(order):
    """At any magnetisations, not only at stationary ones, the remainder is of the next order."""
    rng = np.random.default_rng(5)
    weights = rng.normal(size=(3, 2))
    m_v, m_h = rng.uniform(0.15, 0.9, 3), rng.uniform(0.15, 0.9, 2)
    logits = np.concatenate([np.log(m / (1 - m)) for m in (m_v, m_h)])[None]
    errors = []
    for scale in (0.4, 0.2, 0.1):
        expansion = Expansion.of(rl.BernoulliRBM(scale * weights, np.zeros(3), np.zeros(2)), order)
        errors.append(expansion.free_energy(logits)[0] - legendre(scale * weights, m_v, m_h))
    assert np.abs(np.log2(np.divide(errors[:-1], errors[1:])) - (order + 1)).max() < 0.3


@pytest.mark.parametrize("order", [1, 2, 3])
def test_hessian(order):
    rbm = rl.testsystems.random_rbm(7, 5, coupling=4.0, rng=2)
    expansion = Expansion.of(rbm, order)
    rng = np.random.default_rng(0)
    m = rng.uniform(0.1, 0.9, 12)
    step = 1e-6

    def gradient(m):
        return expansion.gradient(np.log(m / (1 - m))[None])[0]

    numeric = [(gradient(m + step * e) - gradient(m - step * e)) / (2 * step) for e in np.eye(12)]
    d_v, d_h, block = expansion.hessian(np.log(m / (1 - m)))
    ours = np.block([[np.diag(d_v), block], [block.T, np.diag(d_h)]])
    assert np.allclose(ours, numeric, atol=1e-6 * np.abs(ours).max())


@pytest.mark.parametrize("order", [1, 2, 3])
def test_minimising_never_raises_the_free_energy(order):
    rbm = rl.testsystems.random_rbm(40, 15, coupling=12.0, rng=4)
    history = rl.tap(rbm, order, n_starts=30, rng=2).trace["free_energy"]
    assert history.shape[1] == 30
    assert np.diff(history, axis=0).max() < 1e-9
    assert history[0].min() > history[-1].max() + 1


def test_mean_field_is_a_lower_bound():
    for seed in range(5):
        rbm = rl.testsystems.random_rbm(14, 8, coupling=6.0, rng=seed)
        estimate = rl.tap(rbm, 1, rng=seed)
        assert estimate.bound == "lower"
        assert estimate.mean_log_z == estimate.log_z <= rl.exact(rbm).log_z
        assert np.all(estimate.states.is_minimum)


def test_layers_may_be_exchanged_and_the_scale_is_kept():
    rbm = rl.testsystems.random_rbm(9, 6, coupling=2.0, rng=7)
    scaled = rl.BernoulliRBM(rbm.weights, rbm.visible_bias, rbm.hidden_bias, log_scale=3.5)
    for order in (1, 2, 3):
        here, there = rl.tap(rbm, order), rl.tap(scaled, order)
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
    """TAP2 of pcd_20 is 37 nats too high: its terms are larger, order by order, not smaller."""
    rbm = rl.load_rbm("pcd_20")
    with pytest.warns(rl.ConvergenceWarning) as caught:
        estimate = rl.tap(rbm, order=2, rng=0, n_starts=2)
    truth, said = rl.exact(rbm).log_z, str(caught[0].message)
    assert estimate.log_z - truth > 30
    orders = estimate.details["orders"]
    assert orders["mean field"] < truth < orders["TAP3"] < orders["TAP2"] == estimate.log_z
    assert "this value, which has no error bar, is unreliable" in said
    assert "TAP2 and TAP3 differ by 10" in said
    assert "span 52.1 nats" in said
    assert estimate.details["disagreement"] == pytest.approx(52.1, abs=0.05)
    assert not all(check.passed for check in estimate.checks)
    assert estimate.details["solved"]
    assert not estimate.converged  # solved, and refuted
    first, second, _ = (term.sum() for term in terms_of(rbm, estimate.states))
    assert second > 10 * first > 0


def terms_of(rbm, points):
    """The terms of Gamma of order 1, 2 and 3 at the lowest fixed point."""
    v, h = points.visible[0], points.hidden[0]
    kappa = [(m, m * (1 - m), m * (1 - m) * (1 - 2 * m)) for m in (v, h)]
    for n in range(3):
        yield np.outer(kappa[0][n], kappa[1][n]) * rbm.weights ** (n + 1) / math.factorial(n + 1)


@pytest.mark.parametrize("order", [1, 2, 3])
def test_a_good_value_is_not_flagged(order):
    """It has converged by the sum over all states alone."""
    rbm = rl.testsystems.random_rbm(20, 10, coupling=0.6, rng=0)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
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
    with pytest.warns(rl.ConvergenceWarning, match="mean field bounds log Z from below"):
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
    rbm = rl.load_rbm("pcd_10")
    with pytest.warns(rl.ConvergenceWarning, match="2 of 2 starts did not converge"):
        estimate = rl.tap(rbm, 2, n_starts=2, max_sweeps=1)
    assert not estimate.converged
    assert not estimate.details["solved"]
    assert math.isnan(estimate.log_z)
    assert len(estimate.states.free_energy) == 0


def test_one_start_of_two_that_is_solved_is_not_enough():
    """The first is a fixed point already; the other is not there after one sweep."""
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
