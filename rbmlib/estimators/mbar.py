"""MBAR on states of tempering: see `mbar_equations`.

Nothing in its equations depends on the order of the samples; whether they are independent, and of
the right distribution, it cannot know. So the error bar comes from the spread of chains, and the
estimate is flagged unless these have been from end to end of the ladder several times.
"""

from __future__ import annotations

from typing import Unpack

from .. import checks
from ..context import Context
from ..paths.path import Path
from ..results import Check, Estimate
from ..sampling import TemperedSample
from ..sampling.sample import needs_joint_slope
from . import estimator
from .bar_of_sample import kept_states, of_influences
from .mbar_equations import Problem
from .rts_start import tempered

MAX_SAMPLES = 1_000_000  # slopes kept of a run (8 MB)
BURN_IN = 10  # one tenth of the states is not used


@estimator
def mbar(
    path: Path,
    betas=None,
    n_chains: int = 100,
    n_sweeps: int | None = None,
    rng=None,
    **context: Unpack[Context],
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
    needs_joint_slope(path)
    n_chains = checks.count("n_chains", n_chains, 2)
    sample, about = tempered(
        "mbar", path, betas, n_chains, n_sweeps, rng,
        record_every=lambda n_sweeps: -(-n_sweeps * n_chains // MAX_SAMPLES),
    )  # fmt: skip
    return _solved(sample, len(sample.delta) // BURN_IN, about)


@estimator
def mbar_of_sample(
    sample: TemperedSample, *, skip: int = 0, **context: Unpack[Context]
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
    return _solved(sample, skip, {})


def _solved(sample, skip, about) -> Estimate:
    delta, temperature, counts = kept_states(sample, skip)
    problem = Problem(delta.ravel(), counts.astype(float), sample.betas)
    solution = problem.solution()
    influences = problem.influences(temperature.ravel()).reshape(delta.shape)
    check = Check("solved, and all temperatures connected", solution.converged)
    return of_influences(
        "mbar", sample, solution.log_z, influences, [check],
        trace={"std_error_independent": solution.std_error, "counts": counts},
        settings=about | {"n_iterations": solution.n_iterations},
    )  # fmt: skip
