"""From what each tempered state adds to log Z to an estimate with an error bar that was checked.

MBAR and BAR are roots of equations that sum over states. To first order each state moves the root
by its influence, and log Z by the sum of these. Independent chains (or ladders) have independent
sums, whose spread is the standard error, whatever the states of one chain have to do with each
other. It cannot see what all chains have in common; so the estimate is flagged unless chains went
from end to end of the betas several times, and halves, blocks of time and starts agree.
"""

from __future__ import annotations

import time

import numpy as np

from .. import __version__
from .._validation import count, instance
from ..results import Estimate, judged, student_interval
from ..tempering import TemperedSample
from .rts import DISAGREEMENT, MINIMUM_TRIPS, SPREAD_RATIO, spread_check

BLOCKS = 20  # of time, in which the states of a run are compared


def kept_states(sample: TemperedSample, skip: int):
    """Slopes and indices of beta (n_kept - skip, n_columns), and how many states each beta has."""
    instance(
        "sample",
        sample,
        TemperedSample,
        "a TemperedSample, of rl.simulated_tempering or rl.parallel_tempering",
    )
    if sample.conditional != "joint":
        raise ValueError(
            f"sample was drawn with conditional={sample.conditional!r}: expected 'joint', where "
            "one slope a state serves all betas"
        )
    if sample.n_chains < 2:
        raise ValueError("sample holds 1 chain: expected 2 or more, for the error bar")
    n_kept = len(sample.delta)
    skip = count("skip", skip, 0)
    if n_kept - skip < 2:
        raise ValueError(f"skip is {skip}: expected at most {n_kept - 2}, as {n_kept} states are "
                         "kept of a chain")  # fmt: skip
    temperature = sample.temperature[skip:].astype(int)
    counts = np.bincount(temperature.ravel(), minlength=sample.betas.size)
    return sample.delta[skip:], temperature, counts


def estimate_from_pulls(
    method: str, sample: TemperedSample, log_z_path, pulls, checks: dict, started: float,
    stacklevel: int,
) -> Estimate:  # fmt: skip
    """The estimate whose last log Z each state moves by ``pulls`` (n_kept, n_columns).

    ``log_z_path`` (K,) is relative to the base; ``checks`` are the estimator's own.
    """
    found = _findings(pulls, sample)
    checks = checks | found["checks"]
    checks |= spread_check(found["std_error"], bool(np.ptp(sample.delta) == 0))
    std_error, converged = judged(
        method, checks, found["std_error"], found["disagreement"], stacklevel
    )
    log_z = float(log_z_path[-1]) + sample.log_z_base
    n_chains = sample.n_chains
    return Estimate(
        method=method,
        log_z=log_z,
        std_error=std_error,
        interval=student_interval(log_z, std_error, n_chains),
        n_chains=n_chains,
        n_sweeps=sample.n_sweeps,
        seconds=sample.seconds + time.perf_counter() - started,
        converged=converged,
        log_weights=log_z + n_chains * found["chains"],
        betas=sample.betas,
        log_z_path=log_z_path + sample.log_z_base,
        settings=sample.settings | {
            "n_temperatures": sample.betas.size - 1,
            "n_samples": pulls.size,
            "inefficiency": found["inefficiency"],
            "round_trips": float(sample.round_trips.mean()),
            "checks": checks,
            "disagreement": found["disagreement"],
            "version": __version__,
        },
        states=sample,
    )  # fmt: skip


def _findings(pulls, sample: TemperedSample) -> dict:
    """Error and checks from what each state (n_kept, n_columns) adds to log Z; pulls sum to 0."""
    n_chains = sample.n_chains
    rows = np.array_split(np.arange(len(pulls)), min(BLOCKS, len(pulls)))
    blocks = np.stack([pulls[r].sum(axis=0) for r in rows])
    blocks = blocks.reshape(len(rows), n_chains, -1).sum(axis=2)  # ladders: all their replicas
    chains = blocks.sum(axis=0)
    error = _error_of_sum(chains)
    half = len(blocks) // 2
    pairs = {
        "halves of the run": _apart(2 * (blocks[-half:].sum(axis=0) - blocks[:half].sum(axis=0)))
    }
    low = sample.origin < sample.betas.size / 2
    if 2 <= low.sum() <= n_chains - 2:
        one, two = (chains[g] * n_chains / g.sum() for g in (~low, low))
        pairs["chains begun at either end"] = (
            one.sum() - two.sum(), np.hypot(_error_of_sum(one), _error_of_sum(two)),
        )  # fmt: skip
    trips = sample.round_trips.mean()
    checks = {f"round trips of a chain {trips:.1f}, {MINIMUM_TRIPS:.0f} or more": bool(
        trips >= MINIMUM_TRIPS)}  # fmt: skip
    disagreement = [0.0]
    for name, (difference, spread) in pairs.items():
        z = difference / spread if spread > 0 else np.inf if difference else 0.0
        checks[f"{name} agree ({z:+.1f} s.e.)"] = bool(abs(z) <= DISAGREEMENT)
        disagreement.append(abs(difference))
    if len(blocks) >= 5:
        time_error = _error_of_sum(blocks.sum(axis=1))
        text = f"error from blocks of time {time_error:.3f}, from chains {error:.3f}"
        checks[text] = bool(time_error <= SPREAD_RATIO * error)
        disagreement.append(time_error)
    return {
        "chains": chains,
        "std_error": error,
        "inefficiency": float(error**2 / (pulls.var() * pulls.size)) if error > 0 else np.nan,
        "checks": checks,
        "disagreement": float(max(disagreement)),
    }


def _error_of_sum(parts) -> float:
    """Standard error of the sum of independent, equally distributed parts."""
    return float(parts.std(ddof=1) * np.sqrt(parts.size))


def _apart(parts) -> tuple[float, float]:
    return float(parts.sum()), _error_of_sum(parts)
