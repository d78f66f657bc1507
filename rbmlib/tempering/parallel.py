"""Parallel tempering: a replica at each beta, neighbours swapped in turn."""

from __future__ import annotations

import time

import numpy as np

from .._progress import progress_bar
from .._streams import ChainStream
from .._validation import count, instance, named
from ..paths.base import AnnealingPath, State
from ..paths.steps import moved, note_ends
from .checks import PATH_MEANING, block_bounds, check_conditional, ladder
from .sample import TemperedSample


def parallel_tempering(
    path: AnnealingPath,
    betas,
    n_chains: int = 10,
    n_sweeps: int = 2000,
    rng=None,
    *,
    conditional: str = "joint",
    start="base",
    anneal_sweeps: int | None = None,
    record_every: int = 1,
    n_blocks: int = 10,
    n_threads: int | None = None,
    progress: bool | None = None,
) -> TemperedSample:
    """Run ``n_chains`` ladders of K replicas, neighbours swapped in turn, even pairs and odd.

    Parameters
    ----------
    path, betas, n_sweeps, rng, conditional, record_every, n_blocks
        As in `simulated_tempering`; no estimate of log Z is needed.
    n_chains : int
        Independent ladders. `TemperedSample.temperature` and `delta` have a column for each
        of the ``n_chains * K`` replicas, ladder by ladder.
    start : {"base", "annealed"} or State
        Draws of the base everywhere; states annealed to their betas; or ``n_chains * K`` states,
        ladder by ladder, from beta = 0 to 1. Two starts that disagree show that the ladders have
        not mixed.
    anneal_sweeps : int, optional
        Sweeps at each beta of an annealed start; K by default.

    Returns
    -------
    TemperedSample
        ``swap_rates`` (K - 1,): share of the proposed swaps that were accepted.
    """
    started = time.perf_counter()
    instance("path", path, AnnealingPath, PATH_MEANING)
    betas = ladder(betas)
    n_chains, n_sweeps = count("n_chains", n_chains), count("n_sweeps", n_sweeps)
    record_every = count("record_every", record_every)
    bounds = block_bounds(n_sweeps, n_blocks)
    check_conditional(path, conditional)
    k = betas.size
    stream = ChainStream(rng, n_chains * k)
    anneal_sweeps = k if anneal_sweeps is None else count("anneal_sweeps", anneal_sweeps)
    state = _replicas(path, betas, stream, n_chains, start, anneal_sweeps, n_threads)
    index = np.tile(np.arange(k), n_chains)
    n_kept = n_sweeps // record_every
    delta, temperature = np.zeros((n_kept, index.size)), np.zeros((n_kept, index.size), np.int16)
    visited = np.zeros((bounds.size - 1, n_chains, 3, k))
    transitions, accepted = np.zeros((k, k), np.int64), np.zeros((2, k - 1))
    passages, last_end = np.zeros(index.size, np.int64), np.full(index.size, -1)
    with progress_bar(n_sweeps, "parallel tempering", progress) as bar:
        for sweep in range(n_sweeps):
            state, logs, slopes = _swept(path, conditional, state, index, betas, stream, n_threads)
            old = index.copy()
            swap(index, logs, stream.random((index.size, 1))[:, 0], sweep % 2, accepted)
            np.add.at(transitions, (old, index), 1)
            note_ends(index, k, passages, last_end)
            own = slopes[np.arange(index.size), np.minimum(index, slopes.shape[1] - 1)]
            block = np.searchsorted(bounds, sweep, side="right") - 1
            place = visited[block], np.repeat(np.arange(n_chains), k)
            for power in range(3):
                place[0][place[1], power, index] += own**power
            if (sweep + 1) % record_every == 0:
                row = (sweep + 1) // record_every - 1
                delta[row], temperature[row] = own, index
            bar.update(1)
    return TemperedSample(
        method="parallel",
        conditional=conditional,
        betas=betas,
        log_z_path=np.full(k, np.nan),
        prior=np.full(k, 1 / k),
        temperature=temperature,
        delta=delta,
        visited=visited,
        mixed=None,
        block_sweeps=np.diff(bounds),
        transitions=transitions,
        mixed_transitions=None,
        round_trips=passages / 2,
        origin=np.full(n_chains, -1),
        states=state,
        index=index,
        log_z_base=path.log_z_base,
        n_sweeps=n_sweeps,
        record_every=record_every,
        seconds=time.perf_counter() - started,
        swap_rates=accepted[0] / np.maximum(accepted[1], 1),
        settings={"path": repr(path), "stream_seed": stream.seed},
        last_end=last_end,
    )


def _replicas(path, betas, stream, n_chains, start, anneal_sweeps, n_threads) -> State:
    """K states for each of ``n_chains`` ladders, ladder by ladder."""
    n = n_chains * betas.size
    if isinstance(start, State):
        if start.n_chains != n:
            raise ValueError(f"start holds {start.n_chains} states: expected {n}, K a ladder")
        return path.checked_state(start, "start")
    if not (isinstance(start, str) and start in ("base", "annealed")):
        raise ValueError(f"start is {named(start)}: expected 'base', 'annealed' or a State")
    state = path.sample_base(n, stream)
    if start == "base":
        return state
    own = np.tile(betas, n_chains)
    for beta in betas[1:]:  # a replica stays at its beta once the others pass it
        state = path.sweep(state, np.minimum(own, beta), anneal_sweeps, stream, n_threads)
    return state


def _swept(path, conditional, state, index, betas, stream, n_threads):
    """As `moved`, by the path's own loop where it has one slope a state."""
    if conditional == "marginal":
        return moved(path, conditional, state, betas[index], betas, stream)
    state, slopes = path.joint_sweeps(state, betas[index], 1, stream, n_threads)
    return state, slopes.T * betas, slopes.T


def swap(index, logs, uniforms, odd: int, accepted) -> None:
    """Exchange the betas of neighbours k, k + 1, k odd or even; ``logs`` (n_replicas, K)."""
    k = logs.shape[1]
    replica = np.empty_like(index).reshape(-1, k)  # of each ladder and beta
    ladders = np.arange(index.size) // k
    replica[ladders, index] = np.arange(index.size)
    low, high = replica[:, odd : k - 1 : 2], replica[:, odd + 1 :: 2]
    at = np.arange(odd, k - 1, 2)
    gain = logs[low, at + 1] + logs[high, at] - logs[low, at] - logs[high, at + 1]
    yes = np.log(uniforms[low]) < gain
    accepted[0, at] += yes.sum(axis=0)
    accepted[1, at] += len(replica)
    lower = np.broadcast_to(at, low.shape)[yes]
    index[low[yes]], index[high[yes]] = lower + 1, lower
