"""Ladders of models whose states are exchanged: parallel tempering along a training.

Each rung of a ladder is a model on a `TrajectoryPath`; it holds one state a ladder. After some
sweeps of every state at its own rung, neighbours exchange their states with probability
``min(1, p_low(y) p_high(x) / (p_low(x) p_high(y)))`` for x on the lower and y on the higher rung,
even pairs and odd in turn (Bereux et al. 2025 call it parallel trajectory tempering). What the
exchange asks for, ``log p*_high - log p*_low`` of both states, is also what Bennett's equation
asks for.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import NamedTuple

import numpy as np

from .._kernels import threads
from .._kernels.fields import fields
from .._numerics import softplus
from .._progress import progress_bar
from .._streams import ChainStream
from ..models.bernoulli import BernoulliRBM
from ..paths.base import State
from ..paths.steps import note_ends
from ..paths.trajectory import TrajectoryPath

MOST_RUNGS = 2000
NEAR = 0.08  # how far above its target an acceptance may lie where a rung is put in between


class Rungs(NamedTuple):
    """Where a ladder has its models, and states near equilibrium there."""

    betas: np.ndarray  # (K,), from 0 to 1
    starts: list[np.ndarray]  # K arrays (n_chains, n_visible)


class Exchanged(NamedTuple):
    """What exchanges saw; a pair of neighbours is looked at in every second exchange."""

    work: list[np.ndarray]  # of each pair (n_kept, n_chains, 2): of the lower state, the higher
    between: dict[int, np.ndarray]  # the same from the lower rung to a checkpoint in between
    acceptance: np.ndarray  # (K - 1,)
    round_trips: np.ndarray  # (n_chains,), of all states of a ladder
    states: State  # of the highest rung


def acceptance_between(log_ratios) -> float:
    """Expected acceptance of an exchange of two models, from draws of the one.

    ``log_ratios`` (n,): log p*_other - log p* of each draw. With ``w = exp(log_ratios)`` it is
    ``E[min(w, w')] / E[w]`` over independent pairs.
    """
    w = np.sort(log_ratios)
    w = np.exp(w - w[-1])
    pairs = 2 * np.arange(w.size - 1, -1, -1) / (w.size - 1)
    return float((w * pairs).mean() / w.mean())


def log_density(model: BernoulliRBM, visible) -> np.ndarray:
    """log p*(v) of float32 states (n, n_visible), which are trusted."""
    x = fields(visible, model.weights) + model.hidden_bias
    return softplus(x).sum(axis=1) + visible.astype(float) @ model.visible_bias + model.log_scale


def place_rungs(
    path: TrajectoryPath, acceptance: float, n_chains: int, n_sweeps: int, stream, n_threads=None
) -> Rungs:
    """Rungs between which an exchange is accepted about as often as asked for.

    Chains are annealed along the path, ``n_sweeps`` at each rung. From a rung, the next is the
    furthest checkpoint with an acceptance that is large enough, and so checkpoints that are close
    are left out; if none is, a model on the way to the next one is put in.
    """
    n, place, state = len(path.checkpoints), 0.0, path.sample_base(n_chains, stream)
    places, starts = [place], [state.coordinates]
    while place < n:
        here = log_density(path.at(place / n), state.coordinates)

        def accepted(other: float, here=here, state=state) -> float:
            return acceptance_between(log_density(path.at(other / n), state.coordinates) - here)

        place = _furthest(place, n, accepted, acceptance)
        state = path.end_at(place / n).sweep(state, 1.0, n_sweeps, stream, n_threads)
        places.append(place)
        starts.append(state.coordinates)
        if len(places) > MOST_RUNGS:
            raise ValueError(
                f"checkpoints are too far apart: {MOST_RUNGS:,} rungs reach number "
                f"{int(place)} of {n}; expected closer ones, or a lower acceptance"
            )
    return Rungs(np.array(places) / n, starts)


def _furthest(place: float, n: int, accepted, least: float) -> float:
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


def exchange(
    path: TrajectoryPath, rungs: Rungs, n_exchanges: int, n_burn_in: int, sweeps_each: int, rng, *,
    n_threads=None, progress=None,
) -> Exchanged:  # fmt: skip
    """Sweeps of all states at their rungs, and exchanges of neighbours, even pairs and odd."""
    return _Ladders(path, rungs, rng, n_threads).run(n_exchanges, n_burn_in, sweeps_each, progress)


class _Ladders:
    """Independent ladders in motion: ``states`` of each rung, (n_chains, n_visible)."""

    def __init__(self, path: TrajectoryPath, rungs: Rungs, rng, n_threads):
        self.k, (self.n, _) = rungs.betas.size, rungs.starts[0].shape
        self.states = [np.array(start, np.float32) for start in rungs.starts]
        self.models = [path.at(beta) for beta in rungs.betas]
        self.ends = [path.end_at(beta) for beta in rungs.betas]
        self.uniforms = ChainStream(rng, self.n)
        self.streams = [
            ChainStream.of_seed(self.uniforms.seed, self.n, (k + 1) * self.n) for k in range(self.k)
        ]
        of_knot = np.searchsorted(rungs.betas, path.knots - 1e-12)  # first rung not below it
        self.between: list[list[int]] = [[] for _ in range(self.k - 1)]
        for i, rung in enumerate(of_knot):
            if not np.isclose(rungs.betas[rung], path.knots[i], rtol=0, atol=1e-12):
                self.between[rung - 1].append(i)
        self.checkpoints = path.checkpoints
        self.n_threads = threads.resolve(n_threads)

    def run(self, n_exchanges: int, n_burn_in: int, sweeps_each: int, progress) -> Exchanged:
        place = np.tile(np.arange(self.k), (self.n, 1)).T  # of the state that began at each rung
        owner = place.copy()  # where the state that is at each rung began
        passages, last_end = np.zeros(place.shape, np.int64), np.full(place.shape, -1)
        seen: list[list] = [[] for _ in range(self.k - 1)]
        accepted, proposed = np.zeros((2, self.k - 1))
        total = n_burn_in + n_exchanges
        with (
            threads.blas_threads(1),
            ThreadPoolExecutor(self.n_threads) as pool,
            progress_bar(total, "trajectory", progress) as bar,
        ):
            self.each = pool.map if self.n_threads > 1 else map
            for t in range(total):
                list(self.each(lambda k: self._sweep(k, sweeps_each), range(self.k)))
                pairs = range(t % 2, self.k - 1, 2)
                looked = list(self.each(self._look, pairs))
                u = np.log(self.uniforms.random((self.n, self.k)))
                for low, values in zip(pairs, looked, strict=True):
                    yes = u[:, low] < values[0, :, 0] - values[0, :, 1]
                    self._swap(low, yes, owner)
                    if t >= n_burn_in:
                        seen[low].append(values)
                        accepted[low] += yes.sum()
                        proposed[low] += self.n
                np.put_along_axis(place, owner, np.arange(self.k)[:, None], axis=0)
                if t >= n_burn_in:
                    note_ends(place, self.k, passages, last_end)
                bar.update(1)
        arrays = [np.array(values) for values in seen]
        return Exchanged(
            [values[:, 0] for values in arrays],
            {
                i: values[:, 1 + column]
                for values, inside in zip(arrays, self.between, strict=True)
                for column, i in enumerate(inside)
            },
            accepted / np.maximum(proposed, 1),
            passages.sum(axis=0) / 2,
            State(self.states[-1]),
        )

    def _sweep(self, k: int, n_sweeps: int) -> None:
        self.ends[k].move_own(self.states[k], n_sweeps, self.streams[k])

    def _look(self, low: int) -> np.ndarray:
        """Log-ratios to the lower rung of a pair, (1 + checkpoints between, n_chains, 2)."""
        both = np.concatenate(self.states[low : low + 2])
        base = log_density(self.models[low], both)
        others = [self.models[low + 1], *(self.checkpoints[i] for i in self.between[low])]
        ratios = np.array([log_density(model, both) - base for model in others])
        return ratios.reshape(len(others), 2, self.n).transpose(0, 2, 1)

    def _swap(self, low: int, yes, owner) -> None:
        one, two = self.states[low : low + 2]
        one[yes], two[yes] = two[yes], one[yes]
        owner[low, yes], owner[low + 1, yes] = owner[low + 1, yes], owner[low, yes]
