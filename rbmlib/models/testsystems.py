"""Small models with known log Z."""

from __future__ import annotations

import numpy as np

from ..checks import LARGEST, array, count, generator, number
from ..numerics import softplus
from .named import BernoulliRBM, LeakyRBM

__all__ = ["orthogonal_leaky_rbm", "random_rbm", "two_gaussians", "two_mode_rbm"]


def random_rbm(n_visible: int, n_hidden: int, *, coupling: float = 1.0, rng=None) -> BernoulliRBM:
    """Return a model with normally distributed weights and biases.

    The standard deviation is ``coupling / sqrt(n_visible)`` for the weights and 0.5 for the biases.
    """
    rng = generator(rng)
    coupling = number("coupling", coupling, "a number, 0 or more", least=0)
    shape = (count("n_visible", n_visible), count("n_hidden", n_hidden))
    weights = rng.normal(scale=coupling / np.sqrt(shape[0]), size=shape)
    visible_bias, hidden_bias = (rng.normal(scale=0.5, size=n) for n in shape)
    return BernoulliRBM(weights, visible_bias, hidden_bias)


def two_mode_rbm(
    n_visible: int, *, strength: float = 2.0, tilt: float = 0.0
) -> tuple[BernoulliRBM, float]:
    """Return a model with a broad and a narrow mode, and its log Z.

    A single hidden unit switches between the modes. When it is off, each visible unit is 1 with
    probability 1/2; when it is on, with odds ``exp(strength)``. ``tilt`` is the log of the mass of
    the narrow mode relative to the broad one. Annealing from a uniform base finds the narrow mode
    late, so a wrong estimate can have a large effective sample size.
    """
    n = count("n_visible", n_visible)
    strength, tilt = number("strength", strength, "a number"), number("tilt", tilt, "a number")
    off = n * np.log(2.0)
    on = n * softplus(strength)
    rbm = BernoulliRBM(np.full((n, 1), strength), np.zeros(n), [off - on + tilt])
    return rbm, float(np.logaddexp(off, off + tilt))


def two_gaussians(d: int = 10, distance: float = 5.0, variance: float = 0.5) -> GaussianMixture:
    """Return a mixture of two Gaussians, ``distance`` apart in the first dimension.

    The defaults are the target of Carlson et al. (2016, appendix E.1), who use the base N(0, 30 I).
    """
    d = count("d", d)
    distance = number("distance", distance, "a number, 0 or more", least=0)
    means = np.zeros((2, d))
    means[:, 0] = -distance / 2, distance / 2
    return GaussianMixture(means, variance)


def orthogonal_leaky_rbm(
    n_visible: int, n_hidden: int, *, norm: float = 0.9, leakiness: float = 0.01, rng=0
) -> LeakyRBM:
    """Return a leaky model with random orthogonal columns of length ``norm`` and zero biases.

    `LeakyRBM.exact_log_z` gives its log Z (Li et al. 2016, section 4.1).
    """
    n_visible, n_hidden = count("n_visible", n_visible), count("n_hidden", n_hidden)
    if n_hidden > n_visible:
        raise ValueError(f"n_hidden is {n_hidden}: expected at most n_visible, {n_visible}")
    norm = number("norm", norm, "the length of the columns, at least 0, below 1", least=0, below=1)
    columns = generator(rng).standard_normal((n_visible, n_hidden))
    return LeakyRBM(norm * np.linalg.qr(columns)[0], leakiness=leakiness)


class GaussianMixture:
    """A mixture of n Gaussians of equal variance: a continuous target with known log Z.

    ``log p*(x) = log sum_i exp(-|x - means_i|^2 / (2 variance))`` with means (n, d), and
    ``log Z = log n + d/2 log(2 pi variance)``.

    Examples
    --------
    >>> mixture = GaussianMixture([[-2.5, 0.0], [2.5, 0.0]], variance=0.5)
    >>> round(mixture.log_z, 4)  # log(2 pi)
    1.8379
    """

    def __init__(self, means, variance: float):
        self.means = array("means", means, (None, None), "(n, d)", largest=LARGEST)
        meaning = "a positive number, 1e-100 to 1e100"  # squares are divided by it
        self.variance = number("variance", variance, meaning, least=1e-100, most=1e100)
        self.n_visible = self.means.shape[1]
        of_each = self.n_visible / 2 * np.log(2 * np.pi * self.variance)
        self.log_z = float(np.log(len(self.means)) + of_each)

    def __repr__(self) -> str:
        n, d = self.means.shape
        return f"GaussianMixture(n_components={n}, d={d}, variance={self.variance})"

    def _logits(self, x):
        squares = (self.means**2).sum(axis=1) / (2 * self.variance)
        return x @ (self.means.T / self.variance) - squares

    def log_density(self, x) -> np.ndarray:
        """Return log p*(x) of states (n_states, d): (n_states,)."""
        logits = self._logits(x)
        top = logits.max(axis=1)  # for few terms SciPy's logsumexp is several times slower
        mixed = top + np.log(np.exp(logits - top[:, None]).sum(axis=1))
        return mixed - (x**2).sum(axis=1) / (2 * self.variance)

    def gradient(self, x) -> np.ndarray:
        """Return the gradient of log p* with respect to x, (n_states, d)."""
        logits = self._logits(x)
        share = np.exp(logits - logits.max(axis=1, keepdims=True))
        share /= share.sum(axis=1, keepdims=True)
        return (share @ self.means - x) / self.variance

    def sample(self, n_states: int, rng=None) -> np.ndarray:
        """Return independent draws (n_states, d)."""
        rng, n = generator(rng), len(self.means)
        which = rng.choice(n, size=n_states, p=np.full(n, 1 / n))
        noise = rng.normal(scale=np.sqrt(self.variance), size=(n_states, self.n_visible))
        return self.means[which] + noise
