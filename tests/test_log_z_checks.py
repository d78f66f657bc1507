"""What three runs of `log_z` say of each other, from values that are given."""

from types import SimpleNamespace

import numpy as np
import pytest

import rbmlib as rl
from rbmlib.automatic import evidence, missed
from rbmlib.automatic.evidence import AIM, Evidence, rounded_up, steps_needed
from rbmlib.automatic.log_z import _seed, _warn_of
from rbmlib.automatic.rounds import MAX_STEPS
from rbmlib.search.summed import Summed


def run(log_z=10.0, std_error=0.01, converged=True):
    return SimpleNamespace(
        log_z=log_z, std_error=std_error, mean_log_z=log_z, mean_std_error=std_error,
        converged=converged, ess=500.0, n_chains=1000, interval=(log_z - 0.02, log_z + 0.02),
    )  # fmt: skip


def of_runs(other=None, backward=None, **more) -> Evidence:
    joint = SimpleNamespace(log_z=10.0, std_error=0.01)
    return Evidence(100, 1000, run(), other or run(), backward or run(), joint, bound=9.0, **more)


@pytest.mark.parametrize(
    ("shift", "converged", "n_missed", "wanted"),
    [
        (0.0, True, 0, True),
        (-0.01, True, 0, True),
        (-0.2, True, 0, False),  # lower, though its ESS is high
        (-0.2, False, 0, True),  # a low ESS can only be too low
        (-0.2, True, 1, True),  # or the mode has chains of its own
        (0.2, True, 0, False),
        (0.2, False, 1, False),
    ],
)
def test_a_second_base_agrees_unless_it_is_too_low_with_a_high_ess(
    shift, converged, n_missed, wanted
):
    checks = of_runs(run(10.0 + shift, converged=converged), n_missed=n_missed).checks()
    (two,) = (check for check in checks if check.name.startswith("two bases"))
    assert all(check.passed for check in checks if check is not two)
    assert two.passed == wanted


@pytest.mark.parametrize(
    ("changed", "verdict"),
    [
        ({}, "consistent"),
        ({"other": run(10.2)}, "contradicted"),  # another base shows more
        ({"other": run(10.2, converged=False)}, "inconclusive"),
        ({"other": run(9.8)}, "inconclusive"),  # which cannot show that there is less
        ({"backward": run(10.2)}, "contradicted"),
        ({"backward": run(10.2, converged=False)}, "inconclusive"),
        ({"sure": 0.1}, "contradicted"),  # a mode that was sought
        ({"tail": 0.1}, "inconclusive"),  # modes that may hold so much
        ({"summed": Summed(9.0, 9, 1.7, 1e-3, lost=0.2)}, "contradicted"),
        ({"summed": Summed(10.0, 9, 0.01, 1e-3), "second": Summed(10.0, 9, 0.02, 1e-3)},
         "verified"),
        ({"summed": Summed(10.0, 9, 0.01, 1e-3), "second": Summed(10.0, 9, 0.02, 0.1)},
         "consistent"),
        ({"summed": Summed(10.0, 9, 0.01, 1e-3), "second": Summed(10.0, 9, 0.02, 1e-3, lost=0.04)},
         "inconclusive"),
        ({"summed": Summed(10.0, 9, 0.01, 1e-3, lost=0.04), "second": Summed(10.0, 9, 0.02, 1e-3)},
         "contradicted"),
        ({"summed": Summed(10.0, 9, 0.01, 1e-3), "second": Summed(10.0, 9, 0.15, 1e-3)},
         "consistent"),
        ({"summed": Summed(10.0, 9, 0.01, 1e-3), "second": Summed(10.0, 9, 0.4, 1e-3)},
         "inconclusive"),
        ({"summed": Summed(10.0, 9, 0.01, 1e-3), "one_base": True}, "consistent"),
        ({"summed": Summed(10.0, 9, 0.0, 0.0)}, "exact"),
    ],
)  # fmt: skip
def test_a_verdict_is_what_the_evidence_shows(changed, verdict):
    made = of_runs(**changed)
    assert made.verdict == verdict
    assert made.passed == (verdict not in ("inconclusive", "contradicted"))
    assert made.passed or "passed" not in evidence.reason(made)


def test_a_sum_has_beside_it_what_either_base_surely_finds_outside():
    summed = Summed(10.0, 9, 0.01, 0.01)
    for outside, used in ((0.02, 0.01), (0.09, 0.09), (0.0, 0.01)):
        second = summed._replace(outside=outside)
        made = of_runs(summed=summed, second=second)
        assert made.log_z == pytest.approx(10 + np.log1p(used), rel=1e-12)
        assert made.std_error == pytest.approx(0.01 / (1 + used), rel=1e-12)
        assert made.interval[1] == pytest.approx(10 + np.log1p(used + 0.0196), rel=1e-6)
        unsure = made._replace(other=run(converged=False), second=second)
        assert unsure.best is summed


def test_a_bound_that_is_the_value_is_not_contradicted_by_the_runs_below_it():
    made = of_runs()._replace(bound=11.0)
    assert (made.log_z, made.verdict) == (11.0, "inconclusive")


def test_bounds_that_cross_bound_nothing():
    """From above by less than from below: within five errors of nothing, or something is missed."""
    assert not of_runs().bounds_cross
    assert of_runs().upper_end == pytest.approx(10 + np.log(80))
    lower = run()
    lower.mean_log_z = 9.0
    assert of_runs(backward=lower).bounds_cross
    assert of_runs(backward=lower).upper_end == np.inf
    # a reverse run above the first bounds Z, and one below does not
    assert of_runs(backward=run(10.4)).upper_end == pytest.approx(10.4 + np.log(80))
    assert of_runs(backward=run(9.6)).upper_end == np.inf


