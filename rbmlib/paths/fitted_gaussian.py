"""A path to models with Gaussian visible units from a Gaussian with the moments of given states.

The two usual bases can lie far away: N(b, I) is narrow, and the Gaussian of leakiness 1 of a
trained leaky RBM can have its mean far outside the data, and a log Z thousands of nats above the
model's. A Gaussian with the mean and the covariance of the training data, or of states of a
chain, lies where the model should.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from .._numerics import LOG_2PI
from .._validation import count, finite_array, instance
from ..models import GaussianRBM, LeakyRBM
from ..models.gaussian_visible import Reduction
from ..moves.hmc import trajectory
from ..moves.slice import slice_angle
from .base import State
from .leaky import OnSpan
from .linear import LinearPath

STEP = 0.4  # of trajectories, jittered by a fifth


class GaussianBasePath(OnSpan, LinearPath):
    """The geometric path from a fitted Gaussian to a `LeakyRBM` or a `GaussianRBM`.

    ``log p*_beta = (1 - beta) log N(u; m, S) + beta log p*(u)`` on the span of the weights
    (`reduced`), with m and S the mean and covariance of ``states`` there. A state holds
    z = R^-1 (u - m), S = R R', so that the base is N(0, I); the density carries log det R, and
    log Z is that of the whole model. Transitions are elliptical slice sampling (Murray, Adams &
    MacKay 2010) with the base as prior: exact, and with nothing to tune. In hundreds of dimensions
    a slice moves little, and ``n_leapfrog`` adds a Hamiltonian trajectory in u after it, exact too:
    no model has a curvature above 1 there, so one step size serves all.

    Parameters
    ----------
    rbm : LeakyRBM or GaussianRBM
    states : array (n_states, n_visible)
        At least twice as many as hidden units: training data, or states of a chain.
    n_steps : int
        Slices a transition.
    n_leapfrog : int
        Steps of a Hamiltonian trajectory after them; 0: none.
    reduction : Reduction, optional
        ``rbm.reduced()``, where it is known: a singular value decomposition less.

    Attributes
    ----------
    reduction : Reduction
        The model on the span of its weights, and the way back.

    Examples
    --------
    >>> import numpy as np, rbmlib as rl
    >>> rbm = rl.LeakyRBM([[0.9, 0.0], [0.0, 0.9], [0.0, 0.0]])
    >>> path = rl.GaussianBasePath(rbm, rbm.exact_samples(1000, rng=1))
    >>> estimate = rl.ais(path, rl.schedules.linear(100), n_chains=500, rng=0)
    >>> abs(estimate.log_z - rbm.exact_log_z()) < 5 * estimate.std_error
    True
    """

    def __init__(
        self, rbm: LeakyRBM | GaussianRBM, states, n_steps: int = 1, n_leapfrog: int = 0, *,
        reduction: Reduction | None = None,
    ):  # fmt: skip
        instance("rbm", rbm, (LeakyRBM, GaussianRBM), "a LeakyRBM or a GaussianRBM")
        self.rbm, self.reduction = rbm, reduction or rbm.reduced()
        self.n_steps = count("n_steps", n_steps)
        self.n_leapfrog = count("n_leapfrog", n_leapfrog, 0)
        model = self.reduction.model
        meaning = f"(n_states, {rbm.n_visible}), at least {2 * model.n_visible} states"
        v = finite_array("states", states, (None, rbm.n_visible), meaning)
        if len(v) < 2 * model.n_visible:
            raise ValueError(f"states has shape {v.shape}: expected {meaning}")
        u = self.reduction.coordinates(v)
        self.mean = u.mean(axis=0)
        covariance = np.atleast_2d(np.cov(u.T))
        self._take_covariance(covariance + 1e-6 * np.eye(len(covariance)))
        self.log_z_base = model.n_visible / 2 * LOG_2PI

    def _take_covariance(self, covariance) -> None:
        self._root = np.linalg.cholesky(covariance)
        self._precision = np.linalg.inv(self._root @ self._root.T)
        self._log_det = float(np.log(np.diag(self._root)).sum())
        # z to u - m and to its fields, side by side
        weights = self.reduction.model.weights
        self._both = np.concatenate([self._root.T, self._root.T @ weights], axis=1)
        self._pull = self.reduction.model.visible_bias - self.mean

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.rbm!r})"

    @property
    def n_coordinates(self) -> int:
        return len(self.mean)

    def sample_base(self, n_chains: int, rng) -> State:
        return State(rng.standard_normal((n_chains, len(self.mean))))

    def state_of(self, visible) -> State:
        """The state of visible units (n_states, n_visible)."""
        return State(self._back(self.reduction.coordinates(visible)))

    def visible_of(self, state: State, rng=None) -> np.ndarray:
        return self.reduction.expand(self.mean + state.coordinates @ self._root.T, rng)

    def _base_and_slope(self, z) -> tuple[np.ndarray, np.ndarray]:
        """log N(z; 0, I) without its constant, and log p*(u) + log det R minus it."""
        half = np.einsum("ni,ni->n", z, z) / 2
        u = self.mean + z @ self._root.T
        return -half, self.reduction.model.log_density(u) + self._log_det + half

    def transition(self, state: State, beta, rng) -> State:
        z = state.coordinates
        for _ in range(self.n_steps):
            z = self._slice(z, np.broadcast_to(beta, len(z)), rng)
        if self.n_leapfrog:
            z = self._trajectory(z, np.broadcast_to(beta, len(z))[:, None], rng)
        return State(z)

    def _trajectory(self, z, beta, rng) -> np.ndarray:
        """Hamiltonian Monte Carlo on u, masses 1: z is put back at the end."""
        start = self._place(z)
        momentum = rng.standard_normal(z.shape).astype(start.dtype)
        jitter, level = rng.random((len(z), 2)).T
        step = (STEP * (0.8 + 0.4 * jitter[:, None])).astype(start.dtype)
        log_p, gradient = self._tempered(beta)
        place, error = trajectory(log_p, gradient, start, momentum, step, self.n_leapfrog)
        return np.where((np.log(level) < -error)[:, None], self._back(place), z)

    def _place(self, z) -> np.ndarray:
        """Where trajectories move: u."""
        return self.mean + z @ self._root.T

    def _back(self, u) -> np.ndarray:
        """z of u."""
        return np.linalg.solve(self._root, (u - self.mean).T).T

    def _tempered(self, beta) -> tuple[Callable, Callable]:
        """log p of u, up to a constant, and its gradient; beta (n_chains, 1)."""
        model, mean = self.reduction.model, self.mean

        def log_p(u):
            d = u - mean
            prior = np.einsum("ni,ni->n", d @ self._precision, d) / 2
            return beta[:, 0] * model.log_density(u) - (1 - beta[:, 0]) * prior

        def gradient(u):
            return beta * model.gradient(u) - (1 - beta) * ((u - mean) @ self._precision)

        return log_p, gradient

    def _slice(self, z, beta, rng) -> np.ndarray:
        other = rng.standard_normal(z.shape)
        log_ratio = self._on_ellipse(z, other)
        angle = slice_angle(
            lambda chains, at: beta[chains] * log_ratio(chains, at),
            lambda share: (2 * np.pi * share - 2 * np.pi, 2 * np.pi * share),
            len(z), rng,
        )  # fmt: skip
        return np.cos(angle)[:, None] * z + np.sin(angle)[:, None] * other

    def _on_ellipse(self, x, y):
        """log p*(u) - log N(z; 0, I) at z = cos(angle) x + sin(angle) y, up to a constant.

        What is linear in z is computed once; an angle then costs n_hidden numbers a chain.
        """
        model, pull = self.reduction.model, self._pull
        (x_u, x_eta), (y_u, y_eta) = self._images(x), self._images(y)
        centre = model.hidden_field(self.mean[None])

        def dot(p, q):
            return np.einsum("ni,ni->n", p, q)

        linear = x_u @ pull, y_u @ pull
        square = [dot(x, x) - dot(x_u, x_u), dot(x, y) - dot(x_u, y_u), dot(y, y) - dot(y_u, y_u)]

        def log_ratio(chains, angle):
            c, s = np.cos(angle), np.sin(angle)
            eta = centre + c[:, None] * x_eta[chains] + s[:, None] * y_eta[chains]
            xx, xy, yy = (term[chains] for term in square)
            return (
                model._hidden_term(eta) + c * linear[0][chains] + s * linear[1][chains]
                + (c * c * xx + 2 * c * s * xy + s * s * yy) / 2
            )  # fmt: skip

        return log_ratio

    def _images(self, z) -> tuple[np.ndarray, np.ndarray]:
        """u - m of z, and its fields without the constant."""
        u, eta = np.split(z @ self._both, [len(self.mean)], 1)
        return u, eta
