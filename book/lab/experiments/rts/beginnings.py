"""Chapter rts: how RTS may begin, from rounds in each of their readings, from groups or a pilot."""

from __future__ import annotations

import time
from dataclasses import replace

import numpy as np

from rbmbook.carlson2016.estimators import mixed_rts
from rbmbook.carlson2016.rounds import (
    CLOSE,
    GO_ON,
    ROUND,
    ROUNDS,
    distance,
    roughness,
    rounds,
    rts_from_rounds,
)
from rbmbook.given_visible import GivenVisible
from rbmbook.sweeps.words import ESTIMATORS, register
from rbmbook.timing import timed
from rbmlib import exact, rts_of_sample, simulated_tempering
from rbmlib.estimators.rts import updated

STOPS = (*range(50, 501, 50), 600, 800, 1000, 1200, 1600, 2000, 2400, 3200, 4000, 6000, 8000)
LOOKS = (500, 1000, 2000, 4000)  # at which the distance of c from r is kept, too
SETTLING, MEASURED = 50, 500  # sweeps after a start: not used, used


@register(ESTIMATORS, "rounds")
def _rounds(
    path, betas, seed, *, n_chains: int = 100, n_sweeps: int, round_sweeps: int = ROUND,
    round_burn_in: int = 0, conditional: str = "joint",
):  # fmt: skip
    """The initial iterations alone, for ``n_sweeps`` sweeps of a chain: log Z^ on the way.

    ``close_after`` is the number of sweeps until ``max |r - c| < 0.1 / K`` first held, none if it
    never did; ``log_z_S`` is log Z^ after the last round that was over at sweep S. ``std_error``
    is left empty: rounds of the same chains tell none.
    """
    started = time.perf_counter()
    source, path = np.random.default_rng(seed), given(path, conditional)
    how = {"left_out": round_burn_in, "conditional": conditional, "sweeps": round_sweeps}
    found = rounds(path, betas, n_chains, source, n_sweeps // round_sweeps, **how)
    far = np.array([distance(one.shares) for one in found])
    close = np.flatnonzero(far < CLOSE)
    more = {"close_after": float(round_sweeps * (close[0] + 1)) if close.size else np.nan}
    more |= {"n_close": float(close.size), "least_distance": float(far.min())}
    for stop in STOPS:
        done = stop // round_sweeps
        inside = 0 < done <= len(found) and stop <= n_sweeps
        more[f"log_z_{stop}"] = float(found[done - 1].guesses[-1]) if inside else np.nan
        if stop in LOOKS:
            more[f"distance_{stop}"] = float(far[done - 1]) if inside else np.nan
    run = _measured(path, betas, found[-1].guesses, n_chains, source, 2, 1, conditional)
    seconds = time.perf_counter() - started
    at_end = {"log_z": float(found[-1].guesses[-1]), "std_error": np.nan, "verdict": "inconclusive"}
    return replace(run, **at_end, seconds=seconds), more


@register(ESTIMATORS, "first_rounds")
def _first_rounds(
    path, betas, seed, *, n_chains: int = 100, n_rounds: int, round_burn_in: int = 0,
    conditional: str = "joint",
):  # fmt: skip
    """The authors' rounds once more, as Figure 1 looks at them: after eight, and nearest to r.

    ``distance_8`` is ``K max |r - c|`` after eight rounds, ``least_distance`` that of the best
    round, ``roughness_8`` that of log c, and ``exact`` log Z by enumeration. ``counted`` is the
    roughness after eight rounds whose c is counted, and ``empty`` the share of its empty bins.
    """
    started, path = time.perf_counter(), given(path, conditional)
    where, how = (path, betas, n_chains, seed), {"left_out": round_burn_in}
    how |= {"conditional": conditional}
    made = rounds(*where, n_rounds, **how)
    by_counts = rounds(*where, 8, column="visited", **how)[7]
    far, eighth = [distance(one.shares) for one in made], made[7]
    more = {"distance_8": far[7], "least_distance": min(far), "log_z_8": eighth.log_z}
    more |= {"exact": exact(path.rbm).log_z, "roughness_8": roughness(eighth.shares)}
    more |= {"counted": roughness(by_counts.shares), "empty": by_counts.empty}
    at_end = {"log_z": made[-1].log_z, "std_error": np.nan, "verdict": "inconclusive"}
    seconds = time.perf_counter() - started
    return replace(rts_of_sample(made[-1].sample), **at_end, seconds=seconds), more


def given(path, conditional: str):
    """The path, as it is quick for what beta is drawn given."""
    return GivenVisible(path) if conditional == "marginal" else path


def _measured(path, betas, log_z_path, n_chains, rng, n_sweeps, settling, conditional, **begun):
    """RTS from ``n_sweeps`` sweeps with these Z^, after some that are not used."""
    settled = simulated_tempering(
        path, betas, log_z_path, n_chains, settling, rng, conditional=conditional,
        record_every=settling, **begun,
    )  # fmt: skip
    sample = simulated_tempering(
        path, betas, log_z_path, n_chains, n_sweeps, rng, conditional=conditional, start=settled,
        record_every=n_sweeps,
    )  # fmt: skip
    return rts_of_sample(sample)


@register(ESTIMATORS, "rts_from_rounds")
def _rts_from_rounds(
    path, betas, seed, *, n_chains: int = 100, n_sweeps: int, round_burn_in: int = 0,
    conditional: str = "joint",
):  # fmt: skip
    """RTS from the paper's rounds, the first sweeps of each left out."""
    how = {"left_out": round_burn_in, "conditional": conditional}
    run, made = rts_from_rounds(given(path, conditional), betas, n_chains, n_sweeps, seed, **how)
    more = {"round_trips": run.details["round_trips"], "bias": run.details["bias"]}
    more |= {"n_rounds": float(len(made)), "start_log_z": float(made[-1].guesses[-1])}
    return run, more


@register(ESTIMATORS, "ways_of_rounds")
def _ways_of_rounds(
    path, betas, seed, *, n_chains: int = 100, n_rounds: int = ROUNDS, round_burn_in: int = 0,
    conditional: str = "joint",
):  # fmt: skip
    """The authors' rounds and what section 2.4 sets beside them, all from equal guesses.

    ``log_z`` is that of the last states with fresh betas, ``same_betas`` with the betas kept,
    ``from_base`` with new states. ``likelihood`` maximises that of all rounds (appendix A);
    ``likelihood_seconds`` and ``updates_seconds`` are those of this and of the simple updates.
    """
    started, path = time.perf_counter(), given(path, conditional)
    how = {"left_out": round_burn_in, "conditional": conditional}
    ways = [rounds(path, betas, n_chains, seed, n_rounds, go_on=way, **how) for way in GO_ON]
    made, *others = ways
    samples = [one.sample for one in made]
    more = dict(zip(("same_betas", "from_base"), (way[-1].log_z for way in others), strict=True))
    joined, more["likelihood_seconds"] = timed(lambda: mixed_rts(samples))
    more["likelihood"] = float(joined[-1])

    def updates():
        return [
            updated(s.log_z_path, s.prior, r.shares) for s, r in zip(samples, made, strict=True)
        ]

    more["updates_seconds"] = timed(updates)[1]
    more |= {"exact": exact(path.rbm).log_z}
    at_end = {"log_z": made[-1].log_z, "std_error": np.nan, "verdict": "inconclusive"}
    seconds = time.perf_counter() - started
    return replace(rts_of_sample(made[-1].sample), **at_end, seconds=seconds), more
