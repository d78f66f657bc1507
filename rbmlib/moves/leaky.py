"""Transitions of a leaky RBM with scaled fields: eta = t (u W + a), leakiness c.

Every kernel takes ``(model, u, c, t, rng)``: a `LeakyRBM` whose rows of weights are orthogonal
(`reduced`), states u (n_chains, n_visible), and c and t, numbers or columns (n_chains, 1), and
returns the states moved. The model's own leakiness is not used.

* "gibbs" is the sampler of Li et al. (2016), which leaves something near the model invariant.
* "metropolis" makes it exact. As a function of u, for given h, the joint density is proportional
  to ``N(u; b + t W h, I) prod_j g(h_j; alpha_j(u))``, with
  ``g(h; alpha) = exp(-h^2 / 2 alpha) / sqrt(alpha)`` and alpha_j = 1 where eta_j > 0, c elsewhere.
  So a proposal u' from the Gaussian is accepted with probability
  ``min(1, prod_j g(h_j; alpha_j(u')) / g(h_j; alpha_j(u)))``. All units at once: for few units.
* "blockwise" does so direction by direction, where the weights are diagonal and the product
  falls apart: any number of units.
* "slice" is elliptical slice sampling (Murray, Adams & MacKay 2010) with the Gaussian of c = 1 as
  prior and likelihood ``exp(-(1 - c) / 2 sum of eta_j^2 over eta_j <= 0)``: nothing to tune.
* "hmc" is Hamiltonian Monte Carlo on log p*(u), which is differentiable once: the choice for many
  units, where a slice moves by small angles only.
"""

from __future__ import annotations

import numpy as np

from ..models.leaky import LeakyRBM
from .hmc import hmc
from .slice import slice_angle

LONGEST = 8.0  # trajectory of "hmc"


def fields(model: LeakyRBM, u, t) -> np.ndarray:
    return t * (u @ model.weights + model.hidden_bias)


def negative_squares(eta) -> np.ndarray:
    """Sum of eta_j^2 / 2 over eta_j <= 0: (n_chains,)."""
    low = np.minimum(eta, 0.0)
    return np.einsum("nj,nj->n", low, low) / 2


def gibbs(model: LeakyRBM, u, c, t, rng) -> np.ndarray:
    return _proposal(model, _hidden(fields(model, u, t), c, rng), t, rng)


def metropolis(model: LeakyRBM, u, c, t, rng) -> np.ndarray:
    new, gains = _move(model, u, c, t, rng)
    accepted = np.log(rng.random((len(u), 1))) < gains.sum(axis=1, keepdims=True)
    return np.where(accepted, new, u)


def blockwise(model: LeakyRBM, u, c, t, rng) -> np.ndarray:
    new, gains = _move(model, u, c, t, rng)
    return np.where(np.log(rng.random(u.shape)) < gains, new, u)


def _hidden(eta, c, rng) -> np.ndarray:
    """h given u."""
    alpha = np.where(eta > 0, 1.0, c)
    return alpha * eta + np.sqrt(alpha) * rng.standard_normal(eta.shape)


def _proposal(model, hidden, t, rng) -> np.ndarray:
    """N(b + t W h, I)."""
    mean = model.visible_bias + t * (hidden @ model.weights.T)
    return mean + rng.standard_normal(mean.shape)


def _move(model, u, c, t, rng) -> tuple[np.ndarray, np.ndarray]:
    """A proposal, and each hidden unit's share of the logarithm of its acceptance ratio."""
    eta = fields(model, u, t)
    hidden = _hidden(eta, c, rng)
    new = _proposal(model, hidden, t, rng)
    log_ratio = hidden**2 * ((1 - 1 / c) / 2) - np.log(c) / 2  # of g(h; c) to g(h; 1)
    turned = (fields(model, new, t) <= 0).astype(float) - (eta <= 0)
    return new, turned * log_ratio


def gaussian(model: LeakyRBM, t) -> tuple[np.ndarray, np.ndarray]:
    """Mean and standard deviation of each direction of u at c = 1; t a number or a column."""
    w = model.weights
    precision = 1 - t**2 * np.einsum("ij,ij->i", w, w)
    return (model.visible_bias + t**2 * (w @ model.hidden_bias)) / precision, precision**-0.5


def slice_sampling(model: LeakyRBM, u, c, t, rng) -> np.ndarray:
    mean, sd = gaussian(model, t)
    x, y = u - mean, sd * rng.standard_normal(u.shape)
    centre = fields(model, mean, t)
    eta_x, eta_y = (t * (z @ model.weights) for z in (x, y))
    c = np.broadcast_to(c, (len(u), 1))[:, 0]

    def log_likelihood(chains, angle):
        cos, sin = np.cos(angle)[:, None], np.sin(angle)[:, None]
        at = centre[chains] if centre.ndim == 2 else centre
        eta = at + cos * eta_x[chains] + sin * eta_y[chains]
        return -(1 - c[chains]) * negative_squares(eta)

    def bracket(share):
        return -2 * np.pi * share, 2 * np.pi * (1 - share)

    angle = slice_angle(log_likelihood, bracket, len(u), rng)
    return mean + np.cos(angle)[:, None] * x + np.sin(angle)[:, None] * y


def hmc_step(model: LeakyRBM, u, c, t, rng) -> np.ndarray:
    """Steps that shrink as the fourth root of the dimension, as far as the widest direction asks.

    No direction is narrower than 1 or wider than the Gaussian of c = 1 and t = 1.
    """
    step = 1.2 / u.shape[1] ** 0.25
    length = min(0.9 * gaussian(model, 1.0)[1].max(), LONGEST)
    w, b = model.weights, model.visible_bias
    column = np.broadcast_to(c, (len(u), 1))[:, 0]

    def log_density(x):
        eta = fields(model, x, t)
        whole = np.einsum("nj,nj->n", eta, eta) / 2 - (1 - column) * negative_squares(eta)
        return x @ b - np.einsum("ni,ni->n", x, x) / 2 + whole

    def gradient(x):
        eta = fields(model, x, t)
        return b - x + t * (np.where(eta > 0, eta, c * eta) @ w.T)

    return hmc(log_density, gradient, u, step, int(np.ceil(length / step)), rng).x


KERNELS = {
    "gibbs": gibbs,
    "metropolis": metropolis,
    "blockwise": blockwise,
    "slice": slice_sampling,
    "hmc": hmc_step,
}
