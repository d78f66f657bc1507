"""Make an `Estimate` from independent values and checks.

Each estimator has one independent value for each chain (or group, or ladder): a weight with
expectation Z (`of_weights`), or a deviation of log Z (`of_chains`). The spread of these values is
the error bar. Checks look for errors that all chains share. `finished` combines both.
"""

import math
import sys
import warnings
from collections.abc import Sequence
from functools import partial
from types import FrameType
from typing import NamedTuple

import numpy as np
from scipy.special import stdtrit

from .estimate import Check as Check
from .estimate import Estimate as Estimate
from .numerics import ChainStream, logmeanexp

MINIMUM_ESS = 100  # below this ESS, a standard error from the same weights is unreliable
MINIMUM_FRACTION = 0.5  # ... unless the ESS is at least this fraction of the chains
FEWEST_EFFECTIVE = 10  # ... and at least this number
NO_SPREAD = 1e-10  # nats: a smaller standard error or spread of log-weights is rounding
MORE_STEPS = "Use more betas (or another base or schedule), then more chains"
MORE_SWEEPS = "Increase n_sweeps, use another base, or add betas where few chains pass"


class ConvergenceWarning(UserWarning):
    """An estimate failed one of its checks; the message says what to change."""


def finished(
    method: str, log_z: float, std_error: float, checks: Sequence[Check], n_values: float, *,
    remedy: str = MORE_SWEEPS, interval: tuple[float, float] | None = None, **more,
) -> Estimate:  # fmt: skip
    """Return an estimate whose error is the spread of ``n_values`` independent values.

    If a check failed, the verdict says so, a warning names the check, and the standard error
    includes the largest disagreement found. ``more`` holds further attributes of the `Estimate`.
    """
    checks = [*checks, *([] if math.isfinite(log_z) else [Check("log Z is not finite", False)])]
    failed = [c for c in checks if not c.passed]
    verdict = "contradicted" if any(c.contradicts for c in failed) else "inconclusive"
    disagreement = float(np.nanmax([0.0, *(c.disagreement for c in checks)]))
    if failed:
        warn(f"{method}: {verdict}: {'; '.join(map(str, failed))}. {remedy}")
        std_error = math.hypot(std_error, disagreement)
    found = {"checks": checks, "disagreement": disagreement}
    more["details"] = more.get("details", {}) | found | ({"remedy": remedy} if failed else {})
    log_z, std_error = float(log_z), float(std_error)
    interval = interval or student_interval(log_z, std_error, n_values)
    verdict = verdict if failed else "consistent"
    return Estimate(method, log_z, std_error, interval, verdict=verdict, **more)


def student_interval(value: float, std_error: float, n: float) -> tuple[float, float]:
    """Return the 95% interval from n independent values (Student's t)."""
    if n < 2 or not math.isfinite(std_error):
        return (-math.inf, math.inf)
    half = float(stdtrit(n - 1, 0.975)) * std_error
    return (value - half, value + half)


def warn(message: str, category: type[Warning] = ConvergenceWarning) -> None:
    """Issue a warning for the line outside the library that made the call."""
    level = 1
    frame: FrameType | None = sys._getframe()
    while frame and frame.f_globals.get("__name__", "").partition(".")[0] == __package__:
        frame, level = frame.f_back, level + 1
    warnings.warn(message, category, stacklevel=level)


# context manager that suppresses each `ConvergenceWarning`
quietly = partial(warnings.catch_warnings, action="ignore", category=ConvergenceWarning)


# from weights -------------------------------------------------------------------------------


class WeightSummary(NamedTuple):
    """Result of `summarise_log_weights`."""

    log_mean: float
    std_error: float
    ess: float


def summarise_log_weights(log_weights) -> WeightSummary:
    """Return the log-mean-exp of log-weights (n,), its standard error, and the ESS.

    With normalised weights ``w* = w / mean(w)`` and their sample variance s^2, the effective
    sample size is ``n / (1 + s^2)`` (Kiwaki 2015, eq. 5) and the standard error of the logarithm
    of the mean is ``s / sqrt(n)`` (delta method). Neither includes a mode that no chain has found.
    """
    log_weights = np.asarray(log_weights, dtype=float)
    n, log_mean = log_weights.size, float(logmeanexp(log_weights))
    if n == 1:
        return WeightSummary(log_mean, math.nan, 1.0)
    variance = float(np.var(np.exp(log_weights - log_mean), ddof=1))
    return WeightSummary(log_mean, math.sqrt(variance / n), n / (1.0 + variance))


