"""What chains of leaky RBMs do, by quadrature in one dimension.

With orthogonal columns of length s and no biases every direction u of the span of W is a chain of
its own. The published move draws h ~ N(alpha eta, alpha), eta = t s u, alpha = 1 where u > 0 and c
elsewhere, and then u' ~ N(t s h, 1). Without h,

    u' | u ~ N(t s alpha eta, 1 + t^2 s^2 alpha):

a kernel known in closed form, smooth in u' and smooth in u but for a jump at 0. Gauss-Legendre
nodes on either side of 0 turn it into a small matrix. Its fixed vector is the stationary
distribution; its products with importance weights are the exact mean of an AIS weight after any
number of steps; its powers are the distributions of chains after any number of sweeps. The weight
of a model with J columns is a product of J such weights.
"""

from __future__ import annotations

from functools import lru_cache
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from scipy.special import log_ndtr

from rbmlib.numerics import LOG_2PI, logsumexp

N_NODES = 100  # on either side of 0
SPAN = 9.0  # standard deviations of the widest distribution


def nodes(norm: float, n_nodes: int = N_NODES) -> tuple[np.ndarray, np.ndarray]:
    """Nodes u and weights of the quadrature, ``n_nodes`` on either side of 0."""
    x, w = np.polynomial.legendre.leggauss(n_nodes)
    end = SPAN / np.sqrt(1 - norm**2)
    u, w = end * (x + 1) / 2, end * w / 2
    return np.concatenate([-u[::-1], u]), np.concatenate([w[::-1], w])


def unit_log_z(norm: float, leakiness: float) -> float:
    """log Z of one direction u, N(0, 1) at norm 0 included."""
    halves = [-0.5 * np.log1p(-(norm**2)), -0.5 * np.log1p(-leakiness * norm**2)]
    return float(logsumexp(halves) - np.log(2) + LOG_2PI / 2)


def half_square(u, norm: float, low: float, high: float) -> np.ndarray:
    """eta^2 / 2 times ``low`` where eta <= 0 and times ``high`` where eta > 0."""
    return (norm * u) ** 2 / 2 * np.where(u > 0, high, low)


def transition_density(
    u, norm: float, leakiness: float, scale: float = 1.0, spread: float | None = None
) -> np.ndarray:
    """The density of u' (rows) given u (columns); ``spread`` scales h less its mean, if given."""
    factor = scale * norm
    alpha = np.where(u > 0, 1.0, leakiness)
    variance = 1 + (factor if spread is None else spread * norm) ** 2 * alpha
    distance = u[:, None] - factor**2 * alpha * u
    return np.exp(-(distance**2) / (2 * variance)) / np.sqrt(2 * np.pi * variance)


def stationary_law(norm: float, leakiness: float) -> tuple[np.ndarray, np.ndarray]:
    """Densities at `nodes` of the published move's stationary distribution, and of the model."""
    u, w = nodes(norm)
    values, vectors = np.linalg.eig(transition_density(u, norm, leakiness) * w)
    law = np.abs(np.real(vectors[:, np.argmax(np.real(values))]))
    model = np.exp(half_square(u, norm, leakiness, 1.0) - u**2 / 2 - unit_log_z(norm, leakiness))
    return law / (w @ law), model


class UnitBias(NamedTuple):
    """AIS of one orthogonal column."""

    bias: float  # log E[w] - log Z, nats: what no number of chains removes
    relative_variance: float  # E[w^2] / E[w]^2 - 1

    def std_error(self, n_hidden: int, n_chains: int) -> float:
        """Of the estimate of log Z of a model with ``n_hidden`` such columns."""
        return float(np.sqrt(((1 + self.relative_variance) ** n_hidden - 1) / n_chains))


def slow_bias(norm: float, leakiness: float, n_points: int = 24) -> float:
    """The bias of log Z of a column in the limit of infinitely slow annealing of the leakiness.

    d log Z / dc is the mean of eta^2 / 2 over eta <= 0; the chain follows its own stationary
    distribution instead, and the difference is integrated from c to 1.
    """
    x, weights = np.polynomial.legendre.leggauss(n_points)
    u, w = nodes(norm)
    square = half_square(u, norm, 1.0, 0.0)
    total = 0.0
    for c, weight in zip((1 + leakiness + (1 - leakiness) * x) / 2, weights, strict=True):
        law, model = stationary_law(norm, c)
        total -= weight * (1 - leakiness) / 2 * float((w * square) @ (law - model))
    return total


