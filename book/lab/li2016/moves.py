"""More moves of leaky RBMs, ``move(model, v, rng)``: `rbmlib.LeakinessPath` takes functions.

* `metropolis` makes the published move exact, for few units. Given h, the joint density of v is
  proportional to ``N(v; b + W h, I) prod_j g(h_j; a_j(v))``, ``g(h; a) = exp(-h^2 / 2 a) /
  sqrt(a)``. So v' from the Gaussian is accepted with probability
  ``min(1, prod_j g(h_j; a_j(v')) / g(h_j; a_j(v)))``.
* `blockwise` does so direction by direction, for any number of units, where weights are diagonal.
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


def metropolis(model, v, rng):
    new, gains = _proposal(model, v, rng)
    accepted = np.log(rng.random((len(v), 1))) < gains.sum(axis=1, keepdims=True)
    return np.where(accepted, new, v)


def blockwise(model, v, rng):
    new, gains = _proposal(model, v, rng)
    return np.where(np.log(rng.random(v.shape)) < gains, new, v)


def _proposal(model, v, rng):
    """What "gibbs" draws, and each hidden unit's share of the logarithm of its acceptance ratio."""
    x = model.field(v)
    h = model.hidden.draw(x, rng)
    new = model.visible.draw(model.visible_field(h), rng)
    # of g(h; below) to g(h; above), which are one where the slopes are 0
    above, below = (np.maximum(s, TINY) for s in (model.hidden.above, model.hidden.below))
    log_ratio = h**2 * ((1 / above - 1 / below) / 2) - np.log(below / above) / 2
    turned = (model.field(new) <= 0).astype(float) - (x <= 0)
    return new, turned * log_ratio


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


MOVES = {"gibbs": gibbs, "metropolis": metropolis, "blockwise": blockwise}
MOVES |= {"slice": elliptical_slice, "hmc": leaky_hmc}


def exact_draws(rbm, n: int, rng) -> np.ndarray:
    """Independent draws (n, n_visible) of a `LeakyRBM` with few hidden units, by rejection.

    Draws of the Gaussian of slope 1 on both sides are accepted with probability
    ``exp(-(1 - c) / 2 sum of x_j^2)``, over the fields x_j below 0.
    """
    model, span = rbm.reduced()
    mean, precision, _ = normal.gaussian(model)
    root = np.linalg.cholesky(np.linalg.inv(precision))
    kept, found = [], 0
    while found < n:
        u = mean + rng.standard_normal((n, model.n_visible)) @ root.T
        below = np.minimum(model.field(u), 0)
        log_ratio = -(1 - rbm.leakiness) / 2 * (below**2).sum(axis=1)
        kept.append(u[np.log(rng.random(n)) < log_ratio])
        found += len(kept[-1])
    return span(np.concatenate(kept)[:n], rng)


def move_of(name: str, rbm):
    """The move of that name, for this leaky RBM."""
    one_of("kernel", name, MOVES)
    if name == "blockwise" and not normal.has_orthogonal_columns(rbm.weights):
        raise ValueError(
            "kernel is 'blockwise', but the columns of the weights are not orthogonal: expected "
            "'slice' or 'hmc', or 'metropolis' for few hidden units"
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
