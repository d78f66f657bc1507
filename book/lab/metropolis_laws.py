"""Chapter mcmc_basics: laws of Metropolis-Hastings chains with two mistakes, and their verdicts.

The target of Wang's report is a Gaussian with correlation 1/2, its proposals are Gaussians of the
two marginals, k times as wide. In standardised coordinates both are known, and so is the density
that a chain has in the long run which drops the ratio of the proposals, or does not repeat the old
state after a rejection, or both: a sum over a grid gives its moments.
"""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

import numpy as np

from rbmlib import datasets

from . import judge, measured
from .verdicts import Verdict

# Name: whether the ratio of the proposals is kept, whether a rejected proposal repeats the state.
SAMPLERS = {
    "correct": (True, True),
    "no ratio": (False, True),
    "no repeat": (True, False),
    "both mistakes": (False, False),
}
TRUTH = 0.5  # correlation of the target
REACH = 6.0  # standard deviations on either side


class Law(NamedTuple):
    """Of the points that a sampler counts, in the long run."""

    correlation: float
    variance: float  # of a coordinate whose variance in the target is 1
    accepted: float  # share of the proposals


@lru_cache(maxsize=128)
def long_run(sampler: str, k: float = 1.0, n: int = 301) -> Law:
    """What a sampler counts in the long run, by quadrature on an ``n`` x ``n`` grid.

    Parameters
    ----------
    sampler : str
        A key of `SAMPLERS`.
    k : float
        Width of the proposals, in standard deviations of the marginals.

    Examples
    --------
    >>> round(long_run("correct").correlation, 4), round(long_run("no ratio").correlation, 4)
    (0.5, 0.2857)
    """
    ratio, repeat = SAMPLERS[sampler]
    grid = np.linspace(-REACH, REACH, n)
    s, t = (g.ravel() for g in np.meshgrid(grid, grid))

    def log_pi(s, t):  # variances 1, correlation 1/2
        return -2 / 3 * (s**2 - s * t + t**2)

    # Proposals at k times the grid, in the order of their weight w: pi / q, or pi alone.
    q = np.exp(-(s**2 + t**2) / 2)
    log_w = log_pi(k * s, k * t) + ratio * (s**2 + t**2) / 2
    order = np.argsort(log_w)
    log_w, q = log_w[order], q[order] / q.sum()
    lower = np.concatenate([[0], np.cumsum(q * np.exp(log_w - log_w[-1]))])
    upper = np.concatenate([np.cumsum(q[::-1])[::-1], [0]])
    here = log_pi(s, t) + ratio * (s**2 + t**2) / (2 * k**2)
    rank = np.searchsorted(log_w, here)
    leaving = lower[rank] * np.exp(log_w[-1] - here) + upper[rank]  # sum of q min(1, w' / w)

    density = np.exp(log_pi(s, t) - (not ratio) * (s**2 + t**2) / (2 * k**2))
    accepted = (density * leaving).sum() / density.sum()
    density *= 1 if repeat else leaving
    density /= density.sum()
    variance = (density * s**2).sum()
    return Law(float((density * s * t).sum() / variance), float(variance), float(accepted))


def published():
    """The report's table: n_runs, correlation (printed as 4.912 for 0.4912), variance."""
    import pandas as pd

    table = pd.read_csv(datasets.committed("published/report_mh_correlation.csv"))
    return table.assign(correlation=table["mean_correlation_as_printed"] / 10)


def mean_verdicts() -> dict[int, Verdict]:
    """The five printed means against the sampler as it is described: both mistakes, k = 1."""
    ours = measured.exactly(round(long_run("both mistakes").correlation, 4))
    return {
        row.n_runs: judge.printed_value(
            f"wang-mh-{row.n_runs}-mean",
            ours,
            printed_variance=row.variance,
            printed_n=row.n_runs,
            unit="",
        )
        for row in published().itertuples()
    }


def variance_verdicts(variance: float) -> dict[int, Verdict]:
    """The five printed variances against that of one run of 50,000 points of this sampler."""
    return {
        row.n_runs: judge.printed_variance(
            f"wang-mh-{row.n_runs}-var", variance, printed_n=row.n_runs, n=np.inf
        )
        for row in published().itertuples()
    }


def sentence_verdicts(with_points: measured.Measured) -> list[Verdict]:
    """What the report says of its sampler, against the sampler as it is described.

    Parameters
    ----------
    with_points : Measured
        Error of its correlation over that with a tenth of the points, on the scale "log".
    """
    found = round(long_run("both mistakes").correlation, 4)
    off = measured.exactly(round(found - TRUTH, 4))
    return [
        judge.equivalence(
            "wang-mh-truth", off, margin=0.01, reason="the printed means are that near to 0.5"
        ),
        judge.bound("wang-mh-range", measured.exactly(found), at_least=0.484, at_most=0.497),
        judge.equivalence(
            "wang-mh-points",
            with_points,
            margin=1.5,
            reason="a right sampler gains 3.2 by ten times the points",
        ),
        judge.printed_value(
            "wang-mh-error",
            measured.exactly(abs(off.value)),
            margin=0.05,
            reason="'around 0.1' allows half as much again",
            unit="",
        ),
        *judge.unchecked(
            ["wang-mh-seconds", "wang-mh-density"], "MATLAB on that machine is not at hand"
        ),
    ]
