"""Runs of the parts of a cover, and what they say of Z together.

Forward and reverse chains of a part are joined by Bennett's equation. With the share alpha of the
part in the state at beta = 1, w alpha of a forward chain and R alpha of one that begins there,
drawn by p alpha, are work values of opposite processes: the equation holds with Z_c for Z.
"""

import math
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from ..estimators.ais import ais
from ..estimators.bar import bennett, bennett_error
from ..estimators.reverse_ais import resampled, reverse_ais
from ..numerics import ChainStream, cut, logmeanexp, logsumexp
from ..results import Estimate, WeightSummary, log_mean_interval, needed_ess, summarise_log_weights
from ..sampling.anneal import sweep
from ..schedules import linear
from ..schedules.pilots import friction_coefficient
from .cover import Cover, Part

BURN_IN = 200
SHORTER = 4  # a part's own path starts where it ends: it takes a quarter of the steps
FEWEST_STEPS = 100
LOOKS = 50  # at the first run, for its trace
ROUNDING = 1e-9  # nats: no spread
PILOT_CHAINS, PILOT_SHORTER, PILOT_STEPS = 64, 4, (100, 10_000)  # of a schedule
PILOT_LOOKS = 101
EVEN = 0.25  # of the steps, spread evenly: a pilot may miss what a longer run will meet


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
    def of(cls, joints) -> "Joint":
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


def run_part(cover: Cover, part: Part, n_steps: int, source) -> Runs:
    """Forward from both bases, and backward to the first from the particles of both.

    Some forward chains end elsewhere. Of those that begin in the part the mean of exp(-R) is
    their opposite's: E[alpha of the end of a forward chain] / Z_c.
    """

    def forward(path, betas, looks):
        run = ais(path, betas, part.n_chains, source, n_recorded=looks)
        return Weighted(run, cover.log_share(part, run.states))

    schedules = _schedules(part, n_steps, source)
    looks = (LOOKS, 2) if part.is_first else (2, 2)
    runs = [forward(*each) for each in zip(part.paths, schedules, looks, strict=True)]
    start, ancestors = _start(cover, part, runs, source)
    back = reverse_ais(part.paths[0], schedules[0], part.n_chains, source, start=start)
    reached = np.full(part.n_chains, logmeanexp(runs[0].log_shares))
    joint = _joint(runs, back.log_weights + cover.log_share(part, start), ancestors)
    return Runs(runs[0], runs[1], Weighted(back, reached), joint)


def _schedules(part, n_steps, source):
    """Of the runs from both bases; a single path's second run is another only by its steps."""
    first, second = part.paths
    if not part.is_first:
        return [linear(steps_of(part, n_steps))] * 2
    bent = schedule(first, n_steps, source)
    return [bent, linear(n_steps) if first is second else schedule(second, n_steps, source)]


def schedule(path, n_steps: int, source) -> np.ndarray:
    """Betas (n_steps + 1,): steps by the friction that a short pilot meets, with a share even."""
    length = linear(_pilot_steps(n_steps))
    run = ais(path, length, PILOT_CHAINS, source, n_recorded=PILOT_LOOKS, keep_chains=True)
    increments = np.diff(run.trace["chain_log_weights"], axis=0)
    if not np.ptp(increments, axis=1).all():  # a flat stretch, which has no friction
        return linear(n_steps)
    lengths = np.sqrt(friction_coefficient(run, smoothing=2.0)[1]) * np.diff(run.betas)
    even = EVEN * np.diff(run.betas)
    return cut(run.betas, (1 - EVEN) * lengths / lengths.sum() + even, n_steps)


def _pilot_steps(n_steps):
    return int(np.clip(n_steps // PILOT_SHORTER, *PILOT_STEPS))


def steps_of(part: Part, n_steps: int) -> int:
    """Of a run of a part: its own path starts where it ends."""
    return n_steps if part.is_first else max(FEWEST_STEPS, n_steps // SHORTER)


def work(parts: list[Part], n_steps: int) -> int:
    """Sweeps of all chains of the runs of these parts, pilots of schedules included."""
    runs = sum(part.n_chains * (3 * steps_of(part, n_steps) + BURN_IN) for part in parts)
    return runs + 2 * PILOT_CHAINS * _pilot_steps(n_steps)


def _joint(runs, reverse, ancestors):
    """Of the chains of the first run and the reverse ones, which descend from those of both."""
    forward = runs[0].values
    if np.ptp(np.concatenate([forward, reverse])) < ROUNDING:  # base and target are one
        return Joint(float(forward.mean()), 0.0, float(forward.size))
    root = bennett(forward, reverse)
    n_ancestors = sum(run.values.size for run in runs)
    return Joint(root.log_z, *bennett_error(root, ancestors, n_ancestors))


def _start(cover, part, runs, source):
    """Particles of both runs, drawn by their weights, then moved at beta = 1 within the part.

    And which of the particles, of both runs in turn, each descends from.

    The moves leave p in place, so that a state is exchanged for where they lead with the ratio of
    shares as probability.
    """
    pooled = np.concatenate([run.values for run in runs])
    chosen = source.permutation(resampled(pooled, source, part.n_chains))
    before = np.concatenate([run.estimate.states for run in runs])[chosen]
    stream = ChainStream(source, part.n_chains)
    moved = sweep(cover.parts[0].paths[0], before, 1.0, BURN_IN, stream)
    if part.of.all():
        return moved, chosen
    gain = cover.log_share(part, moved) - cover.log_share(part, before)
    accepted = np.log(source.random(part.n_chains)) < gain
    return np.where(accepted[:, None], moved, before), chosen


def joined(runs: list[Weighted]) -> Estimate:
    """Sums over the parts; of a single part, its run.

    Chains of different parts are put together by their number, the shorter part repeated, for the
    mean of the logarithm, which is then a bound in expectation: the exponential of such a
    sum has the mean Z.
    """
    first = runs[0].estimate
    if len(runs) == 1:
        return first
    sign, values = -1 if first.bound == "upper" else 1, [run.values for run in runs]
    sizes = np.array([one.size for one in values])
    sums = [summarise_log_weights(sign * one) for one in values]
    log_z, error = _sum([(sign * one.log_mean, one.std_error) for one in sums])
    n = int(sizes.sum())
    ess = n / (1 + n * error**2)
    low, high = log_mean_interval(WeightSummary(log_z * sign, error, ess), n)
    if sign > 0:
        together = logsumexp([np.resize(one, sizes.max()) for one in values], axis=0)
        mean, spread = float(together.mean()), together.std(ddof=1) / math.sqrt(sizes.min())
    else:  # the logarithm of a sum is convex: bounds of parts add up
        mean, spread = _sum([(one.mean(), one.std(ddof=1) / math.sqrt(one.size)) for one in values])
    weights = [one + sign * math.log(n / one.size) for one in values]
    return replace(
        first,
        log_z=log_z,
        std_error=error,
        interval=(low, high) if sign > 0 else (-high, -low),
        mean_log_z=mean,
        mean_std_error=float(spread),
        ess=ess,
        n_chains=n,
        converged=bool(ess >= needed_ess(n)),
        log_weights=np.concatenate(weights),
    )


def _sum(parts) -> tuple[float, float]:
    """Logarithm of a sum of independent terms, given those of the terms, and its error."""
    logs, errors = np.array(parts).T
    log_z = float(logsumexp(logs))
    return log_z, math.sqrt(sum((np.exp(logs - log_z) * errors) ** 2))
