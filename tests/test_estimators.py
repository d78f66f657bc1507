"""What every estimator keeps: a new one is one more line of RUNS; sums of estimates."""

import math

import numpy as np
import pytest
from helpers_models import on_threads, quiet
from scipy import stats

import rbmlib as rl
from rbmlib import Estimate, plot
from rbmlib.estimate import Check, outward

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
    "rts": run_of(rl.rts, BETAS, 70, 60),
    "ti": run_of(rl.ti, BETAS, 70, 60),
    "mbar": run_of(rl.mbar, BETAS, 70, 60),
    "sams": run_of(rl.sams, BETAS, 60, 120, n_groups=6),
    "wang_landau": run_of(rl.wang_landau, BETAS, 60, 120, n_groups=6),
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
ADAPTIVE = "rts", "sams", "wang_landau"


@pytest.mark.parametrize(
    ("name", "shape"), [*((name, NARROW) for name in RUNS), *((name, WIDE) for name in ADAPTIVE)]
)
def test_same_seed_same_bits_on_any_number_of_threads(name, shape):
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
    rbm = rl.BernoulliRBM(np.zeros((6, 3)), np.ones(6), np.zeros(3))
    run = RUNS[name](rl.GeometricPath(rbm, np.ones(6)), 0)
    assert run.log_z == pytest.approx(rl.exact(rbm).log_z, abs=1e-9)
    assert run.converged, run.checks
    assert not run.std_error > 1e-9  # TAP has none


@pytest.mark.parametrize("name", RUNS)
def test_the_largest_log_scale_is_only_added(name):
    one, two = (RUNS[name](path_of(log_scale=c), 0) for c in (0.0, 1e7))
    assert two.log_z - 1e7 == pytest.approx(one.log_z, abs=1e-6)
    if one.converged and two.converged:
        assert two.std_error == pytest.approx(one.std_error, abs=1e-6, nan_ok=True)


def known(log_z, low, high, error, **more) -> Estimate:
    return Estimate("known", log_z, error, (low, high), **more)


def test_a_ratio_of_two_has_the_error_of_both():
    """7 (5 to 8) less 3 (2.5 to 7): sqrt(2^2 + 4^2) below, sqrt(1^2 + .5^2) above."""
    gap = known(7.0, 5.0, 8.0, 0.3) - known(3.0, 2.5, 7.0, 0.4)
    assert (gap.log_z, gap.std_error) == pytest.approx((4.0, 0.5))
    assert gap.interval == pytest.approx((4 - math.sqrt(20), 4 + math.sqrt(1.25)))
    assert (gap.bound, float(gap)) == (None, gap.log_z)


def test_a_number_moves_an_estimate():
    moved = known(7.0, 5.0, 8.0, 0.3) - 2
    assert (moved.log_z, moved.std_error) == (5.0, pytest.approx(0.3))
    assert moved.interval == pytest.approx((3.0, 6.0))
    with pytest.raises(TypeError, match="unsupported operand"):
        known(7.0, 5.0, 8.0, 0.3) - "2"
    for number in (math.nan, math.inf, np.float64("-inf")):
        with pytest.raises(ValueError, match="expected a finite number"):
            moved - number


def test_a_sum_has_the_weakest_verdict_of_the_terms_that_count():
    good, bad = ({"checks": [Check("moved", passed)]} for passed in (True, False))
    failed = known(1.0, 0.0, 2.0, 0.5, verdict="inconclusive", details=bad)
    right = known(1.0, 0.0, 2.0, 0.5, details=good)
    for gap in (right - failed, failed - right):
        assert not gap.converged
        assert sorted(c.passed for c in gap.checks) == [False, True]
    exact = known(1.0, 1.0, 1.0, 0.0, verdict="exact")
    joined, gap = rl.join(exact, right), exact - right
    assert (joined.verdict, gap.verdict) == ("exact", "consistent")
    assert joined.reason == gap.reason == "known is exact, known is consistent"


def test_the_same_random_numbers_are_refused():
    path = rl.GeometricPath(rl.testsystems.random_rbm(6, 3, rng=0))
    other = rl.GeometricPath(rl.testsystems.random_rbm(6, 3, rng=1))
    betas = rl.schedules.linear(50)
    one, two = (rl.ais(p, betas, 20, rng=0) for p in (path, other))
    third = rl.ais(other, betas, 20, rng=1)
    for wrong in (lambda: one - two, lambda: rl.join(third, third - 0.0)):
        with pytest.raises(ValueError, match="drawn with the same random numbers"):
            wrong()
    with pytest.raises(ValueError, match="drawn with the same random numbers"):
        (one - third) - two
    assert (one - third).std_error == pytest.approx(math.hypot(one.std_error, third.std_error))
    assert Estimate.from_dict((one - third).to_dict()).checks == (one - third).checks


