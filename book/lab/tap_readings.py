"""Readings of a report's TAP program, whose start and end are not printed, and what they give.

Stored calls of `rbmbook.experiments.tap`, each by an order of updates, a start, and a tolerance at
which it ends. The numbers of the report are read from ``data/published/report_methods.csv``.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from . import judge, tables
from . import measured as ms
from .page import pick, published
from .verdicts import Verdict, depends

ORDERS = {2: "TAP2", 3: "TAP3"}
ENDED = ["1,000 updates", "tolerance", "equal changes", "0 log 0"]
READINGS = [
    ("alternating", "uniform", 0.001),
    ("alternating", "uniform", 0.1),
    ("alternating", "uniform", 2.0),
    ("alternating", "visible", 0.001),
    ("synchronous", "uniform", 0.001),
    ("synchronous", "visible", 0.001),
]


class Split(NamedTuple):
    """Twenty calls in a cycle of two: how many at its upper end, their mean and variance."""

    upper: int
    mean: float
    variance: float


def spread_of(calls) -> float:
    """Variance of values that may all be equal, taken from the first so that none is lost."""
    return float((calls - calls.iloc[0]).var())


def split_nearest(calls, value: float) -> Split:
    """Twenty calls in the cycle of two of ``calls``, split so that their mean is nearest."""
    low, high = calls["cycle_low"].mean(), calls["cycle_high"].mean()
    upper = int(np.clip(round(20 * (value - low) / (high - low)), 0, 20))
    values = np.repeat([low, high], [20 - upper, upper])
    return Split(upper, float(values.mean()), float(values.var(ddof=1)))


def mean_of_calls(values) -> ms.Measured:
    """The mean of calls, which is exact if they all end at one value."""
    x = np.asarray(values)
    return ms.mean_of(x) if np.ptp(x) > 0 else ms.exactly(x[0])


class Readings:
    """Stored calls of the program by reading, beside the printed values and variances.

    Parameters
    ----------
    runs : DataFrame
        The table "tap_printed".
    names : list of str
        Models.
    """

    def __init__(self, runs, names):
        self.names = list(names)
        self.every = runs[runs["n_updates"] == 1000]
        self.runs = self.every[self.every["seed"] < 2034]  # twenty calls, as the report has
        report = published("report_methods")
        self.variances = report.set_index(["method", "model"])["variance"]
        of_tap = report[report["method"].str.startswith("TAP (")]
        self.values = of_tap.set_index("model")["logz"]

    def calls(self, name: str, order: int, reading=READINGS[0], *, more: bool = False):
        """Twenty calls of a model by a reading; with ``more`` all that were made."""
        update, begin, tolerance = reading
        where = {"update": update, "begin": begin, "tolerance": tolerance}
        return pick(self.every if more else self.runs, model=name, order=order, **where)

    def cell(self, values, name: str, order: int) -> str:
        """Mean (variance) of calls; a star if both fit the printed ones."""
        if values.isna().any():
            return "no cycle"
        mean, variance = values.mean(), spread_of(values)
        ratio = variance / self.variances[ORDERS[order], name]
        fits = abs(mean - self.values[name]) < 0.05 and 0.5 < ratio < 2
        spread = f"{variance:.0e}" if variance > 1e-12 else "0"
        return f"{mean:.2f} ({spread})" + (" *" if fits else "")

    def ends(self, order: int, reading) -> list[dict]:
        """Rows of a table: one for each way in which calls of a reading may be said to end."""
        update, begin, tolerance = reading
        ends = {f"ends at {tolerance:g}": lambda calls: calls["log_z"]}
        if tolerance == 0.001:
            ends["1,000 updates"] = lambda calls: calls["final"]
            ends["middle of cycle"] = lambda calls: (calls["cycle_low"] + calls["cycle_high"]) / 2
        rows = []
        for end, take in ends.items():
            row = {"reading": f"{ORDERS[order]}, {update}, {begin}, {end}"}
            for name in self.names:
                row[name] = self.cell(take(self.calls(name, order, reading)), name, order)
            rows.append(row)
        return rows

    def printed(self, order: int) -> dict:
        """The row of the report itself."""
        cells = {n: f"{self.values[n]:.4f} ({self.variances[ORDERS[order], n]:.2g})"
                 for n in self.names}  # fmt: skip
        return {"reading": f"{ORDERS[order]}, the report"} | cells

    def sets_of_twenty(self, name: str, order: int) -> np.ndarray:
        """Variances of calls of the first reading, in sets of twenty by their seeds."""
        every = self.calls(name, order, more=True).sort_values("seed")
        x = every["log_z"].to_numpy().reshape(-1, 20)
        return (x - x[0, 0]).var(axis=1, ddof=1)

    def value_verdict(self, name: str) -> Verdict:
        """On the printed value, by TAP3; on h100 rounding picks an end of a cycle of two.

        What the report leaves open: whether its value is a mean of twenty calls or one call (h500)
        and, as it prints for h10 what h20 has, whether the two rows are exchanged.
        """
        if name == "h100":
            mean = split_nearest(self.calls(name, 3), self.values[name]).mean
            return judge.digits(f"wang-tap-{name}-logz", mean)
        if name == "h500":
            what = {"a mean of 20 calls": 20, "one call": 1}
            cases = {words: {name: self._value(name, name, n)} for words, n in what.items()}
            return depends("what is printed", cases)
        whose = {"as printed": name, "rows exchanged": "h20" if name == "h10" else "h10"}
        cases = {words: {"TAP3": self._value(name, model)} for words, model in whose.items()}
        return depends("whether the rows of h10 and h20 are exchanged", cases)

    def _value(self, printed: str, model: str, n: int = 20) -> Verdict:
        """On the value of a row as a mean of n calls of TAP3, by the calls of a model."""
        mean = mean_of_calls(self.calls(model, 3, more=True)["log_z"])
        error = float(np.sqrt(self.variances["TAP3", printed] / n))
        return judge.printed_value(f"wang-tap-{printed}-logz", mean, printed_error=error)

    def quick_verdict(self, tolerance: float, name: str) -> Verdict:
        """On Figure 4: does TAP3 come to changes below the tolerance within 50 updates?"""
        calls = self.calls(name, 3, ("alternating", "uniform", tolerance))
        quick = (calls["ended"] == ENDED.index("tolerance")) & (calls["n_done"] <= 50)
        return judge.bound("wang-tap-f4", ms.share_of(quick.to_numpy()), at_least=0.5)

    def three_sets(self, name: str, order: int) -> dict[str, float]:
        """Variances of three sets of twenty calls: the smallest, the nearest to the printed one,
        and the largest."""
        sets, wanted = self.sets_of_twenty(name, order), self.variances[ORDERS[order], name]
        nearest = sets[np.abs(np.log(np.maximum(sets, 1e-300) / wanted)).argmin()]
        return {"smallest": sets.min(), "nearest": nearest, "largest": sets.max()}

    def variance_verdict(self, name: str, order: int) -> Verdict:
        """On the printed variance, by twenty calls, or by three sets of twenty where there are
        more."""
        claim, calls = f"wang-tap{order}-{name}-var", self.calls(name, order, more=True)
        x = calls["log_z"] - calls["log_z"].iloc[0]
        if (calls["ended"] == 0).any():
            why = "the undamped iteration does not settle, nor repeat its changes"
            every_call_ends = bool((calls["ended"] > 0).all())
            return judge.statement(claim, every_call_ends, ours="no call ends", reason=why)
        if name == "h100" and order == 3:
            return judge.digits(claim, split_nearest(calls, self.values[name]).variance)
        if x.abs().max() < 1e-6:  # every call ends at the same value
            return judge.digits(claim, 0.0)
        if len(x) > 20:
            return self._of_sets(claim, name, order)
        return judge.printed_variance(claim, x.to_numpy(), printed_n=20)

    def _of_sets(self, claim: str, name: str, order: int) -> Verdict:
        """By sets of twenty starts: a call is computed, and so is the variance of a set."""
        why, cases = "within a factor of two of the printed one, or not", {}
        n_sets = len(self.sets_of_twenty(name, order))
        for words, variance in self.three_sets(name, order).items():
            fits = bool(0.5 < variance / self.variances[ORDERS[order], name] < 2)
            found = judge.statement(claim, fits, ours=f"variance {variance:.2e}", reason=why)
            cases[f"the {words} of {n_sets}"] = {name: found}
        return depends("which twenty starts are drawn", cases)

    def as_printed(self, name: str, order: int, verdict: Verdict) -> dict:
        """A row: twenty calls of the first reading beside the printed variance."""
        calls = self.calls(name, order)
        ring, ended = int(calls["cycle"].mode()[0]), int(calls["ended"].mode()[0])
        return {
            "model": name,
            "": ORDERS[order],
            "variance, paper": tables.number(self.variances[ORDERS[order], name]),
            "its program": f"{spread_of(calls['log_z']):.2e}",
            "mean": f"{calls['log_z'].mean():.4f}",
            "ended by": ENDED[ended],
            "cycle": ring or "none",
            "verdict on variance": verdict,
        }

    def value_shown(self, name: str) -> str:
        """The mean of the calls of TAP3, with its error if they differ."""
        x = self.calls(name, 3)["log_z"]
        return tables.with_error(x.mean(), x.sem()) if np.ptp(x) else f"{x.iloc[0]:.4f}"
