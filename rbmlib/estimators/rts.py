"""Rao-Blackwellised tempered sampling (Carlson, Stinson, Pakman & Paninski 2016).

Chains of simulated tempering visit beta_k with probability q_k ~ r_k Z_k / Z^_k (eq. 8), where Z^
are preliminary estimates. The mean c_k of q(k | x) over the states (eq. 9) estimates q_k, so
Z^_k c_k r_0 / (c_0 r_k) estimates Z_k (eq. 12). The error bar comes from the spread of c over
independent chains (appendix B), and misses errors from Z^, which all chains share. The estimate is
therefore inconclusive unless the chains make several round trips of the ladder, and unless chains,
blocks of time, halves of the run, and chains started at either end agree.
"""

from typing import Any

import numpy as np

from .. import checks
from ..paths.path import Path
from ..results import Estimate, of_chains
from ..sampling.anneal import both_ends
from ..sampling.planning import PER_LENGTH, planned
from ..sampling.sample import TemperedSample, drawn_given
from ..sampling.tempered import simulated_tempering
from . import estimator

PILOT_STEPS = 4000
TRIPS = 5.0  # planned round trips of a chain; the check requires 2
BLOCKS, UNUSED = 20, 2  # blocks of time, and how many of them are discarded
EMPTY = 0.1  # pseudo-count of each beta if betas are counted (section 4.3)


@estimator
def rts(
    path: Path,
    betas=None,
    n_chains: int = 100,
    n_sweeps: int | None = None,
    rng=None,
    *,
    prior=None,
    rao_blackwell: bool = True,
    record_every: int = 1,
) -> Estimate:
    """Estimate log Z by Rao-Blackwellized tempered sampling (Carlson et al. 2016, eq. 12).

    The probabilities of beta given the states of simulated tempering give log Z. The estimate is
    consistent. Its bias (eq. 15) has no definite sign; ``details["bias"]`` records the bias, which
    is not subtracted. `Estimate.states` is the `TemperedSample`, which other estimators can use.

    An annealing run of 4,000 steps gives the preliminary Z^. Half of the chains start at beta = 0
    from draws of the base, half at beta = 1 from annealed states. The first tenth of the sweeps is
    discarded.

    Parameters
    ----------
    path : Path
        Path from a base with known log Z to the target, such as ``rl.GeometricPath(rbm)``.
    betas : array (K,), optional
        Increasing from 0 to 1. By default, four betas per unit of path length (the integral of the
        standard deviation of the slope), as measured on 100 chains annealed in 1,000 steps.
    n_chains : int
        Number of independent chains.
    n_sweeps : int, optional
        By default, the number of sweeps in which a chain makes five round trips over the betas, but
        at least 2,000. A pilot of 100 chains and up to 2,000 sweeps measures the time of a round
        trip. If more than 30,000 sweeps are needed, a `ConvergenceWarning` says how many, and the
        run makes 2,000. ``details["planned"]`` holds the results of the pilots. A run with the same
        seed, and with the betas and sweeps that the pilots chose, gives the same bits.
    rng : int, Generator or None
        The same seed gives the same bits on any number of threads.
    prior : array (K,), optional
        Target frequencies r_k > 0 of the betas; uniform by default.
    rao_blackwell : bool
        Whether to average q(k | x). If False, sampled betas are counted, plus 0.1 for each beta.
    record_every : int
        Number of sweeps between recorded states in `Estimate.states`.

    Returns
    -------
    Estimate
        Estimate of log Z (nats), with its error bar and checks.

    Examples
    --------
    >>> import rbmlib as rl
    >>> rbm = rl.testsystems.random_rbm(n_visible=12, n_hidden=6, rng=0)
    >>> estimate = rl.rts(rl.GeometricPath(rbm), rng=0)
    >>> estimate.converged and abs(estimate.log_z - rl.exact(rbm).log_z) < 5 * estimate.std_error
    True
    """
    every = checks.count("record_every", record_every)
    sample, about = tempered(
        "rts", path, betas, n_chains, n_sweeps, rng, lambda n: every, prior=prior
    )
    return _estimate(sample, rao_blackwell, UNUSED, about, {"start": "pilot"})


