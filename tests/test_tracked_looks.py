"""Looks along stored trainings, and what tracking costs, with numbers by hand."""

import numpy as np
import pandas as pd
import pytest

from rbmbook import timing, tracked_looks, tracking_cost

RUN = pd.DataFrame(
    {
        "log_z": [10.0, 10.0, 10.0], "std_error": [0.3, 0.3, 0.3], "ess": [80, 60, 4],
        "tracked": [10.5, 9.5, 7.0], "log_z_error": [0.4, 0.1, 0.4], "lag": [0.0, 0.5, 0.0],
        "noise_with_lag": 0.4, "reweighted": [11.0, 11.0, 12.0], "reweighted_error": 0.2,
        "reweighted_base_error": [1.0, 1.0, 2.0], "reweighted_ancestors": [40, 10, 9],
        "validation": [-5.0, -3.0, -2.0], "test": [-6.0, -4.0, -3.5],
    }
)  # fmt: skip


def test_trainings_are_told_apart():
    rows = [(2, 2000, 0.2, 100), (0, 2000, 0.2, 100), (1, 400, 0.05, 100), (1, 400, 0.2, 1000)]
    stored = pd.DataFrame(rows, columns=["look", "n_chains", "gain", "n_annealed"])
    found = tracked_looks.trainings(stored.assign(n_updates=400, n_looks=20))
    assert found.paper["update"].tolist() == [0, 40]
    assert list(found.by_gain) == [0.05]
    assert found.checked_again.index.tolist() == [1]


def test_an_estimate_against_ais():
    row = tracked_looks.against_ais("a", RUN, RUN["tracked"], RUN["log_z_error"])
    assert (row["looks"], row["sound looks"], row["least ESS"]) == (3, 2, 4)
    assert row["RMS difference"] == pytest.approx(np.sqrt((0.25 + 0.25 + 9) / 3))
    assert (row["largest"], row["largest at sound looks"]) == (3.0, 0.5)
    assert row["within 2 bars"] == pytest.approx(2 / 3)  # bars: 0.5, 0.32, 0.5
    # by AIS the likelihoods are -4.5, -3.5, -5
    assert (row["best look"], row["best by AIS"]) == (2, 1)
    assert (row["lost"], row["falls after"], row["test, tracked"]) == (1.5, True, -3.5)


def test_rows_of_an_estimator():
    tracker, added = tracked_looks.of_tracker("x", RUN)
    assert (tracker["estimate"], added["estimate"]) == ("x: tracker", "x: lag added")
    assert added["largest at sound looks"] == 0.5
    first, less = tracked_looks.of_jarzynski("x", RUN)
    assert (first["largest"], less["largest"]) == (2.0, 0.0)
    assert (first["within 2 bars"], less["within 2 bars"]) == (0.0, 1.0)  # of two looks
    assert tracked_looks.family_bar(RUN).isna().tolist() == [False, False, True]


def test_the_mode_counts_where_it_is_apart():
    traced = pd.DataFrame(
        {
            "log_z": [10.0, 10.0, 10.0], "std_error": 0.5, "mode_bound": [5.0, 10.5, 11.5],
            "mode_log_z": [9.0, 10.0 + np.log(3), 12.0], "mode_stays": [1.0, 0.6, 0.4],
        }
    )  # fmt: skip
    run = pd.DataFrame({"update": [0, 10, 20], "log_z": [1.0, 2.0, 3.0]})
    again = pd.DataFrame({"log_z": [7.0]}, index=[1])
    found = tracked_looks.witnessed(traced, run, again)
    assert found["ais"].tolist() == [1.0, 7.0, 3.0]
    assert found["missed"].tolist() == [False, False, True]
    assert found["whole"].tolist() == pytest.approx([10.0, 10.0 + np.log(4), 10.0])


def test_seconds_an_update():
    spent = {"start": 9.0, "sampling": 3.0, "tracking": 0.6, "reweighting": 0.3}
    parts = tracking_cost.parts(6.9, spent, summing=0.1, look=5.0)
    assert parts["own"] == pytest.approx(3.0 / 2 + 3.0 / 3 - 0.1)
    assert parts["the update rule"] == pytest.approx(0.2)
    assert parts["a look in a hundred updates"] == 0.05
    assert parts["Jarzynski, 400 chains"] == pytest.approx(0.1)
    summed = tracking_cost.with_sums(pd.DataFrame([parts])).iloc[0]
    assert summed["tracking, a look in a hundred"] == pytest.approx(0.35)
    assert summed["tracking, a look at every update"] == pytest.approx(5.3)


def test_a_result_with_its_seconds():
    result, seconds = timing.timed(lambda: sum(range(10**6)))
    assert result == 499999500000
    assert 0 < seconds < 60
