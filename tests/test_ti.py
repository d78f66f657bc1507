"""Thermodynamic integration: rules, Rao-Blackwellisation, and its limit, RTS (appendix C)."""

import numpy as np
import pytest
from test_rts import BETAS, EXACT, PATH, run

import rbmlib as rl
from rbmlib.estimators.ti import correction, quadrature


def mean_slopes():
    """d log Z / d beta at BETAS by central differences of enumerated log Z."""
    h = 1e-4
    return np.array(
        [(rl.exact(PATH.at(b + h)).log_z - rl.exact(PATH.at(b - h)).log_z) / (2 * h) for b in BETAS]
    )


def test_rules_integrate_polynomials():
    betas = np.sort(np.append(np.random.default_rng(0).random(7), [0, 1]))
    for rule, degree in (("riemann", 0), ("trapezoid", 1), ("simpson", 2)):
        weights = quadrature(betas, rule)
        for power in range(degree + 1):
            assert weights @ betas**power == pytest.approx(1 / (power + 1)), (rule, power)
    weights = quadrature(betas, "trapezoid")
    # the correction takes the derivative of the integrand, and is exact for cubics
    for power in range(4):
        derivative = power * betas ** max(power - 1, 0)
        assert weights @ betas**power + correction(betas) @ derivative == pytest.approx(
            1 / (power + 1)
        )


@pytest.mark.parametrize("rao_blackwell", [True, False])
def test_mean_slopes_are_derivatives_of_log_z(rao_blackwell):
    estimate = rl.ti(run(100, 2000), rao_blackwell=rao_blackwell)
    assert np.abs(estimate.trace["slope_mean"] - mean_slopes()).max() < 0.25


def test_trapezoid_error_is_the_rule_and_the_correction_removes_it():
    sample = run(100, 2000)
    rule = PATH.log_z_base + quadrature(BETAS, "trapezoid") @ mean_slopes()
    plain, corrected = (rl.ti(sample, rule=r) for r in ("trapezoid", "corrected"))
    assert abs(plain.log_z - rule) < 4 * plain.std_error
    assert abs(corrected.log_z - EXACT[-1]) < 4 * corrected.std_error
    assert abs(corrected.log_z - plain.log_z - (EXACT[-1] - rule)) < 2e-3


def test_continuous_limit_is_rts():
    """Appendix C: with more betas TI-RB comes to RTS on the same states, as 1 / K**2."""
    gaps = []
    for k in (10, 40, 160):
        betas = rl.schedules.linear(k)
        guess = np.interp(betas, BETAS, EXACT)
        sample = rl.simulated_tempering(PATH, betas, guess, 20, 200, 0)
        gaps.append(abs(rl.ti(sample).log_z - rl.rts_of_sample(sample).log_z))
    assert gaps[1] < gaps[0] / 8
    assert gaps[2] < gaps[1] / 8
    assert gaps[2] < 1e-3


@pytest.mark.statistical
def test_intervals_cover():
    n, each = 1000, 16
    sample = run(n * each, 500, rng=2)
    for options in ({"rule": "corrected"}, {"rule": "corrected", "rao_blackwell": False}):
        inside = []
        for i in range(n):
            estimate = rl.ti(sample.of_chains(slice(i * each, i * each + each)), skip=1, **options)
            inside.append(estimate.interval[0] <= EXACT[-1] <= estimate.interval[1])
        assert abs(np.mean(inside) - 0.95) < 0.04, options


def test_empty_betas_are_interpolated():
    sample = run(3, 2)
    assert (sample.visited[:, :, 0].sum(axis=(0, 1)) == 0).any()
    with pytest.warns(rl.ConvergenceWarning, match="round trips"):
        estimate = rl.ti(sample, rao_blackwell=False)
    assert estimate.settings["empty"] > 0
    assert np.isfinite(estimate.log_z)


def test_parallel_tempering_and_random_betas():
    ladders = rl.parallel_tempering(PATH, BETAS, 20, 400, 0)
    estimate = rl.ti(ladders, rule="corrected", skip=1)
    assert abs(estimate.log_z - EXACT[-1]) < 4 * estimate.std_error
    assert "drawn" in estimate.method
    random = rl.ti(PATH, n_chains=200, n_sweeps=200, rng=0, rule="random")
    assert abs(random.log_z - EXACT[-1]) < 4 * random.std_error
    assert random.std_error > 10 * estimate.std_error


WRONG = {
    "source": lambda: rl.ti(3),
    "source ": lambda: rl.ti(run(2, 10), rule="random"),
    "rule": lambda: rl.ti(run(2, 10), rule="romberg"),
    "rule ": lambda: rl.ti(run(2, 10, conditional="marginal"), rule="corrected"),
    "skip": lambda: rl.ti(run(2, 10), skip=99),
    "betas": lambda: rl.ti(PATH, [0, 1, 0.5]),
}


@pytest.mark.parametrize("name", WRONG)
def test_wrong_arguments_are_refused_by_name(name):
    with pytest.raises((ValueError, TypeError)) as caught:
        WRONG[name]()
    assert str(caught.value).startswith(name.strip())
    assert "expected" in str(caught.value)
