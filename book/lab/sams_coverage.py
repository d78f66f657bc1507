"""Chapter sams: estimates of repeated runs on a model whose log Z is known, tested."""

from __future__ import annotations

import numpy as np

from rbmlib.results import student_interval

from . import measured
from .errors import rmse


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
