"""The reference set: log Z of each model by independent methods."""

from itertools import pairwise

import numpy as np

from rbmbook.sweeps.words import BASES, ESTIMATORS, register
from rbmlib import bar, datasets
from rbmlib.estimators import estimator
from rbmlib.estimators.bar import bennett
from rbmlib.estimators.mbar import kept_states, of_influences
from rbmlib.paths.bases import base_rate
from rbmlib.results import Check, Estimate
from rbmlib.sampling.sample import TemperedSample
from rbmlib.sampling.tempered import parallel_tempering

OVERLAP = 10  # states shared by neighbours (four times the slope of Bennett's equation)

BASES["dna base rate"] = lambda rbm: base_rate(datasets.load_dna().train)


@estimator
def bar_of_sample(sample: TemperedSample, *, skip: int = 0) -> Estimate:
    """Estimate log Z by Bennett's acceptance ratio (1976) between neighbouring tempered betas.

    log Z_K - log Z_1 is the sum of log (Z_{k+1} / Z_k). Each term uses only the states at beta_k
    and beta_k+1, with work values d Delta, where d is the step of beta (Krause, Fischer & Igel
    2020). The standard error is the spread over independent chains or ladders, as in `rbmlib.mbar`.
    Betas without states are left out.
    """
    delta, temperature, counts = kept_states(sample, skip)
    used = np.flatnonzero(counts)
    if used[0] or used[-1] != counts.size - 1:
        raise ValueError("sample holds no state at beta = 0, or none at 1: run more sweeps")
    delta, order = delta.ravel(), np.argsort(temperature.ravel(), kind="stable")
    of_beta = np.split(order, np.cumsum(counts)[:-1])
    influences, log_z_path, overlap = np.zeros(delta.size), np.zeros(counts.size), np.inf
    for k, after in pairwise(used):
        step, low, high = sample.betas[after] - sample.betas[k], of_beta[k], of_beta[after]
        root = bennett(step * delta[low], step * delta[high])
        log_z_path[after] = log_z_path[k] + root.log_z
        # a state left out changes its term, and the counts in M
        influences[low] += root.forward / root.slope - 1 / low.size
        influences[high] += 1 / high.size - root.reverse / root.slope
        overlap = min(overlap, 4 * root.slope)
    log_z_path = np.interp(sample.betas, sample.betas[used], log_z_path[used])
    overlaps = Check("states where neighbours overlap", overlap >= OVERLAP, overlap, OVERLAP)
    influences = influences.reshape(temperature.shape)
    return of_influences("bar (neighbours)", sample, log_z_path, influences, [overlaps])


@register(ESTIMATORS, "both directions")
def _both_directions(path, betas, seed, *, n_chains: int = 100, n_burn_in: int = 1000):
    """BAR, and mean log-weights of both directions, which bracket log Z in expectation."""
    run = bar(path, betas, n_chains, seed, start="chains", n_burn_in=n_burn_in)
    more = {"overlap": run.details["overlap"]}
    back = np.array(run.details["reverse_log_weights"])
    for side, values in (("lower", run.log_weights), ("upper", back)):
        error = values.std(ddof=1) / np.sqrt(n_chains)
        more |= {side: float(values.mean()), f"{side}_error": float(error)}
    more |= {"forward": run.details["forward"][0], "forward_error": run.details["forward"][1]}
    more |= {"reverse": run.details["reverse"][0], "reverse_error": run.details["reverse"][1]}
    return run, more


@register(ESTIMATORS, "parallel tempering")
def _parallel_tempering(
    path, betas, seed, *, n_ladders: int = 8, n_sweeps: int, anneal_sweeps: int = 30
):
    """BAR between neighbouring betas of annealed replicas, without the first tenth of states."""
    sample = parallel_tempering(
        path, betas, n_ladders, n_sweeps, seed, start="annealed", anneal_sweeps=anneal_sweeps,
        record_every=5,
    )  # fmt: skip
    run = bar_of_sample(sample, skip=n_sweeps // 50)
    trips = sample.round_trips.sum() / n_ladders
    return run, {"round_trips": float(trips), "least_swapped": float(sample.swap_rates.min())}
