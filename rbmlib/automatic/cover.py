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

import math
from typing import NamedTuple

import numpy as np

from ..numerics import ChainStream, expit, logit, logmeanexp, logsumexp, smoothed, softplus
from ..paths import GeometricPath, Path
from ..paths.bases import rounded
from ..sampling.anneal import anneal
from ..schedules import linear
from ..search.local_masses import local_path

TEMPERATURE = 10.0  # nats: in a base of all modes they weigh exp(log Z / temperature)
SMOOTHING = 0.05  # of that base
FIRST_CHAINS, FIRST_STEPS = 64, 200  # of the pilots that choose the first base
BETTER = 2.0  # nats of the mean log-weight that another base than the mean-field fit must gain
N_LOCAL, FEWEST_LOCAL = 1000, 40  # chains of all parts with bases of their own, and of each
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


def first_base(rbm, candidates, modes, source) -> np.ndarray:
    """Visible biases: the best of the ``candidates``, or rates of the modes if these are better.

    Of modes, the heavier have more weight. The mean of the log-weights of a short pilot decides, a
    lower bound on log Z in expectation whatever the base, so that the higher is the better one. It
    needs no chain of great weight.
    """
    weights = np.exp((modes.log_z - modes.log_z[0]) / TEMPERATURE)
    of_modes = rounded(smoothed(weights @ modes.visible / weights.sum(), SMOOTHING))
    paths = [GeometricPath(rbm, bias) for bias in (*candidates, of_modes)]
    logs = [_pilot(path, FIRST_CHAINS, FIRST_STEPS, source)[1] for path in paths]
    means, errors = zip(*map(_mean, logs), strict=True)
    best = int(np.argmax(means[:-1]))
    surely = SURE * math.hypot(errors[-1], errors[best])
    return of_modes if means[-1] - means[best] > max(BETTER, surely) else candidates[best]


class Part(NamedTuple):
    """Paths from two bases to what components ``of`` hold; one part may be the whole."""

    paths: tuple[Path, Path]
    n_chains: int
    of: np.ndarray  # (n_components,) bool

    @property
    def is_first(self) -> bool:
        """Whether it is that of the base of the whole model."""
        return bool(self.of[0])


class Held(NamedTuple):
    """What each component holds of Z, relative to exp(`Cover.scale`): values, standard errors."""

    value: np.ndarray  # (n_components,)
    error: np.ndarray
    n_chains: np.ndarray | int


class Cover:
    """Components, the parts of Z that they make, and what a pilot found in each.

    Attributes
    ----------
    parts : list of Part
        The first is the base of the whole model; it has what no other has.
    """

    def __init__(self, biases: np.ndarray, log_c: np.ndarray, scale: float = 0.0):
        self.biases, self.log_c, self.scale = biases, log_c, scale
        self._log_norm = softplus(biases).sum(axis=1)
        self.parts: list[Part] = []
        self.pilot: Held | None = None
        self.tail = 0.0  # share of Z in modes without a pilot that the first base may lose

    @classmethod
    def whole(cls, first: Path, second: Path, n_chains: int) -> "Cover":
        """One part: the base of the model alone, whose components nobody asks for."""
        made = cls(np.zeros((1, 1)), np.zeros(1))
        made.parts = [Part((first, second), n_chains, np.ones(1, bool))]
        return made

    def log_shares(self, states):
        """log alpha of states (n, n_visible): (n, n_components)."""
        logs = states.astype(float) @ self.biases.T - self._log_norm + self.log_c
        return logs - logsumexp(logs, axis=1)[:, None]

    def log_share(self, part, states):
        """log of what a part has of states: (n,)."""
        if part.of.all():
            return np.zeros(len(states))
        return logsumexp(self.log_shares(states)[:, part.of], axis=1)

    def resized(self, n_chains):
        """The parts, when the first has ``n_chains``: the others in proportion."""
        first, *others = self.parts
        scale = n_chains / first.n_chains
        sizes = [max(FEWEST_LOCAL, round(part.n_chains * scale)) for part in others]
        pairs = zip(self.parts, [n_chains, *sizes], strict=True)
        return [part._replace(n_chains=n) for part, n in pairs]

    def held(self, states, log_weights) -> Held:
        """Of Z in each component, by weighted chains whose mean weight is Z."""
        values = np.exp(log_weights[:, None] + self.log_shares(states) - self.scale)
        return Held(*_mean(values), len(values))

    def unseen(self, states, log_weights) -> float:
        """What modes of the first part hold, by the pilot, beyond what chains found there.

        Relative to what these hold of Z; of modes for which the pilot is sure of it.
        """
        first = self.parts[0].of.copy()
        if self.pilot is None or not first[1:].any():
            return self.tail
        found = self.held(states, log_weights)
        total = np.where(first, found.value, self.pilot.value).sum()
        first[0], lost = False, _lost(found, self.pilot)
        return float(lost[first & (lost > 0)].sum() / total) + self.tail


