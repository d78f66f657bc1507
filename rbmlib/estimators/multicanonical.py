"""Multicanonical sampling: log Z from a walk that visits all levels of the energy equally often.

Where a first-order transition lies on the path, states between the two phases are rare at every
temperature, and no ladder of temperatures leads across. A walk whose weights undo the density of
states does (Berg & Neuhaus 1992). With U(v) = log p*_1(v) - log p*_0(v), p*_0 the base,

    Z_1 / Z_0 = E_0[exp U] = E_w[exp(U) / w(U)] / E_w[1 / w(U)],

where E_w is the mean over states drawn in proportion to p*_0(v) w(U(v)): right for any w, and
accurate for one that makes all levels of U equally likely. Levels are cut by nested sampling
(Skilling 2006), each with a share 1/e of the base of the one below it, so that they tell states
apart where U hardly changes too; Wang & Landau's rule then makes the weights smooth.
"""

from __future__ import annotations

import time

import numpy as np

from .._diagnosis import agreement, blocks_of_time, report, round_trips, some_spread
from .._numerics import expit, logmeanexp, softplus
from .._progress import one_run, progress_bar
from .._validation import count, generator, instance, seed_of
from ..paths.base import State
from ..paths.geometric import GeometricPath
from ..results import Estimate
from ._report import BLOCKS, of_blocks

LIVE, LIVE_SWEEPS = 300, 2  # states of nested sampling, and sweeps of them at each level
FIRST_GAIN, LAST_GAIN = 1.0, 0.01  # nats that the weight of a level loses in a sweep, on average
ROUNDING = 1e-9  # nats: energies that differ by less are equal
TAIL = 0.1  # a round trip leads from this share of the base to this share of the target
LONGER = "more sweeps"


@one_run
def multicanonical(
    path: GeometricPath,
    n_chains: int = 100,
    n_sweeps: int = 1000,
    rng=None,
    *,
    n_learning: int | None = None,
    progress: bool | None = None,
) -> Estimate:
    """Estimate log Z by a walk that is flat in the log-ratio of target to base.

    Parameters
    ----------
    path : GeometricPath
        Its two ends; no temperature between them is used. A broad base is best: the walk must
        find its way back to it.
    n_chains, n_sweeps : int
        Chains, which share the weights, and sweeps with these weights fixed. A sweep draws
        each visible unit once. Half of the chains begin in the base, half at the top.
    rng : int, Generator or None
    n_learning : int, optional
        Sweeps before that, in which the weights are made smooth; by default a quarter as many.
    progress
        As in `rbmlib.ais`.

    Returns
    -------
    Estimate
        The error bar is the spread of chains. Flagged where chains made fewer than two round trips
        from where the base has its weight to where the target has it, or where halves of the
        run or blocks of time disagree. ``trace["levels"]`` are the lower ends of the levels of U,
        ``trace["log_share"]`` the log of the share of the base in each as the run found it, and
        ``trace["visits"]`` how often each was visited.

    Notes
    -----
    Units are drawn one at a time, in another order in each sweep, for all chains at once, hidden
    units summed out. The levels go up to the highest state found: from a uniform base they
    are about 0.7 times the visible units, so that this is for models of some hundred units. It is
    plain NumPy, and a sweep takes far longer than one of the compiled estimators.

    Examples
    --------
    >>> import numpy as np
    >>> import rbmlib as rl
    >>> rbm = rl.testsystems.random_rbm(n_visible=12, n_hidden=6, rng=0)
    >>> estimate = rl.multicanonical(rl.GeometricPath(rbm, base=np.zeros(12)), rng=0)
    >>> abs(estimate.log_z - rl.exact(rbm).log_z) < 5 * estimate.std_error < 0.1
    True
    """
    started = time.perf_counter()
    instance("path", path, GeometricPath, "a GeometricPath of a Bernoulli RBM")
    n_chains, n_sweeps = count("n_chains", n_chains, 2), count("n_sweeps", n_sweeps, 4)
    n_learning = n_sweeps // 4 if n_learning is None else count("n_learning", n_learning, 0)
    source = generator(rng)
    levels, log_weights, top = nested_levels(path, source)
    bottom = path.sample_base(n_chains, source).coordinates.astype(float)
    bottom[::2] = top[source.integers(len(top), size=len(bottom[::2]))]
    walk, u = Walk(path, bottom, source), np.empty((n_sweeps, n_chains))
    with progress_bar(n_learning + n_sweeps, "multicanonical", progress) as bar:
        for gain in np.geomspace(FIRST_GAIN, LAST_GAIN, n_learning):
            walk.sweep(levels, log_weights, gain * log_weights.size / bottom.size)
            bar.update(1)
        for row in u:
            walk.sweep(levels, log_weights)
            row[:] = walk.u
            bar.update(1)
    settings = {"path": repr(path), "n_learning": n_learning, "rng": seed_of(rng)}
    return _estimate(path, u, levels, log_weights, settings, started, State(walk.visible))