def test_a_seed_is_given_or_drawn_from_what_was():
    assert _seed(5) == 5
    drawn = [_seed(np.random.default_rng(3)) for _ in range(2)]
    assert drawn[0] == drawn[1] > 2**31
    assert _seed(None) != _seed(None)


def test_distances_are_in_errors_of_both_runs():
    """Errors add up in squares, with a thousandth of a nat beside them."""
    apart = evidence.apart(run(10.3, 0.03), run(10.0, 0.04))
    assert apart == pytest.approx(0.3 / np.sqrt(0.03**2 + 0.04**2 + 0.001**2), rel=1e-12)


def test_either_forward_run_may_lie_above_a_sum():
    for n_errors in (2, 4):
        summed = Summed(10.0, 9, 0.0, 1e-9)
        high = run(10 + n_errors * np.hypot(0.01, 1e-3))
        for made in (of_runs(high), of_runs()._replace(forward=high)):
            assert made._replace(summed=summed).checks()[-1].value == pytest.approx(n_errors)
            assert made._replace(summed=summed).passed == (n_errors == 2)


def test_a_sum_over_all_states_is_not_doubted_for_a_run_above_it():
    every = Summed(10.0, 16, 0.0, 0.0)
    assert of_runs(run(10.1))._replace(summed=every).passed
    assert not of_runs(run(10.1))._replace(summed=every._replace(error=1e-6)).passed


def test_chains_that_miss_what_a_sum_knows_are_not_trusted():
    """Where the sum is all that is known it is a bound, and so where it is a small part of Z."""
    for outside, lost in ((1e-9, 1.0), (1.0, 0.2)):
        summed = Summed(10.0, 9, outside, 1e-3, lost=lost)
        made = of_runs(summed=summed, second=summed._replace(lost=0.0))
        assert not made.held
        assert [c.name for c in made.checks() if not c.passed] == [
            "states that the chains miss hold"
        ]
        assert made._replace(summed=summed._replace(lost=0.0)).passed
    failed = of_runs(summed=Summed(40.0, 9, 1e-9, 1e-3, lost=1.0))._replace(bound=40.0)
    assert (failed.log_z, failed.interval) == (40.0, (40.0, np.inf))
    assert failed.upper_bound[0] == np.inf
    assert failed.verdict == "inconclusive"


@pytest.mark.parametrize(
    ("changed", "converged", "agrees"),
    [({}, True, True), ({"outside": 0.4}, True, False), ({"lost": 0.9}, True, False),
     ({}, False, False)],
)  # fmt: skip
def test_a_sum_is_z_by_both_bases(changed, converged, agrees):
    summed = Summed(10.0, 9, 0.01, 0.004)
    second = summed._replace(**changed)
    made = of_runs(run(converged=converged), summed=summed, second=second)
    assert made.held
    assert made.passed == agrees


def test_no_upper_bound_lies_below_the_value():
    for below, shown in ((0.02, 10.0), (0.2, np.inf), (-0.2, 10.2)):
        back = run()
        back.mean_log_z = 10 - below
        assert of_runs(backward=back).upper_bound[0] == shown


def test_steps_that_would_do_follow_from_the_spread_of_weights():
    """Where a check failed: log(n / ESS) over 2 n, against the square of the aim."""
    low = of_runs(other=run(11.0))
    low.forward.ess = 1.5
    assert not low.passed
    steps = 100 * np.log(1000 / 1.5) / (2 * 1000 * AIM**2)
    assert f"takes at least {np.ceil(steps / 10) * 10:.0f} steps" in steps_needed(low)


def test_chains_go_where_the_error_is():
    """Neyman's allocation: in proportion to the errors of modes, 40 at least and 500 at most."""
    rbm, _ = rl.testsystems.two_mode_rbm(30, strength=4.0, tilt=1.0)
    path = rl.GeometricPath(rbm, np.full(30, 9.0))
    made = missed.missed(rbm, path, rl.find_modes(rbm, rng=0), np.random.default_rng(0))
    assert made.own.size
    error = made.pilot[1][made.own]
    wanted = np.clip(missed.N_CHAINS * error / error.sum(), 40, 500)
    assert made.n_chains == tuple(wanted.astype(int))


def test_no_more_steps_are_advised_than_are_taken():
    last = of_runs(backward=run(10.0, converged=False))._replace(n_steps=MAX_STEPS // 2)
    with pytest.warns(rl.ConvergenceWarning, match=r"Try training data: data=\.\.\. \(--data\)$"):
        _warn_of(last, None, can_have_data=True)
    with pytest.warns(rl.ConvergenceWarning, match="Try another base"):
        _warn_of(last, None, can_have_data=False)
    with pytest.warns(rl.ConvergenceWarning, match=r"Try budget_seconds=40 \(--budget 40\)$"):
        _warn_of(last, 10.0, can_have_data=False)


@pytest.mark.parametrize(
    ("value", "up"), [(4000.0, 4000), (4001.0, 4100), (0.1234, 0.13), (9.95, 10), (1e7, 1e7)]
)
def test_numbers_that_are_advised_are_rounded_up(value, up):
    assert rounded_up(value) == pytest.approx(up, rel=1e-12)
