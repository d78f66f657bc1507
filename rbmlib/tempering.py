"""Simulated and parallel tempering: the states that RTS, TI, BAR and MBAR share.

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

from ._kernels.tempering import UNIT, Tally
from ._numerics import logmeanexp, logsumexp
from ._streams import ChainStream, progress_bar
from ._validation import annealing_betas, count, finite_array, instance, numeric
from .paths import AnnealingPath, GeometricPath, State

__all__ = [
    "Pilot",
    "TemperedSample",
    "parallel_tempering",
    "pilot",
    "simulated_tempering",
]

CONDITIONALS = ("joint", "marginal")
PATH_MEANING = "an annealing path, such as rl.GeometricPath(rbm)"
MAX_BETAS = 32_767  # indices are kept in 16 bits


@dataclass(frozen=True, eq=False)
class TemperedSample:
    """States of many chains over K betas, and what was added up on the way.

    Attributes
    ----------
    method : {"simulated", "parallel"}
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
    transitions, mixed_transitions : ndarray (K, K)
        Numbers of moves from beta to beta; with ``q(k | x)`` for the beta moved to.
    round_trips : ndarray (n_chains,)
        From one end of the ladder to the other and back, of each chain or replica.
    origin : ndarray (n_groups,)
        Index of beta at which the chains began; -1 where that tells nothing (parallel).
    states, index : State, ndarray (n_chains,)
        Where the chains are.
    last_end : ndarray (n_chains,)
        Index of beta of the end of the ladder where each chain was last; -1: at neither yet.
    """

    method: str
    conditional: str
    betas: np.ndarray
    log_z_path: np.ndarray
    prior: np.ndarray
    temperature: np.ndarray
    delta: np.ndarray
    visited: np.ndarray
    mixed: np.ndarray | None
    block_sweeps: np.ndarray
    transitions: np.ndarray
    mixed_transitions: np.ndarray | None
    round_trips: np.ndarray
    origin: np.ndarray
    states: State
    index: np.ndarray
    log_z_base: float
    n_sweeps: int
    record_every: int
    seconds: float
    swap_rates: np.ndarray | None = None
    settings: dict[str, Any] = field(default_factory=dict)
    last_end: np.ndarray | None = None

    @property
    def n_chains(self) -> int:
        """Independent chains; ladders of parallel tempering."""
        return self.visited.shape[1]

    def occupation(self) -> np.ndarray:
        """The Rao-Blackwellised c_k (eq. 9) of each block and chain: (n_blocks, n_chains, K)."""
        return self.mixed[:, :, 0] / self.block_sweeps[:, None, None]

    def of_chains(self, chains) -> TemperedSample:
        """Some chains (or ladders), a slice or indices, as a sample of their own.

        The matrices of transitions stay those of all chains.
        """
        columns = np.arange(self.index.size).reshape(self.n_chains, -1)[chains].ravel()
        return replace(
            self, temperature=self.temperature[:, columns], delta=self.delta[:, columns],
            visited=self.visited[:, chains],
            mixed=None if self.mixed is None else self.mixed[:, chains],
            round_trips=self.round_trips[columns], origin=self.origin[chains],
            states=State(*(array[columns] for array in self.states)), index=self.index[columns],
            last_end=None if self.last_end is None else self.last_end[columns],
        )  # fmt: skip

    def first_blocks(self, n_blocks: int) -> TemperedSample:
        """The first blocks of time as a sample of their own.

        Round trips, matrices of transitions and ``states`` stay those of the whole run.
        """
        n_blocks = count("n_blocks", n_blocks)
        n_sweeps = int(self.block_sweeps[:n_blocks].sum())
        kept = n_sweeps // self.record_every
        return replace(
            self, temperature=self.temperature[:kept], delta=self.delta[:kept],
            visited=self.visited[:n_blocks],
            mixed=None if self.mixed is None else self.mixed[:n_blocks],
            block_sweeps=self.block_sweeps[:n_blocks], n_sweeps=n_sweeps,
        )  # fmt: skip

    def __repr__(self) -> str:
        return (
            f"<TemperedSample of {self.method} tempering: {self.n_chains} chains, "
            f"{self.n_sweeps} sweeps, {self.betas.size} betas, "
            f"{self.round_trips.sum():.0f} round trips>"
        )


# simulated tempering ------------------------------------------------------------------------


def simulated_tempering(
    path: AnnealingPath,
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
    n_threads: int | None = None,
    progress: bool | None = None,
) -> TemperedSample:
    """Run chains over states and betas (Carlson et al. 2016, section 2.1).

    Parameters
    ----------
    path : AnnealingPath
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
    start : "base", State or TemperedSample
        States to begin from: draws of the base, or given ones; a sample goes on from its end,
        and with the round trips that its chains have begun.
    index : array (n_chains,), optional
        Indices of beta to begin from; uniform draws by default (section 2.4), or where a given
        sample ended.
    record_every : int
        Every how many sweeps a state's slope and beta are kept; sums take all sweeps.
    n_blocks : int
        Blocks of time in which sums are kept apart.

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
    instance("path", path, AnnealingPath, PATH_MEANING)
    betas = ladder(betas)
    log_z_path = finite_array(
        "log_z_path", log_z_path, (betas.size,), f"({betas.size},), log Z at each beta"
    )
    n_chains, n_sweeps = count("n_chains", n_chains), count("n_sweeps", n_sweeps)
    record_every = count("record_every", record_every)
    n_blocks = min(count("n_blocks", n_blocks), n_sweeps)
    prior = checked_prior(prior, betas.size)
    check_conditional(path, conditional)
    stream = ChainStream(rng, n_chains)
    state, index = _begin(path, stream, n_chains, betas.size, start, index)
    origin = index.copy()
    offsets = np.log(prior) - log_z_path
    bounds = np.unique(np.rint(np.linspace(0, n_sweeps, n_blocks + 1)).astype(int))
    n_kept, k = n_sweeps // record_every, betas.size
    delta = np.zeros((n_kept, n_chains))
    temperature = np.zeros((n_kept, n_chains), np.int16)
    mixed, visited = np.zeros((2, bounds.size - 1, n_chains, 3, k))
    counts = np.zeros((2, k, k), np.int64)
    passages, last_end = np.zeros(n_chains, np.int64), np.full(n_chains, -1)
    if getattr(start, "last_end", None) is not None:
        last_end = start.last_end.copy()
    with progress_bar(n_sweeps, "simulated tempering", progress) as bar:
        for block, (first, last) in enumerate(pairwise(bounds)):
            tally = Tally(mixed[block], visited[block], *counts, passages, last_end)
            state = _advance(
                path, conditional, state, index, betas, offsets, tally, (delta, temperature),
                int(first), int(last), stream, record_every, n_threads, bar.update,
            )  # fmt: skip
    return TemperedSample(
        method="simulated",
        conditional=conditional,
        betas=betas,
        log_z_path=log_z_path - log_z_path[0] + path.log_z_base,
        prior=prior,
        temperature=temperature,
        delta=delta,
        visited=visited,
        mixed=mixed,
        block_sweeps=np.diff(bounds),
        transitions=counts[0],
        mixed_transitions=counts[1] / UNIT,
        round_trips=passages / 2,
        origin=origin,
        states=state,
        index=index,
        log_z_base=path.log_z_base,
        n_sweeps=n_sweeps,
        record_every=record_every,
        seconds=time.perf_counter() - started,
        settings={"path": repr(path), "stream_seed": stream.seed},
        last_end=last_end,
    )


