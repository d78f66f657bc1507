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

from pathlib import Path
from typing import NamedTuple

import numpy as np
from scipy.special import log_ndtr, ndtri_exp

from .._files import read_npz, rounded, write_npz
from .._numerics import expit, logsumexp, softplus
from .._validation import (
    PARAMETERS,
    count,
    finite_array,
    generator,
    layer,
    number,
    numeric,
    source_of_random,
)

LOG_2PI = np.log(2 * np.pi)
ORTHOGONAL = 1e-10  # largest cosine of columns that count as orthogonal
MAX_TRIES = 10_000  # draws of the Gaussian for one exact draw of a leaky RBM


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


class _GaussianVisible:
    """What the two models share. A subclass has `_hidden_term` and `_hidden_slope` of eta."""

    def __init__(self, weights, visible_bias=None, hidden_bias=None, *, log_scale: float = 0.0):
        shape = "(n_visible, n_hidden), one row a visible unit"
        self.weights = finite_array("weights", weights, (None, None), shape)
        n_visible, n_hidden = self.weights.shape
        if not (n_visible and n_hidden):
            raise ValueError(
                f"weights has shape {self.weights.shape}: expected units in both layers"
            )
        self.visible_bias = _bias("visible_bias", visible_bias, n_visible, self.weights.shape)
        self.hidden_bias = _bias("hidden_bias", hidden_bias, n_hidden, self.weights.shape)
        self.log_scale = float(finite_array("log_scale", log_scale, (), "one number"))

    @property
    def n_visible(self) -> int:
        return self.weights.shape[0]

    @property
    def n_hidden(self) -> int:
        return self.weights.shape[1]

    def _with(self, **parameters):
        """The same model but for some parameters, which are known to be valid."""
        other = object.__new__(type(self))
        other.__dict__.update(self.__dict__, **parameters)
        return other

    def save(self, path, dtype=np.float32) -> None:
        """Write an .npz, in single precision by default; `load`, and ``rl.load_rbm``, read it.

        Raises ValueError if ``dtype`` cannot hold the parameters, or if they are no model once
        they are rounded to it.
        """
        arrays = rounded({name: getattr(self, name) for name in PARAMETERS}, dtype)
        scalars = {
            name: getattr(self, name) for name in ("log_scale", "leakiness") if hasattr(self, name)
        }
        try:
            type(self)(**arrays, **scalars)
        except ValueError as error:
            raise ValueError(
                f"dtype is {np.dtype(dtype)}: rounded to it, {error}; or use dtype=np.float64"
            ) from None
        write_npz(path, arrays | scalars | {"gaussian_visible": True})

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

    def free_energy(self, visible) -> np.ndarray:
        """F(v) = -log p*(v), shape (n_states,)."""
        return -self.log_density(visible)

    def gradient(self, visible) -> np.ndarray:
        """d/dv log p*(v) = b - v + F'(eta) W', shape (n_states, n_visible)."""
        v = _states("visible", visible, self.n_visible)
        return self.visible_bias - v + self._hidden_slope(self.hidden_field(v)) @ self.weights.T

    # conditionals --------------------------------------------------------------------------

    def hidden_field(self, visible) -> np.ndarray:
        """eta = v W + a, shape (n_states, n_hidden)."""
        return layer("visible", visible, self.n_visible) @ self.weights + self.hidden_bias

    def hidden_mean(self, visible) -> np.ndarray:
        """E[h | v] = F'(eta), shape (n_states, n_hidden)."""
        return self._hidden_slope(self.hidden_field(visible))

    def visible_mean(self, hidden) -> np.ndarray:
        """b + h W', shape (n_states, n_visible)."""
        return layer("hidden", hidden, self.n_hidden) @ self.weights.T + self.visible_bias

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

    def __repr__(self) -> str:
        return f"GaussianRBM(n_visible={self.n_visible}, n_hidden={self.n_hidden})"

    def _hidden_term(self, eta) -> np.ndarray:
        return softplus(eta).sum(axis=1)

    def _hidden_slope(self, eta) -> np.ndarray:
        return expit(eta)

    def sample_hidden(self, visible, rng) -> np.ndarray:
        """A draw of h given v."""
        mean = self.hidden_mean(layer("visible", visible, self.n_visible, finite=True))
        return (source_of_random(rng).random(mean.shape) < mean).astype(float)


