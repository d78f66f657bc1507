"""The Wang-Landau algorithm over inverse temperatures, by flat histograms and as 1/t.

The update of self-adjusted mixture sampling with the beta drawn, and another rule for the gain: it
is halved whenever the histogram of betas is flat (Wang & Landau 2001). So it falls exponentially
once chains mix, and the error stays where it was; from the sweep at which it would fall below 1/t,
1/t is taken instead, with which the error goes on falling (Belardinelli & Pereyra 2007).
"""

from __future__ import annotations

import time
from itertools import pairwise

import numpy as np

from .._progress import one_run, progress_bar
from .._validation import generator, number, one_of, seed_of
from ..results import Estimate
from ..tempering.planning import BY_PILOT
from ..tempering.self_adjusted import JUMPS, Groups, estimate, planned_groups, with_memory

CHECK_EVERY = 100  # sweeps between two looks at a histogram


@one_run
def wang_landau(
    path,
    betas=None,
    n_chains: int = 100,
    n_sweeps: int = BY_PILOT,
    rng=None,
    *,
    n_groups: int = 10,
    start: str = "pilot",
    one_over_t: bool = True,
    flatness: float = 0.8,
    jump: str = "global",
    prior=None,
    conditional: str = "joint",
    n_threads: int | None = None,
    progress: bool | None = None,
) -> Estimate:
    """Estimate log Z by the Wang-Landau algorithm.

    A chain adds ``log f = gain / pi_k`` to log Z_k where it is, divided by the chains of its
    group. The gain begins at the least pi_k, so that ``log f`` is 1 as usual.

    Parameters
    ----------
    path, betas, rng, prior, conditional, n_threads, progress
        As in `rl.rts`.
    n_chains, n_sweeps, n_groups, start, jump
        As in `rl.sams`.
    one_over_t : bool
        Take 1/t for the gain, t in sweeps, once a halving has brought it below. Without, the
        estimate does not converge: its error saturates.
    flatness : float
        A histogram is flat if no beta has less than this share of what its prior is due, and
        each has been visited; looked at every 100 sweeps. 0.8 is customary; 0 asks for visits
        only, as Belardinelli & Pereyra do.

    Returns
    -------
    Estimate
        As of `rl.sams`. ``settings["gain"]`` (n_groups) are the last gains,
        ``settings["halvings"]`` how often each was halved.

    Examples
    --------
    >>> import rbmlib as rl
    >>> rbm = rl.testsystems.random_rbm(n_visible=12, n_hidden=6, rng=0)
    >>> estimate = rl.wang_landau(rl.GeometricPath(rbm), rng=0)
    >>> estimate.converged and abs(estimate.log_z - rl.exact(rbm).log_z) < 5 * estimate.std_error
    True
    """
    started = time.perf_counter()
    meaning = "a share from 0 to below 1, such as 0.8"
    flatness = number("flatness", flatness, meaning, least=0, below=1)
    one_of("jump", jump, JUMPS)
    source = generator(rng)
    settings, plan = planned_groups(
        "wang_landau", path, betas, n_chains, n_sweeps, source, n_groups=n_groups, prior=prior,
        conditional=conditional, start=start, n_threads=n_threads,
    )  # fmt: skip
    n_sweeps = plan.n_sweeps
    groups = Groups(settings, source, jump=jump, mixed=False)
    rule = Halving(settings, bool(one_over_t), flatness)
    history, stops, half = [], [], None
    checks = np.arange(0, n_sweeps, CHECK_EVERY)
    bounds = np.unique(np.concatenate([checks, [n_sweeps // 2, n_sweeps]]))
    with progress_bar(n_sweeps, "Wang-Landau", progress) as bar:
        for first, last in pairwise(bounds):
            before = groups.visits.copy()
            groups.advance(rule.gains(first, last), bar.update)
            rule.see(groups.visits - before, last)
            history.append(groups.log_z[:, -1].copy())
            stops.append(last)
            if last == n_sweeps // 2:
                half = history[-1]
                groups.forget()
    run = estimate(
        "wang_landau", groups, history, stops, half, started,
        {"one_over_t": rule.one_over_t, "flatness": flatness, "jump": jump,
         "gain": rule.last.tolist(), "halvings": rule.halvings.tolist(),
         "rng": seed_of(rng)} | plan.settings,
    )  # fmt: skip
    return with_memory(run, plan)


class Halving:
    """The gain of each group: halved at flat histograms, and 1/t from where that is more."""

    def __init__(self, settings, one_over_t: bool, flatness: float):
        self.prior, self.one_over_t, self.flatness = settings.prior, one_over_t, flatness
        self.gain = np.full(settings.n_groups, settings.prior.min())
        self.last = self.gain.copy()
        self.late = np.zeros(settings.n_groups, bool)  # in the 1/t stage
        self.histogram = np.zeros((settings.n_groups, settings.prior.size), np.int64)
        self.halvings = np.zeros(settings.n_groups, int)

    def gains(self, first: int, last: int) -> np.ndarray:
        """Of sweeps ``first`` to ``last``: (n_groups, last - first)."""
        t = np.arange(first + 1, last + 1)
        gains = np.where(self.late[:, None], 1 / t, self.gain[:, None])
        self.last = gains[:, -1].copy()
        return gains

    def see(self, visits, t: int) -> None:
        """Add visits (n_groups, K) up to sweep ``t``; halve the gains of flat histograms."""
        self.histogram += visits
        due = self.histogram.sum(axis=1, keepdims=True) * self.prior
        seen = (self.histogram > 0) & (self.histogram >= self.flatness * due)
        flat = seen.all(axis=1) & ~self.late
        self.gain[flat] /= 2
        self.halvings += flat
        self.histogram[flat] = 0
        if self.one_over_t:
            self.late |= flat & (self.gain <= 1 / t)
