"""Rao-Blackwellised tempered sampling (Carlson, Stinson, Pakman & Paninski 2016).

Chains of simulated tempering visit beta_k with probability q_k ~ r_k Z_k / Z^_k (eq. 8), where Z^
are the estimates they run with. The mean of q(k | x) over their states, c_k (eq. 9), estimates
q_k, so that Z^_k c_k r_0 / (c_0 r_k) estimates Z_k (eq. 12). Its error comes from the spread of c
over independent chains (appendix B). That spread cannot see what all chains have in common, the
Z^ they started with: while the chains have not been from end to end of the ladder several times,
the bar is too small. So the estimate is flagged unless they have, and unless chains, blocks of
time, halves of the run, and chains begun at either end agree.
"""

from __future__ import annotations

from typing import Unpack

import numpy as np

from .. import checks
from ..context import Context
from ..paths.path import Path
from ..results import Estimate, of_chains
from ..sampling import TemperedSample
from . import estimator
from .bar_of_sample import checked_sample, checked_skip
from .rts_start import checked_burn_in, from_pilot, from_rounds, tempered, updated

STARTS = ("pilot", "paper")
UNUSED = 2  # of twenty blocks of time: a tenth of the sweeps after a pilot is not used
EMPTY = 0.1  # added to each bin where beta is only counted (section 4.3)


@estimator
def rts(
    path: Path,
    betas=None,
    n_chains: int = 100,
    n_sweeps: int | None = None,
    rng=None,
    *,
    start: str = "pilot",
    round_burn_in: int = 0,
    prior=None,
    conditional: str = "joint",
    rao_blackwell: bool = True,
    record_every: int = 1,
    **context: Unpack[Context],
) -> Estimate:
    """Estimate log Z by simulated tempering and the multinomial law of beta (eq. 12).

    Consistent, with a bias of no definite sign (eq. 15, in ``settings["bias"]``, not subtracted).

    Parameters
    ----------
    path : Path
    betas : array (K,), optional
        From 0 to 1, for example ``rl.schedules.linear(99)``. By default four to each standard
        deviation of the slope, as 100 chains annealed in 1,000 steps say.
    n_chains : int
        Independent chains, 2 or more.
    n_sweeps : int, optional
        Sweeps of each chain. After a pilot the first tenth is not used. By default those in
        which a chain goes from end to end of the betas and back 5 times, 2,000 or more, as 100
        chains say that are annealed in 2,000 steps and tempered for up to 2,000 sweeps. Where
        that takes more than 30,000 sweeps a `ConvergenceWarning` says how many before the run
        begins, which then has 2,000 and is flagged. What the pilots saw is in
        ``settings["planned"]``. A run given the betas and sweeps that they chose, with the same
        seed, has the same bits.
    rng : int, Generator or None
        Seed; the same seed gives the same bits, whatever ``n_threads``.
    start : {"pilot", "paper"}
        "pilot": Z^ from an annealing run of 4,000 steps; half of the chains begin at beta = 0
        with draws of the base, half at beta = 1 with annealed states. "paper" (section 2.4):
        10 rounds of 50 sweeps from equal Z^ (of densities with a normalised base), updated after
        each, from the last states with fresh betas, until ``max |r_k - c_k| < 0.1 / K``.
    round_burn_in : int
        Of the 50 sweeps of each such round, how many from its beginning are not used. With 0,
        as printed, the fresh betas themselves are counted, which holds the Z^ back: far from the
        answer, 10 or 20 come nearer by tens to hundreds of nats.
    prior : array (K,), optional
        r_k > 0; uniform by default.
    conditional : {"joint", "marginal"}
        What beta is drawn given; see `simulated_tempering`. Take more chains for "marginal".
    rao_blackwell : bool
        False: count the betas drawn, 0.1 added to each bin, instead of averaging q(k | x).
    record_every : int
        Every how many sweeps a state is kept in `Estimate.states`; the estimate takes all.
    n_threads, progress
        As of `rbmlib.using`.

    Returns
    -------
    Estimate
        ``states`` is the `TemperedSample`, for other estimators. ``settings["checks"]`` says what
        was checked; where one failed `converged` is False, a `ConvergenceWarning` names it, and
        the standard error holds the disagreement found.
        Of runs of 16 chains given the visible units alone, on two strongly coupled models, the 95%
        intervals of 99 and 95 that raised no flag held log Z in 89% (the page on calibration).

    Examples
    --------
    >>> import rbmlib as rl
    >>> rbm = rl.testsystems.random_rbm(n_visible=12, n_hidden=6, rng=0)
    >>> estimate = rl.rts(rl.GeometricPath(rbm), rng=0)
    >>> estimate.converged and abs(estimate.log_z - rl.exact(rbm).log_z) < 5 * estimate.std_error
    True
    """
    round_burn_in = checked_burn_in(checks.one_of("start", start, STARTS), round_burn_in)
    begin, skip = from_pilot, UNUSED
    if start == "paper":
        begin, skip = from_rounds(round_burn_in), 0
    sample, about = tempered(
        "rts", path, betas, n_chains, n_sweeps, rng, begin=begin, prior=prior,
        conditional=conditional, record_every=record_every,
    )  # fmt: skip
    return _estimate(sample, rao_blackwell, skip, about | {"start": start})


@estimator
def rts_of_sample(
    sample: TemperedSample, *, rao_blackwell: bool = True, skip: int = 0, **context: Unpack[Context]
) -> Estimate:
    """`rts` from a sample of `simulated_tempering`, without its first ``skip`` blocks of time."""
    checked_sample(sample)
    if sample.mixed is None:
        raise ValueError(
            "sample is of parallel tempering, where beta is not random: expected one of "
            "rl.simulated_tempering"
        )
    return _estimate(sample, rao_blackwell, checked_skip(skip, len(sample.mixed)), {})


def _estimate(sample, rao_blackwell, skip, about) -> Estimate:
    """Eq. (9) and (12), and what each chain moves log Z by (appendix B)."""
    sums, sweeps = sample.mixed if rao_blackwell else sample.visited, sample.block_sweeps[skip:]
    blocks = sums[skip:, :, 0] / sweeps[:, None, None]  # (n_blocks, n_chains, K)
    chains = np.einsum("b,bck->ck", sweeps / sweeps.sum(), blocks)  # c_k of each chain
    if not rao_blackwell:
        n = sweeps.sum() * sample.n_chains
        chains = (chains + EMPTY / n) / (1 + EMPTY * sample.betas.size / n)
    c = chains.mean(axis=0)
    log_z_path = updated(sample.log_z_path, sample.prior, c)
    influences = chains / c - (chains / c)[:, :1]
    errors = influences.std(axis=0, ddof=1) / np.sqrt(len(influences))
    variance = (chains / c).var(axis=0, ddof=1) / len(chains)
    bias = (variance[0] - variance) / 2  # eq. (15)
    return of_chains(
        "rts" if rao_blackwell else "ts",
        sample,
        log_z_path,
        influences[None, :, -1],
        ends=sample.occupation()[skip:][..., [0, -1]],
        trace={"std_error": errors, "occupation": c, "bias": bias},
        settings=about | {"conditional": sample.conditional, "bias": float(bias[-1])},
    )
