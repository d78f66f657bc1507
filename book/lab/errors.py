"""Errors of repeated runs."""

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
