"""Gaussian visible and Bernoulli hidden units."""

from __future__ import annotations

import numpy as np

from .._numerics import expit, softplus
from .gaussian_visible import _GaussianVisible


class GaussianRBM(_GaussianVisible):
    """Gaussian visible units of unit variance, hidden units in {0, 1}.

    ``log p*(v, h) = b v - |v|^2 / 2 + (v W + a) h``, so v | h ~ N(b + W h, I): a mixture of
    2**n_hidden Gaussians, proper for any weights. Data are expected to be standardised.

    Parameters
    ----------
    weights : array (n_visible, n_hidden)
    visible_bias, hidden_bias : array, optional
        Zero by default.
    log_scale : float
        Constant added to every log p*.

    Examples
    --------
    >>> rbm = GaussianRBM([[1.0], [0.0]])
    >>> float(rbm.log_density([[1.0, 0.0]])[0].round(4))  # -1/2 + log(1 + e)
    0.8133
    """

    mark = "gaussian_visible"

    def __init__(self, weights, visible_bias=None, hidden_bias=None, *, log_scale: float = 0.0):
        super().__init__(weights, visible_bias, hidden_bias, log_scale=log_scale)

    def _hidden_term(self, eta) -> np.ndarray:
        return softplus(eta).sum(axis=1)

    def _hidden_slope(self, eta) -> np.ndarray:
        return expit(eta)
