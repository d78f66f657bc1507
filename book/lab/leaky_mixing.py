"""How far chains of a leaky RBM are from the model after n sweeps, by quadrature.

Of models with orthogonal columns of length s and no biases: each direction u is a chain of its
own, as in `leaky_bias`, and the law of u after each sweep is a vector. Li et al. (2016) start
their chains in one of four ways (`ALGORITHMS`): at given states, CD, or at the Gaussian of
leakiness 1, and the leakiness is the model's in all sweeps, or falls to it sweep by sweep. The
sweeps are the published ones, or exact ones, which refuse some of the published moves.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.special import log_ndtr

from rbmlib.checks import count, number, one_of
from rbmlib.numerics import LOG_2PI

from . import leaky_bias

KERNELS = ("gibbs", "blockwise")
STARTS = ("normal", "region", "model", "gaussian")
# Name here: where the chains start ("data": at one of the first three), is the leakiness annealed?
ALGORITHMS = {
    "cd": ("data", False), "mix": ("data", True),
    "plain": ("gaussian", False), "leaky": ("gaussian", True),
}  # fmt: skip


class Distance(NamedTuple):
    """Between the law of a direction after some sweeps and the model's."""

    total_variation: float
    divergence: float  # Kullback-Leibler, of the chain's law from the model's; adds up over units
    slope_excess: float  # of the mean of eta^2 / 2 over eta <= 0, which AIS-Leaky adds up


def annealed_leakiness(leakiness: float, n_sweeps: int) -> np.ndarray:
    """Of each sweep, as in training: the first is below 1 already, the last is the model's."""
    return 1 - np.arange(1, n_sweeps + 1) / n_sweeps * (1 - leakiness)


def grid(norm: float) -> tuple[np.ndarray, np.ndarray]:
    """Nodes and weights, close enough for a transition, whose width is 1 or more."""
    number("norm", norm, "the length of a column, in (0, 1)", above=0, below=1)
    side = max(leaky_bias.N_NODES, int(np.ceil(2 * leaky_bias.SPAN / np.sqrt(1 - norm**2))))
    return leaky_bias.nodes(norm, side)


def starting_law(start: str, norm: float, leakiness: float, u) -> np.ndarray:
    """The density at u of a start.

    "normal": N(0, 1), standardised data without any correlation; "region": the model, cut off
    where the field is positive; "model": the model itself, as data are when training is over;
    "gaussian": the model of leakiness 1.
    """
    one_of("start", start, STARTS)
    if start == "normal":
        return np.exp(-(u**2 + LOG_2PI) / 2)
    c = 1.0 if start == "gaussian" else leakiness
    log_p = leaky_bias.half_square(u, norm, c, 1.0) - u**2 / 2 - leaky_bias.unit_log_z(norm, c)
    if start == "region":
        below = np.exp(LOG_2PI / 2 - np.log1p(-c * norm**2) / 2 - leaky_bias.unit_log_z(norm, c))
        return np.where(u > 0, 0.0, np.exp(log_p) / (below / 2))
    return np.exp(log_p)


class Sweep(NamedTuple):
    """What a sweep does to a law: moves, and the chance that a state stays where it is."""

    moves: np.ndarray  # density of the new state (rows) for each old one (columns), if it moves
    stays: np.ndarray  # (n_nodes,)

    def __call__(self, laws, w) -> np.ndarray:
        """The laws (n_nodes, n_laws) after the sweep; w: weights of the nodes."""
        return self.moves @ (w[:, None] * laws) + self.stays[:, None] * laws


def sweep_at(u, w, norm: float, leakiness: float, kernel: str = "gibbs") -> Sweep:
    moves = leaky_bias.transition_density(u, norm, leakiness)
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


def distance(law, u, w, norm: float, leakiness: float) -> Distance:
    model = starting_law("model", norm, leakiness, u)
    half = leaky_bias.half_square(u, norm, 1.0, 0.0)
    some = (law > 0) & (model > 0)
    gain = np.log(np.where(some, law, 1.0)) - np.log(np.where(some, model, 1.0))
    return Distance(
        float(w @ np.abs(law - model) / 2),
        float((w * law) @ gain),
        float((w * half) @ (law - model)),
    )


def distances(
    norm: float, leakiness: float, n_sweeps: int, kernel: str = "gibbs"
) -> dict[tuple[str, str], Distance]:
    """After ``n_sweeps`` of every algorithm, by its name and the start of its chains.

    Parameters
    ----------
    norm, leakiness : float
    n_sweeps : int
    kernel : {"gibbs", "blockwise"}
        The published move, or the exact one.

    Examples
    --------
    >>> found = distances(0.9, 0.01, 5)
    >>> [round(found[key].total_variation, 3) for key in (("cd", "model"), ("leaky", "gaussian"))]
    [0.024, 0.047]
    """
    number("leakiness", leakiness, "a number in (0, 1], such as 0.01", above=0, most=1)
    n_sweeps = count("n_sweeps", n_sweeps)
    one_of("kernel", kernel, KERNELS)
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
