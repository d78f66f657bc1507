"""Runs of the parts of a cover, and what they say of Z together.

Forward and reverse chains of a part are joined by Bennett's equation. With the share alpha of the
part in the state at beta = 1, w alpha of a forward chain and R alpha of one that begins there,
drawn by p alpha, are work values of opposite processes: the equation holds with Z_c for Z.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from .._numerics import logmeanexp, logsumexp
from .._streams import ChainStream
from ..estimators._reverse_start import moved_on, resample
from ..estimators._weights import has_converged
from ..estimators.ais import ais
from ..estimators.bar import bennett, bennett_error
from ..estimators.reverse_ais import reverse_ais
from ..paths.base import State
from ..results import Estimate, WeightSummary, log_mean_interval, summarise_log_weights
from ..schedules import linear
from .cover import SHORTER, Cover, Part
from .pilot import schedule

BURN_IN = 200
FEWEST_STEPS = 100
LOOKS = 50  # at the first run, for its trace
ROUNDING = 1e-9  # nats: no spread


class Weighted(NamedTuple):
    """A run, and the log-share of the part in the state that each of its weights goes with."""

    estimate: Estimate
    log_shares: np.ndarray  # (n_chains,)

    @property
    def values(self) -> np.ndarray:
        """Whose exponentials have the mean Z_c; the reciprocals of a reverse run, 1 / Z_c."""
        return self.estimate.log_weights + self.log_shares


class Joint(NamedTuple):
    """log Z by Bennett's equation, its error, and how many independent values that rests on."""

    log_z: float
    std_error: float
    families: float

    @classmethod
    def of(cls, joints) -> Joint:
        """Of a sum over parts; its degrees of freedom by Welch and Satterthwaite."""
        logs, errors, families = np.array(joints).T
        log_z = float(logsumexp(logs))
        variances = (np.exp(logs - log_z) * errors) ** 2
        total = variances.sum()
        if not total:  # every part is exact
            return cls(log_z, 0.0, float(families.sum()))
        freedom = total**2 / max((variances**2 / (families - 1)).sum(), 1e-300)
        return cls(log_z, math.sqrt(total), float(freedom) + 1)


class Runs(NamedTuple):
    """Of one part."""

    forward: Weighted
    other: Weighted
    backward: Weighted
    joint: Joint


def run_part(cover: Cover, part: Part, n_steps: int, source, options: dict) -> Runs:
    """Forward from both bases, and backward to the first from the particles of both.

    Some forward chains end elsewhere. Of those that begin in the part the mean of exp(-R) is
    their opposite's: E[alpha of the end of a forward chain] / Z_c.
    """

    def forward(path, betas, looks) -> Weighted:
        run = ais(path, betas, part.n_chains, source, n_recorded=looks, **options)
        return Weighted(run, cover.log_share(part, run.states.coordinates))

    n_threads = options["n_threads"]
    if part.is_first:
        first, second = part.paths
        schedules = [schedule(first, n_steps, source, n_threads)]
        one = first is second  # whose second run is another only by its steps
        schedules += [linear(n_steps) if one else schedule(second, n_steps, source, n_threads)]
    else:
        schedules = [linear(steps_of(part, n_steps))] * 2
    looks = (LOOKS, 2) if part.is_first else (2, 2)
    runs = [forward(*each) for each in zip(part.paths, schedules, looks, strict=True)]
    start, ancestors = _start(cover, part, runs, source, n_threads)
    back = reverse_ais(part.paths[0], schedules[0], part.n_chains, source, start=start, **options)
    reached = np.full(part.n_chains, logmeanexp(runs[0].log_shares))
    joint = _joint(runs, back.log_weights + cover.log_share(part, start.coordinates), ancestors)
    return Runs(runs[0], runs[1], Weighted(back, reached), joint)


def steps_of(part: Part, n_steps: int) -> int:
    """Of a run of a part: its own path starts where it ends."""
    return n_steps if part.is_first else max(FEWEST_STEPS, n_steps // SHORTER)


def _joint(runs, reverse: np.ndarray, ancestors: np.ndarray) -> Joint:
    """Of the chains of the first run and the reverse ones, which descend from those of both."""
    forward = runs[0].values
    if np.ptp(np.concatenate([forward, reverse])) < ROUNDING:  # base and target are one
        return Joint(float(forward.mean()), 0.0, float(forward.size))
    root = bennett(forward, reverse)
    n_ancestors = sum(run.values.size for run in runs)
    return Joint(root.log_z, *bennett_error(root, ancestors, n_ancestors))


def _start(cover: Cover, part: Part, runs, source, n_threads) -> tuple[State, np.ndarray]:
    """Particles of both runs, drawn by their weights, then moved at beta = 1 within the part.

    And which of the particles, of both runs in turn, each descends from.

    The moves leave p in place, so that a state is exchanged for where they lead with the ratio of
    shares as probability.
    """
    pooled = np.concatenate([run.values for run in runs])
    both = zip(*(run.estimate.states for run in runs), strict=True)
    states = type(runs[0].estimate.states)(*(np.concatenate(pair) for pair in both))
    chosen = source.permutation(resample(pooled, source, part.n_chains))
    stream = ChainStream(source, part.n_chains)
    moved = moved_on(cover.parts[0].paths[0], states, chosen, BURN_IN, stream, n_threads=n_threads)
    if part.of.all():
        return moved, chosen
    before = states.coordinates[chosen]
    gain = cover.log_share(part, moved.coordinates) - cover.log_share(part, before)
    accepted = np.log(source.random(part.n_chains)) < gain
    return State(np.where(accepted[:, None], moved.coordinates, before)), chosen


def joined(runs) -> Estimate:
    """Sums over the parts; of a single part, its run.

    Chains of different parts are put together by their number, the shorter part repeated, for the
    mean of the logarithm, which is then a bound in expectation: the exponential of such a
    sum has the mean Z.
    """
    first = runs[0].estimate
    if len(runs) == 1:
        return first
    sign = -1 if first.bound == "upper" else 1
    sums = [summarise_log_weights(sign * run.values) for run in runs]
    logs = np.array([sign * one.log_mean for one in sums])
    log_z = float(logsumexp(logs))
    shares = np.exp(logs - log_z)
    error = math.sqrt(sum((s * one.std_error) ** 2 for s, one in zip(shares, sums, strict=True)))
    sizes = [run.values.size for run in runs]
    n = sum(sizes)
    ess = n / (1 + n * error**2)
    summary = WeightSummary(log_z * sign, error, ess)
    low, high = log_mean_interval(summary, n)
    each = [np.resize(run.values, max(sizes)) for run in runs]
    together = logsumexp(np.array(each), axis=0)
    mean, spread = float(together.mean()), float(together.std(ddof=1)) / math.sqrt(min(sizes))
    if sign < 0:  # the logarithm of a sum is convex: bounds of parts add up
        means = np.array([run.values.mean() for run in runs])
        mean = float(logsumexp(means))
        spreads = [run.values.std(ddof=1) / math.sqrt(run.values.size) for run in runs]
        spread = float(np.sqrt(np.sum((np.exp(means - mean) * spreads) ** 2)))
    weights = [run.values + sign * math.log(n / run.values.size) for run in runs]
    return replace(
        first, log_z=log_z, std_error=error, ess=ess, n_chains=n, mean_log_z=mean,
        interval=(low, high) if sign > 0 else (-high, -low), mean_std_error=spread,
        converged=has_converged(ess, n), log_weights=np.concatenate(weights),
    )  # fmt: skip
