"""Ladders of models whose states are exchanged: parallel tempering along a training.

Each rung of a ladder is a model on a `TrajectoryPath` and holds one state. After some sweeps of
every state at its rung, neighbours exchange theirs with probability
``min(1, p_low(y) p_high(x) / (p_low(x) p_high(y)))`` for x on the lower and y on the higher rung,
even pairs and odd in turn (Bereux et al. 2025). What the exchange asks for,
``log p*_high - log p*_low`` of both states, is also what Bennett's equation asks for.
"""

from concurrent.futures import ThreadPoolExecutor
from itertools import repeat
from typing import NamedTuple

import numpy as np

from .._kernels import threads
from ..context import Settings, settings, steps
from ..models.rbm import log_density
from ..numerics import ChainStream
from ..paths.bases import base_of
from ..paths.polyline import Polyline
from .anneal import sweep
from .temper import note_ends

MOST_RUNGS = 2000
NEAR = 0.08  # how far above its target an acceptance may lie where a rung is put in between


class Rungs(NamedTuple):
    """Where a ladder has its models, and states near equilibrium there."""

    betas: np.ndarray  # (K,), from 0 to 1
    starts: list  # K arrays (n_chains, n_visible)


class Exchanged(NamedTuple):
    """What exchanges saw; a pair of neighbours is looked at in every second exchange."""

    work: list  # of each pair (n_kept, n_chains, 2): of the lower state, the higher
    between: dict  # the same from the lower rung to a checkpoint in between, by its number
    acceptance: np.ndarray  # (K - 1,)
    round_trips: np.ndarray  # (n_chains,), of all states of a ladder
    states: np.ndarray  # of the highest rung


def ending_at(model):
    """A path that ends at ``model``, whose sweeps at beta = 1 are compiled where they can be."""
    return Polyline([base_of(model, model.visible.bias), model])


def place_rungs(path, acceptance, n_sweeps, stream):
    """Rungs between which an exchange is accepted about as often as asked for.

    Chains are annealed along the path, ``n_sweeps`` at each rung. The next rung is the furthest
    checkpoint with an acceptance that is large enough; if none is, a model on the way to the next.
    """
    n, place, v = len(path.models) - 1, 0.0, path.sample_base(stream.n_chains, stream)
    places, starts = [place], [v]
    while place < n:
        here = log_density(path.at(place / n), v)

        def accepted(other, here=here, v=v):
            return acceptance_between(log_density(path.at(other / n), v) - here)

        place = furthest(place, n, accepted, acceptance)
        v = sweep(ending_at(path.at(place / n)), v, 1.0, n_sweeps, stream)
        places.append(place)
        starts.append(v)
        if len(places) > MOST_RUNGS:
            raise ValueError(
                f"checkpoints are too far apart: {MOST_RUNGS:,} rungs reach number "
                f"{int(place)} of {n}; expected closer ones, or a lower acceptance"
            )
    return Rungs(np.array(places) / n, starts)


def acceptance_between(log_ratios):
    """Expected acceptance of an exchange of two models, from draws of the one.

    ``log_ratios`` (n,): log p*_other - log p* of each draw. With ``w = exp(log_ratios)`` it is
    ``E[min(w, w')] / E[w]`` over independent pairs.
    """
    w = np.sort(log_ratios)
    w = np.exp(w - w[-1])
    pairs = 2 * np.arange(w.size - 1, -1, -1) / (w.size - 1)
    return float((w * pairs).mean() / w.mean())


def furthest(place, n, accepted, least):
    """Where the next rung is: a whole number for a checkpoint."""
    next_one = int(place) + 1
    if accepted(next_one) < least:
        low, high = place, float(next_one)
        for _ in range(30):
            middle = (low + high) / 2
            found = accepted(middle)
            low, high = (middle, high) if found >= least else (low, middle)
            if least <= found <= least + NEAR:
                break
        return low if low > place else high
    step = 1
    while next_one + step <= n and accepted(next_one + step) >= least:
        next_one, step = next_one + step, 2 * step
    while step := step // 2:
        if next_one + step <= n and accepted(next_one + step) >= least:
            next_one += step
    return next_one