def annealed_bias(
    norm: float, leakiness: float, betas, moves="leakiness", *, weigh_first: bool = True
) -> UnitBias:
    """The bias of log Z of a column by AIS with the published move, exactly.

    ``moves`` is the path; or ``scale(beta)`` of the fields in the moves of the energy path, where
    that is not sqrt(beta), or a pair of scales: see `transition_density`. Without ``weigh_first``
    each step's weight is read off the state after its move, a slip that makes even exact moves
    wrong by O(1 / K).
    """
    u, w = nodes(norm)
    leaky = isinstance(moves, str) and moves == "leakiness"
    slope = (
        half_square(u, norm, leakiness - 1, 0.0) if leaky else half_square(u, norm, leakiness, 1.0)
    )
    start = unit_log_z(norm, 1.0) if leaky else LOG_2PI / 2
    law = np.exp(half_square(u, norm, float(leaky), float(leaky)) - u**2 / 2 - start)
    f = np.stack([law, law], axis=1)  # density of u weighted by w, and by w^2
    logs = np.zeros(2)
    scale = moves if callable(moves) else np.sqrt
    for before, beta in pairwise(betas):
        c, t = (1 - beta * (1 - leakiness), 1.0) if leaky else (leakiness, scale(beta))
        gain = np.exp(np.outer((beta - before) * slope, [1, 2]))
        f = transition_density(u, norm, c, *np.atleast_1d(t)) @ (
            (f * gain if weigh_first else f) * w[:, None]
        )
        f = f if weigh_first else f * gain
        mass = w @ f
        logs += np.log(mass)
        f /= mass
    bias = logs[0] + start - unit_log_z(norm, leakiness)
    return UnitBias(float(bias), float(np.expm1(logs[1] - 2 * logs[0])))


def linear_bias(norm: float, leakiness: float, n_steps: int, path: str) -> float:
    """`annealed_bias` of many linear steps, as ``a + b / n_steps`` through 500 and 1,000 of them.

    The next term leaves an error of about 5e-7 nats.
    """
    few, more = (linear(norm, leakiness, k, path).bias for k in (500, 1000))
    return more + (few - more) * (1000 / n_steps - 1)


@lru_cache(maxsize=16)
def linear(norm: float, leakiness: float, n_steps: int, path: str) -> UnitBias:
    """`annealed_bias` of a linear schedule."""
    return annealed_bias(norm, leakiness, np.linspace(0, 1, n_steps + 1), path)


STARTS = ("normal", "region", "model", "gaussian")
# Name here: where the chains start ("data": at one of the first three), is the leakiness annealed?
ALGORITHMS = {
    "cd": ("data", False), "mix": ("data", True),
    "plain": ("gaussian", False), "leaky": ("gaussian", True),
}  # fmt: skip


def annealed_leakiness(leakiness: float, n_sweeps: int) -> np.ndarray:
    """Of each sweep, as in training: the first is below 1 already, the last is the model's."""
    return 1 - np.arange(1, n_sweeps + 1) / n_sweeps * (1 - leakiness)


def grid(norm: float) -> tuple[np.ndarray, np.ndarray]:
    """Nodes and weights, close enough for a move, whose width is 1 or more."""
    return nodes(norm, max(N_NODES, int(np.ceil(2 * SPAN / np.sqrt(1 - norm**2)))))


def starting_law(start: str, norm: float, leakiness: float, u) -> np.ndarray:
    """The density at u of a start: N(0, 1); the model, or its part where the field is below 0; or
    the model of leakiness 1 ("gaussian")."""
    if start == "normal":
        return np.exp(-(u**2 + LOG_2PI) / 2)
    c = 1.0 if start == "gaussian" else leakiness
    log_p = half_square(u, norm, c, 1.0) - u**2 / 2 - unit_log_z(norm, c)
    if start == "region":
        below = np.exp(LOG_2PI / 2 - np.log1p(-c * norm**2) / 2 - unit_log_z(norm, c))
        return np.where(u > 0, 0.0, np.exp(log_p) / (below / 2))
    return np.exp(log_p)


