"""What is known exactly of leaky models: log Z and draws (Li et al. 2016).

The density of v is a piece of a Gaussian in each region that the planes x_j = 0 cut: `LeakyRBM`.
"""

from __future__ import annotations

import numpy as np
from scipy.special import log_ndtr, ndtri_exp

from ..numerics import LOG_2PI, expit, logsumexp
from .layers import Leaky, Normal

MAX_TRIES = 10_000  # draws of the Gaussian for one exact draw
ORTHOGONAL = 1e-10  # largest cosine of columns that count as orthogonal


def has_orthogonal_columns(weights) -> bool:
    """Whether the columns of W are orthogonal, to 1e-10, and none is zero."""
    gram = weights.T @ weights
    norms = np.sqrt(np.diag(gram))
    off = np.abs(gram - np.diag(np.diag(gram)))
    return bool(norms.all() and (off <= ORTHOGONAL * np.outer(norms, norms)).all())


def is_gaussian(rbm) -> bool:
    """Whether all visible units are one Gaussian."""
    if not isinstance(rbm.visible, Normal):
        return False
    leaky = isinstance(rbm.hidden, Leaky) and np.all(rbm.hidden.above == rbm.hidden.below)
    return bool(leaky or isinstance(rbm.hidden, Normal))


def gaussian(rbm) -> tuple[np.ndarray, np.ndarray, float]:
    """Mean, precision I - c W W' and log Z of the model with slope c = `above` on both sides."""
    w, b, a = rbm.weights, rbm.visible_bias, rbm.hidden_bias
    slope = getattr(rbm.hidden, "above", 1.0)
    precision = np.eye(len(w)) - slope * (w @ w.T)
    pull = b + slope * (w @ a)
    mean = np.linalg.solve(precision, pull)
    log_det = np.linalg.slogdet(precision)[1]
    n = len(w) + (isinstance(rbm.hidden, Normal) and len(a))
    log_z = (n * LOG_2PI - log_det + pull @ mean + slope * (a @ a)) / 2 + rbm.log_scale
    return mean, precision, float(log_z)


def gaussian_draws(rbm, n: int, rng) -> np.ndarray:
    """Independent draws of that Gaussian (n, n_visible)."""
    mean, precision, _ = gaussian(rbm)
    root = np.linalg.cholesky(precision)
    return mean + np.linalg.solve(root.T, rng.standard_normal((n, len(mean))).T).T


def exact_log_z(rbm) -> float:
    """log Z, if it is one Gaussian or the columns of W are orthogonal: then it is a product of
    integrals in one dimension.

    Without biases and with columns of norm s it is, for the leakiness c (Li et al. 2016, section
    4.1, sign of the exponent of 2 pi corrected),
    ``n_visible/2 log 2 pi + n_hidden log([(1 - s^2)^-1/2 + (1 - c s^2)^-1/2] / 2)``.
    """
    if has_orthogonal_columns(rbm.weights):
        model, _ = rbm.reduced()
        return float(logsumexp(pieces(model)[0], axis=0).sum() + model.log_scale)
    if rbm.log_z is None:
        raise ValueError(
            "weights has columns that are not orthogonal: log Z is not known exactly; expected "
            "W'W diagonal, otherwise use rl.ais(rl.LeakinessPath(rbm), ...)"
        )
    return rbm.log_z


def exact_draws(rbm, n: int, rng) -> np.ndarray:
    """Independent exact draws (n, n_visible).

    With orthogonal columns each direction is drawn from its two pieces of a Gaussian; otherwise
    draws of the Gaussian with slope `above` on both sides are accepted with probability
    ``exp(-(above - below)/2 sum of x_j^2 over x_j <= 0)``, which is feasible with few hidden units:
    ValueError if fewer than one in 10,000 are accepted.
    """
    model, span = rbm.reduced()
    draw = _diagonal_draws if has_orthogonal_columns(rbm.weights) else _accepted_draws
    return span(draw(model, n, rng), rng)


def pieces(model):
    """Of each direction u_j, for x <= 0 and x > 0: log mass, mean, sd, end (2, n_hidden).

    log p*(u) = (b + c s a) u - (1 - c s^2) u^2 / 2 + c a^2 / 2 of slope c, cut at u = -a / s.
    """
    s, a, b = np.diag(model.weights), model.hidden_bias, model.visible_bias
    slope = np.array([[model.hidden.below], [model.hidden.above]])
    precision = 1 - slope * s**2
    mean, sd = (b + slope * s * a) / precision, precision**-0.5
    end = -a / s
    side = np.array([[1.0], [-1.0]])
    log_mass = (LOG_2PI - np.log(precision) + precision * mean**2 + slope * a**2) / 2
    return log_mass + log_ndtr(side * (end - mean) / sd), mean, sd, end


def _diagonal_draws(model, n: int, rng) -> np.ndarray:
    log_mass, mean, sd, end = pieces(model)
    above = rng.random((n, model.n_hidden)) < expit(log_mass[1] - log_mass[0])
    mean, sd = (np.where(above, x[1], x[0]) for x in (mean, sd))
    side = np.where(above, -1.0, 1.0)
    # -side * quantile of the tail: log of a uniform share of its mass, inverted
    log_share = np.log(rng.random(above.shape)) + log_ndtr(side * (end - mean) / sd)
    return mean + side * sd * ndtri_exp(log_share)


def _accepted_draws(model, n: int, rng) -> np.ndarray:
    mean, precision, _ = gaussian(model)
    root = np.linalg.cholesky(np.linalg.inv(precision))
    fall = model.hidden.above - model.hidden.below
    kept, tried, found = [], 0, 0
    while found < n:
        u = mean + rng.standard_normal((n, model.n_visible)) @ root.T
        log_ratio = -fall / 2 * (np.minimum(model.field(u), 0) ** 2).sum(axis=1)
        kept.append(u[np.log(rng.random(n)) < log_ratio])
        tried, found = tried + n, found + len(kept[-1])
        if tried >= MAX_TRIES and found < tried / MAX_TRIES:
            raise ValueError(
                f"rbm has {model.n_hidden} hidden units: exact samples by rejection need few "
                f"(one in {MAX_TRIES:,} draws must be accepted); run long chains instead"
            )
    return np.concatenate(kept)[:n]
