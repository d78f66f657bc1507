"""Self-adjusted mixture sampling (Tan 2017).

Simulated tempering whose estimates zeta of log Z are adjusted after every sweep, with a gain that
falls as 1/t in the end: the gain with which, for sweeps that forget their past, the variance of
zeta is the least any stochastic approximation has.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Unpack

import numpy as np

from .. import checks
from ..context import Context, bar
from ..paths.path import Path
from ..results import Estimate
from . import estimator
from .self_adjusted import planned_groups

N_RECORDED = 50


@estimator
def sams(
    path: Path,
    betas=None,
    n_chains: int = 100,
    n_sweeps: int | None = None,
    rng=None,
    *,
    n_groups: int = 10,
    start: str = "pilot",
    t_0: int | None = None,
    exponent: float = 0.7,
    jump: str = "global",
    rao_blackwell: bool = True,
    prior=None,
    conditional: str = "joint",
    **context: Unpack[Context],
) -> Estimate:
    """Estimate log Z by self-adjusted mixture sampling (Tan 2017, algorithm 4).

    Consistent, with a bias of no definite sign: it bounds nothing.

    Parameters
    ----------
    path, betas, rng, prior, conditional, n_threads, progress
        As in `rl.rts`.
    n_chains : int
        A multiple of ``n_groups``.
    n_sweeps : int, optional
        Sweeps of each chain, an update of log Z after each. By default those in which a chain
        goes round 8 times, half of them in the second half, as a pilot says: see `rl.rts`.
    n_groups : int
        Independent groups of chains, 2 or more: each adjusts a log Z of its own.
    start : {"pilot", "plain"}
        "pilot": each group takes log Z from its own annealing run of 4,000 steps; every second
        group begins at beta = 1, with its annealed states, the others at 0. "plain": log Z equal
        at all betas, chains at 0, as Tan starts.
    t_0, exponent : int, float
        Sweeps of the first stage (default: three tenths of all), and the exponent of its gain:
        see `gain_sequence`. While the gain is large log Z follows the chains, which drives them
        along the ladder.
    jump : {"global", "local"}
        beta is drawn anew from all K, or moves to a neighbour (or stays).
    rao_blackwell : bool
        Update with probabilities (eq. 12; of the neighbours and of staying if local), or
        with the beta drawn (eq. 9).

    Returns
    -------
    Estimate
        ``log_weights`` (n_groups,) are the groups' log Z; ``trace["log_z"]`` (n_recorded,
        n_groups) how they got there, after ``trace["sweeps"]``. Checked as in `rl.rts`, of the
        second half. Of planned sweeps the standard error also holds ``settings["memory"]``, the
        sweeps of a round trip over those whose gain is 1/t: groups share a bias of that order.

    Examples
    --------
    >>> import rbmlib as rl
    >>> rbm = rl.testsystems.random_rbm(n_visible=12, n_hidden=6, rng=0)
    >>> estimate = rl.sams(rl.GeometricPath(rbm), rng=0)
    >>> estimate.converged and abs(estimate.log_z - rl.exact(rbm).log_z) < 5 * estimate.std_error
    True

    The same, and other numbers of betas, chains and sweeps of your own:

    >>> again = rl.sams(rl.GeometricPath(rbm), estimate.betas, n_sweeps=estimate.n_sweeps, rng=0)
    >>> again.log_z == estimate.log_z
    True
    >>> rl.sams(rl.GeometricPath(rbm), rl.schedules.linear(9), 50, 1000, rng=0).n_sweeps
    1000
    """
    gain_sequence(1, 0 if t_0 is None else t_0, exponent)  # refused before a pilot, if at all
    groups, plan = planned_groups(
        "sams", path, betas, n_chains, n_sweeps, rng, n_groups=n_groups, prior=prior,
        conditional=conditional, start=start, jump=jump, mixed=rao_blackwell,
    )  # fmt: skip
    n_sweeps = plan.n_sweeps
    t_0 = 3 * n_sweeps // 10 if t_0 is None else checks.count("t_0", t_0, 0)
    gains, half = gain_sequence(n_sweeps, t_0, exponent), n_sweeps // 2
    stops = np.union1d(np.rint(np.linspace(0, n_sweeps, N_RECORDED + 1)).astype(int), half)
    with bar(n_sweeps, "SAMS"):
        for first, last in pairwise(stops):
            groups.advance(np.tile(gains[first:last], (groups.n_groups, 1)))
            groups.note(last, half)
    settings = {"t_0": t_0, "exponent": exponent, "jump": jump}
    return groups.estimate("sams", plan, settings | {"rao_blackwell": bool(rao_blackwell)})


def gain_sequence(n_sweeps: int, t_0: int = 0, exponent: float = 0.7) -> np.ndarray:
    """Tan's two-stage gain at t = 1 to ``n_sweeps``.

    ``t**-exponent`` up to t_0, then ``1 / (t - t_0 + t_0**exponent)``; with ``t_0 = 0`` it is 1/t.
    The update takes the lesser of it and pi_k (eq. 15).

    Examples
    --------
    >>> gain_sequence(4)
    array([1.        , 0.5       , 0.33333333, 0.25      ])
    >>> gain_sequence(6, t_0=4, exponent=0.5).round(3)
    array([1.   , 0.707, 0.577, 0.5  , 0.333, 0.25 ])
    """
    n_sweeps, t_0 = checks.count("n_sweeps", n_sweeps), checks.count("t_0", t_0, 0)
    meaning = "an exponent above 0 and up to 1, such as 0.7"
    exponent = checks.number("exponent", exponent, meaning, above=0, most=1)
    t = np.arange(1, n_sweeps + 1, dtype=float)
    return np.where(t <= t_0, t**-exponent, 1 / np.maximum(t - t_0 + t_0**exponent, 1))
