"""Simulated tempering: a chain draws its beta from estimates of log Z, sweep by sweep."""

from __future__ import annotations

import time
from itertools import pairwise

import numpy as np

from .._kernels.tempering import UNIT, Tally
from .._progress import progress_bar
from .._streams import ChainStream
from .._validation import count, finite_array, instance, named, numeric
from ..paths.base import AnnealingPath, State
from .checks import PATH_MEANING, block_bounds, check_conditional, checked_prior, ladder
from .sample import TemperedSample


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
    instance("path", path, AnnealingPath, PATH_MEANING)
    betas = ladder(betas)
    log_z_path = finite_array(
        "log_z_path", log_z_path, (betas.size,), f"({betas.size},), log Z at each beta"
    )
    n_chains, n_sweeps = count("n_chains", n_chains), count("n_sweeps", n_sweeps)
    prior = checked_prior(prior, betas.size)
    check_conditional(path, conditional)
    return sample_of(
        path, betas, log_z_path, n_chains, n_sweeps, rng, prior=prior, conditional=conditional,
        start=start, index=index, record_every=record_every, n_blocks=n_blocks,
        n_threads=n_threads, progress=progress,
    )  # fmt: skip


def sample_of(
    path: AnnealingPath, betas, log_z_path, n_chains: int, n_sweeps: int, rng, *, prior,
    conditional: str, start="base", index=None, record_every=1, n_blocks=10, n_threads=None,
    progress=None,
) -> TemperedSample:  # fmt: skip
    """`simulated_tempering` of a path, betas, sizes, a prior and so on that were checked."""
    started = time.perf_counter()
    record_every = count("record_every", record_every)
    bounds = block_bounds(n_sweeps, n_blocks)
    stream = ChainStream(rng, n_chains)
    state, index = _begin(path, stream, n_chains, betas.size, start, index)
    origin = index.copy()
    offsets = np.log(prior) - log_z_path
    n_kept, k = n_sweeps // record_every, betas.size
    delta = np.zeros((n_kept, n_chains))
    temperature = np.zeros((n_kept, n_chains), np.int16)
    mixed, visited = np.zeros((2, bounds.size - 1, n_chains, 3, k))
    counts = np.zeros((2, k, k), np.int64)
    passages, last_end = np.zeros(n_chains, np.int64), np.full(n_chains, -1)
    if isinstance(start, TemperedSample) and start.last_end is not None:
        last_end = start.last_end.copy()
    with progress_bar(n_sweeps, "simulated tempering", progress) as bar:
        for block, (first, last) in enumerate(pairwise(bounds)):
            tally = Tally(mixed[block], visited[block], *counts, passages, last_end)
            rows = slice(first // record_every, last // record_every)
            state = path.temper(
                state, index, betas, offsets, tally, (delta[rows], temperature[rows]),
                int(last - first), stream, conditional=conditional, record_every=record_every,
                phase=int(first) % record_every, n_threads=n_threads, on_progress=bar.update,
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


def _begin(path, stream, n_chains, n_betas, start, index):
    """States and indices of beta to begin from."""
    if isinstance(start, TemperedSample):
        start, index = start.states, start.index if index is None else index
    if isinstance(start, State):
        if start.n_chains != n_chains:
            raise ValueError(f"start holds {start.n_chains} chains, but n_chains is {n_chains}")
        state = path.checked_state(start, "start")
    elif isinstance(start, str) and start == "base":
        state = path.sample_base(n_chains, stream)
    else:
        raise ValueError(f"start is {named(start)}: expected 'base', a State or a TemperedSample")
    if index is None:
        return state, (stream.random((n_chains, 1))[:, 0] * n_betas).astype(np.int64)
    meaning = f"({n_chains},), indices of betas from 0 to {n_betas - 1}"
    index = np.array(numeric("index", index, meaning))
    inside = index.shape == (n_chains,) and (index == index.astype(int)).all()
    if not (inside and index.min() >= 0 and index.max() < n_betas):
        raise ValueError(f"index has shape {index.shape} or values outside: expected {meaning}")
    return state, index.astype(np.int64)