def ladder(betas) -> np.ndarray:
    """A schedule of at most as many betas as an index of 16 bits can name."""
    betas = annealing_betas(betas)
    if betas.size > MAX_BETAS:
        raise ValueError(f"betas holds {betas.size:,} values: expected {MAX_BETAS:,} at most")
    return betas


def checked_prior(prior, n: int) -> np.ndarray:
    """r_k, normalised; uniform if None."""
    if prior is None:
        return np.full(n, 1 / n)
    prior = finite_array("prior", prior, (n,), f"({n},), one positive number a beta")
    if not (prior > 0).all():
        raise ValueError(f"prior is {prior.min()} at its least: expected positive numbers")
    return prior / prior.sum()


def check_conditional(path, conditional) -> None:
    if conditional not in CONDITIONALS:
        raise ValueError(f"conditional is {conditional!r}: expected one of {CONDITIONALS}")
    own = type(path).joint_transition is not AnnealingPath.joint_transition
    if conditional == "joint" and not own:
        raise ValueError(
            f"conditional is 'joint', but {type(path).__name__} has no joint log-density that is "
            "linear in beta: expected 'marginal'"
        )


def _begin(path, stream, n_chains, n_betas, start, index):
    """States and indices of beta to begin from."""
    if isinstance(start, TemperedSample):
        start, index = start.states, start.index if index is None else index
    if isinstance(start, State):
        if start.n_chains != n_chains:
            raise ValueError(f"start holds {start.n_chains} chains, but n_chains is {n_chains}")
        state = start
    elif isinstance(start, str) and start == "base":
        state = path.sample_base(n_chains, stream)
    else:
        came = repr(start) if isinstance(start, str) else f"a {type(start).__name__}"
        raise ValueError(f"start is {came}: expected 'base', a State or a TemperedSample")
    if index is None:
        return state, (stream.random((n_chains, 1))[:, 0] * n_betas).astype(np.int64)
    meaning = f"({n_chains},), indices of betas from 0 to {n_betas - 1}"
    index = np.array(numeric("index", index, meaning))
    inside = index.shape == (n_chains,) and (index == index.astype(int)).all()
    if not (inside and index.min() >= 0 and index.max() < n_betas):
        raise ValueError(f"index has shape {index.shape} or values outside: expected {meaning}")
    return state, index.astype(np.int64)


