"""How often each verdict is wrong, and cells of intervals that hold log Z or do not.

A run is *wrong* if its value is off by more than `ERRORS` of its standard errors and by more than
`NATS`. A *false contradiction* is a run that is contradicted although its value was right by its
own error bar. A *cell* is an estimator on a path to a model: blocks of its runs are added up, and
the counts of intervals that hold log Z are judged together by Holm's rule.
"""

from __future__ import annotations

import numpy as np
import pandas as pd
from scipy.stats import beta

from rbmlib.checks import number
from rbmlib.estimate import VERDICTS

from .bench import ERRORS, NATS

LEVELS = (50, 80, 95)  # percent
HEADS = {"method": "estimator"}


def judged(runs: pd.DataFrame) -> pd.DataFrame:
    """The rows of a table of verdicts, with the verdict in words and whether the run is wrong."""
    off = (runs["log_z"] - runs["exact"]).abs()
    wrong = (off > ERRORS * runs["std_error"].fillna(0)) & (off > NATS)
    by_own = (off <= ERRORS * runs["own_error"].fillna(0)) | (off <= NATS)
    verdict = pd.Categorical.from_codes(runs["verdict"].astype(int), list(VERDICTS), ordered=True)
    return runs.assign(
        verdict=verdict, wrong=wrong, alarm=by_own & (verdict == "contradicted")
    ).sort_values("verdict", ascending=False, kind="stable")


def verdicts(runs: pd.DataFrame, by: list[str]) -> pd.DataFrame:
    """Of judged runs, a row a group: how many, how many are wrong, and the 95% interval of that.

    Of contradicted runs, wrong is what they should be: ``false`` counts those that were right.
    """
    groups = runs.groupby(by, sort=False, observed=True)
    found = groups.agg(runs=("wrong", "size"), wrong=("wrong", "sum"), false=("alarm", "sum"))
    low, high = share_interval(found["wrong"], found["runs"])
    shares = 100 * np.array([found["wrong"] / found["runs"], low, high])
    percents = [f"{share:.1f} ({a:.1f} to {b:.1f})" for share, a, b in shares.T]
    return found.assign(percent=percents).reset_index()


def cost(runs: pd.DataFrame) -> pd.DataFrame:
    """Of runs of a second or more, the median and largest time of the check, % of the run's."""
    long = runs[(runs["run_seconds"] >= 1) & ~runs["method"].str.startswith("log_z")]
    share = 100 * long["check_seconds"] / long["run_seconds"]
    groups = share.groupby(long["method"], sort=False)
    return groups.agg(runs="size", median="median", largest="max").reset_index()


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
