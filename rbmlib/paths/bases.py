"""Bases: models of no weights from which a path starts."""

import numpy as np

from .. import checks
from ..models.layers import Normal
from ..models.rbm import RBM


def base_of(rbm, base):
    """The model of no weights that ``base`` says."""
    if isinstance(base, RBM):
        return base
    own = rbm.visible.bias if isinstance(rbm.visible, Normal) else np.zeros(len(rbm.visible))
    bias = (
        own
        if isinstance(base, str)
        else checks.array(
            "base", base, own.shape, f"visible biases {own.shape}, such as base_rate(data)"
        )
    )
    visible, hidden = rbm.visible.with_(bias=bias), rbm.hidden.with_(bias=np.zeros(len(rbm.hidden)))
    return RBM(visible, hidden, np.zeros_like(rbm.weights))


def base_rate(data, smoothing=0.05):
    """Visible biases of the independent model of the mean of ``data``, smoothed."""
    p = (np.mean(data, axis=0, dtype=float) + smoothing) / (1 + 2 * smoothing)
    return np.log(p) - np.log1p(-p)
