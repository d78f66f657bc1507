"""The variance g(beta) of slopes of an enumerable RBM, from exact draws; J of any schedule.

The hidden states of each p_beta are enumerated, and draws from it are independent: no pilot and
no chain is between the theory and the number. What is left is the error of a sample variance.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.interpolate import PchipInterpolator

from rbmlib.models.enumeration import can_enumerate, log_densities
from rbmlib.numerics import cut, expit
from rbmlib.paths import GeometricPath
from rbmlib.schedules.fixed import decelerate, linear, sm08

BATCH = 5000  # draws at a time: 30 MB of visible units


class SlopeVariance(NamedTuple):
    """Of d/dbeta log p*_beta(v), v from p_beta."""

    log_z: float
    mean: float  # which is d log Z / d beta
    variance: float  # g
    std_error: float  # of g


def slope_variance(path: GeometricPath, beta: float, n_draws: int, rng) -> SlopeVariance:
    """g(beta) of a path between RBMs with few hidden units, from ``n_draws`` exact draws."""
    rng = np.random.default_rng(rng)
    rbm = path.at(beta)
    if rbm.n_hidden > rbm.n_visible or not can_enumerate(rbm):
        raise ValueError(
            f"the target has {rbm.n_visible} visible and {rbm.n_hidden} hidden units: expected "
            "at most 22 hidden ones, and not more than visible ones"
        )
    log_p = log_densities(rbm)
    top = log_p.max()
    cumulative = np.cumsum(np.exp(log_p - top))
    states = np.searchsorted(cumulative, rng.random(n_draws) * cumulative[-1], side="right")
    states = np.minimum(states, log_p.size - 1)
    slopes = []
    for batch in np.array_split(states, -(-n_draws // BATCH)):
        hidden = ((batch[:, None] >> np.arange(rbm.n_hidden)) & 1).astype(float)
        on = expit(rbm.visible_field(hidden))
        visible = (rng.random(on.shape) < on).astype(np.float32)
        slopes.append(path.log_density_slope(visible, beta))
    x = np.concatenate(slopes)
    g = x.var(ddof=1)
    fourth = ((x - x.mean()) ** 4).mean()
    error = np.sqrt(max(fourth - g**2, 0.0) / n_draws)
    log_z = top + np.log(cumulative[-1]) + rbm.log_scale
    return SlopeVariance(float(log_z), float(x.mean()), float(g), float(error))


def curve(betas, g, n_points: int = 2001) -> tuple[np.ndarray, np.ndarray]:
    """A fine grid, and g on it: log g interpolated monotonically between the betas."""
    grid = np.linspace(0.0, 1.0, n_points)
    return grid, np.exp(PchipInterpolator(betas, np.log(g))(grid))


def functional(betas, grid, g) -> float:
    """Kiwaki's J of a schedule: K times the variance of log-weights if transitions are perfect."""
    steps, middles = np.diff(betas), (betas[1:] + betas[:-1]) / 2
    return float(steps.size * np.sum(steps**2 * np.interp(middles, grid, g)))


def least(grid, g) -> float:
    """The smallest J of any schedule: the square of the thermodynamic length."""
    return float(np.trapezoid(np.sqrt(g), grid) ** 2)


def varopt(n_temperatures: int, grid, g) -> np.ndarray:
    """The schedule that has it: of equal lengths."""
    root = np.sqrt(g)
    return cut(grid, np.diff(grid) * (root[1:] + root[:-1]) / 2, n_temperatures)


def gms13(n_temperatures: int, betas, means, n_knots: int = 10) -> np.ndarray:
    """`rbmbook.schedules.gms13` where the means of slopes are known along the path."""
    knots = np.linspace(0.0, 1.0, n_knots)
    at_knots = PchipInterpolator(betas, means)(knots)
    return cut(knots, np.sqrt(np.maximum(np.diff(knots) * np.diff(at_knots), 0)), n_temperatures)


def between(one, other) -> float:
    """The area between the curves of two schedules of as many steps: 0 to 1."""
    return float(np.trapezoid(np.abs(np.subtract(one, other)), dx=1 / (len(one) - 1)))


class OnPath(NamedTuple):
    """What a table of `slope_variance` at several betas says of one path."""

    grid: np.ndarray
    g: np.ndarray
    least: float  # J of VAROPT, over which those of others are shown
    betas: dict[str, np.ndarray]  # of schedules, by name

    def ratio(self, name: str) -> float:
        """J of a schedule over the least possible."""
        return functional(self.betas[name], self.grid, self.g) / self.least


def on_path(betas, g, means, n_temperatures: int = 2000) -> OnPath:
    """Schedules of a path whose g and mean slopes are known at some betas, in rising order.

    The cap of "VAROPT0.003" is read on the grid of a pilot of 1,000 steps.
    """
    grid, fine = curve(betas, g)
    equal_lengths = varopt(n_temperatures, grid, fine)
    found = {
        "linear": linear(n_temperatures),
        "SM08": sm08(n_temperatures),
        "GMS13": gms13(n_temperatures, betas, means),
        "VAROPT": equal_lengths,
        "VAROPT0.003": decelerate(equal_lengths, 0.003, 1000),
    }
    return OnPath(grid, fine, least(grid, fine), found)


def with_error(effect, betas, g, errors, means, n_repeats: int = 50) -> tuple[float, float]:
    """``effect(on_path)`` and its standard error, from draws of g within its errors."""
    rng = np.random.default_rng(0)
    relative = np.asarray(errors) / g
    drawn = [
        effect(on_path(betas, g * np.exp(relative * rng.normal(size=len(g))), means))
        for _ in range(n_repeats)
    ]
    return effect(on_path(betas, g, means)), float(np.std(drawn, ddof=1))
