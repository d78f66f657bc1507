"""Thermodynamic integration: rules, Rao-Blackwellisation, and its limit, RTS (appendix C)."""

from dataclasses import replace

import numpy as np
import pytest
from helpers_models import quiet
from helpers_tempering import BETAS, EXACT, PATH, RBM, run

import rbmlib as rl
from rbmlib.estimators.ti import Slopes, correction, quadrature, rule_error


@pytest.fixture(scope="module")
def long():
    return run(100, 2000)


@pytest.fixture(scope="module")
def mean_slopes():
    """d log Z / d beta at BETAS by differences of enumerated log Z: central, but at the ends."""
    ends = np.clip([BETAS - 1e-4, BETAS + 1e-4], 0, 1)
    log_z = [[rl.exact(PATH.at(b)).log_z for b in row] for row in ends]
    return np.diff(log_z, axis=0)[0] / np.diff(ends, axis=0)[0]


def test_rules_integrate_polynomials():
    betas = np.sort(np.append(np.random.default_rng(0).random(7), [0, 1]))
    for rule, degree in (("riemann", 0), ("trapezoid", 1), ("simpson", 2)):
        for power in range(degree + 1):
            found = quadrature(betas, rule) @ betas**power
            assert found == pytest.approx(1 / (power + 1)), (rule, power)
    # the correction takes the derivative of the integrand, and is exact for cubics
    for power in range(4):
        derivative = power * betas ** max(power - 1, 0)
        found = quadrature(betas, "trapezoid") @ betas**power + correction(betas) @ derivative
        assert found == pytest.approx(1 / (power + 1))


@pytest.mark.parametrize("rao_blackwell", [True, False])
def test_mean_slopes_are_derivatives_of_log_z(rao_blackwell, long, mean_slopes):
    estimate = rl.ti(long, rao_blackwell=rao_blackwell)
    assert np.abs(estimate.trace["slope_mean"] - mean_slopes).max() < 0.25


def test_trapezoid_error_is_the_rule_and_the_correction_removes_it(long, mean_slopes):
    rule = PATH.log_z_base + quadrature(BETAS, "trapezoid") @ mean_slopes
    plain, corrected = (rl.ti(long, rule=r) for r in ("trapezoid", "corrected"))
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
    """Of counted slopes; those of expected ones are below."""
    n, each, inside = 1000, 16, []
    sample = run(n * each, 500, rng=2, record_every=500)
    for i in range(n):
        part = sample.of_chains(slice(i * each, i * each + each))
        estimate = quiet(rl.ti, part, skip=1, rule="corrected", rao_blackwell=False)
        inside.append(estimate.interval[0] <= EXACT[-1] <= estimate.interval[1])
    assert abs(np.mean(inside) - 0.95) < 0.04


def test_empty_betas_are_interpolated():
    sample = run(3, 2)
    assert (sample.visited[:, :, 0].sum(axis=(0, 1)) == 0).any()
    with pytest.warns(rl.ConvergenceWarning, match="round trips"):
        estimate = rl.ti(sample, rao_blackwell=False)
    assert estimate.details["empty"] > 0
    assert np.isfinite(estimate.log_z)


class OwnPath(rl.GeometricPath):
    """A path whose slope depends on beta: as users write them."""

    def __init__(self, *arguments):
        super().__init__(*arguments)
        self.joint = False


OWN = OwnPath(RBM, np.zeros(12))


def test_parallel_tempering_and_paths_without_a_joint_slope_serve_too():
    ladders = rl.ti(rl.parallel_tempering(PATH, BETAS, 20, 400, 0), rule="corrected", skip=1)
    own = rl.ti(OWN, BETAS, 40, 400, 0, rule="simpson")
    assert "drawn" in ladders.method
    assert own.states.conditional == "marginal"
    for estimate in (ladders, own):
        assert abs(estimate.log_z - EXACT[-1]) < 4 * estimate.std_error


def test_messages_name_arguments_that_are_there():
    with pytest.raises(ValueError, match="rule is 'corrected', but the slope of a OwnPath"):
        rl.ti(OWN, BETAS, rule="corrected")
    for name in ("n_sweeps", "n_chains", "skip"):
        with pytest.raises(ValueError, match=f"{name} is 'abc': expected a whole number"):
            rl.ti(PATH, BETAS, **{name: "abc"})
    for skip in ("abc", -1, 1.5, True):
        with pytest.raises(ValueError, match=f"skip is {skip!r}: expected a whole number"):
            rl.rts_of_sample(run(4, 20), skip=skip)
    with pytest.raises(ValueError, match=r"path is a OwnPath.*rl\.rts or rl\.ais"):
        rl.mbar(OWN, BETAS, 4, 20)


