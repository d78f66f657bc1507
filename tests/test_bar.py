"""Bennett's acceptance ratio: its equation, its error bars with and without common ancestors."""

import warnings

import numpy as np
import pytest
from helpers_models import DIGITS, SMALL, SMALL_LOG_Z, digits_path, quiet_path
from helpers_stats import standard_error, z_score
from scipy.special import expit, stdtrit

import rbmlib as rl
from rbmlib import ConvergenceWarning, GeometricPath
from rbmlib.estimators.bar import bennett
from rbmlib.estimators.reverse_ais import resampled


def bar_quietly(*arguments, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return rl.bar(*arguments, **options)


# the equation -----------------------------------------------------------------------------


def work_values(rng, n_forward, n_reverse, spread, log_z=0.0):
    """Gaussian work: p_F = N(log Z - s^2 / 2, s^2) obeys Crooks with p_R = N(log Z + s^2 / 2)."""
    shift = spread**2 / 2
    return (
        rng.normal(log_z - shift, spread, n_forward),
        rng.normal(log_z + shift, spread, n_reverse),
    )


@pytest.mark.parametrize(("n_forward", "n_reverse"), [(300, 300), (500, 40), (1, 2)])
def test_root_solves_the_equation_as_bennett_wrote_it(n_forward, n_reverse):
    """Fermi functions f(x) = 1 / (1 + exp(x)) of W - C and C - W, with W = -log weight."""
    w, r = work_values(np.random.default_rng(1), n_forward, n_reverse, 1.5, log_z=300.0)
    root = bennett(w, r)
    c = -root.log_z + np.log(n_forward / n_reverse)
    forward = 1 / (1 + np.exp(-w - c + 2 * np.log(n_forward / n_reverse)))
    assert root.forward.sum() == pytest.approx(root.reverse.sum(), rel=1e-9)
    np.testing.assert_allclose(
        root.forward, expit(w - root.log_z - np.log(n_forward / n_reverse)), rtol=1e-9
    )
    np.testing.assert_allclose(root.forward, forward, rtol=1e-7)


def test_root_is_that_of_pymbar():
    pymbar = pytest.importorskip("pymbar")
    w, r = work_values(np.random.default_rng(2), 400, 150, 2.0, log_z=-20.0)
    wanted = pymbar.bar(-w, r, compute_uncertainty=False)["Delta_f"]
    assert bennett(w, r).log_z == pytest.approx(-wanted, abs=1e-9)


@pytest.mark.parametrize(
    ("w", "r", "message"),
    [([], [1.0], "0 forward and 1 reverse"), ([np.nan], [1.0], "forward holds 1 NaN"),
     ([1.0], [[1.0]], r"reverse has shape \(1, 1\)")],
)  # fmt: skip
def test_values_are_checked(w, r, message):
    with pytest.raises(ValueError, match=message):
        bennett(w, r)


# the estimate -----------------------------------------------------------------------------


def test_forward_and_reverse_are_those_of_ais_and_bennett():
    path, betas = GeometricPath(SMALL), rl.schedules.linear(20)
    run = rl.bar(path, betas, n_chains=300, rng=4)
    forward = rl.ais(path, betas, n_chains=300, rng=4)
    np.testing.assert_array_equal(run.log_weights, forward.log_weights)
    assert run.settings["forward"] == (forward.log_z, forward.std_error)
    root = bennett(run.log_weights, run.settings["reverse_log_weights"])
    assert run.log_z == root.log_z
    assert run.settings["overlap"] == pytest.approx(4 * root.slope)
    assert run.settings["start"] == "exact samples"
    assert abs(run.log_z - SMALL_LOG_Z) < 4 * run.std_error
    again = rl.Estimate.from_dict(run.to_dict())
    assert again.log_z == run.log_z


def test_error_of_resampled_chains_is_the_bootstrap_over_families():
    """Forward chains are drawn again with their descendants; independence would be a third less."""
    path, betas = quiet_path(SMALL, None), rl.schedules.linear(3)
    n = 400
    run = bar_quietly(path, betas, n_chains=n, rng=2, start="chains", n_burn_in=0)
    source = np.random.default_rng(2)
    source.integers(2**64, dtype=np.uint64)
    source = source.spawn(1)[0]
    source.integers(2**64, dtype=np.uint64)
    ancestors = resampled(run.log_weights, source)
    w, r = run.log_weights, np.array(run.settings["reverse_log_weights"])
    rng = np.random.default_rng(0)
    values = []
    for _ in range(1000):
        copies = np.bincount(rng.integers(n, size=n), minlength=n)
        values.append(bennett(np.repeat(w, copies), np.repeat(r, copies[ancestors])).log_z)
    assert run.std_error == pytest.approx(np.std(values), rel=0.1)
    root = bennett(w, r)
    alone = np.sqrt(n * (root.forward.var() + root.reverse.var())) / root.slope
    assert run.std_error > 1.2 * alone


@pytest.mark.statistical
@pytest.mark.parametrize("start", ["exact", "chains"])
def test_intervals_cover(start):
    """95% intervals over 1,000 repeats of 100 chains, between 91% and 99%."""
    path, betas = GeometricPath(SMALL), rl.schedules.linear(4)
    runs = [
        bar_quietly(path, betas, n_chains=100, rng=seed, start=start, n_burn_in=0, n_threads=1)
        for seed in range(1000)
    ]
    covered = np.mean([low < SMALL_LOG_Z < high for low, high in (run.interval for run in runs)])
    errors = np.array([run.log_z - SMALL_LOG_Z for run in runs])
    assert 0.91 < covered < 0.99
    assert abs(errors.mean()) < 0.3 * errors.std(), "a bias that intervals would have to carry"
    ratio = np.sqrt(np.mean([run.std_error**2 for run in runs])) / errors.std()
    assert 0.9 < ratio < 1.12


@pytest.mark.statistical
def test_less_error_than_either_direction():
    path, betas = quiet_path(SMALL, None), rl.schedules.linear(3)
    runs = [bar_quietly(path, betas, n_chains=100, rng=seed) for seed in range(300)]
    errors = {
        "bar": [run.log_z for run in runs],
        "forward": [run.settings["forward"][0] for run in runs],
        "reverse": [run.settings["reverse"][0] for run in runs],
    }
    rmse = {name: np.std(np.array(values) - SMALL_LOG_Z) for name, values in errors.items()}
    assert rmse["bar"] < 0.7 * min(rmse["forward"], rmse["reverse"])
    assert abs(z_score(errors["bar"], SMALL_LOG_Z)) < 4
    assert standard_error(errors["bar"]) < 0.02


def test_no_overlap_is_flagged():
    rbm = rl.testsystems.random_rbm(60, 10, coupling=14.0, rng=0)
    with pytest.warns(ConvergenceWarning, match="bar: .* both directions reach") as caught:
        run = rl.bar(GeometricPath(rbm, np.zeros(60)), rl.schedules.linear(2), n_chains=200, rng=0)
    assert not run.converged
    assert caught[-1].filename == __file__


def test_states_are_those_that_were_annealed_to_the_target():
    """Not where the reverse chains end, at beta = 0."""
    path, betas = GeometricPath(SMALL), rl.schedules.linear(20)
    run, forward = bar_quietly(path, betas, 30, 0), rl.ais(path, betas, 30, 0)
    np.testing.assert_array_equal(run.states, forward.states)


def test_half_of_the_values_of_both_directions_must_overlap():
    """Of 60 chains each way: 60 of 120, or 100."""
    path = quiet_path(rl.testsystems.random_rbm(12, 6, coupling=6.0, rng=0), None)
    seen = []
    for n_steps in range(2, 40, 3):
        run = bar_quietly(path, rl.schedules.linear(n_steps), 60, 0, start="exact")
        (passed,) = [ok for text, ok in run.checks.items() if "of 120 work values" in text]
        assert passed == (run.settings["overlap"] >= 60)
        seen.append(run.settings["overlap"])
    assert any(30 < overlap < 60 for overlap in seen)
    assert max(seen) > 60


def test_few_ancestors_are_flagged():
    """Chains that all descend from a few particles overlap well with them; that proves nothing."""
    rbm = rl.testsystems.random_rbm(60, 10, coupling=9.0, rng=0)
    path, betas = quiet_path(rbm, None), rl.schedules.linear(30)
    run = bar_quietly(path, betas, n_chains=100, rng=0, start="chains")
    assert run.ess < 10
    assert not run.converged


def test_starts_and_bad_input():
    path, betas = GeometricPath(SMALL), rl.schedules.linear(10)
    own = rl.exact_samples(SMALL, 50, rng=3)
    assert rl.bar(path, betas, n_chains=50, rng=0, start=own).settings["start"] == "given"
    chains = rl.bar(path, betas, n_chains=50, rng=0, start="chains", n_burn_in=7)
    assert "resampled, 7 sweeps" in chains.settings["start"]
    assert chains.n_sweeps == 27
    with pytest.raises(ValueError, match="start is 'warm'"):
        rl.bar(path, betas, start="warm")
    with pytest.raises(ValueError, match="n_chains is 1: expected a whole number, 2 or more"):
        rl.bar(path, betas, n_chains=1)
    with pytest.raises(TypeError, match="path is a str"):
        rl.bar("h10", betas)


def test_same_seed_same_digits_on_any_number_of_threads():
    path, betas = GeometricPath(SMALL), rl.schedules.linear(40)
    for start in ("exact", "chains"):
        one, two = (
            rl.bar(path, betas, n_chains=150, rng=3, start=start, n_threads=n) for n in (1, 2)
        )
        assert one.log_z == two.log_z
        assert one.std_error == two.std_error
        other = rl.bar(path, betas, n_chains=150, rng=4, start=start)
        assert other.log_z != one.log_z


@pytest.mark.statistical
@pytest.mark.parametrize("start", ["exact", "chains"])
@pytest.mark.parametrize("name", DIGITS)
def test_models_of_digits(name, start):
    path, log_z = digits_path(name)
    run = rl.bar(path, rl.schedules.linear(2000), n_chains=200, rng=0, start=start)
    assert run.std_error < 0.1
    assert abs(run.log_z - log_z) < 4 * run.std_error


# what few ancestors cannot tell ---------------------------------------------------------------


def unequal_patterns(strength: float = 1.1) -> rl.BernoulliRBM:
    """One pattern a hidden unit, of depths that differ by up to 4 nats."""
    rng = np.random.default_rng(0)
    weights = strength * rng.choice([-1.0, 1.0], (100, 10))
    free = np.logaddexp(0, weights).sum(axis=0) - 100 * np.log(2)
    return rl.BernoulliRBM(weights, np.zeros(100), rng.uniform(-2, 2, 10) - free)


@pytest.mark.statistical
def test_intervals_of_converged_runs_cover_patterns_of_unequal_depth():
    """300 runs of 200 chains, up to five standard errors of the coverage below 95%."""
    rbm = unequal_patterns(0.8)
    path, truth = GeometricPath(rbm, np.zeros(100)), rl.exact(rbm).log_z
    covered, n = [], 300
    for seed in range(n):
        run = bar_quietly(path, rl.schedules.linear(200), 200, seed, start="chains", n_threads=1)
        if run.converged:
            covered.append(run.interval[0] <= truth <= run.interval[1])
    assert len(covered) > n / 5
    assert abs(np.mean(covered) - 0.95) < 3 * np.sqrt(0.95 * 0.05 / len(covered)) + 0.01


@pytest.mark.parametrize(("n_chains", "n_steps", "least"), [(100, 200, False), (250, 1000, True)])
def test_runs_need_a_hundred_ancestors(n_chains, n_steps, least):
    path = GeometricPath(unequal_patterns(0.8), np.zeros(100))
    run = bar_quietly(path, rl.schedules.linear(n_steps), n_chains, 0, start="chains")
    assert run.ess > 10
    assert run.settings["overlap"] > n_chains
    assert run.converged == least == (run.ess >= 100)


def test_interval_is_students_for_the_effective_number_of_families():
    run = bar_quietly(GeometricPath(SMALL), rl.schedules.linear(4), 100, 0, start="chains")
    families = run.settings["families"]
    assert 2 < families < 100
    half = stdtrit(families - 1, 0.975) * run.std_error
    wider = half * (1 + 10 * run.settings["forward"][1])  # above, where a mode may be missing
    assert run.interval == pytest.approx((run.log_z - half, run.log_z + wider))
    exact = bar_quietly(GeometricPath(SMALL), rl.schedules.linear(4), 100, 0)
    assert exact.settings["families"] == 100


def test_an_error_of_0_is_right_only_where_base_and_target_are_one():
    rbm = rl.BernoulliRBM(np.zeros((6, 3)), np.ones(6), np.zeros(3))
    run = rl.bar(GeometricPath(rbm, np.ones(6)), rl.schedules.linear(5), 50, 0, start="chains")
    assert run.converged
    assert run.std_error == 0
    assert run.log_z == pytest.approx(rl.exact(rbm).log_z)


@pytest.mark.parametrize(
    ("path", "came"),
    [
        (GeometricPath(rl.testsystems.random_rbm(30, 25, rng=0)), "a BernoulliRBM of 30 visible"),
        (rl.DensityPath(rl.testsystems.two_gaussians(2), 30.0), "a Tempered"),
    ],
)
def test_exact_starts_that_cannot_be_had_are_refused_by_name(path, came):
    with pytest.raises(ValueError, match=f"start is 'exact', but the target is {came}.*expected"):
        rl.bar(path, rl.schedules.linear(5), 20, 0, start="exact")