def _advance(
    path, conditional, state, index, betas, offsets, tally, kept, first, last, stream,
    record_every, n_threads, on_progress,
) -> State:  # fmt: skip
    """Sweeps ``first`` to ``last``: compiled where that can be, sweep by sweep elsewhere."""
    compiled = conditional == "joint" and isinstance(path, GeometricPath) and path._is_fine()
    if compiled:
        rows = slice(first // record_every, last // record_every)
        state = path.temper(
            state, index, betas, offsets, tally, tuple(a[rows] for a in kept), last - first,
            stream, record_every=record_every, phase=first % record_every, n_threads=n_threads,
            on_progress=on_progress,
        )  # fmt: skip
        shift = path.rbm.log_scale  # of every slope; the kernels know the units' only
        kept[0][rows] += shift
        for sums in (tally.mixed, tally.visited):
            sums[:, 2] += shift * (2 * sums[:, 1] + shift * sums[:, 0])
            sums[:, 1] += shift * sums[:, 0]
        return state
    for sweep in range(first, last):
        state, logs, slopes = moved(path, conditional, state, betas[index], betas, stream)
        draw_betas(index, logs + offsets, slopes, stream.random((index.size, 1)), tally)
        if (sweep + 1) % record_every == 0:
            row = (sweep + 1) // record_every - 1
            own = np.minimum(index, slopes.shape[1] - 1)
            kept[0][row] = slopes[np.arange(index.size), own]
            kept[1][row] = index
        on_progress(1)
    return state


def moved(path, conditional, state, beta, betas, stream):
    """States after a sweep, their log-densities (n_chains, K), and slopes (n_chains, 1 or K)."""
    if conditional == "joint":
        state, delta = path.joint_transition(state, beta, stream)
        return state, delta[:, None] * betas, delta[:, None]
    state = path.transition(state, beta, stream)
    slopes = np.stack([path.log_density_slope(state, b) for b in betas], axis=1)
    return state, path.log_density(state, betas), slopes


def draw_betas(index, logits, slopes, uniforms, tally: Tally) -> None:
    """Draw the index of every chain from ``exp(logits)`` (n_chains, K), in place, and tally."""
    q = np.exp(logits - logsumexp(logits, axis=1)[:, None])
    new = np.minimum((np.cumsum(q, axis=1) <= uniforms).sum(axis=1), q.shape[1] - 1)
    chains = np.arange(index.size)
    slopes = np.broadcast_to(slopes, q.shape)
    own = slopes[chains, new]
    for power in range(3):
        tally.mixed[:, power] += q * slopes**power
        tally.visited[chains, power, new] += own**power
    np.add.at(tally.mixed_transitions, index, (q * UNIT).astype(np.int64))
    np.add.at(tally.transitions, (index, new), 1)
    note_ends(new, q.shape[1], tally.passages, tally.last_end)
    index[:] = new


def note_ends(index, n, passages, last_end) -> None:
    """Count passages from one end of the ladder to the other."""
    at_end = (index == 0) | (index == n - 1)
    passages += at_end & (last_end >= 0) & (last_end != index)
    last_end[at_end] = index[at_end]


# a pilot ------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Pilot:
    """A short annealing run: what simulated tempering is started from.

    Attributes
    ----------
    log_z_path : ndarray (K,)
        Estimates of log Z at the betas.
    bottom, top : State
        Draws of the base; the states annealed to beta = 1, not weighted.
    log_weights : ndarray (n_chains,)
        Of the annealed states (base included).
    log_weights_path : ndarray (K, n_chains)
        Of every chain at every beta (base not included).
    """

    betas: np.ndarray
    log_z_path: np.ndarray
    bottom: State
    top: State
    log_weights: np.ndarray
    log_weights_path: np.ndarray
    n_steps: int


def pilot(
    path: AnnealingPath, betas, n_chains: int = 100, n_steps: int = 1000, rng=None, *,
    n_threads: int | None = None,
) -> Pilot:  # fmt: skip
    """Anneal ``n_chains`` through the betas in about ``n_steps`` steps (a few tenths of a second).

    Estimates of log Z at every beta by annealed importance sampling: good enough for chains
    to move along the ladder, which equal ones are not.
    """
    instance("path", path, AnnealingPath, PATH_MEANING)
    betas = ladder(betas)
    n_chains, n_steps = count("n_chains", n_chains, 2), count("n_steps", n_steps)
    each = -(-n_steps // (betas.size - 1))
    fine = refined(betas, each)
    stream = ChainStream(rng, n_chains)
    along = np.zeros((betas.size, n_chains))

    def record(k, _, log_weights):
        along[k // each] = log_weights

    bottom = path.sample_base(n_chains, stream)
    top, log_weights = path.anneal(
        bottom, fine, stream, record_at=range(each, fine.size, each), on_record=record,
        n_threads=n_threads,
    )  # fmt: skip
    log_z_path = path.log_z_base + logmeanexp(along, axis=1)
    log_weights = log_weights + path.log_z_base
    return Pilot(betas, log_z_path, bottom, top, log_weights, along, fine.size - 1)


def refined(betas: np.ndarray, each: int) -> np.ndarray:
    """The betas with ``each`` steps from one to the next."""
    grid = np.arange(each * (betas.size - 1) + 1) / each
    fine = np.interp(grid, np.arange(betas.size), betas)
    fine[::each] = betas
    return fine


# parallel tempering -------------------------------------------------------------------------


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
    n_blocks = min(count("n_blocks", n_blocks), n_sweeps)
    check_conditional(path, conditional)
    k = betas.size
    stream = ChainStream(rng, n_chains * k)
    anneal_sweeps = k if anneal_sweeps is None else count("anneal_sweeps", anneal_sweeps)
    state = _replicas(path, betas, stream, n_chains, start, anneal_sweeps, n_threads)
    index = np.tile(np.arange(k), n_chains)
    bounds = np.unique(np.rint(np.linspace(0, n_sweeps, n_blocks + 1)).astype(int))
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
        return start
    if not (isinstance(start, str) and start in ("base", "annealed")):
        came = repr(start) if isinstance(start, str) else f"a {type(start).__name__}"
        raise ValueError(f"start is {came}: expected 'base', 'annealed' or a State")
    state = path.sample_base(n, stream)
    if start == "base":
        return state
    own = np.tile(betas, n_chains)
    for beta in betas[1:]:  # a replica stays at its beta once the others pass it
        state = path.sweep(state, np.minimum(own, beta), anneal_sweeps, stream, n_threads)
    return state


def _swept(path, conditional, state, index, betas, stream, n_threads):
    """As `moved`, compiled where that can be."""
    if conditional != "joint" or not (isinstance(path, GeometricPath) and path._is_fine()):
        return moved(path, conditional, state, betas[index], betas, stream)
    kept = np.zeros((1, index.size)), np.zeros((1, index.size), np.int16)
    state = path.temper(
        state, index, betas, 0.0 * betas, None, kept, 1, stream, n_threads=n_threads
    )
    stream.draw -= 1  # beta was not drawn
    delta = kept[0][0][:, None] + path.rbm.log_scale
    return state, delta * betas, delta


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
