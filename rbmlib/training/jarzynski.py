"""Jarzynski's equality along a training: weights of chains whose model changes under them."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..models.rbm import RBM
from ..numerics import expit, logmeanexp, softplus
from ..results import summarise_log_weights


class Reweighted(NamedTuple):
    """log Z by Jarzynski's equality, and the same for the base, whose log Z is known."""

    log_z: float
    std_error: float
    ess: float  # of the weights
    base_error: float  # estimate minus truth of log Z of the base: its expectation is about 0
    base_std_error: float
    n_ancestors: int  # of the chains at the start; of few, the standard errors mean little


class TrajectoryWeights:
    """Log-weights of chains along the path of training: Jarzynski's equality, or AIS.

    The chains of a tracker have at parameters theta and guesses Z^ the invariant density
    ``f_k(v; theta) r_k / Z^_k`` over v and k. When these change, the logarithm of the ratio of the
    new density to the old is added to the weight of each chain, and the chain is moved by
    transitions that leave the new one invariant: annealed importance sampling (Neal 2001), whose
    path happens to be that of training (Carbone et al. 2023 do this at beta = 1 alone). Begun
    with proper weights, they stay proper: no equilibrium is needed, no sweep is added.

    Attributes
    ----------
    log_weights : ndarray (n_chains,)
    ancestor : ndarray (n_chains,)
        The chain of the start from which each descends, once chains have been resampled.
    """

    def __init__(self, n_chains: int):
        self.log_weights, self.ancestor = np.zeros(n_chains), np.arange(n_chains)
        self.n_resampled = 0

    def ess(self) -> float:
        return float(summarise_log_weights(self.log_weights).ess)

    def mean(self, values, log_constant: float) -> tuple[float, float]:
        """log of the constant times the weighted mean of positive ``values``; standard error.

        Chains of one ancestor are counted as one draw.
        """
        logs = self.log_weights + np.log(values)
        total = logmeanexp(logs)
        families = np.bincount(self.ancestor, np.exp(logs - total), self.ancestor.size)
        error = families.std(ddof=1) / np.sqrt(families.size)
        return float(log_constant + total), float(error)

    def resample(self, rng) -> np.ndarray:
        """Systematic resampling: indices of the chains that go on, all with the same weight."""
        level = logmeanexp(self.log_weights)
        ends = np.cumsum(np.exp(self.log_weights - level))
        n = ends.size
        chosen = np.searchsorted(ends, (np.arange(n) + rng.random()) / n * ends[-1])
        self.log_weights[:] = level
        self.ancestor = self.ancestor[chosen]
        self.n_resampled += 1
        return chosen


def log_density_change(old: RBM, new: RBM, visible, beta) -> np.ndarray:
    """log p*_beta(v; new) - log p*_beta(v; old) on geometric paths of one base: (n_chains,).

    ``beta`` (n_chains,). A unit whose field rises by d contributes
    ``softplus(x + d) - softplus(x) = log(1 + (e^d - 1) sigmoid(x))``: with small d all in single
    precision, and one logarithm a chain, that of the product.
    """
    v = np.asarray(visible, np.float32)
    beta = np.asarray(beta, np.float32)[:, None]
    x = v @ old.weights.astype(np.float32) + old.hidden_bias.astype(np.float32)
    d = v @ (new.weights - old.weights).astype(np.float32)
    d += (new.hidden_bias - old.hidden_bias).astype(np.float32)
    own = np.asarray(visible, float) @ (new.visible_bias - old.visible_bias)
    change = beta[:, 0] * (own + new.log_scale - old.log_scale)
    if np.abs(d).max(initial=0.0) > 1:  # a jump: the product would lose all digits, or overflow
        x, d = beta * x.astype(float), beta * d.astype(float)
        return change + (softplus(x + d) - softplus(x)).sum(axis=1)
    factors = np.expm1(beta * d) * expit(beta * x) + 1
    return change + np.log(np.prod(factors, axis=1, dtype=float))
