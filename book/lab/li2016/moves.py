"""More moves of leaky RBMs, ``move(model, v, rng)``: `rbmlib.LeakinessPath` takes functions.

* `blockwise` makes the published move exact, where the weights are diagonal. Given h, the joint
  density of v is proportional to ``N(v; b + W h, I) prod_j g(h_j; a_j(v))``, ``g(h; a) = exp(-h^2 /
  2 a) / sqrt(a)``. So v'_j from the Gaussian is accepted with probability
  ``min(1, g(h_j; a_j(v')) / g(h_j; a_j(v)))``.
* `elliptical_slice` is elliptical slice sampling (Murray, Adams & MacKay 2010) with the Gaussian of
  the slope above on both sides as prior, and what is left as likelihood: nothing to tune.

Where the weights are diagonal, annealing by the published move and by `blockwise` has a compiled
loop (`diagonal`).
"""

from __future__ import annotations

import numpy as np

from rbmlib.checks import one_of
from rbmlib.models import normal
from rbmlib.paths.moves import TINY, gaussian, gibbs, leaky_hmc

SHRINKS = 40  # of the bracket of a slice, at most; after them the state stays, which is exact too


def blockwise(model, v, rng):
    x = model.field(v)
    h = model.hidden.draw(x, rng)
    new = model.visible.draw(model.visible_field(h), rng)
    # of g(h; below) to g(h; above), which are one where the slopes are 0
    above, below = (np.maximum(s, TINY) for s in (model.hidden.above, model.hidden.below))
    log_ratio = h**2 * ((1 / above - 1 / below) / 2) - np.log(below / above) / 2
    turned = (model.field(new) <= 0).astype(float) - (x <= 0)
    return np.where(np.log(rng.random(v.shape)) < turned * log_ratio, new, v)


def elliptical_slice(model, v, rng):
    """What is needed of the fields is that of the two axes of the ellipse alone."""
    w, hidden, n = model.weights, model.hidden, len(v)
    mean, sd = gaussian(model)
    one, two = v - mean, sd * rng.standard_normal(v.shape)
    centre, along_one, along_two = mean @ w + hidden.bias, one @ w, two @ w
    fall = np.broadcast_to(hidden.above - hidden.below, (n, 1))[:, 0] / 2

    def log_likelihood(chains, angle):
        cos, sin = np.cos(angle)[:, None], np.sin(angle)[:, None]
        at = centre[chains] if centre.ndim == 2 else centre
        x = at + cos * along_one[chains] + sin * along_two[chains]
        np.minimum(x, 0.0, out=x)
        return -fall[chains] * np.einsum("nj,nj->n", x, x)

    def bracket(share):
        return -2 * np.pi * share, 2 * np.pi * (1 - share)

    angle = slice_angle(log_likelihood, bracket, n, rng)
    return mean + np.cos(angle)[:, None] * one + np.sin(angle)[:, None] * two


def slice_angle(log_likelihood, bracket, n_chains: int, rng) -> np.ndarray:
    """The angle on its ellipse to which each chain moves, from 0: (n_chains,).

    ``bracket(share)`` gives both ends of a whole turn about 0, of which the second is tried first;
    it shrinks towards 0 until the likelihood is above that at 0 times a uniform draw.
    """
    uniforms, todo = rng.random((n_chains, SHRINKS + 1)), np.arange(n_chains)
    floor = np.log(uniforms[:, 0]) + log_likelihood(todo, np.zeros(n_chains))
    low, angle = bracket(uniforms[:, 1])
    high = angle.copy()
    for draws in uniforms.T[2:]:
        todo = todo[log_likelihood(todo, angle[todo]) <= floor[todo]]
        if not todo.size:
            break
        new = angle[todo]
        low[todo] = np.where(new < 0, new, low[todo])
        high[todo] = np.where(new < 0, high[todo], new)
        angle[todo] = low[todo] + (high[todo] - low[todo]) * draws[todo]
    angle[todo] = 0.0
    return angle


MOVES = {"gibbs": gibbs, "blockwise": blockwise, "slice": elliptical_slice, "hmc": leaky_hmc}


def move_of(name: str, rbm):
    """The move of that name, for this leaky RBM."""
    one_of("kernel", name, MOVES)
    if name == "blockwise" and not normal.has_orthogonal_columns(rbm.weights):
        raise ValueError(
            "kernel is 'blockwise', but the columns of the weights are not orthogonal: expected "
            "'slice' or 'hmc'"
        )
    return MOVES[name]


def mean_distance(one, other) -> float:
    """Kolmogorov-Smirnov distance of the columns of two samples, mean over columns."""
    total = 0.0
    for x, y in zip(one.T, other.T, strict=True):
        both = np.sort(np.concatenate([x, y]))
        shares = [np.searchsorted(np.sort(z), both, side="right") / len(z) for z in (x, y)]
        total += np.abs(np.subtract(*shares)).max()
    return float(total / one.shape[1])
