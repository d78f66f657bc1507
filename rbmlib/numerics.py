"""Numerically stable functions, and one stream of random numbers for each chain."""

import numpy as np
from scipy.linalg.lapack import dpotrf
from scipy.special import erfcx, log_ndtr, ndtri
from scipy.special import expit as expit
from scipy.special import logsumexp as logsumexp

from . import checks
from ._kernels import random as kernel

LOG_2PI = float(np.log(2 * np.pi))
MOST_NUMBERS, GROUP = 2**21, 64  # size of a temporary array; its rows are a multiple of GROUP
LEAST = 1e-6  # least density of steps, relative to the largest


def softplus(x):
    """log(1 + exp(x)), without overflow."""
    return np.maximum(x, 0) + np.log1p(np.exp(-np.abs(x)))


def log_half_gaussian(z):
    """log of the integral of exp(z t - t^2 / 2) over t > 0."""
    out = log_ndtr(z) + z**2 / 2
    far = z < -5.0  # where the two terms cancel
    out[far] = np.log(erfcx(z[far] * -(0.5**0.5)) / 2)
    return out + LOG_2PI / 2


def is_positive_definite(matrix) -> bool:
    """Return whether a symmetric matrix is positive definite, by Cholesky's factorisation."""
    return dpotrf(matrix, lower=1)[1] == 0


def logit(p):
    """log(p / (1 - p))."""
    return np.log(p) - np.log1p(-p)


def smoothed(means, smoothing: float) -> np.ndarray:
    """Return the biases of bits with these means, smoothed away from 0 and 1."""
    return logit((means + smoothing) / (1 + 2 * smoothing))


def logmeanexp(x, axis=None):
    """log of the mean of exp(x)."""
    return logsumexp(x, axis=axis) - np.log(np.size(x) if axis is None else np.shape(x)[axis])


def cut(grid: np.ndarray, lengths: np.ndarray, n: int) -> np.ndarray:
    """Return betas of n steps of equal length, given the lengths of the intervals of a grid."""
    least = (LEAST * lengths.max() or 1.0) * np.diff(grid)
    position = np.concatenate([[0.0], np.cumsum(np.maximum(lengths, least))])
    betas = np.interp(np.arange(n + 1) / n * position[-1], position, grid)
    betas[-1] = 1.0
    return betas


def rows_at_once(n: int, width: int) -> int:
    """Return how many of n states to process at a time, to keep arrays of this width small.

    Parts have nearly equal sizes, all multiples of `GROUP`, so that BLAS gives each row the same
    digits as in one product of all rows.
    """
    n_parts = -(-n * width // MOST_NUMBERS)
    return n if n_parts <= 1 else -(-n // (n_parts * GROUP)) * GROUP


def by_rows(function, states, width: int) -> np.ndarray:
    """Return ``function(states)``, (n_states, ...), computed in parts to save memory."""
    size = rows_at_once(len(states), width)
    if size == len(states):
        return function(states)
    return np.concatenate([function(states[i : i + size]) for i in range(0, len(states), size)])


class ChainStream:
    """Random numbers for ``n_chains`` chains, each of which has its own stream.

    A number depends only on (seed, chain, draw, unit), so results do not depend on the number of
    threads, chunks or workers. Like a `numpy.random.Generator`, a stream has ``random`` and
    ``standard_normal``. Compiled loops read ``seed``, ``first_chain`` and ``draw``, and advance
    ``draw``. Chains are numbered from ``first_chain``; ``seed`` is drawn from ``rng`` by default.
    """

    def __init__(self, rng, n_chains: int, first_chain: int = 0, *, seed: int | None = None):
        own = checks.generator(rng).integers(2**64, dtype=np.uint64) if seed is None else seed
        self.seed, self.n_chains, self.first_chain, self.draw = int(own), n_chains, first_chain, 0

    def random(self, shape) -> np.ndarray:
        """Return uniform numbers in (0, 1), (n_chains, n_units)."""
        out = np.empty(shape)
        kernel.fill_uniforms(np.uint64(self.seed), self.first_chain, self.draw, out)
        self.draw += 1
        return out

    def parts(self, size: int):
        """Yield streams of ``size`` chains each, which together make its next draws."""
        for first in range(0, self.n_chains, size):
            n = min(size, self.n_chains - first)
            part = ChainStream(None, n, self.first_chain + first, seed=self.seed)
            part.draw = self.draw
            yield part
        self.draw = part.draw

    def standard_normal(self, shape) -> np.ndarray:
        """Return standard normals (n_chains, n_units), each by inversion of one uniform."""
        return ndtri(self.random(shape))
