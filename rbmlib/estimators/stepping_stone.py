"""Stepping stones: the ratio of neighbouring Z by importance sampling, from either side.

Xie, Lewis, Fan, Kuo & Chen (2011). Each ratio is the mean of two estimates,

    log mean exp(d Delta) over states at beta_k,  -log mean exp(-d Delta) over those at beta_{k+1},

with d the step of beta. Bennett's equation weighs the same states better where neighbours overlap
little (`rbmlib.bar_of_sample`); this needs no root, and the two sides can be compared.
"""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np

from .._numerics import logmeanexp
from ..results import Estimate
from ..tempering import TemperedSample
from ._neighbours import Ratio, joined_neighbours

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
    apart = []

    def ratio(low, high) -> Ratio:
        one, two = _one_side(low, 1), _one_side(high, -1)
        apart.append(two.log_z - one.log_z)
        return Ratio(
            (one.log_z + two.log_z) / 2, one.shares / 2, two.shares / 2, min(one.ess, two.ess)
        )

    words = "effective states between neighbours"
    run = joined_neighbours("stepping stones", sample, skip, ratio, words, FEWEST_STATES)
    return replace(run, settings=run.settings | {"two_sided": float(sum(apart))})


class _Side(NamedTuple):
    log_z: float  # of the step, from the states at one end
    shares: np.ndarray  # what each state moves it by
    ess: float


def _one_side(work, sign: int) -> _Side:
    log_weights = sign * work
    log_mean = float(logmeanexp(log_weights))
    shares = np.exp(log_weights - log_mean) / work.size
    moved = sign * (shares - 1 / work.size)
    return _Side(sign * log_mean, moved, 1 / float((shares**2).sum()))
