"""What fixtures with equal parts cannot see: priors, constants, bends, few and uneven weights."""

import numpy as np
import pytest
from helpers_stats import all_states, probabilities
from scipy.integrate import cumulative_trapezoid

import rbmlib as rl
from rbmbook.carlson2016.estimators import bootstrap_tempered
from rbmbook.schedules import gms13
from rbmlib import schedules
from rbmlib.estimators.rts import EMPTY
from rbmlib.estimators.wang_landau import Halving
from rbmlib.numerics import cut

pytestmark = pytest.mark.filterwarnings("ignore::rbmlib.ConvergenceWarning")
RNG = np.random.default_rng(11)
RBM = rl.BernoulliRBM(
    2.0 * RNG.normal(size=(7, 4)), RNG.normal(size=7), RNG.normal(size=4), log_scale=-3.5
)
BASE = np.linspace(-0.6, 0.6, 7)
PATH = rl.GeometricPath(RBM, base=BASE)
BETAS = np.array([0.0, 0.1, 0.3, 0.35, 0.7, 1.0])
PRIOR = np.array([3.0, 1.0, 2.0, 0.5, 1.0, 4.0]) / 11.5


@pytest.fixture(scope="module")
def guess():
    return rl.pilot(PATH, BETAS, rng=1).log_z_path


@pytest.fixture(scope="module")
def sample(guess):
    return rl.simulated_tempering(
        PATH, BETAS, guess + 0.3 * BETAS, 20, 110, 2, prior=PRIOR, n_blocks=4
    )


def test_estimates_of_log_z_may_be_shifted_by_any_constant(guess):
    one = rl.simulated_tempering(PATH, BETAS, guess, 6, 40, 2)
    two = rl.simulated_tempering(PATH, BETAS, guess + 64.0, 6, 40, 2)
    np.testing.assert_allclose(one.delta, two.delta)
    np.testing.assert_array_equal(one.temperature, two.temperature)
    for run in (one, two):
        assert run.log_z_path[0] == pytest.approx(PATH.log_z_base)
        np.testing.assert_allclose(np.diff(run.log_z_path), np.diff(guess), atol=1e-9)
    assert rl.rts_of_sample(one).log_z == pytest.approx(rl.rts_of_sample(two).log_z)


def test_the_pilot_takes_the_logarithm_of_means(guess):
    first = rl.pilot(PATH, BETAS, n_chains=30, n_steps=5, rng=3)
    along = first.log_weights_path
    wanted = PATH.log_z_base + np.log(np.exp(along).mean(axis=1))
    np.testing.assert_allclose(first.log_z_path, wanted)
    # compiled chains leave with the rounding of their weights put right
    np.testing.assert_allclose(first.log_weights, along[-1] + PATH.log_z_base, atol=1e-3)
    assert (wanted - along.mean(axis=1) - PATH.log_z_base)[-1] > 0.1


def test_integration_of_a_model_with_a_constant():
    without = rl.GeometricPath(RBM.with_(log_scale=0.0), base=BASE)
    run, other = (rl.ti(p, BETAS, 20, 60, 4, rule="simpson") for p in (PATH, without))
    assert run.log_z - other.log_z == pytest.approx(RBM.log_scale, abs=1e-6)


def test_mbar_leaves_out_a_tenth_of_the_states():
    run = rl.mbar(PATH, BETAS, 10, 300, 5)
    kept = rl.mbar_of_sample(run.states, skip=30)
    assert len(run.states.delta) == 300
    assert (run.log_z, run.std_error) == (kept.log_z, kept.std_error)
    assert run.log_z != rl.mbar_of_sample(run.states).log_z


def test_rts_leaves_out_two_blocks_of_twenty():
    run = rl.rts(PATH, BETAS, 10, 300, 5, prior=PRIOR)
    assert len(run.states.block_sweeps) == 20
    assert run.log_z == rl.rts_of_sample(run.states, skip=2).log_z
    assert run.log_z != rl.rts_of_sample(run.states).log_z


