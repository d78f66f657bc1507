"""Schedules from a pilot run of `ais`."""

import numpy as np
from scipy.ndimage import gaussian_filter1d

from .fixed import LEAST, cut


def varopt(pilot, n_temperatures, smoothing=5.0):
    """Constant speed in sqrt(g), g the variance of slopes (Kiwaki 2015): first integral of eq. (9).

    ``pilot`` is a run of `ais`; its weighted variances are divided by 1 - sum of squared weights.
    """
    n, ess = pilot.n_chains, of_pilot(pilot, "slope_variance", "ess")
    squares = ((n - 1) * (n / ess - 1) + n) / n**2
    g = smooth(pilot.trace["slope_variance"] / np.maximum(1 - squares, 1 / n), smoothing)
    speed = np.sqrt(np.maximum(g, LEAST**2 * g.max()))
    return cut(pilot.betas, np.diff(pilot.betas) * (speed[1:] + speed[:-1]) / 2, n_temperatures)


def friction(pilot, n_temperatures, smoothing=1.0):
    """For chains that remember: steps in proportion to sqrt(zeta), the friction coefficient.

    zeta = S L / d^2 of a window of L steps over d of beta, S the sum of the covariances of its
    increment of the log-weight with all others (a pilot with ``keep_chains=True``).
    """
    increments = np.diff(of_pilot(pilot, "step", "chain_log_weights"), axis=0)
    lengths, spans = np.diff(pilot.trace["step"]), np.diff(pilot.betas)
    rows = correlated_sums(increments - increments.mean(axis=1, keepdims=True))
    zeta = np.exp(smooth(np.log(rows * lengths / spans**2), smoothing))
    return cut(pilot.betas, np.sqrt(zeta) * spans, n_temperatures)


def of_pilot(pilot, *names):
    for name in names:
        if name not in pilot.trace or pilot.betas.size < 10:
            raise ValueError(
                f"pilot ({pilot.method}) holds no {name} at 10 betas or more: expected "
                "ais(path, linear(1000), 100, n_recorded=201, keep_chains=True)"
            )
    return pilot.trace[names[-1]]


def correlated_sums(centred, width=2.0):
    """Row sums of the covariance matrix of windows (n_windows, n_chains), noise left out."""
    n, n_chains = centred.shape
    rows = variances = (centred**2).sum(axis=1) / (n_chains - 1)
    noise = 1 / np.sqrt(2 * n_chains * 2 * np.sqrt(np.pi) * width)
    counted, window = np.ones(n, bool), np.arange(n)
    for lag in range(1, n):
        one = (centred[:-lag] * centred[lag:]).sum(axis=1) / (n_chains - 1)
        sides = (window >= lag).astype(int) + (window < n - lag)  # near the ends one stands for two
        both = (np.pad(one, (0, lag)) + np.pad(one, (lag, 0))) * 2 / np.maximum(sides, 1)
        counted &= smooth(both, width) / (2 * smooth(variances, width)) > 2 * noise
        if not counted.any():
            break
        rows = rows + np.where(counted, np.maximum(smooth(both, width), 0), 0.0)
    return rows


def smooth(values, width):
    return gaussian_filter1d(values, width, mode="nearest") if width >= 0.1 else values
