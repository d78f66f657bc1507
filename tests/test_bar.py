"""MBAR and BAR, of samples and of two directions: equations, error bars, what is flagged."""

from importlib import import_module
from itertools import pairwise

import numpy as np
import pytest
from helpers_models import SMALL, SMALL_LOG_Z, quiet, quiet_path
from helpers_stats import all_states, joint_table, probabilities
from scipy.optimize import brentq
from scipy.special import expit, stdtrit

import rbmlib as rl
from rbmbook.experiments.reference import bar_of_sample
from rbmlib import GeometricPath
from rbmlib._kernels import float_sums
from rbmlib.estimators.bar import Bennett, bennett, bennett_error
from rbmlib.estimators.mbar import Problem
from rbmlib.estimators.reverse_ais import resampled
from rbmlib.results import skewed_interval, student_interval, summarise_log_weights

PATH = GeometricPath(SMALL)
BETAS = rl.schedules.linear(4)


def exact_slopes(rng, counts):
    """Delta of exact draws of (v, h) at each beta, one array a beta."""
    v, h = (all_states(n) for n in SMALL.weights.shape)
    base = PATH.models[0].visible_bias
    delta = joint_table(SMALL.weights, SMALL.visible_bias - base, SMALL.hidden_bias).ravel()
    start = np.repeat(v @ base, len(h))
    laws = (probabilities(start + b * delta) for b in BETAS)
    return [rng.choice(delta, size=n, p=p) for n, p in zip(counts, laws, strict=True)]


def gaussian_slopes(betas, counts, width):
    """log Z(beta) = width**2 beta**2 / 2 for slopes N(width**2 beta, width**2)."""
    means = np.repeat(width**2 * np.asarray(betas), counts)
    return np.random.default_rng(0).normal(means, width)


@pytest.mark.parametrize(
    ("n_states", "empty", "width"), [(2, (), 2.0), (12, (), 8.0), (12, (1, 3), 8.0)]
)
def test_equal_to_pymbar(n_states, empty, width):
    """To 1e-8 in log Z, and to 1% in the errors of all of them, covariances included."""
    pymbar = pytest.importorskip("pymbar")
    betas = np.linspace(0, 1, n_states) ** 1.2
    counts = np.array([0 if k in empty else 400 + 30 * k for k in range(n_states)])
    delta = gaussian_slopes(betas, counts, width)
    found = rl.solve_mbar(delta, counts, betas)
    assert found.converged
    # pymbar takes counts that may be 0, and the samples in the order of the states
    theirs = pymbar.MBAR(-betas[:, None] * delta, counts, solver_protocol="robust")
    wanted = theirs.compute_free_energy_differences()
    np.testing.assert_allclose(found.log_z, -wanted["Delta_f"][0], atol=1e-8)
    variances = np.diag(found.covariance)
    pairs = np.sqrt(np.maximum(variances[:, None] + variances - 2 * found.covariance, 0))
    off = ~np.eye(n_states, dtype=bool)
    np.testing.assert_allclose(pairs[off], wanted["dDelta_f"][off], rtol=0.01)
    np.testing.assert_allclose(found.std_error, wanted["dDelta_f"][0], rtol=0.01, atol=1e-7)


def test_nodes_stand_for_the_samples():
    rng, betas = np.random.default_rng(2), np.linspace(0, 1, 30)
    delta = gaussian_slopes(betas, 1500, 12.0)
    grid = float_sums.grid(delta, 1.0)
    assert grid.nodes.size < delta.size / 5
    a, member = rng.normal(scale=3, size=30) - 72 * betas**2, np.ones(30, bool)
    sums = [
        float_sums.moments(x, w, betas, a, member, True)
        for x, w in ((grid.nodes, grid.weights), (delta, np.ones(delta.size)))
    ]
    for one, two in zip(*sums, strict=True):
        np.testing.assert_allclose(one, two, rtol=1e-10, atol=1e-12 * np.abs(two).max())
    values = float_sums.combination(grid.nodes, betas, a, member, betas)
    wanted = float_sums.combination(delta, betas, a, member, betas)
    np.testing.assert_allclose(float_sums.interpolate(values, grid), wanted, atol=1e-10)
    few = float_sums.grid(np.array([0.0, 50.0, 1e6]), 1.0)  # are summed as they are
    np.testing.assert_array_equal(few.nodes, [0.0, 50.0, 1e6])
    np.testing.assert_array_equal(few.weights, 1.0)


