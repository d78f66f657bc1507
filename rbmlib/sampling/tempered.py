"""Runs of simulated tempering (Carlson et al. 2016, section 2.1) and of parallel tempering.

A loop of `temper` moves the chains in each block of time, and a `Record` collects the arrays of a
`TemperedSample`.
"""

import time
from itertools import cycle, pairwise
from typing import Any

import numpy as np

from .. import checks
from ..context import bar
from ..numerics import ChainStream
from ..paths.path import Path
from .anneal import sweep
from .sample import CONDITIONALS, TemperedSample, bytes_of_chain, drawn_given, given_states
from .temper import Kept, Tally, swap, temper

BLOCKS = 10  # of time


def simulated_tempering(
    path: Path,
    betas,
    log_z_path,
    n_chains: int = 100,
    n_sweeps: int = 2000,
    rng=None,
    *,
    prior=None,
    conditional: str = "joint",
    start="base",
    index=None,
    record_every: int = 1,
    n_blocks: int = BLOCKS,
) -> TemperedSample:
    """Run simulated tempering: chains over states and betas (Carlson et al. 2016, section 2.1).

    Parameters
    ----------
    path : Path
        Path from a base to the target.
    betas : array (K,)
        Increasing from 0 to 1, such as ``rl.schedules.linear(99)``.
    log_z_path : array (K,)
        Estimates of log Z at the betas, up to a constant: see `pilot`.
    n_chains, n_sweeps : int
        Number of independent chains, and of sweeps of each chain.
    rng : int, Generator or None
        The same seed gives the same bits on any number of threads.
    prior : array (K,), optional
        Target frequencies r_k > 0 of the betas, up to a factor; uniform by default.
    conditional : {"joint", "marginal"}
        Whether beta is drawn given v and h, or given v alone.
    start : "base", array (n_chains, n_visible) or TemperedSample
        Initial states: draws of the base, or your own. A sample is continued from its end,
        including the unfinished round trips of its chains.
    index : array (n_chains,), optional
        Initial indices of beta. By default, uniform draws (section 2.4), or the last indices of a
        given sample.
    record_every : int
        Number of sweeps between kept slopes and indices; sums include all sweeps.
    n_blocks : int
        Number of blocks of time with separate sums.

    Returns
    -------
    TemperedSample

    Examples
    --------
    >>> import rbmlib as rl
    >>> path = rl.GeometricPath(rl.testsystems.random_rbm(12, 6, rng=0))
    >>> betas = rl.schedules.linear(9)
    >>> first = rl.pilot(path, betas, rng=0)
    >>> sample = rl.simulated_tempering(path, betas, first.log_z_path, 20, 100, rng=0)
    >>> sample.delta.shape
    (100, 20)
    """
    given = path, betas, n_chains, n_sweeps, conditional, record_every, n_blocks
    record = Record(*given, lambda _: 1)
    betas, n_chains, k = record.betas, record.n_chains, record.betas.size
    log_z_path = checks.array("log_z_path", log_z_path, (k,), f"({k},), log Z at each beta")
    prior, stream = checks.prior(prior, k), ChainStream(rng, n_chains)
    v, index = _begin(path, stream, n_chains, k, start, index)
    last_end = start.last_end.copy() if isinstance(start, TemperedSample) else None
    origin, offsets = index.copy(), np.log(prior) - log_z_path
    mixed = np.zeros((record.bounds.size - 1, n_chains, 3, k))
    with bar(record.n_sweeps, "simulated tempering"):
        for n, tally, kept in record.blocks(n_chains, mixed, last_end):
            v = temper(path, v, index, betas, offsets, n, stream, tally, kept, conditional)
    log_z_path = log_z_path - log_z_path[0] + path.log_z_base
    of = {"log_z_path": log_z_path, "prior": prior, "mixed": mixed, "origin": origin}
    return record.sample(stream, states=v, index=index, **of)


def parallel_tempering(
    path: Path,
    betas,
    n_chains: int = 10,
    n_sweeps: int = 2000,
    rng=None,
    *,
    start="base",
    anneal_sweeps: int | None = None,
    record_every: int = 1,
) -> TemperedSample:
    """Run parallel tempering: ladders of K replicas that swap even and odd pairs in turn.

    Parameters
    ----------
    path, betas, n_sweeps, rng, record_every
        As in `simulated_tempering`. Estimates of log Z are not needed.
    n_chains : int
        Number of independent ladders. `TemperedSample.temperature` and `delta` have a column for
        each of the ``n_chains * K`` replicas, ladder by ladder.
    start : {"base", "annealed"} or array (n_chains * K, n_visible)
        Initial states: draws of the base, states annealed to their betas, or your own, ladder by
        ladder, from beta = 0 to 1. If two starts disagree, the ladders have not mixed.
    anneal_sweeps : int, optional
        Number of sweeps at each beta for the start "annealed"; K by default.

    Returns
    -------
    TemperedSample
        ``swap_rates`` (K - 1,) is the share of proposed swaps that were accepted.

    Examples
    --------
    >>> import rbmlib as rl
    >>> path = rl.GeometricPath(rl.load_rbm("pcd_10"))
    >>> sample = rl.parallel_tempering(path, rl.schedules.linear(9), 10, 100, rng=0)
    >>> sample.swap_rates.shape
    (9,)
    """
    record = Record(path, betas, n_chains, n_sweeps, None, record_every, BLOCKS, len)
    betas, n_chains, k = record.betas, record.n_chains, record.betas.size
    anneal_sweeps = k if anneal_sweeps is None else checks.count("anneal_sweeps", anneal_sweeps)
    stream, index = ChainStream(rng, n_chains * k), np.tile(np.arange(k), n_chains)
    v = _replicas(path, betas, stream, n_chains, start, anneal_sweeps)
    swaps, turns = np.zeros((2, k - 1)), cycle((0, 1))
    conditional = record.conditional
    with bar(record.n_sweeps, "parallel tempering"):
        for n, tally, kept in record.blocks(index.size):
            v = swap(path, v, index, betas, n, stream, tally, kept, conditional, swaps, turns)
    return record.sample(
        stream, log_z_path=np.r_[path.log_z_base, np.full(k - 1, np.nan)], mixed=None,
        prior=np.full(k, 1 / k), origin=np.full(n_chains, -1), states=v, index=index,
        swap_rates=swaps[0] / np.maximum(swaps[1], 1),
    )  # fmt: skip


