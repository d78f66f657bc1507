"""Spreads of groups of chains, and errors of a mean with its spread, as numbers to be judged."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from .measured import Measured, measured

if TYPE_CHECKING:
    import pandas as pd


def pooled_spread(runs: pd.DataFrame) -> tuple[float, int]:
    """Standard deviation of the groups about the mean of their run, and its degrees of freedom.

    ``runs`` has a row a run: its ``spread`` over ``n_groups`` groups, as many in each run.
    """
    freedom = int((runs["n_groups"] - 1).sum())
    return float(np.sqrt((runs["spread"] ** 2).mean())), freedom


def pooled_runs(runs: pd.DataFrame) -> tuple[int, float, float]:
    """Number, mean and variance of the independent runs behind rows that have their means.

    Parameters
    ----------
    runs : pandas.DataFrame
        Columns "n_runs", "log_z" and "variance": of each row the mean and variance of its runs.
    """
    n, means = runs["n_runs"].to_numpy(), runs["log_z"].to_numpy()
    mean = float(np.average(means, weights=n))
    squares = (n - 1) @ runs["variance"].to_numpy() + n @ (means - mean) ** 2
    return int(n.sum()), mean, float(squares / (n.sum() - 1))


def ratio_of_spreads(top: tuple[float, int], bottom: tuple[float, int], power=1) -> Measured:
    """One spread over another, or with ``power=2`` their variances, on the scale "log".

    Each is a value with its degrees of freedom, as `pooled_spread` gives it.
    """
    (a, n), (b, m) = top, bottom
    error = power * math.sqrt(1 / (2 * n) + 1 / (2 * m))
    return measured((a / b) ** power, error, min(n, m), scale="log")


def rms_with_error(error: float, sd: float, n: int) -> tuple[float, float]:
    """Root mean squared error of ``n`` chains, and its relative standard error.

    ``error`` is that of their mean, ``sd`` their standard deviation.
    """
    square = error**2 + sd**2
    variance = 4 * error**2 * sd**2 / n + 2 * sd**4 / (n - 1)  # of the square
    return math.sqrt(square), math.sqrt(variance) / square / 2


def ratio_of_rms(top: tuple[float, float], bottom: tuple[float, float], n: int) -> Measured:
    """One root mean squared error over another, each as `rms_with_error` gives it."""
    (a, relative_a), (b, relative_b) = top, bottom
    return measured(a / b, math.hypot(relative_a, relative_b), n - 1, scale="log")
