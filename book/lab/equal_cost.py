"""Stored runs whose pilots are charged: variance, and the gap between the bounds, over seeds."""

from __future__ import annotations

import math

import numpy as np

from .measured import Measured, measured


def mean_variance(runs) -> Measured:
    """The mean variance of log-weights of runs of one schedule.

    The error of one run is that of its bootstrap. Of several, which have new pilots and chains,
    their own spread counts where it is larger than what their bootstraps give.
    """
    errors = (runs["variance_high"] - runs["variance_low"]) / (2 * 1.96)
    error = float(errors.iloc[0])
    if len(runs) > 1:
        error = max(float(runs["variance"].sem()), _of_mean(errors))
    return measured(float(runs["variance"].mean()), error)


def mean_gap(runs) -> Measured:
    """The mean distance between the mean log-weights from above and from below."""
    gap = runs["reverse_mean"] - runs["mean_log_z"]
    errors = np.hypot(runs["reverse_mean_error"], runs["mean_std_error"])
    return measured(float(gap.mean()), _of_mean(errors))


def _of_mean(errors) -> float:
    return math.sqrt((errors**2).mean() / len(errors))