def test_influence_is_the_derivative_to_the_weight_of_a_sample():
    """Taken out, a sample changes log Z by minus its influence (to second order)."""
    counts = np.array([60, 0, 80, 70, 0])
    draws = exact_slopes(np.random.default_rng(3), counts)
    delta, temperature = np.concatenate(draws), np.repeat(np.arange(5), counts)
    influences = Problem(delta, counts.astype(float), BETAS).influences(temperature)
    assert influences.sum() == pytest.approx(0, abs=1e-9)
    whole = rl.solve_mbar(delta, counts, BETAS).log_z[-1]
    for n in (0, 75, 140, 209):
        less = counts - (np.arange(5) == temperature[n])
        change = rl.solve_mbar(np.delete(delta, n), less, BETAS).log_z[-1] - whole
        assert change == pytest.approx(-influences[n], abs=0.04 * np.abs(influences).max())


def test_not_connected_is_said():
    delta = np.r_[np.zeros(50), np.full(50, 1e5)] + np.random.default_rng(0).normal(size=100)
    assert not rl.solve_mbar(delta, [50, 50], [0.0, 1.0]).converged


def test_no_more_slopes_are_kept_than_there_is_room_for(monkeypatch):
    """Of 40 chains and 100 sweeps every fourth, if 1,000 have room: all chains count."""
    monkeypatch.setattr(import_module("rbmlib.estimators.mbar"), "MAX_SAMPLES", 1000)
    assert quiet(rl.mbar, PATH, BETAS, 40, 100, rng=0).states.delta.size == 1000


@pytest.mark.parametrize("offset", [-3e7, 4e8])
def test_large_slopes_end_at_their_rounding(offset):
    """Steps below 1e-10 nats are not seen where log Z is 1e7: they are waited for no longer."""
    betas = np.linspace(0, 1, 6)
    delta = offset + gaussian_slopes(betas, 800, 4.0)
    found = rl.solve_mbar(delta, np.full(6, 800.0), betas)
    assert found.converged
    assert found.n_iterations < 20
    assert abs(found.log_z[-1] - offset - 8) < 4 * found.std_error[-1]


def test_products_of_many_states_are_those_of_all(monkeypatch):
    """Of nodes that lie close, states far away have no weight, and are left out."""
    betas, width = np.linspace(0, 1, 300), 600.0
    delta = np.sort(gaussian_slopes(betas, 10, width))
    a = np.log(10) - width**2 * betas**2 / 2
    weights, member = np.ones(delta.size), np.ones(300, bool)
    _, first, products = float_sums.moments(delta, weights, betas, a, member, True)
    w = np.empty((delta.size, 300))
    float_sums.state_weights(delta, betas, a, member, w)
    assert (w == 0).mean() > 0.1
    np.testing.assert_allclose(products, w.T @ w, rtol=1e-12, atol=1e-13)
    np.testing.assert_allclose(products.sum(axis=1), first, rtol=1e-10)


def jackknife(values) -> float:
    """Standard error from the values of an estimate with each part left out."""
    return float(np.sqrt((len(values) - 1) * np.var(values)))


def work_values(seed, n_forward, n_reverse, spread, log_z=0.0):
    """Gaussian work: p_F = N(log Z - s^2 / 2, s^2) obeys Crooks with p_R = N(log Z + s^2 / 2)."""
    rng, shift = np.random.default_rng(seed), spread**2 / 2
    forward = rng.normal(log_z - shift, spread, n_forward)
    return forward, rng.normal(log_z + shift, spread, n_reverse)


@pytest.mark.parametrize(("n_forward", "n_reverse"), [(300, 300), (500, 40), (1, 2)])
def test_root_solves_the_equation_and_has_its_slope(n_forward, n_reverse):
    w, r = work_values(1, n_forward, n_reverse, 1.5, log_z=300.0)
    root, m, h = bennett(w, r), np.log(n_forward / n_reverse), 1e-6
    assert root.forward.sum() == pytest.approx(root.reverse.sum(), rel=1e-9)
    np.testing.assert_allclose(root.forward, expit(w - root.log_z - m), rtol=1e-7)

    def excess(x):
        return expit(w - x - m).sum() - expit(x + m - r).sum()

    slope = (excess(root.log_z - h) - excess(root.log_z + h)) / (2 * h)
    assert root.slope == pytest.approx(slope, rel=1e-5)


def test_error_of_independent_values_unequal_in_number():
    w, r = work_values(4, 90, 60, 1.1)
    errors = [
        jackknife([bennett(np.delete(w, i), r).log_z for i in range(w.size)]),
        jackknife([bennett(w, np.delete(r, j)).log_z for j in range(r.size)]),
    ]
    error, families = bennett_error(bennett(w, r), None)
    assert error == pytest.approx(np.hypot(*errors), rel=0.02)
    assert families == w.size


