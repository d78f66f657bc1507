"""Rules of integration on two Gaussians, with values by hand."""

import numpy as np
import pytest

import rbmlib as rl
from rbmbook.models import tempered_log_z
from rbmlib.estimators.ti import correction, quadrature

MIXTURE = rl.testsystems.two_gaussians()


def slopes(betas):
    """Mean and variance of the slope at each beta, by differences of the exact log Z."""
    h = 1e-3 * betas + 1e-6
    low, middle, high = (tempered_log_z(MIXTURE, 30.0, b) for b in (betas - h, betas, betas + h))
    return (high - low) / (2 * h), (high - 2 * middle + low) / h**2


def test_slopes_of_a_gaussian_integral():
    mean, variance = slopes(np.array([0.0]))
    x = np.random.default_rng(0).normal(0, np.sqrt(30), (400_000, 10))
    base = -(x**2).sum(axis=1) / 60 - 5 * np.log(60 * np.pi)
    delta = MIXTURE.log_density(x) - base
    assert mean[0] == pytest.approx(delta.mean(), abs=4 * delta.std() / np.sqrt(len(x)))
    assert variance[0] == pytest.approx(delta.var(), rel=0.05)


def test_errors_of_rules_fall_with_the_power_of_the_rule():
    ladders = [rl.schedules.linear(k) ** 2 for k in (100, 200)]
    means, variances = zip(*map(slopes, ladders), strict=True)
    for name, times in (("riemann", 2), ("trapezoid", 4)):
        rule = [
            quadrature(b, name) @ m - MIXTURE.log_z for b, m in zip(ladders, means, strict=True)
        ]
        assert rule[0] / rule[1] == pytest.approx(times, rel=0.1)
    assert abs(rule[1] + correction(ladders[1]) @ variances[1]) < abs(rule[1]) / 10
