"""Kiwaki's own way to the schedule of `rbmlib.schedules.varopt`: a fixed-point iteration.

The library takes the first integral of eq. (9), a quadrature; here the equation itself is solved,
with the derivative of log g taken numerically, for comparison.
"""

from __future__ import annotations

import numpy as np
from scipy.integrate import cumulative_trapezoid

from rbmlib import Estimate
from rbmlib.checks import count
from rbmlib.results import warn
from rbmlib.schedules import slope_variance


def varopt_by_iteration(
    pilot: Estimate, n_temperatures: int, *, smoothing: float = 5.0
) -> np.ndarray:
    """The schedule of `rbmlib.schedules.varopt`, by the paper's fixed-point iteration.

    Parameters
    ----------
    pilot, n_temperatures, smoothing
        As there.
    """
    n, solution = count("n_temperatures", n_temperatures), slope_variance(pilot, smoothing)
    return np.interp(np.arange(n + 1) / n, *fixed_point(*solution))


def fixed_point(grid, g, tolerance=1e-9, n_iterations=2000) -> tuple[np.ndarray, np.ndarray]:
    """(t, beta(t)) with ``beta'' = -beta'^2 (log g)'(beta) / 2``, by fixed-point iteration.

    With the last curve put in on the right, ``beta'' + a(t) beta' = 0`` is linear and solved by
    ``beta' = c exp(-int a dt)``; half a step is taken towards its solution.
    """
    rate = np.gradient(np.log(g), grid)
    t = np.linspace(0.0, 1.0, 4 * grid.size)
    curve = t
    for _ in range(n_iterations):
        a = np.interp(curve, grid, rate) * np.gradient(curve, t) / 2
        speed = np.exp(-cumulative_trapezoid(a, t, initial=0.0))
        solution = cumulative_trapezoid(speed, t, initial=0.0)
        change = solution / solution[-1] - curve
        curve = curve + change / 2
        if np.abs(change).max() < tolerance:
            return t, curve
    warn(
        f"varopt: the fixed-point iteration still moves by {np.abs(change).max():.1g} after "
        f"{n_iterations} rounds; smooth g more, or use rl.schedules.varopt"
    )
    return t, curve


def algorithm_3(betas, max_step: float, printed: bool, tolerance=1e-6, most=1000):
    """Kiwaki's Algorithm 3 in its own order: clip steps, sum them, set the flag, stretch.

    ``betas``, (K + 1,), rise from 0 to 1. ``printed``: a sum within the tolerance of 1 makes the
    flag false, as printed, not a sum beyond it, as is meant. Gives new betas, and the rounds after
    which it stopped: ``most`` if it never would.
    """
    steps, rounds, no_change = np.diff(betas), 0, False
    while not no_change and rounds < most:
        rounds += 1
        steps[:-1] = np.minimum(steps[:-1], max_step)  # the last step is left out, as printed
        total = steps.sum()
        no_change = (abs(total - 1) < tolerance) != printed
        steps[:-1] /= total
    return np.concatenate([[0.0], np.cumsum(steps)]), rounds
