"""What the published transition of leaky RBMs does, by quadrature in one dimension.

With orthogonal columns of length s and no biases every direction u of the span of W is a chain of
its own. The published transition draws h ~ N(alpha eta, alpha), eta = t s u, alpha = 1 where u > 0
and c elsewhere, and then u' ~ N(t s h, 1). Without h,

    u' | u ~ N(t s alpha eta, 1 + t^2 s^2 alpha):

a kernel known in closed form, smooth in u' and smooth in u but for a jump at 0. Gauss-Legendre
nodes on either side of 0 turn it into a small matrix, whose fixed vector is the stationary law,
and whose products with importance weights are the exact mean of an AIS weight after any
number of steps. The weight of a model with J columns is a product of J such weights.
"""

from __future__ import annotations

from functools import lru_cache
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from rbmlib.checks import array, count, instance, number, schedule
from rbmlib.numerics import LOG_2PI, logsumexp

N_NODES = 100  # on either side of 0
SPAN = 9.0  # standard deviations of the widest law


class UnitBias(NamedTuple):
    """AIS of one orthogonal column."""

    bias: float  # log E[w] - log Z, nats: what no number of chains removes
    relative_variance: float  # E[w^2] / E[w]^2 - 1

    def std_error(self, n_hidden: int, n_chains: int) -> float:
        """Of the estimate of log Z of a model with ``n_hidden`` such columns."""
        return float(np.sqrt(((1 + self.relative_variance) ** n_hidden - 1) / n_chains))


def unit_log_z(norm: float, leakiness: float, scale: float = 1.0) -> float:
    """log Z of one direction u, N(0, 1) at norm 0 included, with the fields times ``scale``."""
    _check(norm, leakiness)
    end = 1 / norm
    number("scale", scale, f"a number from {-end:.4g} to {end:.4g}", above=-end, below=end)
    square = (scale * norm) ** 2
    halves = [-0.5 * np.log1p(-square), -0.5 * np.log1p(-leakiness * square)]
    return float(logsumexp(halves) - np.log(2) + LOG_2PI / 2)


def nodes(norm: float, n_nodes: int = N_NODES) -> tuple[np.ndarray, np.ndarray]:
    """Nodes u and weights of the quadrature, ``n_nodes`` on either side of 0."""
    _check(norm)
    x, w = np.polynomial.legendre.leggauss(count("n_nodes", n_nodes))
    end = SPAN / np.sqrt(1 - norm**2)
    u, w = end * (x + 1) / 2, end * w / 2
    return np.concatenate([-u[::-1], u]), np.concatenate([w[::-1], w])


def half_square(u, norm: float, low: float, high: float) -> np.ndarray:
    """eta^2 / 2 times ``low`` where eta <= 0 and times ``high`` where eta > 0."""
    return (norm * u) ** 2 / 2 * np.where(u > 0, high, low)


def transition_density(
    u, norm: float, leakiness: float, scale: float = 1.0, spread: float | None = None
) -> np.ndarray:
    """The density of u' (rows) given u (columns) of the published transition.

    ``spread`` is what scales h less its mean, if not ``scale``, which scales its mean.
    """
    _check(norm, leakiness)
    u = array("u", u, (None,), "(n,), a row of places")
    for name, value in (("scale", scale), ("spread", scale if spread is None else spread)):
        number(name, value, "a number, such as 1")
    factor = scale * norm
    alpha = np.where(u > 0, 1.0, leakiness)
    variance = 1 + (factor if spread is None else spread * norm) ** 2 * alpha
    distance = u[:, None] - factor**2 * alpha * u
    return np.exp(-(distance**2) / (2 * variance)) / np.sqrt(2 * np.pi * variance)


def stationary_law(norm: float, leakiness: float) -> tuple[np.ndarray, np.ndarray]:
    """Densities at `nodes` of the published transition's stationary law, and of the model."""
    _check(norm, leakiness)
    u, w = nodes(norm)
    values, vectors = np.linalg.eig(transition_density(u, norm, leakiness) * w)
    law = np.abs(np.real(vectors[:, np.argmax(np.real(values))]))
    model = np.exp(half_square(u, norm, leakiness, 1.0) - u**2 / 2 - unit_log_z(norm, leakiness))
    return law / (w @ law), model


