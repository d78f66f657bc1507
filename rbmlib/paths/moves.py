"""Transitions ``move(model, v, rng)`` for paths.

`RBM.gibbs` leaves a model invariant if its layers have conditionals (`Layer.conditional`). For
leaky models it is the sampler of Li et al. (2016), whose stationary distribution only approximates
the model. `leaky_hmc` is exact for models of `Gaussian` and `LeakyReLU` units whose weights have
orthogonal rows (`RBM.reduced`); the slopes may differ between chains, (n_chains, 1).
"""

from functools import partial

import numpy as np

from ..models.rbm import RBM, gradient, log_density
from .hmc import hmc

LONGEST = 8.0  # length of the longest trajectory of "hmc"
TINY = 1e-300


def leaky_hmc(model, v, rng):
    """Make an HMC step whose trajectory is long enough for the widest direction.

    The step size falls as the fourth root of the dimension. No direction has a standard deviation
    below 1 or above that of the Gaussian with slope 1 on both sides.
    """
    w, of = model.weights, (partial(log_density, model), partial(gradient, model))
    narrowest = np.maximum(1 - np.einsum("ij,ij->i", w, w), TINY).min()
    step, length = 1.2 / v.shape[1] ** 0.25, min(0.9 * narrowest**-0.5, LONGEST)
    return hmc(*of, v, step, int(np.ceil(length / step)), rng).x


LEAKY = {"gibbs": RBM.gibbs, "hmc": leaky_hmc}
