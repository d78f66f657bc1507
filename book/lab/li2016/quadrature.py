"""Chains of leaky RBMs by quadrature in one dimension.

With orthogonal columns of length s and no biases, every direction u of the span of W is a separate
chain. The published move draws h ~ N(alpha eta, alpha) with eta = t s u, where alpha is 1 if u > 0
and c otherwise, and then draws u' ~ N(t s h, 1). Summing out h gives

    u' | u ~ N(t s alpha eta, 1 + t^2 s^2 alpha),

a kernel that is smooth except for a jump at u = 0. Gauss-Legendre nodes on either side of 0 turn
the kernel into a matrix, and its products with importance weights give the exact mean of an AIS
weight. The weight of a model with J columns is a product of J such weights.
"""

from functools import lru_cache
from itertools import groupby, pairwise
from typing import NamedTuple

import numpy as np

from rbmlib.numerics import LOG_2PI, logsumexp

N_NODES = 100  # on either side of 0
SPAN = 9.0  # standard deviations of the widest distribution


def nodes(norm: float, n_nodes: int = N_NODES) -> tuple[np.ndarray, np.ndarray]:
    """Nodes u and weights of the quadrature."""
    x, w = np.polynomial.legendre.leggauss(n_nodes)
    end = SPAN / np.sqrt(1 - norm**2)
    u, w = end * (x + 1) / 2, end * w / 2
    return np.concatenate([-u[::-1], u]), np.concatenate([w[::-1], w])


def unit_log_z(norm: float, leakiness: float) -> float:
    """log Z of one direction u; at norm 0, that of N(0, 1)."""
    halves = [-0.5 * np.log1p(-(norm**2)), -0.5 * np.log1p(-leakiness * norm**2)]
    return float(logsumexp(halves) - np.log(2) + LOG_2PI / 2)


def half_square(u, norm: float, low: float, high: float) -> np.ndarray:
    """eta^2 / 2 times ``low`` if eta <= 0 and times ``high`` if eta > 0."""
    return (norm * u) ** 2 / 2 * np.where(u > 0, high, low)


def transition_density(
    u, norm: float, leakiness: float, scale: float = 1.0, spread: float | None = None
) -> np.ndarray:
    """The density of u' (rows) given u (columns); ``spread``, if given, scales h minus its mean."""
    factor = scale * norm
    alpha = np.where(u > 0, 1.0, leakiness)
    variance = 1 + (factor if spread is None else spread * norm) ** 2 * alpha
    distance = u[:, None] - factor**2 * alpha * u
    return np.exp(-(distance**2) / (2 * variance)) / np.sqrt(2 * np.pi * variance)


def stationary_law(norm: float, leakiness: float) -> tuple[np.ndarray, np.ndarray]:
    """Densities at `nodes`: stationary distribution of the published move, and model."""
    u, w = nodes(norm)
    values, vectors = np.linalg.eig(transition_density(u, norm, leakiness) * w)
    law = np.abs(np.real(vectors[:, np.argmax(np.real(values))]))
    return law / (w @ law), model_density(u, norm, leakiness)


def model_density(u, norm: float, leakiness: float) -> np.ndarray:
    return np.exp(half_square(u, norm, leakiness, 1.0) - u**2 / 2 - unit_log_z(norm, leakiness))


def from_nodes(norm: float, leakiness: float, sweeps) -> tuple[np.ndarray, ...]:
    """Chains from each node, where ``sweeps`` has the leakiness of each sweep.

    Returns, for each start, the share of chains that end on the other side of 0, their total
    variation distance from the model, and the probability of the start under the model.
    """
    u, w = nodes(norm, max(N_NODES, round(20 / np.sqrt(1 - norm**2))))  # as dense for any norm
    up, model, law = u > 0, model_density(u, norm, leakiness), np.diag(1 / w)
    for c, same in groupby(sweeps):
        moves = transition_density(u, norm, c) * w
        law = np.linalg.matrix_power(moves, len([*same])) @ law
    crossed = up[:, None] != up
    return w @ (law * crossed), w @ np.abs(law - model[:, None]) / 2, w * model


class UnitBias(NamedTuple):
    """Bias and variance of AIS for one orthogonal column."""

    bias: float  # log E[w] - log Z in nats, for any number of chains
    relative_variance: float  # E[w^2] / E[w]^2 - 1

    def std_error(self, n_hidden: int, n_chains: int) -> float:
        """Standard error of log Z for a model with ``n_hidden`` such columns."""
        return float(np.sqrt(((1 + self.relative_variance) ** n_hidden - 1) / n_chains))


def slow_bias(norm: float, leakiness: float, n_points: int = 24) -> float:
    """Bias of log Z of a column in the limit of infinitely slow annealing of the leakiness.

    d log Z / dc is the mean of eta^2 / 2 over eta <= 0 under the model. The chain follows its own
    stationary distribution instead. The difference of the means is integrated from c to 1.
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
    """Exact bias of log Z of a column by AIS with the published move.

    ``moves`` is the path, or a function of beta that replaces sqrt(beta) as the scale of the fields
    in the moves of the energy path and may return a pair (see `transition_density`). Without
    ``weigh_first``, each weight is evaluated after its move, which is wrong by O(1 / K).
    """
    u, w = nodes(norm)
    leaky = isinstance(moves, str) and moves == "leakiness"
    low, high = (leakiness - 1, 0.0) if leaky else (leakiness, 1.0)
    slope = half_square(u, norm, low, high)
    start = unit_log_z(norm, 1.0) if leaky else LOG_2PI / 2
    law = np.exp(half_square(u, norm, float(leaky), float(leaky)) - u**2 / 2 - start)
    f = np.stack([law, law], axis=1)  # density of u weighted by w and by w^2
    logs = np.zeros(2)
    scale = moves if callable(moves) else np.sqrt
    for before, beta in pairwise(betas):
        c, t = (1 - beta * (1 - leakiness), 1.0) if leaky else (leakiness, scale(beta))
        gain = np.exp(np.outer((beta - before) * slope, [1, 2]))
        first, last = (gain, 1.0) if weigh_first else (1.0, gain)
        f = transition_density(u, norm, c, *np.atleast_1d(t)) @ (f * first * w[:, None]) * last
        mass = w @ f
        logs += np.log(mass)
        f /= mass
    bias = logs[0] + start - unit_log_z(norm, leakiness)
    return UnitBias(float(bias), float(np.expm1(logs[1] - 2 * logs[0])))


def linear_bias(norm: float, leakiness: float, n_steps: int, moves, weigh_first=True) -> float:
    """`annealed_bias` of many linear steps, as ``a + b / n_steps`` fitted to 500 and 1,000."""
    few, more = (linear(norm, leakiness, k, moves, weigh_first).bias for k in (500, 1000))
    return more + (few - more) * (1000 / n_steps - 1)


@lru_cache(maxsize=16)
def linear(norm: float, leakiness: float, n_steps: int, moves, weigh_first=True) -> UnitBias:
    """`annealed_bias` of a linear schedule."""
    betas = np.linspace(0, 1, n_steps + 1)
    return annealed_bias(norm, leakiness, betas, moves, weigh_first=weigh_first)
