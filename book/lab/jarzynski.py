"""Jarzynski's equality along a training: weights of chains whose model changes under them.

Chains with weights are one long annealed importance sampling run, from the base through beta to
the first model and on through all models of the training. That is unbiased only if the path does
not look at these chains: those that give the gradient push the model away from where they are, and
their weights fall with every update. So some chains are kept apart.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from rbmlib import RBM, LogZTracker
from rbmlib.numerics import expit, logmeanexp, softplus
from rbmlib.results import summarise_log_weights


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

    ``ancestor`` is the chain of the start from which each descends, once chains were resampled.
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


class ReweightedTracker(LogZTracker):
    """A tracker that also keeps `TrajectoryWeights` of chains.

    ``n_apart`` of the n_chains are kept apart: they take no part in eq. (24) or in the negative
    phase. If 0, the weights of all chains are kept, and are biased where these chains drive the
    training. Chains that have weights are resampled when their effective sample size falls below
    the share ``resample_below`` of them.

    Examples
    --------
    >>> import rbmlib as rl
    >>> data = rl.testsystems.random_rbm(8, 4, rng=0)
    >>> rows = rl.sample(data, 200, rng=1).states
    >>> tracker = ReweightedTracker(rl.base_rate(rows), n_chains=200, n_apart=100, rng=2)
    >>> result = rl.train(rows, 4, method="tempered", tracker=tracker, n_updates=20, rng=3)
    >>> tracker.reweighted().n_ancestors
    100
    """

    def __init__(
        self, base, betas=None, *, n_apart: int = 0, resample_below: float = 0.5, **options
    ):
        super().__init__(base, betas, **options)
        self.resample_below, self.n_apart = resample_below, n_apart
        self.driving, self.weighted = slice(self.n_apart, None), slice(None, self.n_apart or None)
        self.weights = TrajectoryWeights(self.n_apart or self.n_chains)
        self._influences, self._lag_influences = np.zeros((2, self.n_chains - self.n_apart))
        self.seconds["reweighting"] = 0.0

    def _start(self, path):
        visible, index, log_weights = super()._start(path)
        log_weights += path.log_z_base - self.log_z_path[index]
        self.weights.log_weights[:] = log_weights[self.weighted]
        return visible, index, log_weights

    def _moved_on(self, rbm: RBM):
        """Weigh the chains for the new model and the new log Z_k; resample them if need be."""
        with self._timed("reweighting"):
            sample = self.sample
            visible, index = sample.states[self.weighted], sample.index[self.weighted]
            shift = self.log_z_path - sample.log_z_path
            change = log_density_change(self.rbm, rbm, visible, self.betas[index])
            self.weights.log_weights += change - shift[index]
            if self.weights.ess() >= self.resample_below * index.size:
                return sample
            chosen = np.arange(self.n_chains)
            chosen[self.weighted] = self.weights.resample(self.rng)
            if not self.n_apart:
                self._influences = self._influences[chosen]
                self._lag_influences = self._lag_influences[chosen]
            self.round_trips = self.round_trips[chosen]
            return sample.of_chains(chosen)

    def reweighted(self) -> Reweighted:
        """log Z of the model of the last `update` by Jarzynski's equality.

        ``E[w q(beta_K | x)] = r_K Z_K / Z^_K``, with the Z^_K that the chains ran with: unbiased
        for Z_K if neither Z^ nor the models were made from the chains with these weights. (The
        first Z^ is made from all chains: a bias of the order of 1 / n_chains.) The standard error
        is 1 if all chains descend from one, and tells nothing of few.
        """
        sample = self._sampled()
        shares = sample.mixed[0, self.weighted, 0] / self.n_sweeps
        constants = sample.log_z_path - np.log(self.prior)
        top, known = (self.weights.mean(shares[:, k], constants[k]) for k in (-1, 0))
        error = float(known[0] - sample.log_z_path[0])
        n_ancestors = np.unique(self.weights.ancestor).size
        return Reweighted(*top, self.weights.ess(), error, known[1], n_ancestors)

    def _seen(self) -> dict[str, float]:
        found = self.reweighted()
        return super()._seen() | {
            "reweighted": found.log_z,
            "reweighted_error": found.std_error,
            "reweighted_ess": found.ess,
            "reweighted_base_error": found.base_error,
            "reweighted_ancestors": found.n_ancestors,
        }


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