def skewed_interval(
    value: float, std_error: float, n: float, weights_error: float
) -> tuple[float, float]:
    """Return a 95% interval from n independent values, wider above for skewed weights.

    Runs without a rare large weight are too low and seem precise, and a rule that requires a large
    ESS selects such runs. The upper half of Student's interval is therefore multiplied by 1 + 10 s,
    where s is the standard error of the weights in nats. The factor 10 was measured (page
    `calibration` of the book). The interval ignores a mode that no chain has found.
    """
    low, high = student_interval(value, std_error, n)
    if not math.isfinite(low):
        return (low, high)
    return (low, value + (high - value) * (1 + 10 * weights_error))


def log_mean_interval(summary: WeightSummary, n: float) -> tuple[float, float]:
    """Return the `skewed_interval` of the logarithm of the mean of n weights."""
    return skewed_interval(summary.log_mean, summary.std_error, n, summary.std_error)


def needed_ess(n: float, fraction: float = MINIMUM_FRACTION) -> float:
    """Return the ESS that n chains need for a reliable error bar."""
    return min(MINIMUM_ESS, max(FEWEST_EFFECTIVE, fraction * n))


def enough(name: str, ess: float, n: float, fraction: float = MINIMUM_FRACTION) -> Check:
    """Check whether the ESS of n chains reaches `needed_ess`."""
    return Check(name, bool(ess >= needed_ess(n, fraction)), float(ess), needed_ess(n, fraction))


def of_weights(method: str, log_weights, path, final, checks=(), *, sign=1, **more) -> Estimate:
    """Return the estimate from log-weights (n_chains,); the mean weight is Z, or 1 / Z for sign -1.

    Equal weights give no standard error, because chains that never moved have equal weights too,
    unless base and target differ by a constant. ``final`` holds the states at the end of the path.
    """
    s, n, values = summarise_log_weights(log_weights), log_weights.size, sign * log_weights
    few = f"Use {2 * FEWEST_EFFECTIVE} chains or more"
    found = enough("effective sample size", s.ess, n)
    if s.std_error < NO_SPREAD:
        drawn = path.sample_base(len(final), ChainStream(None, len(final), seed=0))
        gains = [path.log_density(v, np.array([0.0, 1.0])) @ [-1.0, 1.0] for v in (drawn, final)]
        constant = bool(np.ptp(gains) <= NO_SPREAD * (1 + np.abs(gains).max()))
        found = Check("all chains have the same weight", constant)
        s = s if found.passed else s._replace(std_error=math.nan)
    low, high = log_mean_interval(s, n)
    return finished(
        method, sign * s.log_mean, s.std_error, [found, *checks], n, ess=s.ess, n_chains=n,
        interval=(low, high) if sign > 0 else (-high, -low), log_weights=values, states=final,
        bound="lower" if sign > 0 else "upper", mean_log_z=float(values.mean()),
        mean_std_error=float(values.std(ddof=1) / np.sqrt(n)) if n > 1 else math.nan,
        remedy=MORE_STEPS if n >= 2 * FEWEST_EFFECTIVE else few, **more,
    )  # fmt: skip


# from deviations of chains ------------------------------------------------------------------

MINIMUM_TRIPS = 2.0  # round trips of a chain, on average
MINIMUM_LADDER_TRIPS = 20.0  # round trips of all replicas of a ladder together
DISAGREEMENT = 3.0  # combined standard errors
SPREAD_RATIO = 2.0  # error from blocks of time, relative to the error from chains
ROUNDING = 1e-12  # nats: a smaller difference is rounding


def of_chains(
    method: str, sample, log_z_path, blocks, checks: Sequence[Check] = (), *, ends=None,
    log_z: float | None = None, error_of_rule: float = 0.0, settings: dict | None = None,
    details: dict | None = None, **more,
) -> Estimate:  # fmt: skip
    """Return the estimate of a `TemperedSample` from deviations by block of time and chain.

    The sums of ``blocks`` (n_blocks, n_chains) over time are the deviations of the chains, with
    mean 0; their spread is the error. `mixing` uses ``ends`` instead, if given. ``log_z`` is the
    last value of ``log_z_path`` by default.
    """
    chains, n = blocks.sum(axis=0), blocks.shape[1]
    error = float(chains.std(ddof=1) / np.sqrt(n))
    log_z = float(log_z_path[-1] if log_z is None else log_z)
    checks = [
        *checks,
        *mixing(sample, len(blocks) * blocks if ends is None else ends),
        *some_spread(error, one_slope(sample.visited)),
    ]
    return finished(
        method, log_z, math.hypot(error, error_of_rule), checks, n, n_chains=n,
        n_sweeps=sample.n_sweeps, seconds=sample.seconds, betas=sample.betas, states=sample,
        log_z_path=log_z_path, log_weights=log_z + chains,
        settings=sample.settings | {"n_temperatures": sample.betas.size - 1} | (settings or {}),
        details={"round_trips": float(sample.round_trips.mean())} | (details or {}), **more,
    )  # fmt: skip


