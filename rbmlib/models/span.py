"""Models with Normal visible units on the span of their weights: few dimensions for thousands.

Only the span of the columns of W sees the hidden units. With an orthonormal basis U of it and
v = U u + r, r orthogonal to it, the fields v W + a depend on u alone and

    log p*(v) = [U'b u - |u|^2 / 2 + hidden.cumulant(v W + a)] + [b r - |r|^2 / 2]:

u is a model of the same kind with rank(W) visible units and weights U'W, and r an independent
Gaussian N(b, I) on the other dimensions: the same log Z, the same law of the hidden units.
"""

from __future__ import annotations

import numpy as np

from .. import checks
from ..numerics import LOG_2PI
from .layers import Normal
from .leaky import has_orthogonal_columns


class Span:
    """Between visible states and their coordinates; calling it leads back, ``span(u, rng)``.

    ``basis`` (n_visible, rank) has orthonormal columns; ``visible_bias`` is the whole model's.
    """

    def __init__(self, basis: np.ndarray, visible_bias: np.ndarray):
        self.basis, self.visible_bias = basis, visible_bias

    def coordinates(self, visible) -> np.ndarray:
        """u of visible states: (n_states, rank)."""
        n = len(self.basis)
        meaning = f"(n_states, {n}), one column a unit of the model"
        return checks.array("visible", visible, (None, n), meaning) @ self.basis

    def __call__(self, coordinates, rng=None) -> np.ndarray:
        """Visible states (n_states, n_visible): the other dimensions are drawn from N(b, I)."""
        u = np.asarray(coordinates, float)
        normals = checks.source_of_random(rng).standard_normal((len(u), len(self.basis)))
        rest = self.visible_bias + normals
        return u @ self.basis.T + rest - (rest @ self.basis) @ self.basis.T


def reduced(rbm):
    """The model on the span of its weights, and the `Span`; see the top of this file.

    The rows of its weights are orthogonal (they are S V' of the singular value decomposition
    W = U S V'); if the columns of W are orthogonal, its weights are diagonal.
    """
    if not isinstance(rbm.visible, Normal):
        raise TypeError(f"{rbm!r} has no reduced form: expected Normal visible units")
    if has_orthogonal_columns(rbm.weights):
        norms = np.linalg.norm(rbm.weights, axis=0)
        basis, weights = rbm.weights / norms, np.diag(norms)
    else:
        basis, scales, rows = np.linalg.svd(rbm.weights, full_matrices=False)
        tiny = scales[0] * max(rbm.weights.shape) * np.finfo(float).eps
        rank = max(1, int((scales > tiny).sum()))
        basis, weights = basis[:, :rank], scales[:rank, None] * rows[:rank]
    b = rbm.visible_bias
    bias = b @ basis
    scale = (len(b) - len(bias)) / 2 * LOG_2PI + (b @ b - bias @ bias) / 2
    model = rbm.with_(
        visible=rbm.visible.with_(bias=bias),
        weights=weights,
        log_scale=rbm.log_scale + float(scale),
    )
    return model, Span(basis, b)