class LeakyRBM(_GaussianVisible):
    """Gaussian visible units, hidden units with a leaky-ReLU mean (Li et al. 2016).

    Given v, ``h_j ~ N(eta_j, 1)`` where eta_j > 0 and ``N(c eta_j, c)`` elsewhere, c the leakiness.
    The density of v is a piece of a Gaussian in each of the regions that the planes eta_j = 0 cut;
    at c = 1 it is one Gaussian. All are proper if I - W W' is positive definite (theorem 3.1).

    The paper samples v given h from N(b + W h, I). That is not p(v | h) of any model with this
    p(h | v) unless c = 1: the variance of h_j depends on the sign of eta_j(v), and with it the
    constant that normalises p(h | v). So `gibbs` has a stationary law of its own, close to the
    model but not equal to it. `LeakinessPath` offers transitions that are exact.

    Parameters
    ----------
    weights : array (n_visible, n_hidden)
        Of largest singular value below 1.
    visible_bias, hidden_bias : array, optional
        Zero by default.
    leakiness : float
        In (0, 1].
    log_scale : float
        Constant added to every log p*.

    Raises
    ------
    ValueError
        If the largest singular value of W is 1 or more, with its value and the remedy; if the
        leakiness is outside (0, 1].

    Examples
    --------
    >>> rbm = LeakyRBM([[0.8], [0.0]], leakiness=0.1)
    >>> [round(float(x), 4) for x in rbm.log_density([[1.0, 0.0], [-1.0, 0.0]])]
    [-0.18, -0.468]
    """

    def __init__(
        self, weights, visible_bias=None, hidden_bias=None, *, leakiness: float = 0.01,
        log_scale: float = 0.0,
    ):  # fmt: skip
        super().__init__(weights, visible_bias, hidden_bias, log_scale=log_scale)
        self.leakiness = _checked_leakiness(leakiness)
        _check_positive_definite(self.weights)

    def __repr__(self) -> str:
        return (
            f"LeakyRBM(n_visible={self.n_visible}, n_hidden={self.n_hidden}, "
            f"leakiness={self.leakiness:g})"
        )

    def with_leakiness(self, leakiness: float) -> LeakyRBM:
        """The same weights and biases with another leakiness."""
        return self._with(leakiness=_checked_leakiness(leakiness))

    def _hidden_term(self, eta) -> np.ndarray:
        square = eta**2
        return (square.sum(axis=1) - (1 - self.leakiness) * (square * (eta <= 0)).sum(axis=1)) / 2

    def _hidden_slope(self, eta) -> np.ndarray:
        return np.where(eta > 0, eta, self.leakiness * eta)

    def sample_hidden(self, visible, rng) -> np.ndarray:
        """A draw of h given v."""
        eta = self.hidden_field(visible)
        alpha = np.where(eta > 0, 1.0, self.leakiness)
        noise = source_of_random(rng).standard_normal(eta.shape)
        return alpha * eta + np.sqrt(alpha) * noise

    # what is known exactly -------------------------------------------------------------------

    def gaussian(self) -> tuple[np.ndarray, np.ndarray, float]:
        """Mean, precision I - W W' and log Z of the model with leakiness 1."""
        w, a = self.weights, self.hidden_bias
        precision = np.eye(self.n_visible) - w @ w.T
        pull = self.visible_bias + w @ a
        mean = np.linalg.solve(precision, pull)
        log_det = np.linalg.slogdet(precision)[1]
        log_z = (self.n_visible * LOG_2PI - log_det + pull @ mean + a @ a) / 2 + self.log_scale
        return mean, precision, float(log_z)

    def exact_log_z(self) -> float:
        """log Z, if the columns of W are orthogonal: a product of integrals in one dimension.

        Without biases and with columns of norm s it is (Li et al. 2016, section 4.1, sign of
        the exponent of 2 pi corrected)
        ``n_visible/2 log 2 pi + n_hidden log([(1 - s^2)^-1/2 + (1 - c s^2)^-1/2] / 2)``.
        """
        model = self._diagonal()
        return float(logsumexp(model._pieces()[0], axis=0).sum() + model.log_scale)

    def exact_samples(self, n_samples: int, rng=None) -> np.ndarray:
        """Independent exact draws (n_samples, n_visible).

        With orthogonal columns each direction is drawn from its two pieces of a Gaussian;
        otherwise draws of the Gaussian with leakiness 1 are accepted with probability
        ``exp(-(1 - c)/2 sum of eta_j^2 over eta_j <= 0)``, which is feasible with few hidden
        units.

        Raises
        ------
        ValueError
            If fewer than one in 10,000 of these are accepted.
        """
        n_samples, rng = count("n_samples", n_samples), generator(rng)
        reduction = self.reduced()
        if self.has_orthogonal_columns():
            u = reduction.model._diagonal_samples(n_samples, rng)
        else:
            u = reduction.model._rejection_samples(n_samples, rng)
        return reduction.expand(u, rng)

    def _diagonal(self) -> LeakyRBM:
        """On the span of W, where the weights are diagonal."""
        if not self.has_orthogonal_columns():
            raise ValueError(
                "weights has columns that are not orthogonal: log Z is not known exactly; expected "
                "W'W diagonal, otherwise use rl.ais(rl.LeakinessPath(rbm), ...)"
            )
        return self.reduced().model

    def _pieces(self):
        """Of each direction u_j, for eta <= 0 and eta > 0: log mass, mean, sd, end (2, n_hidden).

        log p*(u) = (b + alpha s a) u - (1 - alpha s^2) u^2 / 2 + alpha a^2 / 2, cut at u = -a / s.
        """
        s, a, b = np.diag(self.weights), self.hidden_bias, self.visible_bias
        alpha = np.array([[self.leakiness], [1.0]])
        precision = 1 - alpha * s**2
        mean, sd = (b + alpha * s * a) / precision, precision**-0.5
        end = -a / s
        side = np.array([[1.0], [-1.0]])
        log_mass = (LOG_2PI - np.log(precision) + precision * mean**2 + alpha * a**2) / 2
        return log_mass + log_ndtr(side * (end - mean) / sd), mean, sd, end

    def _diagonal_samples(self, n: int, rng) -> np.ndarray:
        log_mass, mean, sd, end = self._pieces()
        above = rng.random((n, self.n_hidden)) < expit(log_mass[1] - log_mass[0])
        mean, sd = (np.where(above, x[1], x[0]) for x in (mean, sd))
        side = np.where(above, -1.0, 1.0)
        # -side * quantile of the tail: log of a uniform share of its mass, inverted
        log_share = np.log(rng.random(above.shape)) + log_ndtr(side * (end - mean) / sd)
        return mean + side * sd * ndtri_exp(log_share)

    def _rejection_samples(self, n: int, rng) -> np.ndarray:
        mean, precision, _ = self.gaussian()
        root = np.linalg.cholesky(np.linalg.inv(precision))
        kept, tried, found = [], 0, 0
        while found < n:
            u = mean + rng.standard_normal((n, self.n_visible)) @ root.T
            eta = self.hidden_field(u)
            log_ratio = -(1 - self.leakiness) / 2 * (np.minimum(eta, 0) ** 2).sum(axis=1)
            kept.append(u[np.log(rng.random(n)) < log_ratio])
            tried, found = tried + n, found + len(kept[-1])
            if tried >= MAX_TRIES and found < tried / MAX_TRIES:
                raise ValueError(
                    f"rbm has {self.n_hidden} hidden units: exact samples by rejection need few "
                    f"(one in {MAX_TRIES:,} draws must be accepted); run long chains instead"
                )
        return np.concatenate(kept)[:n]


