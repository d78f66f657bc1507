"""The quadrature of the published transition against simulation and closed forms."""

import numpy as np
import pytest

import rbmlib as rl
from rbmbook import leaky_bias
from rbmlib import EnergyPath, LeakinessPath
from rbmlib.models.testsystems import orthogonal_leaky_rbm


@pytest.mark.parametrize("leakiness", [1.0, 0.5, 0.01])
def test_quadrature_is_exact_enough(leakiness):
    u, w = leaky_bias.nodes(0.9)
    moves = leaky_bias.transition_density(u, 0.9, leakiness)
    inside = np.abs(u) < 12
    assert np.allclose((w @ moves)[inside], 1, atol=1e-10)
    law, model = leaky_bias.stationary_law(0.9, leakiness)
    assert w @ model == pytest.approx(1, abs=1e-10)
    assert np.allclose(moves @ (w * law), law, atol=1e-10)
    distance = w @ np.abs(law - model) / 2
    assert (distance < 1e-12) if leakiness == 1 else (0.005 < distance < 0.03)


def test_unit_log_z_adds_up_to_that_of_the_model():
    rbm = orthogonal_leaky_rbm(40, 6, norm=0.8, leakiness=0.1)
    rest = 34 / 2 * np.log(2 * np.pi)
    assert rbm.exact_log_z() == pytest.approx(6 * leaky_bias.unit_log_z(0.8, 0.1) + rest)


@pytest.mark.parametrize("kind", [LeakinessPath, EnergyPath])
def test_predicted_bias_and_error_are_those_of_runs(kind):
    """30 columns at once: the estimate's error and its standard error, from 6,000 chains."""
    rbm, betas = orthogonal_leaky_rbm(40, 30), rl.schedules.linear(60)
    moves = {LeakinessPath: "leakiness", EnergyPath: "energy"}[kind]
    predicted = leaky_bias.annealed_bias(0.9, 0.01, betas, moves)
    run = rl.ais(kind(rbm, kernel="gibbs"), betas, 6_000, 1)
    expected = predicted.std_error(30, 6_000)
    assert run.std_error == pytest.approx(expected, rel=0.3)
    assert abs(run.log_z - rbm.exact_log_z() - 30 * predicted.bias) < 4.5 * expected
    assert 30 * predicted.bias < -5 * expected  # and the run could have told


def test_slow_annealing_has_the_bias_of_thermodynamic_integration():
    slow = leaky_bias.slow_bias(0.9, 0.01)
    biases = [leaky_bias.annealed_bias(0.9, 0.01, rl.schedules.linear(k)).bias for k in (200, 400)]
    assert 2 * biases[1] - biases[0] == pytest.approx(slow, rel=1e-3)
    assert leaky_bias.slow_bias(0.9, 1.0) == pytest.approx(0, abs=1e-12)


@pytest.mark.parametrize("moves", ["leakiness", "energy"])
def test_bias_of_many_steps_from_that_of_few(moves):
    k = 4000
    wanted = leaky_bias.annealed_bias(0.9, 0.01, rl.schedules.linear(k), moves).bias
    assert leaky_bias.linear_bias(0.9, 0.01, k, moves) == pytest.approx(wanted, abs=1e-6)
    few = leaky_bias.annealed_bias(0.9, 0.01, rl.schedules.linear(1000), moves).bias
    assert abs(few - wanted) > 1e-5  # so the number of steps is seen


@pytest.mark.parametrize("spread", [None, 0.5, 1.0])
def test_scales_of_mean_and_spread_of_h(spread):
    u, w = leaky_bias.nodes(0.9)
    from_here = np.argmin(np.abs(u + 2))  # down: alpha is the leakiness
    law = w * leaky_bias.transition_density(u, 0.9, 0.1, 0.5, spread)[:, from_here]
    mean = law @ u
    assert mean == pytest.approx((0.5 * 0.9) ** 2 * 0.1 * u[from_here])
    assert law @ (u - mean) ** 2 == pytest.approx(1 + ((spread or 0.5) * 0.9) ** 2 * 0.1)


def test_spread_of_h_that_is_not_annealed_biases_upwards():
    betas = rl.schedules.linear(50)
    pair = leaky_bias.annealed_bias(0.9, 0.01, betas, lambda b: (b**0.5, 1.0)).bias
    assert pair > 0.05 > leaky_bias.annealed_bias(0.9, 0.01, betas, "energy").bias


def test_weights_read_after_the_move():
    """The same sums shifted by one step: (slope at the end - slope at the start) / K, roughly."""
    k = 2000
    right, wrong = (
        leaky_bias.annealed_bias(0.9, 0.01, rl.schedules.linear(k), weigh_first=f).bias
        for f in (True, False)
    )
    u, w = leaky_bias.nodes(0.9)
    slopes = [w @ (leaky_bias.half_square(u, 0.9, 0.99, 0.0) * leaky_bias.stationary_law(0.9, c)[0])
              for c in (1.0, 0.01)]  # fmt: skip
    assert k * (wrong - right) == pytest.approx(slopes[0] - slopes[1], rel=0.02)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"norm": np.nan}, "norm is nan"),
        ({"norm": "a"}, "norm is 'a'"),
        ({"leakiness": np.nan}, "leakiness is nan"),
        ({"leakiness": -1}, "leakiness is -1"),
        ({"scale": np.nan}, "scale is nan"),
        ({"spread": "wide"}, "spread is 'wide'"),
        ({"u": [0.0, np.nan]}, "u holds 1 NaN"),
        ({"u": "abc"}, "u is not an array of numbers"),
        ({"u": np.zeros((2, 2))}, r"u has shape \(2, 2\)"),
    ],
)
def test_what_the_transition_cannot_take_is_named(change, words):
    """NaN would pass through to a matrix of NaN."""
    given = {"u": [-1.0, 1.0], "norm": 0.9, "leakiness": 0.1} | change
    with pytest.raises(ValueError, match=words):
        leaky_bias.transition_density(**given)


def test_errors():
    with pytest.raises(
        ValueError, match=r"scale is 1\.2: expected a number from -1\.111 to 1\.111"
    ):
        leaky_bias.unit_log_z(0.9, 0.1, 1.2)
    with pytest.raises(ValueError, match="n_nodes is 0"):
        leaky_bias.nodes(0.9, 0)
    with pytest.raises(ValueError, match=r"norm is 1\.2: expected the length of a column"):
        leaky_bias.slow_bias(1.2, 0.01)
    with pytest.raises(ValueError, match="leakiness is 2"):
        leaky_bias.annealed_bias(0.9, 2, [0, 1])
    with pytest.raises(ValueError, match="n_hidden is 6: expected at most n_visible, 5"):
        orthogonal_leaky_rbm(5, 6)