@estimator
def rts_of_sample(sample: TemperedSample, *, rao_blackwell: bool = True, skip: int = 0) -> Estimate:
    """Estimate log Z by RTS from a given tempered sample.

    Parameters
    ----------
    sample : TemperedSample
        From `rbmlib.simulated_tempering`, with two or more chains.
    rao_blackwell : bool
        Whether to average the probabilities of the betas or count the sampled betas.
    skip : int
        Number of discarded initial blocks of time (a sample has ``n_blocks``).

    Returns
    -------
    Estimate
        Estimate of log Z (nats), with its error bar and checks.

    Examples
    --------
    >>> import rbmlib as rl
    >>> path = rl.GeometricPath(rl.testsystems.random_rbm(n_visible=12, n_hidden=6, rng=0))
    >>> betas = rl.schedules.linear(9)
    >>> guess = rl.pilot(path, betas, rng=0).log_z_path
    >>> sample = rl.simulated_tempering(path, betas, guess, 50, 1000, rng=1)
    >>> estimate = rl.rts_of_sample(sample, skip=1)
    >>> abs(estimate.log_z - rl.exact(path.rbm).log_z) < 4 * estimate.std_error
    True
    """
    checked_sample(sample)
    if sample.mixed is None:
        came = "of parallel tempering, where beta is not random"
        raise ValueError(f"sample is {came}: expected one of rl.simulated_tempering")
    return _estimate(sample, rao_blackwell, checked_skip(skip, len(sample.mixed)), {}, {})


def _estimate(sample, rao_blackwell, skip, about, settings) -> Estimate:
    """Return the estimate of eqs. (9) and (12), with the influences of appendix B."""
    sums = (sample.mixed if rao_blackwell else sample.visited)[skip:]
    sweeps = sample.block_sweeps[skip:]
    blocks = sums[:, :, 0] / sweeps[:, None, None]  # shares of time (n_blocks, n_chains, K)
    chains = np.einsum("b,bck->ck", sweeps / sweeps.sum(), blocks)  # c_k of each chain
    if not rao_blackwell:
        n = sweeps.sum() * sample.n_chains
        chains = (chains + EMPTY / n) / (1 + EMPTY * sample.betas.size / n)
    c = chains.mean(axis=0)
    log_z_path = updated(sample.log_z_path, sample.prior, c)
    influences = chains / c - (chains / c)[:, :1]  # of log c_k / c_1, to first order
    errors = influences.std(axis=0, ddof=1) / np.sqrt(len(influences))
    variance = (chains / c).var(axis=0, ddof=1) / len(chains)
    bias = (variance[0] - variance) / 2  # eq. (15)
    method, ends = "rts" if rao_blackwell else "ts", sample.occupation()[skip:][..., [0, -1]]
    return of_chains(
        method, sample, log_z_path, influences[None, :, -1], ends=ends,
        trace={"std_error": errors, "occupation": c, "bias": bias},
        settings=settings | {"conditional": sample.conditional},
        details=about | {"bias": float(bias[-1])},
    )  # fmt: skip


def updated(log_z_path, prior, c) -> np.ndarray:
    """Return log Z updated by eq. (12)."""
    change = np.log(c) - np.log(prior)
    return log_z_path + change - change[0]


# samples that are given ----------------------------------------------------------------------


def checked_sample(sample, meaning="a TemperedSample of rl.simulated_tempering", name="sample"):
    """Raise an error if the sample has fewer than two chains, because it has no error bar."""
    checks.instance(name, sample, TemperedSample, meaning)
    if sample.n_chains < 2:
        raise ValueError(f"{name} holds 1 chain: expected 2 or more, for the error bar")


def checked_skip(skip, n_blocks: int) -> int:
    """Return the number of discarded blocks of time, if at least one block remains."""
    skip = checks.count("skip", skip, 0)
    if skip >= n_blocks:
        meaning = f"{n_blocks - 1} blocks of time at most, because the sample has {n_blocks}"
        raise ValueError(f"skip is {skip}: expected {meaning}")
    return skip


# how chains of RTS, TI and MBAR begin -------------------------------------------------------


def tempered(
    method, path, betas, n_chains, n_sweeps, rng, record_every, *, prior=None, per_length=PER_LENGTH
) -> tuple[TemperedSample, dict[str, Any]]:
    """Return a sample of simulated tempering, and details of its pilots.

    Pilots plan betas and sweeps that are None. ``record_every`` is a function of the number of
    sweeps.
    """
    n_chains = checks.count("n_chains", n_chains, 2)
    source, way = checks.generator(rng), (method, path, betas, n_sweeps)
    betas, n_sweeps, seen = planned(*way, source, trips=TRIPS, prior=prior, per_length=per_length)
    log_z_path, start, index = both_ends(path, betas, n_chains, PILOT_STEPS, source)
    begun = {"start": start, "index": index, "prior": prior, "conditional": drawn_given(path)}
    begun |= {"record_every": record_every(n_sweeps), "n_blocks": BLOCKS}
    sample = simulated_tempering(path, betas, log_z_path, n_chains, n_sweeps, source, **begun)
    return sample, {"pilot_log_z": float(log_z_path[-1]), "pilot_steps": PILOT_STEPS} | seen