# arguments ----------------------------------------------------------------------------------


def _bias(name: str, value, n: int, shape) -> np.ndarray:
    if value is None:
        return finite_array(name, np.zeros(n), (n,), "")
    hint = f"({n},) (weights is {shape[0]} x {shape[1]}; is it transposed?)"
    return finite_array(name, value, (n,), hint, flatten=True)


def _states(name: str, value, n_units: int) -> np.ndarray:
    """Real states (n_states, n_units); a single state may be one-dimensional."""
    meaning = f"(n_states, {n_units}), one column a unit of the model"
    array = np.atleast_2d(numeric(name, value, meaning)).astype(float, copy=False)
    if array.ndim != 2 or array.shape[1] != n_units:
        raise ValueError(f"{name} has shape {np.shape(value)}: expected {meaning}")
    return array


def load_gaussian_visible(path) -> LeakyRBM | GaussianRBM:
    """The model that `LeakyRBM.save` or `GaussianRBM.save` wrote.

    Raises ValueError if the file holds no such model. Nothing in it is executed (no pickle).
    """
    try:
        arrays = read_npz(path, (*PARAMETERS, "log_scale", "leakiness"))
        weights, *biases = (arrays.pop(name) for name in PARAMETERS)
        scalars = {name: float(value) for name, value in arrays.items()}
    except (KeyError, TypeError, ValueError) as error:
        raise ValueError(
            f"{Path(path).name} holds no model with Gaussian visible units ({error}): expected "
            "an .npz of LeakyRBM.save or GaussianRBM.save"
        ) from None
    kind = LeakyRBM if "leakiness" in scalars else GaussianRBM
    return kind(weights, *biases, **scalars)


def _checked_leakiness(value) -> float:
    return number("leakiness", value, "a number in (0, 1], such as 0.01", above=0, most=1)


def _check_positive_definite(weights: np.ndarray) -> None:
    """I - W W' is positive definite if and only if I - W'W is: Cholesky on the smaller one."""
    gram = weights.T @ weights if weights.shape[0] >= weights.shape[1] else weights @ weights.T
    try:
        np.linalg.cholesky(np.eye(len(gram)) - gram)
    except np.linalg.LinAlgError:
        scales = np.linalg.svd(weights, compute_uv=False)
        raise ValueError(
            f"weights has a largest singular value of {scales[0]:.4g} ({(scales >= 1).sum()} of "
            f"{scales.size} are 1 or more), so I - WW' has the eigenvalue {1 - scales[0] ** 2:.4g} "
            "and is not positive definite: expected singular values below 1; project the weights "
            "with rl.project_weights(weights)"
        ) from None
