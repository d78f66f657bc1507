"""Moves: what leaves a model invariant, ``move(model, v, rng)``; a path picks one.

`gibbs` is for layers that have conditionals (`Layer.conditional`); of leaky models it is the
sampler of Li et al. (2016), which leaves something near the model invariant. `leaky_hmc` is exact
for models of `Gaussian` and `LeakyReLU` units whose rows of weights are orthogonal
(`RBM.reduced`), with slopes of the fields above 0 and below it, which may be one a chain,
(n_chains, 1).
"""

from functools import partial

import numpy as np

from ..models.rbm import gradient, log_density
from .hmc import hmc

LONGEST = 8.0  # trajectory of "hmc"
TINY = 1e-300


def gibbs(model, v, rng):
    """Hidden units given visible ones, and visible ones given these."""
    return model.gibbs(v, rng)


def gaussian(model) -> tuple[np.ndarray, np.ndarray]:
    """Mean and standard deviation of each direction, with the slope above on both sides."""
    w, above = model.weights, model.hidden.above
    precision = 1 - above * np.einsum("ij,ij->i", w, w)
    return (model.visible.bias + above * (w @ model.hidden.bias)) / precision, precision**-0.5


def leaky_hmc(model, v, rng):
    """Steps that shrink as the fourth root of the dimension, as far as the widest direction asks.

    No direction is narrower than 1 or wider than the Gaussian of slope 1 on both sides.
    """
    w, of = model.weights, (partial(log_density, model), partial(gradient, model))
    narrowest = np.maximum(1 - np.einsum("ij,ij->i", w, w), TINY).min()
    step, length = 1.2 / v.shape[1] ** 0.25, min(0.9 * narrowest**-0.5, LONGEST)
    return hmc(*of, v, step, int(np.ceil(length / step)), rng).x


LEAKY = {"gibbs": gibbs, "hmc": leaky_hmc}
