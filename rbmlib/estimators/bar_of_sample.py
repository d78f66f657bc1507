"""Bennett's acceptance ratio between neighbouring betas of tempered states (Bennett 1976).

    log Z_K - log Z_1 = sum_k log (Z_{k+1} / Z_k),

each term from the states at beta_k and beta_{k+1} alone: the root of Bennett's equation for the
work values (beta_{k+1} - beta_k) Delta. Krause, Fischer & Igel (2020) found it the best of the ways
to read log Z of an RBM off parallel tempering. MBAR uses all states for all ratios, and so has the
smaller variance if states are independent.
"""

from __future__ import annotations

import time
from itertools import pairwise

import numpy as np

from .._diagnosis import Check
from ..results import Estimate
from ..tempering import TemperedSample
from ._report import kept_states, of_influences
from .bar import bennett

OVERLAP = 10  # states between neighbours (four times the slope of Bennett's equation)


def bar_of_sample(sample: TemperedSample, *, skip: int = 0) -> Estimate:
    """Estimate log Z by BAR between neighbouring betas of simulated or parallel tempering.

    Parameters
    ----------
    sample : TemperedSample
        With ``conditional="joint"``.
    skip : int
        Kept states of each chain that are not used.

    Returns
    -------
    Estimate
        Error bar and checks as of `rbmlib.mbar_of_sample`: the spread over independent chains or
        ladders. Betas without states are left out: their neighbours are joined.

    Raises
    ------
    ValueError
        If no state was kept at beta = 0 or at beta = 1.

    Examples
    --------
    >>> import rbmlib as rl
    >>> rbm = rl.testsystems.random_rbm(n_visible=12, n_hidden=6, rng=0)
    >>> path, betas = rl.GeometricPath(rbm), rl.schedules.linear(9)
    >>> estimate = rl.bar_of_sample(rl.parallel_tempering(path, betas, 10, 1000, rng=0), skip=100)
    >>> abs(estimate.log_z - rl.exact(rbm).log_z) < 4 * estimate.std_error
    True
    """
    started = time.perf_counter()
    delta, temperature, counts = kept_states(sample, skip)
    used = np.flatnonzero(counts)
    for end in (0, counts.size - 1):
        if not counts[end]:
            raise ValueError(
                f"sample holds no state at beta = {sample.betas[end]:g}: expected some at both "
                "ends; run more sweeps, or start from a pilot"
            )
    delta, order = delta.ravel(), np.argsort(temperature.ravel(), kind="stable")
    of_beta = np.split(order, np.cumsum(counts)[:-1])
    influences, log_z_path, least = np.zeros(delta.size), np.zeros(counts.size), np.inf
    for low, high in pairwise(used):
        step = sample.betas[high] - sample.betas[low]
        root = bennett(step * delta[of_beta[low]], step * delta[of_beta[high]])
        log_z_path[high] = log_z_path[low] + root.log_z
        # what leaving a state out would change, by its term and by the counts in Bennett's M
        influences[of_beta[low]] += root.forward / root.slope - 1 / counts[low]
        influences[of_beta[high]] -= root.reverse / root.slope - 1 / counts[high]
        least = min(least, 4 * root.slope)
    log_z_path = np.interp(sample.betas, sample.betas[used], log_z_path[used])
    text = f"{least:.0f} states where neighbours overlap, {OVERLAP} or more"
    return of_influences(
        "bar (neighbours)", sample, log_z_path, influences.reshape(temperature.shape),
        [Check(text, bool(least >= OVERLAP))], started,
    )  # fmt: skip
