"""Rao-Blackwellised tempered sampling (Carlson, Stinson, Pakman & Paninski 2016).

Chains of simulated tempering visit beta_k with probability q_k ~ r_k Z_k / Z^_k (eq. 8), where Z^
are the estimates they run with. The mean of q(k | x) over their states, c_k (eq. 9), estimates
q_k, so that Z^_k c_k r_0 / (c_0 r_k) estimates Z_k (eq. 12). Its error comes from the spread of c
over independent chains (appendix B). That spread cannot see what all chains have in common, the
Z^ they started with: so the estimate is flagged unless chains have been from end to end of the
ladder several times, and unless chains, blocks of time, halves of the run, and chains begun at
either end agree.
"""

from collections.abc import Callable, Iterator
from itertools import islice
from typing import Any, NamedTuple, Unpack

import numpy as np

from .. import checks
from ..context import Context
from ..paths.path import Path
from ..results import Estimate, of_chains
from ..sampling import TemperedSample, both_ends, simulated_tempering
from ..sampling.planning import PER_LENGTH, planned
from ..sampling.sample import check_conditional
from . import estimator

STARTS = ("pilot", "paper")
PILOT_STEPS = 4000
TRIPS = 5.0  # round trips of a chain for which sweeps are planned: 2 are asked
BLOCKS, UNUSED = 20, 2  # of time: a tenth of the sweeps after a pilot is not used
EMPTY = 0.1  # added to each bin where beta is only counted (section 4.3)
ROUNDS, ROUND_SWEEPS, CLOSE = 10, 50, 0.1


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
    ``states`` of the estimate is the `TemperedSample`, for other estimators.

    Parameters
    ----------
    betas : array (K,), optional
        Rising from 0 to 1. By default four to each standard deviation of the slope, as 100
        chains annealed in 1,000 steps say.
    n_sweeps : int, optional
        After a pilot the first tenth is not used. By default those in which a chain goes from end
        to end of the betas and back 5 times, 2,000 or more, as 100 chains say that are tempered
        for up to 2,000 sweeps. Where that takes more than 30,000 a `ConvergenceWarning` says how
        many before the run begins, which then has 2,000. What the pilots saw is in
        ``settings["planned"]``. A run given the betas and sweeps that they chose, with the same
        seed, has the same bits.
    start : {"pilot", "paper"}
        "pilot": Z^ from an annealing run of 4,000 steps; half of the chains begin at beta = 0
        with draws of the base, half at beta = 1 with annealed states. "paper" (section 2.4):
        10 rounds of 50 sweeps from equal Z^ (of densities with a normalised base), updated after
        each, from the last states with fresh betas, until ``max |r_k - c_k| < 0.1 / K``.
    round_burn_in : int
        Of the 50 sweeps of each such round, how many from its beginning are not used. With 0,
        as printed, the fresh betas themselves are counted, which holds the Z^ back: see `rounds`.
    rao_blackwell : bool
        False: count the betas drawn, 0.1 added to each bin, instead of averaging q(k | x).

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
    options = {"prior": prior, "conditional": conditional, "record_every": record_every}
    sample, about = tempered("rts", path, betas, n_chains, n_sweeps, rng, begin=begin, **options)
    return _estimate(sample, rao_blackwell, skip, about | {"start": start})


