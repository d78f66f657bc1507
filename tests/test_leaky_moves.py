"""Drift, memory and bias of the moves of leaky RBMs."""

import numpy as np
import pytest

import rbmlib as rl
from rbmbook import leaky_bias, leaky_moves
from rbmlib.models.testsystems import orthogonal_leaky_rbm


def test_only_fields_below_zero_count():
    eta = np.array([[-1.0, 2.0, -3.0], [0.0, 4.0, 1.0]])
    assert leaky_moves.negative_squares(eta).tolist() == [5.0, 0.0]


@pytest.mark.statistical
def test_the_published_move_drifts_to_its_own_law_and_the_exact_one_stays():
    rbm = orthogonal_leaky_rbm(12, 5, norm=0.9, leakiness=0.01)
    u, w = leaky_bias.nodes(0.9)
    law, model = leaky_bias.stationary_law(0.9, 0.01)
    wanted = 5 * (w * leaky_bias.half_square(u, 0.9, 1.0, 0.0)) @ (law - model)
    for move, expected in (("gibbs", wanted), ("blockwise", 0.0)):
        found = leaky_moves.drift(rbm, move, 0.9, [1, 2], 40_000)
        value, error = found.last
        assert abs(value - expected) < 4 * error
        assert (found.p < 1e-6) == (move == "gibbs")
        assert found.mean[1] < error  # the mean of 16 sweeps is surer
    assert 0.5 < found.moved < 1  # unit by unit


def test_memory_of_alternating_and_of_constant_halves():
    up_and_down = np.tile([[1.0, -1.0], [-1.0, 1.0]], (50, 1))
    assert leaky_moves.correlation_time(up_and_down) == 1
    halves = np.repeat([[1.0], [-1.0]], 4, axis=0)  # correlations 1, 5/7, 2/6, -1/5 by lag
    assert leaky_moves.correlation_time(halves) == pytest.approx(1 + 2 * (5 / 7 + 2 / 6))


@pytest.mark.statistical
def test_the_published_move_forgets_at_once():
    rbm = orthogonal_leaky_rbm(12, 3, norm=0.5, leakiness=0.1)
    assert 1 <= leaky_moves.memory(rbm, "gibbs", 0) < 2
    assert leaky_moves.memory(rbm, "gibbs", 0) < leaky_moves.memory(rbm, "metropolis", 0)


@pytest.mark.statistical
def test_settled_chains_have_the_slope_of_the_model():
    rbm = orthogonal_leaky_rbm(12, 3, norm=0.9, leakiness=0.1, rng=0)
    images = np.random.default_rng(0).normal(size=(300, 12))
    found = leaky_moves.settled(rbm, images, 1)
    u, w = leaky_bias.nodes(0.9)
    for move, law in zip(("gibbs", "hmc"), leaky_bias.stationary_law(0.9, 0.1), strict=True):
        slope = 3 * (w * leaky_bias.half_square(u, 0.9, 1.0, 0.0)) @ law
        assert abs(found[move].slope - slope) < 4 * found[move].std_error
        assert found[move].negative == pytest.approx(w[u <= 0] @ law[u <= 0], abs=0.02)


def test_moment_of_a_fresh_draw():
    """E[exp(p g u^2)], g = s^2 / 2K, is finite while p g < 1/2 under N(0, 1): p s^2 < K."""
    fresh = lambda beta: 0.0  # noqa: E731
    assert leaky_bias.moment_exists(1, 0.9, 1, fresh)
    assert not leaky_bias.moment_exists(2, 0.9, 1, fresh)
    assert leaky_bias.moment_exists(2, 0.9, 2, fresh)
    one, two = (leaky_bias.energy_bias(0.9, 0.01, k, fresh) for k in (1, 2))
    assert np.isfinite(one.bias)
    assert np.isinf(one.relative_variance)
    assert np.isfinite(two).all()
    betas = rl.schedules.linear(2)
    assert two == leaky_bias.annealed_bias(0.9, 0.01, betas, fresh)
