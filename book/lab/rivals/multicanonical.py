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

import numpy as np

from rbmlib.estimators import estimator
from rbmlib.estimators.rts import BLOCKS
from rbmlib.numerics import expit, logmeanexp, softplus
from rbmlib.results import Estimate, blocks_of_time, finished, halves, round_trips, some_spread

LIVE, LIVE_SWEEPS = 300, 2  # states of nested sampling, and sweeps of them at each level
FIRST_GAIN, LAST_GAIN = 1.0, 0.01  # nats that the weight of a level loses in a sweep, on average
ROUNDING = 1e-9  # nats: energies that differ by less are equal
TAIL = 0.1  # a round trip: from this share of the base to this share of the target
LONGER = "Use more sweeps"


@estimator
def multicanonical(path, n_chains: int = 100, n_sweeps: int = 1000, rng=None) -> Estimate:
    """Estimate log Z of a Bernoulli RBM by a walk that is flat in the log-ratio of target to base.

    Of the `GeometricPath` only the two ends are used. A broad base is best: the walk must find its
    way back to it. The levels go up to the highest state found: from a uniform base they are about
    0.7 times the visible units, so that this is for models of some hundred units. It is plain
    NumPy, and a sweep takes far longer than one of the compiled estimators.

    Chains share the weights; half of them begin in the base, half at the top. A quarter as many
    sweeps come before those that count, in which the weights are made smooth. The standard error
    is the spread of chains. A round trip is one from where the base has its weight to where the
    target has it. ``trace["levels"]`` are the lower ends of the levels of U, "log_share" the log of
    the share of the base in each, and "visits" how often each was visited.
    """
    source = np.random.default_rng(rng)
    levels, log_weights, top = nested_levels(path, source)
    v = path.sample_base(n_chains, source).astype(float)
    v[::2] = top[source.integers(len(top), size=len(v[::2]))]
    walk, u = Walk(path, v, source), np.empty((n_sweeps, n_chains))
    for gain in np.geomspace(FIRST_GAIN, LAST_GAIN, n_sweeps // 4):
        walk.sweep(levels, log_weights, gain * log_weights.size / v.size)
    for row in u:
        walk.sweep(levels, log_weights)
        row[:] = walk.u
    return _estimate(path, u, levels, log_weights, walk.v.astype(np.float32))


class Walk:
    """Chains with their energies U, moved by draws of single visible units."""

    def __init__(self, path, v, rng):
        base, self.rbm = path.models
        self.base, self.rng, self.v = base.visible_bias, rng, v
        self.slope, self.fields = self.rbm.visible_bias - self.base, self.rbm.field(v)
        self.u = np.diff(path.log_density(v, [0.0, 1.0]), axis=1)[:, 0]

    def sweep(self, levels, log_weights, gain=0.0):
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


def nested_levels(path, rng):
    """Levels of U, the log-weights that undo their shares of the base, and states at the top.

    Of states of the base those above the upper 1/e go on, are copied, and sweep where U is above
    that level; and so on until no state is higher than the others.
    """
    walk = Walk(path, path.sample_base(LIVE, rng).astype(float), rng)
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


def _estimate(path, u, levels, log_weights, states):
    """From U of all states that count, (n_sweeps, n_chains), and the weights they were drawn by."""
    where, (n_sweeps, n_chains) = np.searchsorted(levels, u), u.shape
    base = -log_weights[where]
    target = u + base
    log_z = float(logmeanexp(target) - logmeanexp(base))
    shares = [np.exp(x - logmeanexp(x)) / u.size for x in (base, target)]
    of_level = [np.bincount(where.ravel(), s.ravel(), log_weights.size) for s in shares]
    low = int(np.searchsorted(np.cumsum(of_level[0]), TAIL))
    high = int(np.searchsorted(np.cumsum(of_level[1]), 1 - TAIL))
    trips = float(np.mean([trips_of(chain, low, high) for chain in where.T]))
    parts = np.array_split(shares[1] - shares[0], min(BLOCKS, n_sweeps))
    blocks = n_chains * np.stack([part.sum(axis=0) for part in parts])
    chains = blocks.sum(axis=0)
    error = chains.std(ddof=1) / np.sqrt(n_chains)
    found = [
        *([round_trips(trips)] if low < high else []),
        *halves(len(blocks) * blocks),
        *blocks_of_time(len(blocks) * blocks),
        *some_spread(error, bool(np.ptp(u) == 0), "the energies of states differ"),
    ]
    with np.errstate(divide="ignore"):
        trace = {"levels": np.r_[-np.inf, levels], "log_share": np.log(of_level[0])}
    trace["visits"] = np.bincount(where.ravel(), minlength=log_weights.size)
    log_z += path.log_z_base
    more = {"n_chains": n_chains, "n_sweeps": n_sweeps, "log_weights": log_z + chains}
    more |= {"trace": trace, "details": {"round_trips": trips}, "states": states}
    return finished("multicanonical", log_z, error, found, n_chains, remedy=LONGER, **more)


def trips_of(levels, low, high):
    """How often a chain went from below level ``low`` to above ``high`` and back."""
    ends = np.where(levels <= low, 0, np.where(levels >= high, 1, -1))
    return float((np.diff(ends[ends >= 0]) != 0).sum() / 2)