def mixing(sample, parts) -> list[Check]:
    """Check what the spread of chains misses: round trips, halves of the run, starts, blocks.

    ``parts`` holds deviations of log Z by block of time and chain, (n_blocks, n_chains), or the
    occupations of the two ends of the betas, (n_blocks, n_chains, 2).
    """
    chains, low = parts.mean(axis=0), sample.origin < sample.betas.size / 2
    found = [trips(sample), *halves(parts)]
    if 2 <= low.sum() <= low.size - 2:
        pair = value(chains[~low]), value(chains[low])
        found.append(agreement("chains started at either end differ by", *pair))
    return [*found, *blocks_of_time(parts)]


def halves(parts) -> list[Check]:
    """Check whether the two halves of the blocks of time agree; ``parts`` as in `mixing`."""
    if (half := len(parts) // 2) == 0:
        return []
    first, last = parts[:half].mean(axis=0), parts[-half:].mean(axis=0)
    pair = (value(last - first),) if parts.ndim == 2 else (value(last), value(first))
    return [agreement("halves of the run differ by", *pair)]


def blocks_of_time(parts) -> list[Check]:
    """Compare the standard error from five or more blocks of time with that from chains."""
    if len(parts) < 5:
        return []
    in_time, error = value(parts.mean(axis=1))[1], value(parts.mean(axis=0))[1]
    if not math.isfinite(in_time):
        return []
    ratio, passed = in_time / error if error > 0 else math.inf, in_time <= SPREAD_RATIO * error
    name = "standard error from blocks of time is"
    return [Check(name, bool(passed), ratio, SPREAD_RATIO, "times", in_time)]


def trips(sample) -> Check:
    """Check the mean round trips of a chain, or of all replicas of a ladder together."""
    of_ladders = ("a ladder", MINIMUM_LADDER_TRIPS) if sample.method == "parallel" else ()
    return round_trips(sample.round_trips.sum() / sample.n_chains, *of_ladders)


def round_trips(n: float, of: str = "a chain", least: float = MINIMUM_TRIPS) -> Check:
    """Check the mean number of round trips between the ends of the betas."""
    return Check(f"round trips of {of}", bool(n >= least), float(n), least)


def value(group) -> tuple[float, float]:
    """Return log Z, up to a constant, and its error from deviations (n,) or ends (n, 2)."""
    if group.ndim == 1:
        return float(group.mean()), float(group.std(ddof=1) / np.sqrt(group.size))
    mean = group.mean(axis=0)
    influences = group[:, 1] / mean[1] - group[:, 0] / mean[0]
    return float(np.log(mean[1] / mean[0])), value(influences)[1]


def agreement(name: str, one, two=(0.0, 0.0), limit: float | None = None) -> Check:
    """Check whether two pairs (value, error) in nats agree; ``name`` ends in "differ by"."""
    gap, error = float(one[0] - two[0]), math.hypot(one[1], two[1])
    z = gap / error if error > 0 else 0.0 if abs(gap) <= ROUNDING else math.inf
    limit = DISAGREEMENT if limit is None else limit
    return Check(name, bool(abs(z) <= limit), z, limit, "s.e.", abs(gap))


def some_spread(error: float, same: bool, why: str = "the slopes of states differ") -> list[Check]:
    """Return a failed check if the error is 0 and base and target are not proportional."""
    return [] if error > 0 or same else [Check(f"the standard error is 0, but {why}", False)]


def one_slope(sums) -> bool:
    """Return whether all slopes are equal, from sums (..., 3, K) of their powers 0 to 2."""
    n, first, second = sums.sum(axis=-1).reshape(-1, 3).sum(axis=0)
    return bool(second * n - first**2 <= 1e-12 * second * n)
