"""Runs that are trusted and wrong, counted, and cells of intervals that hold log Z or do not.

A run is *wrong* if its value is off by more than `ERRORS` of its own standard errors and by more
than `NATS`. Of those that a flag lets pass, wrong ones are what the flag has missed. A *false
alarm* is a run whose own checks passed and whose own interval holds log Z, flagged all the same.

A *cell* is an estimator on a path to a model: blocks of its runs are added up, and the counts of
intervals that hold log Z are judged together by Holm's rule.
"""

from __future__ import annotations

import numpy as np
import pandas as pd
from scipy.stats import beta

from rbmlib.checks import number

from .bench import ERRORS, NATS

RIGHT = 0.1  # nats: a run that is nearer was right, and to doubt it a false alarm
LEVELS = (50, 80, 95)  # percent
DECLARED = {"first": "59df5c5", "second": "7213742", "third": "71e5905", "fourth": "c70558d"}
HEADS = {
    "method": "estimator", "family": "kind of model", "own": "trust themselves",
    "silent": "of these wrong", "after": "trusted in the end", "still": "of these still wrong",
    "alarm": "false alarms", "kind": "kinds of units",
}  # fmt: skip


def judged(runs: pd.DataFrame) -> pd.DataFrame:
    """The rows of a table of `trusted` runs, with flags as columns of True and False.

    ``own``: its own checks passed; ``silent``: they did, and it is wrong; ``after``: trusted with
    the second opinion, too; ``still``: then wrong; ``alarm``: false alarm.
    """
    off = (runs["log_z"] - runs["exact"]).abs()
    own, after = runs["own"] == 1, runs["converged"].astype(bool)
    low, high = runs["own_low"].fillna(-float("inf")), runs["own_high"].fillna(float("inf"))
    holds = (low <= runs["exact"]) & (runs["exact"] <= high)
    return runs.assign(
        own=own,
        after=after,
        silent=own & (off > ERRORS * runs["own_error"]) & (off > NATS),
        still=after & (off > ERRORS * runs["std_error"]) & (off > NATS),
        alarm=own & ~after & holds,
        own_holds=own & holds,
        holds=after & (runs["low"].fillna(-float("inf")) <= runs["exact"])
        & (runs["exact"] <= runs["high"].fillna(float("inf"))),
    )  # fmt: skip


def counts(runs: pd.DataFrame, by) -> pd.DataFrame:
    """Of judged runs, a row a value of ``by``: how many, how many trusted and wrong, and alarms."""
    flags = ["own", "silent", "after", "still", "alarm"]
    groups = runs.groupby(by, sort=False)
    found = groups[flags].sum().astype(int)
    found.insert(0, "runs", groups.size())
    return found


def errors(runs: pd.DataFrame, by) -> pd.DataFrame:
    """Of judged runs, a row a value of ``by``: errors, flags and processor time.

    Root mean squares of errors, in nats and in a run's own standard errors as it is returned.
    Where a run gives none, since it added up all states, the second is NaN.
    """
    off = runs["log_z"] - runs["exact"]
    found = runs.assign(
        nats=off**2,
        errors=(off / runs["std_error"].where(runs["std_error"] > 0)) ** 2,
        flagged=~runs["after"],
        ms=1000 * runs["processor_seconds"],
    ).groupby(by, sort=False)
    return pd.DataFrame({
        "runs": found.size(),
        "error, nats": np.sqrt(found["nats"].mean()),
        "error, s.e.": np.sqrt(found["errors"].mean()),
        "flagged": found["flagged"].sum(),
        "trusted and wrong": found["still"].sum(),
        "ms": found["ms"].median(),
    })  # fmt: skip


def history(*tables: pd.DataFrame) -> pd.DataFrame:
    """Of judged runs of one count after another, a row each, with the commit that declared it."""
    rows = []
    for runs, (name, commit) in zip(tables, DECLARED.items(), strict=True):
        sums = runs[["own", "silent", "after", "still", "alarm"]].sum().rename(HEADS)
        seeds = f"{runs['seed'].min():,} to {runs['seed'].max():,}"
        about = {"count": name, "declared in": commit, "seeds": seeds, "runs": len(runs)}
        rows.append(about | sums.astype(int).to_dict())
    return pd.DataFrame(rows)


def coverage(runs: pd.DataFrame, by) -> pd.DataFrame:
    """Of judged runs, percentages: trusted, and of these the intervals that hold log Z."""
    sums = runs.groupby(by, sort=False)[["own", "own_holds", "after", "holds"]].sum()
    n = runs.groupby(by, sort=False).size()
    return pd.DataFrame({
        "runs": n,
        "converged": 100 * sums["own"] / n,
        "hold": 100 * sums["own_holds"] / sums["own"],
        "converged, after": 100 * sums["after"] / n,
        "hold, after": 100 * sums["holds"] / sums["after"],
    })  # fmt: skip


