"""Rows of the tables of the race, by values worked out by hand."""

from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from rbmbook import ranking, ranking_tables


def of_runs(method, errors, seconds, source="compare", bar=0.1, flags=None, model="h20"):
    n = len(errors)
    return pd.DataFrame({
        "model": model, "method": method, "source": source, "size": 100, "budget": 1.0,
        "seed": range(n), "error": errors, "std_error": bar, "seconds": seconds, "doubt": 0.0,
        "covered": 1.0, "flagged": flags or [False] * n,
    })  # fmt: skip


@pytest.fixture
def sweep():
    """AIS: errors of 0.1 in 2 s; BAR: of half that in as long; RTS: bars that are too short."""
    return pd.concat([
        of_runs("BAR", [0.05, -0.05] * 5, 2.0, bar=0.05),
        of_runs("AIS", [0.1, -0.1] * 5, 2.0),
        of_runs("RTS", [1.0] * 5, 2.0),
        of_runs("SMC", [0.1] * 5, 2.0, flags=[True] * 4 + [False]),
    ])  # fmt: skip


def test_times(sweep):
    found = ranking.longest(ranking.cells(sweep), "h20").set_index("method")
    rows = ranking_tables.times({"h20": found}).set_index("method")["h20"]
    assert rows["AIS"] == "8.0 s (2.0 s, 10)"  # 2 (0.1 / 0.05)^2
    assert (rows["RTS"], rows["SMC"], rows["TI"]) == (
        "bar fails (10.00), 5",
        "flagged, 5",
        "no run",
    )
    assert not rows.index.str.startswith("TAP").any()


def test_winners(sweep, monkeypatch):
    monkeypatch.setattr(ranking, "CLASSES", {"10 or 20 hidden units": ["h20", "h10"]})
    doubted = of_runs("AIS", [0.1] * 5, 2.0, flags=[True] * 5, model="h10")
    rows, first = ranking_tables.winners(ranking.cells(pd.concat([sweep, doubted])))
    row = rows.set_index("model").loc["h20"]
    assert row.tolist()[:4] == ["10 or 20 hidden units", "BAR", "2.0 s (2.0 s to 2.0 s)", "100%"]
    assert row["within 2 of it"] == ""
    assert set(first) == {"h20"}
    assert rows.set_index("model").loc["h10", "winner"] == "none holds"


def test_honesty(sweep):
    rows = ranking_tables.honesty(sweep, ranking.cells(sweep)).set_index("method")
    assert rows.index.tolist() == ["AIS", "BAR", "SMC", "RTS"]
    assert rows.loc["SMC"].tolist() == [5, "80%", "100%", "0 of 1"]
    assert rows.loc["RTS", "wrong, of those not flagged"] == "5 of 5"


def test_other_tools():
    runs = pd.DataFrame({
        "tool": "t", "setting": "s", "model": ["h20", "h20", "h100"], "error": [-3.0, -4.0, 1.0],
        "std_error": [0.5, 0.7, np.nan], "seconds": [1.0, 3.0, 12.0],
    })  # fmt: skip
    row = ranking_tables.tools(runs, ["h20", "h100", "cd25_500"]).iloc[0]
    assert row.tolist() == [
        "t: s", "-3.5 (says 0.60; 2.0 s)", "1.0 (says nothing; 12 s)", "no run", 1,
    ]  # fmt: skip


def test_growth():
    costs = pd.DataFrame(
        [[100, 1000, 0.5, 10.0, 2.0, 1.9, 1.4, 1.0]], index=["AIS"],
        columns=["chains", "sweeps", "seconds", "megabytes", "seconds, hidden", "seconds, visible",
                 "megabytes, chains", "megabytes, sweeps"],
    )  # fmt: skip
    row = ranking_tables.growth(costs).iloc[0]
    assert row.tolist() == ["AIS, 100 × 1000", "0.50 s", "2.0", "1.9", "10", "1.4", "1.0"]


def test_live_runs():
    run = lambda log_z: SimpleNamespace(log_z=log_z, std_error=0.2, converged=log_z < 10)  # noqa: E731
    runs = {"AIS": [(run(9.9), 1.0), (run(10.1), 3.0)]}
    row = ranking_tables.live(runs, 10.0).iloc[0]
    assert row.tolist()[:2] == ["AIS", "2.0 s"]
    assert row[["rms error", "standard error"]].tolist() == pytest.approx([0.1, 0.2])
    assert row[["flagged", "time to 0.05"]].tolist() == ["1 of 2", "8.0 s"]
    assert ranking_tables.live(runs, np.nan)["rms error"][0] == pytest.approx(0.1)
