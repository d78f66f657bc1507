"""Annealing schedules: WHERE a path is cut.

A schedule is a plain increasing array of beta from 0 to 1, of length K + 1 for K steps.
"""

import numpy as np

from ._validation import count

__all__ = ["linear", "sm08"]


def linear(n_temperatures: int) -> np.ndarray:
    """K = ``n_temperatures`` equal steps: ``beta_k = k / K``.

    Examples
    --------
    >>> linear(4).tolist()
    [0.0, 0.25, 0.5, 0.75, 1.0]
    """
    return np.linspace(0.0, 1.0, count("n_temperatures", n_temperatures) + 1)


def sm08(n_temperatures: int | None = None) -> np.ndarray:
    """The hand-made schedule of Salakhutdinov & Murray (2008), 14,500 steps.

    500 steps to 0.5, 4,000 to 0.9 and 10,000 to 1, each part uniform. With ``n_temperatures``
    the same piecewise linear curve is cut into that many steps.
    """
    knots_k = np.array([0, 500, 4_500, 14_500]) / 14_500
    knots_beta = np.array([0.0, 0.5, 0.9, 1.0])
    n = 14_500 if n_temperatures is None else count("n_temperatures", n_temperatures)
    return np.interp(np.arange(n + 1) / n, knots_k, knots_beta)