class Sweep(NamedTuple):
    """What a sweep does to a distribution: moves, and the chance that a state stays."""

    moves: np.ndarray  # density of the new state (rows) for each old one (columns), if it moves
    stays: np.ndarray  # (n_nodes,)

    def __call__(self, laws, w) -> np.ndarray:
        """The densities (n_nodes, n_laws) after the sweep; w: weights of the nodes."""
        return self.moves @ (w[:, None] * laws) + self.stays[:, None] * laws


def sweep_at(u, w, norm: float, leakiness: float, kernel: str = "gibbs") -> Sweep:
    """Of the published move ("gibbs"), or of the exact one ("blockwise")."""
    moves = transition_density(u, norm, leakiness)
    if kernel == "gibbs" or leakiness == 1:
        return Sweep(moves, np.zeros(len(u)))
    turned = (u[:, None] > 0) != (u > 0)
    moves = np.where(turned, _accepted(u, norm, leakiness), moves)
    return Sweep(moves, 1 - w @ moves)


def _accepted(u, norm: float, c: float) -> np.ndarray:
    """Density of a proposal u' (rows) that turns the sign of u (columns) and is accepted.

    The integral over h of N(h; alpha eta, alpha) N(u'; s h, 1) min(1, g(h; alpha') / g(h; alpha)):
    the ratio is 1 at h = +-edge, and below 1 outside these if u was above 0, inside if not.
    """
    edge = np.sqrt(-np.log(c) / (1 / c - 1))
    q = norm * (u[:, None] + u)  # the linear term of the exponent: the mean of h is alpha norm u
    parts = []
    for above, alpha, other in ((True, 1.0, c), (False, c, 1.0)):
        old = u[(u > 0) == above]
        free = (u[:, None] ** 2 + alpha * (norm * old) ** 2 + 2 * LOG_2PI + np.log(alpha)) / 2
        terms = q[:, (u > 0) == above], free, edge
        inside, outside = _integrals(1 / alpha + norm**2, *terms)
        # where the ratio is below 1 it puts g of the other side in the place of this one's
        traded = _integrals(1 / other + norm**2, *terms)
        scale = np.sqrt(alpha / other)
        parts.append(inside + scale * traded[1] if above else scale * traded[0] + outside)
    return np.concatenate(parts[::-1], axis=1)  # nodes rise: those below 0 come first


def _integrals(precision, q, free, edge) -> tuple[np.ndarray, np.ndarray]:
    """Of exp(-precision h^2 / 2 + q h - free) over |h| < edge, and over the rest."""
    mean, sd = np.abs(q) / precision, precision**-0.5
    log_whole = q**2 / (2 * precision) - free + (LOG_2PI - np.log(precision)) / 2
    high, low = log_ndtr((edge - mean) / sd), log_ndtr((-edge - mean) / sd)
    inside = np.exp(log_whole + high + np.log1p(-np.exp(low - high)))
    with np.errstate(over="ignore"):  # where the other side's Gaussian is not asked for
        return inside, np.exp(log_whole + log_ndtr((mean - edge) / sd)) + np.exp(log_whole + low)


class Distance(NamedTuple):
    """Between the distribution of a direction after some sweeps and the model's."""

    total_variation: float
    divergence: float  # Kullback-Leibler, of the chain's from the model's; adds up over units


def distance(law, u, w, norm: float, leakiness: float) -> Distance:
    model = starting_law("model", norm, leakiness, u)
    some = (law > 0) & (model > 0)
    gain = np.log(np.where(some, law, 1.0)) - np.log(np.where(some, model, 1.0))
    return Distance(float(w @ np.abs(law - model) / 2), float((w * law) @ gain))


def distances(
    norm: float, leakiness: float, n_sweeps: int, kernel: str = "gibbs"
) -> dict[tuple[str, str], Distance]:
    """After ``n_sweeps`` of each of `ALGORITHMS`, by its name and the start of its chains."""
    u, w = grid(norm)
    start = np.stack([starting_law(s, norm, leakiness, u) for s in STARTS], axis=1)
    last = sweep_at(u, w, norm, leakiness, kernel)
    steady = falling = start
    for c in annealed_leakiness(leakiness, n_sweeps)[:-1]:
        steady = last(steady, w)
        falling = sweep_at(u, w, norm, c, kernel)(falling, w)
    found = {}
    for name, (where, falls) in ALGORITHMS.items():
        laws = last(falling if falls else steady, w)
        for i, s in enumerate(STARTS):
            if (s == "gaussian") == (where == "gaussian"):
                found[name, s] = distance(laws[:, i], u, w, norm, leakiness)
    return found
