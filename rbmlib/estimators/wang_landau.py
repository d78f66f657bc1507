"""The Wang-Landau algorithm over inverse temperatures, with flat histograms and then 1/t gains.

The update is that of self-adjusted mixture sampling with the sampled beta, but the gain is halved
whenever the histogram of betas is flat (Wang & Landau 2001). Once chains mix, this gain falls
exponentially, and the error stops falling. From the sweep at which the gain would fall below 1/t,
the gain is 1/t instead, and the error continues to fall (Belardinelli & Pereyra 2007).
"""

from itertools import pairwise

import numpy as np

from ..context import bar
from ..paths.path import Path
from ..results import Estimate
from . import estimator
from .sams import planned_groups

CHECK_EVERY = 100  # sweeps between checks of the histogram
FLATNESS = 0.8  # least visits of each beta in a flat histogram, relative to its prior share


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

    A chain at beta_k adds ``log f = gain / pi_k``, divided by the number of chains in its group, to
    log Z_k. The gain starts at the smallest pi_k, and is halved when every beta has 0.8 of the
    visits expected from its prior. With a uniform prior, ``log f`` starts at 1, as usual.
    ``details`` holds the last "gain" and the number of "halvings" of each group.

    Parameters
    ----------
    path : Path
        Path from a base with known log Z to the target, such as ``rl.GeometricPath(rbm)``.
    betas : array (K,)
        Increasing from 0 to 1; by default, planned as in `rbmlib.rts`.
    n_chains, n_sweeps, n_groups, start, jump : int, str
        As in `rbmlib.sams`.
    rng : int, Generator or None
        The same seed gives the same bits on any number of threads.
    one_over_t : bool
        Whether to use the gain 1/t, with t in sweeps, once a halving takes the gain below it. If
        False, the estimate does not converge, because its error saturates.
    prior : array (K,), optional
        Target frequencies r_k > 0 of the betas; uniform by default.

    Returns
    -------
    Estimate
        As in `rbmlib.sams`.

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
    """Gain of each group: halved at flat histograms, and 1/t once this is larger."""

    def __init__(self, n_groups: int, prior, one_over_t: bool):
        self.prior, self.one_over_t = prior, one_over_t
        self.gain = np.full(n_groups, prior.min())
        self.late = np.zeros(n_groups, bool)  # in the 1/t stage
        self.histogram = np.zeros((n_groups, prior.size), np.int64)
        self.halvings = np.zeros(n_groups, int)

    def gains(self, first: int, last: int) -> np.ndarray:
        """Return the gains of sweeps ``first`` to ``last``, (n_groups, last - first)."""
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
