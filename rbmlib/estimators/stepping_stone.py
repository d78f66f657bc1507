"""Stepping stones: the ratio of neighbouring Z by importance sampling, from either side.

Xie, Lewis, Fan, Kuo & Chen (2011). Each ratio is the mean of two estimates,

    log mean exp(d Delta) over states at beta_k,  -log mean exp(-d Delta) over those at beta_{k+1},

with d the step of beta. Bennett's equation weighs the same states better where neighbours overlap
little (`rbmlib.bar_of_sample`); this needs no root, and the two sides can be compared.
"""

from dataclasses import replace
from typing import Unpack

import numpy as np

from ..context import Context
from ..numerics import logmeanexp
from ..results import Estimate
from ..sampling import TemperedSample
from . import estimator
from .bar_of_sample import Ratio, joined_neighbours

FEWEST_STATES = 10  # effective ones, of the weights between two neighbours


@estimator
def stepping_stone_of_sample(
    sample: TemperedSample, *, skip: int = 0, **context: Unpack[Context]
) -> Estimate:
    """Estimate log Z by stepping stones between neighbouring betas of tempered states.

    Arguments, error bar, checks and refusals are those of `rbmlib.bar_of_sample`.

    Returns
    -------
    Estimate
        ``settings["two_sided"]`` is how far the estimates from below and from above lie apart, in
        nats, summed over the ladder.

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

    def ratio(low, high):
        (up, moved_up, ess_up), (down, moved_down, ess_down) = one_side(low, 1), one_side(high, -1)
        apart.append(down - up)
        return Ratio((up + down) / 2, moved_up / 2, moved_down / 2, min(ess_up, ess_down))

    words = "effective states between neighbours"
    run = joined_neighbours("stepping stones", sample, skip, ratio, words, FEWEST_STATES)
    return replace(run, settings=run.settings | {"two_sided": float(sum(apart))})


def one_side(work, sign):
    """log Z of a step from the states at one end, what each moves it by, and how many count."""
    log_weights = sign * work
    log_mean = float(logmeanexp(log_weights))
    shares = np.exp(log_weights - log_mean) / work.size
    return sign * log_mean, sign * (shares - 1 / work.size), 1 / float((shares**2).sum())
