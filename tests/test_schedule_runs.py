"""Runs of schedules over their seeds, and the gains that the paper prints."""

import numpy as np
import pandas as pd
import pytest

from rbmbook import schedule_runs
from rbmbook.schedule_runs import ScheduleRuns, variance_over_seeds


def runs(variances, half=0.1, **settings):
    values = np.asarray(variances, float)
    ends = {"variance": values, "variance_low": values - half, "variance_high": values + half}
    return pd.DataFrame({"seed": range(len(values))} | ends | settings)


def table():
    linear = runs([4.0, 6.0], model="m_20", schedule="linear", max_step=np.nan)
    capped = runs([2.5], model="m_20", schedule="varopt", max_step=0.003)
    plain = runs([1.0, 3.0], model="m_20", schedule="varopt", max_step=1.0)
    return pd.concat([linear, capped, plain]).iloc[::-1]


def test_one_run_keeps_its_bootstrap():
    assert variance_over_seeds(runs([2.0], half=0.3)) == (2.0, 1.7, 2.3)


def test_interval_of_several_seeds_covers():
    """Seeds with a spread of their own, which the bootstrap of a run cannot see."""
    rng, inside = np.random.default_rng(0), 0
    for _ in range(1000):
        pilots = 2.0 + 0.2 * rng.normal(size=8)
        _, low, high = variance_over_seeds(runs(pilots, half=0.01))
        inside += low <= 2.0 <= high
    assert 0.93 < inside / 1000 < 0.97


def test_spread_of_the_bootstraps_is_the_least():
    mean, low, high = variance_over_seeds(runs([2.0, 2.0, 2.0, 2.0], half=0.4))
    assert mean == 2.0
    assert np.log(high / low) == pytest.approx(0.4 / 2)  # four runs halve it


def test_runs_are_found_by_schedule_cap_and_base():
    found = ScheduleRuns({"base rate": table()})
    assert found.first("m_20", "linear")["variance"] == 4.0
    assert found.first("m_20", "varopt", 0.003)["variance"] == 2.5
    assert list(found.seeds("m_20", "varopt")["variance"]) == [1.0, 3.0]
    assert found.first("m_20", "gms13") is None
    assert found.variance("m_20", "gms13") is None
    assert found.gain("m_20", "gms13") is None
    ratio, low, high = found.gain("m_20", "varopt")
    assert ratio == 2.5
    assert low < ratio < high


def test_printed_gain_is_that_of_normal_log_weights():
    ess = schedule_runs.published_ess()
    expected = np.log(1000 / ess["PCD(20)", "LINEAR"]) / np.log(1000 / ess["PCD(20)", "VAROPT"])
    ratio, low, high = schedule_runs.published_gain("pcd_20", "VAROPT")
    assert ratio == pytest.approx(expected)
    assert 1 < low < ratio < high


def many(model, linear, varopt, half):
    """Two seeds of equal steps and of VAROPT."""
    equal = runs([linear] * 2, half, model=model, schedule="linear", max_step=np.nan)
    return pd.concat(
        [equal, runs([varopt] * 2, half, model=model, schedule="varopt", max_step=1.0)]
    )


def test_gain_over_trainings_has_the_error_between_them():
    gains = {"a_500": 2.0, "b_500": 3.0, "c_500": 6.0}
    found = ScheduleRuns({"mine": pd.concat(many(m, 4.0, 4.0 / x, 0.01) for m, x in gains.items())})
    ours, logs = found.gain_over_trainings("varopt", base="mine"), np.log(list(gains.values()))
    assert ours.value == pytest.approx(logs.mean())
    assert ours.std_error == pytest.approx(logs.std(ddof=1) / np.sqrt(3))
    assert (ours.freedom, ours.scale) == (2, "log")


def test_one_training_decides_only_that_a_gain_depends_on_the_base():
    up, down = many("pcd_20", 4.0, 1.0, 0.02), many("pcd_20", 1.0, 4.0, 0.02)
    both = schedule_runs.judged_gain(ScheduleRuns({"x": up, "y": down}), "pcd_20", "VAROPT")
    assert (both.name, both.outcome) == (
        "kiwaki-t1-pcd20-varopt-ess",
        "depends on what is not stated",
    )
    same = schedule_runs.judged_gain(ScheduleRuns({"x": up, "y": up}), "pcd_20", "VAROPT")
    assert same.outcome == "not decided"
    assert "one training" in same.note


def test_trainings_at_other_rates_are_judged_beside_it():
    """One on which the base turns it is enough; models of another kind are not looked at."""
    same = ScheduleRuns({"x": many("pcd_20", 1.0, 4.0, 0.02), "y": many("pcd_20", 1.0, 4.0, 0.02)})
    slow = {base: many("pcd_20, rate 0.01", 4.0, v, 0.02) for base, v in (("x", 1.0), ("y", 16.0))}
    other = many("cd1_20, rate 0.01", 4.0, 1.0, 0.02)
    turned = schedule_runs.judged_gain(same, "pcd_20", "VAROPT0.006", ScheduleRuns(slow))
    assert turned.outcome == "depends on what is not stated"
    assert "on PCD(20), rate 0.01" in turned.note
    unlike = ScheduleRuns({"x": other, "y": other})
    alone = schedule_runs.judged_gain(same, "pcd_20", "VAROPT", unlike)
    assert alone == schedule_runs.judged_gain(same, "pcd_20", "VAROPT")
    assert alone.outcome == "not decided"


def test_what_is_printed_of_a_model_with_unknown_settings_cannot_be_checked():
    """Those with 500 units; that the base decides is seen all the same."""
    up, down = many("pcd_500", 4.0, 1.0, 0.02), many("pcd_500", 1.0, 4.0, 0.02)
    same = schedule_runs.judged_gain(ScheduleRuns({"x": up, "y": up}), "pcd_500", "VAROPT")
    assert same.outcome == "cannot be checked"
    assert "not printed" in same.note
    assert same.ours
    both = schedule_runs.judged_gain(ScheduleRuns({"x": up, "y": down}), "pcd_500", "VAROPT")
    assert both.outcome == "depends on what is not stated"