def test_error_of_families_left_out():
    rng = np.random.default_rng(5)
    w = rng.normal(-0.6, 1.1, 300)
    ancestors = np.sort(rng.choice(300, 300, p=np.exp(w) / np.exp(w).sum()))
    r = 0.8 * w[ancestors] + rng.normal(0.9, 0.6, 300)

    def log_z(kept):
        back = kept[ancestors]
        return brentq(lambda x: expit(w[kept] - x).mean() - expit(x - r[back]).mean(), -5, 5)

    left = [log_z(np.arange(300) != i) for i in range(300)]
    error, families = bennett_error(bennett(w, r), ancestors)
    assert error == pytest.approx(jackknife(left), rel=0.02)
    pulls = np.array(left) - np.mean(left)
    assert families == pytest.approx((pulls**2).sum() ** 2 / (pulls**4).sum(), rel=0.05)


def test_ancestors_without_forward_value_count_with_their_descendants():
    w, r = work_values(4, 90, 60, 1.1)
    ancestors = np.arange(60) % 5 + 88  # the last two forward chains, and three others
    root = bennett(w, r)
    pulls = np.r_[root.forward - root.forward.mean(), 0, 0, 0]
    np.subtract.at(pulls, ancestors, root.reverse - root.reverse.mean())
    wanted = np.sqrt(93 / 92 * (pulls**2).sum()) / root.slope
    assert bennett_error(root, ancestors, 93)[0] == pytest.approx(wanted)
    assert bennett_error(Bennett(0.0, np.full(4, 0.5), np.full(4, 0.5)), np.arange(4)) == (0, 4)


@pytest.mark.parametrize("start", ["exact", "chains"])
def test_a_run_is_what_the_equation_says_of_its_values(start):
    path, betas, n = quiet_path(SMALL, None), rl.schedules.linear(3), 400
    run = quiet(rl.bar, path, betas, n, 2, start=start, n_burn_in=0)
    forward = quiet(rl.ais, path, betas, n, 2)
    w, r = run.log_weights, np.array(run.details["reverse_log_weights"])
    np.testing.assert_array_equal(w, forward.log_weights)
    np.testing.assert_array_equal(run.states, forward.states)  # of the target, not of the base
    up, down, root = summarise_log_weights(w), summarise_log_weights(-r), bennett(w, r)
    assert run.details["forward"] == (up.log_mean, up.std_error)
    assert run.details["reverse"] == (-down.log_mean, down.std_error)
    assert run.details["reverse_ess"] == down.ess
    assert run.log_z == root.log_z
    assert run.details["overlap"] == pytest.approx(4 * root.slope)
    ancestors = None
    if start == "chains":  # which are drawn by the stream that the run drew them by
        source = np.random.default_rng(2)
        source.integers(2**64, dtype=np.uint64)
        source = source.spawn(1)[0]
        source.integers(2**64, dtype=np.uint64)
        ancestors = resampled(w, source)
    error, families = bennett_error(root, ancestors)
    assert (run.std_error, run.details["families"]) == pytest.approx((error, families))
    half = stdtrit(families - 1, 0.975) * error
    wider = half * (1 + 10 * up.std_error) if start == "chains" else half
    assert run.interval == pytest.approx((run.log_z - half, run.log_z + wider))
    if start == "chains":
        assert error > 1.2 * bennett_error(root, None)[0], "ancestors would not be seen"
        assert run.interval == skewed_interval(run.log_z, error, families, up.std_error)
    else:
        assert run.interval == student_interval(run.log_z, error, n)


def test_half_of_the_values_of_both_directions_must_overlap():
    """Of 60 chains each way: 60 of 120, or 100."""
    path = quiet_path(rl.testsystems.random_rbm(12, 6, coupling=6.0, rng=0), None)
    seen = []
    for n_steps in range(2, 40, 3):
        run = quiet(rl.bar, path, rl.schedules.linear(n_steps), 60, 0, start="exact")
        (found,) = [check for check in run.checks if check.name.startswith("work values")]
        assert (found.passed, found.limit) == (run.details["overlap"] >= 60, 60)
        seen.append(run.details["overlap"])
    assert any(30 < overlap < 60 for overlap in seen)
    assert max(seen) > 60
    with pytest.warns(rl.ConvergenceWarning, match="bar: .* both directions reach"):
        rl.bar(path, rl.schedules.linear(2), 60, 0, start="exact")


