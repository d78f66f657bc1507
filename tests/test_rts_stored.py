"""Rows of stored runs of RTS, by hand values; the reference is 100 ± 3."""

import numpy as np
import pandas as pd
import pytest

import rbmlib as rl
from rbmbook import measured as ms
from rbmbook import rts_stored


@pytest.fixture(autouse=True)
def reference(monkeypatch):
    known = type("Reference", (), {"log_z": 100.0, "std_error": 3.0})
    monkeypatch.setattr(rts_stored, "reference", lambda model: known)


@pytest.fixture
def runs():
    return pd.DataFrame({
        "log_z": [100.0, 110.0, 79.0], "std_error": [4.0, 4.0, 4.0],
        "converged": [True, False, True], "round_trips": [10.0, 20.0, 30.0],
        "n_temperatures": 1000,
    })  # fmt: skip


def test_errors_of_the_reference_count(runs):
    assert rts_stored.off_from("m", runs["log_z"]).tolist() == [0.0, 10.0, -21.0]
    assert rts_stored.in_errors("m", runs).tolist() == [0.0, 2.0, -4.2]
    assert rts_stored.n_far_off("m", runs) == 1
    assert rts_stored.flagged(runs) == "1 of 3"
    assert rts_stored.n_unseen("m", runs, "log_z", "std_error") == 1
    assert rts_stored.n_unseen("m", runs.assign(converged=False), "log_z", "std_error") == 0


def test_groups_keep_the_order_of_the_table():
    assert list(rts_stored.groups("a", pd.DataFrame({"a": [2, 1, 2]}))) == [2, 1]


def test_rows_count_what_they_say(runs):
    of_start = rts_stored.of_start(("m", "uniform", "pilot"), runs, {"pilot": "a pilot"})
    assert of_start["start"] == "a pilot"
    assert of_start["off by over a nat"] == "2 of 3"
    assert of_start["not flagged"] == 1
    assert of_start["RMSE"] == pytest.approx(np.sqrt(541 / 3))
    assert rts_stored.of_bar(("m", "exact"), runs)["not flagged"] == "2 of 3"
    assert rts_stored.of_bar(("m", "exact"), runs)["K"] == "1,000"
    assert rts_stored.of_ladders("4 of 60", "m", runs)["20 trips or more"] == "2 of 3"
    of_ess = rts_stored.of_ess("lower half", "m", runs)
    assert (of_ess["beyond 3 s.e."], of_ess["flagged"], of_ess["runs"]) == (1, 1, 3)
    report = rts_stored.of_report("m", runs, 99.5)
    assert (report["the report"], report["reference"]) == (99.5, "100.00 ± 3.00")
    assert report["round trips"] == 20


def test_the_printed_loop_is_set_beside_the_report():
    row = pd.Series({"model": "m", "round_sweeps": 1000, "stopped": 3.0, "n_runs": 20.0,
                     "mean_sweeps": 5000.0, "log_z": 104.0, "std_error": 0.5,
                     "variance": 5.0})  # fmt: skip
    made = rts_stored.of_loop(row, {"logz": 99.0, "variance": 0.25})
    assert made["runs that stop"] == "3 of 20"
    assert made["mean error"] == "4.000 ± 0.500"
    assert made["the report's"] == "-1.00"
    assert made["the report's variance"] == 0.25


def test_an_interval_of_ais_holds_the_reference_within_two_of_its_errors():
    def run(log_z):
        return {"log_z": log_z, "std_error": 0.1, "ess": 500.0, "n_chains": 1000}

    summary = rl.results.WeightSummary(100.0, 0.1, 500.0)
    low, high = rl.results.log_mean_interval(summary, 1000)
    below, above = 100 - low, high - 100
    for more, holds in [(5.9, True), (6.1, False)]:
        assert rts_stored.holds_reference("m", run(100 + below + more)) == holds
        assert rts_stored.holds_reference("m", run(100 - above - more)) == holds


def test_half_the_error_at_twice_the_time_costs_half():
    cost = rts_stored.time_error([0.1, -0.1, 0.1], 2.0, [0.2, -0.2, 0.2], 1.0)
    assert np.exp(cost.value) == pytest.approx(0.5)
    wide = ms.measured(2.0, 0.1, 19, scale="log")
    assert rts_stored.in_interval(wide) == "2.00 [1.62, 2.47]"


def test_loops_of_one_length_are_one_row():
    runs = pd.DataFrame({
        "model": "m", "round_sweeps": [100, 500, 100], "n_runs": [20, 20, 40],
        "log_z": [0.0, 5.0, 3.0], "variance": [1.0, 2.0, 1.0], "stopped": [20, 0, 39],
        "mean_sweeps": [100.0, 7.0, 400.0],
    })  # fmt: skip
    found = rts_stored.loops_together(runs).set_index("round_sweeps")
    assert list(found.index) == [100, 500]
    assert found.loc[100, ["n_runs", "log_z", "stopped", "mean_sweeps"]].tolist() == [
        60,
        2,
        59,
        300,
    ]
    assert found.loc[100, "variance"] == pytest.approx((19 + 39 + 20 * 4 + 40 * 1) / 59)
    assert found.loc[100, "std_error"] == pytest.approx((found.loc[100, "variance"] / 60) ** 0.5)
    assert found.loc[500, "variance"] == pytest.approx(2.0)
