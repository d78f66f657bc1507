"""Schedules from a pilot run of `rbmlib.ais`; `rbmlib.schedules` describes their arguments."""

import numpy as np

from ..checks import count, instance, number, one_of, schedule
from ..numerics import LEAST, cut
from ..results import Estimate

FEWEST = 20  # recorded points of a pilot
NARROW = 0.125  # recorded points: a narrower Gaussian has weight at a single point


def varopt(pilot: Estimate, n_temperatures: int, *, smoothing: float = 5.0) -> np.ndarray:
    """Return the optimal schedule for perfect transitions (Kiwaki 2015, Algorithm 2).

    Its continuous limit beta(t) solves ``beta'' + beta'^2 (log g)' / 2 = 0`` (eq. 9). The first
    integral is ``beta' sqrt(g) = const``, so t is proportional to the integral of sqrt(g). The
    pilot of the paper is ``ais(path, linear(1000), 100, n_recorded=1001, slopes=True)``;
    ``smoothing`` applies to g.

    Examples
    --------
    >>> import rbmlib as rl
    >>> path = rl.GeometricPath(rl.testsystems.random_rbm(12, 6, coupling=4, rng=0))
    >>> pilot = rl.ais(path, rl.schedules.linear(1000), 100, rng=0, slopes=True)
    >>> rl.schedules.varopt(pilot, 500).shape
    (501,)
    """
    grid, g = slope_variance(pilot, smoothing)
    density = np.sqrt(g)
    lengths = np.diff(grid) * (density[1:] + density[:-1]) / 2
    return cut(grid, lengths, count("n_temperatures", n_temperatures))


def slope_variance(pilot: Estimate, smoothing: float = 1.0) -> tuple[np.ndarray, np.ndarray]:
    """Return betas and the smoothed variance g of d/dbeta log p*_beta, (n_recorded,) each.

    The variance is weighted as in Kiwaki's Algorithm 1, and divided by 1 - sum of squared weights,
    which removes its bias. The bias matters in short pilots: at an effective sample size of two,
    the weighted variance is half of g.
    """
    remedy = "expected a run of rl.ais(path, rl.schedules.linear(1000), 100, slopes=True)"
    instance("pilot", pilot, Estimate, remedy.removeprefix("expected "))
    if "slope_variance" not in pilot.trace or pilot.betas is None:
        came = f"pilot is an estimate by {pilot.method!r} without the variance of slopes"
        raise ValueError(f"{came}: {remedy}")
    if pilot.betas.size < FEWEST:
        came = f"pilot has records at {pilot.betas.size} betas"
        raise ValueError(f"{came}: expected {FEWEST} or more, as by rl.ais(..., n_recorded=201)")
    g = pilot.trace["slope_variance"] / _unbiased(pilot)
    if not g.max() > 0:
        expected = "at least two chains, and a path whose ends differ"
        raise ValueError(f"pilot has slopes without variance: expected {expected}")
    return pilot.betas, np.maximum(_smooth(g, smoothing), LEAST**2 * g.max())


def friction(pilot: Estimate, n_temperatures: int, *, smoothing: float = 1.0) -> np.ndarray:
    """Return the optimal schedule for chains with memory: step density proportional to sqrt(zeta).

    The pilot needs slow steps, such as
    ``ais(path, linear(10_000), 128, n_recorded=201, keep_chains=True)``; ``smoothing`` applies to
    log zeta (`friction_coefficient`).
    """
    zeta = friction_coefficient(pilot, smoothing=smoothing)[1]
    lengths = np.sqrt(zeta) * np.diff(pilot.betas)
    return cut(pilot.betas, lengths, count("n_temperatures", n_temperatures))


