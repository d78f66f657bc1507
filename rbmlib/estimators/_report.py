"""From states over a ladder of betas to an estimate with an error bar that was checked.

MBAR and BAR are roots of equations that sum over states. To first order each state moves the root
by its influence, and log Z by the sum of these. Independent chains (or ladders) have independent
sums, whose spread is the standard error, whatever the states of one chain have to do with each
other.
"""

from __future__ import annotations

import numpy as np

from .._diagnosis import (
    MINIMUM_LADDER_TRIPS,
    Check,
    agreement,
    blocks_of_time,
    report,
    round_trips,
    some_spread,
)
from .._validation import count, instance
from ..results import Estimate
from ..tempering import TemperedSample

BLOCKS = 20  # of time, in which the states of a run are compared
OF_EITHER = "a TemperedSample, of rl.simulated_tempering or rl.parallel_tempering"


def checked_sample(sample, meaning: str = "a TemperedSample of rl.simulated_tempering") -> None:
    """A sample of two chains or more: their spread is the error bar."""
    instance("sample", sample, TemperedSample, meaning)
    if sample.n_chains < 2:
        raise ValueError("sample holds 1 chain: expected 2 or more, for the error bar")


def checked_skip(skip, n_blocks: int) -> int:
    """Blocks of time not used: some must be left."""
    skip = count("skip", skip, 0)
    if skip >= n_blocks:
        raise ValueError(
            f"skip is {skip}: expected {n_blocks - 1} blocks of time at most, as the sample has "
            f"{n_blocks}"
        )
    return skip


def kept_states(sample: TemperedSample, skip: int):
    """Slopes and indices of beta (n_kept - skip, n_columns), and how many states each beta has."""
    instance("sample", sample, TemperedSample, OF_EITHER)
    if sample.conditional != "joint":
        raise ValueError(
            f"sample was drawn with conditional={sample.conditional!r}: expected 'joint', where "
            "one slope a state serves all betas"
        )
    checked_sample(sample, OF_EITHER)
    n_kept = len(sample.delta)
    skip = count("skip", skip, 0)
    if n_kept - skip < 2:
        raise ValueError(f"skip is {skip}: expected at most {n_kept - 2}, as {n_kept} states are "
                         "kept of a chain")  # fmt: skip
    temperature = sample.temperature[skip:].astype(int)
    counts = np.bincount(temperature.ravel(), minlength=sample.betas.size)
    return sample.delta[skip:], temperature, counts


def of_sample(
    method: str, sample: TemperedSample, log_z: float, std_error: float, checks: list[Check],
    started: float, *, settings: dict, n_values: int | None = None, **more,
) -> Estimate:  # fmt: skip
    """The estimate from a sample: see `report`. ``n_values`` are its chains by default."""
    return report(
        method, log_z, std_error, checks, n_values=n_values or sample.n_chains, started=started,
        seconds=sample.seconds, n_chains=sample.n_chains, n_sweeps=sample.n_sweeps,
        betas=sample.betas, states=sample,
        settings=sample.settings | {
            "n_temperatures": sample.betas.size - 1,
            "round_trips": float(sample.round_trips.mean()),
        } | settings,
        **more,
    )  # fmt: skip


def of_influences(
    method: str, sample: TemperedSample, log_z_path, influences, checks: list[Check], started: float
) -> Estimate:
    """The estimate whose last log Z each state moves by its influence: (n_kept, n_columns).

    They sum to 0. ``log_z_path`` (K,) is relative to the base; ``checks`` are the estimator's own.
    """
    n_chains, size = sample.n_chains, influences.size
    rows = np.array_split(np.arange(len(influences)), min(BLOCKS, len(influences)))
    blocks = np.stack([influences[r].sum(axis=0) for r in rows])
    blocks = blocks.reshape(len(rows), n_chains, -1).sum(axis=2)  # ladders: all their replicas
    chains = blocks.sum(axis=0)
    error, halves, in_time = of_blocks(blocks)
    starts, low = None, _begun_low(sample)
    if low is not None:
        one, two = (chains[g] * n_chains / g.sum() for g in (~low, low))
        starts = one.sum() - two.sum(), np.hypot(_error_of_sum(one), _error_of_sum(two))
    checks = [
        *checks,
        *_of_chains(sample, error, halves, starts, in_time),
        *some_spread(error, bool(np.ptp(sample.delta) == 0)),
    ]
    inefficiency = float(error**2 / (influences.var() * size)) if error > 0 else np.nan
    log_z = float(log_z_path[-1]) + sample.log_z_base
    return of_sample(
        method, sample, log_z, error, checks, started,
        settings={"n_samples": size, "inefficiency": inefficiency},
        log_weights=log_z + n_chains * chains, log_z_path=log_z_path + sample.log_z_base,
    )  # fmt: skip


