"""Gaussian visible and leaky-ReLU hidden units (Li et al. 2016)."""

from __future__ import annotations

import numpy as np
from scipy.special import log_ndtr, ndtri_exp

from .._numerics import LOG_2PI, expit, logsumexp
from .._validation import count, generator, number, source_of_random
from .gaussian_visible import _GaussianVisible

MAX_TRIES = 10_000  # draws of the Gaussian for one exact draw


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

    mark = "leakiness"
    numbers = ("log_scale", "leakiness")

    def __init__(
        self, weights, visible_bias=None, hidden_bias=None, *, leakiness: float = 0.01,
        log_scale: float = 0.0,
    ):  # fmt: skip
        super().__init__(weights, visible_bias, hidden_bias, log_scale=log_scale)
        self.leakiness = checked_leakiness(leakiness)
        _check_positive_definite(self.weights)

    def __repr__(self) -> str:
        return (
            f"LeakyRBM(n_visible={self.n_visible}, n_hidden={self.n_hidden}, "
            f"leakiness={self.leakiness:g})"
        )

    def with_leakiness(self, leakiness: float) -> LeakyRBM:
        """The same weights and biases with another leakiness."""
        return self._with(leakiness=checked_leakiness(leakiness))

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


def checked_leakiness(value) -> float:
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
