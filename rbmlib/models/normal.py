"""Models with Gaussian visible units: proper weights, reduction to a span, and exact results.

The hidden units depend on v only through its projection on the span of the columns of W. Let U be
an orthonormal basis of the span and v = U u + r with r orthogonal to it. The fields v W + a depend
on u alone, and

    log p*(v) = [U'b u - |u|^2 / 2 + hidden.cumulant(v W + a)] + [b r - |r|^2 / 2].

So u follows a model of the same kind with rank(W) visible units and weights U'W, and r is an
independent Gaussian N(b, I) on the other dimensions. Log Z and the distribution of the hidden units
are unchanged. If the columns of W are orthogonal, the density of u is a product over directions.
"""

import numpy as np
from scipy.special import log_ndtr, ndtri_exp

from .. import checks
from ..numerics import LOG_2PI, expit, is_positive_definite, logsumexp
from .layers import Gaussian, LeakyReLU

LARGEST = 0.9999  # singular value; the variance along a direction is then at most 5,000
ORTHOGONAL = 1e-10  # columns with a smaller cosine count as orthogonal

# proper weights -----------------------------------------------------------------------------


def refuse_improper(weights, visible=1.0, hidden=1.0) -> None:
    """Raise ValueError unless I - M M' is positive definite, with M = visible^1/2 W hidden^1/2.

    ``visible`` and ``hidden`` are `Layer.growth` of the two layers. The condition makes log p* fall
    in every direction; if units grow less on one side, it is stricter than Z requires.
    """
    root = np.sqrt(np.reshape(visible, (-1, 1)) * hidden)
    m = weights * root
    gram = m.T @ m if m.shape[0] >= m.shape[1] else m @ m.T
    if is_positive_definite(np.eye(len(gram)) - gram):
        return
    scales, what, bound, form = np.linalg.svd(m, compute_uv=False), "weights", 1.0, "I - WW'"
    if np.ptp(root):
        what, form = "weights times the units' largest standard deviations", "I less its square"
    elif (slope := root[0, 0] ** 2) != 1:
        bound, form = slope**-0.5, f"I - {slope:g} WW'"
    raise ValueError(
        f"{what} has a largest singular value of {bound * scales[0]:.4g} ({(scales >= 1).sum()}"
        f" of {scales.size} are {bound:.4g} or more), so {form} has the eigenvalue "
        f"{1 - scales[0] ** 2:.4g} and is not positive definite: expected singular "
        f"values below {bound:.4g}; project the weights with rl.project_weights(weights)"
    )


def project_weights(weights, largest: float = LARGEST) -> np.ndarray:
    """Return the nearest weights (n_visible, n_hidden) with singular values of at most ``largest``.

    A leaky RBM with these weights is proper if ``largest`` is below 1 (Li et al. 2016, eq. 7). For
    W = U S V' and any X with singular values x_i, von Neumann's inequality
    <W, X> <= sum_i s_i x_i gives ``|W - X|^2 >= sum_i (s_i - x_i)^2``, so U min(S, largest) V' is
    nearest. It is unique because the set is convex.

    Examples
    --------
    >>> import rbmlib as rl
    >>> rl.project_weights([[2.0, 0.0], [0.0, 0.5]], largest=0.9)
    array([[0.9, 0. ],
           [0. , 0.5]])
    """
    shape = "(n_visible, n_hidden), one row per visible unit"
    w = checks.array("weights", weights, (None, None), shape, largest=checks.LARGEST)
    meaning = "a singular value above 0 and below 1"
    bound = checks.number("largest", largest, meaning, above=0, below=1)
    left, scales, right = np.linalg.svd(w, full_matrices=False)
    return left * np.minimum(scales, bound) @ right if scales.max(initial=0.0) > bound else w


# the span of the weights --------------------------------------------------------------------


def has_orthogonal_columns(weights) -> bool:
    """Return whether the columns of W are nonzero and orthogonal to within 1e-10."""
    gram = weights.T @ weights
    norms = np.sqrt(np.diag(gram))
    off = np.abs(gram - np.diag(np.diag(gram)))
    return bool(norms.all() and (off <= ORTHOGONAL * np.outer(norms, norms)).all())


class Span:
    """Map between visible states v and coordinates u; ``span(u, rng)`` returns visible states.

    ``basis`` (n_visible, rank) has orthonormal columns; ``visible_bias`` is that of the full model.
    """

    def __init__(self, basis: np.ndarray, visible_bias: np.ndarray):
        self.basis, self.visible_bias = basis, visible_bias

    def coordinates(self, visible) -> np.ndarray:
        """Return the coordinates (n_states, rank) of visible states."""
        n = len(self.basis)
        meaning = f"(n_states, {n}), one column per unit of the model"
        return checks.array("visible", visible, (None, n), meaning) @ self.basis

    def __call__(self, coordinates, rng=None) -> np.ndarray:
        """Return visible states (n_states, n_visible), with r drawn from its Gaussian."""
        u = np.asarray(coordinates, float)
        normals = checks.source_of_random(rng).standard_normal((len(u), len(self.basis)))
        rest = self.visible_bias + normals
        return u @ self.basis.T + rest - (rest @ self.basis) @ self.basis.T


