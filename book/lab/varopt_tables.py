"""Rows of the tables of stored runs on the audit page of annealing schedules."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

from . import gains, judge, tables
from . import measured as ms
from .datasheet import load_reference
from .page import off, pick
from .schedule_runs import (
    ROWS,
    ScheduleRuns,
    claim_of,
    of_its_kind,
    papers_name,
    published_ess,
)
from .verdicts import Verdict

NAMED = {
    "linear": "linear", "sm08": "SM08", "varopt": "VAROPT", "gms13": "GMS13", "friction": "friction"
}  # fmt: skip
FROM_TWO = {"LINEAR": ("linear", 1.0)} | ROWS | {"friction": ("friction", 1.0)}


class KiwakiTables:
    """Rows of Tables 1 and 2 of Kiwaki (2015), and of what they rest on, from stored runs.

    Parameters
    ----------
    runs : ScheduleRuns
        From "base rate" and "own biases".
    """

    def __init__(self, runs: ScheduleRuns):
        self.runs = runs
        self.reference = load_reference()

    def gains(self, row) -> dict:
        """A stored run beside the row that the paper prints: ESS, and gains over equal steps."""
        name, label = papers_name(row["model"]), gains.schedule_label(row)
        cap = row["max_step"] if row["schedule"] == "varopt" else 1.0
        ours = None
        if row["schedule"] != "linear":
            ours = gains.ess_gain(self.runs, row["model"], row["schedule"], cap)
        papers = gains.papers_ess_gain(name, label)
        return {
            "model": name,
            "schedule": label,
            "paper's ESS": published_ess().get((name, label), math.nan),
            "ESS [95%]": gains.brackets(row[["ess", "ess_low", "ess_high"]], 0),
            "chains": int(row["n_chains"]),
            "paper's gain [95%]": gains.brackets(papers, missing="–"),
            "our gain [95%]": gains.brackets(ours, missing="–"),
        }

    def values(self, row) -> dict:
        """The same run: its variance, the gap between its bounds, its log Z, and ``z``."""
        ours = ms.measured(row["log_z"], row["std_error"])
        missed = off(ours, self.reference[row["model"]])
        return {
            "model": papers_name(row["model"]),
            "schedule": gains.schedule_label(row),
            "Var log w": row["variance"],
            "gap": row["reverse_mean"] - row["mean_log_z"],
            "log Z": ours,
            "minus reference": missed,
            "reverse ESS": f"{row['reverse_ess']:.0f} of {row['n_reversed']:.0f}",
            "z": missed.value / missed.std_error,
        }

    def from_two_bases(self, case: tuple[str, str]) -> dict:
        """A model and a row of `FROM_TWO`: ESS and variance from each base."""
        name, label = case
        where = (name, *FROM_TWO[label])
        row: dict[str, Any] = {"model": papers_name(name), "schedule": label}
        row["paper's ESS"] = published_ess().get((row["model"], label), math.nan)
        for base in self.runs.by_base:
            row[f"ESS, {base}"] = self.runs.seeds(*where, base)["ess"].mean()
        for base in self.runs.by_base:
            row[f"Var, {base}"] = gains.brackets(self.runs.variance(*where, base))
        return row

    def foretold(self, row) -> dict:
        """What one pilot foretells of a run of the tables, and what that run did."""
        run = self.runs.first(row["model"], row["schedule"])
        scale = run["n_temperatures"] / 100_000  # the friction runs paid for their pilot
        found = scale * run[["variance", "variance_low", "variance_high"]]
        return {
            "model": papers_name(row["model"]),
            "schedule": row["schedule"],
            "perfect": row["perfect"],
            "with memory": row["measured"],
            "measured [95%]": gains.brackets(found, 3),
            "measured / perfect": found["variance"] / row["perfect"],
            "measured / with memory": found["variance"] / row["measured"],
        }

    def linear_verdict(self, name: str) -> Verdict:
        """On the printed ESS of equal steps; a gain would say nothing of it."""
        low, high = tables.ess_interval(published_ess()[papers_name(name), "LINEAR"], 1000)
        ess, ess_low, ess_high = (1000 * x for x in gains.share(self.runs.first(name, "linear")))
        found = judge.printed_value(
            f"{claim_of(name, 'linear')}-ess",
            ms.from_interval(ess, ess_low, ess_high, scale="linear"),
            printed_error=(high - low) / 3.92,
            unit="chains",
            n_trainings=1,
        )
        return of_its_kind(name, found)


def equal_and_gains(runs: ScheduleRuns, name: str, bases: Iterable[str]) -> dict:
    """From each base: the variance of equal steps, and what VAROPT and friction gain over it."""
    row = {}
    for base in bases:
        row[f"Var, linear, {base}"] = runs.variance(name, "linear", base=base)[0]
        for kind in ("varopt", "friction"):
            gain = runs.gain(name, kind, base=base)
            row[f"{NAMED[kind]} gains, {base}"] = gains.brackets(gain)
    return row


def ess_and_gain(runs: ScheduleRuns, name: str, bases: Iterable[str]) -> dict:
    """From each base: ESS of equal steps and of VAROPT, and its gain in variance."""
    row = {}
    for base in bases:
        for kind in ("linear", "varopt"):
            found = runs.first(name, kind, base=base)
            row[f"ESS, {NAMED[kind]}, {base}"] = found["ess"]
        gain = runs.gain(name, "varopt", base=base)
        row[f"VAROPT gains, {base}"] = gains.brackets(gain)
    return row


def caps_said(units: int, runs) -> str:
    """Which caps bind on the grid of the pilot, where the largest step reaches the cap."""
    varopt = pick(runs, schedule="varopt")
    plain = pick(varopt, max_step=1.0)
    bind = varopt[varopt["largest_step"] >= varopt["max_step"] * 1000 * (1 - 1e-9)]
    largest = [f"{m} {x:.1f}" for m, x in zip(plain["model"], plain["largest_step"], strict=True)]
    caps = [f"{m} {cap:g}" for m, cap in zip(bind["model"], bind["max_step"], strict=True)]
    return (
        f"{units} units: largest step of VAROPT in mean steps: {', '.join(largest)}\n"
        f"caps that bind: {', '.join(caps) or 'none'}"
    )
