"""Chapter rts_continuous: how chains mix in beta, and one sample for all estimators."""

from __future__ import annotations

import numpy as np

from rbmbook.sweeps.words import ESTIMATORS, register
from rbmlib import mbar_of_sample, pilot, rts, rts_of_sample, simulated_tempering, ti

PILOT_STEPS = 1000  # of the estimator "one_sample"


@register(ESTIMATORS, "mixing")
def _mixing(path, betas, seed, *, n_chains: int = 100, n_sweeps: int):
    """RTS, and the round trips of its chains with their standard error."""
    run = rts(path, betas, n_chains, n_sweeps, seed, record_every=n_sweeps)
    trips = run.states.round_trips
    error = trips.std(ddof=1) / np.sqrt(trips.size)
    return run, {"round_trips": trips.mean(), "round_trips_error": error}


@register(ESTIMATORS, "one_sample")
def _one_sample(path, betas, seed, *, n_chains: int = 20, n_sweeps: int, own_pilot: bool = True):
    """What the estimators of figure 2 of Carlson et al. (2016) make of the same states.

    log Z is that of RTS. The log Z with which the chains run is that of a short pilot, of its own
    or the same for all seeds; a fifth as many sweeps go before those that count.
    """
    source = np.random.default_rng([seed, 4])
    first = pilot(path, betas, n_chains, PILOT_STEPS, source if own_pilot else 0).log_z_path
    warm = simulated_tempering(path, betas, first, n_chains, n_sweeps // 5, source)
    sample = simulated_tempering(path, betas, first, n_chains, n_sweeps, source, start=warm)
    run = rts_of_sample(sample)
    others = {
        "mbar": mbar_of_sample(sample),
        "ti_riemann": ti(sample, rule="riemann", rao_blackwell=False),
        "ti_trap": ti(sample, rao_blackwell=False),
        "ti_corrected": ti(sample, rule="corrected", rao_blackwell=False),
        "ti_rb": ti(sample),
    }
    more = {"round_trips": run.details["round_trips"]}
    for name, estimate in others.items():
        more |= {name: estimate.log_z, f"{name}_error": estimate.std_error}
    return run, more
