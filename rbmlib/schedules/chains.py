"""Schedules that a few chains of their own find."""

from __future__ import annotations

import numpy as np

from .._numerics import logsumexp
from .._progress import progress_bar
from .._streams import ChainStream
from .._validation import count, instance, number
from ..paths.base import AnnealingPath
from .cutting import LEAST, cut
from .fixed import linear


def ess_bisection(
    path: AnnealingPath, n_temperatures: int, n_chains: int = 100, rng=None, *,
    target: float = 0.99, n_threads: int | None = None, progress: bool | None = None,
) -> np.ndarray:  # fmt: skip
    """Choose each next beta from the chains at hand (Zhou, Johansen & Aston 2016).

    The conditional effective sample size of a step, ``(sum W u)^2 / sum W u^2`` for weights W so
    far and increments u, is held at ``target`` by bisection. The curve that results is cut into
    ``n_temperatures`` steps. For small steps that is `varopt` found on the way, without a grid.

    Parameters
    ----------
    path : AnnealingPath
    n_temperatures : int
    n_chains : int
    rng : int, Generator or None
    target : float
        In (0, 1); closer to 1 means more steps of the run that finds the curve.
    """
    instance("path", path, AnnealingPath, "an annealing path, such as rl.GeometricPath(rbm)")
    n, n_chains = count("n_temperatures", n_temperatures), count("n_chains", n_chains, 2)
    number("target", target, "a number between 0 and 1, such as 0.99", above=0, below=1)
    stream = ChainStream(rng, n_chains)
    state, log_weights = path.sample_base(n_chains, stream), np.zeros(n_chains)
    betas, last_step = [0.0], 1.0
    with progress_bar(1000, "ess bisection", progress, unit="‰") as bar:
        while betas[-1] < 1:
            beta, last_step = _next_beta(path, state, log_weights, betas[-1], last_step, target)
            pair = path.log_density(state, np.array([betas[-1], beta]))
            log_weights += pair[:, 1] - pair[:, 0]
            state = path.sweep(state, beta, 1, stream, n_threads)
            bar.update(int(1000 * beta) - int(1000 * betas[-1]))
            betas.append(beta)
    position = np.arange(len(betas), dtype=float)
    share = (betas[-1] - betas[-2]) / last_step  # of the last step, which is cut short
    position[-1] += max(share, LEAST) - 1
    return np.interp(np.arange(n + 1) / n * position[-1], position, betas)


def gms13(
    path: AnnealingPath, n_temperatures: int, n_chains: int = 1000, rng=None, *,
    n_knots: int = 10, n_sweeps: int = 6000, n_burn_in: int = 1000,
    n_threads: int | None = None, progress: bool | None = None,
) -> np.ndarray:  # fmt: skip
    """The schedule of Grosse, Maddison & Salakhutdinov (2013): uniform between knots.

    The steps between knots j and j + 1 are in proportion to
    ``sqrt((eta_{j+1} - eta_j) (s_{j+1} - s_j))``, eta natural parameters and s moments. Where a
    path is linear in eta the product is ``(beta_{j+1} - beta_j) (m_{j+1} - m_j)``, m the mean of
    d/dbeta log p*_beta: all that is needed of the moments.

    Parameters
    ----------
    path : AnnealingPath
    n_temperatures : int
    n_chains, n_sweeps, n_burn_in : int
        Gibbs chains at each knot, sweeps of each, and how many of these come before the means.
        Defaults: those of Kiwaki (2015), section 7.
    n_knots : int
        Evenly spaced, both ends included; a path that has ``beta_knots``, between which it is
        linear in eta (`MomentAveragingPath`), brings its own.
    """
    instance("path", path, AnnealingPath, "an annealing path, such as rl.GeometricPath(rbm)")
    n, knots = count("n_temperatures", n_temperatures), linear(count("n_knots", n_knots, 2) - 1)
    knots = getattr(path, "beta_knots", knots)  # a path with bends is linear between its own
    n_burn_in, n_sweeps = count("n_burn_in", n_burn_in, 0), count("n_sweeps", n_sweeps)
    if n_sweeps <= n_burn_in:
        raise ValueError(f"n_sweeps is {n_sweeps}: expected more than n_burn_in, {n_burn_in}")
    stream = ChainStream(rng, count("n_chains", n_chains))
    state, means = path.sample_base(stream.n_chains, stream), []
    looks = np.linspace(n_burn_in, n_sweeps, min(51, n_sweeps - n_burn_in + 1)).astype(int)
    with progress_bar(knots.size * n_sweeps, "gms13", progress) as bar:
        for beta in knots:
            slopes, done = [], 0
            for look in looks:
                state = path.sweep(state, beta, look - done, stream, n_threads, bar.update)
                done = look
                # on either side of the knot: a path may turn there
                sides = np.clip([beta - 1e-9, beta + 1e-9], 0.0, 1.0)
                slopes.append([path.log_density_slope(state, side).mean() for side in sides])
            means.append(np.mean(slopes, axis=0))
    before, after = np.transpose(means)
    costs = np.diff(knots) * (before[1:] - after[:-1])
    return cut(knots, np.sqrt(np.maximum(costs, 0.0)), n)


def _next_beta(path, state, log_weights, beta, last_step, target) -> tuple[float, float]:
    """The beta to which the conditional ESS falls to ``target``, and the step to where it would.

    The second differs from the first if 1 comes before: an estimate from the square root of the
    loss.
    """
    from scipy.optimize import brentq

    here, log_w = path.log_density(state, beta), log_weights - logsumexp(log_weights)

    def excess(b):
        u = path.log_density(state, b) - here
        return 2 * logsumexp(log_w + u) - logsumexp(log_w + 2 * u) - np.log(target)

    high, surplus = beta, 1.0
    while surplus > 0 and high < 1:
        high = min(1.0, beta + (1.5 if high == beta else 2.0) * last_step)
        surplus, last_step = excess(high), high - beta
    if surplus > 0:
        return 1.0, (1 - beta) * np.sqrt(np.log(target) / min(np.log(target) + surplus, -1e-300))
    while excess((beta + high) / 2) < 0:  # then the root is in the upper half
        high = (beta + high) / 2
    found = brentq(excess, (beta + high) / 2, high, xtol=1e-3 * (high - beta))
    return found, found - beta
