"""Annealing schedules: WHERE a path is cut.

A schedule is a plain increasing array of beta from 0 to 1, of length K + 1 for K steps. `linear`
and `sm08` need nothing; `varopt`, `friction` and `equal_rejection` are read off a pilot run of
`rbmlib.ais`; `ess_bisection` and `gms13` run a few chains of their own. All but the first two
put the steps where a length along the path grows: K steps of equal length.

With perfect transitions the variance of a log-weight is ``sum_k (d beta_k)^2 g(beta_k)``, g the
variance of d/dbeta log p*_beta (Kiwaki 2015, eq. 7). Chains that remember tau steps make it
``sum_k (d beta_k)^2 zeta(beta_k)``, zeta = g tau the friction coefficient (Sivak & Crooks 2012).
A density of steps ``dk/dbeta`` turns both into an integral of ``g / (dk/dbeta)``, which is least
when the density is in proportion to the square root of g, or of zeta.
"""

from __future__ import annotations

import warnings

import numpy as np
from scipy.integrate import cumulative_trapezoid
from scipy.ndimage import gaussian_filter1d
from scipy.optimize import brentq

from ._numerics import logsumexp
from ._streams import ChainStream, progress_bar
from ._validation import annealing_betas, count, instance, number
from .paths import AnnealingPath
from .results import ConvergenceWarning, Estimate

__all__ = [
    "decelerate",
    "equal_rejection",
    "ess_bisection",
    "friction",
    "friction_coefficient",
    "gms13",
    "linear",
    "predicted_variance",
    "slope_variance",
    "sm08",
    "varopt",
]

FEWEST = 20  # recorded points of a pilot
LEAST = 1e-6  # of the largest density: no part of a path goes without steps


