"""Chapter rts: how RTS may begin, from rounds in each of their readings."""

from __future__ import annotations

import time
from dataclasses import replace

import numpy as np

from rbmbook.carlson2016.estimators import mixed_rts
from rbmbook.carlson2016.rounds import GO_ON, ROUNDS, rounds, rts_from_rounds
from rbmbook.given_visible import GivenVisible
from rbmbook.sweeps.words import ESTIMATORS, register
from rbmbook.timing import timed
from rbmlib import exact, rts_of_sample
from rbmlib.estimators.rts import updated


def given(path, conditional: str):
    """The path, as it is quick for what beta is drawn given."""
    return GivenVisible(path) if conditional == "marginal" else path


@register(ESTIMATORS, "rts_from_rounds")
def _rts_from_rounds(
    path, betas, seed, *, n_chains: int = 100, n_sweeps: int, round_burn_in: int = 0,
    conditional: str = "joint",
):  # fmt: skip
    """RTS from the paper's rounds, the first sweeps of each left out."""
    how = {"left_out": round_burn_in, "conditional": conditional}
    run, made = rts_from_rounds(given(path, conditional), betas, n_chains, n_sweeps, seed, **how)
    more = {"round_trips": run.details["round_trips"], "bias": run.details["bias"]}
    return run, more | {"n_rounds": float(len(made)), "start_log_z": float(made[-1].guesses[-1])}


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
    made, same, new = ways
    joined, seconds = timed(lambda: mixed_rts([one.sample for one in made]))
    before = [(one.sample.log_z_path, one.sample.prior, one.shares) for one in made]
    more = {
        "same_betas": same[-1].log_z,
        "from_base": new[-1].log_z,
        "exact": exact(path.rbm).log_z,
    }
    more |= {"likelihood": float(joined[-1]), "likelihood_seconds": seconds}
    more["updates_seconds"] = timed(lambda: [updated(*one) for one in before])[1]
    at_end = {"log_z": made[-1].log_z, "std_error": np.nan, "verdict": "inconclusive"}
    seconds = time.perf_counter() - started
    return replace(rts_of_sample(made[-1].sample), **at_end, seconds=seconds), more