def test_counted_betas_have_a_tenth_added_to_each_bin(sample):
    for skip in (0, 1):
        counts = sample.visited[skip:, :, 0].sum(axis=(0, 1)) + EMPTY
        c = counts / counts.sum()
        run = rl.rts_of_sample(sample, rao_blackwell=False, skip=skip)
        np.testing.assert_allclose(run.trace["occupation"], c)
        wanted = sample.log_z_path[-1] + np.log(c[-1] * PRIOR[0] / (c[0] * PRIOR[-1]))
        assert run.log_z == pytest.approx(wanted)
    assert EMPTY == 0.1
    assert len(set(sample.block_sweeps)) > 1


def test_mean_over_blocks_is_weighed_by_their_sweeps(sample):
    c = sample.mixed[1:, :, 0].sum(axis=(0, 1))
    run = rl.rts_of_sample(sample, skip=1)
    np.testing.assert_allclose(run.trace["occupation"], c / c.sum())
    wanted = sample.log_z_path + np.log(c / PRIOR)
    np.testing.assert_allclose(run.log_z_path - run.log_z_path[0], wanted - wanted[0])


@pytest.mark.parametrize("rule", ["riemann", "trapezoid", "simpson", "corrected"])
def test_log_z_on_the_way_is_the_trapezoid_whatever_the_rule(sample, rule):
    run, sums = rl.ti(sample, rule=rule), sample.mixed.sum(axis=(0, 1))
    means = sums[1] / sums[0]
    np.testing.assert_allclose(run.trace["slope_mean"], means)
    path = PATH.log_z_base + cumulative_trapezoid(means, BETAS, initial=0)
    np.testing.assert_allclose(run.log_z_path, path)
    if rule == "riemann":
        assert run.log_z == pytest.approx(PATH.log_z_base + np.diff(BETAS) @ means[1:])


def test_the_corrected_rule_and_its_error_on_unequal_steps(sample):
    """The trapezoid less h^2 / 12 of each step times the rise of the variance; by hand."""
    sums = sample.mixed.sum(axis=(0, 1))
    mean, square = sums[1:] / sums[0]
    steps, variance = np.diff(BETAS), square - mean**2
    trapezoid = PATH.log_z_base + (steps * (mean[1:] + mean[:-1]) / 2).sum()
    corrected = trapezoid - (steps**2 / 12 * np.diff(variance)).sum()
    assert rl.ti(sample, rule="corrected").log_z == pytest.approx(corrected)
    simpson = rl.ti(sample, rule="simpson").log_z
    for rule in ("trapezoid", "riemann", "simpson", "corrected"):
        run = rl.ti(sample, rule=rule)
        farther = max(abs(run.log_z - corrected), abs(run.log_z - simpson))
        assert run.details["rule_error"] == pytest.approx(farther)


def test_estimates_from_states_drawn_again_know_the_prior(sample):
    found = bootstrap_tempered(sample, 1, 500, 7, skip=10, n_mbar=1)
    chosen = np.random.default_rng(7).integers(100 * 20, size=500)
    delta, index = sample.delta[10:].ravel()[chosen], sample.temperature[10:].ravel()[chosen]
    logits = delta[:, None] * BETAS + np.log(PRIOR) - sample.log_z_path
    q = np.exp(logits - np.logaddexp.reduce(logits, axis=1)[:, None])
    c, slopes = q.mean(axis=0), (q * delta[:, None]).sum(axis=0) / q.sum(axis=0)
    counted = np.bincount(index, minlength=BETAS.size)

    def eq12(c):
        return sample.log_z_path[-1] + np.log(c[-1] * PRIOR[0] / (c[0] * PRIOR[-1]))

    own = [delta[index == k].mean() for k in range(BETAS.size)]
    for name, wanted in {
        "rts": eq12(c),
        "ts": eq12(counted + EMPTY),
        "ti_rb": PATH.log_z_base + np.trapezoid(slopes, BETAS),
        "ti": PATH.log_z_base + np.trapezoid(own, BETAS),
    }.items():
        assert found[name][0] == pytest.approx(wanted, abs=1e-4), name
    mbar = rl.solve_mbar(delta, counted, BETAS).log_z[-1] + PATH.log_z_base
    assert found["mbar"][0] == pytest.approx(mbar)


