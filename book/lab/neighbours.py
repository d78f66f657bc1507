"""Bennett's acceptance ratio (1976) between neighbouring betas of tempered states.

    log Z_K - log Z_1 = sum_k log (Z_{k+1} / Z_k),

each term from the states at beta_k and beta_{k+1} alone, by their work values d Delta, where d is
the step of beta. Krause, Fischer & Igel (2020) found it the best of the ways to read log Z of an
RBM off parallel tempering. MBAR uses all states for all ratios, and so has the smaller variance if
states are independent.
"""

from itertools import pairwise

import numpy as np

from rbmlib.estimators import estimator
from rbmlib.estimators.bar import bennett
from rbmlib.estimators.mbar import kept_states, of_influences
from rbmlib.results import Check, Estimate
from rbmlib.sampling import TemperedSample

OVERLAP = 10  # states between neighbours (four times the slope of Bennett's equation)


@estimator
def bar_of_sample(sample: TemperedSample, *, skip: int = 0) -> Estimate:
    """Estimate log Z by BAR between neighbouring betas of simulated or parallel tempering.

    Standard error as of `rbmlib.mbar`: the spread over independent chains or ladders. Betas without
    states are left out: their neighbours are joined.
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
