"""Estimators of a task from states of simulated or parallel tempering: RTS, TI, MBAR, BAR."""

from __future__ import annotations

import numpy as np

from ..estimators import (
    bar_of_sample,
    mbar,
    mbar_of_sample,
    rts,
    rts_of_sample,
    ti,
    transition_rts,
)
from ..estimators.bootstrap import bootstrap_tempered
from ..estimators.rts import STARTS
from ..tempering import parallel_tempering, pilot, simulated_tempering
from .registry import ESTIMATORS, one_of, register

PILOT_STEPS = 1000  # of the estimator "one_sample"


@register(ESTIMATORS, "rts")
def _rts(
    path, betas, seed, *, n_chains: int = 100, n_sweeps: int, starting: str = "pilot",
    rao_blackwell: bool = True,
):  # fmt: skip
    run = rts(
        path, betas, n_chains, n_sweeps, seed, start=one_of("starting", starting, STARTS),
        rao_blackwell=rao_blackwell, record_every=n_sweeps, progress=False,
    )  # fmt: skip
    return run, {"round_trips": run.settings["round_trips"], "bias": run.settings["bias"]}


@register(ESTIMATORS, "ti")
def _ti(
    path, betas, seed, *, n_chains: int = 100, n_sweeps: int, rule: str = "trapezoid",
    rao_blackwell: bool = True,
):  # fmt: skip
    return ti(
        path, betas, n_chains, n_sweeps, seed, rule=rule, rao_blackwell=rao_blackwell,
        progress=False,
    )  # fmt: skip


@register(ESTIMATORS, "mixing")
def _mixing(path, betas, seed, *, n_chains: int = 100, n_sweeps: int):
    """RTS, and the round trips of its chains with their standard error."""
    run = rts(path, betas, n_chains, n_sweeps, seed, record_every=n_sweeps, progress=False)
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
    options = {"progress": False}
    warm = simulated_tempering(path, betas, first, n_chains, n_sweeps // 5, source, **options)
    sample = simulated_tempering(path, betas, first, n_chains, n_sweeps, source, start=warm,
                                 **options)  # fmt: skip
    run = rts_of_sample(sample)
    others = {
        "mbar": mbar_of_sample(sample),
        "ti_riemann": ti(sample, rule="riemann", rao_blackwell=False),
        "ti_trap": ti(sample, rao_blackwell=False),
        "ti_corrected": ti(sample, rule="corrected", rao_blackwell=False),
        "ti_rb": ti(sample),
    }
    return run, {"round_trips": run.settings["round_trips"]} | _side_by_side(others)


@register(ESTIMATORS, "mbar")
def _mbar(path, betas, seed, *, n_chains: int = 100, n_sweeps: int):
    return mbar(path, betas, n_chains, n_sweeps, seed, progress=False)


@register(ESTIMATORS, "tempered")
def _tempered(
    path, betas, seed, *, n_chains: int = 100, n_sweeps: int, sampler: str = "simulated"
):  # fmt: skip
    """What each estimator makes of the same states; log Z is RTS's, or MBAR's (parallel)."""
    if one_of("sampler", sampler, ("simulated", "parallel")) == "parallel":
        return _parallel(path, betas, seed, n_chains, n_sweeps)
    run = rts(path, betas, n_chains, n_sweeps, seed, progress=False)
    sample, skip = run.states, n_sweeps // 10
    others = {
        "ts": rts_of_sample(sample, rao_blackwell=False, skip=2),
        "ti": ti(sample, rao_blackwell=False, skip=2),
        "ti_rb": ti(sample, rule="corrected", skip=2),
        "mbar": mbar_of_sample(sample, skip=skip),
        "bar": bar_of_sample(sample, skip=skip),
        "sd": transition_rts(sample, kind="sd", n_groups=20),
        "rsd": transition_rts(sample, n_groups=20),
    }
    return run, {"round_trips": run.settings["round_trips"]} | _side_by_side(others)


def _parallel(path, betas, seed, n_chains, n_sweeps):
    """``n_chains`` ladders, annealed for a tenth of the sweeps; a tenth more is not used."""
    anneal = max(1, n_sweeps // (10 * betas.size))
    sample = parallel_tempering(path, betas, n_chains, n_sweeps, seed, start="annealed",
                                anneal_sweeps=anneal, progress=False)  # fmt: skip
    run = mbar_of_sample(sample, skip=n_sweeps // 10)
    others = {"bar": bar_of_sample(sample, skip=n_sweeps // 10), "ti": ti(sample, skip=1)}
    trips = sample.round_trips.sum() / n_chains
    more = {"round_trips": float(trips), "least_swapped": float(sample.swap_rates.min())}
    return run, more | _side_by_side(others)


def _side_by_side(estimates: dict) -> dict[str, float]:
    columns = {}
    for name, estimate in estimates.items():
        columns |= {name: estimate.log_z, f"{name}_error": estimate.std_error}
    return columns


@register(ESTIMATORS, "bootstrapped")
def _bootstrapped(
    path, betas, seed, *, n_chains: int = 100, n_sweeps: int, n_estimates: int = 200,
    n_states: int = 10_000, n_mbar: int = 20,
):  # fmt: skip
    """Mean and standard deviation of estimates from states drawn again from one long run."""
    run = rts(path, betas, n_chains, n_sweeps, seed, progress=False)
    drawn = bootstrap_tempered(run.states, n_estimates, n_states, seed, skip=n_sweeps // 10,
                               n_mbar=n_mbar)  # fmt: skip
    more = {"round_trips": run.settings["round_trips"]}
    for name, values in drawn.items():
        more |= {name: float(values.mean()), f"{name}_error": float(values.std())}
    return run, more
