"""Chapter compare: rows of its tables, of stored runs of estimators and of other tools.

What a row means is worked out in `rbmbook.ranking`; here are the words.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pandas as pd

from . import ranking
from .ranking import in_words
from .tables import number

NOBODY = ""  # stands in columns of a winner where there is none


def time_to_precision(longest: pd.DataFrame, method: str) -> str:
    """The time of a method to 0.05 nat with the run that it is read off, or why there is none.

    ``longest`` is that of `ranking.longest`, by method.
    """
    if method not in longest.index:
        return "no run"
    row = longest.loc[method]
    if row["flagged"] >= ranking.FLAGGED:
        return f"flagged, {row['n']}"
    if not row["holds"]:
        return f"bar fails ({row['ratio']:.2f}), {row['n']}"
    return f"{in_words(row['effort'])} ({in_words(row['seconds'])}, {row['n']})"


def times(longest: Mapping[str, pd.DataFrame]) -> pd.DataFrame:
    """`time_to_precision` by method and model; TAP has no error bar, and is left out."""
    methods = [method for method in ranking.METHODS if not method.startswith("TAP")]
    columns = {
        model: [time_to_precision(found, method) for method in methods]
        for model, found in longest.items()
    }
    return pd.DataFrame({"method": methods} | columns)


def winners(table: pd.DataFrame) -> tuple[pd.DataFrame, dict[str, pd.Series]]:
    """Who is first on each model, in words; and the rows of `ranking.ranking` of those who are."""
    rows, first = [], {}
    for title, models in ranking.CLASSES.items():
        for model in models:
            found = ranking.ranking(table, model)
            if found.empty:
                why = "none holds" if len(ranking.longest(table, model)) else "no run"
                rows.append([title, model, why, NOBODY, NOBODY, NOBODY])
                continue
            top = first[model] = found.iloc[0]
            close = found.loc[found["within_two"] >= 0.25, "method"]
            others = ", ".join(close[close != top["method"]])
            span = " to ".join(in_words(top[end]) for end in ("low", "high"))
            took = f"{in_words(top['effort'])} ({span})"
            rows.append([title, model, top["method"], took, f"{top['first']:.0%}", others])
    head = ["class", "model", "winner", "time to 0.05 (95%)", "first", "within 2 of it"]
    return pd.DataFrame(rows, columns=head), first


def honesty(sweep: pd.DataFrame, table: pd.DataFrame) -> pd.DataFrame:
    """Of each method: how many runs were flagged, and how good those are that were not.

    Parameters
    ----------
    sweep : DataFrame
        Of `ranking.of_sweep`.
    table : DataFrame
        Of `ranking.cells`.
    """
    rows = []
    for method in (m for m in ranking.METHODS if m in set(sweep["method"])):
        runs = sweep[sweep["method"] == method]
        of_sweep = table[(table["method"] == method) & (table["source"] == "compare")]
        covered, silent = runs["covered"].mean(), int((~runs["flagged"]).sum())
        rows.append({
            "method": method,
            "runs": len(runs),
            "flagged": f"{runs['flagged'].mean():.0%}",
            "covered, of those not flagged":
                "no interval" if np.isnan(covered) else f"{covered:.0%}",
            "wrong, of those not flagged":
                f"{int(of_sweep['unflagged_failures'].sum())} of {silent}",
        })  # fmt: skip
    return pd.DataFrame(rows)


def growth(costs: pd.DataFrame) -> pd.DataFrame:
    """What a run costs and what grows with what, of the table of `ranking.doublings`."""
    found = costs.reindex([m for m in ranking.METHODS if m in costs.index])
    rows = [
        {
            "method, chains × sweeps": f"{method}, {row['chains']:.0f} × {row['sweeps']:.0f}",
            "time": in_words(row["seconds"]),
            "time × if hidden double": f"{row['seconds, hidden']:.1f}",
            "time × if visible double": f"{row['seconds, visible']:.1f}",
            "MB": number(row["megabytes"], 2),
            "MB × if chains double": f"{row['megabytes, chains']:.1f}",
            "MB × if sweeps double": f"{row['megabytes, sweeps']:.1f}",
        }
        for method, row in found.iterrows()
    ]
    return pd.DataFrame(rows)


def error_of_tool(runs: pd.DataFrame) -> str:
    """Root mean squared error of runs of another tool, with its sign, and what the tool says."""
    if runs.empty:
        return "no run"
    error, said = runs["error"], runs["std_error"].mean()
    signed = np.sqrt(np.mean(error**2)) * np.sign(error.mean())
    words = "nothing" if np.isnan(said) else number(said, 2)
    return f"{number(signed, 2)} (says {words}; {in_words(runs['seconds'].median())})"


def tools(others: pd.DataFrame, models: list[str]) -> pd.DataFrame:
    """`error_of_tool` by tool and setting, a column a model; repeats are the fewest of a model."""
    return pd.DataFrame([
        {"tool": f"{tool}: {setting}"}
        | {model: error_of_tool(runs[runs["model"] == model]) for model in models}
        | {"repeats": runs["model"].value_counts().min()}
        for (tool, setting), runs in others.groupby(["tool", "setting"], sort=False)
    ])  # fmt: skip


def live(runs: Mapping[str, list], known: float) -> pd.DataFrame:
    """Errors and seconds of live runs: of each method a list of estimates with their seconds.

    Where log Z is not known (nan) errors are from the mean of the runs.
    """
    rows = []
    for method, found in runs.items():
        values = np.array([run.log_z for run, _ in found])
        seconds = float(np.median([taken for _, taken in found]))
        off = values - (known if np.isfinite(known) else values.mean())
        rows.append({
            "method": method,
            "seconds": in_words(seconds),
            "rms error": np.sqrt(np.mean(off**2)),
            "standard error": np.mean([run.std_error for run, _ in found]),
            "flagged": f"{sum(not run.converged for run, _ in found)} of {len(found)}",
            "time to 0.05": in_words(ranking.effort(off, seconds)),
        })  # fmt: skip
    return pd.DataFrame(rows)
