"""Bennett's acceptance ratio between neighbouring betas of tempered states (Bennett 1976).

    log Z_K - log Z_1 = sum_k log (Z_{k+1} / Z_k),

each term from the states at beta_k and beta_{k+1} alone: the root of Bennett's equation for the
work values (beta_{k+1} - beta_k) Delta. Krause, Fischer & Igel (2020) found it the best of the ways
to read log Z of an RBM off parallel tempering. MBAR uses all states for all ratios, and so has the
smaller variance if states are independent.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import NamedTuple, Unpack

import numpy as np

from .. import checks
from ..context import Context
from ..results import Check, Estimate, of_chains
from ..sampling import TemperedSample
from . import estimator
from .bar import bennett

OVERLAP = 10  # states between neighbours (four times the slope of Bennett's equation)
BLOCKS = 20  # of time, in which the states of a run are compared


@estimator
def bar_of_sample(sample: TemperedSample, *, skip: int = 0, **context: Unpack[Context]) -> Estimate:
    """Estimate log Z by BAR between neighbouring betas of simulated or parallel tempering.

    Parameters
    ----------
    sample : TemperedSample
        With ``conditional="joint"``.
    skip : int
        Kept states of each chain that are not used.

    Returns
    -------
    Estimate
        Error bar and checks as of `rbmlib.mbar_of_sample`: the spread over independent chains or
        ladders. Betas without states are left out: their neighbours are joined.

    Raises
    ------
    ValueError
        If no state was kept at beta = 0 or at beta = 1.

    Examples
    --------
    >>> import rbmlib as rl
    >>> rbm = rl.testsystems.random_rbm(n_visible=12, n_hidden=6, rng=0)
    >>> path, betas = rl.GeometricPath(rbm), rl.schedules.linear(9)
    >>> estimate = rl.bar_of_sample(rl.parallel_tempering(path, betas, 10, 1000, rng=0), skip=100)
    >>> abs(estimate.log_z - rl.exact(rbm).log_z) < 4 * estimate.std_error
    True
    """
    words = "states where neighbours overlap"
    return joined_neighbours("bar (neighbours)", sample, skip, _ratio, words, OVERLAP)


class Ratio(NamedTuple):
    """log (Z_high / Z_low), what each state at either end moves it by, and what it rests on."""

    log_z: float
    low: np.ndarray
    high: np.ndarray
    states: float  # how many, of those where the neighbours overlap


def _ratio(low, high) -> Ratio:
    """What leaving a state out would change: its term, and the counts in Bennett's M."""
    root = bennett(low, high)
    return Ratio(
        root.log_z,
        root.forward / root.slope - 1 / low.size,
        1 / high.size - root.reverse / root.slope,
        4 * root.slope,
    )


def joined_neighbours(
    method: str,
    sample: TemperedSample,
    skip: int,
    ratio: Callable[..., Ratio],
    words: str,
    fewest: int,
) -> Estimate:
    """The estimate from ``ratio`` of the work values (d Delta) at both ends of each step d.

    ``words`` say of what every step needs ``fewest``. Betas without states are left out: their
    neighbours are joined.
    """
    delta, temperature, counts = kept_states(sample, skip)
    used = np.flatnonzero(counts)
    for end in (0, counts.size - 1):
        if not counts[end]:
            raise ValueError(
                f"sample holds no state at beta = {sample.betas[end]:g}: expected some at both "
                "ends; run more sweeps, or start from a pilot"
            )
    delta, order = delta.ravel(), np.argsort(temperature.ravel(), kind="stable")
    of_beta = np.split(order, np.cumsum(counts)[:-1])
    influences, log_z_path, least = np.zeros(delta.size), np.zeros(counts.size), np.inf
    for low, high in pairwise(used):
        step = sample.betas[high] - sample.betas[low]
        found = ratio(step * delta[of_beta[low]], step * delta[of_beta[high]])
        log_z_path[high] = log_z_path[low] + found.log_z
        influences[of_beta[low]] += found.low
        influences[of_beta[high]] += found.high
        least = min(least, found.states)
    log_z_path = np.interp(sample.betas, sample.betas[used], log_z_path[used])
    check = Check(f"{least:.0f} {words}, {fewest} or more", bool(least >= fewest))
    return of_influences(method, sample, log_z_path, influences.reshape(temperature.shape), [check])


# states of a sample, and their influences ---------------------------------------------------


def kept_states(sample, skip):
    """Slopes and indices of beta (n_kept - skip, n_columns), and how many states each beta has."""
    checked_sample(sample, "a TemperedSample, of rl.simulated_tempering or rl.parallel_tempering")
    if sample.conditional != "joint":
        raise ValueError(
            f"sample was drawn with conditional={sample.conditional!r}: expected 'joint', where "
            "one slope a state serves all betas"
        )
    n_kept, skip = len(sample.delta), checks.count("skip", skip, 0)
    if n_kept - skip < 2:
        raise ValueError(
            f"skip is {skip}: expected at most {n_kept - 2}, as {n_kept} states are kept of a chain"
        )
    temperature = sample.temperature[skip:].astype(int)
    counts = np.bincount(temperature.ravel(), minlength=sample.betas.size)
    return sample.delta[skip:], temperature, counts


def checked_sample(
    sample, meaning: str = "a TemperedSample of rl.simulated_tempering", name: str = "sample"
) -> None:
    """A sample of two chains or more: their spread is the error bar."""
    checks.instance(name, sample, TemperedSample, meaning)
    if sample.n_chains < 2:
        raise ValueError(f"{name} holds 1 chain: expected 2 or more, for the error bar")


def checked_skip(skip, n_blocks: int) -> int:
    """Blocks of time not used: some must be left."""
    skip = checks.count("skip", skip, 0)
    if skip >= n_blocks:
        raise ValueError(
            f"skip is {skip}: expected {n_blocks - 1} blocks of time at most, as the sample has "
            f"{n_blocks}"
        )
    return skip


def of_influences(
    method: str,
    sample,
    log_z_path,
    influences,
    found: list[Check],
    *,
    settings: dict | None = None,
    **more,
) -> Estimate:
    """The estimate whose last log Z each state moves by its influence: (n_kept, n_columns).

    MBAR and BAR are roots of equations that sum over states. To first order each state moves the
    root by its influence, and log Z by the sum of these, which is 0 over all. Independent chains
    (or ladders) have independent sums, whose spread is the standard error, whatever the states of
    one chain have to do with each other. ``log_z_path`` (K,) is relative to the base.
    """
    rows = np.array_split(influences, min(BLOCKS, len(influences)))
    blocks = np.stack([part.sum(axis=0) for part in rows])
    n_chains, size = sample.n_chains, influences.size
    blocks = n_chains * blocks.reshape(len(rows), n_chains, -1).sum(axis=2)  # ladders: all replicas
    chains = blocks.sum(axis=0)
    variance = chains.var(ddof=1) / n_chains
    inefficiency = float(variance / (influences.var() * size)) if variance > 0 else np.nan
    return of_chains(
        method, sample, log_z_path + sample.log_z_base, blocks, found,
        settings={"n_samples": size, "inefficiency": inefficiency} | (settings or {}), **more,
    )  # fmt: skip