class Record:
    """The checked arguments that both kinds of tempering share, and the arrays of a run."""

    def __init__(self, path, betas, n_chains, n_sweeps, conditional, record_every, n_blocks, each):
        self.started = time.perf_counter()
        checks.instance("path", path, Path, checks.PATH_MEANING)
        self.path, self.betas = path, checks.ladder(betas)
        self.n_chains = checks.count("n_chains", n_chains)
        self.n_sweeps = n = checks.count("n_sweeps", n_sweeps)
        self.every = checks.count("record_every", record_every)
        conditional = drawn_given(path) if conditional is None else conditional
        self.conditional = checks.one_of("conditional", conditional, CONDITIONALS)
        if conditional == "joint" and not path.joint:
            held = f"but {type(path).__name__} has no joint log-density that is linear in beta"
            raise ValueError(f"conditional is 'joint', {held}: expected 'marginal'")
        n_blocks = min(checks.count("n_blocks", n_blocks), n)
        n_bytes = each(self.betas) * (bytes_of_chain(path) + 10 * (n // self.every))
        checks.in_memory("n_chains", self.n_chains, n_bytes + 48 * n_blocks * self.betas.size)
        self.bounds = np.unique(np.rint(np.linspace(0, n, n_blocks + 1)).astype(int))

    def blocks(self, n_columns, mixed=None, last_end=None):
        """Yield the number of sweeps, the `Tally` and the `Kept` rows of each block of time.

        ``n_columns`` is the number of chains, or of the replicas of all ladders.
        """
        self.delta = np.zeros((self.n_sweeps // self.every, n_columns))
        self.temperature = np.zeros(self.delta.shape, np.int16)
        self.visited = np.zeros((self.bounds.size - 1, self.n_chains, 3, self.betas.size))
        self.passages = np.zeros(n_columns, np.int64)
        self.last_end = np.full(n_columns, -1) if last_end is None else last_end
        for block, (first, last) in enumerate(pairwise(self.bounds.tolist())):
            own: Any = None if mixed is None else mixed[block]
            rows = slice(first // self.every, last // self.every)
            kept = Kept(self.delta[rows], self.temperature[rows], self.every, first % self.every)
            yield last - first, Tally(own, self.visited[block], self.passages, self.last_end), kept

    def sample(self, stream, **more) -> TemperedSample:
        about = {"path": repr(self.path), "stream_seed": stream.seed, "record_every": self.every}
        kept = ("conditional", "betas", "temperature", "delta", "visited", "last_end")
        more |= {name: getattr(self, name) for name in kept}
        more |= {"path": self.path, "settings": about, "round_trips": self.passages / 2}
        return TemperedSample(seconds=time.perf_counter() - self.started, **more)


def _states(path, stream, n, start, words):
    """Return the given states, or draws of the base if ``start`` is one of ``words``."""
    if isinstance(start, (np.ndarray, list)):
        return given_states(path, start, n)
    if isinstance(start, str) and start in words:
        return path.sample_base(n, stream)
    raise ValueError(f"start is {start!r:.60}: expected {' or '.join(words)}, or states")


def _begin(path, stream, n_chains, n_betas, start, index):
    """Return initial states and indices of beta."""
    if isinstance(start, TemperedSample):
        start, index = start.states, start.index if index is None else index
    v = _states(path, stream, n_chains, start, ("base",))
    if index is None:
        return v, (stream.random((n_chains, 1))[:, 0] * n_betas).astype(np.int64)
    meaning = f"({n_chains},), indices of betas from 0 to {n_betas - 1}"
    index = np.array(checks.numeric("index", index, meaning))
    inside = index.shape == (n_chains,) and (index == index.astype(int)).all()
    if not (inside and index.min() >= 0 and index.max() < n_betas):
        raise ValueError(f"index has shape {index.shape} or wrong values: expected {meaning}")
    return v, index.astype(np.int64)


def _replicas(path, betas, stream, n_chains, start, anneal_sweeps):
    """Return K initial states for each of ``n_chains`` ladders, ladder by ladder."""
    v = _states(path, stream, n_chains * betas.size, start, ("base", "annealed"))
    if isinstance(start, str) and start == "annealed":
        own = np.tile(betas, n_chains)
        for beta in betas[1:]:  # a replica stays at its beta once the others pass it
            v = sweep(path, v, np.minimum(own, beta), anneal_sweeps, stream)
    return v
