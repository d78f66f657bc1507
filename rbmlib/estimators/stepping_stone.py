"""Stepping stones: the ratio of neighbouring Z by importance sampling, from either side.

Xie, Lewis, Fan, Kuo & Chen (2011). Each ratio is the mean of two estimates,

    log mean exp(d Delta) over states at beta_k,  -log mean exp(-d Delta) over those at beta_{k+1},

with d the step of beta. Bennett's equation weighs the same states better where neighbours overlap
little (`rbmlib.bar_of_sample`); this needs no root, and the two sides can be compared.
"""

from __future__ import annotations

import time
from itertools import pairwise

import numpy as np

from .._diagnosis import Check
from .._numerics import logmeanexp
from ..results import Estimate
from ..tempering import TemperedSample
from ._report import kept_states, of_influences

FEWEST_STATES = 10  # effective ones, of the weights between two neighbours


def stepping_stone_of_sample(sample: TemperedSample, *, skip: int = 0) -> Estimate:
    """Estimate log Z by stepping stones between neighbouring betas of tempered states.

    Parameters
    ----------
    sample : TemperedSample
        With ``conditional="joint"``.
    skip : int
        Kept states of each chain that are not used.

    Returns
    -------
    Estimate
        Error bar and checks as of `rbmlib.bar_of_sample`. ``settings["two_sided"]`` is how far
        the estimates from below and from above lie apart, in nats, summed over the ladder.

    Raises
    ------
    ValueError
        If no state was kept at beta = 0 or at beta = 1.

    Examples
    --------
    >>> import rbmlib as rl
    >>> rbm = rl.testsystems.random_rbm(n_visible=12, n_hidden=6, rng=0)
    >>> path, betas = rl.GeometricPath(rbm), rl.schedules.linear(9)
    >>> sample = rl.parallel_tempering(path, betas, 10, 1000, rng=0)
    >>> estimate = rl.stepping_stone_of_sample(sample, skip=100)
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
    influences, log_z_path = np.zeros(delta.size), np.zeros(counts.size)
    apart, least = 0.0, np.inf
    for low, high in pairwise(used):
        step, sides = sample.betas[high] - sample.betas[low], []
        for sign, at in ((1, low), (-1, high)):
            log_weights = sign * step * delta[of_beta[at]]
            log_mean = float(logmeanexp(log_weights))
            shares = np.exp(log_weights - log_mean) / counts[at]
            influences[of_beta[at]] += sign * (shares - 1 / counts[at]) / 2
            sides.append(sign * log_mean)
            least = min(least, 1 / float((shares**2).sum()))
        apart += sides[1] - sides[0]
        log_z_path[high] = log_z_path[low] + sum(sides) / 2
    log_z_path = np.interp(sample.betas, sample.betas[used], log_z_path[used])
    text = f"{least:.0f} effective states between neighbours, {FEWEST_STATES} or more"
    run = of_influences(
        "stepping stones", sample, log_z_path, influences.reshape(temperature.shape),
        [Check(text, bool(least >= FEWEST_STATES))], started,
    )  # fmt: skip
    run.settings["two_sided"] = apart
    return run
