"""Plan betas and the number of sweeps of tempering from short pilots.

Each round trip of a tempered chain over the betas gives new information on log Z, and its duration
depends on the model. If the caller gives no betas, a few annealed chains place them. If the caller
gives no number of sweeps, a few tempered chains measure the duration of a round trip. A warning is
issued beforehand if a run needs more than `MOST_SWEEPS`.
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

N_CHAINS = 100  # of the pilots
LADDER_STEPS, LOOK_EVERY = 1000, 10
PER_LENGTH = 4  # betas per unit of path length
FEWEST_LENGTHS, MOST_BETAS = 6, 1000  # least length that is assumed, and most betas
LOG_Z_STEPS = 2000  # annealing steps for log Z of the tempered pilot
BLOCK, MOST_PILOT_SWEEPS = 200, 2000
ENOUGH_TRIPS = 50  # of all chains of the pilot together
FEWEST_SWEEPS, MOST_SWEEPS = 2000, 30_000


class Plan(NamedTuple):
    """Betas, sweeps, and results of the pilots (empty if both were given)."""

    betas: np.ndarray
    n_sweeps: int
    details: dict[str, Any]


def planned(
    method: str, path: Path, betas, n_sweeps, rng, *, trips: float, prior=None,
    per_length: int = PER_LENGTH,
) -> Plan:  # fmt: skip
    """Check the betas and sweeps that are given, and plan those that are None by pilots.

    Pilots draw from a child of ``rng``, so a run that is given the betas and sweeps of a plan has
    the same bits. ``trips`` is the number of round trips; ``per_length`` is as `PER_LENGTH`.
    """
    if betas is None and prior is not None:
        raise ValueError("prior is given, but betas is None: expected the betas of the prior")
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
    """Number of sweeps that a chain takes for a round trip over the betas."""

    sweeps_a_trip: float  # infinite if the pilot had no round trip
    pilot_trips: float  # of all chains together
    pilot_sweeps: int


def own_ladder(path: Path, rng, per_length: int) -> tuple[np.ndarray, float]:
    """Return betas that are equally far apart along the path, and the length of the path.

    The length is the integral over beta of the standard deviation of the slope, as in
    `rbmlib.schedules.varopt`, but for chains without weights, so that no single chain dominates.
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
    """Temper chains from both ends of the betas until they have made enough round trips.

    Unfinished round trips make the result a little too long rather than too short.
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
    return TripTime(N_CHAINS * sweeps / trips if trips else math.inf, trips, sweeps)


def _warn_of_length(method: str, found: TripTime, needed: float) -> None:
    took, asked = f"more than {N_CHAINS * found.pilot_sweeps:,}", "far more sweeps"
    if found.pilot_trips:
        took, asked = f"{found.sweeps_a_trip:,.0f}", f"about {needed:,.0f} sweeps"
    warn(
        f"{method}: this run will not converge: in a pilot of {found.pilot_sweeps:,} sweeps, a "
        f"round trip between the ends of the betas took {took} sweeps, so the run needs {asked}. "
        f"Without n_sweeps it makes at most {MOST_SWEEPS:,}, and this run makes {FEWEST_SWEEPS:,}. "
        "Give n_sweeps or a better base, or use rl.ais or rl.log_z"
    )
