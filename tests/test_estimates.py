"""Estimates: sums of them, what a notebook shows, figures."""

import math

import numpy as np
import pytest

import rbmlib as rl
from rbmlib import Estimate, plot
from rbmlib.estimate import Check, outward

# sums ---------------------------------------------------------------------------------------


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


def test_a_check_is_of_one_model():
    path = rl.GeometricPath(rl.testsystems.random_rbm(6, 3, rng=0))
    one, two = (rl.ais(path, rl.schedules.linear(50), 20, rng=seed) for seed in (0, 1))
    with pytest.raises(ValueError, match="ais - ais, a sum or difference: expected each of its"):
        rl.check(path, one - two)


def test_a_difference_has_the_weakest_verdict():
    failed = known(
        1.0, 0.0, 2.0, 0.5, verdict="inconclusive", details={"checks": [Check("moved", False)]}
    )
    both = known(1.0, 0.0, 2.0, 0.5, details={"checks": [Check("moved", True)]}) - failed
    assert not both.converged
    assert [(c.name, c.passed) for c in both.checks] == [
        ("known: moved", True), ("known: moved", False)
    ]  # fmt: skip
    right = known(1.0, 0.0, 2.0, 0.5, details={"checks": [Check("moved", True)]})
    assert not (failed - right).converged, "in either order"


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
    """Of one size, and so near each other that their values agree."""
    base = rl.testsystems.random_rbm(6, 4, rng=0)
    models = [base, base.with_(visible=rl.Binary(base.visible_bias + 0.003))]
    paths = [rl.GeometricPath(model, np.zeros(6)) for model in models]
    one, two = (rl.ais(p, rl.schedules.linear(50), 200, seed) for seed, p in enumerate(paths))
    with pytest.raises(ValueError, match=r"estimates are of 2 models .*: expected one$"):
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
    for end in (
        0,
        1,
    ):  # of an interval that was opened, as a refuted run's is, only one end is known
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


@pytest.mark.statistical
def test_intervals_of_joined_runs_cover():
    path = rl.GeometricPath(rl.testsystems.random_rbm(12, 6, rng=0))
    truth, ladder = rl.exact(path.rbm).log_z, rl.schedules.linear(6)
    runs = [
        rl.join(
            rl.ais(path, rl.schedules.linear(60), 100, rng=seed),
            rl.rts(path, ladder, 20, 200, rng=1000 + seed),
        )
        for seed in range(100)
    ]
    held = sum(run.interval[0] <= truth <= run.interval[1] for run in runs)
    assert held >= 89, held  # 95 of 100 expected; fewer than 89 have a probability of .005


# what is shown ------------------------------------------------------------------------------


def test_a_card_says_what_failed_and_what_to_do():
    path = rl.GeometricPath(rl.testsystems.random_rbm(30, 12, coupling=6.0, rng=0))
    with pytest.warns(rl.ConvergenceWarning) as told:
        flagged = rl.ais(path, rl.schedules.linear(3), 9, rng=0)
    card = flagged._repr_html_()
    assert "inconclusive: " in card
    assert flagged.details["remedy"] in str(told[0].message)
    assert flagged.details["remedy"] in card
    assert f"{flagged.log_z:.4f}" in card
    right = rl.exact(path.rbm)._repr_html_()
    assert "what to do" not in right
    assert "interval" not in right
    failed = {"verdict": "inconclusive", "details": {"checks": [Check("<b>", False)]}}
    assert "&lt;b&gt;" in known(1.0, 0.0, 2.0, 0.5, **failed)._repr_html_()


@pytest.mark.parametrize("seed", range(50))
def test_a_printed_interval_holds_what_it_held(seed):
    low, value, high = np.sort(np.random.default_rng(seed).normal(scale=10, size=3))
    for digits in (0, 1, 4):
        ends = outward((low, high), digits)
        assert ends[0] <= low <= value <= high <= ends[1]
        assert max(low - ends[0], ends[1] - high) < 10.0**-digits
    assert outward((-math.inf, math.inf), 1) == (-math.inf, math.inf)


def test_figures_show_the_run_and_the_bracket():
    path = rl.GeometricPath(rl.testsystems.random_rbm(12, 6, rng=0))
    run = rl.ais(path, rl.schedules.linear(50), 100, rng=0, slopes=True)
    axes = run.plot()
    for ax, column in zip(
        axes, (run.log_z_path, *(run.trace[n] for n in plot.PANELS)), strict=True
    ):
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


def test_reasons_of_sums_name_the_verdicts_of_their_terms():
    """And what has no share has no say."""
    path = rl.GeometricPath(rl.testsystems.random_rbm(20, 15, rng=1))
    run = rl.ais(path, rl.schedules.linear(200), 100, rng=0)
    exact = rl.exact(path.rbm)
    assert (run.verdict, exact.verdict) == ("consistent", "exact")
    joined, gap = rl.join(exact, run), exact - run
    assert (joined.verdict, gap.verdict) == ("exact", "consistent")
    assert joined.reason == gap.reason == "exact is exact, ais is consistent"
    tap = rl.tap(rl.testsystems.random_rbm(60, 30, coupling=0.3, rng=0))
    assert (tap.verdict, tap.reason) == ("inconclusive", "the error of the expansion is unknown")
