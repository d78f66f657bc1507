"""Rules of integration on two Gaussians, with values by hand."""

import numpy as np
import pytest

import rbmlib as rl
from rbmbook.carlson2016.continuous import rule_errors, slopes

MIXTURE = rl.testsystems.two_gaussians()


def test_slopes_of_a_gaussian_integral():
    mean, variance = slopes(MIXTURE, 30.0, np.array([0.0]))
    x = np.random.default_rng(0).normal(0, np.sqrt(30), (400_000, 10))
    base = -(x**2).sum(axis=1) / 60 - 5 * np.log(60 * np.pi)
    delta = MIXTURE.log_density(x) - base
    assert mean[0] == pytest.approx(delta.mean(), abs=4 * delta.std() / np.sqrt(len(x)))
    assert variance[0] == pytest.approx(delta.var(), rel=0.05)


def test_errors_of_rules_fall_with_the_power_of_the_rule():
    coarse, fine = (rule_errors(MIXTURE, 30.0, rl.schedules.linear(k) ** 2) for k in (100, 200))
    assert coarse.riemann / fine.riemann == pytest.approx(2, rel=0.1)
    assert coarse.trapezoid / fine.trapezoid == pytest.approx(4, rel=0.1)
    assert abs(fine.corrected) < abs(fine.trapezoid) / 10
