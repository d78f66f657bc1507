"""Anneal modes that chains from the first base miss, each from its own base.

A component is a product distribution q_c(v) with weight C_c: the first base, and one around each
mode. The shares alpha_c = C_c q_c / sum C q add up to 1 in every state, so

    Z = sum_c Z_c,    Z_c = sum_v p*(v) alpha_c(v).

The weight of an annealed chain times alpha_c of its last state has expectation Z_c, whichever path
the chain followed. A few chains from the first base show in which modes they find less than the
mean-field mass. A path to such a mode starts from a model without weights whose biases are the mean
fields of the mode. The mode solves the mean-field equations at every beta of this path, so chains
that start in the mode stay there.
"""

import math
from typing import NamedTuple

import numpy as np

from ..numerics import expit, logit, logmeanexp, logsumexp, softplus
from ..paths.bases import rounded
from ..paths.named import GeometricPath
from ..paths.path import Path
from ..sampling.anneal import annealed
from ..search.local_masses import CERTAIN, SURE, WIDTH, local_path

PILOT_CHAINS, PILOT_STEPS, FIRST_CHAINS = 80, 150, 400  # of a mode, and of the first base
PILOTS, PILOT_WORK, OVERHEAD = (6, 60), 2e10, 2e4  # limits; chains x steps x (weights + overhead)
LOST = 0.001  # share of Z from which a mode gets its own path
EVEN = 1.0  # largest relative variance of the weights of such a path
FITTED = 0.4  # share of a pilot's chains that fit its component; the others test the fit
N_CHAINS, CHAINS = 1000, (40, 500)  # of all paths, and limits for one path
SHORTER, FEWEST_STEPS = 4, 100  # divisor of the steps of such a path, and their least number