class Walk:
    """Chains with their energies U, moved by draws of single visible units."""

    def __init__(self, path: GeometricPath, v, rng):
        self.rbm, self.base, self.rng = path.rbm, path.base_visible_bias, rng
        self.slope = path.rbm.visible_bias - self.base
        self.v, self.fields = v, path.rbm.hidden_field(v)
        self.u = np.diff(path.log_density(State(self.visible), [0.0, 1.0]), axis=1)[:, 0]

    @property
    def visible(self) -> np.ndarray:
        return self.v.astype(np.float32)

    def sweep(self, levels, log_weights, gain: float = 0.0) -> None:
        """Each unit drawn anew, given all others; with a gain, levels with chains lose weight."""
        here, terms = np.searchsorted(levels, self.u), softplus(self.fields).sum(axis=1)
        for i in self.rng.permutation(self.v.shape[1]):
            sign = 1 - 2 * self.v[:, i]
            fields = self.fields + sign[:, None] * self.rbm.weights[i]
            after = softplus(fields).sum(axis=1)
            u = self.u + sign * self.slope[i] + after - terms
            there = np.searchsorted(levels, u)
            log_ratio = sign * self.base[i] + log_weights[there] - log_weights[here]
            yes = self.rng.random(u.size) < expit(log_ratio)
            self.v[yes, i] += sign[yes]
            self.fields[yes], self.u[yes] = fields[yes], u[yes]
            here, terms = np.where(yes, there, here), np.where(yes, after, terms)
            if gain:
                np.subtract.at(log_weights, here, gain)


def nested_levels(path: GeometricPath, rng) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Levels of U, the log-weights that undo their shares of the base, and states at the top.

    Of states of the base those above the upper 1/e go on, are copied, and sweep where U is above
    that level; and so on until no state is higher than the others.
    """
    walk = Walk(path, path.sample_base(LIVE, rng).coordinates.astype(float), rng)
    levels, log_above = [], [0.0]
    while True:
        level = np.quantile(walk.u, 1 - np.exp(-1), method="lower") + ROUNDING
        above = np.flatnonzero(walk.u > level)
        if not above.size:
            break
        levels.append(level)
        log_above.append(log_above[-1] + np.log(above.size / LIVE))
        walk = Walk(path, walk.v[rng.choice(above, LIVE)], rng)
        for _ in range(LIVE_SWEEPS):
            walk.sweep(np.array([level]), np.array([-np.inf, 0.0]))
    log_shares = log_above + np.log1p(-np.exp(np.diff([*log_above, -np.inf])))
    return np.array(levels), -log_shares, walk.v


def _estimate(path, u, levels, log_weights, settings, started, states: State) -> Estimate:
    """From U of all states that count, (n_sweeps, n_chains), and the weights they were drawn by."""
    where = np.searchsorted(levels, u)
    to_base = -log_weights[where]
    logs = {"base": to_base, "target": u + to_base}
    means = {end: float(logmeanexp(x)) for end, x in logs.items()}
    shares = {end: np.exp(x - means[end]) / u.size for end, x in logs.items()}
    parts = np.array_split(shares["target"] - shares["base"], min(BLOCKS, len(u)))
    blocks = np.stack([part.sum(axis=0) for part in parts])
    error, halves, in_time = of_blocks(blocks)
    low, high = (
        int(np.searchsorted(np.cumsum(np.bincount(where.ravel(), shares[end].ravel())), p))
        for end, p in (("base", TAIL), ("target", 1 - TAIL))
    )
    trips = float(np.mean([_round_trips(chain, low, high) for chain in where.T]))
    checks = [
        *([round_trips(trips)] if low < high else []),
        agreement("halves of the run", *halves),
        *([blocks_of_time(in_time, error)] if np.isfinite(in_time) else []),
        *some_spread(error, bool(np.ptp(u) == 0), "the energies of states differ"),
    ]
    of_level = np.bincount(where.ravel(), shares["base"].ravel(), log_weights.size)
    log_z, n_chains = means["target"] - means["base"] + path.log_z_base, u.shape[1]
    with np.errstate(divide="ignore"):
        trace = {
            "levels": np.r_[-np.inf, levels], "log_share": np.log(of_level),
            "visits": np.bincount(where.ravel(), minlength=log_weights.size),
        }  # fmt: skip
    return report(
        "multicanonical", log_z, error, checks, n_values=n_chains, started=started,
        settings=settings | {"round_trips": trips}, remedy=LONGER, n_chains=n_chains,
        n_sweeps=len(u), log_weights=log_z + n_chains * blocks.sum(axis=0), trace=trace,
        states=states,
    )  # fmt: skip


def _round_trips(levels, low: int, high: int) -> float:
    """How often a chain went from below level ``low`` to above ``high`` and back."""
    ends = np.where(levels <= low, 0, np.where(levels >= high, 1, -1))
    return float((np.diff(ends[ends >= 0]) != 0).sum() / 2)
