"""Moves: what leaves a model invariant. ``move(model, v, rng)``; a path picks one."""

import numpy as np

SHRINKS = 40  # of a bracket at most: then a chain stays where it is


def gibbs(model, v, rng):
    """Block Gibbs sampling, of layers that have conditionals (`Layer.conditional`)."""
    return model.gibbs(v, rng)


def elliptical_slice(model, v, rng):
    """Elliptical slice sampling (Murray, Adams & MacKay 2010) of a leaky model, reduced.

    The prior is the Gaussian of slope ``above`` on both sides of zero, whose precision is diagonal
    there; what is left, ``-(above - below) x^2 / 2`` where x <= 0, is the likelihood. Where it is
    for each angle of the ellipse takes fields of its two axes only.
    """
    w, hidden, n = model.weights, model.hidden, len(v)
    above, below = (np.broadcast_to(a, (n, 1)) for a in (hidden.above, hidden.below))
    precision = 1 - above * np.einsum("ij,ij->i", w, w)
    mean, sd = (model.visible.bias + above * (w @ hidden.bias)) / precision, precision**-0.5
    one, two = v - mean, sd * rng.standard_normal(v.shape)
    centre, along_one, along_two = mean @ w + hidden.bias, one @ w, two @ w

    def log_likelihood(chains, angle):
        cos, sin = np.cos(angle)[:, None], np.sin(angle)[:, None]
        x = np.minimum(centre[chains] + cos * along_one[chains] + sin * along_two[chains], 0.0)
        return -(above - below)[chains, 0] * np.einsum("nj,nj->n", x, x) / 2

    uniforms, todo = rng.random((n, SHRINKS + 1)), np.arange(n)
    floor = np.log(uniforms[:, 0]) + log_likelihood(todo, np.zeros(n))
    low, angle = -2 * np.pi * uniforms[:, 1], 2 * np.pi * (1 - uniforms[:, 1])
    high = angle.copy()
    for draws in uniforms.T[2:]:
        todo = todo[log_likelihood(todo, angle[todo]) <= floor[todo]]
        if not todo.size:
            break
        new = angle[todo]
        low[todo], high[todo] = (
            np.where(new < 0, new, low[todo]),
            np.where(new < 0, high[todo], new),
        )
        angle[todo] = low[todo] + (high[todo] - low[todo]) * draws[todo]
    angle[todo] = 0.0
    return mean + np.cos(angle)[:, None] * one + np.sin(angle)[:, None] * two
