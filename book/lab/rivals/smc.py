"""Annealed sequential Monte Carlo: AIS whose chains are resampled where their weights differ.

Also known as population annealing (Del Moral, Doucet & Jasra 2006; Machta 2010). When to resample
follows from the present states alone, so that the mean of the estimates of Z is Z. A schedule that
followed the same states would spoil that: a pilot with random numbers of its own finds it. Copies
have an ancestor in common, so the standard error is the spread over ancestors with all their
descendants (Chan & Lai 2013), not over chains. It is too long where chains are resampled often:
families die out each time, while systematic resampling adds little to the variance.
"""

import math

import numpy as np

import rbmlib as rl
from rbmlib import results
from rbmlib.estimators import estimator
from rbmlib.estimators.reverse_ais import resampled
from rbmlib.numerics import ChainStream, logmeanexp
from rbmlib.results import Check, Estimate, summarise_log_weights
from rbmlib.sampling import anneal
from rbmlib.schedules import friction, linear

THRESHOLD, LOOK_EVERY = 0.5, 10  # share of effective chains, compared every so many steps
N_STEPS, PILOT_CHAINS, PILOT_STEPS, WINDOWS = 1000, 32, 500, 200  # of the schedule by a pilot


@estimator
def smc(path, betas=None, n_chains: int = 1000, rng=None) -> Estimate:
    """Estimate log Z; by default a pilot says where chains are slow, and puts more steps there.

    ``ess`` is the effective number of ancestors, 1 over the sum of the squared shares of the
    families in the final weights. ``states`` are resampled: draws of the target of equal weight.
    ``details`` holds after which steps chains were "resampled", and "n_families".
    """
    source = np.random.default_rng(rng)
    betas = _by_pilot(path, source.spawn(1)[0]) if betas is None else betas
    stream, chosen = ChainStream(source, n_chains), source.spawn(1)[0]
    v, log_z, resampled_after = path.sample_base(n_chains, stream), path.log_z_base, []
    family, log_weights, last = np.arange(n_chains), np.zeros(n_chains), betas.size - 1
    for first in range(0, last, LOOK_EVERY):
        part = betas[first : first + LOOK_EVERY + 1]
        v, gains = anneal(path, v, part, stream)
        log_weights = log_weights + gains
        now = first + part.size - 1
        if now == last or summarise_log_weights(log_weights).ess >= THRESHOLD * n_chains:
            continue
        kept = resampled(log_weights, chosen)
        log_z += float(logmeanexp(log_weights))
        v, family, log_weights = v[kept], family[kept], np.zeros(n_chains)
        resampled_after.append(now)
    log_z += float(logmeanexp(log_weights))
    shares, states = family_shares(log_weights, family), v[resampled(log_weights, chosen)]
    details = {"resampled": resampled_after, "n_families": np.unique(family).size}
    return _of_families(path, v, log_z, shares, n_sweeps=last, states=states, details=details)


def _by_pilot(path, rng):
    """The schedule from the friction of a pilot; a linear one where its path has a flat stretch."""
    with results.quietly():
        pilot = rl.ais(
            path, linear(PILOT_STEPS), PILOT_CHAINS, rng, n_recorded=WINDOWS + 1, keep_chains=True
        )
    moved = np.ptp(np.diff(pilot.trace["chain_log_weights"], axis=0), axis=1)
    return friction(pilot, N_STEPS) if moved.all() else linear(N_STEPS)


def family_shares(log_weights, family):
    """Share of the descendants of each of the n first chains in the sum of weights (n,)."""
    weights = np.exp(log_weights - log_weights.max())
    return np.bincount(family, weights / weights.sum(), minlength=log_weights.size)


def _of_families(path, v, log_z, shares, **more):
    """The estimate, its error and checks, from the shares s_a of the families.

    The variance of log Z is ``n / (n - 1) sum_a (s_a - 1 / n)^2``: that of `rbmlib.ais` if no
    chain was resampled.
    """
    n, off = shares.size, shares - 1 / shares.size
    squares = float((off**2).sum())
    error = math.sqrt(squares * n / (n - 1))
    ess = n / (1 + n * error**2)  # as `summarise_log_weights`, of the shares times n
    if error < results.NO_SPREAD:
        found = [Check("all chains have the same weight", results.is_constant(path, v))]
        error, n_terms = error if found[0].passed else math.nan, float(n)
    else:
        n_terms = squares**2 / float((off**4).sum())
        found = [
            results.enough("effective number of ancestors", ess, n),
            Check("families that make up the error", n_terms >= 2, n_terms, 2),
        ]
    interval = results.log_mean_interval(results.WeightSummary(log_z, error, ess), n_terms)
    about = {"remedy": results.MORE_STEPS, "bound": "lower", "ess": ess, "n_chains": n}
    return results.finished("smc", log_z, error, found, n_terms, interval=interval, **about, **more)
