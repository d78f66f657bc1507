"""Samples over a ladder of betas: simulated and parallel tempering."""

from typing import NamedTuple

import numpy as np

from ..context import steps
from ..numerics import ChainStream
from .compiled import compiled
from .temper import Sums, note_ends, temper


class Sample(NamedTuple):
    """States of chains over K betas: what RTS, TI, BAR and MBAR read log Z off."""

    betas: np.ndarray
    log_z: np.ndarray  # (K,) with which beta was drawn, the base's first
    log_z_base: float
    prior: np.ndarray
    joint: bool  # whether one slope a state serves all betas
    delta: np.ndarray  # (n_sweeps, n_chains): slope of each state
    index: np.ndarray  # (n_sweeps, n_chains): its beta
    mixed: np.ndarray  # (n_blocks, n_chains, 3, K): see `Sums`
    visited: np.ndarray
    block_sweeps: np.ndarray
    round_trips: np.ndarray  # (n_chains,)
    origin: np.ndarray  # (n_chains,): where they began; -1 where that says nothing
    n_ladders: int  # independent chains, or ladders of K replicas
    final: np.ndarray
    settings: dict


def simulated_tempering(
    path,
    betas,
    log_z,
    n_chains,
    n_sweeps,
    rng,
    *,
    start,
    index,
    prior=None,
    conditional="joint",
    n_blocks=10,
):
    """Chains that draw their beta with q(k | x) ~ p*_k(x) prior_k / Z_k (Carlson et al. 2016)."""
    k, stream = betas.size, ChainStream(rng, n_chains)
    prior = np.full(k, 1 / k) if prior is None else prior / np.sum(prior)
    index, v, origin = np.array(index, np.int64), start, np.array(index)
    bounds = np.unique(np.rint(np.linspace(0, n_sweeps, n_blocks + 1)).astype(int))
    mixed, visited = np.zeros((2, len(bounds) - 1, n_chains, 3, k))
    kept = np.zeros((n_sweeps, n_chains)), np.zeros((n_sweeps, n_chains), np.int16)
    ends = np.zeros(n_chains, np.int64), np.full(n_chains, -1)
    for block, (first, last) in enumerate(zip(bounds, bounds[1:])):
        sums = Sums(mixed[block], visited[block], *ends)
        rows = [values[first:last] for values in kept]
        v = temper(
            path,
            v,
            index,
            betas,
            np.log(prior) - log_z,
            int(last - first),
            stream,
            sums,
            rows,
            conditional,
        )
    return Sample(
        betas,
        log_z - log_z[0] + path.log_z_base,
        path.log_z_base,
        prior,
        conditional == "joint",
        *kept,
        mixed,
        visited,
        np.diff(bounds),
        ends[0] / 2,
        origin,
        n_chains,
        v,
        {"path": repr(path), "stream_seed": stream.seed},
    )


def parallel_tempering(path, betas, n_ladders, n_sweeps, rng):
    """A replica at each beta; neighbours swap, even pairs and odd in turn (joint states)."""
    k = betas.size
    stream, index = ChainStream(rng, n_ladders * k), np.tile(np.arange(k), n_ladders)
    v = path.sample_base(n_ladders * k, stream)
    delta, kept = np.zeros((n_sweeps, index.size)), np.zeros((n_sweeps, index.size), np.int16)
    ends, loops = (np.zeros(index.size, np.int64), np.full(index.size, -1)), compiled(path)
    for row in steps(range(n_sweeps), "parallel tempering"):
        sweep_once = loops.joint_sweep if loops else path.joint_transition
        v, delta[row] = sweep_once(v, betas[index], stream)
        swap(index, delta[row], betas, stream.random((index.size, 1))[:, 0], row % 2)
        kept[row] = index
        note_ends(index, k, *ends)
    empty = np.zeros((0, 0, 3, k))
    return Sample(
        betas,
        np.full(k, np.nan),
        path.log_z_base,
        np.full(k, 1 / k),
        True,
        delta,
        kept,
        empty,
        empty,
        np.array([n_sweeps]),
        ends[0] / 2,
        np.full(n_ladders, -1),
        n_ladders,
        v,
        {"path": repr(path), "stream_seed": stream.seed},
    )


def swap(index, delta, betas, uniforms, odd):
    """Exchange the betas of neighbours k, k + 1 with probability min(1, exp(gain)), in place."""
    k = betas.size
    replica = np.empty_like(index).reshape(-1, k)  # of each ladder and beta
    replica[np.arange(index.size) // k, index] = np.arange(index.size)
    low, high = replica[:, odd : k - 1 : 2], replica[:, odd + 1 :: 2]
    at = np.arange(odd, k - 1, 2)
    logs = delta[:, None] * betas
    gain = logs[low, at + 1] + logs[high, at] - logs[low, at] - logs[high, at + 1]
    yes = np.log(uniforms[low]) < gain
    lower = np.broadcast_to(at, low.shape)[yes]
    index[low[yes]], index[high[yes]] = lower + 1, lower
