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

import time
from dataclasses import replace
from functools import partial

import numpy as np

from .._diagnosis import some_spread
from .._numerics import logsumexp
from .._progress import one_run
from .._validation import count, generator, instance, one_of, seed_of
from ..paths.base import AnnealingPath, State
from ..results import Estimate
from ..tempering import TemperedSample
from ..tempering.checks import PATH_MEANING, check_conditional, checked_prior
from ..tempering.pilot import pilot_of
from ..tempering.planning import BY_PILOT, planned
from ..tempering.simulated import sample_of
from ._report import checked_sample, checked_skip, diagnose, of_sample, one_slope
from .rts_start import begin_from_rounds, checked_burn_in, updated

STARTS = ("pilot", "paper")
PILOT_STEPS = 4000
TRIPS = 5.0  # round trips of a chain for which sweeps are planned: 2 are asked
BURN_IN = 10  # one tenth of the sweeps is not used
EMPTY = 0.1  # added to each bin where beta is only counted (section 4.3)


@one_run
def rts(
    path: AnnealingPath,
    betas=None,
    n_chains: int = 100,
    n_sweeps: int = BY_PILOT,
    rng=None,
    *,
    start: str = "pilot",
    round_burn_in: int = 0,
    prior=None,
    conditional: str = "joint",
    rao_blackwell: bool = True,
    record_every: int = 1,
    n_threads: int | None = None,
    progress: bool | None = None,
) -> Estimate:
    """Estimate log Z by simulated tempering and the multinomial law of beta (eq. 12).

    Consistent, with a bias of no definite sign (eq. 15, in ``settings["bias"]``, not subtracted).

    Parameters
    ----------
    path : AnnealingPath
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
        What beta is drawn given; see `simulated_tempering`. Given v alone, 95% intervals of 16
        chains on a strongly coupled model held log Z in 89% of 99 runs: take more chains there.
    rao_blackwell : bool
        False: count the betas drawn, 0.1 added to each bin, instead of averaging q(k | x).

    Returns
    -------
    Estimate
        ``states`` is the `TemperedSample`, for other estimators. ``settings["checks"]`` says what
        was checked; where one failed `converged` is False, a `ConvergenceWarning` names it, and
        the standard error holds the disagreement found.
        Of runs given the visible units alone, on two strongly coupled models, the 95% intervals
        of 99 and 95 that raised no flag held log Z in 89% (the page on calibration).

    Examples
    --------
    >>> import rbmlib as rl
    >>> rbm = rl.testsystems.random_rbm(n_visible=12, n_hidden=6, rng=0)
    >>> estimate = rl.rts(rl.GeometricPath(rbm), rng=0)
    >>> estimate.converged and abs(estimate.log_z - rl.exact(rbm).log_z) < 5 * estimate.std_error
    True
    """
    started = time.perf_counter()
    instance("path", path, AnnealingPath, PATH_MEANING)
    n_chains = count("n_chains", n_chains, 2)
    check_conditional(path, conditional)
    round_burn_in = checked_burn_in(one_of("start", start, STARTS), round_burn_in)
    record_every, source = count("record_every", record_every), generator(rng)
    betas, n_sweeps, seen = planned(
        "rts", path, betas, n_sweeps, source, trips=TRIPS, conditional=conditional, prior=prior,
        n_threads=n_threads,
    )  # fmt: skip
    prior = checked_prior(prior, betas.size)
    prior = prior / prior.sum()  # twice, because the last bits of results depend on it
    options = {"prior": prior, "conditional": conditional, "n_threads": n_threads}
    if start == "pilot":
        begin = begin_from_pilot
    else:
        begin = partial(begin_from_rounds, burn_in=round_burn_in)
    log_z_path, begun, more = begin(path, betas, n_chains, source, options)
    sample = sample_of(
        path, betas, log_z_path, n_chains, n_sweeps, source, **begun, **options,
        record_every=record_every, progress=progress, n_blocks=2 * BURN_IN,
    )  # fmt: skip
    skip = 2 if start == "pilot" else 0
    estimate = rts_of_sample(sample, rao_blackwell=rao_blackwell, skip=skip)
    settings = estimate.settings | more | seen | {"start": start, "rng": seed_of(rng)}
    return replace(estimate, seconds=time.perf_counter() - started, settings=settings)


