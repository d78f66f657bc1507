"""Rao-Blackwellised tempered sampling (Carlson, Stinson, Pakman & Paninski 2016).

Chains of simulated tempering visit beta_k with probability q_k ~ r_k Z_k / Z^_k (eq. 8), where Z^
are the estimates they run with. The mean of q(k | x) over their states, c_k (eq. 9), estimates
q_k, so that Z^_k c_k r_0 / (c_0 r_k) estimates Z_k (eq. 12). Its error comes from the spread of c
over independent chains (appendix B). That spread cannot see what all chains have in common, the
Z^ they started with: so the estimate is flagged unless chains have been from end to end of the
ladder several times, and unless chains, blocks of time, halves of the run, and chains begun at
either end agree.
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
TRIPS = 5.0  # round trips of a chain for which sweeps are planned: 2 are asked
BLOCKS, UNUSED = 20, 2  # of time: a tenth of the sweeps after a pilot is not used
EMPTY = 0.1  # added to each bin where beta is only counted (section 4.3)


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

    Chains of simulated tempering give log Z by the distribution of beta given their states.

    Consistent, with a bias of no definite sign (eq. 15, in ``details["bias"]``, not subtracted).
    ``states`` of the estimate is the `TemperedSample`, for other estimators.

    Chains begin with Z^ from an annealing run of 4,000 steps, half of them at beta = 0 with draws
    of the base, half at beta = 1 with annealed states; the first tenth of their sweeps is not used.

    Parameters
    ----------
    path : Path
        From a base whose log Z is known to the target, such as ``rl.GeometricPath(rbm)``.
    betas : array (K,), optional
        Rising from 0 to 1. By default four to each standard deviation of the slope, as 100
        chains annealed in 1,000 steps say.
    n_chains : int
        Independent chains.
    n_sweeps : int, optional
        By default those in which a chain goes from end to end of the betas and back 5 times, 2,000
        or more, as 100 chains say that are tempered for up to 2,000 sweeps. Where that takes more
        than 30,000 a `ConvergenceWarning` says how many before the run begins, which then has
        2,000. What the pilots saw is in ``details["planned"]``. A run given the betas and sweeps
        that they chose, with the same seed, has the same bits.
    rng : int, Generator or None
        Seed; the same seed gives the same bits, on any number of threads.
    prior : array (K,), optional
        r_k > 0, how often each of the betas is to be visited; uniform by default.
    rao_blackwell : bool
        False: count the betas drawn, 0.1 added to each bin, instead of averaging q(k | x).
    record_every : int
        Every how many sweeps a state is kept in `Estimate.states`.

    Returns
    -------
    Estimate
        Of log Z in nats, with its error bar and what was checked.

    Examples
    --------
    >>> import rbmlib as rl
    >>> rbm = rl.testsystems.random_rbm(n_visible=12, n_hidden=6, rng=0)
    >>> estimate = rl.rts(rl.GeometricPath(rbm), rng=0)
    >>> estimate.converged and abs(estimate.log_z - rl.exact(rbm).log_z) < 5 * estimate.std_error
    True
    """
    options = {"prior": prior, "record_every": record_every}
    sample, about = tempered("rts", path, betas, n_chains, n_sweeps, rng, **options)
    return _estimate(sample, rao_blackwell, UNUSED, about, {"start": "pilot"})


@estimator
def rts_of_sample(sample: TemperedSample, *, rao_blackwell: bool = True, skip: int = 0) -> Estimate:
    """Estimate log Z by `rts` from a given tempered sample, without its first ``skip`` blocks.

    Parameters
    ----------
    sample : TemperedSample
        Of `rbmlib.simulated_tempering` or `rbmlib.parallel_tempering`, two chains or more.
    rao_blackwell : bool
        Average the probabilities of the betas (True), or count those drawn.
    skip : int
        The first blocks of time, which are not used (`simulated_tempering` keeps ``n_blocks``).

    Returns
    -------
    Estimate
        Of log Z in nats, with its error bar and what was checked.

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
    """Eq. (9) and (12), and what each chain moves log Z by (appendix B)."""
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
    """Eq. (12), in logarithms."""
    change = np.log(c) - np.log(prior)
    return log_z_path + change - change[0]


# samples that are given ----------------------------------------------------------------------


def checked_sample(sample, meaning="a TemperedSample of rl.simulated_tempering", name="sample"):
    """A sample of two chains or more: their spread is the error bar."""
    checks.instance(name, sample, TemperedSample, meaning)
    if sample.n_chains < 2:
        raise ValueError(f"{name} holds 1 chain: expected 2 or more, for the error bar")


def checked_skip(skip, n_blocks: int) -> int:
    """Blocks of time not used: some must be left."""
    skip = checks.count("skip", skip, 0)
    if skip >= n_blocks:
        meaning = f"{n_blocks - 1} blocks of time at most, as the sample has {n_blocks}"
        raise ValueError(f"skip is {skip}: expected {meaning}")
    return skip


# how chains of RTS, TI and MBAR begin -------------------------------------------------------


def tempered(
    method, path, betas, n_chains, n_sweeps, rng, prior=None, record_every=1, per_length=PER_LENGTH
) -> tuple[TemperedSample, dict[str, Any]]:
    """A sample of simulated tempering, and what there is to say of how it was begun.

    Betas and sweeps that were not given (None) are planned. ``record_every`` may be a function of
    the number of sweeps.
    """
    n_chains = checks.count("n_chains", n_chains, 2)
    if not callable(record_every):
        record_every = checks.count("record_every", record_every)
    source, way = checks.generator(rng), (method, path, betas, n_sweeps)
    betas, n_sweeps, seen = planned(*way, source, trips=TRIPS, prior=prior, per_length=per_length)
    log_z_path, start, index = both_ends(path, betas, n_chains, PILOT_STEPS, source)
    every = record_every(n_sweeps) if callable(record_every) else record_every
    begun = {"start": start, "index": index, "prior": prior, "conditional": drawn_given(path)}
    begun |= {"record_every": every, "n_blocks": BLOCKS}
    sample = simulated_tempering(path, betas, log_z_path, n_chains, n_sweeps, source, **begun)
    about = {"pilot_log_z": float(log_z_path[-1]), "pilot_steps": PILOT_STEPS}
    return sample, about | seen
