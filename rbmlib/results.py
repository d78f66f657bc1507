"""What every estimator returns, and the one road from numbers to it.

Each estimator has independent values, one a chain (or group, or ladder): weights whose mean is Z
(`of_weights`), or deviations whose mean is that of log Z (`of_chains`). Their spread is the error
bar; what the spread cannot see, checks look for. `finished` joins the two.
"""

import json
import math
import sys
import warnings
from dataclasses import dataclass, field, fields, replace  # noqa: F401
from typing import Any, NamedTuple

import numpy as np
from scipy.special import stdtrit

from .numerics import ChainStream, logmeanexp

MINIMUM_ESS, MINIMUM_FRACTION, FEWEST = 100, 0.5, 10
ROUNDING = 1e-10  # nats: a smaller spread is none
MORE_STEPS = "more temperatures (or a better base or schedule), then more chains"
MORE_SWEEPS = "more sweeps, a better base, or betas that are closer where few chains pass"


class ConvergenceWarning(UserWarning):
    """An estimate's own diagnosis failed; the message says what to change."""


@dataclass(frozen=True, eq=False)
class Estimate:
    """An estimate of log Z (nats) with its error, its history and how it was made."""

    method: str
    log_z: float
    std_error: float
    interval: tuple
    converged: bool = True
    bound: str | None = None
    mean_log_z: float | None = None
    mean_std_error: float | None = None
    ess: float = math.nan
    n_chains: int = 0
    n_sweeps: int = 0
    seconds: float = 0.0
    log_weights: Any = None
    betas: Any = None
    log_z_path: Any = None
    trace: dict = field(default_factory=dict)
    settings: dict = field(default_factory=dict)
    states: Any = field(default=None, repr=False)

    def __str__(self):
        ess = f", ESS {self.ess:.0f} of {self.n_chains}" if math.isfinite(self.ess) else ""
        flag = "" if self.converged else ", NOT CONVERGED"
        return f"{self.method}: log Z = {self.log_z:.4f} ± {self.std_error:.4f} nats{ess}{flag}"

    def save(self, path):
        content = {f.name: getattr(self, f.name) for f in fields(self) if f.name != "states"}
        with open(path, "w") as file:
            json.dump(content, file, default=lambda x: x.tolist(), indent=1)

    @classmethod
    def load(cls, path):
        with open(path) as file:
            content = json.load(file)
        if wrong := set(content) ^ ({f.name for f in fields(cls)} - {"states"}):
            raise ValueError(f"{path} is no saved Estimate: unknown or missing {sorted(wrong)}")
        for name in ("log_weights", "betas", "log_z_path"):
            content[name] = None if content[name] is None else np.array(content[name])
        content["trace"] = {name: np.array(x) for name, x in content["trace"].items()}
        return cls(**content)


class Check(NamedTuple):
    """What was checked, whether it passed, and by how many nats parts of a run disagree."""

    text: str
    passed: bool
    disagreement: float = 0.0


def finished(
    method, log_z, std_error, checks, n_values, *, remedy=MORE_SWEEPS, interval=None, **more
):
    """The estimate. Where a check failed: flagged, a warning, and the error holds what disagrees."""
    failed = [check.text for check in checks if not check.passed]
    if failed:
        warn(f"{method}: do not trust the standard error: failed: {'; '.join(failed)}. "
             f"Give it {remedy}")  # fmt: skip
        std_error = math.hypot(std_error, max(check.disagreement for check in checks))
    settings = more.pop("settings", {}) | {"checks": {c.text: bool(c.passed) for c in checks}}
    return Estimate(method, float(log_z), float(std_error),
                    interval or student_interval(log_z, std_error, n_values),
                    not failed, settings=settings, **more)  # fmt: skip


def student_interval(value, std_error, n):
    half = float(stdtrit(n - 1, 0.975)) * std_error if n > 1 else math.inf
    return (value - half, value + half)


def warn(message, category=ConvergenceWarning):
    """A warning for the line outside the library from which it was called."""
    frame, level = sys._getframe(), 1
    while frame and frame.f_globals.get("__name__", "").startswith(__package__):
        frame, level = frame.f_back, level + 1
    warnings.warn(message, category, stacklevel=level)


# from weights -------------------------------------------------------------------------------


class WeightSummary(NamedTuple):
    log_mean: float
    std_error: float
    ess: float


def summarise(log_weights):
    """log-mean-exp, its standard error (delta method), and ESS = N / (1 + s^2) (Kiwaki, eq. 5)."""
    n, log_mean = log_weights.size, float(logmeanexp(log_weights))
    variance = float(np.var(np.exp(log_weights - log_mean), ddof=1)) if n > 1 else math.nan
    return WeightSummary(log_mean, math.sqrt(variance / n), n / (1 + variance) if n > 1 else 1.0)


def enough(ess, n):
    return bool(ess >= MINIMUM_ESS or ess >= max(FEWEST, MINIMUM_FRACTION * n))