def friction_coefficient(pilot: Estimate, *, smoothing: float = 1.0):
    """Return zeta(beta) = sum over lags t of Cov(slope at k, slope at k + t), from a pilot run.

    The log-weight of a chain is the sum of its increments over windows (between recorded points),
    and its variance is the sum of their covariances. Window r contributes S_r, the sum of row r of
    the covariance matrix up to the first lag whose correlation, smoothed over neighbours, is below
    two standard errors of noise. Near the ends of the path, where one side has no windows, the
    other side counts twice, because zeta is a property of beta and not of the run. For L steps over
    an interval d of beta, ``S = L (d / L)^2 zeta``, so ``zeta = S L / d^2``.

    Chains are not weighted. To leading order in the rate of annealing, the covariances equal those
    at equilibrium, and unlike weights they have no outliers.

    Returns the betas at the middles of the windows, (n_windows,), and zeta there, in squared nats
    per unit of beta squared, times steps.
    """
    instance("pilot", pilot, Estimate, "a run of rl.ais(..., keep_chains=True)")
    remedy = "expected a run of rl.ais(..., n_chains=128, n_recorded=201, keep_chains=True)"
    if "chain_log_weights" not in pilot.trace:
        raise ValueError(f"pilot ({pilot.method}) kept no chains, which friction needs: {remedy}")
    if pilot.n_chains < 2 or pilot.betas.size < FEWEST:
        came = f"{pilot.n_chains} chains and records at {pilot.betas.size} betas"
        raise ValueError(f"pilot has {came}, too few for friction: {remedy}")
    increments = np.diff(pilot.trace["chain_log_weights"], axis=0)
    lengths, spans = np.diff(pilot.trace["step"]), np.diff(pilot.betas)
    rows = _correlated_sums(increments - increments.mean(axis=1, keepdims=True))
    if not np.all(rows > 0):
        raise ValueError("pilot has windows in which no log-weight differs: its path is flat there")
    zeta = rows * lengths / spans**2
    return pilot.betas[1:] - spans / 2, np.exp(_smooth(np.log(zeta), smoothing))


def predicted_variance(pilot: Estimate, betas, mixing: str = "perfect") -> float:
    """Predict the variance of a log-weight of `rbmlib.ais` along ``betas`` (K + 1,) from a pilot.

    For "perfect" transitions it is ``sum_k (d beta_k)^2 g``, Kiwaki's J / K. For "measured"
    transitions, zeta replaces g, and the pilot needs ``keep_chains=True``.
    """
    betas, perfect = schedule(betas), one_of("mixing", mixing, ("perfect", "measured")) == "perfect"
    grid, coefficient = slope_variance(pilot) if perfect else friction_coefficient(pilot)
    middles, steps = (betas[1:] + betas[:-1]) / 2, np.diff(betas)
    return float(np.sum(steps**2 * np.interp(middles, grid, coefficient)))


def _unbiased(pilot: Estimate) -> np.ndarray:
    """Return E[weighted variance] / variance = 1 - sum of squared weights, from the ESS."""
    n = pilot.n_chains
    squares = ((n - 1) * (n / pilot.trace["ess"] - 1) + n) / n**2
    return np.maximum(1 - squares, 1 / n)


def _correlated_sums(centred: np.ndarray) -> np.ndarray:
    """Return row sums of the covariance matrix of windows (n_windows, n_chains), without noise."""
    n_windows, n_chains = centred.shape
    width, window = 2.0, np.arange(n_windows)  # windows for the average of correlations
    rows = variances = (centred**2).sum(axis=1) / (n_chains - 1)
    noise = 1 / np.sqrt(2 * n_chains * 2 * np.sqrt(np.pi) * width)
    counted = np.ones(n_windows, bool)
    for lag in range(1, n_windows):
        one_side = (centred[:-lag] * centred[lag:]).sum(axis=1) / (n_chains - 1)
        n_sides = (window >= lag).astype(int) + (window < n_windows - lag)
        both = np.pad(one_side, (0, lag)) + np.pad(one_side, (lag, 0))
        both *= 2 / np.maximum(n_sides, 1)  # near the ends, one side replaces both
        counted &= _smooth(both, width) / (2 * _smooth(variances, width)) > 2 * noise
        if not counted.any():
            break
        rows = rows + np.where(counted, np.maximum(_smooth(both, width), 0), 0.0)
    return rows


def _smooth(values: np.ndarray, width: float) -> np.ndarray:
    meaning = "a number of at least 0, in recorded points, up to 1e6"
    width = number("smoothing", width, meaning, least=0, most=1e6)
    if width < NARROW:
        return values
    from scipy.ndimage import gaussian_filter1d  # the import takes a tenth of a second

    return gaussian_filter1d(values, width, mode="nearest")
