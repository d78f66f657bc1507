"""Where to cut the path and how many sweeps to take, read off a short pilot.

A chain of tempering tells of log Z only as often as it goes from one end of the betas to the other
and back, and how long that takes depends on the model: 300 sweeps for some small ones, 4,000 for
others of the same size. So where a caller of an estimator gives no betas, they are cut as a few
annealed chains say; where he gives no number of sweeps, a few chains are tempered until the time of
a round trip is known. A model that would need more sweeps than `MOST_SWEEPS` is named before the
run begins.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from .._diagnosis import warn
from .._streams import ChainStream
from .._validation import count
from ..paths.base import AnnealingPath, State
from ..schedules import linear
from ..schedules.cutting import cut
from .checks import checked_prior, ladder
from .pilot import pilot_of
from .simulated import sample_of

BY_PILOT: Any = None  # the default of a number of sweeps
N_CHAINS = 100  # of the pilots, whatever the run has
LADDER_STEPS, LOOK_EVERY = 1000, 10
PER_LENGTH = 4  # betas to one standard deviation of the slope
FEWEST_LENGTHS, MOST_BETAS = 6, 1000  # a short path is cut as if it were this long
LOG_Z_STEPS = 2000  # of annealing, for the log Z with which pilot chains are tempered
BLOCK, MOST_PILOT_SWEEPS = 200, 2000
ENOUGH_TRIPS = 50  # of all chains of the pilot together
FEWEST_SWEEPS, MOST_SWEEPS = 2000, 30_000


class Plan(NamedTuple):
    """Betas, sweeps, and what the pilots saw; empty settings where both were given."""

    betas: np.ndarray
    n_sweeps: int
    settings: dict[str, Any]


def planned(
    method: str, path: AnnealingPath, betas, n_sweeps, rng: np.random.Generator, *, trips: float,
    conditional: str = "joint", prior=None, per_length: int = PER_LENGTH, n_threads=None,
) -> Plan:  # fmt: skip
    """What was given, checked; what was not (None), from pilots.

    Pilots draw from a child of ``rng``: a run with the betas and sweeps of a plan given outright
    has the same bits.

    Parameters
    ----------
    trips : float
        Round trips that a chain should make.
    per_length : int
        Betas to one standard deviation of the slope.
    """
    if betas is None and prior is not None:
        raise ValueError("prior is given, but betas is None: expected the betas that it is for")
    betas = None if betas is None else ladder(betas)
    n_sweeps = None if n_sweeps is None else count("n_sweeps", n_sweeps, 4)
    prior = None if betas is None else checked_prior(prior, betas.size)
    if betas is not None and n_sweeps is not None:
        return Plan(betas, n_sweeps, {})
    source, seen = rng.spawn(1)[0], {}
    if betas is None:
        betas, seen["length"] = own_ladder(path, source, per_length, n_threads)
    if n_sweeps is None:
        if prior is None:
            prior = checked_prior(None, betas.size)
        found = trip_time(path, betas, prior, conditional, source, n_threads)
        seen |= found._asdict()
        needed = trips * found.sweeps_a_trip
        seen["needed"] = needed
        n_sweeps = FEWEST_SWEEPS
        if needed <= MOST_SWEEPS:
            n_sweeps = max(FEWEST_SWEEPS, 100 * math.ceil(needed / 100))
        else:
            _warn_of_length(method, found, needed)
    return Plan(betas, n_sweeps, {"planned": seen})


class TripTime(NamedTuple):
    """Sweeps that a chain takes from one end of the betas to the other and back."""

    sweeps_a_trip: float  # infinite if none was seen
    pilot_trips: float  # of all chains together
    pilot_sweeps: int


def own_ladder(path: AnnealingPath, rng, per_length: int, n_threads) -> tuple[np.ndarray, float]:
    """Betas between which a slope's standard deviation grows equally, and its whole integral.

    That integral over beta is the length of the path: the steps of `rbmlib.schedules.varopt`, of
    chains that are annealed fast and not weighted, so that one heavy chain cannot bend it.
    """
    stream, fine = ChainStream(rng, N_CHAINS), linear(LADDER_STEPS)
    start = path.sample_base(N_CHAINS, stream)
    spread = [path.log_density_slope(start, 0.0).std(ddof=1)]

    def look(k, state, _):
        spread.append(path.log_density_slope(state, fine[k]).std(ddof=1))

    path.anneal(
        start, fine, stream, record_at=range(LOOK_EVERY, fine.size, LOOK_EVERY), on_record=look,
        n_threads=n_threads,
    )  # fmt: skip
    grid, density = fine[::LOOK_EVERY], np.array(spread)
    lengths = np.diff(grid) * (density[1:] + density[:-1]) / 2
    length = float(lengths.sum())
    n_steps = min(math.ceil(per_length * max(length, FEWEST_LENGTHS)), MOST_BETAS)
    return cut(grid, lengths, n_steps), length


def trip_time(path: AnnealingPath, betas, prior, conditional, rng, n_threads) -> TripTime:
    """From chains begun at both ends, tempered until enough of them went round.

    Chains that are under way when the pilot ends make it a little long rather than short.
    """
    first = pilot_of(path, betas, N_CHAINS, LOG_Z_STEPS, rng, n_threads)
    odd = np.arange(N_CHAINS) % 2 == 1
    begin = State(np.where(odd[:, None], first.top.coordinates, first.bottom.coordinates))
    more: dict[str, Any] = {"start": begin, "index": np.where(odd, betas.size - 1, 0)}
    trips, sweeps = 0.0, 0
    while trips < ENOUGH_TRIPS and sweeps < MOST_PILOT_SWEEPS:
        sample = sample_of(
            path, betas, first.log_z_path, N_CHAINS, BLOCK, rng, prior=prior,
            conditional=conditional, record_every=BLOCK, n_blocks=1, n_threads=n_threads,
            progress=False, **more,
        )  # fmt: skip
        trips, sweeps = trips + float(sample.round_trips.sum()), sweeps + BLOCK
        more = {"start": sample}
    each = N_CHAINS * sweeps / trips if trips else math.inf
    return TripTime(each, trips, sweeps)


def _warn_of_length(method: str, found: TripTime, needed: float) -> None:
    some = found.sweeps_a_trip if found.pilot_trips else N_CHAINS * found.pilot_sweeps
    than = "" if found.pilot_trips else "more than "
    scale = needed if found.pilot_trips else 0.0
    asked = f"about {_round(scale)} sweeps" if scale else "far more sweeps"
    warn(
        f"{method}: this run will not converge: in a pilot of {found.pilot_sweeps:,} sweeps a "
        f"chain took {than}{_round(some)} sweeps from end to end of the betas and back, for "
        f"which {asked} are needed, and {MOST_SWEEPS:,} at most are taken unasked; it takes "
        f"{FEWEST_SWEEPS:,} now. Give it n_sweeps or a better base, or use rl.ais or rl.log_z"
    )


def _round(value: float) -> str:
    """Two digits, in full."""
    return f"{float(f'{value:.2g}'):,.0f}"