def begin_from_pilot(path, betas, n_chains, source, options):
    """Z^ of a pilot, and chains at both ends of the ladder."""
    first = pilot_of(path, betas, max(n_chains, 10), PILOT_STEPS, source, options["n_threads"])
    odd = np.arange(n_chains) % 2 == 1
    rows = np.arange(n_chains)
    visible = np.where(odd[:, None], first.top.coordinates[rows], first.bottom.coordinates[rows])
    begun = {"start": State(visible), "index": np.where(odd, betas.size - 1, 0)}
    return first.log_z_path, begun, {"pilot_log_z": float(first.log_z_path[-1])}


def rts_of_sample(sample: TemperedSample, *, rao_blackwell: bool = True, skip: int = 0) -> Estimate:
    """`rts` from a sample of `simulated_tempering`, without its first ``skip`` blocks of time."""
    started = time.perf_counter()
    instance("sample", sample, TemperedSample, "a TemperedSample of rl.simulated_tempering")
    if sample.mixed is None:
        raise ValueError("sample is of parallel tempering, where beta is not random: expected one "
                         "of rl.simulated_tempering")  # fmt: skip
    checked_sample(sample)
    sums = sample.mixed if rao_blackwell else sample.visited
    skip = checked_skip(skip, len(sums))
    blocks = sums[skip:, :, 0] / sample.block_sweeps[skip:, None, None]
    share = sample.block_sweeps[skip:] / sample.block_sweeps[skip:].sum()
    chains = np.einsum("b,bck->ck", share, blocks)
    if not rao_blackwell:
        n = sample.block_sweeps[skip:].sum() * sample.n_chains
        chains = (chains + EMPTY / n) / (1 + EMPTY * chains.shape[1] / n)
    c = chains.mean(axis=0)
    log_z_path = updated(sample.log_z_path, sample.prior, c)
    influences = chains / c - (chains / c)[:, :1]  # of each chain on log Z_k (appendix B)
    errors = influences.std(axis=0, ddof=1) / np.sqrt(len(influences))
    variance = (chains / c).var(axis=0, ddof=1) / len(chains)
    error, log_z = float(errors[-1]), float(log_z_path[-1])
    checks = [*diagnose(sample, skip), *some_spread(error, one_slope(sample.visited))]
    return of_sample(
        "rts" if rao_blackwell else "ts", sample, log_z, error, checks, started, caller="rts",
        log_weights=log_z + influences[:, -1],
        log_z_path=log_z_path,
        trace={"std_error": errors, "occupation": c, "bias": (variance[0] - variance) / 2},
        settings={
            "conditional": sample.conditional,
            "bias": float((variance[0] - variance[-1]) / 2),
        },
    )  # fmt: skip


def mixed_rts(samples, tolerance: float = 1e-10) -> np.ndarray:
    """log Z at the betas from runs with different Z^ (appendix A): (K,).

    Maximises the Rao-Blackwellised likelihood, which is concave in log Z, by Newton's method.
    One sample gives eq. (12) back.
    """
    samples = list(samples)
    if not samples or not all(isinstance(s, TemperedSample) for s in samples):
        raise ValueError("samples holds something else: expected TemperedSamples, one or more")
    if any(s.mixed is None or not np.array_equal(s.betas, samples[0].betas) for s in samples):
        raise ValueError("samples differ in their betas: expected runs of rl.simulated_tempering "
                         "over the same betas")  # fmt: skip
    sizes = np.array([s.n_sweeps * s.n_chains for s in samples], float)
    sizes /= sizes.sum()
    c = np.array([s.mixed[:, :, 0].sum(axis=(0, 1)) / (s.n_sweeps * s.n_chains) for s in samples])
    offsets = np.array([np.log(s.prior) - s.log_z_path for s in samples])
    counts = sizes @ c

    def model(x):
        logits = offsets + x
        return np.exp(logits - logsumexp(logits, axis=1)[:, None])

    def value(x):
        return counts @ x - sizes @ logsumexp(offsets + x, axis=1)

    x = updated(samples[-1].log_z_path, samples[-1].prior, c[-1])
    for _ in range(100):
        q = model(x)
        gradient = counts - sizes @ q
        if np.abs(gradient).max() < tolerance:
            break
        curvature = np.diag(sizes @ q) - (q * sizes[:, None]).T @ q
        step = np.zeros(x.size)
        step[1:] = np.linalg.lstsq(curvature[1:, 1:], gradient[1:], rcond=None)[0]
        size = 1.0
        while value(x + size * step) < value(x) and size > 1e-6:
            size /= 2
        x = x + size * step
    return x - x[0] + samples[0].log_z_base