@pytest.mark.statistical
@pytest.mark.parametrize("k", [1, 3, 9])
def test_intervals_know_the_error_of_the_rule(k):
    """Coverage of the converged of 300 runs of 16 chains; with too few betas none of them is."""
    betas, n, each = rl.schedules.linear(k), 300, 16
    guess = np.array([rl.exact(PATH.at(b)).log_z for b in betas])
    sample = rl.simulated_tempering(PATH, betas, guess, n * each, 400, k, record_every=400)
    parts = [sample.of_chains(slice(i * each, i * each + each)) for i in range(n)]
    for rule in ("trapezoid", "corrected", "simpson"):
        runs = [quiet(rl.ti, part, skip=1, rule=rule) for part in parts]
        inside = [r.interval[0] <= EXACT[-1] <= r.interval[1] for r in runs if r.converged]
        if k == 1 or (k == 3 and rule == "trapezoid"):
            assert len(inside) < n / 100
        else:
            assert len(inside) > n / 2
            assert 0.91 < np.mean(inside) < 0.995


@pytest.mark.parametrize("conditional", ["joint", "marginal"])
def test_a_coarse_rule_is_flagged(conditional):
    guess, given = EXACT[[0, -1]], {"conditional": conditional}
    sample = rl.simulated_tempering(PATH, rl.schedules.linear(1), guess, 50, 400, 0, **given)
    with pytest.warns(rl.ConvergenceWarning, match="error of the rule"):
        found = rl.ti(sample, skip=1)
    assert not found.converged
    assert found.interval[0] < EXACT[-1] < found.interval[1]


@pytest.mark.parametrize("estimator", [rl.ti, rl.rts_of_sample, rl.mbar_of_sample])
def test_a_random_estimate_with_an_error_of_0_is_flagged(estimator):
    first = run(20, 400).of_chains(slice(0, 1))
    names = {"delta": 1, "temperature": 1, "visited": 1, "mixed": 1, "round_trips": 0, "origin": 0}
    twice = {n: np.repeat(getattr(first, n), 2, axis=axis) for n, axis in names.items()}
    with pytest.warns(rl.ConvergenceWarning, match="the standard error is 0"):
        assert not estimator(replace(first, **twice)).converged


@pytest.mark.parametrize("rule", ["simpson", "trapezoid", "corrected"])
def test_the_corrected_rule_is_advised_unless_it_was_used(rule):
    checks = rl.ti(run(20, 200, conditional="joint"), rule=rule, skip=1).checks
    name = next(check.name for check in checks if check.name.startswith("error of the rule"))
    assert ("use rule='corrected'" in name) == (rule != "corrected")


def test_the_error_of_the_rule_on_three_betas():
    """A mean slope of beta cubed: its derivative at three betas, 0.5, 1 and 1.5 from differences
    to the second order, corrects the trapezoids; Simpson's rule has 1/4. At the lower value the
    corrected rule would be the farther one if its ends were of the first order."""
    betas = np.array([0.0, 0.5, 1.0])
    mean = betas**3
    trapezoids = 0.25 * mean[0] + 0.5 * mean[1] + 0.25 * mean[2]
    derivative = np.array([-0.5, 1.0, 2.5])  # of the parabola through the three
    corrected = trapezoids - 0.5**2 / 12 * (derivative[2] - derivative[0])
    for value in (0.2, 0.3):
        wanted = max(abs(corrected - value), abs(0.25 - value))
        assert rule_error(betas, mean, None, value) == pytest.approx(wanted)
    of_variances = rule_error(betas, mean, np.array([0.0, 9.0, 9.0]), value)
    assert of_variances == pytest.approx(abs(trapezoids - 0.5**2 / 12 * 9 - value))


def test_influences_are_what_a_little_more_weight_of_a_chain_does():
    """Of means and variances of the slope: n times their change by the share of its weight.

    At a beta without states too, where both are interpolated by beta.
    """
    sums, betas = np.random.default_rng(0).uniform(0.5, 2, (6, 3, 5)), [0.0, 0.1, 0.2, 0.7, 1.0]
    sums[..., 2], betas = 0, np.array(betas)
    slopes = Slopes(sums, betas)
    assert slopes.mean[2] == pytest.approx((5 * slopes.mean[1] + slopes.mean[3]) / 6)
    variance, of_variances = slopes.variances()
    for chain in range(6):
        new = Slopes(sums * (1 + 1e-6 * (np.arange(6) == chain))[:, None, None], betas)
        new_variance, _ = new.variances()
        found = slopes.of_means[chain]
        np.testing.assert_allclose(found, 6e6 * (new.mean - slopes.mean), rtol=1e-4)
        np.testing.assert_allclose(of_variances[chain], 6e6 * (new_variance - variance), rtol=1e-4)