def unequal_patterns(strength: float = 0.8) -> rl.BernoulliRBM:
    """One pattern a hidden unit, of depths that differ by up to 4 nats."""
    rng = np.random.default_rng(0)
    weights = strength * rng.choice([-1.0, 1.0], (100, 10))
    free = np.logaddexp(0, weights).sum(axis=0) - 100 * np.log(2)
    return rl.BernoulliRBM(weights, np.zeros(100), rng.uniform(-2, 2, 10) - free)


UNEQUAL = GeometricPath(unequal_patterns(), np.zeros(100))


@pytest.mark.always
@pytest.mark.statistical
def test_intervals_of_converged_runs_cover_patterns_of_unequal_depth():
    """300 runs of 200 chains, up to five standard errors of the coverage below 95%."""
    betas, truth, covered, n = rl.schedules.linear(200), rl.exact(UNEQUAL.rbm).log_z, [], 300
    for seed in range(n):
        run = quiet(rl.bar, UNEQUAL, betas, 200, seed, start="chains")
        if run.converged:
            covered.append(run.interval[0] <= truth <= run.interval[1])
    assert len(covered) > n / 5
    assert abs(np.mean(covered) - 0.95) < 3 * np.sqrt(0.95 * 0.05 / len(covered)) + 0.01


@pytest.mark.parametrize(
    ("n_chains", "n_steps", "needed", "least"), [(100, 200, 80, False), (250, 1000, 100, True)]
)
def test_runs_need_a_hundred_ancestors_or_most_of_few(n_chains, n_steps, needed, least):
    run = quiet(rl.bar, UNEQUAL, rl.schedules.linear(n_steps), n_chains, 0, start="chains")
    assert run.ess > 10
    assert run.details["overlap"] > n_chains
    assert run.converged == least == (run.ess >= needed)
    found = [(c.value, c.limit) for c in run.checks if "ancestors" in c.name]
    assert found == [(run.ess, needed)]


FEW = rl.schedules.linear(5)


@pytest.fixture(scope="module")
def ladders():
    """2,000 short ladders, from one run: as many small independent estimates as one likes."""
    return rl.parallel_tempering(PATH, FEW, 2000, 120, rng=5)


def test_is_mbar_of_each_pair_of_neighbours(ladders):
    delta, at = ladders.delta[20:].ravel(), ladders.temperature[20:].ravel().astype(int)
    wanted, influences = 0.0, np.zeros(delta.size)
    for k in range(5):
        pair = (at == k) | (at == k + 1)
        counts = np.bincount(at[pair] - k).astype(float)
        problem = Problem(delta[pair], counts, FEW[k : k + 2])
        wanted += problem.solution().log_z[1]
        influences[pair] += problem.influences(at[pair] - k)
    found = bar_of_sample(ladders, skip=20)
    assert found.log_z - PATH.log_z_base == pytest.approx(wanted, abs=1e-8)
    of_ladders = influences.reshape(-1, 2000, 6).sum(axis=(0, 2))
    np.testing.assert_allclose(found.log_weights - found.log_z, 2000 * of_ladders, atol=1e-6)
    assert abs(found.log_z - SMALL_LOG_Z) < 4 * found.std_error
    variance = np.var(found.log_weights, ddof=1) / 2000
    inefficiency = variance / (influences.var() * influences.size)
    assert found.details["inefficiency"] == pytest.approx(inefficiency, rel=1e-4)


def test_few_states_between_neighbours_are_flagged():
    sample = rl.parallel_tempering(PATH, FEW, 2, 3, rng=1)
    works = [sample.delta[sample.temperature == k] / 5 for k in range(6)]
    overlap = min(4 * bennett(low, high).slope for low, high in pairwise(works))
    found = quiet(bar_of_sample, sample)
    (states,) = [check for check in found.checks if "neighbours overlap" in check.name]
    assert not states.passed
    assert (states.value, states.limit) == pytest.approx((overlap, 10))


def test_a_beta_without_states_is_left_out_and_an_end_is_not():
    sample = rl.parallel_tempering(PATH, FEW, 50, 300, rng=1)
    gap = sample.temperature == 2
    sample.temperature[gap], sample.delta[gap] = 1, sample.delta[sample.temperature == 1].mean()
    inner = bar_of_sample(sample).log_z_path
    assert inner[2] == pytest.approx((inner[1] + inner[3]) / 2)
    for end, other in ((5, 4), (0, 1)):
        sample = rl.parallel_tempering(PATH, FEW, 4, 50, rng=1)
        sample.temperature[sample.temperature == end] = other
        with pytest.raises(ValueError, match="no state at beta = 0, or none at 1"):
            bar_of_sample(sample)