@estimator
def rts_of_sample(
    sample: TemperedSample, *, rao_blackwell: bool = True, skip: int = 0, **context: Unpack[Context]
) -> Estimate:
    """`rts` from a sample of `simulated_tempering`, without its first ``skip`` blocks of time.

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


def updated(log_z_path, prior, c) -> np.ndarray:
    """Eq. (12), in logarithms."""
    change = np.log(c) - np.log(prior)
    return log_z_path + change - change[0]


# samples that are given ----------------------------------------------------------------------


def checked_sample(
    sample, meaning: str = "a TemperedSample of rl.simulated_tempering", name: str = "sample"
) -> None:
    """A sample of two chains or more: their spread is the error bar."""
    checks.instance(name, sample, TemperedSample, meaning)
    if sample.n_chains < 2:
        raise ValueError(f"{name} holds 1 chain: expected 2 or more, for the error bar")


def checked_skip(skip, n_blocks: int) -> int:
    """Blocks of time not used: some must be left."""
    skip = checks.count("skip", skip, 0)
    if skip >= n_blocks:
        raise ValueError(
            f"skip is {skip}: expected {n_blocks - 1} blocks of time at most, as the sample has "
            f"{n_blocks}"
        )
    return skip


# how chains of RTS, TI and MBAR begin -------------------------------------------------------


def from_pilot(path, betas, n_chains, source, options):
    """Z^ of a pilot, and chains at both ends of the ladder."""
    log_z_path, start, index = both_ends(path, betas, n_chains, PILOT_STEPS, source)
    more = {"pilot_log_z": float(log_z_path[-1]), "pilot_steps": PILOT_STEPS}
    return log_z_path, {"start": start, "index": index}, more


def tempered(
    method: str,
    path: Path,
    betas,
    n_chains,
    n_sweeps,
    rng,
    *,
    begin: Callable = from_pilot,
    prior=None,
    conditional: str = "joint",
    record_every: int | Callable[[int], int] = 1,
    per_length: int = PER_LENGTH,
) -> tuple[TemperedSample, dict[str, Any]]:
    """A sample of simulated tempering, and what there is to say of how it was begun.

    Betas and sweeps that were not given (None) are planned. ``record_every`` may be a function of
    the number of sweeps.
    """
    n_chains = checks.count("n_chains", n_chains, 2)
    check_conditional(path, conditional)
    if not callable(record_every):
        record_every = checks.count("record_every", record_every)
    source, options = checks.generator(rng), {"prior": prior, "conditional": conditional}
    more = {"trips": TRIPS, "per_length": per_length} | options
    betas, n_sweeps, seen = planned(method, path, betas, n_sweeps, source, **more)
    log_z_path, begun, about = begin(path, betas, n_chains, source, options)
    every = record_every(n_sweeps) if callable(record_every) else record_every
    more = begun | options | {"record_every": every, "n_blocks": BLOCKS}
    sample = simulated_tempering(path, betas, log_z_path, n_chains, n_sweeps, source, **more)
    return sample, about | seen


def from_rounds(burn_in: int = 0) -> Callable:
    """Z^ and states of up to ten rounds, fewer if ``max |r_k - c_k| < 0.1 / K``."""

    def begin(path, betas, n_chains, source, options):
        history, close = [], False
        for one in islice(rounds(path, betas, n_chains, source, options, burn_in=burn_in), ROUNDS):
            history.append([one.before.tolist(), one.occupation.tolist()])
            close = one.distance < CLOSE
            if close:
                break
        more = {"initial": history, "initial_close": close, "round_burn_in": burn_in}
        return one.log_z_path, {"start": one.states}, more

    return begin


class Round(NamedTuple):
    """Of the initial iterations: what a round began with, saw, and left."""

    before: np.ndarray  # (K,): log Z^ with which beta was drawn, log Z_0 of the base first
    occupation: np.ndarray  # (K,): c_k of the sweeps that are used (eq. 9)
    prior: np.ndarray  # (K,)
    log_z_path: np.ndarray  # (K,): log Z^ after the update (eq. 12)
    states: np.ndarray  # (n_chains, n)

    @property
    def distance(self) -> float:
        """``K max |r_k - c_k|``: below 0.1 the paper stops."""
        return float(self.prior.size * np.abs(self.prior - self.occupation).max())


def checked_burn_in(start: str, burn_in, n_sweeps: int = ROUND_SWEEPS) -> int:
    """Sweeps of a round that are not used, fewer than it has; none without rounds."""
    burn_in = checks.count("round_burn_in", burn_in, 0)
    if burn_in and start == "pilot":
        raise ValueError(
            f"round_burn_in is {burn_in}, but a pilot has no rounds: expected start='paper', or 0"
        )
    if burn_in >= n_sweeps:
        raise ValueError(
            f"round_burn_in is {burn_in}: expected fewer than the {n_sweeps} sweeps of a round"
        )
    return burn_in


def rounds(
    path: Path,
    betas,
    n_chains: int,
    rng,
    options: dict,
    *,
    n_sweeps: int = ROUND_SWEEPS,
    burn_in: int = 0,
) -> Iterator[Round]:
    """Rounds of ``n_sweeps`` sweeps from equal Z^ (section 2.4), without end.

    The paper's base is normalised, ``f_beta = f^beta p_1^(1 - beta)`` with Z_1 = 1, and its Z^_k
    are 1: in terms of our densities ``log Z^_k = (1 - beta_k) log Z_1``. It does not say whether
    the first sweeps of a round, ``burn_in``, are used. It matters: log Z^_K / Z^_0 rises by
    log c_K / c_0, and a fresh beta at the bottom of the ladder is a visit that the Z^ of the round
    do not ask for. One state with q(0 | x) near 1 among N is enough to keep c_0 at 1 / N and the
    rise below log N, however far the Z^ are off. ``options`` are those of `simulated_tempering`:
    prior, conditional.
    """
    log_z_path: np.ndarray = (1 - betas) * path.log_z_base
    start: Any = "base"
    options = options | {"n_blocks": 1, "progress": False}

    def sampled(n_sweeps, start, **more):
        return simulated_tempering(
            path, betas, log_z_path, n_chains, n_sweeps, rng, start=start, **more, **options
        )

    while True:
        if burn_in:
            start = sampled(burn_in, start, record_every=burn_in)
        sample = sampled(n_sweeps - burn_in, start)
        c = sample.occupation()[0].mean(axis=0)
        log_z_path, start = updated(sample.log_z_path, sample.prior, c), sample.states
        yield Round(sample.log_z_path, c, sample.prior, log_z_path, start)