def linear(n_temperatures: int) -> np.ndarray:
    """K = ``n_temperatures`` equal steps, ``beta_k = k / K``: an array of K + 1 betas.

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


def decelerate(betas, max_step: float, n_steps: int | None = None) -> np.ndarray:
    """Cap the steps of a schedule at ``max_step`` (Kiwaki 2015, Algorithm 3).

    The fixed point of the algorithm: ``min(s * step, max_step)`` with the one s for which the
    steps sum to 1. (As printed it cannot stop rightly: its flag is inverted.)

    Parameters
    ----------
    betas : array (K + 1,)
    max_step : float
        Largest step allowed.
    n_steps : int, optional
        The number of steps that ``max_step`` was meant for, if not K: the cap on this schedule is
        then ``max_step * n_steps / K``. A cap of 0.003 on the 1,000 steps of a pilot is 3 mean
        steps, and stays that on a schedule of any length.

    Raises
    ------
    ValueError
        If K steps of that size do not reach from 0 to 1.

    Examples
    --------
    >>> decelerate([0.0, 0.1, 0.4, 1.0], 0.5).round(3).tolist()
    [0.0, 0.125, 0.5, 1.0]
    """
    betas = annealing_betas(betas)
    steps = np.diff(betas)
    cap = number("max_step", max_step, "a step of beta above 0, such as 0.003", above=0)
    least = 1 / (steps.size if n_steps is None else count("n_steps", n_steps))
    if cap < least * (1 - 1e-12):
        raise ValueError(
            f"max_step is {max_step}: so small steps end at {cap / least:.3g}; "
            f"expected at least {least:.3g}"
        )
    cap *= 1 / (least * steps.size)
    if steps.max() <= cap:
        return betas
    rising = np.sort(steps)
    below = np.concatenate([[0.0], np.cumsum(rising)])
    capped = np.arange(steps.size, -1, -1)  # if the i smallest are below the cap
    with np.errstate(divide="ignore", invalid="ignore"):
        scales = np.where(below > 0, (1 - capped * cap) / below, 0.0)
    largest = np.concatenate([[0.0], rising])
    fits = scales * largest <= cap * (1 + 1e-12)  # the i smallest really are below
    scale = scales[np.flatnonzero(fits & (scales > 0)).max(initial=0)]
    return _from_steps(np.minimum(scale * steps, cap) if scale > 0 else np.full(steps.size, cap))


# from a pilot run ---------------------------------------------------------------------------


def varopt(
    pilot: Estimate, n_temperatures: int, *, smoothing: float = 5.0, solver: str = "quadrature"
) -> np.ndarray:
    """The schedule that is best if transitions are perfect (Kiwaki 2015, Algorithm 2).

    Its continuous limit beta(t) solves ``beta'' + beta'^2 (log g)' / 2 = 0`` (eq. 9), whose first
    integral is ``beta' sqrt(g) = const``: t is in proportion to the integral of sqrt(g).

    Parameters
    ----------
    pilot : Estimate
        A run of `rbmlib.ais`; the paper's: ``ais(path, linear(1000), 100, n_recorded=1001)``.
    n_temperatures : int
        Steps K of the schedule.
    smoothing : float
        Standard deviation, in recorded points, of the window that smooths g; 0: none.
    solver : {"quadrature", "fixed_point"}
        The integral; or the paper's fixed-point iteration of eq. (9), which takes the derivative
        of log g numerically, for comparison.

    Examples
    --------
    >>> import rbmlib as rl
    >>> path = rl.GeometricPath(rl.testsystems.random_rbm(12, 6, coupling=4, rng=0))
    >>> pilot = rl.ais(path, linear(1000), n_chains=100, rng=0)
    >>> varopt(pilot, 500).shape
    (501,)
    """
    grid, g = slope_variance(pilot, smoothing)
    n = count("n_temperatures", n_temperatures)
    if solver == "quadrature":
        return _cut(grid, _lengths(grid, np.sqrt(g)), n)
    if solver != "fixed_point":
        raise ValueError(f"solver is {solver!r}: expected 'quadrature' or 'fixed_point'")
    return np.interp(np.arange(n + 1) / n, *_fixed_point(grid, g))


def slope_variance(pilot: Estimate, smoothing: float = 1.0) -> tuple[np.ndarray, np.ndarray]:
    """g(beta), the variance of d/dbeta log p*_beta, from a pilot run, smoothed.

    Weighted as Kiwaki's Algorithm 1 does, and divided by what weighting takes from a variance,
    1 - sum of squared weights: a pilot is short, and at an effective sample size of two the
    weighted variance is half of g.

    Returns
    -------
    betas, g : ndarray (n_recorded,)
    """
    instance("pilot", pilot, Estimate, "a run of rl.ais(path, rl.schedules.linear(1000), 100)")
    if "slope_variance" not in pilot.trace or pilot.betas is None:
        raise ValueError(
            f"pilot is an estimate by {pilot.method!r} without the variance of slopes: expected "
            "a run of rl.ais(path, rl.schedules.linear(1000), n_chains=100)"
        )
    if pilot.betas.size < FEWEST:
        raise ValueError(
            f"pilot was looked at {pilot.betas.size} times: expected {FEWEST} or more, for "
            "example rl.ais(..., n_recorded=201)"
        )
    g = pilot.trace["slope_variance"] / _unbiased(pilot)
    if not (np.all(np.isfinite(g)) and g.max() > 0):
        raise ValueError(
            "pilot has slopes without variance: expected at least two chains, and a path whose "
            "ends differ"
        )
    return pilot.betas, np.maximum(_smooth(g, smoothing), LEAST**2 * g.max())


def friction(pilot: Estimate, n_temperatures: int, *, smoothing: float = 1.0) -> np.ndarray:
    """The schedule that is best for chains that remember: steps in proportion to sqrt(zeta).

    Parameters
    ----------
    pilot : Estimate
        A run of ``ais(..., keep_chains=True)`` with slow enough steps, such as
        ``ais(path, linear(10_000), 128, n_recorded=201, keep_chains=True)``.
    n_temperatures, smoothing
        As in `varopt`; smoothing is of log zeta, over windows between recorded points.

    See Also
    --------
    friction_coefficient : zeta, and how it is estimated.
    """
    zeta = friction_coefficient(pilot, smoothing=smoothing)[1]
    lengths = np.sqrt(zeta) * np.diff(pilot.betas)
    return _cut(pilot.betas, lengths, count("n_temperatures", n_temperatures))


def friction_coefficient(pilot: Estimate, *, smoothing: float = 1.0):
    """zeta(beta) = sum over lags t of Cov(slope at k, slope at k + t), from a pilot run.

    The log-weight of a chain is a sum of increments over windows (between recorded points), and
    its variance the sum of all their covariances. What falls to window r is the sum of row r of
    the covariance matrix, S_r: the variance of its increment, and its covariances with the windows
    before and after as far as they stand out from noise (correlations, smoothed over neighbours,
    above two standard errors; the first lag that does not ends the sum). Near the ends of the path,
    where there are windows on one side only, that side counts twice: zeta is a property of beta,
    not of the run that stops there. With L steps over a stretch d of beta, ``S = L (d / L)^2
    zeta``, so ``zeta = S L / d^2``.

    Chains are not weighted: to leading order in the rate of annealing the covariances are those
    of equilibrium, and unlike weights they have no outliers.

    Returns
    -------
    middles : ndarray (n_windows,)
        Betas of the middles of the windows.
    zeta : ndarray (n_windows,)
        Squared nats per unit of beta squared, times steps.
    """
    increments = np.diff(_of_chains(pilot, "chain_log_weights", "friction"), axis=0)
    lengths, spans = np.diff(pilot.trace["step"]), np.diff(pilot.betas)
    rows = _correlated_sums(increments - increments.mean(axis=1, keepdims=True))
    if not np.all(rows > 0):
        raise ValueError("pilot has windows in which no log-weight differs: its path is flat there")
    zeta = rows * lengths / spans**2
    return pilot.betas[1:] - spans / 2, np.exp(_smooth(np.log(zeta), smoothing))


def equal_rejection(pilot: Estimate, n_temperatures: int, *, smoothing: float = 5.0) -> np.ndarray:
    """Steps between which a swap of two chains is rejected equally often.

    A swap of independent states between beta and beta + d is rejected with probability
    ``d * E|X - X'| / 2 + O(d^3)``, X and X' slopes of two draws from p_beta (Syed et al. 2022):
    the ladder of parallel tempering and of tempered transitions, tried on annealing. For normal
    slopes it is `varopt`, since then ``E|X - X'| = 2 sqrt(g / pi)``.

    Parameters
    ----------
    pilot : Estimate
        A run of ``ais(..., keep_chains=True)``.
    n_temperatures, smoothing
        As in `varopt`; smoothing is of the rejection rate.
    """
    slopes = _of_chains(pilot, "chain_slopes", "equal_rejection")
    log_weights = pilot.trace["chain_log_weights"]
    weights = np.exp(log_weights - logsumexp(log_weights, axis=1)[:, None])
    order = np.argsort(slopes, axis=1)
    slopes, weights = (np.take_along_axis(x, order, axis=1) for x in (slopes, weights))
    below = np.cumsum(weights, axis=1)  # sum of w_i w_j |x_i - x_j| in one pass over sorted x
    rejection = (weights * slopes * (2 * below - weights - 1)).sum(axis=1)
    rejection = _smooth(np.maximum(rejection, LEAST * rejection.max()), smoothing)
    n = count("n_temperatures", n_temperatures)
    return _cut(pilot.betas, _lengths(pilot.betas, rejection), n)


def predicted_variance(pilot: Estimate, betas, mixing: str = "perfect") -> float:
    """Variance of a log-weight of `rbmlib.ais` along ``betas``, foretold from a pilot run.

    Parameters
    ----------
    pilot : Estimate
    betas : array (K + 1,)
    mixing : {"perfect", "measured"}
        ``sum_k (d beta_k)^2 g``, Kiwaki's J / K: what perfect transitions would give; or
        with zeta instead of g, for which the pilot needs ``keep_chains=True``.
    """
    betas = annealing_betas(betas)
    if mixing == "perfect":
        grid, coefficient = slope_variance(pilot, 1.0)
    elif mixing == "measured":
        grid, coefficient = friction_coefficient(pilot)
    else:
        raise ValueError(f"mixing is {mixing!r}: expected 'perfect' or 'measured'")
    middles, steps = (betas[1:] + betas[:-1]) / 2, np.diff(betas)
    return float(np.sum(steps**2 * np.interp(middles, grid, coefficient)))


# with chains of their own -------------------------------------------------------------------


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
    if not 0 < number("target", target, "a number between 0 and 1", above=0) < 1:
        raise ValueError(f"target is {target!r}: expected a number between 0 and 1, such as 0.99")
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
    return _cut(knots, np.sqrt(np.maximum(costs, 0.0)), n)


def _next_beta(path, state, log_weights, beta, last_step, target) -> tuple[float, float]:
    """The beta to which the conditional ESS falls to ``target``, and the step to where it would.

    The second differs from the first if 1 comes before: an estimate from the square root of the
    loss.
    """
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


# helpers ------------------------------------------------------------------------------------


def _unbiased(pilot: Estimate) -> np.ndarray:
    """E[weighted variance] / variance = 1 - sum of squared weights, which the ESS gives."""
    n = pilot.n_chains
    squares = ((n - 1) * (n / pilot.trace["ess"] - 1) + n) / n**2
    return np.maximum(1 - squares, 1 / n)


def _of_chains(pilot: Estimate, name: str, schedule: str) -> np.ndarray:
    instance("pilot", pilot, Estimate, "a run of rl.ais(..., keep_chains=True)")
    remedy = "expected a run of rl.ais(..., n_chains=128, n_recorded=201, keep_chains=True)"
    if name not in pilot.trace:
        raise ValueError(f"pilot ({pilot.method}) has kept no chains, for {schedule}: {remedy}")
    if pilot.n_chains < 2 or pilot.betas.size < FEWEST:
        raise ValueError(
            f"pilot has {pilot.n_chains} chains, looked at {pilot.betas.size} times, too few for "
            f"{schedule}: {remedy}"
        )
    return pilot.trace[name]


def _correlated_sums(centred: np.ndarray) -> np.ndarray:
    """Row sums of the covariance matrix of windows (n_windows, n_chains), noise left out."""
    n_windows, n_chains = centred.shape
    width = 2.0  # windows, over which correlations are averaged before they are judged
    rows = variances = (centred**2).sum(axis=1) / (n_chains - 1)
    noise = 1 / np.sqrt(2 * n_chains * 2 * np.sqrt(np.pi) * width)
    counted = np.ones(n_windows, bool)
    for lag in range(1, n_windows):
        one_side = (centred[:-lag] * centred[lag:]).sum(axis=1) / (n_chains - 1)
        window = np.arange(n_windows)
        n_sides = (window >= lag).astype(int) + (window < n_windows - lag)
        both = np.pad(one_side, (0, lag)) + np.pad(one_side, (lag, 0))
        both *= 2 / np.maximum(n_sides, 1)  # near the ends one side stands for both
        counted &= _smooth(both, width) / (2 * _smooth(variances, width)) > 2 * noise
        if not counted.any():
            break
        rows = rows + np.where(counted, np.maximum(_smooth(both, width), 0), 0.0)
    return rows


def _smooth(values: np.ndarray, width: float) -> np.ndarray:
    width = number("smoothing", width, "a number of at least 0", least=0)
    return gaussian_filter1d(values, width, mode="nearest") if width else values


def _lengths(grid: np.ndarray, density: np.ndarray) -> np.ndarray:
    """Integrals of a density given at grid points, over the intervals between them."""
    return np.diff(grid) * (density[1:] + density[:-1]) / 2


def _cut(grid: np.ndarray, lengths: np.ndarray, n: int) -> np.ndarray:
    """n steps of equal length, given the lengths of the intervals of a grid from 0 to 1."""
    least = (LEAST * lengths.max() or 1.0) * np.diff(grid)
    position = np.concatenate([[0.0], np.cumsum(np.maximum(lengths, least))])
    betas = np.interp(np.arange(n + 1) / n * position[-1], position, grid)
    betas[-1] = 1.0
    return betas


def _from_steps(steps: np.ndarray) -> np.ndarray:
    betas = np.concatenate([[0.0], np.cumsum(steps)])
    return betas / betas[-1]


def _fixed_point(grid, g, tolerance=1e-9, n_iterations=2000) -> tuple[np.ndarray, np.ndarray]:
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
    warnings.warn(
        f"varopt: the fixed-point iteration still moves by {np.abs(change).max():.1g} after "
        f"{n_iterations} rounds; smooth g more, or use solver='quadrature'",
        ConvergenceWarning,
        stacklevel=3,
    )
    return t, curve
