"""`rbmbook.tap_readings`: calls of the printed program, split, shown and judged, by hand."""

import numpy as np
import pandas as pd
import pytest

from rbmbook import tap_readings
from rbmbook.tap_readings import READINGS, Readings


def calls(values, name="h100", order=3, reading=READINGS[0], **more):
    update, begin, tolerance = reading
    settings = {"model": name, "order": order, "update": update, "begin": begin,
                "tolerance": tolerance, "n_updates": 1000, "ended": 2, "cycle": 2,
                "cycle_low": 335.7382, "cycle_high": 335.8569, "final": 449.1}  # fmt: skip
    seeds = {"seed": 2014 + np.arange(len(values)), "log_z": np.asarray(values, float)}
    return pd.DataFrame(seeds | settings | more)


def test_a_split_of_twenty_calls():
    found = tap_readings.split_nearest(calls([0, 0]), 335.7857)
    assert found.upper == 8
    assert round(found.mean, 4) == 335.7857
    assert found.variance == pytest.approx(0.1187**2 * 0.24 * 20 / 19)
    assert tap_readings.split_nearest(calls([0]), 400).upper == 20


def test_calls_that_are_alike_have_an_exact_mean():
    assert tap_readings.mean_of_calls([2.0, 2.0]).std_error == 0
    assert tap_readings.mean_of_calls([1.0, 3.0])[:2] == (2, 1)
    assert tap_readings.spread_of(pd.Series([1.0, 3.0])) == 2


def test_calls_of_a_reading():
    """Twenty of them: more seeds, and shorter runs, are for other tables."""
    synchronous = calls([9.0], reading=("synchronous", "visible", 0.001))
    short = calls([8.0], n_updates=5)
    table = pd.concat([calls(range(40)), synchronous, short])
    found = Readings(table, ["h100"])
    assert list(found.calls("h100", 3)["log_z"]) == list(range(20))
    assert list(found.calls("h100", 3, READINGS[-1])["log_z"]) == [9]
    sets = found.sets_of_twenty("h100", 3)
    assert sets == pytest.approx([35.0, 35.0])


def test_a_star_marks_what_fits_both_numbers():
    found = Readings(calls([0.0]), ["h100"])
    low, high = 335.7382, 335.8569
    fits = pd.Series([low] * 12 + [high] * 8)
    assert found.cell(fits, "h100", 3) == "335.79 (4e-03) *"
    assert found.cell(fits, "h100", 2) == "335.79 (4e-03)"  # the variance of TAP2 is another
    assert found.cell(fits + 1, "h100", 3) == "336.79 (4e-03)"
    assert found.cell(pd.Series([1.0, 1.0]), "h100", 3) == "1.00 (0)"
    assert found.cell(pd.Series([1.0, np.nan]), "h100", 3) == "no cycle"
    assert found.printed(3) == {"reading": "TAP3, the report", "h100": "335.7857 (0.0036)"}


def test_every_end_of_a_reading_is_a_row():
    table = pd.concat([calls([1.0, 1.0], reading=reading) for reading in READINGS[:2]])
    found = Readings(table, ["h100"])
    rows = found.ends(3, READINGS[0])
    assert [row["reading"].split(", ")[-1] for row in rows] == [
        "ends at 0.001", "1,000 updates", "middle of cycle",
    ]  # fmt: skip
    assert rows[1]["h100"] == "449.10 (0)"
    assert len(found.ends(3, READINGS[1])) == 1


def test_verdicts_on_the_cycle_need_all_digits():
    found = Readings(calls([0.0] * 20), ["h100"])
    assert found.value_verdict("h100").outcome == "reproduced"
    assert found.variance_verdict("h100", 3).outcome == "reproduced"


def test_sets_of_twenty_calls_tell_a_variance_that_depends_on_the_starts():
    """Each set is within a factor of two of the printed variance, or not."""
    sd = np.sqrt(Readings(calls([0.0]), ["h500"]).variances["TAP2", "h500"] * 19 / 10)

    def outcome(*times):
        values = np.concatenate(
            [432 + sd * x * np.cos(np.pi * np.arange(20)) / 2**0.5 for x in times]
        )
        return (
            Readings(calls(values, "h500", order=2), ["h500"]).variance_verdict("h500", 2).outcome
        )

    assert outcome(1.0, 1.0) == "reproduced"
    assert outcome(1.0, 3.0) == "depends on what is not stated"
    assert outcome(3.0, 0.1) == "contradicted"


def test_verdicts_on_other_models():
    alike = Readings(calls([207.2] * 20, "h10"), ["h10"])
    assert alike.variance_verdict("h10", 3).outcome == "contradicted"
    assert alike.variance_verdict("h10", 3).ours == "0"
    assert alike.value_shown("h10") == "207.2000"
    endless = Readings(calls([1.0, 2.0], "h10", ended=0), ["h10"])
    assert endless.variance_verdict("h10", 3).ours == "no call ends"
    normal = Readings(calls(207.2 + 0.01 * np.cos(np.arange(20)), "h10"), ["h10"])
    verdict = normal.variance_verdict("h10", 3)
    row = normal.as_printed("h10", 3, verdict)
    assert (row["ended by"], row["cycle"], row["verdict on variance"]) == (
        "equal changes", 2, verdict,
    )  # fmt: skip


def test_rows_may_be_exchanged():
    """Of h10 is printed what h20 has."""
    noise = 1e-4 * np.cos(np.arange(20))
    values = {("h10", 3): 219.0, ("h20", 3): 207.217}
    table = pd.concat([calls(x + noise, name, order) for (name, order), x in values.items()])
    found = Readings(table, ["h10", "h20"]).value_verdict("h10")
    assert found.outcome == "depends on what is not stated"
    assert "rows exchanged: reproduced on TAP3" in found.note
    alike = table.assign(log_z=table["log_z"].where(table["log_z"] > 208, 219.0))
    assert Readings(alike, ["h10", "h20"]).value_verdict("h10").outcome == "contradicted"


def test_a_printed_value_may_be_one_call():
    table = calls(432.5834 + 0.015 * np.cos(np.arange(20)), "h500")
    found = Readings(table, ["h500"]).value_verdict("h500")
    assert found.outcome == "not decided"
    assert "a mean of 20 calls: contradicted" in found.note


def test_quick_calls_come_below_the_tolerance_soon():
    def outcome(ended, n_done):
        table = calls([1.0] * 20, "h20", ended=ended, n_done=n_done)
        return Readings(table, ["h20"]).quick_verdict(0.001, "h20").outcome

    assert outcome(1, 50) == "reproduced"
    assert outcome(1, 51) == "contradicted"
    assert outcome(2, 50) == "contradicted"  # in a cycle
