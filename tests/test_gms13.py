"""Schedules of the chapters: moments at knots, and VAROPT by the paper's own iteration."""

import numpy as np
import pytest
from helpers_stats import all_states, log_sum

import rbmlib as rl
from rbmbook.gms13 import gms13
from rbmbook.varopt_solver import algorithm_3, varopt_by_iteration
from rbmlib import schedules


@pytest.fixture(scope="module")
def rbm():
    return rl.testsystems.random_rbm(30, 8, coupling=6.0, rng=3)


@pytest.fixture(scope="module")
def path(rbm):
    return rl.GeometricPath(rbm, base=np.zeros(30))


def test_fixed_point_iteration_agrees_with_the_quadrature(path):
    pilot = rl.ais(path, schedules.linear(2000), 200, 0, n_recorded=201, keep_chains=True)
    for smoothing in (2.0, 5.0):
        one = schedules.varopt(pilot, 400, smoothing=smoothing)
        two = varopt_by_iteration(pilot, 400, smoothing=smoothing)
        assert np.abs(one - two).max() < 2e-3


def test_gms13_follows_enumerated_moments(rbm, path):
    """Shares of the steps between knots, against moments summed over all hidden states."""
    n, knots = 100_000, np.linspace(0, 1, 5)
    h, means = all_states(8), []
    for beta in knots:
        visible = path.pieces[0].visible + h @ rbm.weights.T
        log_p = beta * (h @ rbm.hidden_bias) + np.logaddexp(0, beta * visible).sum(axis=1)
        p = np.exp(log_p - np.logaddexp.reduce(log_p))
        slope = h @ rbm.hidden_bias + (visible / (1 + np.exp(-beta * visible))).sum(axis=1)
        means.append(p @ slope)
    found = gms13(path, n, 2000, 0, n_knots=5, n_sweeps=400, n_burn_in=100)
    at_knots = np.interp(knots, found, np.arange(n + 1) / n)
    # means of 2,000 chains and 51 looks: some 1e-2 of the slopes' spread of about 5
    np.testing.assert_allclose(at_knots, shares(knots, np.diff(means)), atol=5e-3)


def shares(knots, rises):
    """Where the steps come to each knot."""
    share = np.sqrt(np.diff(knots) * rises)
    return np.concatenate([[0], np.cumsum(share / share.sum())])


def test_gms13_has_its_knots_where_a_trajectory_bends():
    """Even knots would average over bends: steps between checkpoints off by a tenth of them all."""
    rng = np.random.default_rng(1)
    w, b, a = rng.normal(size=(6, 3)), rng.normal(size=6), rng.normal(size=3)
    models = [rl.BernoulliRBM(t * w, t * b, t * a) for t in (0.0, 0.1, 2.0, 2.2)]
    path, n, states = rl.Polyline(models), 100_000, all_states(6)
    rises = []
    for low, high in zip(path.knots, path.knots[1:], strict=False):
        means = []
        for beta, side in ((low, low + 1e-9), (high, high - 1e-9)):
            log_p = path.log_density(states, beta)
            means.append(np.exp(log_p - log_sum(log_p)) @ path.log_density_slope(states, side))
        rises.append(means[1] - means[0])
    found = gms13(path, n, 1000, 0, n_sweeps=400, n_burn_in=100)
    at_knots = np.interp(path.knots, found, np.arange(n + 1) / n)
    np.testing.assert_allclose(at_knots, shares(path.knots, rises), atol=0.01)


def test_wrong_sweeps_are_named(path):
    with pytest.raises(ValueError, match="n_burn_in, 5"):
        gms13(path, 10, n_sweeps=5, n_burn_in=5)


@pytest.mark.parametrize("cap", [0.015, 0.012])
def test_algorithm_3_stops_rightly_only_with_its_flag_mended(cap):
    even = np.linspace(0, 1, 101)
    fast_first = 1 - (1 - even) ** 2
    assert algorithm_3(even, 0.02, printed=True)[1] == 1000  # nothing to cut: it never stops
    assert algorithm_3(even, 0.02, printed=False)[1] == 1
    cut_once, rounds = algorithm_3(fast_first, cap, printed=True)
    assert rounds == 1
    assert np.diff(cut_once).max() > 1.01 * cap
    mended, rounds = algorithm_3(fast_first, cap, printed=False)
    assert 1 < rounds < 1000
    wanted = rl.schedules.decelerate(fast_first, cap)
    assert mended == pytest.approx(wanted, abs=1e-4)  # its loops leave out the last step
