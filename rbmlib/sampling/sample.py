"""Samples over a ladder of betas: simulated and parallel tempering.

Simulated tempering makes beta random: the joint law of a state x and an index k is

    q(x, k) ~ p*_k(x) r_k / Z_k,

with estimates Z_k of the partition functions and a prior r. A sweep of Gibbs sampling at beta_k
is followed by a draw of k given x (Carlson et al. 2016, eq. 7). Parallel tempering keeps one
replica at each beta and swaps neighbours, even and odd pairs in turn: the order that is not
reversible, in which replicas travel rather than diffuse (Okabe et al. 2001; Syed et al. 2022).

With ``conditional="joint"`` x is the pair (v, h). Its log-density is linear in beta on a
geometric path, ``log p*_beta(v, h) = log p*_0(v, h) + beta Delta(v, h)``: one number a state
serves all betas. With ``"marginal"`` the hidden units are summed over first: a little less noise
in k, for K times the work, on any path.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Any

import numpy as np

from .. import checks
from ..context import bar, configured, steps
from ..numerics import ChainStream
from ..paths.path import Path
from .anneal import sweep
from .compiled import compiled
from .temper import Kept, Sums, moved, note_ends, temper

CONDITIONALS = ("joint", "marginal")


@dataclass(frozen=True, eq=False)
class TemperedSample:
    """States of many chains over K betas: what RTS, TI, BAR and MBAR read log Z off.

    Attributes
    ----------
    conditional : {"joint", "marginal"}
    betas, log_z_path, prior : ndarray (K,)
        The betas, the estimates log Z_k with which beta was drawn (log Z_0 of the base first),
        and r_k. NaN for parallel tempering, which needs none.
    temperature : int16 ndarray (n_kept, n_chains)
        Index of the beta of each kept state, drawn after the state.
    delta : ndarray (n_kept, n_chains)
        "joint": the slope Delta(v, h), for all betas: ``log p*_k = log p*_0 + betas[k] delta``.
        "marginal": d/dbeta log p*_beta(v) at the state's own beta only.
    visited : ndarray (n_blocks, n_groups, 3, K)
        Sums over all sweeps of a block of time (kept or not) of 1, slope and slope**2 at the
        beta drawn, for each independent group: a chain, or a ladder of K replicas.
    mixed : ndarray (n_blocks, n_groups, 3, K) or None
        The Rao-Blackwellised sums of ``q(k | x)``, times 1, slope and slope**2 (eq. 9, 21).
    block_sweeps : ndarray (n_blocks,)
        Sweeps in each block.
    round_trips : ndarray (n_chains,)
        From one end of the ladder to the other and back, of each chain or replica.
    origin : ndarray (n_groups,)
        Index of beta at which the chains began; -1 where that tells nothing (parallel).
    states, index : ndarray (n_chains, n), (n_chains,)
        Where the chains are.
    last_end : ndarray (n_chains,)
        Index of beta of the end of the ladder where each chain was last; -1: at neither yet.
    swap_rates : ndarray (K - 1,) or None
        Of parallel tempering: share of the proposed swaps that were accepted.
    """

    conditional: str
    betas: np.ndarray
    log_z_path: np.ndarray
    prior: np.ndarray
    temperature: np.ndarray
    delta: np.ndarray
    visited: np.ndarray
    mixed: np.ndarray | None
    block_sweeps: np.ndarray
    round_trips: np.ndarray
    origin: np.ndarray
    states: np.ndarray
    index: np.ndarray
    last_end: np.ndarray
    log_z_base: float
    record_every: int
    seconds: float
    swap_rates: np.ndarray | None = None
    settings: dict[str, Any] = field(default_factory=dict)

    @property
    def method(self) -> str:
        """ "simulated", or "parallel"."""
        return "simulated" if self.swap_rates is None else "parallel"

    @property
    def n_chains(self) -> int:
        """Independent chains; ladders of parallel tempering."""
        return self.visited.shape[1]

    @property
    def n_sweeps(self) -> int:
        return int(self.block_sweeps.sum())

    def occupation(self) -> np.ndarray:
        """The Rao-Blackwellised c_k (eq. 9) of each block and chain: (n_blocks, n_chains, K)."""
        assert self.mixed is not None
        return self.mixed[:, :, 0] / self.block_sweeps[:, None, None]

    def of_chains(self, chains) -> TemperedSample:
        """Some chains (or ladders), a slice or indices, as a sample of their own."""
        columns = np.arange(self.index.size).reshape(self.n_chains, -1)[chains].ravel()
        one_a_column = ("round_trips", "states", "index", "last_end")
        return replace(
            self,
            temperature=self.temperature[:, columns],
            delta=self.delta[:, columns],
            visited=self.visited[:, chains],
            mixed=None if self.mixed is None else self.mixed[:, chains],
            origin=self.origin[chains],
            **{name: getattr(self, name)[columns] for name in one_a_column},
        )

    def first_blocks(self, n_blocks: int) -> TemperedSample:
        """The first blocks of time as a sample of their own.

        Round trips and ``states`` stay those of the whole run.
        """
        n_blocks = checks.count("n_blocks", n_blocks)
        kept = int(self.block_sweeps[:n_blocks].sum()) // self.record_every
        return replace(
            self,
            temperature=self.temperature[:kept],
            delta=self.delta[:kept],
            visited=self.visited[:n_blocks],
            mixed=None if self.mixed is None else self.mixed[:n_blocks],
            block_sweeps=self.block_sweeps[:n_blocks],
        )

    def __repr__(self) -> str:
        return (
            f"<TemperedSample of {self.method} tempering: {self.n_chains} chains, "
            f"{self.n_sweeps} sweeps, {self.betas.size} betas, "
            f"{self.round_trips.sum():.0f} round trips>"
        )


@configured
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
    n_blocks: int = 10,
) -> TemperedSample:
    """Run chains over states and betas (Carlson et al. 2016, section 2.1).

    Parameters
    ----------
    path : Path
    betas : array (K,)
        From 0 to 1, for example ``rl.schedules.linear(99)``.
    log_z_path : array (K,)
        Estimates of log Z at the betas, up to a constant: see `pilot`.
    n_chains, n_sweeps : int
    rng : int, Generator or None
        Seed; the same seed gives the same bits, whatever ``n_threads``.
    prior : array (K,), optional
        r_k > 0, up to a factor; uniform by default.
    conditional : {"joint", "marginal"}
        What beta is drawn given: v and h, or v alone.
    start : "base", array (n_chains, n_visible) or TemperedSample
        States to begin from: draws of the base, or given ones; a sample goes on from its end,
        and with the round trips that its chains have begun.
    index : array (n_chains,), optional
        Indices of beta to begin from; uniform draws by default (section 2.4), or where a given
        sample ended.
    record_every : int
        Every how many sweeps a state's slope and beta are kept; sums take all sweeps.
    n_blocks : int
        Blocks of time in which sums are kept apart.
    n_threads, progress
        As of `rbmlib.using`.

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
    started = time.perf_counter()
    checks.instance("path", path, Path, checks.PATH_MEANING)
    betas, meaning = checks.ladder(betas), "log Z at each beta"
    k = betas.size
    log_z_path = checks.array("log_z_path", log_z_path, (k,), f"({k},), {meaning}")
    n_chains, n_sweeps = checks.count("n_chains", n_chains), checks.count("n_sweeps", n_sweeps)
    prior, every = checks.prior(prior, k), checks.count("record_every", record_every)
    check_conditional(path, conditional)
    bounds = block_bounds(n_sweeps, n_blocks)
    stream = ChainStream(rng, n_chains)
    v, index = _begin(path, stream, n_chains, k, start, index)
    origin = index.copy()
    delta = np.zeros((n_sweeps // every, n_chains))
    temperature = np.zeros(delta.shape, np.int16)
    mixed, visited = np.zeros((2, bounds.size - 1, n_chains, 3, k))
    goes_on = isinstance(start, TemperedSample)
    passages = np.zeros(n_chains, np.int64)
    last_end = start.last_end.copy() if goes_on else np.full(n_chains, -1)
    with bar(n_sweeps, "simulated tempering"):
        for block, (first, last) in enumerate(pairwise(bounds.tolist())):
            sums = Sums(mixed[block], visited[block], passages, last_end)
            rows = slice(first // every, last // every)
            kept = Kept(delta[rows], temperature[rows], every, first % every)
            v = temper(path, v, index, betas, np.log(prior) - log_z_path, last - first, stream,
                       sums, kept, conditional)  # fmt: skip
    return TemperedSample(
        conditional=conditional,
        betas=betas,
        log_z_path=log_z_path - log_z_path[0] + path.log_z_base,
        prior=prior,
        temperature=temperature,
        delta=delta,
        visited=visited,
        mixed=mixed,
        block_sweeps=np.diff(bounds),
        round_trips=passages / 2,
        origin=origin,
        states=v,
        index=index,
        last_end=last_end,
        log_z_base=path.log_z_base,
        record_every=every,
        seconds=time.perf_counter() - started,
        settings={"path": repr(path), "stream_seed": stream.seed},
    )


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


# starts -------------------------------------------------------------------------------------


def check_conditional(path, conditional) -> None:
    if checks.one_of("conditional", conditional, CONDITIONALS) == "joint" and not path.joint:
        raise ValueError(
            f"conditional is 'joint', but {type(path).__name__} has no joint log-density that is "
            "linear in beta: expected 'marginal'"
        )


def needs_joint_slope(path) -> None:
    """One slope a state serves all betas: what reads log Z off tempered states asks for it."""
    if not path.joint:
        raise ValueError(
            f"path is a {type(path).__name__}, whose slope depends on beta: expected a path such "
            "as rl.GeometricPath(rbm); use rl.rts(..., conditional='marginal') or rl.ais here"
        )


def block_bounds(n_sweeps: int, n_blocks) -> np.ndarray:
    """Sweeps at which blocks of time begin, and the end of the last; no block is empty."""
    n_blocks = min(checks.count("n_blocks", n_blocks), n_sweeps)
    return np.unique(np.rint(np.linspace(0, n_sweeps, n_blocks + 1)).astype(int))


def given_states(
    path, start, n: int, expected: str = "{} chains, but n_chains is {}: expected a state a chain"
):
    """``start``, if it holds n states of the path's models."""
    model = path.at(1.0)
    if hasattr(model, "visible"):
        start = checks.states("start", start, model.visible)
    else:
        width = getattr(model, "n_visible", None)
        start = checks.array("start", start, (None, width), f"(n_chains, {width})")
    if len(start) != n:
        raise ValueError("start holds " + expected.format(len(start), n))
    return start


def _begin(path, stream, n_chains, n_betas, start, index):
    """States and indices of beta to begin from."""
    if isinstance(start, TemperedSample):
        start, index = start.states, start.index if index is None else index
    if isinstance(start, str) and start == "base":
        v = path.sample_base(n_chains, stream)
    elif isinstance(start, (np.ndarray, list)):
        v = given_states(path, start, n_chains)
    else:
        raise ValueError(
            f"start is {checks.named(start)}: expected 'base', states (n_chains, n_visible) or a "
            "TemperedSample"
        )
    if index is None:
        return v, (stream.random((n_chains, 1))[:, 0] * n_betas).astype(np.int64)
    meaning = f"({n_chains},), indices of betas from 0 to {n_betas - 1}"
    index = np.array(checks.numeric("index", index, meaning))
    inside = index.shape == (n_chains,) and (index == index.astype(int)).all()
    if not (inside and index.min() >= 0 and index.max() < n_betas):
        raise ValueError(f"index has shape {index.shape} or values outside: expected {meaning}")
    return v, index.astype(np.int64)


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