def of_blocks(blocks) -> tuple[float, tuple[float, float], float]:
    """From influences summed over blocks of time and chains, (n_blocks, n_chains).

    The standard error, the difference of the halves of the run with its error, and the standard
    error from the spread of blocks of time (NaN of fewer than five).
    """
    half = len(blocks) // 2
    drift = 2 * (blocks[-half:].sum(axis=0) - blocks[:half].sum(axis=0))
    in_time = _error_of_sum(blocks.sum(axis=1)) if len(blocks) >= 5 else np.nan
    return _error_of_sum(blocks.sum(axis=0)), (drift.sum(), _error_of_sum(drift)), in_time


def _error_of_sum(parts) -> float:
    """Standard error of the sum of independent, equally distributed parts."""
    return float(parts.std(ddof=1) * np.sqrt(parts.size))


def diagnose(sample: TemperedSample, skip: int) -> list[Check]:
    """Checks of a sample of simulated tempering, from c (eq. 9) at both ends of the ladder."""
    return checks_of_ends(sample.occupation()[skip:][..., [0, -1]], sample)


def checks_of_ends(ends, sample: TemperedSample) -> list[Check]:
    """Checks from c at both ends of the ladder, (n_blocks, n_chains, 2)."""
    _, error = _contrast(ends.mean(axis=0))
    half, halves, starts, low = len(ends) // 2, None, None, _begun_low(sample)
    if half:
        halves = _difference(ends[:half].mean(axis=0), ends[-half:].mean(axis=0))
    if low is not None:
        starts = _difference(ends[:, low].mean(axis=0), ends[:, ~low].mean(axis=0))
    in_time = _contrast(ends.mean(axis=1))[1] if len(ends) >= 5 else np.nan
    return _of_chains(sample, error, halves, starts, in_time)


def _contrast(ends) -> tuple[float, float]:
    """log c_last - log c_first of groups (n, 2), and its standard error from their spread."""
    mean = ends.mean(axis=0)
    influences = ends[:, 1] / mean[1] - ends[:, 0] / mean[0]
    return float(np.log(mean[1] / mean[0])), float(influences.std(ddof=1) / np.sqrt(len(ends)))


def _difference(one, two) -> tuple[float, float]:
    (a, error_a), (b, error_b) = _contrast(one), _contrast(two)
    return b - a, float(np.hypot(error_a, error_b))


def _begun_low(sample: TemperedSample):
    """Which chains began in the lower half of the betas; None unless two began in each."""
    low = sample.origin < sample.betas.size / 2
    return low if 2 <= low.sum() <= low.size - 2 else None


def _of_chains(sample: TemperedSample, error, halves, starts, in_time) -> list[Check]:
    """Checks from differences with their standard errors, and from the error by blocks of time."""
    pairs = {"halves of the run": halves, "chains begun at either end": starts}
    checks = [trips(sample)]
    checks += [agreement(name, *pair) for name, pair in pairs.items() if pair is not None]
    return checks + ([blocks_of_time(in_time, error)] if np.isfinite(in_time) else [])


def trips(sample: TemperedSample) -> Check:
    """Of each chain; of all replicas of a ladder together, since any of them may bring news."""
    if sample.swap_rates is None:
        return round_trips(sample.round_trips.mean())
    trips = sample.round_trips.sum() / sample.n_chains
    return round_trips(trips, "a ladder", MINIMUM_LADDER_TRIPS)


def one_slope(sums) -> bool:
    """Whether all states of ``sums`` (..., 3, K), of powers 0 to 2 of their slopes, have one."""
    n, first, second = sums.sum(axis=-1).reshape(-1, 3).sum(axis=0)
    return bool(second * n - first**2 <= 1e-12 * second * n)
