"""The ESS and variance of a live run of annealing, with their intervals, as text."""

from __future__ import annotations

import numpy as np

from . import tables
from .bootstrap import bootstrap_log_weights

Triple = tuple[float, float, float]  # a value with the ends of an interval


def brackets(triple: Triple, decimals: int = 2) -> str:
    """A value with its interval as text.

    Examples
    --------
    >>> brackets((1.234, 1.0, 1.5)), brackets((517.2, 480.0, 552.0), 0)
    ('1.23 [1.00, 1.50]', '517 [480, 552]')
    """
    value, low, high = triple
    return f"{value:.{decimals}f} [{low:.{decimals}f}, {high:.{decimals}f}]"


def variance_interval(run, rng=0) -> Triple:
    """The variance of the log-weights of a live run, with the 95% interval of the bootstrap."""
    low, high = bootstrap_log_weights(run.log_weights, rng=rng)["variance"]
    return float(np.var(run.log_weights, ddof=1)), low, high


def ends_of(run, rng=0) -> dict[str, str]:
    """ESS and variance of the log-weights of a live run as text, each with its 95% interval."""
    ess = bootstrap_log_weights(run.log_weights, rng=rng)["ess"]
    value, low, high = map(tables.number, variance_interval(run, rng))
    return {
        "ESS [95%]": brackets((run.ess, *ess), 0),
        "Var log w [95%]": f"{value} [{low}, {high}]",
    }
