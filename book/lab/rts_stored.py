"""Stored runs of RTS and its relatives, read for tables: errors, and what flags have missed.

Errors are those against the reference set, in nats unless they are said to be in standard errors.
"""

from __future__ import annotations

from functools import cache

import numpy as np

import rbmlib as rl

from .datasheet import load_reference
from .errors import rmse
from .group_spreads import pooled_runs
from .measured import Measured, mean_of, measured, rmse_ratio
from .page import pm
from .tables import number


@cache
def reference(model: str):
    """Of the reference set."""
    return load_reference()[model]


def known_of(model: str) -> str:
    """The reference value as text: with its error, or exact to four digits."""
    known = reference(model)
    return pm(known.log_z, known.std_error) if known.std_error else f"{known.log_z:.4f}"


def off_from(model: str, log_z) -> np.ndarray:
    """Errors of a column of values of log Z."""
    return (log_z - reference(model).log_z).to_numpy()


def in_errors(model: str, runs) -> np.ndarray:
    """Errors of runs in standard errors, those of the reference included."""
    return off_from(model, runs["log_z"]) / np.hypot(runs["std_error"], reference(model).std_error)


def n_far_off(model: str, runs) -> int:
    """Runs that are more than three standard errors from the reference."""
    return int((np.abs(in_errors(model, runs)) > 3).sum())


def flagged(runs) -> str:
    """How many of the runs did not converge."""
    return f"{(~runs['converged'].astype(bool)).sum()} of {len(runs)}"


def groups(columns, runs) -> dict:
    """Groups of a table by their names, in the order of the table."""
    return dict(iter(runs.groupby(columns, sort=False)))


def holds_reference(model: str, run) -> bool:
    """Does the interval of a run of AIS hold the reference, within two of its errors?"""
    summary = rl.results.WeightSummary(run["log_z"], run["std_error"], run["ess"])
    low, high = rl.results.log_mean_interval(summary, run["n_chains"])
    known = reference(model)
    slack = 2 * known.std_error
    return low - slack <= known.log_z <= high + slack


# rows of tables -------------------------------------------------------------------------------


def of_report(model: str, runs, printed: float) -> dict:
    """Runs beside the printed number of the course report, which may be nan."""
    return {
        "model": model,
        "the report": printed,
        "our mean": pm(mean_of(runs["log_z"])),
        "reference": known_of(model),
        "errors in s.e.": rmse(in_errors(model, runs)),
        "flagged": flagged(runs),
        "round trips": runs["round_trips"].mean(),
    }


def of_bar(key, runs) -> dict:
    """Runs of BAR of annealing, by (model, where the way back begins)."""
    off = off_from(key[0], runs["log_z"])
    return {
        "model": key[0],
        "back from": key[1],
        "K": f"{runs['n_temperatures'].iloc[0]:,}",
        "mean error": pm(mean_of(off)),
        "RMSE": rmse(off),
        "errors in s.e.": rmse(in_errors(key[0], runs)),
        "not flagged": f"{runs['converged'].sum()} of {len(runs)}",
    }


def of_start(key, runs, words) -> dict:
    """Wrong runs that no check flags, by (model, base, start); ``words`` of the starts."""
    off = off_from(key[0], runs["log_z"])
    wrong = np.abs(off) > 1
    return {
        "model": key[0],
        "base": key[1],
        "start": words[key[2]],
        "RMSE": rmse(off),
        "off by over a nat": f"{wrong.sum()} of {len(runs)}",
        "not flagged": int((wrong & runs["converged"]).sum()),
        "round trips": runs["round_trips"].mean(),
    }


def of_loop(row, printed) -> dict:
    """Runs of the report's loop as printed, beside its printed mean and variance."""
    known = reference(row["model"]).log_z
    return {
        "model": row["model"],
        "sweeps of a round": f"{row['round_sweeps']:,}",
        "runs that stop": f"{int(row['stopped'])} of {int(row['n_runs'])}",
        "sweeps of a run": f"{row['mean_sweeps']:,.0f}",
        "mean error": pm(row["log_z"] - known, row["std_error"]),
        "the report's": f"{printed['logz'] - known:+.2f}",
        "variance": number(row["variance"]),
        "the report's variance": printed["variance"],
    }


def loops_together(runs):
    """Rows of the report's loop: those of one model and length of a round as one row."""
    import pandas as pd

    rows = []
    for (model, length), some in runs.groupby(["model", "round_sweeps"], sort=False):
        n, mean, variance = pooled_runs(some)
        rows.append({
            "model": model, "round_sweeps": length, "n_runs": n, "log_z": mean,
            "variance": variance, "std_error": np.sqrt(variance / n),
            "stopped": some["stopped"].sum(),
            "mean_sweeps": np.average(some["mean_sweeps"], weights=some["n_runs"]),
        })  # fmt: skip
    return pd.DataFrame(rows)


def of_ladders(words: str, model: str, runs) -> dict:
    """Runs of parallel tempering with so many ladders."""
    off, trips = off_from(model, runs["log_z"]), runs["round_trips"]
    return {
        "ladders": words,
        "mean error": pm(mean_of(off)),
        "RMSE": rmse(off),
        "errors in s.e.": rmse(in_errors(model, runs)),
        "round trips of a ladder": trips.mean(),
        "20 trips or more": f"{(trips >= 20).sum()} of {len(runs)}",
    }


def of_ess(words: str, model: str, runs) -> dict:
    """Runs whose effective sample sizes are alike."""
    return {
        "ESS": words,
        "runs": len(runs),
        "mean error": off_from(model, runs["log_z"]).mean(),
        "median s.e.": runs["std_error"].median(),
        "beyond 3 s.e.": n_far_off(model, runs),
        "flagged": int((~runs["converged"]).sum()),
    }


# time times squared error ---------------------------------------------------------------------


def time_error(errors, seconds, of_errors, of_seconds) -> Measured:
    """Time times squared error over that of other runs with the same seeds, on the scale "log".

    Examples
    --------
    >>> cost = time_error([0.2, -0.4, 0.2], 3.0, [0.1, -0.2, 0.1], 6.0)
    >>> round(float(np.exp(cost.value)), 6), int(cost.freedom)
    (2.0, 2)
    """
    ratio = rmse_ratio(errors, of=of_errors)
    product = np.exp(2 * ratio.value) * seconds / of_seconds
    return measured(product, 2 * ratio.std_error, ratio.freedom, "log")


def in_interval(cost: Measured, decimals: int = 2) -> str:
    """A ratio with its 95% interval, or alone where it has no error.

    Examples
    --------
    >>> in_interval(measured(1.0, 0.0, scale="log"))
    '1'
    """
    if not cost.std_error:
        return "1"
    value, low, high = (f"{np.exp(x):.{decimals}f}" for x in (cost.value, *cost.interval(0.05)))
    return f"{value} [{low}, {high}]"


def n_unseen(model: str, runs, value: str, error: str) -> int:
    """Runs beyond three standard errors that no check flags; columns of value and error."""
    z = off_from(model, runs[value]) / np.hypot(runs[error], reference(model).std_error)
    return int(((np.abs(z) > 3) & runs["converged"]).sum())
