"""Whether to trust an error bar from the spread of chains, and the `Estimate` that it goes into.

The spread cannot see what all chains have in common. So each estimator checks what it can: that
chains went from end to end of the betas several times, and that halves of the run, blocks of time
and chains begun at either end agree.
"""

from __future__ import annotations

import sys
import time
import warnings
from types import FrameType
from typing import NamedTuple

import numpy as np

from . import __version__
from .results import ConvergenceWarning, Estimate, student_interval

MINIMUM_TRIPS = 2.0  # round trips of a chain, on average
MINIMUM_LADDER_TRIPS = 20.0  # of all replicas of a ladder: each brings a fresh state to beta = 1
DISAGREEMENT = 3.0  # combined standard errors
SPREAD_RATIO = 2.0  # of the error from blocks of time to that from chains
ROUNDING = 1e-12  # nats: a smaller difference is none
MORE_SWEEPS = "more sweeps, a better base, or betas that are closer where few chains pass"


class Check(NamedTuple):
    """What was checked, whether it passed, and by how many nats parts of the run disagree."""

    text: str
    passed: bool
    disagreement: float = 0.0


def round_trips(trips, of: str = "a chain", least: float = MINIMUM_TRIPS) -> Check:
    """Mean round trips between the ends of the betas."""
    text = f"round trips of {of} {trips:.1f}, {least:.0f} or more"
    return Check(text, bool(trips >= least))


def agreement(name: str, difference, error, limit: float | None = None) -> Check:
    """A difference between parts of a run (nats), in its standard errors."""
    difference = float(difference)
    z = difference / error if error > 0 else 0.0 if abs(difference) <= ROUNDING else np.inf
    text = f"{name} agree ({z:+.1f} s.e." + ("" if limit is None else f", limit {limit:.1f}") + ")"
    passed = bool(abs(z) <= (DISAGREEMENT if limit is None else limit))
    return Check(text, passed, abs(difference))


def blocks_of_time(from_blocks: float, from_chains: float) -> Check:
    """Standard errors from the spread of blocks of time, and from that of chains."""
    text = f"error from blocks of time {from_blocks:.3f}, from chains {from_chains:.3f}"
    return Check(text, bool(from_blocks <= SPREAD_RATIO * from_chains), float(from_blocks))


def some_spread(
    std_error: float, same: bool, why: str = "the slopes of states differ"
) -> list[Check]:
    """A check that fails where a random estimate has a standard error of 0.

    It may be 0 where base and target are the ``same`` up to a factor: all states then have one
    slope, and the estimate is exact.
    """
    if std_error > 0 or same:
        return []
    return [Check(f"the standard error is 0, but {why}", False)]


def report(
    method: str, log_z: float, std_error: float, checks: list[Check], *, n_values: int,
    started: float, settings: dict, seconds: float = 0.0, caller: str | None = None,
    remedy: str = MORE_SWEEPS, **more,
) -> Estimate:  # fmt: skip
    """The estimate with the spread of ``n_values`` independent values for its error.

    Where a check failed it is flagged, a warning names the check, and the standard error holds
    the largest disagreement found. ``started`` is the clock at its beginning, ``seconds`` were
    spent before; ``more`` are further attributes of the `Estimate`.
    """
    failed = [check.text for check in checks if not check.passed]
    disagreement = float(np.nanmax([0.0, *(check.disagreement for check in checks)]))
    if failed:
        warn(f"{caller or method}: do not trust the standard error: failed: {'; '.join(failed)}. "
             f"Give it {remedy}")  # fmt: skip
        std_error = float(np.hypot(std_error, disagreement))
    checked = {"checks": {text: passed for text, passed, _ in checks}, "disagreement": disagreement}
    return Estimate(
        method=method,
        log_z=log_z,
        std_error=std_error,
        interval=student_interval(log_z, std_error, n_values),
        seconds=seconds + time.perf_counter() - started,
        converged=not failed,
        settings=settings | checked | {"version": __version__},
        **more,
    )


def warn(message: str, category: type[Warning] = ConvergenceWarning) -> None:
    """A warning for the line outside the library from which it was called."""
    level = 1
    frame: FrameType | None = sys._getframe()
    while frame and frame.f_globals.get("__name__", "").partition(".")[0] == "rbmlib":
        frame, level = frame.f_back, level + 1
    warnings.warn(message, category, stacklevel=level)
