"""Models with Gaussian visible units: leaky-ReLU and Bernoulli hidden units.

Both have v | h ~ N(b + W h, I) as their parameters say, and on real vectors v the log-density

    log p*(v) = b v - |v|^2 / 2 + sum_j F(eta_j) + log_scale,    eta = v W + a,

with F = softplus for Bernoulli hidden units, and for leaky ones F(eta) = eta^2 / 2 where eta > 0,
leakiness * eta^2 / 2 elsewhere (Li et al. 2016, eq. 6). W is (n_visible, n_hidden); nats.

Only the span of the columns of W sees the hidden units. With an orthonormal basis U of it and
v = U u + r, r orthogonal to it, eta depends on u alone and

    log p*(v) = [U'b u - |u|^2 / 2 + sum_j F(eta_j)] + [b r - |r|^2 / 2]:

u is a model of the same kind with rank(W) visible units and weights U'W, and r an independent
Gaussian N(b, I) on the other dimensions. `reduced` is this model: the same log Z, the same law
of the hidden units, at the cost of rank(W) dimensions instead of thousands.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from .._numerics import LOG_2PI
from .._validation import numeric, source_of_random
from .base import _RBM
from .files import load_gaussian_visible, save_model

if TYPE_CHECKING:
    from .gaussian import GaussianRBM
    from .leaky import LeakyRBM

ORTHOGONAL = 1e-10  # largest cosine of columns that count as orthogonal


class Reduction(NamedTuple):
    """A model on the span of its weights, and the way back."""

    model: LeakyRBM | GaussianRBM  # rank(W) visible units, rows of weights orthogonal
    basis: np.ndarray  # (n_visible, rank) orthonormal columns
    visible_bias: np.ndarray  # (n_visible,) of the whole model

    def coordinates(self, visible) -> np.ndarray:
        """u of visible states: (n_states, rank)."""
        return np.asarray(visible) @ self.basis

    def expand(self, coordinates, rng=None) -> np.ndarray:
        """Visible states (n_states, n_visible): the other dimensions are drawn from N(b, I)."""
        u = np.asarray(coordinates, float)
        normals = source_of_random(rng).standard_normal((len(u), len(self.basis)))
        other = self.visible_bias + normals
        return u @ self.basis.T + other - (other @ self.basis) @ self.basis.T


class _GaussianVisible(_RBM):
    """What the two models share. A subclass has `_hidden_term` and `_hidden_slope` of eta."""

    _hidden_term: Callable[..., np.ndarray]
    _hidden_slope: Callable[..., np.ndarray]

    flags = ("gaussian_visible",)
    _limits = np.inf, np.inf

    def _bias(self, name: str, value, n: int) -> np.ndarray:
        return super()._bias(name, np.zeros(n) if value is None else value, n)

    def _with(self, **parameters):
        """The same model but for some parameters, which are known to be valid."""
        other = object.__new__(type(self))
        other.__dict__.update(self.__dict__, **parameters)
        return other

    def save(self, path, dtype=np.float32) -> None:
        """As `BernoulliRBM.save`, in single precision by default."""
        save_model(self, path, dtype)

    @classmethod
    def load(cls, path):
        """Read an .npz of `save`. Raises ValueError if it holds another kind of model."""
        model = load_gaussian_visible(path)
        if not isinstance(model, cls):
            raise ValueError(
                f"{Path(path).name} holds a {type(model).__name__}: expected a {cls.__name__}"
            )
        return model

    # densities -----------------------------------------------------------------------------

    def log_density(self, visible) -> np.ndarray:
        """log p*(v), shape (n_states,), of real states (n_states, n_visible)."""
        v = _states("visible", visible, self.n_visible)
        return (
            v @ self.visible_bias
            - np.einsum("ni,ni->n", v, v) / 2
            + self._hidden_term(self.hidden_field(v))
            + self.log_scale
        )

    def gradient(self, visible) -> np.ndarray:
        """d/dv log p*(v) = b - v + F'(eta) W', shape (n_states, n_visible)."""
        v = _states("visible", visible, self.n_visible)
        return self.visible_bias - v + self._hidden_slope(self.hidden_field(v)) @ self.weights.T

    # conditionals --------------------------------------------------------------------------

    def hidden_mean(self, visible) -> np.ndarray:
        """E[h | v] = F'(eta), shape (n_states, n_hidden)."""
        return self._hidden_slope(self.hidden_field(visible))

    def visible_mean(self, hidden) -> np.ndarray:
        """b + h W', shape (n_states, n_visible)."""
        return self.visible_field(hidden)

    def sample_visible(self, hidden, rng) -> np.ndarray:
        """A draw of N(b + W h, I)."""
        mean = self.visible_mean(hidden)
        return mean + source_of_random(rng).standard_normal(mean.shape)

    def gibbs(self, visible, rng) -> np.ndarray:
        """A draw of h given v, then of v given h by `sample_visible`.

        Leaves a `GaussianRBM` invariant. For a `LeakyRBM` it is the sampler of Li et al. (2016),
        which does not: see `LeakyRBM`.
        """
        rng = source_of_random(rng)
        return self.sample_visible(self.sample_hidden(visible, rng), rng)

    # on the span of the weights --------------------------------------------------------------

    def reduced(self) -> Reduction:
        """The model on the span of its weights; see the top of this module.

        The rows of its weights are orthogonal (they are S V' of the singular value
        decomposition W = U S V'); if the columns of W are orthogonal, its weights are diagonal.
        """
        if self.has_orthogonal_columns():
            norms = np.linalg.norm(self.weights, axis=0)
            basis, weights = self.weights / norms, np.diag(norms)
        else:
            basis, scales, rows = np.linalg.svd(self.weights, full_matrices=False)
            tiny = scales[0] * max(self.weights.shape) * np.finfo(float).eps
            rank = max(1, int((scales > tiny).sum()))
            basis, weights = basis[:, :rank], scales[:rank, None] * rows[:rank]
        bias = self.visible_bias @ basis
        left = self.n_visible - basis.shape[1]
        scale = left / 2 * LOG_2PI + (self.visible_bias @ self.visible_bias - bias @ bias) / 2
        model = self._with(
            weights=weights, visible_bias=bias, log_scale=self.log_scale + float(scale)
        )
        return Reduction(model, basis, self.visible_bias)

    def has_orthogonal_columns(self) -> bool:
        """Whether the columns of W are orthogonal, to 1e-10, and none is zero."""
        gram = self.weights.T @ self.weights
        norms = np.sqrt(np.diag(gram))
        off = np.abs(gram - np.diag(np.diag(gram)))
        return bool(norms.all() and (off <= ORTHOGONAL * np.outer(norms, norms)).all())


def _states(name: str, value, n_units: int) -> np.ndarray:
    """Real states (n_states, n_units); a single state may be one-dimensional."""
    meaning = f"(n_states, {n_units}), one column a unit of the model"
    array = np.atleast_2d(numeric(name, value, meaning)).astype(float, copy=False)
    if array.ndim != 2 or array.shape[1] != n_units:
        raise ValueError(f"{name} has shape {np.shape(value)}: expected {meaning}")
    return array
