"""Where to cut the path and how many sweeps to take, read off a short pilot.

A chain of tempering tells of log Z only as often as it goes from one end of the betas to the other
and back, and how long that takes depends on the model. Where a caller gives no betas, they are cut
as a few annealed chains say; where he gives no number of sweeps, a few chains are tempered until
the time of a round trip is known. A model that needs more than `MOST_SWEEPS` is named beforehand.
"""

import math
from typing import Any, NamedTuple

import numpy as np

from .. import checks
from ..numerics import ChainStream, cut
from ..paths.path import Path
from ..results import warn
from .anneal import anneal, both_ends
from .sample import drawn_given
from .tempered import simulated_tempering

N_CHAINS = 100  # of the pilots, whatever the run has
LADDER_STEPS, LOOK_EVERY = 1000, 10
PER_LENGTH = 4  # betas to one standard deviation of the slope
FEWEST_LENGTHS, MOST_BETAS = 6, 1000  # a short path is cut as if it were this long
LOG_Z_STEPS = 2000  # of annealing, for the log Z with which pilot chains are tempered
BLOCK, MOST_PILOT_SWEEPS = 200, 2000
ENOUGH_TRIPS = 50  # of all chains of the pilot together
FEWEST_SWEEPS, MOST_SWEEPS = 2000, 30_000


class Plan(NamedTuple):
    """Betas, sweeps, and what the pilots saw; no details where both were given."""

    betas: np.ndarray
    n_sweeps: int
    details: dict[str, Any]


def planned(
    method: str, path: Path, betas, n_sweeps, rng, *, trips: float, prior=None,
    per_length: int = PER_LENGTH,
) -> Plan:  # fmt: skip
    """What was given, checked; what was not (None), from pilots that draw from a child of ``rng``.

    So a run with the betas and sweeps of a plan given outright has the same bits. ``trips`` are
    the round trips that a chain should make, ``per_length`` as `PER_LENGTH`.
    """
    if betas is None and prior is not None:
        raise ValueError("prior is given, but betas is None: expected the betas that it is for")
    if betas is not None:
        betas = checks.ladder(betas)
        checks.prior(prior, betas.size)
    n_sweeps = None if n_sweeps is None else checks.count("n_sweeps", n_sweeps, 4)
    seen: dict[str, Any] = {}
    if betas is not None and n_sweeps is not None:
        return Plan(betas, n_sweeps, seen)
    source = rng.spawn(1)[0]
    if betas is None:
        betas, seen["length"] = own_ladder(path, source, per_length)
    if n_sweeps is None:
        found = trip_time(path, betas, prior, source)
        needed = trips * found.sweeps_a_trip
        seen |= found._asdict() | {"needed": needed}
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


def own_ladder(path: Path, rng, per_length: int) -> tuple[np.ndarray, float]:
    """Betas between which a slope's standard deviation grows equally, and its whole integral.

    That integral over beta is the length of the path: the steps of `rbmlib.schedules.varopt`, of
    chains that are annealed fast and not weighted, so that one heavy chain cannot bend it.
    """
    stream, fine = ChainStream(rng, N_CHAINS), np.linspace(0, 1, LADDER_STEPS + 1)
    start = path.sample_base(N_CHAINS, stream)
    spread = [path.log_density_slope(start, 0.0).std(ddof=1)]

    def look(k, v, _):
        spread.append(path.log_density_slope(v, fine[k]).std(ddof=1))

    anneal(path, start, fine, stream, range(LOOK_EVERY, fine.size, LOOK_EVERY), look)
    grid, density = fine[::LOOK_EVERY], np.array(spread)
    lengths = np.diff(grid) * (density[1:] + density[:-1]) / 2
    length = float(lengths.sum())
    n_steps = min(math.ceil(per_length * max(length, FEWEST_LENGTHS)), MOST_BETAS)
    return cut(grid, lengths, n_steps), length


def trip_time(path: Path, betas, prior, rng) -> TripTime:
    """From chains begun at both ends, tempered until enough of them went round.

    Chains that are under way when the pilot ends make it a little long rather than short.
    """
    log_z_path, start, index = both_ends(path, betas, N_CHAINS, LOG_Z_STEPS, rng)
    more: dict[str, Any] = {"start": start, "index": index}
    trips, sweeps = 0.0, 0
    while trips < ENOUGH_TRIPS and sweeps < MOST_PILOT_SWEEPS:
        sample = simulated_tempering(
            path, betas, log_z_path, N_CHAINS, BLOCK, rng, prior=prior,
            conditional=drawn_given(path), record_every=BLOCK, n_blocks=1, **more,
        )  # fmt: skip
        trips, sweeps = trips + float(sample.round_trips.sum()), sweeps + BLOCK
        more = {"start": sample}
    each = N_CHAINS * sweeps / trips if trips else math.inf
    return TripTime(each, trips, sweeps)


def _warn_of_length(method: str, found: TripTime, needed: float) -> None:
    took = f"more than {N_CHAINS * found.pilot_sweeps:,}"
    asked = "far more sweeps"
    if found.pilot_trips:
        took, asked = f"{found.sweeps_a_trip:,.0f}", f"about {needed:,.0f} sweeps"
    warn(
        f"{method}: this run will not converge: in a pilot of {found.pilot_sweeps:,} sweeps, a "
        f"round trip between the ends of the betas took {took} sweeps, so the run needs {asked}. "
        f"Without n_sweeps it makes at most {MOST_SWEEPS:,}, and this run makes {FEWEST_SWEEPS:,}. "
        "Give n_sweeps or a better base, or use rl.ais or rl.log_z"
    )