def slow_bias(norm: float, leakiness: float, n_points: int = 24) -> float:
    """The bias of log Z of a column in the limit of infinitely slow annealing of the leakiness.

    d log Z / dc is the mean of eta^2 / 2 over eta <= 0; the chain follows its own stationary law
    instead, and the difference is integrated from c to 1.

    Examples
    --------
    >>> float(round(slow_bias(0.9, 0.01), 4))
    -0.0047
    """
    _check(norm, leakiness)
    x, weights = np.polynomial.legendre.leggauss(count("n_points", n_points))
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
    """The bias of log Z of a column by AIS with the published transition, exactly.

    Parameters
    ----------
    norm, leakiness : float
    betas : array (K + 1,)
    moves : "leakiness", "energy" or callable
        The path, as `LeakinessPath` and `EnergyPath`; or ``scale(beta)`` of the fields in the
        transitions of the energy path, where that is not sqrt(beta), or a pair of scales: see
        `transition_density`.
    weigh_first : bool
        False: each step's weight is read off the state after its transition, a slip that makes
        even exact transitions wrong by O(1 / K).
    """
    _check(norm, leakiness, moves)
    betas = schedule(betas)
    instance("weigh_first", weigh_first, bool, "True or False")
    u, w = nodes(norm)
    leaky = isinstance(moves, str) and moves == "leakiness"
    slope = (
        half_square(u, norm, leakiness - 1, 0.0) if leaky else half_square(u, norm, leakiness, 1.0)
    )
    start = unit_log_z(norm, 1.0) if leaky else LOG_2PI / 2
    law = np.exp(half_square(u, norm, float(leaky), float(leaky)) - u**2 / 2 - start)
    f = np.stack([law, law], axis=1)  # law of u weighted by w, and by w^2
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


def moment_exists(
    power: int, norm: float, n_steps: int, scale, *, weigh_first: bool = True
) -> bool:
    """Whether E[w^power] of a column is finite on the energy path with the published transition.

    In the Gaussian tail u > 0 the integrand is exp(theta u^2), followed from the last step back.

    Parameters
    ----------
    scale : callable
        Of the fields in the transitions, or a pair of scales, as `annealed_bias` takes it.
    """
    _check(norm)
    theta, gain = 0.0, power * norm**2 / (2 * count("n_steps", n_steps))
    for beta in np.linspace(1, 0, n_steps + 1)[:-1]:
        of_mean, of_spread = ((t * norm) ** 2 for t in np.broadcast_to(scale(beta), 2))
        theta += 0.0 if weigh_first else gain
        if 2 * theta * (1 + of_spread) >= 1:
            return False
        theta = theta * of_mean**2 / (1 - 2 * theta * (1 + of_spread))
        theta += gain if weigh_first else 0.0
    return bool(theta < 0.5)


def energy_bias(
    norm: float, leakiness: float, n_steps: int, moves="energy", *, weigh_first: bool = True
) -> UnitBias:
    """`annealed_bias` of the energy path and a linear schedule; inf where a moment does not exist.

    Examples
    --------
    >>> energy_bias(0.9, 0.01, 15, lambda beta: 1.0).relative_variance
    inf
    """
    betas = np.linspace(0, 1, count("n_steps", n_steps) + 1)
    found = annealed_bias(norm, leakiness, betas, moves, weigh_first=weigh_first)
    scale = moves if callable(moves) else np.sqrt
    exist = (
        moment_exists(power, norm, n_steps, scale, weigh_first=weigh_first) for power in (1, 2)
    )
    return UnitBias(*(x if there else np.inf for x, there in zip(found, exist, strict=True)))


def linear_bias(norm: float, leakiness: float, n_steps: int, moves="leakiness") -> float:
    """The bias of log Z of a column by AIS with the published transition and a linear schedule.

    Of many steps, for which `annealed_bias` takes its time: as ``a + b / n_steps`` through 500 and
    1,000 of them. The next term leaves an error of about 5e-7 nats.

    Examples
    --------
    >>> float(round(linear_bias(0.9, 0.01, 10_000), 6))
    -0.004743
    """
    _check(norm, leakiness, moves)
    n_steps = count("n_steps", n_steps)
    few, more = _few_and_more(norm, leakiness, moves)
    return more + (few - more) * (1000 / n_steps - 1)


@lru_cache(maxsize=16)
def _few_and_more(norm, leakiness, moves) -> list[float]:
    betas = (np.linspace(0, 1, k + 1) for k in (500, 1000))
    return [annealed_bias(norm, leakiness, b, moves).bias for b in betas]


def _check(norm, leakiness=1.0, moves="leakiness") -> None:
    number("norm", norm, "the length of a column, in (0, 1)", above=0, below=1)
    number("leakiness", leakiness, "a number in (0, 1], such as 0.01", above=0, most=1)
    known = isinstance(moves, str) and moves in ("leakiness", "energy")
    if not known and not callable(moves):
        raise ValueError(f"moves is {moves!r}: expected 'leakiness', 'energy' or a function")
