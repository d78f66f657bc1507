"""Reverse AIS: E[exp(-R)] = 1 / Z, bounds from above, and where its chains begin."""

import warnings

import numpy as np
import pytest
from helpers_models import DIGITS, HIDDEN_BASE, SMALL, SMALL_LOG_Z, digits_path, quiet_path
from helpers_stats import joint_table, log_sum, rbm_table, standard_error, z_score

import rbmlib as rl
from rbmlib import ConvergenceWarning, GeometricPath
from rbmlib._kernels import gibbs, layers
from rbmlib.estimators.reverse_ais import resampled
from rbmlib.sampling import compiled as seam


def reverse_quietly(*arguments, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return rl.reverse_ais(*arguments, **options)


@pytest.mark.statistical
@pytest.mark.parametrize("base", ["mean_field", None, HIDDEN_BASE], ids=["mean_field", "no", "rbm"])
@pytest.mark.parametrize("n_steps", [1, 3, 200])
def test_mean_of_exp_minus_r_is_1_over_z(base, n_steps):
    path = quiet_path(SMALL, base)
    n_chains = {1: 100_000, 3: 40_000, 200: 10_000}[n_steps]
    run = reverse_quietly(path, rl.schedules.linear(n_steps), n_chains=n_chains, rng=n_steps)
    assert run.settings["start"] == "exact samples"
    ratio = np.exp(SMALL_LOG_Z - run.log_weights)
    assert standard_error(ratio) < 0.02, "otherwise the test sees nothing"
    assert abs(z_score(ratio, 1.0)) < 4


@pytest.mark.statistical
@pytest.mark.parametrize("direction", ["forward", "reverse"])
def test_rounding_of_weights_is_corrected(direction, monkeypatch):
    """With weights on a grid of 15 values both directions are still unbiased for the model.

    The kernels sample a model some tenths of a nat away; importance steps at the ends mend it:
    forward as chains leave, in reverse as they enter.
    """
    monkeypatch.setattr(layers, "MAX_ENTRY", 7)
    monkeypatch.setattr(seam, "COARSEST", np.inf)
    monkeypatch.setattr(seam, "COARSEST_SLOPES", np.inf)
    path, runs = quiet_path(SMALL, None), []
    anneal = gibbs.anneal
    monkeypatch.setattr(gibbs, "anneal", lambda *a: (runs.append(1), anneal(*a)))
    rounded, _ = gibbs.quantised_weights(seam.compiled(path, corrected=True).family)
    table = joint_table(rounded, SMALL.visible_bias, SMALL.hidden_bias) + SMALL.log_scale
    assert abs(log_sum(table) - SMALL_LOG_Z) > 0.1
    run = rl.ais if direction == "forward" else reverse_quietly
    sign = 1 if direction == "forward" else -1
    estimate = run(path, rl.schedules.linear(30), n_chains=40_000, rng=0)
    assert runs, "the generic loop has nothing to put right"
    ratio = np.exp(sign * (estimate.log_weights - SMALL_LOG_Z))
    assert standard_error(ratio) < 0.01
    assert abs(z_score(ratio, 1.0)) < 4


@pytest.mark.statistical
def test_both_bounds_lie_above_and_the_wrong_sign_would_be_seen():
    """The estimate is -log mean exp(-R): it is near log Z, below the mean of R.

    Log mean exp(+R), the wrong sign, lies above the mean of R by Jensen and far above log Z.
    """
    path = quiet_path(SMALL, None)
    run = reverse_quietly(path, rl.schedules.linear(4), n_chains=20_000, rng=1)
    r = run.log_weights
    assert run.bound == "upper"
    assert run.mean_log_z == pytest.approx(r.mean())
    assert run.mean_std_error == pytest.approx(standard_error(r))
    assert run.mean_log_z - SMALL_LOG_Z > 10 * run.mean_std_error
    assert abs(run.log_z - SMALL_LOG_Z) < 4 * run.std_error
    assert run.log_z < run.mean_log_z
    wrong_sign = log_sum(r) - np.log(r.size)
    assert wrong_sign > run.mean_log_z
    assert wrong_sign - SMALL_LOG_Z > 20 * run.std_error


@pytest.mark.statistical
def test_averaged_bound_lies_above_in_expectation():
    """-log mean exp(-R) of 1,000 repeats of 5 chains: above log Z on average (Jensen)."""
    path = quiet_path(SMALL, None)
    run = reverse_quietly(path, rl.schedules.linear(4), n_chains=5000, rng=3)
    groups = run.log_weights.reshape(1000, 5)
    bounds = -(log_sum(-groups, axis=1) - np.log(5))
    assert z_score(bounds, SMALL_LOG_Z) > 4
    assert bounds.mean() < run.mean_log_z


@pytest.mark.statistical
def test_forward_and_reverse_bracket_log_z():
    path = quiet_path(SMALL, None)
    for n_steps in (5, 50):
        betas = rl.schedules.linear(n_steps)
        below = rl.ais(path, betas, n_chains=2000, rng=0)
        above = rl.reverse_ais(path, betas, n_chains=2000, rng=0)
        assert below.mean_log_z + 4 * below.mean_std_error < SMALL_LOG_Z
        assert above.mean_log_z - 4 * above.mean_std_error > SMALL_LOG_Z


@pytest.mark.statistical
def test_bound_from_above_shows_a_missed_mode():
    """AIS with a full ESS and a small error sits below; the bracket stays open."""
    rbm, log_z = rl.testsystems.two_mode_rbm(20, strength=4.0)
    path, betas = quiet_path(rbm, None), rl.schedules.linear(5)
    low = next(
        run
        for run in (rl.ais(path, betas, n_chains=100, rng=seed) for seed in range(20))
        if run.ess > 90
    )
    high = reverse_quietly(path, betas, n_chains=1000, rng=0)
    assert low.converged
    assert log_z - low.log_z > 10 * low.std_error
    assert high.mean_log_z - log_z > 4 * high.mean_std_error
    assert high.mean_log_z - low.mean_log_z > 0.5


# where the chains begin -------------------------------------------------------------------


def test_estimate_says_where_its_chains_began():
    path, betas = GeometricPath(SMALL), rl.schedules.linear(100)
    auto, exact, chains = (
        rl.reverse_ais(path, betas, n_chains=200, rng=0, start=start, n_burn_in=7)
        for start in ("auto", "exact", "chains")
    )
    np.testing.assert_array_equal(auto.log_weights, exact.log_weights)
    assert auto.settings["start"] == exact.settings["start"] == "exact samples"
    assert "7 sweeps" in chains.settings["start"]
    own = rl.exact_samples(SMALL, 200, rng=3)
    given = rl.reverse_ais(path, betas, n_chains=200, rng=0, start=own)
    assert given.settings["start"] == "given"
    with pytest.raises(ValueError, match="200 chains, but n_chains is 100"):
        rl.reverse_ais(path, betas, n_chains=100, start=own)


def test_models_too_large_to_enumerate_begin_from_chains():
    large = rl.testsystems.random_rbm(30, 23, coupling=0.5, rng=0)
    path, betas = GeometricPath(large), rl.schedules.linear(50)
    run = rl.reverse_ais(path, betas, n_chains=100, rng=0, n_burn_in=10)
    assert "chains annealed forward" in run.settings["start"]
    with pytest.raises(
        ValueError, match="start is 'exact', but the target is a BernoulliRBM of 30"
    ):
        rl.reverse_ais(path, betas, n_chains=100, start="exact")


@pytest.mark.statistical
def test_long_chains_serve_where_they_mix():
    """Resampled and burned-in chains of a small model are as good as exact samples."""
    path = GeometricPath(SMALL)
    run = rl.reverse_ais(
        path, rl.schedules.linear(30), n_chains=10_000, rng=1, start="chains", n_burn_in=200
    )
    assert standard_error(np.exp(SMALL_LOG_Z - run.log_weights)) < 0.01
    assert abs(z_score(np.exp(SMALL_LOG_Z - run.log_weights), 1.0)) < 4


@pytest.mark.statistical
@pytest.mark.parametrize("n_steps", [3, 10])
def test_chains_annealed_forward_are_resampled_by_their_weights(n_steps):
    """No burn-in mends what few steps leave: without the weights the mean is 1.04 to 1.4.

    Resampled chains repeat each other, so the error is judged over 30 independent runs.
    """
    path, betas = quiet_path(SMALL, None), rl.schedules.linear(n_steps)
    options = {"n_chains": 6000, "start": "chains", "n_burn_in": 0}
    means = [
        np.exp(SMALL_LOG_Z - reverse_quietly(path, betas, rng=seed, **options).log_weights).mean()
        for seed in range(30)
    ]
    assert standard_error(means) < 0.01
    assert abs(z_score(means, 1.0)) < 4


def test_chains_from_few_effective_ones_are_flagged():
    """By the weights of the chains annealed forward; exact draws have none."""
    path = GeometricPath(rl.testsystems.random_rbm(40, 12, coupling=4.0, rng=2))
    betas = rl.schedules.linear(4)
    with pytest.warns(ConvergenceWarning, match="the chains that it begins from are .* effective"):
        run = rl.reverse_ais(path, betas, 200, rng=0, start="chains")
    text, passed = next((t, ok) for t, ok in run.checks.items() if "begins from" in t)
    assert not passed
    assert 1 <= float(text.split()[7]) < 100
    exact = reverse_quietly(path, betas, 200, rng=0)
    assert not any("begins from" in text for text in exact.checks)
    assert exact.settings["start"] == "exact samples"


def test_resampling_is_systematic():
    """Each chain is repeated n w times, rounded up or down, and so on average exactly."""
    rng = np.random.default_rng(0)
    log_weights = rng.normal(scale=2.0, size=50) - 3000
    w = np.exp(log_weights - log_weights.max())
    w /= w.sum()
    for n in (50, 7, 400):
        counts = np.stack(
            [np.bincount(resampled(log_weights, rng, n), minlength=50) for _ in range(2000)]
        )
        assert (counts.sum(axis=1) == n).all()
        assert (np.abs(counts - n * w) < 1).all()
        spread = np.sqrt((n * w % 1) * (1 - n * w % 1) / 2000)
        assert (np.abs(counts.mean(axis=0) - n * w) < 4.5 * spread + 1e-9).all()
    assert resampled(log_weights, rng).size == 50


def test_chains_given_from_elsewhere_bound_nothing():
    """By design: from base samples R is not above log Z. The bound needs samples of the model."""
    rbm, log_z = rl.testsystems.two_mode_rbm(20, strength=4.0)
    path = quiet_path(rbm, None)
    start = np.zeros((500, 20), np.float32)
    run = reverse_quietly(path, rl.schedules.linear(20), n_chains=500, rng=0, start=start)
    assert run.mean_log_z < log_z


def test_given_states_are_not_changed():
    states = rl.exact_samples(SMALL, 50, rng=0).astype(np.float32)
    before = states.copy()
    path = GeometricPath(SMALL)
    run = rl.reverse_ais(path, rl.schedules.linear(10), n_chains=50, rng=0, start=states)
    np.testing.assert_array_equal(states, before)
    np.testing.assert_array_equal(run.states, before)  # of beta = 1, where chains begin


def test_same_seed_same_digits_on_any_number_of_threads():
    path, betas = GeometricPath(SMALL), rl.schedules.linear(40)
    for start in ("exact", "chains"):
        options = {"n_chains": 150, "start": start, "n_burn_in": 20}
        one = rl.reverse_ais(path, betas, rng=3, n_threads=1, **options)
        two = rl.reverse_ais(path, betas, rng=3, n_threads=2, **options)
        np.testing.assert_array_equal(one.log_weights, two.log_weights)
        other = rl.reverse_ais(path, betas, rng=4, **options)
        assert (other.log_weights != one.log_weights).all()


def test_low_ess_warns():
    rbm, _ = rl.testsystems.two_mode_rbm(40, strength=4.0)
    with pytest.warns(ConvergenceWarning, match="reverse_ais: .* effective sample size") as caught:
        run = rl.reverse_ais(quiet_path(rbm, None), rl.schedules.linear(2), n_chains=200, rng=0)
    assert caught[-1].filename == __file__
    assert not run.converged


@pytest.mark.parametrize("scale", [1e3, 1e6])
def test_chains_that_never_move_have_no_standard_error(scale):
    """All end with the same weight, some tenths of a nat off: an error of 0 would be a lie."""
    rng = np.random.default_rng(0)
    rbm = rl.BernoulliRBM(scale * rng.normal(size=(12, 5)), rng.normal(size=12), rng.normal(size=5))
    with pytest.warns(ConvergenceWarning, match="all chains have the same weight"):
        run = rl.reverse_ais(GeometricPath(rbm), rl.schedules.linear(10), n_chains=200, rng=0)
    assert np.ptp(run.log_weights) < 1e-9 * abs(run.log_z)
    assert not run.converged
    assert np.isnan(run.std_error)
    assert run.interval == (-np.inf, np.inf)


@pytest.mark.parametrize("direction", [rl.ais, rl.reverse_ais])
@pytest.mark.parametrize("n_chains", [5, 100])
def test_a_base_that_is_the_target_is_exact(direction, n_chains):
    rbm, log_z = rl.testsystems.independent_rbm(np.zeros(30), np.zeros(25))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        start = {"start": np.eye(n_chains, 30)} if direction is rl.reverse_ais else {}
        run = direction(GeometricPath(rbm), rl.schedules.linear(20), n_chains, rng=0, **start)
    assert run.log_z == pytest.approx(log_z, rel=1e-12)
    assert run.std_error < 1e-12
    assert run.converged


def test_constant_of_a_converted_model_is_kept():
    rng = np.random.default_rng(0)
    rbm = rl.BernoulliRBM.from_spins(
        rng.normal(scale=0.3, size=(6, 3)), rng.normal(size=6), rng.normal(size=3)
    )
    assert rbm.log_scale != 0
    run = rl.reverse_ais(GeometricPath(rbm), rl.schedules.linear(100), n_chains=1000, rng=0)
    assert abs(run.log_z - log_sum(rbm_table(rbm))) < 4 * run.std_error


# models of digits -------------------------------------------------------------------------


@pytest.mark.statistical
@pytest.mark.parametrize("name", DIGITS)
def test_models_of_digits_are_bounded_from_above(name):
    path, log_z = digits_path(name)
    run = reverse_quietly(path, rl.schedules.linear(2000), n_chains=200, rng=0)
    assert run.settings["start"] == "exact samples"
    assert run.mean_log_z - log_z > 2 * run.mean_std_error