TWO = 2, np.array([0.7, 0.2, 0.1])  # groups, of an uneven prior


@pytest.mark.parametrize("one_over_t", [False, True])
def test_a_histogram_is_flat_by_the_shares_of_its_prior(one_over_t):
    rule = Halving(*TWO, one_over_t)
    assert rule.gain.tolist() == [0.1, 0.1]
    # in shares of the prior, less a fifth; and equal visits, of which the first beta has too few
    rule.see(np.array([[600, 170, 90], [300, 300, 300]]), 1000)
    assert rule.halvings.tolist() == [1, 0]
    assert rule.gain.tolist() == [0.05, 0.1]
    assert rule.histogram.tolist() == [[0, 0, 0], [300, 300, 300]]
    rule.see(np.array([[0, 0, 0], [1500, 140, 0]]), 1100)  # 1800, 440, 300 of 2540
    assert rule.halvings.tolist() == [1, 1]
    assert rule.late.tolist() == [False, False]
    late = Halving(*TWO, one_over_t)
    late.see(np.array([[600, 170, 90], [300, 300, 300]]), 10)  # 1/t is 0.1 by then
    assert late.late.tolist() == [one_over_t, False]
    wanted = 1 / np.arange(11, 14) if one_over_t else np.full(3, 0.05)
    np.testing.assert_allclose(late.gains(10, 13), [wanted, np.full(3, 0.1)])


FROM_ZERO = rl.GeometricPath(rl.testsystems.random_rbm(40, 8, coupling=14.0, rng=2), np.zeros(40))


@pytest.fixture(scope="module")
def uneven():
    """25 steps and 25 chains of a strongly coupled model: an effective sample size of a few."""
    return rl.ais(FROM_ZERO, schedules.linear(25), 25, 8, n_recorded=26, keep_chains=True)


def test_on_the_fly_quantities_are_weighted(uneven):
    trace, n = uneven.trace, 25
    weights = np.exp(trace["chain_log_weights"])
    total = weights.sum(axis=1, keepdims=True)
    w, slopes = weights / total, trace["chain_slopes"]
    mean = (w * slopes).sum(axis=1)
    np.testing.assert_allclose(trace["slope_mean"], mean)
    variance = (w * (slopes - mean[:, None]) ** 2).sum(axis=1)
    np.testing.assert_allclose(trace["slope_variance"], variance)
    np.testing.assert_allclose(uneven.log_z_path, FROM_ZERO.log_z_base + np.log(total[:, 0] / n))
    relative = n * w
    np.testing.assert_allclose(trace["ess"], n / (1 + relative.var(axis=1, ddof=1)))
    at_the_end = FROM_ZERO.log_density_slope(uneven.states, 1.0)
    np.testing.assert_allclose(slopes[-1], at_the_end)
    assert trace["ess"].min() < 12, "weights are too even to tell"
    assert np.abs(mean - slopes.mean(axis=1)).max() > 0.3


def with_windows(spread_of, steps, betas, memory, n_chains=4000):
    """A pilot whose increments over windows are a stationary process with a known memory."""
    rng = np.random.default_rng(0)
    n = betas.size - 1
    x = np.empty((n, n_chains))
    x[0] = rng.normal(size=n_chains)
    for r in range(1, n):
        x[r] = memory * x[r - 1] + np.sqrt(1 - memory**2) * rng.normal(size=n_chains)
    logs = np.concatenate([np.zeros((1, n_chains)), np.cumsum(spread_of * x.T, axis=1).T])
    trace = {"chain_log_weights": logs, "chain_slopes": logs, "step": steps,
             "ess": np.ones(n + 1), "slope_variance": np.ones(n + 1)}  # fmt: skip
    return rl.Estimate("ais", 0.0, 0.1, (0, 0), n_chains=n_chains, betas=betas, trace=trace)