def of_weights(method, log_weights, path, final, *, sign=1, **more):
    """From weights (n_chains,) whose mean is Z; ``sign`` -1: 1 / Z."""
    s, n, values = summarise(log_weights), log_weights.size, sign * log_weights
    check = Check(f"effective sample size {s.ess:.1f} of {n} chains", enough(s.ess, n))
    if s.std_error < ROUNDING:  # chains that never moved are alike, too
        check = Check("all chains have the same weight", is_constant(path, final))
    low, high = student_interval(s.log_mean, s.std_error, n)
    high = s.log_mean + (high - s.log_mean) * (1 + 10 * s.std_error)  # weights are skewed
    return finished(
        method, sign * s.log_mean, s.std_error, [check], n, remedy=MORE_STEPS,
        interval=(low, high) if sign > 0 else (-high, -low),
        bound="lower" if sign > 0 else "upper", mean_log_z=float(values.mean()),
        mean_std_error=float(values.std(ddof=1) / np.sqrt(n)) if n > 1 else math.nan,
        ess=s.ess, n_chains=n, log_weights=values, states=final, **more,
    )  # fmt: skip


def is_constant(path, final):
    """Whether base and target differ by a constant: then the estimate is exact."""
    drawn = path.sample_base(len(final), ChainStream(0, len(final)))
    gains = [path.log_density(v, np.array([0.0, 1.0])) @ [-1.0, 1.0] for v in (drawn, final)]
    return bool(np.ptp(gains) <= ROUNDING * (1 + np.abs(gains).max()))


# from deviations of chains ------------------------------------------------------------------

MINIMUM_TRIPS, MINIMUM_LADDER_TRIPS, DISAGREEMENT, SPREAD_RATIO = 2.0, 20.0, 3.0, 2.0


def of_chains(
    method, sample, log_z_path, blocks, checks=(), *, ends=None, error_of_rule=0.0, **more
):
    """From how far each block of time and chain moves log Z, (n_blocks, n_chains).

    Summed over time they are the chains' deviations, whose mean is 0 and whose spread is the error.
    ``ends``: parts of the run are compared by these instead, see `mixing`.
    """
    chains, n = blocks.sum(axis=0), blocks.shape[1]
    error, log_z = chains.std(ddof=1) / np.sqrt(n), log_z_path[-1]
    checks = [*checks, *mixing(sample, len(blocks) * blocks if ends is None else ends)]
    if error == 0 and np.ptp(sample.delta) > 0:
        checks.append(Check("the standard error is 0, but the slopes of states differ", False))
    return finished(
        method, log_z, math.hypot(error, error_of_rule), checks, n, n_chains=n,
        n_sweeps=len(sample.delta), betas=sample.betas, log_z_path=log_z_path,
        log_weights=log_z + chains, states=sample,
        settings=sample.settings | {"round_trips": float(sample.round_trips.mean())}, **more,
    )  # fmt: skip


def mixing(sample, parts):
    """What a spread of chains cannot see: round trips, halves of the run, starts, blocks of time.

    ``parts`` are deviations of log Z by block of time and chain, (n_blocks, n_chains), or how often
    each was at both ends of the betas, (n_blocks, n_chains, 2).
    """
    least = MINIMUM_TRIPS if sample.round_trips.size == sample.n_ladders else MINIMUM_LADDER_TRIPS
    trips, half = sample.round_trips.sum() / sample.n_ladders, len(parts) // 2
    checks = [Check(f"round trips {trips:.1f}, {least:.0f} or more", bool(trips >= least))]
    chains, low = parts.mean(axis=0), sample.origin < sample.betas.size / 2
    if half:
        first, last = parts[:half].mean(axis=0), parts[-half:].mean(axis=0)
        pair = (value(last - first), (0, 0)) if parts.ndim == 2 else (value(last), value(first))
        checks.append(agreement("halves of the run", *pair))
    if 2 <= low.sum() <= low.size - 2:
        pair = value(chains[~low]), value(chains[low])
        checks.append(agreement("chains begun at either end", *pair))
    if len(parts) >= 5:
        in_time, error = value(parts.mean(axis=1))[1], value(chains)[1]
        text = f"error from blocks of time {in_time:.3f}, from chains {error:.3f}"
        checks.append(Check(text, bool(in_time <= SPREAD_RATIO * error), float(in_time)))
    return checks


def value(group):
    """log Z of a group, up to a constant, and its error: of deviations (n,), or ends (n, 2)."""
    if group.ndim == 1:
        return group.mean(), group.std(ddof=1) / np.sqrt(group.size)
    mean = group.mean(axis=0)
    influences = group[:, 1] / mean[1] - group[:, 0] / mean[0]
    return np.log(mean[1] / mean[0]), influences.std(ddof=1) / np.sqrt(len(group))


def agreement(name, one, two, limit=DISAGREEMENT):
    """Whether two values, each with its error, agree."""
    gap, error = float(one[0] - two[0]), math.hypot(one[1], two[1])
    z = gap / error if error > 0 else 0.0 if abs(gap) < 1e-12 else math.inf
    return Check(f"{name} agree ({z:+.1f} s.e., limit {limit:.1f})", abs(z) <= limit, abs(gap))
