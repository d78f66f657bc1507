"""`rbmbook.gains`, `varopt_bases` and `varopt_tables`: ratios and rows by hand."""

import math
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from rbmbook import gains, judge, tables, varopt_bases, varopt_tables
from rbmbook.measured import measured
from rbmbook.schedule_runs import ScheduleRuns, published_ess


def stored_run(schedule="linear", ess=500.0, cap=np.nan, variance=2.0, **more):
    return {
        "model": "pcd_20", "schedule": schedule, "max_step": cap, "seed": 2015, "base": "base rate",
        "ess": ess, "ess_low": ess - 1, "ess_high": ess + 1, "n_chains": 1000,
        "variance": variance, "variance_low": variance / 1.1, "variance_high": variance * 1.1,
        "log_z": 210.0, "std_error": 0.3, "mean_log_z": 209.0, "reverse_mean": 210.5,
        "reverse_ess": 80.4, "n_reversed": 100, "largest_step": 1.6, "n_temperatures": 100_000,
    } | more  # fmt: skip


@pytest.fixture
def runs():
    rows = [stored_run(), stored_run("varopt", 800.0, 1.0, 1.0)]
    rows += [stored_run("varopt", 800.0, 0.003, 1.0, largest_step=3.0)]
    table = pd.DataFrame(rows)
    return ScheduleRuns({"base rate": table, "own biases": table.assign(base="own biases")})


def test_an_interval_of_the_ess_is_the_wider_one(runs):
    value, low, high = gains.share(runs.first("pcd_20", "linear"))
    assert value == 0.5
    assert [1000 * low, 1000 * high] == pytest.approx(tables.ess_interval(500.0, 1000))
    gain = gains.ess_gain(runs, "pcd_20", "varopt", 0.003)
    assert gain[0] == pytest.approx(1.6)
    assert gain[1] < 1.6 < gain[2]


def test_the_papers_gain_is_that_of_its_table():
    known = published_ess()
    gain = gains.papers_ess_gain("PCD(20)", "VAROPT")
    assert gain[0] == pytest.approx(known["PCD(20)", "VAROPT"] / known["PCD(20)", "LINEAR"])
    assert gains.papers_ess_gain("PCD(20)", "LINEAR") is None
    assert gains.papers_ess_gain("PCD(20)", "friction") is None


def test_ratios_on_the_scale_of_logarithms():
    top, bottom = (pd.Series(stored_run(variance=v)) for v in (4.0, 2.0))
    ratio = gains.log_ratio(top, bottom, "variance")
    error = math.sqrt(2) * 2 * math.log(1.1) / 3.92
    assert ratio[:2] == pytest.approx((math.log(2), error))
    value, low, high = gains.factor(ratio)
    assert (value, low * high) == pytest.approx((2, 4))
    assert gains.relative(measured(4.0, 0.4))[:2] == pytest.approx((math.log(4), 0.1))


@pytest.mark.parametrize(
    ("schedule", "cap", "label"),
    [("linear", np.nan, "LINEAR"), ("gms13", np.nan, "GMS13"), ("friction", np.nan, "friction"),
     ("varopt", 1.0, "VAROPT"), ("varopt", 0.003, "VAROPT0.003")],
)  # fmt: skip
def test_labels_are_the_papers(schedule, cap, label):
    assert gains.schedule_label(stored_run(schedule, cap=cap)) == label


def test_a_live_run_as_text():
    run = SimpleNamespace(log_weights=np.arange(40.0), ess=3.2)
    value, low, high = gains.variance_interval(run)
    assert (value, low < value < high) == (pytest.approx(40 * 41 / 12), True)
    shown = gains.ends_of(run)
    assert shown["ESS [95%]"].startswith("3 [")
    assert shown["Var log w [95%]"].startswith("137 [")


def test_a_claim_from_several_bases():
    """Up from one base and down from the other; what was not run is left out."""
    effect = {"x": 2.0, "y": 0.5}

    def judged(base, name):
        if name == "cd1_20":
            return None
        return judge.effect("kiwaki-f3-ess", measured(effect[base], 0.01, scale="log"), direction=1)

    found = gains.by_base(["x", "y"], ["pcd_20", "cd1_20"], judged)
    assert found.outcome == "depends on what is not stated"
    assert "PCD(20)" in found.note
    assert "CD1(20)" not in found.note
    assert gains.by_base(["x"], {"mine": "pcd_20"}, judged).outcome == "reproduced"


