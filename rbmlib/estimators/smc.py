"""Annealed sequential Monte Carlo: chains that are annealed and, where weights differ, resampled.

Also known as population annealing (Del Moral, Doucet & Jasra 2006; Machta 2010). Chains with small
weights give way to copies of those with large ones, so that a run ends with states of the target
of nearly equal weights. Copies have an ancestor in common: the error bar is the spread over
ancestors with all their descendants (Chan & Lai 2013), not over chains.
"""

import math
from typing import Unpack

import numpy as np

from .. import checks, results
from ..context import Context, bar
from ..numerics import ChainStream, logmeanexp
from ..results import Check, Estimate, summarise_log_weights
from ..sampling import anneal
from ..schedules import friction, linear
from . import estimator
from .ais import ais
from .reverse_ais import resampled

N_STEPS = 1000
PILOT_CHAINS, PILOT_STEPS, WINDOWS = 32, 0.5, 200  # of the schedule: half of the steps


@estimator
def smc(
    path,
    betas=None,
    n_chains: int = 1000,
    rng=None,
    *,
    n_steps: int | None = None,
    threshold: float = 0.5,
    look_every: int = 10,
    **context: Unpack[Context],
) -> Estimate:
    """Estimate log Z by annealed sequential Monte Carlo with adaptive resampling.

    Chains are annealed as in `rbmlib.ais`. Where the effective sample size falls below a share of
    the chains they are drawn anew in proportion to their weights (systematic resampling), and go
    on with equal ones. When to resample follows from the states alone that there are, so that the
    mean of the estimates of Z is Z, as in `rbmlib.ais`; a schedule that follows the same states
    would spoil that, so here a pilot with random numbers of its own finds it.

    Parameters
    ----------
    betas : array (K + 1,), optional
        By default a pilot of 32 chains and half as many steps says where the chains are slow
        (`rbmlib.schedules.friction`).
    n_steps : int, optional
        K of that schedule; 1,000 by default. Not with ``betas``.
    threshold : float
        Share of the chains, from 0 (never: this is AIS) to 1 (at every look).
    look_every : int
        Steps after which the weights are looked at.

    Returns
    -------
    Estimate
        ``ess`` is the effective number of ancestors: 1 over the sum of the squared shares that
        the descendants of each have in the final weights, from which flag and interval follow.
        ``states`` are resampled: draws of the target, with equal weights.
        ``settings["resampled"]`` holds the steps after which that was done, "n_families" how many
        ancestors have descendants. ``std_error`` is too long where ``threshold`` is near 1:
        families die out each time, while systematic resampling adds little to the variance.

    Examples
    --------
    >>> import rbmlib as rl
    >>> rbm = rl.testsystems.random_rbm(n_visible=12, n_hidden=6, rng=0)
    >>> estimate = rl.smc(rl.GeometricPath(rbm), rl.schedules.linear(200), n_chains=500, rng=0)
    >>> abs(estimate.log_z - rl.exact(rbm).log_z) < 5 * estimate.std_error
    True
    """
    n_chains = checks.count("n_chains", n_chains, 2)
    look_every = checks.count("look_every", look_every)
    checks.number("threshold", threshold, "a share from 0 to 1", least=0, most=1)
    if betas is not None and n_steps is not None:
        raise ValueError(f"n_steps is {n_steps}: expected None with betas, whose steps they are")
    source = checks.generator(rng)
    if betas is None:
        n_steps = N_STEPS if n_steps is None else checks.count("n_steps", n_steps)
        betas = _by_pilot(path, n_steps, source.spawn(1)[0])
    betas = checks.schedule(betas)
    stream, chosen = ChainStream(source, n_chains), source.spawn(1)[0]
    v, log_z, resampled_after = path.sample_base(n_chains, stream), path.log_z_base, []
    family, log_weights, last = np.arange(n_chains), np.zeros(n_chains), betas.size - 1
    with bar(last, "smc"):
        for first in range(0, last, look_every):
            part = betas[first : first + look_every + 1]
            v, gains = anneal(path, v, part, stream)
            log_weights = log_weights + gains
            now = first + part.size - 1
            if now == last or summarise_log_weights(log_weights).ess >= threshold * n_chains:
                continue
            kept = resampled(log_weights, chosen)
            log_z += float(logmeanexp(log_weights))
            v, family, log_weights = v[kept], family[kept], np.zeros(n_chains)
            resampled_after.append(now)
    log_z += float(logmeanexp(log_weights))
    shares, states = family_shares(log_weights, family), v[resampled(log_weights, chosen)]
    settings = {"n_temperatures": last, "stream_seed": stream.seed, "threshold": threshold}
    settings |= {"look_every": look_every, "resampled": resampled_after}
    settings["n_families"] = int(np.unique(family).size)
    return _of_families(path, v, log_z, shares, n_sweeps=last, states=states, settings=settings)


def _by_pilot(path, n_steps, rng):
    """The schedule from the friction of a pilot; a linear one where there are few steps."""
    n_pilot = int(PILOT_STEPS * n_steps)
    if n_pilot < WINDOWS:
        return linear(n_steps)
    with results.quietly():
        pilot = ais(
            path, linear(n_pilot), PILOT_CHAINS, rng, n_recorded=WINDOWS + 1, keep_chains=True
        )
    if not np.ptp(np.diff(pilot.trace["chain_log_weights"], axis=0), axis=1).all():
        return linear(n_steps)  # a flat stretch, which has no friction
    return friction(pilot, n_steps)


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
        ancestors = f"the chains descend from {ess:.1f} effective ancestors of {n}"
        found = [
            Check(ancestors, results.enough(ess, n)),
            Check(f"{n_terms:.1f} families make up the error, 2 or more", n_terms >= 2),
        ]
    return results.finished(
        "smc",
        log_z,
        error,
        found,
        n_terms,
        remedy=results.MORE_STEPS,
        interval=results.log_mean_interval(results.WeightSummary(log_z, error, ess), n_terms),
        bound="lower",
        ess=ess,
        n_chains=n,
        **more,
    )
