"""Reverse AIS: where its chains begin, and what rounding and resampling must not change."""

import warnings
from importlib import import_module

import numpy as np
import pytest
from helpers_models import (
    DIGITS,
    SMALL,
    SMALL_LOG_Z,
    digits_path,
    independent_rbm,
    quiet,
    quiet_path,
)
from helpers_stats import joint_table, log_sum, standard_error, z_score

import rbmlib as rl
from rbmlib import GeometricPath
from rbmlib._kernels import gibbs, layers
from rbmlib.estimators.reverse_ais import resampled
from rbmlib.sampling import compiled as seam


@pytest.mark.always
@pytest.mark.statistical
@pytest.mark.parametrize(("run", "sign"), [(rl.ais, 1), (rl.reverse_ais, -1)])
def test_rounding_of_weights_is_corrected(run, sign, monkeypatch):
    """With weights on a grid of 15 values both directions are still unbiased for the model.

    The kernels sample a model some tenths of a nat away; importance steps at the ends mend it:
    forward as chains leave, in reverse as they enter.
    """
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
    own = rl.sample(SMALL, 200, rng=3).states
    assert rl.reverse_ais(path, betas, 200, 0, start=own).settings["start"] == "given"
    with pytest.raises(ValueError, match="200 chains, but n_chains is 100"):
        rl.reverse_ais(path, betas, n_chains=100, start=own)
    large = GeometricPath(rl.testsystems.random_rbm(30, 23, coupling=0.5, rng=0))
    run = quiet(rl.reverse_ais, large, betas, n_chains=100, rng=0, n_burn_in=10)
    assert "chains annealed forward" in run.settings["start"]


LARGE = GeometricPath(rl.testsystems.random_rbm(30, 25, rng=0))
PLANE = rl.DensityPath(rl.testsystems.two_gaussians(2), 30.0)


@pytest.mark.parametrize("run", [rl.reverse_ais, rl.bar])
@pytest.mark.parametrize(
    ("path", "came"), [(LARGE, "a BernoulliRBM of 30 visible"), (PLANE, "a SimpleNamespace")]
)
def test_exact_starts_that_cannot_be_had_are_refused_by_name(run, path, came):
    with pytest.raises(ValueError, match=f"start is 'exact', but the target is {came}.*expected"):
        run(path, rl.schedules.linear(5), 20, 0, start="exact")


@pytest.mark.parametrize("name", ["reverse_ais", "bar"])
def test_chains_forward_and_back_draw_apart(name, monkeypatch):
    seeds, module = [], import_module(f"rbmlib.estimators.{name}")

    def anneal(path, v, betas, stream):
        seeds.append(stream.seed)
        return v, np.linspace(0, 0.1, len(v))

    monkeypatch.setattr(module, "anneal", anneal)
    getattr(rl, name)(GeometricPath(SMALL), [0, 1], 20, rng=0, start="chains", n_burn_in=0)
    assert len({*seeds}) == len(seeds) == 2


@pytest.mark.statistical
def test_long_chains_serve_where_they_mix():
    """Resampled and burned-in chains of a small model are as good as exact samples."""
    run = rl.reverse_ais(
        GeometricPath(SMALL), rl.schedules.linear(30), 10_000, 1, start="chains", n_burn_in=200
    )
    ratio = np.exp(SMALL_LOG_Z - run.log_weights)
    assert standard_error(ratio) < 0.01
    assert abs(z_score(ratio, 1.0)) < 4


@pytest.mark.statistical
@pytest.mark.parametrize("n_steps", [3, 10])
def test_chains_annealed_forward_are_resampled_by_their_weights(n_steps):
    """No burn-in mends what few steps leave: without the weights the mean is 1.04 to 1.4.

    Resampled chains repeat each other, so the error is judged over 30 independent runs.
    """
    path, betas, means = quiet_path(SMALL, None), rl.schedules.linear(n_steps), []
    for seed in range(30):
        run = quiet(rl.reverse_ais, path, betas, 6000, seed, start="chains", n_burn_in=0)
        means.append(np.exp(SMALL_LOG_Z - run.log_weights).mean())
    assert standard_error(means) < 0.01
    assert abs(z_score(means, 1.0)) < 4


def test_chains_from_few_effective_ones_are_flagged():
    """By the weights of the chains annealed forward; exact draws have none."""
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
    states = rl.sample(SMALL, 50, rng=0).states.astype(np.float32)
    before = states.copy()
    run = rl.reverse_ais(GeometricPath(SMALL), rl.schedules.linear(10), 50, 0, start=states)
    np.testing.assert_array_equal(states, before)
    np.testing.assert_array_equal(run.states, before)  # of beta = 1, where chains begin


@pytest.mark.parametrize("scale", [1e3, 1e6])
def test_chains_that_never_move_have_no_standard_error(scale):
    """All end with the same weight, some tenths of a nat off: an error of 0 would be a lie."""
    rng = np.random.default_rng(0)
    rbm = rl.BernoulliRBM(scale * rng.normal(size=(12, 5)), rng.normal(size=12), rng.normal(size=5))
    with pytest.warns(rl.ConvergenceWarning, match="all chains have the same weight"):
        run = rl.reverse_ais(GeometricPath(rbm), rl.schedules.linear(10), n_chains=200, rng=0)
    assert np.ptp(run.log_weights) < 1e-9 * abs(run.log_z)
    assert not run.converged
    assert np.isnan(run.std_error)
    assert run.interval == (-np.inf, np.inf)


@pytest.mark.parametrize("run", [rl.ais, rl.reverse_ais])
@pytest.mark.parametrize("n_chains", [5, 100])
def test_a_base_that_is_the_target_is_exact(run, n_chains):
    rbm, log_z = independent_rbm(np.zeros(30), np.zeros(25))
    start = {"start": np.eye(n_chains, 30)} if run is rl.reverse_ais else {}
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = run(GeometricPath(rbm), rl.schedules.linear(20), n_chains, rng=0, **start)
    assert found.log_z == pytest.approx(log_z, rel=1e-12)
    assert found.std_error < 1e-12


@pytest.mark.statistical
@pytest.mark.parametrize("name", DIGITS)
def test_models_of_digits_are_bounded_from_above(name):
    path, log_z = digits_path(name)
    run = quiet(rl.reverse_ais, path, rl.schedules.linear(2000), n_chains=200, rng=0)
    assert run.settings["start"] == "exact samples"
    assert run.mean_log_z - log_z > 2 * run.mean_std_error
