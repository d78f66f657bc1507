"""The schedule between whose betas a swap of two chains is rejected equally often.

A swap of independent states between beta and beta + d is rejected with probability
``d * E|X - X'| / 2 + O(d^3)``, X and X' slopes of two draws from p_beta (Syed et al. 2022): the
ladder of parallel tempering, tried on annealing. For normal slopes it is VAROPT, since then
``E|X - X'| = 2 sqrt(g / pi)``.
"""

import numpy as np
from scipy.ndimage import gaussian_filter1d

from rbmlib.numerics import LEAST, cut, logsumexp


def equal_rejection(pilot, n_temperatures: int, *, smoothing: float = 5.0) -> np.ndarray:
    """Of a run of ``ais(..., keep_chains=True)``; ``smoothing`` is in recorded points."""
    slopes, log_weights = pilot.trace["chain_slopes"], pilot.trace["chain_log_weights"]
    weights = np.exp(log_weights - logsumexp(log_weights, axis=1)[:, None])
    order = np.argsort(slopes, axis=1)
    slopes, weights = (np.take_along_axis(x, order, axis=1) for x in (slopes, weights))
    below = np.cumsum(weights, axis=1)  # sum of w_i w_j |x_i - x_j| in one pass over sorted x
    rejection = (weights * slopes * (2 * below - weights - 1)).sum(axis=1)
    rejection = np.maximum(rejection, LEAST * rejection.max())
    rejection = gaussian_filter1d(rejection, smoothing, mode="nearest")
    lengths = np.diff(pilot.betas) * (rejection[1:] + rejection[:-1]) / 2
    return cut(pilot.betas, lengths, n_temperatures)
