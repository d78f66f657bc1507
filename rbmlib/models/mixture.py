"""Mixtures of Gaussians."""

from __future__ import annotations

import numpy as np

from .. import checks


class GaussianMixture:
    """Gaussians of one variance, as a continuous target with many modes and a known log Z.

    ``log p*(x) = log sum_i weights_i exp(-|x - means_i|^2 / (2 variance)) + log_scale``, so that
    ``log Z = log sum_i weights_i + d/2 log(2 pi variance) + log_scale``.

    Parameters
    ----------
    means : array (n_components, d)
    variance : float
        Of every component, in every direction.
    weights : array (n_components,), optional
        Positive, in any unit; 1 by default.
    log_scale : float

    Examples
    --------
    >>> mixture = GaussianMixture([[-2.5, 0.0], [2.5, 0.0]], variance=0.5)
    >>> round(mixture.log_z, 4)  # log(2 pi)
    1.8379
    """

    def __init__(self, means, variance: float, weights=None, *, log_scale: float = 0.0):
        meaning = "(n_components, d)"
        self.means = checks.array("means", means, (None, None), meaning, largest=checks.LARGEST)
        n = len(self.means)
        if not self.means.size:
            raise ValueError(f"means has shape {self.means.shape}: expected {meaning}")
        meaning = "a positive number, 1e-100 to 1e100"  # squares are divided by it
        self.variance = checks.number("variance", variance, meaning, least=1e-100, most=1e100)
        weights = np.ones(n) if weights is None else weights
        self.weights = checks.array("weights", weights, (n,), f"({n},), one a component")
        if not (self.weights > 0).all():
            raise ValueError(f"weights go down to {self.weights.min()}: expected positive numbers")
        self.log_scale = float(checks.array("log_scale", log_scale, (), "one number"))
        self._bias = np.log(self.weights) - (self.means**2).sum(axis=1) / (2 * self.variance)

    @property
    def n_visible(self) -> int:
        """Dimensions d."""
        return self.means.shape[1]

    @property
    def log_z(self) -> float:
        """Exact, in nats."""
        gaussian = self.n_visible / 2 * np.log(2 * np.pi * self.variance)
        return float(np.log(self.weights.sum()) + gaussian + self.log_scale)

    def __repr__(self) -> str:
        n, d = self.means.shape
        return f"GaussianMixture(n_components={n}, d={d}, variance={self.variance})"

    def _logits(self, x):
        x = np.atleast_2d(checks.means("x", x, self.n_visible))
        return x, x @ (self.means.T / self.variance) + self._bias

    def log_density(self, x) -> np.ndarray:
        """log p*(x) of states (n_states, d): (n_states,)."""
        x, logits = self._logits(x)
        top = logits.max(axis=1)  # a sum of few terms: SciPy's takes several times as long
        mixed = top + np.log(np.exp(logits - top[:, None]).sum(axis=1))
        return mixed - (x**2).sum(axis=1) / (2 * self.variance) + self.log_scale

    def gradient(self, x) -> np.ndarray:
        """d/dx log p*(x), (n_states, d): towards the means, each by its share of the density."""
        x, logits = self._logits(x)
        share = np.exp(logits - logits.max(axis=1, keepdims=True))
        share /= share.sum(axis=1, keepdims=True)
        return (share @ self.means - x) / self.variance

    def sample(self, n_states: int, rng=None) -> np.ndarray:
        """Independent draws (n_states, d)."""
        rng, n_states = checks.generator(rng), checks.count("n_states", n_states)
        which = rng.choice(len(self.weights), size=n_states, p=self.weights / self.weights.sum())
        noise = rng.normal(scale=np.sqrt(self.variance), size=(n_states, self.n_visible))
        return self.means[which] + noise