def cover(rbm, first, second, modes, n_chains, source) -> Cover:
    """The parts of a model, by pilots of every mode."""
    n, chains, steps, forward_chains = pilot_size(rbm, modes)
    means = np.concatenate([expit(first.models[0].visible.bias)[None], modes.visible[:n]])
    means = means.clip(CERTAIN, 1 - CERTAIN)
    runs = [_pilot(first, forward_chains, steps, source)]
    narrow = [local_path(rbm, mode, WIDTHS[0]) for mode in modes.visible[:n]]
    runs += [_pilot(path, chains, steps, source) for path in narrow]
    weights = runs[0][1]
    scale = float(max(logsumexp(weights), modes.log_z[0]))
    made = Cover(
        rounded(logit(means)), np.concatenate([[logmeanexp(weights)], modes.log_z[:n]]), scale
    )
    sizes = [int(FITTED * len(log_weights)) for _, log_weights in runs]
    fits = [(x[:k], w[:k]) for (x, w), k in zip(runs, sizes, strict=True)]
    for _ in range(N_FITS):
        made = Cover(_fitted(made, fits, means), _fitted_log_c(made, fits), scale)
    tests = [(x[k:], w[k:]) for (x, w), k in zip(runs, sizes, strict=True)]
    forward, made.pilot = _held(made, tests)
    own = _worth_a_part(forward, made.pilot)
    made.tail = _tail(modes.log_z - scale, n, forward, made.pilot)
    rest = np.ones(len(means), bool)
    rest[own] = False
    made.parts = [Part((first, second), n_chains, rest)]
    error = made.pilot.error[own]
    sizes = N_LOCAL * error / max(error.sum(), 1e-300)  # Neyman's allocation
    for m, size in zip(own, sizes, strict=True):
        wide = local_path(rbm, modes.visible[m - 1], WIDTHS[1])
        n_own = int(np.clip(size, FEWEST_LOCAL, n_chains))
        made.parts.append(Part((narrow[m - 1], wide), n_own, np.arange(len(means)) == m))
    return made


def pilot_size(rbm, modes) -> tuple[int, int, int, int]:
    """Of modes, chains and steps, and chains of the first base: as many as the size allows."""
    near = int((modes.log_z > modes.log_z[0] - WITHIN).sum())
    work = PILOT_WORK / (rbm.weights.size + OVERHEAD)
    n = int(np.clip(work / (PILOT_CHAINS * PILOT_STEPS), FEWEST_PILOTS, MOST_PILOTS))
    shrink = math.sqrt(min(1.0, work / (n * PILOT_CHAINS * PILOT_STEPS)))
    chains, steps = max(30, round(PILOT_CHAINS * shrink)), max(60, round(PILOT_STEPS * shrink))
    return min(n, near), chains, steps, PILOT_FORWARD if chains == PILOT_CHAINS else chains


def _pilot(path, n_chains, n_steps, source):
    """States of chains that were annealed, and their log-weights."""
    stream = ChainStream(source, n_chains)
    start = path.sample_base(n_chains, stream)
    states, gains = anneal(path, start, linear(n_steps), stream)
    return states, gains + path.log_z_base


def _held(made, runs):
    """By the first run; and of each component by its own."""
    each = [made.held(*run) for run in runs]
    own = [(held.value[c], held.error[c], held.n_chains) for c, held in enumerate(each)]
    return each[0], Held(*np.array(own).T)


def _fitted_log_c(made, runs):
    """log C of components: what their own runs find, or the first."""
    forward, local = _held(made, runs)
    return np.log(np.maximum(np.maximum(local.value, forward.value), 1e-300)) + made.scale


def _fitted(made, runs, before):
    """Biases of components (n, n_visible) like the chains, by weight, that their own runs hold.

    A base is broader than what chains find from it, and would take the rare states of a mode for
    its own. The means ``before`` count as one more chain.
    """
    means = np.empty_like(before)
    for c, (states, log_weights) in enumerate(runs):
        values = log_weights + made.log_shares(states)[:, c]
        weights = np.exp(values - values.max())
        weights /= weights.sum()
        size = 1 / (weights @ weights)
        means[c] = (size * (weights @ states) + before[c]) / (size + 1)
    return rounded(logit(means))


def _lost(forward, local):
    """What each component holds beyond what the first base finds there, where that is sure."""
    gap, error = local.value - forward.value, np.hypot(local.error, forward.error)
    return np.where(gap > SURE * error, gap, 0.0)


def _worth_a_part(forward, local):
    """Components that the first base loses, or that few of its chains find; the heaviest first."""
    known = local.error < local.value / 4  # a few chains of a short pilot may hold anything
    total = np.where(known, np.maximum(forward.value, local.value), forward.value).sum()
    lost = _lost(forward, local) > LOST * total
    few = forward.error > forward.value / FEW
    rare = few & (local.value > LOST * total) & (local.error < forward.error / 3)
    even = local.error**2 * local.n_chains <= EVEN * local.value**2
    own = np.flatnonzero((lost | rare) & even)
    own = own[own > 0]
    return own[np.argsort(-local.value[own], kind="stable")][:MOST_PARTS]


def _tail(log_held, n, forward, local) -> float:
    """What modes without a pilot may hold beyond what the first base finds there, relative to Z.

    By their local estimates, of which as much is missing as of those of the last with a pilot.
    """
    first = max(1, n - n // 3)
    lost, held = _lost(forward, local)[first:].sum(), np.exp(log_held)
    return float(lost / max(held[first - 1 : n].sum(), 1e-300) * held[n:].sum() / local.value.sum())


def _mean(values) -> tuple[np.ndarray, np.ndarray]:
    """And standard errors, over the first axis."""
    return values.mean(axis=0), values.std(axis=0, ddof=1) / math.sqrt(len(values))
