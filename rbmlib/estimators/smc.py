"""Annealed sequential Monte Carlo: chains that are annealed and, where weights differ, resampled.

Also known as population annealing (Del Moral, Doucet & Jasra 2006; Machta 2010). Chains with small
weights give way to copies of those with large ones, so that a run ends with states of the target
of nearly equal weights. Copies have an ancestor in common: the error bar is the spread over
ancestors with all their descendants (Chan & Lai 2013), not over chains.
"""

from __future__ import annotations

import math
import time

import numpy as np

from .._diagnosis import warn
from .._numerics import logmeanexp
from .._progress import one_run, progress_bar
from .._streams import ChainStream
from .._validation import annealing_betas, count, generator, instance, number
from ..paths.base import AnnealingPath, State
from ..results import Estimate, WeightSummary, log_mean_interval, summarise_log_weights
from ..schedules import friction, linear
from ..tempering.checks import PATH_MEANING
from ._reverse_start import resample
from ._weights import NO_SPREAD, _is_constant, has_converged, run_settings
from .ais import ais

N_STEPS = 1000
PILOT_CHAINS, PILOT_STEPS, WINDOWS = 32, 0.5, 200  # of the schedule: half of the steps


@one_run
def smc(
    path: AnnealingPath,
    betas=None,
    n_chains: int = 1000,
    rng=None,
    *,
    n_steps: int | None = None,
    threshold: float = 0.5,
    look_every: int = 10,
    n_threads: int | None = None,
    progress: bool | None = None,
) -> Estimate:
    """Estimate log Z by annealed sequential Monte Carlo with adaptive resampling.

    Chains are annealed as in `rbmlib.ais`. Where the effective sample size falls below a share of
    the chains they are drawn anew in proportion to their weights (systematic resampling), and go
    on with equal ones. When to resample follows from the states alone that there are, so that the
    mean of the estimates of Z is Z, as in `rbmlib.ais`; a schedule that follows the same states
    would spoil that, so here a pilot with random numbers of its own finds it.

    Parameters
    ----------
    path, n_chains, rng, n_threads, progress
        As in `rbmlib.ais`.
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
        the descendants of each have in the final weights. `converged` and the interval follow
        from it as from that of `rbmlib.ais`, with Student's law for the number of families that
        make up the error. ``states`` are resampled: draws of the target, with equal weights.
        ``settings["resampled"]`` holds the steps after which chains were resampled, and
        ``settings["n_families"]`` how many ancestors have descendants.
        ``std_error`` is too long where chains are resampled often (a ``threshold`` near 1):
        families die out each time, while systematic resampling adds little to the variance.

    Examples
    --------
    >>> import rbmlib as rl
    >>> rbm = rl.testsystems.random_rbm(n_visible=12, n_hidden=6, rng=0)
    >>> estimate = rl.smc(rl.GeometricPath(rbm), rl.schedules.linear(200), n_chains=500, rng=0)
    >>> abs(estimate.log_z - rl.exact(rbm).log_z) < 5 * estimate.std_error
    True
    """
    started = time.perf_counter()
    instance("path", path, AnnealingPath, PATH_MEANING)
    n_chains, look_every = count("n_chains", n_chains, 2), count("look_every", look_every)
    threshold = number("threshold", threshold, "a share from 0 to 1", least=0, most=1)
    if betas is not None and n_steps is not None:
        raise ValueError(f"n_steps is {n_steps}: expected None with betas, whose steps they are")
    source = generator(rng)
    if betas is None:
        n_steps = N_STEPS if n_steps is None else count("n_steps", n_steps)
        betas = _by_pilot(path, n_steps, source.spawn(1)[0], n_threads)
    betas = annealing_betas(betas)
    stream, chosen = ChainStream(source, n_chains), source.spawn(1)[0]
    state = path.sample_base(n_chains, stream)
    family, log_weights = np.arange(n_chains), np.zeros(n_chains)
    log_z, resampled = path.log_z_base, []
    with progress_bar(betas.size - 1, "smc", progress) as bar:
        for first in range(0, betas.size - 1, look_every):
            part = betas[first : first + look_every + 1]
            state, gains = path.anneal(
                state, part, stream, n_threads=n_threads, on_progress=bar.update
            )
            log_weights += gains
            last = first + part.size == betas.size
            if last or summarise_log_weights(log_weights).ess >= threshold * n_chains:
                continue
            kept = resample(log_weights, chosen)
            log_z += float(logmeanexp(log_weights))
            state, family = State(*(array[kept] for array in state)), family[kept]
            log_weights = np.zeros(n_chains)
            resampled.append(first + part.size - 1)
    more = {"threshold": threshold, "look_every": look_every, "resampled": resampled}
    settings = run_settings(path, betas, rng, stream, **more)
    run = _of_families(path, state, log_z, log_weights, family, settings)
    kept = resample(log_weights, chosen)
    states = State(*(array[kept] for array in state))
    return Estimate(
        method="smc", bound="lower", n_chains=n_chains, n_sweeps=betas.size - 1, states=states,
        seconds=time.perf_counter() - started, settings=settings, **run,
    )  # fmt: skip


def _by_pilot(path, n_steps: int, rng, n_threads) -> np.ndarray:
    """The schedule from the friction of a pilot; a linear one where there are few steps."""
    n_pilot = int(PILOT_STEPS * n_steps)
    if n_pilot < WINDOWS:
        return linear(n_steps)
    pilot = ais(path, linear(n_pilot), PILOT_CHAINS, rng, n_recorded=WINDOWS + 1,
                keep_chains=True, n_threads=n_threads, progress=False)  # fmt: skip
    return friction(pilot, n_steps)


def family_shares(log_weights, family) -> np.ndarray:
    """Share of the descendants of each of the n first chains in the sum of weights (n,)."""
    weights = np.exp(log_weights - log_weights.max())
    return np.bincount(family, weights / weights.sum(), minlength=log_weights.size)


def _of_families(path, final: State, log_z: float, log_weights, family, settings: dict) -> dict:
    """log Z, its error and checks, from the shares s_a of the families.

    The variance of log Z is ``n / (n - 1) sum_a (s_a - 1 / n)^2``: that of `rbmlib.ais` if no
    chain was resampled.
    """
    n = log_weights.size
    off = family_shares(log_weights, family) - 1 / n
    squares = float((off**2).sum())
    error = math.sqrt(squares * n / (n - 1))
    ess = n / (1 + n * error**2)  # as `summarise_log_weights`, of the shares times n
    value = log_z + float(logmeanexp(log_weights))
    settings["n_families"] = int(np.unique(family).size)
    if error < NO_SPREAD:
        converged, n_terms = _is_constant(path, final), float(n)
        error = error if converged else math.nan
    else:
        converged, n_terms = has_converged(ess, n), squares**2 / float((off**4).sum())
    if not converged:
        warn(
            f"smc: the chains descend from {ess:.1f} effective ancestors of {n}, so the standard "
            "error cannot be trusted; use more temperatures (or a better base or schedule), then "
            "more chains"
        )
    interval = log_mean_interval(WeightSummary(value, error, ess), n_terms)  # type: ignore[arg-type]
    return {
        "log_z": value, "std_error": error, "ess": ess, "interval": interval,
        "converged": converged,
    }  # fmt: skip