class Missed(NamedTuple):
    """Components, and ``paths`` (possibly none) to those that the first base misses."""

    biases: np.ndarray  # (n_components, n_visible), the first base first
    log_c: np.ndarray  # (n_components,)
    scale: float = 0.0  # `pilot` is relative to exp(scale)
    pilot: np.ndarray = np.zeros((2, 1))  # mass by the mode's own chains, and its error
    tail: float = 0.0  # share of Z that modes without a pilot may hold
    paths: tuple[Path, ...] = ()
    n_chains: tuple[int, ...] = ()
    own: np.ndarray = np.empty(0, int)  # (n_paths,) component of each path
    n_sweeps: int = 0  # of all chains of the pilots

    def log_shares(self, states):
        """Return log alpha (n, n_components) of states (n, n_visible)."""
        logs = states.astype(float) @ self.biases.T - softplus(self.biases).sum(axis=1)
        logs += self.log_c
        return logs - logsumexp(logs, axis=1)[:, None]

    def log_rest(self, states):
        """Return the log-share (n,) of the components without a path."""
        if not self.paths:
            return np.zeros(len(states))
        return logsumexp(np.delete(self.log_shares(states), self.own, axis=1), axis=1)

    def found(self, states, log_weights):
        """Return the mass of each component by weighted chains, and standard errors."""
        values = np.exp(log_weights[:, None] + self.log_shares(states) - self.scale)
        return values.mean(axis=0), values.std(axis=0, ddof=1) / math.sqrt(len(values))

    def runs(self, n_steps: int, rng) -> list:
        """Return log-weights, with mean weight Z_c, and states of the chains of each path."""
        made = []
        for path, n, c in zip(self.paths, self.n_chains, self.own, strict=True):
            states, log_weights = annealed(path, n, self.steps_of(n_steps), rng)
            made.append((log_weights + self.log_shares(states)[:, c], states))
        return made

    def steps_of(self, n_steps: int) -> int:
        return max(FEWEST_STEPS, n_steps // SHORTER)

    def work(self, n_steps: int) -> int:
        """Return the number of sweeps of all chains of the paths."""
        return sum(self.n_chains) * self.steps_of(n_steps)

    def unseen(self, states, log_weights) -> float:
        """Return the share of Z in modes without a path beyond what these chains find."""
        found, error = self.found(states, log_weights)
        gap = self.pilot[0] - found
        lost = np.where(gap > SURE * np.hypot(error, self.pilot[1]), gap, 0.0)
        lost[self.own] = 0.0
        return float(lost.sum() / np.maximum(found, self.pilot[0]).sum())


def missed(rbm, first: GeometricPath, modes, rng) -> Missed:
    """Return the modes that chains from the first base miss, and paths to them."""
    run = annealed(first, FIRST_CHAINS, PILOT_STEPS, rng)
    means = np.concatenate([expit(first.models[0].visible.bias)[None], modes.visible])
    scale = float(max(logmeanexp(run[1]), modes.log_z[0]))
    log_c = np.concatenate([[-np.inf], modes.log_z])  # at first without the first base
    made = Missed(_biases(means), log_c, scale, n_sweeps=FIRST_CHAINS * PILOT_STEPS)
    expected, found = np.exp(log_c - scale), made.found(*run)
    doubtful = np.flatnonzero(_lost(found, (expected, 0 * expected)))
    if not doubtful.size:
        return made
    most = PILOT_WORK / (PILOT_CHAINS * PILOT_STEPS * (rbm.weights.size + OVERHEAD))
    tried, others = np.split(doubtful, [int(np.clip(most, *PILOTS))])
    paths = {c: local_path(rbm, modes.visible[c - 1], WIDTH) for c in tried}
    runs = {0: run} | {c: annealed(paths[c], PILOT_CHAINS, PILOT_STEPS, rng) for c in tried}
    made = _fitted(made._replace(log_c=np.r_[logmeanexp(run[1]), modes.log_z]), means, runs)
    size = int(FITTED * FIRST_CHAINS)
    found, pilot = made.found(run[0][size:], run[1][size:]), np.zeros((2, len(means)))
    for c in tried:
        size = int(FITTED * PILOT_CHAINS)
        pilot[:, c] = np.array(made.found(*(x[size:] for x in runs[c])))[:, c]
    lost = _lost(found, pilot)
    even = pilot[1] ** 2 * (PILOT_CHAINS - size) <= EVEN * pilot[0] ** 2
    own = tried[(lost & even)[tried]]
    share = np.maximum(pilot[0] - found[0], 0)[tried].sum() / expected[tried].sum()
    tail = float(share * expected[others].sum() / np.maximum(found[0], pilot[0]).sum())
    sizes = N_CHAINS * pilot[1][own] / max(pilot[1][own].sum(), 1e-300)  # Neyman's allocation
    return made._replace(
        pilot=pilot, tail=tail, own=own, paths=tuple(paths[c] for c in own),
        n_chains=tuple(np.clip(sizes, *CHAINS).astype(int)),
        n_sweeps=made.n_sweeps + len(tried) * PILOT_CHAINS * PILOT_STEPS,
    )  # fmt: skip


def _biases(means):
    return rounded(logit(means.clip(CERTAIN, 1 - CERTAIN)))


def _lost(found, local):
    """Return which components hold more than was found, or were found by few chains only."""
    (value, error), (own, own_error) = found, local
    total = np.maximum(value, np.where(own_error < own / 4, own, 0.0)).sum()
    lost = own - value > np.maximum(SURE * np.hypot(error, own_error), LOST * total)
    few = (error > value / SURE) & (own > LOST * total) & (own_error < error / SURE)
    return lost | few


def _fitted(made: Missed, means, runs) -> Missed:
    """Fit the components to the weighted chains of their own runs.

    A base is broader than the states that its chains find, and its component would claim the rare
    states of a mode. The previous means count as one more chain.
    """
    log_c, means = made.log_c.copy(), means.copy()
    for c, (states, log_weights) in runs.items():
        n = int(FITTED * len(states))
        x, values = states[:n], log_weights[:n] + made.log_shares(states[:n])[:, c]
        weights = np.exp(values - values.max())
        weights /= weights.sum()
        size = 1 / (weights @ weights)
        means[c] = (size * (weights @ x) + means[c]) / (size + 1)
        log_c[c] = logmeanexp(values)
    return made._replace(biases=_biases(means), log_c=log_c)
