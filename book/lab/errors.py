"""Errors of repeated runs, compared: root mean squares, ratios with intervals, and words."""

from __future__ import annotations

import numpy as np


def rmse(errors) -> float:
    """Root of the mean squared error.

    Examples
    --------
    >>> rmse([3.0, -4.0, 0.0, 0.0])
    2.5
    """
    return float(np.sqrt(np.mean(np.square(errors))))


def rmse_ratio(
    errors, of, *, paired: bool = True, n_draws: int = 4000, seed: int = 0
) -> tuple[float, float, float]:
    """Ratio of two root mean squared errors, with a 95% interval: (ratio, low, high).

    The interval is a bootstrap over the repeats. ``paired`` says that repeat i of both had the
    same seed, so that they are drawn together.

    Examples
    --------
    >>> rmse_ratio([0.2, -0.2, 0.2], [0.1, -0.1, 0.1])
    (2.0, 2.0, 2.0)
    """
    a, b = np.square(np.asarray(errors, float)), np.square(np.asarray(of, float))
    draws = np.random.default_rng(seed)
    i = draws.integers(len(a), size=(n_draws, len(a)))
    j = i if paired else draws.integers(len(b), size=(n_draws, len(b)))
    low, high = np.sqrt(np.quantile(a[i].mean(axis=1) / b[j].mean(axis=1), (0.025, 0.975)))
    return float(np.sqrt(a.mean() / b.mean())), float(low), float(high)


def ratio_of_means(a, b) -> tuple[float, float, float]:
    """Ratio of the means of two sets of positive numbers, with a 95% interval: (ratio, low, high).

    The two relative standard errors add in squares on the scale of logarithms.

    Examples
    --------
    >>> [round(x, 2) for x in ratio_of_means([2.0, 2.2, 1.8], [1.0, 1.1, 0.9])]
    [2.0, 1.7, 2.35]
    """
    ratio = float(np.mean(a) / np.mean(b))
    relative = [np.std(x, ddof=1) / np.sqrt(len(x)) / np.mean(x) for x in (a, b)]
    half = 1.96 * np.hypot(*relative)
    return ratio, float(ratio * np.exp(-half)), float(ratio * np.exp(half))
