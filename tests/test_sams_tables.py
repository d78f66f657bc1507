"""Rows of the tables on SAMS, by values worked out by hand."""

from types import SimpleNamespace

import pandas as pd
import pytest

from rbmbook import sams_tables
from rbmbook.sams_tables import BASES, LENGTHS, truth_of


@pytest.fixture
def runs():
    """Two runs on h10, 0.3 too high and 0.4 too low, and one on h20, 1 too high."""
    h10, h20 = truth_of("h10"), truth_of("h20")
    return pd.DataFrame({
        "model": ["h20", "h10", "h10"],
        "estimator": ["sams", "sams", "sams"],
        "n_sweeps": [10_000, 10_000, 10_000],
        "log_z": [h20 + 1, h10 + 0.3, h10 - 0.4],
        "std_error": [0.5, 0.1, 0.2],
        "spread": [2.0, 3.0, 4.0],
        "n_groups": [10, 10, 10],
        "round_trips": [1.0, 2.0, 4.0],
        "converged": [False, True, True],
    })  # fmt: skip


def test_errors_and_flags(runs):
    assert sams_tables.errors_of(runs) == pytest.approx([1, 0.3, -0.4])
    assert sams_tables.flagged(runs) == "1 of 3"
    assert len(sams_tables.kinds(runs)) == 2


def test_errors_by_method_are_in_the_order_of_sizes(runs):
    row = sams_tables.errors_by_method(runs).iloc[0]
    assert row[["model", "method", "sweeps"]].tolist() == ["h10", "SAMS", "10,000"]
    assert row["RMSE"] == pytest.approx(0.125**0.5)
    assert (row["mean error"], row["round trips"], row["flagged"]) == (
        "-0.050 ± 0.350",
        3,
        "0 of 2",
    )


def test_errors_in_units_of_their_bars(runs):
    row = sams_tables.bars_by_method(runs).iloc[0]
    assert row["median s.e."] == pytest.approx(0.15)
    assert row["largest"] == pytest.approx(3)  # h10 is exact
    assert row["rms error in s.e."] == pytest.approx(((9 + 4) / 2) ** 0.5)


def test_cases_have_the_report_s_order(runs):
    found = sams_tables.errors_by_case({"a": runs, "b": runs[:1]})
    assert found[["case", "model"]].to_numpy().tolist() == [
        ["a", "h10"],
        ["a", "h20"],
        ["b", "h20"],
    ]
    assert found["spread"].tolist() == pytest.approx([12.5**0.5, 2, 2])
    assert found["runs × sweeps"].tolist() == ["2 × 10,000", "1 × 10,000", "1 × 10,000"]


def readings(models=("h10", "h20", "h100", "h500")):
    def verdict(outcome):
        return SimpleNamespace(outcome=outcome)

    return pd.DataFrame([
        {"model": m, "rbm_a": base, "n_sweeps": n, "log_z": truth_of(m) - n / 1000,
         "variance": 2.0, "schedule": "linear", "n_temperatures": 99, "jump": "global",
         "constant": "kept", "n": 20,
         "mean_verdict": verdict("contradicted" if n < 6000 else "not decided"),
         "variance_verdict": verdict("contradicted")}
        for m in models for base in BASES for n in LENGTHS
    ])  # fmt: skip


def test_readings_by_length():
    models = [m for m in ("h10", "h20", "h100", "h500") for _ in range(2)]
    off = [0.3, -0.4] * 4
    pilot = pd.DataFrame(
        {"model": models, "log_z": [truth_of(m) + x for m, x in zip(models, off, strict=True)]}
    )
    rows = sams_tables.by_length(readings(), pilot).set_index(["model", "RBM A"])
    assert len(rows) == 4 * (2 + len(BASES))
    row = rows.loc[("h20", "zero")]
    assert row["4,000"] == "−4.0 (2.00)"
    assert row["not contradicted"] == "mean at 6, 7 thousand"
    assert rows.loc[("h10", "ours, from a pilot"), "not contradicted"] == "−0.05 (0.245)"


def test_other_readings(runs):
    last = readings().query("n_sweeps == 7000")
    assert set(sams_tables.by_variant({"local": last})["local"]) == {"−7.0 (2.00)"}
    assert sams_tables.in_neither(last.head(1)) == "none"
    row = sams_tables.on_ladders(last.head(1)).iloc[0]
    assert row[["reading", "ladders"]].tolist() == ["counts + 5, 7,000 sweeps", 20]
    assert row["mean error"] == "-7.000 ± 0.316"