def reduced(rbm):
    """Return the model on the span of its weights, and the `Span`; see the top of this file.

    The new weights have orthogonal rows: they are S V' of the singular value decomposition
    W = U S V'. If the columns of W are orthogonal, the new weights are diagonal.
    """
    if not isinstance(rbm.visible, Gaussian):
        raise TypeError(f"{rbm!r} has no reduced form: expected Gaussian visible units")
    if has_orthogonal_columns(rbm.weights):
        norms = np.linalg.norm(rbm.weights, axis=0)
        basis, weights = rbm.weights / norms, np.diag(norms)
    else:
        basis, scales, rows = np.linalg.svd(rbm.weights, full_matrices=False)
        tiny = scales[0] * max(rbm.weights.shape) * np.finfo(float).eps
        rank = max(1, int((scales > tiny).sum()))
        basis, weights = basis[:, :rank], scales[:rank, None] * rows[:rank]
    b = rbm.visible_bias
    visible = rbm.visible.with_(bias=b @ basis)
    scale = (len(b) - len(visible)) / 2 * LOG_2PI + (b @ b - visible.bias @ visible.bias) / 2
    scale = rbm.log_scale + float(scale)
    return rbm.with_(visible=visible, weights=weights, log_scale=scale), Span(basis, b)


# log Z and draws ----------------------------------------------------------------------------


def is_gaussian(rbm) -> bool:
    """Return whether the visible units have a joint Gaussian distribution."""
    if not isinstance(rbm.visible, Gaussian):
        return False
    leaky = isinstance(rbm.hidden, LeakyReLU) and np.all(rbm.hidden.above == rbm.hidden.below)
    return bool(leaky or isinstance(rbm.hidden, Gaussian))


def gaussian(rbm) -> tuple[np.ndarray, np.ndarray, float]:
    """Return mean, precision I - c W W' and log Z, for the larger slope c on both sides."""
    w, b, a, slope = rbm.weights, rbm.visible_bias, rbm.hidden_bias, rbm.hidden.growth
    precision = np.eye(len(w)) - slope * (w @ w.T)
    pull = b + slope * (w @ a)
    mean = np.linalg.solve(precision, pull)
    log_det = np.linalg.slogdet(precision)[1]
    n = len(w) + (isinstance(rbm.hidden, Gaussian) and len(a))
    log_z = (n * LOG_2PI - log_det + pull @ mean + slope * (a @ a)) / 2 + rbm.log_scale
    return mean, precision, float(log_z)


def gaussian_draws(rbm, n: int, rng) -> np.ndarray:
    """Return independent draws (n, n_visible) from that Gaussian."""
    mean, precision, _ = gaussian(rbm)
    root = np.linalg.cholesky(precision)
    return mean + np.linalg.solve(root.T, rng.standard_normal((n, len(mean))).T).T


def exact_log_z(rbm) -> float:
    """Return log Z of a leaky model that is a single Gaussian or has orthogonal columns.

    With orthogonal columns, Z is a product of one-dimensional integrals. For zero biases, columns
    of norm s and leakiness c, log Z is (Li et al. 2016, section 4.1, with the sign of the exponent
    of 2 pi corrected)
    ``n_visible/2 log 2 pi + n_hidden log([(1 - s^2)^-1/2 + (1 - c s^2)^-1/2] / 2)``.
    """
    silent = ~rbm.weights.any(axis=0)  # hidden units without weights
    if silent.any() and not silent.all():
        own, weights = rbm.hidden._only(silent), rbm.weights[:, ~silent]
        rest = rbm.with_(hidden=rbm.hidden._only(~silent), weights=weights)
        return exact_log_z(rest) + float(own.cumulant(own.bias[None])[0])
    if has_orthogonal_columns(rbm.weights):
        model, _ = rbm.reduced()
        return float(logsumexp(pieces(model)[0], axis=0).sum() + model.log_scale)
    if rbm.log_z is None:
        remedy = "log Z is not known exactly; use rl.ais(rl.LeakinessPath(rbm), ...)"
        raise ValueError(f"weights has columns that are not orthogonal: {remedy}")
    return rbm.log_z


def exact_draws(rbm, n: int, rng) -> np.ndarray:
    """Return independent exact draws (n, n_visible) from a leaky model.

    If the columns are orthogonal, each direction is drawn from its two truncated Gaussians.
    """
    if has_orthogonal_columns(rbm.weights):
        model, span = rbm.reduced()
        log_mass, mean, sd, end = pieces(model)
        above = rng.random((n, model.n_hidden)) < expit(log_mass[1] - log_mass[0])
        mean, sd = (np.where(above, x[1], x[0]) for x in (mean, sd))
        side = np.where(above, -1.0, 1.0)
        # inverse of the log distribution function, at a uniform share of the mass of the tail
        log_share = np.log(rng.random(above.shape)) + log_ndtr(side * (end - mean) / sd)
        return span(mean + side * sd * ndtri_exp(log_share), rng)
    if rbm.log_z is None:
        remedy = "exact samples are not known; use rl.reverse_ais with start='chains'"
        raise ValueError(f"weights has columns that are not orthogonal: {remedy}")
    return rbm.draw(n, rng)


def pieces(model):
    """Return log mass, mean and sd (2, n_hidden) of each direction u_j for x <= 0 and x > 0.

    The last item is the end (n_hidden,), u = -a / s, at which the two pieces meet. For slope c,
    log p*(u) = (b + c s a) u - (1 - c s^2) u^2 / 2 + c a^2 / 2.
    """
    s, a, b = np.diag(model.weights), model.hidden_bias, model.visible_bias
    slope = np.array([[model.hidden.below], [model.hidden.above]])
    precision = 1 - slope * s**2
    mean, sd = (b + slope * s * a) / precision, precision**-0.5
    end = -a / s
    side = np.array([[1.0], [-1.0]])
    log_mass = (LOG_2PI - np.log(precision) + precision * mean**2 + slope * a**2) / 2
    return log_mass + log_ndtr(side * (end - mean) / sd), mean, sd, end
