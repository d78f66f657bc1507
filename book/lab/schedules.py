"""Schedules of other authors that are not in `rbmlib.schedules`."""

import numpy as np
from scipy.integrate import cumulative_trapezoid

from rbmlib.context import bar
from rbmlib.numerics import ChainStream, cut
from rbmlib.sampling.anneal import sweep
from rbmlib.schedules import linear, slope_variance


def gms13(
    path, n_temperatures: int, n_chains: int = 1000, rng=None, *, n_knots: int = 10,
    n_sweeps: int = 6000, n_burn_in: int = 1000,
) -> np.ndarray:  # fmt: skip
    """The schedule of Grosse, Maddison & Salakhutdinov (2013): uniform between knots.

    The number of steps between knots j and j + 1 is proportional to the root of the change of
    natural parameters times that of moments. If the path is linear in the former, the product is
    ``(beta_{j+1} - beta_j) (m_{j+1} - m_j)``, where m is the mean of d/dbeta log p*_beta.

    ``n_chains`` Gibbs chains at each of ``n_knots`` even knots make ``n_sweeps`` sweeps, of which
    the first ``n_burn_in`` are not averaged; defaults are those of Kiwaki (2015), section 7. A path
    with bends (a `Polyline` through more than two models) has its own knots.
    """
    bends = getattr(path, "knots", ())
    knots = bends if len(bends) > 2 else linear(n_knots - 1)
    stream = ChainStream(rng, n_chains)
    v, means = path.sample_base(n_chains, stream), []
    looks = np.linspace(n_burn_in, n_sweeps, min(51, n_sweeps - n_burn_in + 1)).astype(int)
    with bar(knots.size * n_sweeps, "gms13"):
        for beta in knots:
            slopes, done = [], 0
            for look in looks:
                v = sweep(path, v, beta, look - done, stream)
                done = look
                # on both sides of the knot, because a path may bend there
                sides = np.clip([beta - 1e-9, beta + 1e-9], 0.0, 1.0)
                slopes.append(path.log_density_slope(v, sides).mean(axis=0))
            means.append(np.mean(slopes, axis=0))
    before, after = np.transpose(means)
    costs = np.diff(knots) * (before[1:] - after[:-1])
    return cut(knots, np.sqrt(np.maximum(costs, 0.0)), n_temperatures)


def varopt_by_iteration(pilot, n_temperatures: int, *, smoothing: float = 5.0) -> np.ndarray:
    """The schedule of `rbmlib.schedules.varopt` by Kiwaki's fixed-point iteration.

    Eq. (9) is ``beta'' = -beta'^2 (log g)'(beta) / 2``. With the last curve inserted on the right,
    ``beta'' + a(t) beta' = 0`` is linear and has the solution ``beta' = c exp(-int a dt)``. Each
    iteration takes half a step towards this solution.
    """
    grid, g = slope_variance(pilot, smoothing)
    rate = np.gradient(np.log(g), grid)
    t = np.linspace(0.0, 1.0, 4 * grid.size)
    curve = t
    for _ in range(2000):
        a = np.interp(curve, grid, rate) * np.gradient(curve, t) / 2
        speed = np.exp(-cumulative_trapezoid(a, t, initial=0.0))
        solution = cumulative_trapezoid(speed, t, initial=0.0)
        change = solution / solution[-1] - curve
        curve = curve + change / 2
        if np.abs(change).max() < 1e-9:
            break
    return np.interp(np.arange(n_temperatures + 1) / n_temperatures, t, curve)
