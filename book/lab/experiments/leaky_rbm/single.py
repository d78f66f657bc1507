"""Chapter leaky_rbm: AIS-Energy of Li et al. (2016) as a program in single precision.

Their programs run on a library for graphics cards that knows float32 only. Here the states are
float32 in all 3,072 dimensions, moved as published, and the log-weight of the same chains is summed
up in float32 in the ways that a program may: where the sum starts, and what is added to it.
"""

from __future__ import annotations

import time
from itertools import pairwise

import numpy as np

from rbmbook.sweeps.words import ESTIMATORS, register
from rbmlib.numerics import LOG_2PI
from rbmlib.results import Estimate
from rbmlib.schedules import linear

f32 = np.float32
SUMS = ("double", "increments", "increments_on", "densities", "densities_on", "one_sum")


class _Chains:
    """States v, their fields, and the sums of log-weights; "on": begun at log Z of N(0, I)."""

    def __init__(self, rbm, n_chains: int, rng):
        self.weights, self.leakiness, self.rng = rbm.weights.astype(f32), f32(rbm.leakiness), rng
        self.v = rng.standard_normal((n_chains, rbm.n_visible), dtype=f32)
        self.start = rbm.n_visible / 2 * LOG_2PI
        self.sums: dict[str, np.ndarray] = {
            name: np.zeros(n_chains, float if name == "double" else f32) for name in SUMS
        }
        for name in ("increments_on", "densities_on"):
            self.sums[name] += f32(self.start)
        self.look()
        self.sums["one_sum"] -= self.log_density(f32(0))

    def look(self) -> None:
        self.eta = self.v @ self.weights
        square = np.where(self.eta > 0, f32(1), self.leakiness) * self.eta * self.eta
        self.gain = square.sum(axis=1) / f32(2)
        self.norm = np.einsum("ni,ni->n", self.v, self.v) / f32(2)

    def log_density(self, beta) -> np.ndarray:
        return beta * self.gain - self.norm

    def step(self, before, beta) -> None:
        """Weigh, then move at beta."""
        increment = (beta - before) * self.gain
        difference = self.log_density(beta) - self.log_density(before)
        for name in ("double", "increments", "increments_on"):
            self.sums[name] += increment
        for name in ("densities", "densities_on"):
            self.sums[name] += difference
        self.sums["one_sum"] += self.log_density(beta)
        t = np.sqrt(beta)
        alpha = np.where(self.eta > 0, f32(1), self.leakiness)
        normals = self.rng.standard_normal(alpha.shape, dtype=f32)
        hidden = alpha * t * self.eta + np.sqrt(alpha) * normals
        self.v = t * (hidden @ self.weights.T)
        self.v += self.rng.standard_normal(self.v.shape, dtype=f32)
        self.look()
        if beta < 1:
            self.sums["one_sum"] -= self.log_density(beta)


@register(ESTIMATORS, "single precision")
def _single_precision(rbm, seed, *, n_temperatures: int, n_chains: int):
    """AIS-Energy by the published move; a column of log Z and one of its error for each sum.

    "double" sums the same increments in float64. "increments" adds (beta' - beta) F, "densities"
    log p*' - log p* with the term of |v|^2 in both, "on" to a sum that starts at log Z of the
    base; "one_sum" adds and takes away the log-densities one by one, as the program for Bernoulli
    units does that most papers on AIS for RBMs started from.
    """
    started = time.thread_time()
    chains = _Chains(rbm, n_chains, np.random.default_rng(seed))
    betas = linear(n_temperatures).astype(f32)
    for before, beta in pairwise(betas):
        chains.step(before, beta)
    more = {}
    for name, total in chains.sums.items():
        log_w = total.astype(float) + (0.0 if name.endswith("_on") else chains.start)
        w = np.exp(log_w - log_w.max())
        more[name] = log_w.max() + np.log(w.mean())
        more[f"{name}_error"] = w.std(ddof=1) / w.mean() / np.sqrt(n_chains)
    return Estimate(
        method="AIS", log_z=more["double"], std_error=more["double_error"],
        interval=(-np.inf, np.inf), n_chains=n_chains, seconds=time.thread_time() - started,
    ), more  # fmt: skip