def test_exact_paths():
    table = pd.DataFrame({
        "model": "m_20", "base": "own biases", "beta": [1.0, 0.0, 0.5], "g": 4.0, "g_error": 0.01,
        "mean_slope": [2.0, 0.0, 1.0],
    })  # fmt: skip
    exact = varopt_bases.ExactPaths(table, ["base rate", "own biases"])
    assert list(exact.paths) == [("m_20", "own biases")]
    least = exact.effect(("m_20", "own biases"), lambda p: p.least)
    assert least.value == pytest.approx(4.0)  # of a flat g, any schedule: equal steps
    assert 0 < least.std_error < 0.02
    assert exact.effect(("m_20", "own biases"), lambda p: 0.5, "log")[:1] == (0.5,)
    assert varopt_bases.largest_step(exact.paths["m_20", "own biases"]).startswith("1.0 at β = ")


def test_runs_that_were_looked_at():
    table = pd.DataFrame({
        "base": "own biases", "n_temperatures": [1000, 1000, 10_000],
        "max_step": [np.nan, 0.003, 1.0], "ess_1": [1, 2, 3],
    })  # fmt: skip

    def look(*where):
        return varopt_bases.looked_at(table, "own biases", *where)

    assert [look("linear", 1000)["ess_1"], look("VAROPT", 10_000)["ess_1"]] == [1, 3]
    assert look("capped VAROPT", 1000)["ess_1"] == 2
    assert look("VAROPT", 1000) is None


def test_rows_of_the_papers_tables(runs):
    rows = varopt_tables.KiwakiTables(runs)
    equal, plain, capped = (row for _, row in runs.by_base["base rate"].iterrows())
    assert rows.gains(equal)["our gain [95%]"] == "–"
    row = rows.gains(capped)
    assert (row["schedule"], row["ESS [95%]"]) == ("VAROPT0.003", "800 [799, 801]")
    assert row["our gain [95%]"].startswith("1.60 [")
    found = rows.values(plain)
    reference = rows.reference["pcd_20"]
    assert found["gap"] == 1.5
    assert found["minus reference"].value == pytest.approx(210 - reference.log_z)
    assert found["z"] == pytest.approx((210 - reference.log_z) / math.hypot(0.3, 0.0))
    assert found["reverse ESS"] == "80 of 100"
    two = rows.from_two_bases(("pcd_20", "VAROPT"))
    assert [two[f"ESS, {base}"] for base in runs.by_base] == [800, 800]
    assert rows.from_two_bases(("pcd_20", "friction"))["Var, own biases"] == "not run"
    assert rows.linear_verdict("pcd_20").name == "kiwaki-t1-pcd20-linear-ess"


def test_what_a_pilot_foretold(runs):
    pilot = {"model": "pcd_20", "schedule": "varopt", "perfect": 0.1, "measured": 0.5}
    row = varopt_tables.KiwakiTables(runs).foretold(pilot)
    assert (row["measured / perfect"], row["measured / with memory"]) == pytest.approx((10, 2))


def test_gains_from_each_base(runs):
    row = varopt_tables.equal_and_gains(runs, "pcd_20", ["own biases"])
    assert row["Var, linear, own biases"] == 2.0
    assert row["VAROPT gains, own biases"].startswith("2.00 [")
    assert row["friction gains, own biases"] == "not run"
    row = varopt_tables.ess_and_gain(runs, "pcd_20", ["base rate"])
    assert [row[f"ESS, {x}, base rate"] for x in ("linear", "VAROPT")] == [500, 800]


def test_caps_that_bind(runs):
    said = varopt_tables.caps_said(20, runs.by_base["base rate"]).splitlines()
    assert said == ["20 units: largest step of VAROPT in mean steps: pcd_20 1.6",
                    "caps that bind: pcd_20 0.003"]  # fmt: skip