def exchange(path, rungs, n_exchanges, n_burn_in, sweeps_each, rng):
    """Sweeps of all states at their rungs, and exchanges of neighbours, even pairs and odd."""
    ladders = Ladders(path, rungs, rng)
    k, n = ladders.k, ladders.n
    n_threads, alone = settings.get().n_threads, Settings(n_threads=1, progress=False)
    workers = ThreadPoolExecutor(threads.resolve(n_threads), "", settings.set, (alone,))
    place = np.tile(np.arange(k), (n, 1)).T  # of the state that began at each rung
    owner = place.copy()  # where the state that is at each rung began
    passages, last_end = np.zeros(place.shape, np.int64), np.full(place.shape, -1)
    accepted, proposed = np.zeros((2, k - 1))
    seen: list[list] = [[] for _ in range(k - 1)]
    with threads.blas_threads(1), workers as pool:  # rungs have threads, not the chains of one
        for t in steps(range(n_burn_in + n_exchanges), "trajectory"):
            list(pool.map(ladders.sweep, range(k), repeat(sweeps_each)))
            pairs = range(t % 2, k - 1, 2)
            looked = list(pool.map(ladders.log_ratios, pairs))
            u = np.log(ladders.uniforms.random((n, k)))
            for low, values in zip(pairs, looked, strict=True):
                yes = u[:, low] < values[0, :, 0] - values[0, :, 1]
                for held in (ladders.states, owner):
                    held[low][yes], held[low + 1][yes] = held[low + 1][yes], held[low][yes]
                if t >= n_burn_in:
                    seen[low].append(values)
                    accepted[low] += yes.sum()
                    proposed[low] += n
            np.put_along_axis(place, owner, np.arange(k)[:, None], axis=0)
            if t >= n_burn_in:
                note_ends(place, k, passages, last_end)
    arrays = [np.array(values) for values in seen]
    between = {
        i: values[:, 1 + column]
        for values, inside in zip(arrays, ladders.between, strict=True)
        for column, i in enumerate(inside)
    }
    work, trips = [values[:, 0] for values in arrays], passages.sum(axis=0) / 2
    return Exchanged(work, between, accepted / np.maximum(proposed, 1), trips, ladders.states[-1])


class Ladders:
    """Independent ladders in motion: ``states`` of each rung, (n_chains, n_visible)."""

    def __init__(self, path, rungs, rng):
        self.k, self.n = rungs.betas.size, len(rungs.starts[0])
        self.states = [np.array(start) for start in rungs.starts]
        self.models = [path.at(beta) for beta in rungs.betas]
        self.ends = [ending_at(model) for model in self.models]
        self.uniforms = ChainStream(rng, self.n)
        self.streams = [
            ChainStream(None, self.n, (rung + 1) * self.n, seed=self.uniforms.seed)
            for rung in range(self.k)
        ]
        self.checkpoints, knots = path.models[1:], path.knots[1:]
        self.between: list[list[int]] = [[] for _ in range(self.k - 1)]  # inside each pair
        for i, rung in enumerate(np.searchsorted(rungs.betas, knots - 1e-12)):
            if rungs.betas[rung] > knots[i] + 1e-12:
                self.between[rung - 1].append(i)

    def sweep(self, rung, n_sweeps):
        path, v, stream = self.ends[rung], self.states[rung], self.streams[rung]
        self.states[rung] = sweep(path, v, 1.0, n_sweeps, stream)

    def log_ratios(self, low):
        """To the lower rung of a pair, (1 + checkpoints between, n_chains, 2)."""
        both = np.concatenate(self.states[low : low + 2])
        base = log_density(self.models[low], both)
        others = [self.models[low + 1], *(self.checkpoints[i] for i in self.between[low])]
        ratios = np.array([log_density(model, both) - base for model in others])
        return ratios.reshape(len(others), 2, self.n).transpose(0, 2, 1)
