"""Annealed importance sampling: unbiased both ways, honest intervals, where chains begin."""

from importlib import import_module

import numpy as np
import pytest
from helpers_models import HIDDEN_BASE, SMALL, SMALL_LOG_Z, quiet, quiet_path
from helpers_stats import joint_table, log_sum, standard_error, z_score

import rbmlib as rl
from rbmlib import GeometricPath, numerics
from rbmlib._kernels import gibbs, layers
from rbmlib.estimators.reverse_ais import resampled
from rbmlib.sampling import compiled as seam

DIRECTIONS = {"forward": (rl.ais, 1), "reverse": (rl.reverse_ais, -1)}
BASES = {"mean_field": "mean_field", "no": None, "rbm": HIDDEN_BASE}


@pytest.mark.always
@pytest.mark.statistical
@pytest.mark.parametrize("direction", DIRECTIONS)
@pytest.mark.parametrize("base", BASES)
@pytest.mark.parametrize(("n_steps", "n"), [(1, 100_000), (3, 40_000), (200, 10_000)])
def test_mean_weight_is_z_or_one_over_it(direction, base, n_steps, n):
    """Exact increments (1 and 3 steps) and series (200 steps)."""
    run, sign = DIRECTIONS[direction]
    found = quiet(run, quiet_path(SMALL, BASES[base]), rl.schedules.linear(n_steps), n, n_steps)
    ratio = np.exp(sign * (found.log_weights - SMALL_LOG_Z))
    assert standard_error(ratio) < 0.02, "otherwise the test sees nothing"
    assert abs(z_score(ratio, 1.0)) < 4


@pytest.mark.always
@pytest.mark.statistical
@pytest.mark.parametrize(("direction", "bound"), [("forward", "lower"), ("reverse", "upper")])
@pytest.mark.parametrize(("n_steps", "least"), [(2, 10), (20, 4)])
def test_plain_means_are_bounds_by_many_standard_errors(direction, bound, n_steps, least):
    run, sign = DIRECTIONS[direction]
    found = quiet(run, quiet_path(SMALL, None), rl.schedules.linear(n_steps), 4000, 1)
    assert found.bound == bound
    assert found.mean_log_z == pytest.approx(found.log_weights.mean())
    assert found.mean_std_error == pytest.approx(standard_error(found.log_weights))
    assert sign * (SMALL_LOG_Z - found.mean_log_z) > least * found.mean_std_error


@pytest.mark.parametrize("n_steps", [1, 5, 999])
def test_history_ends_where_the_run_ends_and_does_not_grow_with_its_steps(n_steps):
    betas, length = rl.schedules.linear(n_steps), min(50, n_steps + 1)
    run = quiet(rl.ais, GeometricPath(SMALL), betas, n_chains=10, rng=0, n_recorded=50)
    assert len(run.betas) == len(run.log_z_path) == length
    assert all(len(column) == length for column in run.trace.values())
    assert run.trace["step"][[0, -1]].tolist() == [0, n_steps]
    assert np.ptp(np.diff(run.trace["step"])) <= 1
    np.testing.assert_allclose(run.betas, run.trace["step"] / n_steps)
    assert run.n_sweeps == n_steps
    # recorded weights lack the last correction of the fixed-point weights, 1e-3 nats or less
    assert run.log_z_path[-1] == pytest.approx(run.log_z, abs=1e-2)
    assert run.trace["ess"][[0, -1]] == pytest.approx([10, run.ess], rel=1e-2)


@pytest.mark.parametrize("visible", [rl.Binary, rl.Spin, rl.Gaussian])
def test_states_in_parts_have_the_same_digits(visible, monkeypatch):
    rng = np.random.default_rng(0)
    weights = rng.normal(size=(60, 33)) / 9
    rbm = rl.RBM(visible(rng.normal(size=60)), rl.Binary(rng.normal(size=33)), weights)
    path = GeometricPath(rbm, rng.normal(size=60))
    runs = []
    for most in (numerics.MOST_NUMBERS, 93 * 2048):
        monkeypatch.setattr(numerics, "MOST_NUMBERS", most)
        runs.append(quiet(rl.ais, path, rl.schedules.linear(6), 4097, rng=0, n_recorded=4))
    # sums over real units are BLAS's, whose order is another in parts: the last digit may differ
    rtol = 1e-13 if visible is rl.Gaussian else 0.0
    np.testing.assert_allclose(runs[0].log_weights, runs[1].log_weights, rtol=rtol, atol=0)
    np.testing.assert_allclose(runs[0].states, runs[1].states, rtol=rtol, atol=rtol)
    for name, column in runs[0].trace.items():
        np.testing.assert_allclose(runs[1].trace[name], column, rtol=10 * rtol, err_msg=name)


def test_a_generator_goes_on_and_no_seed_is_another_each_time():
    path, betas = GeometricPath(SMALL), rl.schedules.linear(30)
    one = rl.ais(path, betas, 40, rng=5)
    generator = np.random.default_rng(5)
    first, second = (rl.ais(path, betas, 40, rng=generator) for _ in range(2))
    np.testing.assert_array_equal(first.log_weights, one.log_weights)
    assert (second.log_weights != one.log_weights).all()
    assert rl.ais(path, betas, 40).log_z != rl.ais(path, betas, 40).log_z


