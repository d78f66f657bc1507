"""MBAR: against pymbar, against direct sums, against exact values; what it cannot know, flagged."""

from dataclasses import replace
from importlib import import_module

import numpy as np
import pytest
from helpers_models import SMALL, quiet
from helpers_stats import all_states, joint_table, log_sum

import rbmlib as rl
from rbmlib import GeometricPath
from rbmlib._kernels import float_sums
from rbmlib.estimators.mbar import Problem

PATH = GeometricPath(SMALL)
BETAS = rl.schedules.linear(4)


@pytest.fixture(scope="module")
def guess():
    return rl.pilot(PATH, BETAS, rng=0).log_z_path


def exact_slopes(rng, counts):
    """Delta of exact draws of (v, h) at each beta, one array a beta, and the exact log Z."""
    v, h = (all_states(n) for n in SMALL.weights.shape)
    base = PATH.models[0].visible_bias
    delta = joint_table(SMALL.weights, SMALL.visible_bias - base, SMALL.hidden_bias).ravel()
    start = np.repeat(v @ base, len(h))
    log_z = np.array([log_sum(start + b * delta) for b in BETAS])
    draws = [
        rng.choice(delta, size=n, p=np.exp(start + b * delta - z))
        for b, z, n in zip(BETAS, log_z, counts, strict=True)
    ]
    return draws, log_z


def gaussian_slopes(seed, betas, counts, width):
    """log Z(beta) = width**2 beta**2 / 2 for slopes N(width**2 beta, width**2)."""
    rng = np.random.default_rng(seed)
    pairs = zip(betas, counts, strict=True)
    return np.concatenate([rng.normal(width**2 * b, width, size=n) for b, n in pairs])


@pytest.mark.parametrize(
    ("n_states", "empty", "width"), [(2, (), 2.0), (12, (), 8.0), (12, (1, 3), 8.0)]
)
def test_equal_to_pymbar(n_states, empty, width):
    """To 1e-8 in log Z, and to 1% in the errors of all of them, covariances included."""
    pymbar = pytest.importorskip("pymbar")
    betas = np.linspace(0, 1, n_states) ** 1.2
    counts = np.array([0 if k in empty else 400 + 30 * k for k in range(n_states)])
    delta = gaussian_slopes(0, betas, counts, width)
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


def test_nodes_stand_for_the_samples():
    """Sums over Chebyshev nodes are sums over samples, for all that MBAR adds up."""
    rng = np.random.default_rng(2)
    betas, counts = np.linspace(0, 1, 30), np.full(30, 1500)
    delta = gaussian_slopes(2, betas, counts, 12.0)
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
    draws, _ = exact_slopes(np.random.default_rng(3), counts)
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


def test_rts_is_mbar_with_expected_counts(guess):
    """Appendix D: with n_k / N = c_k in place of the counts, MBAR's maximum is eq. (12)."""
    sample = rl.simulated_tempering(PATH, BETAS, guess + np.array([0, 1, 0, -1, 1]), 20, 300, 0)
    rts = quiet(rl.rts_of_sample, sample)
    c = rts.trace["occupation"]
    mbar = rl.solve_mbar(sample.delta, c / c.sum() * sample.delta.size, BETAS)
    np.testing.assert_allclose(mbar.log_z + sample.log_z_base, rts.log_z_path, atol=1e-6)
    counted = quiet(rl.mbar_of_sample, sample)
    assert np.abs(counted.log_z_path - rts.log_z_path).max() > 1e-4, "otherwise it shows nothing"


def test_no_more_slopes_are_kept_than_there_is_room_for(monkeypatch):
    """Of 40 chains and 100 sweeps every fourth, if 1,000 have room: all chains count."""
    module, seen = import_module("rbmlib.estimators.mbar"), []
    solved = module._solved
    monkeypatch.setattr(module, "MAX_SAMPLES", 1000)
    monkeypatch.setattr(
        module, "_solved", lambda s, *more: seen.append(s.delta.size) or solved(s, *more)
    )
    quiet(rl.mbar, PATH, BETAS, 40, 100, rng=0)
    assert seen == [1000]


def test_halves_that_differ_are_flagged(guess):
    sample = rl.simulated_tempering(PATH, BETAS, guess, 20, 400, rng=0)
    assert rl.mbar_of_sample(sample).converged
    drifted = sample.delta.copy()
    drifted[200:][sample.temperature[200:] == 4] += 2.0
    run = quiet(rl.mbar_of_sample, replace(sample, delta=drifted))
    assert not run.converged
    assert not next(check.passed for check in run.checks if "halves" in check.name)


@pytest.mark.parametrize("offset", [-3e7, 4e8])
def test_large_slopes_end_at_their_rounding(offset):
    """Steps below 1e-10 nats are not seen where log Z is 1e7: they are waited for no longer."""
    betas = np.linspace(0, 1, 6)
    delta = offset + gaussian_slopes(0, betas, [800] * 6, 4.0)
    found = rl.solve_mbar(delta, np.full(6, 800.0), betas)
    assert found.converged
    assert found.n_iterations < 20
    assert abs(found.log_z[-1] - offset - 8) < 4 * found.std_error[-1]


def test_products_of_many_states_are_those_of_all(monkeypatch):
    """Of nodes that lie close, states far away have no weight, and are left out."""
    betas, width = np.linspace(0, 1, 300), 600.0
    delta = np.sort(gaussian_slopes(0, betas, [10] * 300, width))
    a = np.log(10) - width**2 * betas**2 / 2
    weights, member = np.ones(delta.size), np.ones(300, bool)
    _, first, products = float_sums.moments(delta, weights, betas, a, member, True)
    w = np.empty((delta.size, 300))
    float_sums.state_weights(delta, betas, a, member, w)
    assert (w == 0).mean() > 0.1
    np.testing.assert_allclose(products, w.T @ w, rtol=1e-12, atol=1e-13)
    np.testing.assert_allclose(products.sum(axis=1), first, rtol=1e-10)
