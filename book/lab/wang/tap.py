"""The report's iteration of TAP (its eqs. 15, 16), whose start and end are not printed.

A reading says which layer is updated first, where a call starts, and at which change of log Z it
ends; also which order the printed log Z is of, and whether it is the mean of 20 calls or one call.
"""

from __future__ import annotations

from itertools import product

import numpy as np
import pandas as pd

from rbmbook import judge
from rbmbook import measured as ms
from rbmbook.page import pick
from rbmbook.tables import number
from rbmbook.verdicts import Verdict, together

from . import PRINTED_RUNS, over, printed

ORDERS = {2: "TAP2", 3: "TAP3"}
SETTINGS = ["update", "begin", "tolerance"]
FIRST = {"update": "alternating", "begin": "uniform", "tolerance": 0.001}
STOPPED = 1  # code of "ended": at a change below the tolerance
SETS = 2  # of twenty calls, from which on their range is compared with a printed variance
FAR = 10.0  # a factor: beyond the range of the sets by this much a variance is another


def calls(runs: pd.DataFrame, model: str, order: int, **reading) -> pd.DataFrame:
    """Calls of at most 1,000 updates by a reading, by their seeds."""
    return pick(runs, model=model, order=order, n_updates=1000, **reading).sort_values("seed")


def mean_of(values) -> ms.Measured:
    """Of calls that may all end alike."""
    x = np.asarray(values)
    return ms.mean_of(x) if np.ptp(x) > 0 else ms.exactly(x[0])


def spread(values) -> float:
    """Variance of values that may all be equal, taken from the first so that none is lost."""
    x = np.asarray(values)
    return float((x - x[0]).var(ddof=1))


def in_cycle(found: pd.DataFrame) -> bool:
    """Whether every call ends at either end of one cycle of two."""
    x, ends = found["log_z"].to_numpy(), found[["cycle_low", "cycle_high"]].to_numpy()
    at_an_end = (np.abs(ends - x[:, None]) < 1e-4).any(axis=1).all()
    return bool(at_an_end and np.ptp(ends, axis=0).max() < 1e-4 and np.ptp(x) > 1e-4)


def split_nearest(found: pd.DataFrame, value: float) -> tuple[int, float, float]:
    """Of twenty calls in a cycle: how many at its upper end, mean and variance nearest to a mean.

    Rounding picks the end, so that any number of the twenty may be at the upper one.
    """
    low, high = found["cycle_low"].mean(), found["cycle_high"].mean()
    upper = int(np.clip(round(PRINTED_RUNS * (value - low) / (high - low)), 0, PRINTED_RUNS))
    x = np.repeat([low, high], [PRINTED_RUNS - upper, upper])
    return upper, float(x.mean()), float(x.var(ddof=1))


def variance_judged(name: str, found: pd.DataFrame, text: str, value: float) -> Verdict:
    """A printed variance of twenty calls, against calls of one reading."""
    x = found["log_z"].to_numpy()
    if in_cycle(found):
        return judge.digits(name, split_nearest(found, value)[2], text, unit="nats²")
    if np.ptp(x) < 1e-6:  # every call ends at the same value
        return judge.digits(name, 0.0, text, unit="nats²")
    if len(x) < SETS * PRINTED_RUNS:
        return judge.printed_variance(name, x, printed=text, printed_n=PRINTED_RUNS)
    # a few far starts make a variance: not normal
    sets, wanted = [spread(part) for part in np.split(x, len(x) // PRINTED_RUNS)], float(text)
    low, high = min(sets), max(sets)
    said = f"{low:.1e} to {high:.1e} in {len(sets)} sets of twenty"
    inside = judge.compare(low, "<=", wanted) & judge.compare(wanted, "<=", high)
    if not inside.holds and low / FAR <= wanted <= high * FAR:
        return judge.left_open(name, "just outside the range of our sets of twenty", ours=said)
    reason = "within the range of our sets" if inside.holds else f"{FAR:g} times outside our sets"
    return judge.statement(name, inside, reason=reason, ours=said)


def value_judged(name: str, found: pd.DataFrame, text: str, variance: str, n: int) -> Verdict:
    """A printed log Z, a mean of ``n`` calls of a printed variance, against one reading."""
    if in_cycle(found):
        return judge.digits(name, split_nearest(found, float(text))[1], text)
    of_20 = PRINTED_RUNS / n * float(variance)  # whose mean of 20 has the error of one of n
    spread = {"printed_variance": of_20, "printed_n": PRINTED_RUNS}
    return judge.printed_value(name, mean_of(found["log_z"]), printed=text, **spread)


def row_judged(name: str, runs: pd.DataFrame, model: str) -> Verdict:
    """One verdict of a row of the printed table, over all readings that both orders were run by."""
    row = {label: printed(label).loc[model, "variance"] for label in ORDERS.values()}
    text, cases = printed("TAP (").loc[model, "logz"], {}
    ran = pick(runs, model=model, n_updates=1000)
    both = ran.groupby(SETTINGS, sort=False)["order"].nunique() == len(ORDERS)
    for setting in both.index[both]:
        reading = dict(zip(SETTINGS, setting, strict=True))
        of = {label: calls(runs, model, order, **reading) for order, label in ORDERS.items()}
        variances = {
            f"variance of {label}": variance_judged(name, found, row[label], float(text))
            for label, found in of.items()
        }
        for (label, found), n in product(of.items(), (PRINTED_RUNS, 1)):
            parts = {"log Z": value_judged(name, found, text, row[label], n)} | variances
            calls_of = f"log Z {label}, " + ("one call" if n == 1 else "mean of 20")
            cases["{}, {}, ends at {:g}; {}".format(*setting, calls_of)] = together(parts)
    two, three = (calls(runs, model, order, **FIRST)["log_z"] for order in ORDERS)
    ours = f"{three.mean():.4f}, variances {number(spread(two))} and {number(spread(three))}"
    return over(cases, ours)  # as is found by the first reading
