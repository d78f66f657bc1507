"""The Wang-Landau algorithm over inverse temperatures, by flat histograms and as 1/t.

The update of self-adjusted mixture sampling with the beta drawn, and another rule for the gain: it
is halved whenever the histogram of betas is flat (Wang & Landau 2001). So it falls exponentially
once chains mix, and the error stays where it was; from the sweep at which it would fall below 1/t,
1/t is taken instead, with which the error goes on falling (Belardinelli & Pereyra 2007).
"""

from itertools import pairwise

import numpy as np

from ..context import bar
from ..paths.path import Path
from ..results import Estimate
from . import estimator
from .sams import planned_groups

CHECK_EVERY = 100  # sweeps between two looks at a histogram
FLATNESS = 0.8  # share of what is due to a beta by its prior: with less its histogram is not flat


@estimator
def wang_landau(
    path: Path,
    betas=None,
    n_chains: int = 100,
    n_sweeps: int | None = None,
    rng=None,
    *,
    n_groups: int = 10,
    start: str = "pilot",
    one_over_t: bool = True,
    jump: str = "global",
    prior=None,
) -> Estimate:
    """Estimate log Z by the Wang-Landau algorithm.

    A chain adds ``log f = gain / pi_k`` to log Z_k where it is, divided by the chains of its
    group. The gain begins at the least pi_k, so that ``log f`` is 1 as usual, and is halved where
    each beta has 0.8 of the visits that are due to it by its prior. The last gains are in
    ``details["gain"]`` (n_groups), and how often each was halved in ``details["halvings"]``.

    Parameters
    ----------
    path : Path
        From a base whose log Z is known to the target, such as ``rl.GeometricPath(rbm)``.
    betas : array (K,)
        Rising from 0 to 1, such as ``rl.schedules.linear(1000)``.
    n_chains, n_sweeps, n_groups, start, jump : int, str
        As in `rbmlib.sams`, as is the estimate.
    rng : int, Generator or None
        Seed; the same seed gives the same bits, on any number of threads.
    one_over_t : bool
        Take 1/t for the gain, t in sweeps, once a halving has brought it below. Without, the
        estimate does not converge: its error saturates.
    prior : array (K,), optional
        r_k > 0, how often each of the betas is to be visited; uniform by default.

    Returns
    -------
    Estimate
        Of log Z in nats, with its error bar and what was checked.

    Examples
    --------
    >>> import rbmlib as rl
    >>> rbm = rl.testsystems.random_rbm(n_visible=12, n_hidden=6, rng=0)
    >>> estimate = rl.wang_landau(rl.GeometricPath(rbm), rng=0)
    >>> estimate.converged and abs(estimate.log_z - rl.exact(rbm).log_z) < 5 * estimate.std_error
    True
    """
    options = {"prior": prior, "start": start, "jump": jump}
    options |= {"n_groups": n_groups, "mixed": False}
    groups, plan = planned_groups("wang_landau", path, betas, n_chains, n_sweeps, rng, **options)
    n_sweeps, half = plan.n_sweeps, plan.n_sweeps // 2
    rule = Halving(groups.n_groups, groups.rule.prior, bool(one_over_t))
    stops = np.unique(np.r_[np.arange(0, n_sweeps, CHECK_EVERY), half, n_sweeps])
    with bar(n_sweeps, "Wang-Landau"):
        for first, last in pairwise(stops):
            before = groups.visits.copy()
            groups.advance(rule.gains(first, last))
            rule.see(groups.visits - before, last)
            groups.note(last, half)
    settings = {"one_over_t": rule.one_over_t, "jump": jump}
    details = {"gain": rule.last.tolist(), "halvings": rule.halvings.tolist()}
    return groups.estimate("wang_landau", plan, settings, details)


class Halving:
    """The gain of each group: halved at flat histograms, and 1/t from where that is more."""

    def __init__(self, n_groups: int, prior, one_over_t: bool):
        self.prior, self.one_over_t = prior, one_over_t
        self.gain = np.full(n_groups, prior.min())
        self.late = np.zeros(n_groups, bool)  # in the 1/t stage
        self.histogram = np.zeros((n_groups, prior.size), np.int64)
        self.halvings = np.zeros(n_groups, int)

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
        seen = (self.histogram > 0) & (self.histogram >= FLATNESS * due)
        flat = seen.all(axis=1) & ~self.late
        self.gain[flat] /= 2
        self.halvings += flat
        self.histogram[flat] = 0
        if self.one_over_t:
            self.late |= flat & (self.gain <= 1 / t)
