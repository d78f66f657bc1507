"""Models: two layers, the weights between them, and what is known of their log Z.

log p*(v, h) = v W h + visible.own(v) + hidden.own(h) + log_scale
log p*(v)    = visible.own(v) + hidden.cumulant(v W + a) + log_scale
"""

import numpy as np

from .. import checks
from ..numerics import LOG_2PI
from .layers import Bits, Leaky, Normal


class RBM:
    """A restricted Boltzmann machine of two `Layer`s; ``weights`` (n_visible, n_hidden)."""

    def __init__(self, visible, hidden, weights, *, log_scale=0.0):
        shape = len(visible), len(hidden)
        self.visible, self.hidden, self.log_scale = visible, hidden, float(log_scale)
        self.weights = checks.array("weights", weights, shape, f"{shape}, one row a visible unit")
        self._check()

    def _check(self):
        """A leaky model has a finite Z only if I - a W W' is positive definite."""
        if isinstance(self.hidden, Leaky):
            a = np.sqrt(max(self.hidden.above, self.hidden.below))
            largest = a * np.linalg.norm(self.weights, 2)
            if largest >= 1:
                raise ValueError(
                    f"weights has a largest singular value of {largest:.4g}: "
                    "expected less than 1; project them with project_weights"
                )

    def __repr__(self):
        kinds = type(self.visible).__name__, type(self.hidden).__name__
        return f"RBM({kinds[0]}({len(self.visible)}), {kinds[1]}({len(self.hidden)}))"

    @property
    def visible_bias(self):
        return self.visible.bias

    @property
    def hidden_bias(self):
        return self.hidden.bias

    def field(self, v):
        """Of the hidden units, v W + a."""
        return v @ self.weights + self.hidden.bias

    def log_density(self, v):
        v = checks.states("visible", v, self.visible).astype(float)
        return self.visible.own(v) + self.hidden.cumulant(self.field(v)) + self.log_scale

    def gibbs(self, v, rng):
        """A draw of h given v, then of v given h."""
        h = self.hidden.draw(self.field(v), rng)
        return self.visible.draw(h @ self.weights.T + self.visible.bias, rng)

    def statistics(self, v):
        """Means over states of v, of E(h | v), and of their products."""
        v = v.astype(float)
        h = self.hidden.mean(self.field(v))
        return v.mean(axis=0), h.mean(axis=0), v.T @ h / len(v)

    def transposed(self):
        return RBM(self.hidden, self.visible, self.weights.T, log_scale=self.log_scale)

    # what is known --------------------------------------------------------------------------

    @property
    def log_z(self):
        """log Z where no sum is needed: without weights, or one Gaussian; else None."""
        if not self.weights.any():
            at = (layer.cumulant(layer.bias[None])[0] for layer in (self.visible, self.hidden))
            return float(sum(at) + self.log_scale)
        if isinstance(self.hidden, Leaky) and self.hidden.above == self.hidden.below:
            mean, root, log_det = self._gaussian()
            a = self.hidden.above * self.hidden.bias @ self.hidden.bias
            quadratic = mean @ root @ root.T @ mean
            return float((quadratic + a - log_det + len(mean) * LOG_2PI) / 2 + self.log_scale)
        return None

    def draw(self, n, rng):
        """Independent draws of the visible units (n, n_visible), where `log_z` is known."""
        if not self.weights.any():
            return self.visible.draw(self.visible.bias[None], rng, n)
        mean, root, _ = self._gaussian()
        return mean + np.linalg.solve(root.T, rng.standard_normal((n, len(mean))).T).T

    def _gaussian(self):
        """Mean, Cholesky root of the precision I - a W W', and its log-determinant."""
        w, a = self.weights, self.hidden.above
        root = np.linalg.cholesky(np.eye(len(w)) - a * w @ w.T)
        pull = self.visible.bias + a * w @ self.hidden.bias
        mean = np.linalg.solve(root.T, np.linalg.solve(root, pull))
        return mean, root, 2 * np.log(np.diag(root)).sum()

    def reduced(self):
        """The model on the span of its weights, for Normal visible units: rank(W) coordinates.

        v = U u + r with W = U S V': u has the weights S V', r is N(b, I) on the rest. Returns the
        model and the function that leads from (u, rng) back to v.
        """
        basis, scales, rows = np.linalg.svd(self.weights, full_matrices=False)
        rank = max(1, int((scales > scales[0] * max(self.weights.shape) * 2.3e-16).sum()))
        basis, b = basis[:, :rank], self.visible.bias
        scale = (len(b) - rank) / 2 * LOG_2PI + (b @ b - (b @ basis) @ (b @ basis)) / 2
        model = RBM(
            Normal(b @ basis),
            self.hidden,
            scales[:rank, None] * rows[:rank],
            log_scale=self.log_scale + float(scale),
        )

        def expand(u, rng):
            rest = b + rng.standard_normal((len(u), len(b)))
            return u @ basis.T + rest - (rest @ basis) @ basis.T

        return model, expand

    def save(self, path):
        """Write an .npz that names the kind of each layer."""
        from .files import save

        save(self, path)


def BernoulliRBM(weights, visible_bias, hidden_bias, *, log_scale=0.0):
    return RBM(Bits(visible_bias), Bits(hidden_bias), weights, log_scale=log_scale)


def GaussianRBM(weights, visible_bias, hidden_bias, *, log_scale=0.0):
    return RBM(Normal(visible_bias), Bits(hidden_bias), weights, log_scale=log_scale)


def LeakyRBM(weights, visible_bias, hidden_bias, *, leakiness=0.01, log_scale=0.0):
    return RBM(
        Normal(visible_bias), Leaky(hidden_bias, 1.0, leakiness), weights, log_scale=log_scale
    )
