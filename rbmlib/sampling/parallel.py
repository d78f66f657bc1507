"""Parallel tempering: ladders of replicas, of which neighbours are swapped."""

from __future__ import annotations

import time
from typing import Unpack

import numpy as np

from .. import checks
from ..context import Context, configured, steps
from ..numerics import ChainStream
from ..paths.path import Path
from .anneal import sweep
from .compiled import compiled
from .sample import TemperedSample, block_bounds, check_conditional, given_states
from .temper import moved, note_ends


@configured
def parallel_tempering(
    path: Path,
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
    **context: Unpack[Context],
) -> TemperedSample:
    """Run ``n_chains`` ladders of K replicas, neighbours swapped in turn, even pairs and odd.

    Parameters
    ----------
    path, betas, n_sweeps, rng, conditional, record_every, n_blocks, n_threads, progress
        As in `simulated_tempering`; no estimate of log Z is needed.
    n_chains : int
        Independent ladders. `TemperedSample.temperature` and `delta` have a column for each
        of the ``n_chains * K`` replicas, ladder by ladder.
    start : {"base", "annealed"} or array (n_chains * K, n_visible)
        Draws of the base everywhere; states annealed to their betas; or states of your own,
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
    checks.instance("path", path, Path, checks.PATH_MEANING)
    betas = checks.ladder(betas)
    n_chains, n_sweeps = checks.count("n_chains", n_chains), checks.count("n_sweeps", n_sweeps)
    every, bounds = checks.count("record_every", record_every), block_bounds(n_sweeps, n_blocks)
    check_conditional(path, conditional)
    k = betas.size
    anneal_sweeps = k if anneal_sweeps is None else checks.count("anneal_sweeps", anneal_sweeps)
    stream, index = ChainStream(rng, n_chains * k), np.tile(np.arange(k), n_chains)
    v = _replicas(path, betas, stream, n_chains, start, anneal_sweeps)
    delta = np.zeros((n_sweeps // every, index.size))
    temperature = np.zeros(delta.shape, np.int16)
    visited, accepted = np.zeros((bounds.size - 1, n_chains, 3, k)), np.zeros((2, k - 1))
    passages, last_end = np.zeros(index.size, np.int64), np.full(index.size, -1)
    replicas, ladders = np.arange(index.size), np.repeat(np.arange(n_chains), k)
    for row in steps(range(n_sweeps), "parallel tempering"):
        v, logs, slopes = _swept(path, conditional, v, index, betas, stream)
        swap(index, logs, stream.random((index.size, 1))[:, 0], row % 2, accepted)
        note_ends(index, k, passages, last_end)
        own, block = slopes[replicas, index], np.searchsorted(bounds, row, side="right") - 1
        for power in range(3):
            visited[block][ladders, power, index] += own**power
        if (row + 1) % every == 0:
            delta[row // every], temperature[row // every] = own, index
    return TemperedSample(
        conditional=conditional,
        betas=betas,
        log_z_path=np.full(k, np.nan),
        prior=np.full(k, 1 / k),
        temperature=temperature,
        delta=delta,
        visited=visited,
        mixed=None,
        block_sweeps=np.diff(bounds),
        round_trips=passages / 2,
        origin=np.full(n_chains, -1),
        states=v,
        index=index,
        last_end=last_end,
        log_z_base=path.log_z_base,
        record_every=every,
        seconds=time.perf_counter() - started,
        swap_rates=accepted[0] / np.maximum(accepted[1], 1),
        settings={"path": repr(path), "stream_seed": stream.seed},
        path=path,
    )


def swap(index, logs, uniforms, odd: int, accepted) -> None:
    """Exchange the betas of neighbours k, k + 1, k odd or even; ``logs`` (n_replicas, K)."""
    k = logs.shape[1]
    replica = np.empty_like(index).reshape(-1, k)  # of each ladder and beta
    replica[np.arange(index.size) // k, index] = np.arange(index.size)
    low, high = replica[:, odd : k - 1 : 2], replica[:, odd + 1 :: 2]
    at = np.arange(odd, k - 1, 2)
    gain = logs[low, at + 1] + logs[high, at] - logs[low, at] - logs[high, at + 1]
    yes = np.log(uniforms[low]) < gain
    accepted[0, at] += yes.sum(axis=0)
    accepted[1, at] += len(replica)
    lower = np.broadcast_to(at, low.shape)[yes]
    index[low[yes]], index[high[yes]] = lower + 1, lower


def _swept(path, conditional, v, index, betas, stream):
    """As `moved`, by the compiled sweep where there is one."""
    if conditional == "joint" and (loops := compiled(path)):
        v, delta = loops.joint_sweep(v, betas[index], stream)
        logs = delta[:, None] * betas
        return v, logs, np.broadcast_to(delta[:, None], logs.shape)
    return moved(path, v, betas[index], betas, stream, conditional)


def _replicas(path, betas, stream, n_chains, start, anneal_sweeps):
    """K states for each of ``n_chains`` ladders, ladder by ladder."""
    n = n_chains * betas.size
    if isinstance(start, (np.ndarray, list)):
        return given_states(path, start, n, "{} states: expected {}, K a ladder")
    if not (isinstance(start, str) and start in ("base", "annealed")):
        raise ValueError(
            f"start is {checks.named(start)}: expected 'base', 'annealed' or states, K a ladder"
        )
    v = path.sample_base(n, stream)
    if start == "annealed":
        own = np.tile(betas, n_chains)
        for beta in betas[1:]:  # a replica stays at its beta once the others pass it
            v = sweep(path, v, np.minimum(own, beta), anneal_sweeps, stream)
    return v
