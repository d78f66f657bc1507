"""Projection of weights onto those of a proper leaky RBM (Li et al. 2016, eq. 7).

All Gaussian pieces of a leaky RBM are proper if I - W W' is positive definite, that is, if all
singular values of W are below 1. The nearest such matrix in Frobenius norm has the same
singular vectors and its singular values clipped. For W = U S V' and any X with singular values
x_i, von Neumann's inequality <W, X> <= sum_i s_i x_i gives

    |W - X|^2 >= sum_i (s_i - x_i)^2 >= sum_i (s_i - min(s_i, bound))^2,

with equality at X = U min(S, bound) V'. It is the only one: the set is convex.
"""

from __future__ import annotations

import numpy as np
from scipy.linalg import eigh

from .. import checks

LARGEST = 0.9999  # a variance of up to 5,000 along a direction


def refuse_improper(weights, slope: float = 1.0) -> None:
    """I - a W W', a the slope, is positive definite iff I - a W'W is: Cholesky on the smaller."""
    gram = weights.T @ weights if weights.shape[0] >= weights.shape[1] else weights @ weights.T
    try:
        np.linalg.cholesky(np.eye(len(gram)) - (gram if slope == 1 else slope * gram))
    except np.linalg.LinAlgError:
        scales, bound = np.linalg.svd(weights, compute_uv=False), slope**-0.5
        times = "" if slope == 1 else f"{slope:g} "
        raise ValueError(
            f"weights has a largest singular value of {scales[0]:.4g} ({(scales >= bound).sum()} "
            f"of {scales.size} are {bound:.4g} or more), so I - {times}WW' has the eigenvalue "
            f"{1 - slope * scales[0] ** 2:.4g} and is not positive definite: expected singular "
            f"values below {bound:.4g}; project the weights with rl.project_weights(weights)"
        ) from None


def project_weights(weights, largest: float = LARGEST) -> np.ndarray:
    """The nearest weights (n_visible, n_hidden) of singular values up to ``largest``, below 1.

    A leaky RBM with these is proper. They are unchanged if there is nothing to clip, which one
    Cholesky decomposition of ``largest**2 I - W'W`` (or W W', if that is smaller) tells.

    Examples
    --------
    >>> project_weights([[2.0, 0.0], [0.0, 0.5]], largest=0.9)
    array([[0.9, 0. ],
           [0. , 0.5]])
    """
    shape = "(n_visible, n_hidden), one row a visible unit"
    w = checks.array("weights", weights, (None, None), shape, largest=checks.LARGEST)
    bound = checked_largest(largest)
    if w.shape[0] < w.shape[1]:
        return project_weights(w.T, bound).T
    clip = clipping(w.T @ w, bound)
    return w if clip is None else w - (w @ clip.vectors * clip.shrink) @ clip.vectors.T


def checked_largest(largest) -> float:
    meaning = "a singular value above 0 and below 1"
    return checks.number("largest", largest, meaning, above=0, below=1)


class Clipping:
    """The right singular vectors that are clipped, ``W - W V shrink V'`` is the projection."""

    def __init__(self, squares: np.ndarray, vectors: np.ndarray, bound: float):
        self.vectors = vectors
        self.largest = float(np.sqrt(squares.max()))  # singular value before
        self.shrink = 1 - bound / np.sqrt(squares)
        self._excess = squares - bound**2

    def gram(self, gram: np.ndarray) -> np.ndarray:
        """W'W after the projection."""
        return gram - (self.vectors * self._excess) @ self.vectors.T


def clipping(gram: np.ndarray, bound: float) -> Clipping | None:
    """What has to be clipped of a W with this W'W, or None if nothing has."""
    try:
        np.linalg.cholesky(bound**2 * np.eye(len(gram)) - gram)
        return None
    except np.linalg.LinAlgError:
        squares, vectors = eigh(gram, subset_by_value=(bound**2, np.inf))
    return Clipping(squares, vectors, bound) if squares.size else None
