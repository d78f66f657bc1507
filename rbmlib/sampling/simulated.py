"""Simulated tempering: chains that draw their beta (Carlson et al. 2016, section 2.1)."""

from __future__ import annotations

import time
from itertools import pairwise
from typing import Unpack

import numpy as np

from .. import checks
from ..context import Context, bar, configured
from ..numerics import ChainStream
from ..paths.path import Path
from .sample import TemperedSample, block_bounds, check_conditional, given_states
from .temper import Kept, Sums, temper


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
    **context: Unpack[Context],
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
        path=path,
    )


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
