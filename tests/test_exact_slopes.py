"""g from exact draws, and J of schedules: against sums over all states, and identities."""

import numpy as np
import pytest
from helpers_stats import all_states
from test_exact import make

import rbmlib as rl
from rbmbook.experiments.kiwaki2015 import slope_variance
from rbmbook.kiwaki2015 import theory
from rbmlib import schedules
from rbmlib.models import BernoulliRBM


@pytest.mark.parametrize("log_scale", [0.0, 1.5])
@pytest.mark.parametrize("beta", [0.0, 0.4, 1.0])
def test_g_is_the_variance_over_all_visible_states(beta, log_scale):
    rbm = make(10, 4, 4, 1.0, log_scale)
    path = rl.GeometricPath(rbm, base=BernoulliRBM(0 * rbm.weights, rbm.visible_bias, np.ones(4)))
    v = all_states(10).astype(np.float32)
    log_p, x = path.log_density(v, beta), path.log_density_slope(v, beta)
    p = np.exp(log_p - log_p.max())
    p /= p.sum()
    mean = p @ x
    g = p @ (x - mean) ** 2
    found = slope_variance(path, beta, 12_000, 0)
    assert found.log_z == pytest.approx(rl.exact(path.at(beta)).log_z, abs=1e-10)
    assert abs(found.variance - g) < 4 * found.std_error
    assert abs(found.mean - mean) < 4 * np.sqrt(g / 12_000)
    fourth = p @ (x - mean) ** 4
    assert found.std_error == pytest.approx(np.sqrt((fourth - g**2) / 12_000), rel=0.2)


def test_models_that_cannot_be_enumerated_are_refused():
    for shape in ((40, 30), (4, 9)):
        with pytest.raises(ValueError, match="at most 22 hidden"):
            slope_variance(rl.GeometricPath(make(*shape)), 0.5, 10, 0)


BETAS = np.sin(np.pi * np.arange(21) / 40) ** 2
CURVES = {
    "flat": lambda b: 300 + 0 * b,
    "towards the target": lambda b: 100 * np.exp(2 * b),
    "at both ends": lambda b: 50 + 900 * (b - 0.4) ** 2,
}


@pytest.mark.parametrize("g", CURVES.values(), ids=CURVES)
def test_varopt_has_the_least_functional_which_is_the_length_squared(g):
    grid, fine = theory.curve(BETAS, g(BETAS))
    assert np.trapezoid(np.sqrt(fine / g(grid)), grid) == pytest.approx(1, abs=2e-3)
    linear = theory.functional(schedules.linear(2000), grid, fine)
    assert linear == pytest.approx(np.trapezoid(fine, grid), rel=1e-4)
    varopt = theory.varopt(2000, grid, fine)
    j = theory.functional(varopt, grid, fine)
    assert j == pytest.approx(np.trapezoid(np.sqrt(fine), grid) ** 2, rel=1e-4)
    others = [schedules.linear(2000), schedules.sm08(2000), schedules.linear(2000) ** 1.2]
    capped = schedules.decelerate(varopt, 1.2 / 2000)
    others += [capped] * bool(np.diff(varopt).max() > 1.2 / 2000)
    for other in others:
        assert theory.functional(other, grid, fine) >= j * (1 - 1e-6)


def test_gms13_of_means_is_its_rule():
    """Steps between knots in proportion to the root of (difference of betas x of means)."""
    means = 500 * BETAS**2
    betas = theory.gms13(9000, BETAS, means)
    knots = np.linspace(0, 1, 10)
    n_steps = np.diff(np.searchsorted(betas, knots * (1 + 1e-9)))
    wanted = np.sqrt(np.diff(knots) * np.diff(500 * knots**2))
    np.testing.assert_allclose(n_steps / 9000, wanted / wanted.sum(), atol=2e-3)


def test_between_is_the_area_between_two_curves():
    one, two = schedules.linear(1000), schedules.linear(1000) ** 2
    assert theory.between(one, two) == pytest.approx(1 / 6, abs=1e-4)
    assert theory.between(one, one) == 0


def test_schedules_have_the_error_of_their_g():
    """Of g = exp(beta), VAROPT is at 2 log(1 + share (exp(1/2) - 1)), whatever its scale."""
    g, means = 300 * np.exp(BETAS), 500 * BETAS
    found = theory.schedules_of(BETAS, g, means)
    wanted = 2 * np.log1p(np.linspace(0, 1, 2001) * (np.exp(0.5) - 1))
    np.testing.assert_allclose(found["VAROPT"], wanted, atol=1e-4)
    assert found["linear"].tolist() == schedules.linear(2000).tolist()
    value, error = theory.with_error(lambda p: p["VAROPT"][1000], BETAS, g, 0.02 * g, means)
    assert value == found["VAROPT"][1000]
    assert 1e-4 < error < 0.02
    assert theory.with_error(lambda p: p["VAROPT"][1000], BETAS, g, 0 * g, means)[1] < 1e-9


def test_errors_of_effects_are_the_spread_of_draws(monkeypatch):
    """An effect that is the logarithm of g itself: its error is that of the normals drawn."""
    monkeypatch.setattr(theory, "schedules_of", lambda betas, g, means: g)
    value, error = theory.with_error(
        lambda g: np.log(g[0]), None, np.array([2.0, 5.0]), np.array([0.4, 0.1]), None, n_repeats=8
    )
    normals = np.random.default_rng(0).normal(size=(8, 2))[:, 0]
    assert value == np.log(2)
    assert error == pytest.approx(0.2 * np.sqrt(np.cov(normals)))
