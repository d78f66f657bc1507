"""Bases that together cover a model: Z in parts, each annealed from a base of its own.

Components are independent units of probabilities q_c(v) with weights C_c: the base of the whole
model, and one about every mode found. Their shares alpha_c = C_c q_c / sum C q add up to 1 in every
state, so that

    Z = sum_c Z_c,    Z_c = sum_v p*(v) alpha_c(v),

and the weight of an annealed chain times alpha_c of its last state has the expectation Z_c, along
whichever path the chain came. With C_c = Z_c, and p about the sum of the C q, a part is about
Z_c q_c: what a path from q_c ends at with even weights.

A path to mode c starts from a model without weights whose biases are the mean fields of the mode.
The mode then solves the mean-field equations at every beta of the path, so that chains which start
in it stay, where a path from elsewhere may bring it in late, too late for chains to cross.

A pilot compares what the base of the whole model finds of each part with what the part's own base
finds. Parts that the first loses, or finds by few chains, are then annealed from their own bases.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from .._numerics import expit, logit, logsumexp, softplus
from .._streams import ChainStream
from ..models.bernoulli import BernoulliRBM
from ..models.modes import Modes
from ..paths.base import AnnealingPath
from ..paths.geometric import GeometricPath
from ..schedules import linear

N_LOCAL, FEWEST_LOCAL = 1000, 40  # chains of all parts with bases of their own, and of each
SHORTER = 4  # a part's own path starts where it ends: it takes a quarter of the steps
PILOT_CHAINS, PILOT_STEPS, PILOT_FORWARD = 80, 150, 400
PILOT_WORK, OVERHEAD = 2e10, 2e4  # chains x steps x (weights + overhead) of all pilots
MOST_PILOTS, FEWEST_PILOTS = 60, 6
MOST_PARTS = 40
LOST = 0.001  # share of Z that makes a mode worth a part
MISSING = 0.03  # share of Z that modes may hold beyond what was found there
SURE = 3.0  # standard errors
EVEN = 1.0  # relative variance of its weights, at most, that makes a base the mode's own
FEW = 3.0  # of which a value is few chains'
WIDTHS = (0.02, 0.1)  # smoothing of the two bases of a part
N_FITS, FITTED = 2, 0.4  # of components to chains; the share of these, which have no other say
CERTAIN = 1e-5  # least probability of a state of a unit in a component
WITHIN = 15.0  # nats below the heaviest mode, at most


class Part(NamedTuple):
    """Paths from two bases to what components ``of`` hold; one part may be the whole."""

    paths: tuple[AnnealingPath, AnnealingPath]
    n_chains: int
    of: np.ndarray  # (n_components,) bool

    @property
    def is_first(self) -> bool:
        """Whether it is that of the base of the whole model."""
        return bool(self.of[0])


class Held(NamedTuple):
    """What each component holds of Z, relative to exp(log_scale): values and standard errors."""

    value: np.ndarray  # (n_components,)
    error: np.ndarray
    log_scale: float
    n_chains: np.ndarray | int


class Cover:
    """Components, the parts of Z that they make, and what a pilot found in each.

    Attributes
    ----------
    parts : list of Part
        The first is the base of the whole model; it has what no other has.
    """

    def __init__(self, biases: np.ndarray, log_c: np.ndarray):
        self.biases, self.log_c = biases, log_c
        self._log_norm = softplus(biases).sum(axis=1)
        self.parts: list[Part] = []
        self.pilot: Held | None = None
        self.tail = 0.0  # share of Z in modes without a pilot that the first base may lose

    @classmethod
    def whole(cls, first: AnnealingPath, second: AnnealingPath, n_chains: int) -> Cover:
        """One part: the base of the model alone, whose components nobody asks for."""
        made = cls(np.zeros((1, 1)), np.zeros(1))
        made.parts = [Part((first, second), n_chains, np.ones(1, bool))]
        return made

    def log_shares(self, states: np.ndarray) -> np.ndarray:
        """log alpha of states (n, n_visible): (n, n_components)."""
        logs = states.astype(float) @ self.biases.T - self._log_norm + self.log_c
        return logs - logsumexp(logs, axis=1)[:, None]

    def resized(self, n_chains: int) -> list[Part]:
        """The parts, when the first has ``n_chains``: the others in proportion."""
        scale = n_chains / self.parts[0].n_chains
        sizes = [max(FEWEST_LOCAL, round(part.n_chains * scale)) for part in self.parts]
        sizes[0] = n_chains
        return [p._replace(n_chains=n) for p, n in zip(self.parts, sizes, strict=True)]

    def log_share(self, part: Part, states: np.ndarray) -> np.ndarray:
        """log of what a part has of states: (n,)."""
        if part.of.all():
            return np.zeros(len(states))
        return logsumexp(self.log_shares(states)[:, part.of], axis=1)

    def held(self, states: np.ndarray, log_weights: np.ndarray, log_scale: float) -> Held:
        """Of Z in each component, by weighted chains whose mean weight is Z."""
        values = np.exp(log_weights[:, None] + self.log_shares(states) - log_scale)
        return Held(*_mean(values), log_scale, len(values))

    def unseen(self, states, log_weights) -> float:
        """What modes of the first part hold, by the pilot, beyond what chains found there.

        Relative to what these hold of Z; of modes for which the pilot is sure of it.
        """
        if self.pilot is None or not self.parts[0].of[1:].any():
            return self.tail
        found = self.held(states, log_weights, self.pilot.log_scale)
        gap, error = self.pilot.value - found.value, np.hypot(self.pilot.error, found.error)
        counts = self.parts[0].of & (gap > SURE * error)
        counts[0] = False
        total = np.where(self.parts[0].of, found.value, self.pilot.value).sum()
        return float(gap[counts].sum() / total) + self.tail


def cover(
    rbm: BernoulliRBM, first: GeometricPath, second: GeometricPath, modes: Modes, n_chains: int,
    source: np.random.Generator, n_threads: int | None = None,
) -> Cover:  # fmt: skip
    """The parts of a model, by pilots of every mode."""
    whole = Part((first, second), n_chains, np.ones(1, bool))
    n, chains, steps = pilot_size(rbm, modes)
    before = np.concatenate([expit(first.base_visible_bias)[None], modes.visible[:n]])
    before = before.clip(CERTAIN, 1 - CERTAIN)
    biases = logit(before).astype(np.float32).astype(float)
    run = _runner(steps, n_threads, source)
    states, weights = run(first, max(chains, PILOT_FORWARD if chains == PILOT_CHAINS else 0))
    found = [run(_path(rbm, mode, WIDTHS[0]), chains) for mode in modes.visible[:n]]
    scale = float(max(logsumexp(weights), modes.log_z[0]))
    log_c = np.concatenate([[logsumexp(weights) - math.log(weights.size)], modes.log_z[:n]])
    every = [(states, weights), *found]
    fits = [(x[: int(FITTED * len(x))], w[: int(FITTED * len(x))]) for x, w in every]
    tests = [(x[len(y) :], w[len(y) :]) for (x, w), (y, _) in zip(every, fits, strict=True)]
    for n_fits in range(N_FITS + 1):
        made = Cover(biases, log_c)
        if n_fits < N_FITS:
            biases, log_c = _fitted(made, fits, before), _weights(made, fits, scale)
    forward, value, error = _held(made, tests, scale)
    made.pilot = Held(value, error, scale, np.array([len(w) for _, w in tests]))
    own = _worth_a_part(forward, made.pilot)
    rest = np.ones(len(biases), bool)
    rest[own] = False
    made.tail = _tail(modes.log_z - scale, n, forward, made.pilot)
    made.parts = [whole._replace(of=rest)]
    sizes = N_LOCAL * error[own] / max(error[own].sum(), 1e-300)  # Neyman's allocation
    for m, size in zip(own, sizes, strict=True):
        narrow, wide = (_path(rbm, modes.visible[m - 1], width) for width in WIDTHS)
        n_own = int(np.clip(size, FEWEST_LOCAL, n_chains))
        made.parts.append(Part((narrow, wide), n_own, np.arange(len(biases)) == m))
    return made


def _held(made: Cover, runs: list, scale: float) -> tuple[Held, np.ndarray, np.ndarray]:
    """Of the first run; and of each component by its own: values and errors."""
    forward, *local = (made.held(states, weights, scale) for states, weights in runs)
    value, error = forward.value.copy(), forward.error.copy()
    for m, held in enumerate(local, 1):
        value[m], error[m] = held.value[m], held.error[m]
    return forward, value, error


def _weights(made: Cover, runs: list, scale: float) -> np.ndarray:
    """log C of components: what their own runs find, or the first."""
    forward, value, _ = _held(made, runs, scale)
    return np.log(np.maximum(np.maximum(value, forward.value), 1e-300)) + scale


def _fitted(made: Cover, runs: list, before: np.ndarray) -> np.ndarray:
    """Biases of components (n, n_visible) like the chains, by weight, that their own runs hold.

    A base is broader than what chains find from it, and would take the rare states of a mode for
    its own, which it does not find. The means ``before`` count as one chain.
    """
    biases = np.empty_like(made.biases)
    for c, (states, log_weights) in enumerate(runs):
        values = log_weights + made.log_shares(states)[:, c]
        weights = np.exp(values - values.max())
        weights /= weights.sum()
        size = 1 / (weights @ weights)
        biases[c] = (size * (weights @ states) + before[c]) / (size + 1)
    return logit(biases).astype(np.float32).astype(float)


def pilot_size(rbm: BernoulliRBM, modes: Modes) -> tuple[int, int, int]:
    """Of modes, chains and steps: as many as the size of the model allows."""
    near = int((modes.log_z > modes.log_z[0] - WITHIN).sum())
    work = PILOT_WORK / (rbm.weights.size + OVERHEAD)
    n = int(np.clip(work / (PILOT_CHAINS * PILOT_STEPS), FEWEST_PILOTS, MOST_PILOTS))
    shrink = math.sqrt(min(1.0, work / (n * PILOT_CHAINS * PILOT_STEPS)))
    return min(n, near), max(30, round(PILOT_CHAINS * shrink)), max(60, round(PILOT_STEPS * shrink))


def _worth_a_part(forward: Held, local: Held) -> np.ndarray:
    """Components that the first base loses, or that few of its chains find; the heaviest first."""
    known = local.error < local.value / 4  # a few chains of a short pilot may hold anything
    total = np.where(known, np.maximum(forward.value, local.value), forward.value).sum()
    gap, error = local.value - forward.value, np.hypot(local.error, forward.error)
    lost = (gap > LOST * total) & (gap > SURE * error)
    few = forward.error > forward.value / FEW
    rare = few & (local.value > LOST * total) & (local.error < forward.error / 3)
    even = local.error**2 * local.n_chains <= EVEN * local.value**2
    own = np.flatnonzero((lost | rare) & even)
    own = own[own > 0]
    return own[np.argsort(-local.value[own], kind="stable")][:MOST_PARTS]


def _tail(log_held: np.ndarray, n: int, forward: Held, local: Held) -> float:
    """What modes without a pilot may hold beyond what the first base finds there, relative to Z.

    By their local estimates, of which as much is missing as of those of the last with a pilot.
    """
    first = max(1, n - n // 3)
    gap, error = local.value - forward.value, np.hypot(local.error, forward.error)
    lost = np.where(gap > SURE * error, gap, 0.0)[first:].sum()
    held = np.exp(log_held)
    return float(lost / max(held[first - 1 : n].sum(), 1e-300) * held[n:].sum() / local.value.sum())


def _runner(n_steps: int, n_threads, source):
    def run(path: GeometricPath, n_chains: int):
        stream = ChainStream(source, n_chains)
        state, gains = path.anneal(
            path.sample_base(n_chains, stream), linear(n_steps), stream, n_threads=n_threads
        )
        return state.coordinates, gains + path.log_z_base

    return run


def _biases(rbm: BernoulliRBM, mode: np.ndarray, width: float = WIDTHS[0]):
    """Visible and hidden biases of the mean fields of a mode, none of them quite certain."""
    hidden = expit(rbm.hidden_field(mode[None]))[0]
    # in single precision: the last digits of a double depend on the BLAS
    return tuple(
        logit((means + width) / (1 + 2 * width)).astype(np.float32).astype(float)
        for means in (mode, hidden)
    )


def _path(rbm: BernoulliRBM, mode: np.ndarray, width: float) -> GeometricPath:
    visible, hidden = _biases(rbm, mode, width)
    return GeometricPath(rbm, BernoulliRBM(np.zeros(rbm.weights.shape), visible, hidden))


def _mean(values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """And standard errors, over the first axis."""
    return values.mean(axis=0), values.std(axis=0, ddof=1) / math.sqrt(len(values))
