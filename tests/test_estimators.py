"""What every estimator keeps: a new one is one more line of RUNS."""

import re
from functools import partial

import numpy as np
import pytest
from helpers_models import DIGITS, PUBLISHED, digits_path, on_threads, quiet

import rbmlib as rl
from rbmbook import rivals

BETAS = rl.schedules.linear(9)


def run_of(estimator, *given, **fixed):
    return lambda path, rng, **more: quiet(estimator, path, *given, rng=rng, **fixed | more)


def tap(path, rng, **more):
    return quiet(rl.tap, path.rbm, 2, rng=rng, n_starts=3, **more)


RUNS = {
    "ais": run_of(rl.ais, BETAS, 70, n_recorded=5),
    "ais of few chains": run_of(rl.ais, BETAS, 5),
    "reverse_ais": run_of(rl.reverse_ais, BETAS, 70, start="exact"),
    "reverse_ais from chains": run_of(rl.reverse_ais, BETAS, 70, start="chains", n_burn_in=5),
    "bar": run_of(rl.bar, BETAS, 70, start="exact"),
    "bar from chains": run_of(rl.bar, BETAS, 70, start="chains", n_burn_in=5),
    "smc by a pilot": run_of(rivals.smc, n_chains=70),
    "rts": run_of(rl.rts, BETAS, 70, 60),
    "ti": run_of(rl.ti, BETAS, 70, 60),
    "mbar": run_of(rl.mbar, BETAS, 70, 60),
    "sams": run_of(rl.sams, BETAS, 60, 120, n_groups=6),
    "wang_landau": run_of(rl.wang_landau, BETAS, 60, 120, n_groups=6),
    "nrpt": run_of(rivals.nrpt, n_sweeps=60),
    "multicanonical": run_of(rivals.multicanonical, 4, 20),
    "tap": tap,
}


def path_of(n_visible=12, n_hidden=6, log_scale=0.0):
    rbm = rl.testsystems.random_rbm(n_visible, n_hidden, coupling=2.0, rng=1)
    return rl.GeometricPath(rbm.with_(log_scale=log_scale), np.zeros(n_visible))


def numbers(run):
    values = [run.log_z, run.std_error, run.log_weights, run.log_z_path, *run.trace.values()]
    states = run.states if isinstance(run.states, np.ndarray) else 0.0
    return [np.asarray(v, float) for v in (*values, states) if v is not None]


NARROW, WIDE = (12, 6), (40, 50)


def test_an_argument_of_another_name_is_told():
    path, betas = rl.GeometricPath(rl.testsystems.random_rbm(6, 3, rng=0)), rl.schedules.linear(5)
    for call, words in (
        (
            lambda: rl.log_z(path.rbm, budget=3),
            "log_z has no argument budget; did you mean budget_s",
        ),
        (lambda: rl.log_z(path.rbm, seed=3), "log_z has no argument seed; did you mean rng?"),
        (
            lambda: rl.ais(path, betas, chains=5),
            "ais has no argument chains; did you mean n_chains",
        ),
        (lambda: rl.ais(path, betas, xyz=5), "ais has no argument xyz$"),
    ):
        with pytest.raises(TypeError, match=re.escape(words).replace(r"\$", "$")):
            call()


@pytest.mark.parametrize(
    ("name", "shape"), [*((name, NARROW) for name in RUNS), ("sams", WIDE), ("wang_landau", WIDE)]
)
def test_same_seed_same_bits_on_any_number_of_threads(name, shape):
    """And another seed others, and NumPy's global state is left alone."""
    before = np.random.get_state()[1].copy()  # noqa: NPY002
    runs = [on_threads(n, RUNS[name], path_of(*shape), s) for s, n in ((7, 1), (7, 2), (8, 1))]
    one, two, other = map(numbers, runs)
    for a, b in zip(one, two, strict=True):
        np.testing.assert_array_equal(a, b)
    assert runs[0].details.get("independent_check") == runs[1].details.get("independent_check")
    assert not all(np.array_equal(a, b) for a, b in zip(one, other, strict=True))
    np.testing.assert_array_equal(np.random.get_state()[1], before)  # noqa: NPY002


@pytest.mark.parametrize("name", sorted(RUNS.keys() - {"wang_landau"}))
def test_a_base_that_is_the_target_is_exact_and_not_flagged(name):
    """Chains of Wang-Landau change log Z as they visit."""
    rbm = rl.BernoulliRBM(np.zeros((6, 3)), np.ones(6), np.zeros(3))
    run = RUNS[name](rl.GeometricPath(rbm, np.ones(6)), 0)
    assert run.log_z == pytest.approx(rl.exact(rbm).log_z, abs=1e-9)
    assert run.converged, run.checks
    assert not run.std_error > 1e-9  # TAP has none


@pytest.mark.parametrize("name", RUNS)
def test_the_largest_log_scale_is_only_added(name):
    """An absurd one left nothing of log Z; the ladder of `nrpt` is cut by what rounding leaves."""
    one, two = (RUNS[name](path_of(log_scale=c), 0) for c in (0.0, 1e7))
    assert two.log_z - 1e7 == pytest.approx(one.log_z, abs=0.1 if name == "nrpt" else 1e-6)
    if one.converged and two.converged:
        assert two.std_error == pytest.approx(one.std_error, abs=1e-6, nan_ok=True)


OF_DIGITS = {
    "ais": (rl.ais, 2000, 500),
    "bar": (rl.bar, 2000, 200),
    "bar from chains": (partial(rl.bar, start="chains"), 2000, 200),
    "mbar": (rl.mbar, 99, 50, 2000),
}


@pytest.mark.statistical
@pytest.mark.parametrize("model", DIGITS)
@pytest.mark.parametrize("name", OF_DIGITS)
def test_models_of_digits_within_4_standard_errors(name, model):
    """AIS with K = 10,000 on the published models, as in the papers."""
    (path, log_z), (estimator, n, *given) = digits_path(model), OF_DIGITS[name]
    n = 10_000 if name == "ais" and model in PUBLISHED else n
    run = quiet(estimator, path, rl.schedules.linear(n), *given, rng=0)
    assert run.std_error < (0.5 if name == "mbar" else 0.1)
    assert abs(run.log_z - log_z) < 4 * run.std_error
    assert name != "ais" or (run.converged and run.mean_log_z < log_z)
