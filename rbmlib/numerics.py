"""Logarithms of sums, and one stream of random numbers a chain."""

import numpy as np
from scipy.special import expit, logsumexp, ndtri  # noqa: F401

from . import checks
from ._kernels import random as kernel

LOG_2PI = float(np.log(2 * np.pi))


def softplus(x):
    return np.maximum(x, 0) + np.log1p(np.exp(-np.abs(x)))


def logmeanexp(x, axis=None):
    return logsumexp(x, axis=axis) - np.log(np.size(x) if axis is None else np.shape(x)[axis])


class ChainStream:
    """Random numbers that depend on (seed, chain, draw, unit) only: not on threads or chunks."""

    def __init__(self, rng, n_chains, first_chain=0, *, seed=None):
        own = checks.generator(rng).integers(2**64, dtype=np.uint64) if seed is None else seed
        self.seed, self.n_chains, self.first_chain, self.draw = int(own), n_chains, first_chain, 0

    def random(self, shape):
        """Uniforms in (0, 1), (n_chains, n_units)."""
        out = np.empty(shape)
        kernel.fill_uniforms(np.uint64(self.seed), self.first_chain, self.draw, out)
        self.draw += 1
        return out

    def standard_normal(self, shape):
        return ndtri(self.random(shape))
