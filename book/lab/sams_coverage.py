"""Chapter sams: estimates of repeated runs on a model whose log Z is known, tested and in words."""

from __future__ import annotations

import numpy as np
import pandas as pd

from rbmlib.results import student_interval

from . import measured
from .errors import rmse

ENOUGH = 2  # round trips of a chain in the second half of a run, the first check of `rl.sams`


def tested(name: str, groups, exact: float, round_trips: float) -> dict:
    """A row on estimates whose log Z is known: mean error, RMSE, share of intervals that cover.

    Parameters
    ----------
    groups : ndarray (n_estimates, n_groups)
        log Z of the groups of each estimate; their spread makes its interval.
    """
    groups = np.asarray(groups, float)
    n = groups.shape[1]
    error = groups.mean(axis=1) - exact
    factor = student_interval(0.0, 1.0, n)[1]
    inside = np.abs(error) <= factor * groups.std(axis=1, ddof=1) / np.sqrt(n)
    return {
        "method": name,
        "mean error": measured.mean_of(error),
        "RMSE": rmse(error),
        "intervals that cover": f"{100 * inside.mean():.0f}%",
        "round trips": round_trips,
    }


def in_words(rows: pd.DataFrame, n_sweeps: int) -> str:
    """What a table of `tested` rows shows, of which one has the method "SAMS"."""
    crossed = rows["round trips"] >= ENOUGH
    good, poor = ("; ".join(rows.loc[keep, "method"]) for keep in (crossed, ~crossed))
    shares = rows.loc[crossed, "intervals that cover"].str.rstrip("%").astype(int)
    sams = rows.set_index("method").loc["SAMS"]
    bias, error, _, n, _ = sams["mean error"]
    chance = 200 * np.sqrt(0.95 * 0.05 / n)
    words = f"{abs(bias):.2f} nats in its RMSE of {sams['RMSE']:.2f}"
    if abs(bias) > 2 * error:
        words = f"so {n_sweeps:,} sweeps from nothing leave a bias of {words}"
    else:
        words = f"which is no more than chance, {words}"
    return (
        f"With two round trips or more ({good}) the intervals cover in "
        f"{shares.min()} to {shares.max()}% of the estimates. An honest method would "
        f"show 95, give or take {chance:.0f}, with {n:g} estimates. The other rows "
        f"({poor}) make fewer than two round trips, and the first check flags "
        f"them. The mean error of SAMS is {abs(bias) / error:.1f} standard errors "
        f"from 0, {words}."
    )