@pytest.mark.parametrize(("memory", "near"), [(0.0, 0.05), (0.5, 0.06), (0.9, 0.1)])
def test_friction_at_both_ends_is_that_of_the_middle(memory, near):
    """Memory reaches over the ends of the path too, where there are windows on one side only."""
    betas = np.linspace(0, 1, 41)
    spreads = np.full(40, 0.2)
    pilot = with_windows(spreads, np.arange(0, 401, 10), betas, memory)
    middles, zeta = schedules.friction_coefficient(pilot, smoothing=0)
    np.testing.assert_allclose(middles, (betas[1:] + betas[:-1]) / 2)
    wanted = 0.04 * (1 + memory) / (1 - memory) * 10 / 0.025**2
    np.testing.assert_allclose(zeta[10:30].mean(), wanted, rtol=near)
    for ends in (zeta[:2], zeta[-2:]):
        np.testing.assert_allclose(ends.mean(), wanted, rtol=0.15)


def test_friction_cuts_cells_of_unequal_width_at_their_own_ends():
    """Windows of two widths and numbers of steps: shares of sqrt(zeta) times width."""
    betas = np.r_[np.linspace(0, 0.3, 16), np.linspace(0.3, 1, 16)[1:]]
    steps = np.r_[np.arange(0, 151, 10), 150 + 30 * np.arange(1, 16)]
    spreads = np.r_[np.full(15, 0.3), np.full(15, 0.1)]
    pilot = with_windows(spreads, steps, betas, 0.0)
    found = schedules.friction(pilot, 1000, smoothing=0)
    # S = spread^2, zeta = S L / d^2, so a window's share is spread * sqrt(L)
    share = spreads * np.sqrt(np.diff(steps))
    position = np.r_[0, np.cumsum(share)] / share.sum()
    inside = np.interp(betas, found, np.linspace(0, 1, 1001))
    np.testing.assert_allclose(inside, position, atol=0.02)
    _, zeta = schedules.friction_coefficient(pilot, smoothing=0)
    np.testing.assert_array_equal(found, cut(betas, np.sqrt(zeta) * np.diff(betas), 1000))


@pytest.mark.parametrize("bends", [True, False])
def test_gms13_at_a_bend_takes_the_slope_of_its_own_side(bends):
    """A path through more models turns at its knots: slopes before and after, by enumeration."""
    rbm = rl.testsystems.random_rbm(6, 4, coupling=7.0, rng=5)
    base = rl.BernoulliRBM(np.zeros((6, 4)), np.linspace(-1, 1, 6), np.zeros(4))
    between = [rl.testsystems.random_rbm(6, 4, coupling=c, rng=5) for c in (2.0, 3.0, 5.0)]
    path = rl.Polyline([base, *between, rbm]) if bends else rl.GeometricPath(rbm, base)
    knots, states = np.linspace(0, 1, 5 if bends else 3), all_states(6)
    before, after = [], []
    for beta in knots:
        p = probabilities(path.log_density(states, float(beta)))
        for side, means in ((-1e-9, before), (1e-9, after)):
            at = float(np.clip(beta + side, 0, 1))
            means.append(p @ path.log_density_slope(states, at))
    costs = np.diff(knots) * (np.array(before)[1:] - np.array(after)[:-1])
    share = np.sqrt(np.maximum(costs, 0))
    wanted = np.r_[0, np.cumsum(share / share.sum())]
    n = 20_000
    found = gms13(path, n, 1500, 0, n_knots=3, n_sweeps=120, n_burn_in=20)
    at_knots = np.interp(knots, found, np.arange(n + 1) / n)
    np.testing.assert_allclose(at_knots, wanted, atol=0.012)
