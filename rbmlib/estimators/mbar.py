"""MBAR on states of tempering: see `mbar_equations`.

Nothing in its equations depends on the order of the samples; whether they are independent, and of
the right distribution, it cannot know. So the error bar comes from the spread of chains, and the
estimate is flagged unless these have been from end to end of the ladder several times.
"""

from __future__ import annotations

import time
from dataclasses import replace

from .._diagnosis import Check
from .._kernels import threads
from .._progress import one_run
from .._validation import count, generator, seed_of
from ..paths.base import AnnealingPath
from ..results import Estimate
from ..tempering import TemperedSample
from ..tempering.checks import checked_prior, needs_joint_slope
from ..tempering.planning import BY_PILOT, planned
from ..tempering.simulated import sample_of
from ._report import kept_states, of_influences
from .mbar_equations import Problem
from .rts import BURN_IN, TRIPS, begin_from_pilot

MAX_SAMPLES = 1_000_000  # slopes kept of a run (8 MB)


@one_run
def mbar(
    path: AnnealingPath,
    betas=None,
    n_chains: int = 100,
    n_sweeps: int = BY_PILOT,
    rng=None,
    *,
    n_threads: int | None = None,
    progress: bool | None = None,
) -> Estimate:
    """Estimate log Z by MBAR on states of simulated tempering, started as `rbmlib.rts` starts.

    Parameters
    ----------
    path, betas, n_chains, n_sweeps, rng, n_threads, progress
        As in `rbmlib.rts`, from a pilot; the first tenth of the sweeps is not used, and at most
        a million states, evenly spaced, are kept.

    Returns
    -------
    Estimate
        As of `mbar_of_sample`.

    Examples
    --------
    >>> import rbmlib as rl
    >>> rbm = rl.testsystems.random_rbm(n_visible=12, n_hidden=6, rng=0)
    >>> estimate = rl.mbar(rl.GeometricPath(rbm), rng=0)
    >>> estimate.converged and abs(estimate.log_z - rl.exact(rbm).log_z) < 5 * estimate.std_error
    True
    """
    started = time.perf_counter()
    needs_joint_slope(path)
    n_chains, source = count("n_chains", n_chains, 2), generator(rng)
    betas, n_sweeps, seen = planned(
        "mbar", path, betas, n_sweeps, source, trips=TRIPS, n_threads=n_threads
    )
    prior = checked_prior(None, betas.size)
    options = {"prior": prior, "conditional": "joint", "n_threads": n_threads}
    log_z_path, begun, more = begin_from_pilot(path, betas, n_chains, source, options)
    every = -(-n_sweeps * n_chains // MAX_SAMPLES)
    sample = sample_of(
        path, betas, log_z_path, n_chains, n_sweeps, source, **begun, **options,
        record_every=every, progress=progress,
    )  # fmt: skip
    skip = len(sample.delta) // BURN_IN
    estimate = mbar_of_sample(sample, skip=skip, n_threads=n_threads)
    settings = estimate.settings | more | seen | {"rng": seed_of(rng)}
    return replace(estimate, seconds=time.perf_counter() - started, settings=settings)


def mbar_of_sample(
    sample: TemperedSample, *, skip: int = 0, n_threads: int | None = None
) -> Estimate:
    """`mbar` from a sample of simulated or parallel tempering, without its first ``skip`` rows.

    Returns
    -------
    Estimate
        `std_error` is the spread over independent chains (or ladders) of the sums of what each
        state contributes, so that states that resemble each other count for what they are;
        ``trace["std_error_independent"]`` is MBAR's own, for independent samples, and
        ``settings["inefficiency"]`` how many states are worth one. Checked as in `rbmlib.rts`.
    """
    started = time.perf_counter()
    delta, temperature, counts = kept_states(sample, skip)
    with threads.blas_threads(n_threads):
        problem = Problem(delta.ravel(), counts.astype(float), sample.betas)
        solution = problem.solution()
        influences = problem.influences(temperature.ravel()).reshape(delta.shape)
    check = Check("solved, and all temperatures connected", solution.converged)
    estimate = of_influences("mbar", sample, solution.log_z, influences, [check], started)
    trace = {"std_error_independent": solution.std_error, "counts": counts}
    settings = estimate.settings | {"n_iterations": solution.n_iterations}
    return replace(estimate, trace=trace, settings=settings)
