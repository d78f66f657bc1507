"""Ratios of neighbouring Z from tempered states: Bennett's acceptance ratio, or stepping stones.

    log Z_K - log Z_1 = sum_k log (Z_{k+1} / Z_k),

each term from the states at beta_k and beta_{k+1} alone, by their work values d Delta, where d is
the step of beta: the root of Bennett's equation (1976), or the mean of two estimates (Xie, Lewis,
Fan, Kuo & Chen 2011),

    log mean exp(d Delta) over states at beta_k,  -log mean exp(-d Delta) over those at beta_{k+1}.

Krause, Fischer & Igel (2020) found the first the best of the ways to read log Z of an RBM off
parallel tempering. The second needs no root, and its two sides can be compared. MBAR uses all
states for all ratios, and so has the smaller variance if states are independent.
"""

from collections.abc import Callable
from dataclasses import replace
from itertools import pairwise
from typing import NamedTuple, Unpack

import numpy as np

from .. import checks
from ..context import Context
from ..numerics import logmeanexp
from ..results import Check, Estimate, of_chains
from ..sampling import TemperedSample
from . import estimator
from .bar import bennett

OVERLAP = 10  # states between neighbours (four times the slope of Bennett's equation)
FEWEST_STATES = 10  # effective ones, of the weights of stepping stones
BLOCKS = 20  # of time, in which the states of a run are compared


@estimator
def bar_of_sample(sample: TemperedSample, *, skip: int = 0, **context: Unpack[Context]) -> Estimate:
    """Estimate log Z by BAR between neighbouring betas of simulated or parallel tempering.

    Error bar as of `rbmlib.mbar`: the spread over independent chains or ladders. Betas without
    states are left out: their neighbours are joined.

    Raises
    ------
    ValueError
        If beta was drawn given v alone, or if no state was kept at beta = 0 or at beta = 1.

    Examples
    --------
    >>> import rbmlib as rl
    >>> rbm = rl.testsystems.random_rbm(n_visible=12, n_hidden=6, rng=0)
    >>> path, betas = rl.GeometricPath(rbm), rl.schedules.linear(9)
    >>> sample = rl.parallel_tempering(path, betas, 10, 1000, rng=0)
    >>> reads = rl.bar_of_sample, rl.stepping_stone_of_sample, rl.mbar_of_sample
    >>> both = [read(sample, skip=100) for read in reads]
    >>> all(abs(one.log_z - rl.exact(rbm).log_z) < 4 * one.std_error for one in both)
    True
    """

    def ratio(low, high):
        root = bennett(low, high)  # a state left out changes its term, and the counts in M
        moved_low = root.forward / root.slope - 1 / low.size
        moved_high = 1 / high.size - root.reverse / root.slope
        return Ratio(root.log_z, moved_low, moved_high, 4 * root.slope)

    words = "states where neighbours overlap"
    return joined_neighbours("bar (neighbours)", sample, skip, ratio, words, OVERLAP)


@estimator
def stepping_stone_of_sample(
    sample: TemperedSample, *, skip: int = 0, **context: Unpack[Context]
) -> Estimate:
    """Estimate log Z by stepping stones between neighbouring betas of tempered states.

    The rest, and an example, is as of `rbmlib.bar_of_sample`; ``settings["two_sided"]`` is how far
    the estimates from below and from above lie apart, in nats, summed over the ladder.
    """
    apart = []

    def ratio(low, high):
        (up, moved_up, ess_up), (down, moved_down, ess_down) = one_side(low, 1), one_side(high, -1)
        apart.append(down - up)
        return Ratio((up + down) / 2, moved_up / 2, moved_down / 2, min(ess_up, ess_down))

    words = "effective states between neighbours"
    run = joined_neighbours("stepping stones", sample, skip, ratio, words, FEWEST_STATES)
    return replace(run, settings=run.settings | {"two_sided": float(sum(apart))})


def one_side(work, sign):
    """log Z of a step from the states at one end, what each moves it by, and how many count."""
    log_weights = sign * work
    log_mean = float(logmeanexp(log_weights))
    shares = np.exp(log_weights - log_mean) / work.size
    return sign * log_mean, sign * (shares - 1 / work.size), 1 / float((shares**2).sum())


class Ratio(NamedTuple):
    """log (Z_high / Z_low), what each state at either end moves it by, and what it rests on."""

    log_z: float
    low: np.ndarray
    high: np.ndarray
    states: float  # how many, of those where the neighbours overlap


def joined_neighbours(
    method: str, sample, skip: int, ratio: Callable[..., Ratio], words: str, fewest: int
) -> Estimate:
    """The estimate from ``ratio`` of the work values (d Delta) at both ends of each step d.

    ``words`` say of what every step needs ``fewest``.
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
    if n_kept < 2:
        raise ValueError(f"sample keeps {n_kept} state a chain: expected 2; lower record_every")
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
    method: str, sample, log_z_path, influences, found, *, settings=None, **more
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
    settings = {"n_samples": size, "inefficiency": inefficiency} | (settings or {})
    log_z_path = log_z_path + sample.log_z_base
    return of_chains(method, sample, log_z_path, blocks, found, settings=settings, **more)