def worth(sign: str, runs: pd.DataFrame, trusted, value="log_z", error="std_error") -> dict:
    """What a sign is worth: of runs, how many it trusts, how many of these are wrong, and alarms.

    Parameters
    ----------
    sign : str
        Its name, the first entry of the row.
    runs : DataFrame
        With columns ``exact``, and ``value`` and ``error`` by their names.
    trusted : Series of bool
        Whether the sign lets a run pass.
    """
    off = (runs[value] - runs["exact"]).abs()
    wrong = (off > NATS) & (off > ERRORS * runs[error])
    counted = {"trusted": trusted, "wrong": trusted & wrong, "alarms": ~trusted & (off < RIGHT)}
    return {"sign": sign, "runs": len(runs)} | {name: int(x.sum()) for name, x in counted.items()}


def signs(runs: pd.DataFrame, before: pd.DataFrame) -> pd.DataFrame:
    """Rows of `worth`: of the library's verdicts in judged runs, and of usual signs in others.

    Parameters
    ----------
    runs : DataFrame
        Of `judged`. Models of two signs are left out for plain AIS, which knows nothing of signs.
    before : DataFrame
        Plain annealing, its ESS and Pareto k, and annealing back from the model.
    """
    final = runs[runs["method"] == "log_z"]
    annealed = runs[(runs["method"] == "ais") & ~runs["family"].str.startswith("two signs")]
    gap = (before["reverse_log_z"] - before["first_log_z"]).abs()
    joint = np.hypot(before["reverse_error"], before["first_error"])
    usual = {
        "AIS: ESS of 100 or more": before["ess"] >= 100,
        "AIS: Pareto k below 0.7": ~(before["pareto_k"] >= 0.7),
        "AIS: standard error below 0.1": before["first_error"] < 0.1,
        "AIS and reverse AIS within 4 s.e.": gap < 4 * joint,
    }
    first = {"value": "first_log_z", "error": "first_error"}
    return pd.DataFrame([
        worth("rl.log_z", final, final["after"]),
        worth("rl.ais with its second opinion", annealed, annealed["after"]),
        *(worth(name, before, trusted, **first) for name, trusted in usual.items()),
    ])  # fmt: skip


def at_most(k: int, n: int, level: float = 0.95) -> float:
    """Upper limit of a share of which ``k`` of ``n`` were seen (Clopper and Pearson, one-sided).

    Examples
    --------
    >>> round(at_most(0, 460), 4)
    0.0065
    """
    number("level", level, "a level such as 0.95", above=0, below=1)
    return 1.0 if k >= n else float(beta.ppf(level, k + 1, n - k))


def share_interval(k, n) -> tuple[np.ndarray, np.ndarray]:
    """95% intervals of shares of which ``k`` of ``n`` were seen (Clopper and Pearson).

    Examples
    --------
    >>> low, high = share_interval([0, 10], [10, 10])
    >>> low.round(3).tolist(), high.round(3).tolist()
    ([0.0, 0.692], [0.308, 1.0])
    """
    k, n = np.asarray(k), np.asarray(n)
    low = np.where(k == 0, 0.0, beta.ppf(0.025, k, n - k + 1))
    high = np.where(k == n, 1.0, beta.ppf(0.975, k + 1, n - k))
    return low, high


def cells(blocks: pd.DataFrame) -> pd.DataFrame:
    """Blocks of runs added up, a row a cell, in the order in which they are stored."""
    counts_of = ["n_repeats", "n_converged", *(f"hold_{level}" for level in LEVELS), "all_95"]
    return blocks.groupby(["path", "model", "method"], sort=False)[counts_of].sum()


def cell_shares(counted: pd.DataFrame) -> pd.DataFrame:
    """Of cells, percentages of intervals that hold log Z: of converged runs, and of all."""
    n = counted["n_converged"]
    found = counted.index.to_frame(index=False).rename(columns=HEADS)
    found["runs"] = counted["n_repeats"].astype(int).map("{:,}".format).to_numpy()
    found["converged"] = n.astype(int).map("{:,}".format).to_numpy()
    for level in LEVELS:
        found[f"{level}%"] = (100 * counted[f"hold_{level}"] / n).to_numpy()
    found["all, 95%"] = (100 * counted["all_95"] / counted["n_repeats"]).to_numpy()
    return found


def holm(p_values, level: float = 0.01) -> np.ndarray:
    """Which of many tests reject, by Holm's rule: at most one false in all with chance ``level``.

    Examples
    --------
    >>> holm([0.004, 0.9, 0.006, 0.003]).tolist()
    [False, False, False, False]
    >>> holm([0.004, 0.9, 0.003, 0.0001]).tolist()
    [True, False, True, True]
    """
    flat = np.ravel(p_values)
    order = np.argsort(flat)
    held = np.cumsum(flat[order] > level / (flat.size - np.arange(flat.size))) > 0
    rejected = np.zeros(flat.size, bool)
    rejected[order] = ~held
    return rejected.reshape(np.shape(p_values))