@pytest.mark.always
@pytest.mark.statistical
@pytest.mark.parametrize(("run", "sign"), [(rl.ais, 1), (rl.reverse_ais, -1)])
def test_rounding_of_weights_is_corrected(run, sign, monkeypatch):
    """The kernels sample a model some tenths of a nat away; importance steps mend it."""
    monkeypatch.setattr(layers, "MAX_ENTRY", 7)
    monkeypatch.setattr(seam, "COARSEST", np.inf)
    monkeypatch.setattr(seam, "COARSEST_SLOPES", np.inf)
    path, runs, anneal = quiet_path(SMALL, None), [], gibbs.anneal
    monkeypatch.setattr(gibbs, "anneal", lambda *a: (runs.append(1), anneal(*a))[1])
    rounded, _ = gibbs.quantised_weights(seam.compiled(path, corrected=True).family)
    table = joint_table(rounded, SMALL.visible_bias, SMALL.hidden_bias) + SMALL.log_scale
    assert abs(log_sum(table) - SMALL_LOG_Z) > 0.1
    estimate = quiet(run, path, rl.schedules.linear(30), 40_000, 0)
    assert runs, "the generic loop has nothing to put right"
    ratio = np.exp(sign * (estimate.log_weights - SMALL_LOG_Z))
    assert standard_error(ratio) < 0.01
    assert abs(z_score(ratio, 1.0)) < 4


def test_estimate_says_where_its_chains_began():
    path, betas = GeometricPath(SMALL), rl.schedules.linear(100)
    auto, exact, chains = (
        rl.reverse_ais(path, betas, n_chains=200, rng=0, start=start, n_burn_in=7)
        for start in ("auto", "exact", "chains")
    )
    np.testing.assert_array_equal(auto.log_weights, exact.log_weights)
    assert auto.settings["start"] == exact.settings["start"] == "exact samples"
    assert "7 sweeps" in chains.settings["start"]
    large = GeometricPath(rl.testsystems.random_rbm(30, 23, coupling=0.5, rng=0))
    run = quiet(rl.reverse_ais, large, betas, n_chains=100, rng=0, n_burn_in=10)
    assert "chains annealed forward" in run.settings["start"]


@pytest.mark.parametrize("name", ["reverse_ais", "bar"])
def test_chains_burn_in_for_as_many_sweeps_as_asked(name, monkeypatch):
    taken, module = [], import_module("rbmlib.estimators.reverse_ais")
    sweep = module.sweep
    monkeypatch.setattr(module, "sweep", lambda *a: taken.append(a[2:4]) or sweep(*a))
    quiet(getattr(rl, name), GeometricPath(SMALL), [0, 1], 20, 0, start="chains", n_burn_in=7)
    assert taken == [(1.0, 7)]


@pytest.mark.parametrize("name", ["reverse_ais", "bar"])
def test_chains_forward_and_back_draw_apart(name, monkeypatch):
    seeds, module = [], import_module(f"rbmlib.estimators.{name}")

    def anneal(path, v, betas, stream):
        seeds.append(stream.seed)
        return v, np.linspace(0, 0.1, len(v))

    monkeypatch.setattr(module, "anneal", anneal)
    getattr(rl, name)(GeometricPath(SMALL), [0, 1], 20, rng=0, start="chains", n_burn_in=0)
    assert len({*seeds}) == len(seeds) == 2


def test_chains_from_few_effective_ones_are_flagged():
    path = GeometricPath(rl.testsystems.random_rbm(40, 12, coupling=4.0, rng=2))
    betas = rl.schedules.linear(4)
    with pytest.warns(rl.ConvergenceWarning, match="sample size of the initial states"):
        run = rl.reverse_ais(path, betas, 200, rng=0, start="chains")
    found = next(check for check in run.checks if "initial states" in check.name)
    assert not found.passed
    assert 1 <= found.value < 100
    exact = quiet(rl.reverse_ais, path, betas, 200, rng=0)
    assert not any("initial states" in check.name for check in exact.checks)
    assert exact.settings["start"] == "exact samples"


def test_resampling_is_systematic():
    """Each chain is repeated n w times, rounded up or down, and so on average exactly."""
    rng = np.random.default_rng(0)
    log_weights = rng.normal(scale=2.0, size=50) - 3000
    w = np.exp(log_weights - log_sum(log_weights))
    for n in (50, 7, 400):
        drawn = [resampled(log_weights, rng, n) for _ in range(2000)]
        counts = np.stack([np.bincount(d, minlength=50) for d in drawn])
        assert (counts.sum(axis=1) == n).all()
        assert (np.abs(counts - n * w) < 1).all()
        spread = np.sqrt((n * w % 1) * (1 - n * w % 1) / 2000)
        assert (np.abs(counts.mean(axis=0) - n * w) < 4.5 * spread + 1e-9).all()
    assert resampled(log_weights, rng).size == 50


def test_given_states_are_not_changed():
    states, betas = rl.sample(SMALL, 50, rng=0).states.astype(np.float32), rl.schedules.linear(10)
    before = states.copy()
    run = rl.reverse_ais(GeometricPath(SMALL), betas, 50, 0, start=states)
    np.testing.assert_array_equal(states, before)
    np.testing.assert_array_equal(run.states, before)  # of beta = 1, where chains begin
    assert run.settings["start"] == "given"


@pytest.mark.parametrize("scale", [1e3, 1e6])
def test_chains_that_never_move_have_no_standard_error(scale):
    rng = np.random.default_rng(0)
    rbm = rl.BernoulliRBM(scale * rng.normal(size=(12, 5)), rng.normal(size=12), rng.normal(size=5))
    with pytest.warns(rl.ConvergenceWarning, match="all chains have the same weight"):
        run = rl.reverse_ais(GeometricPath(rbm), rl.schedules.linear(10), n_chains=200, rng=0)
    assert np.ptp(run.log_weights) < 1e-9 * abs(run.log_z)
    assert not run.converged
    assert np.isnan(run.std_error)
    assert run.interval == (-np.inf, np.inf)
