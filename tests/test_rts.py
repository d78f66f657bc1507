"""RTS and thermodynamic integration: their equations, error bars and flags; their common limit."""

from dataclasses import replace

import numpy as np
import pytest
from helpers_models import quiet
from helpers_tempering import BETAS, EXACT, PATH, RBM, run

import rbmlib as rl
from rbmlib.estimators.rts import updated
from rbmlib.estimators.ti import Slopes, correction, quadrature, rule_error
from rbmlib.results import mixing


def test_estimate_is_equation_12_and_its_error_that_of_appendix_b():
    """Eq. (16), with the variances and covariance of c over chains; and the bias of eq. (15)."""
    guess, prior = EXACT + np.linspace(0, 1, 10), np.arange(1, 11) / 55
    sample = run(guess=guess, prior=prior)
    estimate = quiet(rl.rts_of_sample, sample)
    c = sample.occupation().mean(axis=0)
    m, s = c.mean(axis=0), np.cov(c[:, [0, -1]].T) / 50
    wanted = guess[-1] - guess[0] + PATH.log_z_base + np.log(prior[0] * m[-1] / (prior[-1] * m[0]))
    assert estimate.log_z == pytest.approx(wanted, abs=1e-12)
    assert estimate.log_weights.mean() == pytest.approx(estimate.log_z, abs=1e-12)
    assert estimate.log_z_path[0] == pytest.approx(PATH.log_z_base)
    variance = s[0, 0] / m[0] ** 2 + s[1, 1] / m[-1] ** 2 - 2 * s[0, 1] / (m[0] * m[-1])
    assert estimate.trace["std_error"][-1] == pytest.approx(np.sqrt(variance))
    bias = (s[0, 0] / m[0] ** 2 - s[1, 1] / m[-1] ** 2) / 2
    assert estimate.details["bias"] == pytest.approx(bias)


@pytest.mark.parametrize("estimator", [rl.rts, rl.sams, rl.wang_landau])
def test_too_few_round_trips_are_flagged(estimator):
    """Two modes that Gibbs sampling cannot pass between but at the base; a short run."""
    rbm, _ = rl.testsystems.two_mode_rbm(200, strength=2.0)
    path = rl.GeometricPath(rbm, base=np.zeros(200))
    with pytest.warns(rl.ConvergenceWarning, match="round trips"):
        estimate = estimator(path, rl.schedules.linear(20), 50, 60, 0)
    assert not estimate.converged
    assert estimate.std_error >= estimate.trace["std_error"][-1]


def ends(chains=40, blocks=10, drift=0.0, apart=0.0, common=0.0, rng=0):
    """c at both ends of a ladder of two betas, made up."""
    rng = np.random.default_rng(rng)
    last = 0.5 + 0.02 * rng.normal(size=(blocks, chains))
    last += drift * np.linspace(-1, 1, blocks)[:, None]
    last += apart * np.where(np.arange(chains) < chains / 2, 1, -1)
    last += common * rng.choice([-1, 1], size=(blocks, 1))
    return np.stack([1 - last, last], axis=-1)


@pytest.mark.parametrize(
    ("made", "failed"),
    [({}, None), ({"drift": 0.02}, "halves"), ({"apart": 0.02}, "either end"),
     ({"common": 0.05}, "blocks of time")],
    ids=["none", "drift", "groups", "blocks"],
)  # fmt: skip
def test_each_disagreement_is_found(made, failed):
    origin, trips = np.where(np.arange(40) < 20, 0, 9), np.full(40, 5.0)
    sample = replace(run(40, 20, n_blocks=10), origin=origin, round_trips=trips)
    checks = mixing(sample, ends(**made))
    wrong = [check.name for check in checks if not check.passed]
    assert len(checks) == 4
    assert any(failed in text for text in wrong) if failed else not wrong


def test_blocks_that_are_not_used_are_not_checked():
    """The first of ten has its betas turned round, which a drift of the run would show."""
    sample = run(n_blocks=10)
    turned = sample.mixed.copy()
    turned[0] = turned[0, ..., ::-1]
    one, two = (rl.rts_of_sample(s, skip=1) for s in (sample, replace(sample, mixed=turned)))
    assert one.log_z == two.log_z
    assert one.checks == two.checks


def test_update_in_logarithms():
    prior = np.array([0.25, 0.25, 0.5])
    out = updated(np.array([1.0, 2.0, 3.0]), prior, np.array([0.25, 0.5, 0.25]))
    np.testing.assert_allclose(out, [1, 2 + np.log(2), 3 - np.log(2)])


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


def test_what_needs_a_joint_slope_is_refused():
    with pytest.raises(ValueError, match="rule is 'corrected', but the slope of a OwnPath"):
        rl.ti(OWN, BETAS, rule="corrected")
    with pytest.raises(ValueError, match=r"path is a OwnPath.*rl\.rts or rl\.ais"):
        rl.mbar(OWN, BETAS, 4, 20)


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
