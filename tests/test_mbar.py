"""MBAR: against pymbar, against direct sums, against exact values; what it cannot know, flagged."""

import warnings
from dataclasses import replace
from importlib import import_module

import numpy as np
import pytest
from helpers_models import DIGITS, SMALL, SMALL_LOG_Z, digits_path
from helpers_stats import all_states, joint_table, log_sum

import rbmlib as rl
from rbmlib import ConvergenceWarning, GeometricPath
from rbmlib._kernels import float_sums
from rbmlib.estimators.mbar import Problem

PATH = GeometricPath(SMALL)
BETAS = rl.schedules.linear(4)


def quietly(function, *arguments, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return function(*arguments, **options)


def exact_slopes(rng, betas, counts):
    """Delta of exact draws of (v, h) at each beta, one array a beta, and the exact log Z."""
    v, h = (all_states(n) for n in SMALL.weights.shape)
    base = PATH.models[0].visible_bias
    delta = joint_table(SMALL.weights, SMALL.visible_bias - base, SMALL.hidden_bias).ravel()
    start = np.repeat(v @ base, len(h))
    log_z = np.array([log_sum(start + b * delta) for b in betas])
    draws = [
        rng.choice(delta, size=n, p=np.exp(start + b * delta - z))
        for b, z, n in zip(betas, log_z, counts, strict=True)
    ]
    return draws, log_z


def gaussian_slopes(rng, betas, counts, width=20.0):
    """log Z(beta) = 150 beta**2 for slopes N(300 beta, width**2 = 300)."""
    return [rng.normal(width**2 * b, width, size=n) for b, n in zip(betas, counts, strict=True)]


def direct_gradient(delta, counts, betas, log_z):
    """sum_n W_k - N_k over the samples, in plain NumPy."""
    logits = betas * delta[:, None] - log_z + np.log(np.maximum(counts, 1e-300))
    top = logits.max(axis=1, keepdims=True)
    w = np.exp(logits - top)
    return (w / w.sum(axis=1, keepdims=True)).sum(axis=0) - counts


# the solution -----------------------------------------------------------------------------


@pytest.mark.parametrize("empty", [(), (1, 3)], ids=["all", "empty bins"])
@pytest.mark.parametrize("n_states", [2, 12])
def test_equal_to_pymbar(n_states, empty):
    """To 1e-8 in log Z, and to 1% in the errors of all of them, covariances included."""
    pymbar = pytest.importorskip("pymbar")
    if n_states == 2:
        empty = ()
    betas = np.linspace(0, 1, n_states) ** 1.2
    counts = np.array([0 if k in empty else 400 + 30 * k for k in range(n_states)])
    width = 2.0 if n_states == 2 else 8.0
    draws = gaussian_slopes(np.random.default_rng(0), betas, counts, width)
    delta = np.concatenate(draws)
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


def test_gradient_is_zero_at_the_solution():
    betas, counts = np.linspace(0, 1, 20), np.arange(1000, 3000, 100)
    delta = np.concatenate(gaussian_slopes(np.random.default_rng(1), betas, counts, 10.0))
    found = rl.solve_mbar(delta, counts, betas)
    gradient = direct_gradient(delta, counts, betas, found.log_z)
    assert np.abs(gradient).max() < 1e-8 * counts.max()
    worse = found.log_z.copy()
    worse[5] += 1e-6
    assert np.abs(direct_gradient(delta, counts, betas, worse)).max() > 1e-4


def test_nodes_stand_for_the_samples():
    """Sums over Chebyshev nodes are sums over samples, for all that MBAR adds up."""
    rng = np.random.default_rng(2)
    betas, counts = np.linspace(0, 1, 30), np.full(30, 1500)
    delta = np.concatenate(gaussian_slopes(rng, betas, counts, 12.0))
    grid = float_sums.grid(delta, 1.0)
    assert grid.nodes.size < delta.size / 5
    a, member = rng.normal(scale=3, size=30) - 72 * betas**2, np.ones(30, bool)
    sums = [
        float_sums.moments(x, w, betas, a, member, True)
        for x, w in ((grid.nodes, grid.weights), (delta, np.ones(delta.size)))
    ]
    for one, two in zip(*sums, strict=True):
        scale = np.abs(two).max()
        np.testing.assert_allclose(one, two, rtol=1e-10, atol=1e-12 * scale)
    values = float_sums.combination(grid.nodes, betas, a, member, betas)
    wanted = float_sums.combination(delta, betas, a, member, betas)
    found = float_sums.interpolate(values, grid)
    np.testing.assert_allclose(found, wanted, atol=1e-10)


def test_few_samples_are_summed_as_they_are():
    grid = float_sums.grid(np.array([0.0, 50.0, 1e6]), 1.0)
    np.testing.assert_array_equal(grid.nodes, [0.0, 50.0, 1e6])
    np.testing.assert_array_equal(grid.weights, 1.0)


def test_influence_is_the_derivative_to_the_weight_of_a_sample():
    """Taken out, a sample changes log Z by minus its influence (to second order)."""
    rng = np.random.default_rng(3)
    counts = np.array([60, 0, 80, 70, 0])
    draws, _ = exact_slopes(rng, BETAS, counts)
    delta, temperature = np.concatenate(draws), np.repeat(np.arange(5), counts)
    influences = Problem(delta, counts.astype(float), BETAS).influences(temperature)
    assert influences.sum() == pytest.approx(0, abs=1e-9)
    whole = rl.solve_mbar(delta, counts, BETAS).log_z[-1]
    for n in (0, 75, 140, 209):
        left = np.delete(delta, n)
        less = counts - (np.arange(5) == temperature[n])
        change = rl.solve_mbar(left, less, BETAS).log_z[-1] - whole
        assert change == pytest.approx(-influences[n], abs=0.04 * np.abs(influences).max())


def test_not_connected_is_said():
    delta = np.r_[np.zeros(50), np.full(50, 1e5)] + np.random.default_rng(0).normal(size=100)
    found = rl.solve_mbar(delta, [50, 50], [0.0, 1.0])
    assert not found.converged


@pytest.mark.parametrize(
    ("delta", "counts", "betas", "message"),
    [
        ([1.0, 2.0], [1, 2], [0, 1], r"sum to 3\.0: expected counts .* number of samples, 2"),
        ([1.0, 2.0], [-1, 3], [0, 1], r"counts run from -1\.0"),
        ([1.0, np.nan], [1, 1], [0, 1], "delta holds 1 NaN"),
        ([1.0, 2.0], [2], [0, 1], r"counts has shape \(1,\): expected \(2,\)"),
        ([], [0, 0], [0, 1], "number of samples, 0"),
        ([1.0], [1, 0], [1, 0], "betas runs from 1.0 to 0.0"),
        (["a"], [1, 0], [0, 1], "delta is not an array of numbers"),
    ],
)
def test_bad_input(delta, counts, betas, message):
    with pytest.raises(ValueError, match=message):
        rl.solve_mbar(delta, counts, betas)


@pytest.mark.statistical
def test_intervals_of_independent_samples_cover():
    """95% intervals over 1,000 repeats of exact draws at five betas: between 91% and 99%."""
    rng, counts = np.random.default_rng(4), np.full(5, 60)
    covered, errors, bars = 0, [], []
    for _ in range(1000):
        draws, log_z = exact_slopes(rng, BETAS, counts)
        found = rl.solve_mbar(np.concatenate(draws), counts, BETAS, n_threads=1)
        errors.append(found.log_z[-1] - (log_z[-1] - log_z[0]))
        bars.append(found.std_error[-1])
        covered += abs(errors[-1]) < 1.96 * bars[-1]
    assert 910 < covered < 990
    assert abs(np.mean(errors)) < 4 * np.std(errors) / np.sqrt(1000)
    assert np.sqrt(np.mean(np.square(bars))) == pytest.approx(np.std(errors), rel=0.1)


# samples of tempering ---------------------------------------------------------------------


@pytest.mark.statistical
def test_intervals_of_tempering_cover():
    """As above for chains of simulated tempering, whose states resemble each other.

    The bar of a flagged run holds the disagreement that was found: only the others' can be held
    against the spread of their values.
    """
    first = rl.pilot(PATH, BETAS, rng=0)
    covered, errors, bars = 0, [], []
    for seed in range(1000):
        sample = rl.simulated_tempering(
            PATH, BETAS, first.log_z_path, 20, 100, seed, n_threads=1, n_blocks=2
        )
        run = quietly(rl.mbar_of_sample, sample, n_threads=1)
        covered += run.interval[0] < SMALL_LOG_Z < run.interval[1]
        if run.converged:
            errors.append(run.log_z - SMALL_LOG_Z)
            bars.append(run.std_error)
    assert 910 < covered < 990
    assert len(bars) > 500
    assert np.sqrt(np.mean(np.square(bars))) == pytest.approx(np.std(errors), rel=0.15)


def test_rts_is_mbar_with_expected_counts():
    """Appendix D: with n_k / N = c_k in place of the counts, MBAR's maximum is eq. (12)."""
    first = rl.pilot(PATH, BETAS, rng=0)
    tilted = first.log_z_path + np.array([0, 1, 0, -1, 1])
    sample = rl.simulated_tempering(PATH, BETAS, tilted, 20, 300, 0)
    rts = quietly(rl.rts_of_sample, sample)
    c = rts.trace["occupation"]
    mbar = rl.solve_mbar(sample.delta, c / c.sum() * sample.delta.size, BETAS)
    np.testing.assert_allclose(mbar.log_z + sample.log_z_base, rts.log_z_path, atol=1e-6)
    counted = quietly(rl.mbar_of_sample, sample)
    assert np.abs(counted.log_z_path - rts.log_z_path).max() > 1e-4, "otherwise it shows nothing"


def test_no_more_slopes_are_kept_than_there_is_room_for(monkeypatch):
    """Of 40 chains and 100 sweeps every fourth, if 1,000 have room: all chains count."""
    module, seen = import_module("rbmlib.estimators.mbar"), []
    solved = module._solved
    monkeypatch.setattr(module, "MAX_SAMPLES", 1000)
    monkeypatch.setattr(
        module,
        "_solved",
        lambda sample, *options: seen.append(sample.delta.size) or solved(sample, *options),
    )
    quietly(rl.mbar, PATH, BETAS, 40, 100, rng=0)
    assert seen == [1000]


def test_mbar_draws_its_own_states():
    run = rl.mbar(PATH, BETAS, 50, 1000, rng=0)
    assert run.converged
    assert abs(run.log_z - SMALL_LOG_Z) < 4 * run.std_error
    assert run.std_error < 0.05
    assert run.log_weights.mean() == pytest.approx(run.log_z)
    assert run.settings["inefficiency"] > 1
    assert run.log_z_path[0] == PATH.log_z_base
    again = rl.mbar(PATH, BETAS, 50, 1000, rng=0, n_threads=2)
    assert again.log_z == pytest.approx(run.log_z, abs=1e-9)
    assert rl.Estimate.from_dict(run.to_dict()).log_z == run.log_z


@pytest.mark.statistical
def test_parallel_tempering_serves_too():
    sample = rl.parallel_tempering(PATH, BETAS, 10, 1000, rng=0)
    run = quietly(rl.mbar_of_sample, sample, skip=50)
    assert run.n_chains == 10
    assert abs(run.log_z - SMALL_LOG_Z) < 4 * run.std_error
    assert run.std_error < 0.1


def test_chains_that_do_not_travel_are_flagged():
    """Three betas, far apart: beta is hardly ever exchanged."""
    rbm = rl.testsystems.random_rbm(60, 10, coupling=9.0, rng=0)
    path = GeometricPath(rbm, base=np.zeros(60))
    with pytest.warns(ConvergenceWarning, match="mbar: .* round trips of a chain") as caught:
        run = rl.mbar(path, rl.schedules.linear(2), 20, 100, rng=0)
    assert not run.converged
    assert caught[-1].filename == __file__


def test_halves_that_differ_are_flagged():
    first = rl.pilot(PATH, BETAS, rng=0)
    sample = rl.simulated_tempering(PATH, BETAS, first.log_z_path, 20, 400, rng=0)
    assert rl.mbar_of_sample(sample).converged
    drifted = sample.delta.copy()
    drifted[200:][sample.temperature[200:] == 4] += 2.0
    run = quietly(rl.mbar_of_sample, replace(sample, delta=drifted))
    assert not run.converged
    assert not next(ok for text, ok in run.settings["checks"].items() if "halves" in text)


def test_samples_are_checked():
    with pytest.raises(TypeError, match="sample is a ndarray: expected a TemperedSample"):
        rl.mbar_of_sample(np.zeros((3, 3)))
    log_z = rl.pilot(PATH, BETAS, rng=0).log_z_path
    marginal = rl.simulated_tempering(PATH, BETAS, log_z, 4, 10, 0, conditional="marginal")
    with pytest.raises(ValueError, match="conditional='marginal': expected 'joint'"):
        rl.mbar_of_sample(marginal)
    sample = rl.simulated_tempering(PATH, BETAS, log_z, 4, 10, 0)
    with pytest.raises(ValueError, match="skip is 9: expected at most 8, as 10 states are kept"):
        rl.mbar_of_sample(sample, skip=9)
    one = rl.simulated_tempering(PATH, BETAS, log_z, 1, 10, 0)
    with pytest.raises(ValueError, match="sample holds 1 chain"):
        rl.mbar_of_sample(one)


# models of digits -------------------------------------------------------------------------


@pytest.mark.statistical
@pytest.mark.parametrize("name", DIGITS)
def test_models_of_digits(name):
    path, log_z = digits_path(name)
    run = quietly(rl.mbar, path, rl.schedules.linear(99), 50, 2000, rng=0)
    assert abs(run.log_z - log_z) < 4 * run.std_error
    assert run.std_error < 0.5


@pytest.mark.statistical
@pytest.mark.parametrize("name", ["h20", "cd1_20 made weaker"])
def test_too_few_sweeps_of_digits_are_flagged(name):
    path, _ = digits_path(name)
    run = quietly(rl.mbar, path, rl.schedules.linear(99), 100, 50, rng=0)
    assert not run.converged
