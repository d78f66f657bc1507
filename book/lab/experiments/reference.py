"""The reference set: log Z of each model by independent methods."""

from __future__ import annotations

import numpy as np

from rbmbook.neighbours import bar_of_sample
from rbmbook.sweeps.words import BASES, ESTIMATORS, register
from rbmlib import bar, datasets
from rbmlib.paths.bases import base_rate
from rbmlib.sampling import parallel_tempering

BASES["dna base rate"] = lambda rbm: base_rate(datasets.load_dna().train)


@register(ESTIMATORS, "both directions")
def _both_directions(path, betas, seed, *, n_chains: int = 100, n_burn_in: int = 1000):
    """BAR, with the mean log-weights of either direction: in expectation they bracket log Z."""
    run = bar(path, betas, n_chains, seed, start="chains", n_burn_in=n_burn_in)
    more = {"overlap": run.details["overlap"]}
    for side, values in (
        ("lower", run.log_weights),
        ("upper", np.array(run.details["reverse_log_weights"])),
    ):
        error = values.std(ddof=1) / np.sqrt(n_chains)
        more |= {side: float(values.mean()), f"{side}_error": float(error)}
    more |= {"forward": run.details["forward"][0], "forward_error": run.details["forward"][1]}
    more |= {"reverse": run.details["reverse"][0], "reverse_error": run.details["reverse"][1]}
    return run, more


@register(ESTIMATORS, "parallel tempering")
def _parallel_tempering(
    path, betas, seed, *, n_ladders: int = 8, n_sweeps: int, anneal_sweeps: int = 30
):
    """BAR between neighbouring betas of replicas that were annealed; a tenth is not used."""
    sample = parallel_tempering(
        path, betas, n_ladders, n_sweeps, seed, start="annealed", anneal_sweeps=anneal_sweeps,
        record_every=5,
    )  # fmt: skip
    run = bar_of_sample(sample, skip=n_sweeps // 50)
    trips = sample.round_trips.sum() / n_ladders
    assert sample.swap_rates is not None  # as parallel tempering always has them
    return run, {"round_trips": float(trips), "least_swapped": float(sample.swap_rates.min())}
