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


@pytest.mark.parametrize(("gain", "outcome"), [(1 / 3, "contradicted"), (8.0, "sign")])
def test_several_trainings_decide(gain, outcome):
    """The printed gain is a factor of three and a half; these trainings agree to 2%."""
    several = pd.concat(many(f"{k}_500", 4.0, 4.0 / gain * (1 + k / 100), 0.01) for k in range(6))
    runs_here, trainings = (ScheduleRuns({"x": t}) for t in (many("pcd_500", 4, 4, 1), several))
    found = schedule_runs.judged_gain(runs_here, "pcd_500", "VAROPT", trainings)
    assert outcome in found.outcome


def test_trainings_are_judged_from_each_of_their_bases():
    """Also from one that the runs of the table do not have."""
    up, down = (
        pd.concat(many(f"{k}_500", 4.0, 4.0 / gain * (1 + k / 100), 0.01) for k in range(6))
        for gain in (3.5, 1 / 3)
    )
    runs_here = ScheduleRuns({"x": many("pcd_500", 4, 4, 1)})
    trainings = ScheduleRuns({"x": up, "y": down})
    found = schedule_runs.judged_gain(runs_here, "pcd_500", "VAROPT", trainings)
    assert found.outcome == "depends on what is not stated"
    assert "y: contradicted" in found.note


def test_the_papers_training_is_one_more_draw(monkeypatch):
    """Its spread, that between trainings, is added to the error of what is printed."""
    gains, asked = [0.8, 3.0, 1.0, 2.5, 0.9, 2.8], []
    judged = schedule_runs.judge.effect

    def watched(name, ours, *, size, **more):
        asked.append(size)
        return judged(name, ours, size=size, **more)

    monkeypatch.setattr(schedule_runs.judge, "effect", watched)
    table = pd.concat(many(f"{k}_500", 4.0, 4.0 / x, 0.01) for k, x in enumerate(gains))
    found = schedule_runs.judged_gain(None, "pcd_500", "VAROPT", ScheduleRuns({"x": table}))
    assert found.outcome == "not decided"
    value, low, high = schedule_runs.published_gain("pcd_500", "VAROPT")
    (size,) = asked
    assert size.value == pytest.approx(np.log(value))
    of_printed = np.log(high / low) / 3.92
    assert size.std_error == pytest.approx(
        np.hypot(of_printed, np.std(np.log(gains), ddof=1)), rel=1e-3
    )