def test_estimates_of_different_models_are_not_joined_nor_checked_by_each_other():
    base = rl.testsystems.random_rbm(6, 4, rng=0)
    models = [base, base.with_(visible=rl.Binary(base.visible_bias + 0.003))]
    paths = [rl.GeometricPath(model, np.zeros(6)) for model in models]
    one, two = (rl.ais(p, rl.schedules.linear(50), 200, seed) for seed, p in enumerate(paths))
    with pytest.raises(ValueError, match=r"estimates are of 2 models .*: expected one model$"):
        rl.join(one, two)
    with pytest.raises(ValueError, match=r"estimate is of another model \(6 x 4, units 0/1\)"):
        rl.check(paths[1], one)
    assert rl.check(paths[0], one).converged


def test_joined_ones_count_by_the_squares_of_their_errors():
    """1 ± .1 and 1.3 ± .2: shares 4/5 and 1/5."""
    joined = rl.join(known(1.0, 0.8, 1.4, 0.1), known(1.3, 0.9, 1.6, 0.2))
    assert (joined.log_z, joined.std_error) == pytest.approx((1.06, 0.1 * math.sqrt(0.8)))
    low, high = math.hypot(0.8 * 0.2, 0.2 * 0.4), math.hypot(0.8 * 0.4, 0.2 * 0.3)
    assert joined.interval == pytest.approx((1.06 - low, 1.06 + high))
    assert joined.converged
    exact = rl.join(known(1.0, 0.8, 1.4, 0.1), known(1.2, 1.2, 1.2, 0.0))
    assert (exact.log_z, exact.std_error) == (1.2, 0.0)
    for end in (0, 1):  # of an interval that was opened, as a refuted run's is, one end is known
        ends = [0.8, 1.4]
        ends[end] = math.inf * (2 * end - 1)
        joined = rl.join(known(1.2, 1.2, 1.2, 0.0), known(1.0, *ends, 0.1))
        assert joined.interval == (1.2, 1.2)
        joined = rl.join(known(1.3, 0.9, 1.6, 0.2), known(1.0, *ends, 0.1))
        assert math.isinf(joined.interval[end])
        assert math.isfinite(joined.interval[1 - end])


def test_joined_ones_that_disagree_are_flagged_and_wide():
    with pytest.warns(rl.ConvergenceWarning, match="known and known differ by -4.5 stand"):
        joined = rl.join(known(1.0, 0.8, 1.2, 0.1), known(2.0, 1.6, 2.4, 0.2))
    assert joined.std_error == pytest.approx(math.hypot(0.1 * math.sqrt(0.8), 1.0))
    assert joined.interval[0] < 1.0 < 2.0 < joined.interval[1]
    with pytest.raises(ValueError, match="expected two or more, each with an error bar"):
        rl.join(known(1.0, 0.8, 1.2, math.nan), known(2.0, 1.6, 2.4, 0.2))
    with pytest.raises(ValueError, match="estimates are none"):
        rl.join()


def test_a_printed_interval_holds_what_it_held():
    ends_of = np.sort(np.random.default_rng(0).normal(scale=10, size=(150, 3)))
    for (low, value, high), digits in zip(ends_of, np.resize([0, 1, 4], 150), strict=True):
        ends = outward((low, high), digits)
        assert ends[0] <= low <= value <= high <= ends[1]
        assert max(low - ends[0], ends[1] - high) < 10.0 ** -float(digits)
    assert outward((-math.inf, math.inf), 1) == (-math.inf, math.inf)


def test_figures_show_the_run_and_the_bracket():
    path = rl.GeometricPath(rl.testsystems.random_rbm(12, 6, rng=0))
    run = rl.ais(path, rl.schedules.linear(50), 100, rng=0, slopes=True)
    axes = run.plot()
    columns = run.log_z_path, *(run.trace[n] for n in plot.PANELS)
    for ax, column in zip(axes, columns, strict=True):
        np.testing.assert_array_equal(ax.lines[0].get_xydata(), np.c_[run.betas, column])
    from_above = rl.reverse_ais(path, rl.schedules.linear(50), 100, rng=1)
    ax = plot.bracket({"below": run, "above": from_above}, log_z=rl.exact(path.rbm))
    drawn = [line.get_xdata() for line in ax.lines]
    assert tuple(drawn[0]) == run.interval
    assert [float(x[0]) for x in drawn[1:3]] == [run.log_z, run.mean_log_z]
    assert [line.get_marker() for line in ax.lines[2:6:3]] == [">", "<"]
    with pytest.raises(ValueError, match="recorded nothing along beta"):
        rl.exact(path.rbm).plot()
    with pytest.raises(ValueError, match="estimates is empty"):
        plot.bracket([])


def test_groups_are_compared_on_both_sides():
    rbm = rl.testsystems.random_rbm(6, 3, coupling=2.0, rng=0)
    run = quiet(rl.sams, rl.GeometricPath(rbm), rl.schedules.linear(5), 20, 400, 0, n_groups=10)
    (halves,) = (check for check in run.checks if check.name.startswith("halves"))
    assert 2 * stats.t.sf(halves.limit, 9) == pytest.approx(2 * stats.norm.sf(3), rel=1e-3)
