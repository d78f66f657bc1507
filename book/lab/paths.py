"""Paths in addition to those of `rbmlib`: from a fitted Gaussian, and quick ones given v alone.

For Gaussian visible units, the two usual bases, N(b, I) and the Gaussian of leakiness 1, can be far
from the model. A Gaussian with the moments of data, or of states of a chain, is close to the model.
"""

from collections.abc import Callable

import numba
import numpy as np

import rbmlib as rl
from rbmlib import Estimate, ais, checks, reverse_ais
from rbmlib.models.rbm import gradient, log_density
from rbmlib.numerics import LOG_2PI, ChainStream
from rbmlib.paths.hmc import trajectory
from rbmlib.paths.path import Path
from rbmlib.sampling.anneal import sweep
from rbmlib.sampling.compiled import compiled
from rbmlib.schedules import linear

f32 = np.float32
STEP = 0.4  # of trajectories, jittered by a fifth
KEPT = 10  # one in so many sweeps of a bracket's second half is kept for the moments
SHRINKS = 40  # at most, of the bracket of a slice; then the state stays, which is also exact


class GaussianBasePath(Path):
    """The geometric path from a fitted Gaussian to a model with Gaussian visible units.

    ``log p*_beta = (1 - beta) log N(u; m, S) + beta log p*(u)`` on the span of the weights
    (`RBM.reduced`), where m and S are the mean and covariance of ``states`` (n_states, n_visible).
    A state holds z = R^-1 (u - m) with S = R R', and the base is N(0, I). Transitions are
    elliptical slice sampling (Murray, Adams & MacKay 2010) with the base as prior. A slice moves
    little in hundreds of dimensions, and ``n_leapfrog`` adds a Hamiltonian trajectory in u. No
    model has a curvature above 1 in u, and one step size suits all.
    """

    joint = True

    def __init__(self, rbm, states, n_leapfrog: int = 0, *, reduced=None):
        self.rbm, (self.model, self.span) = rbm, reduced or rbm.reduced()
        self.n_leapfrog = n_leapfrog
        self.n_coordinates = self.model.n_visible
        if len(states) < 2 * self.n_coordinates:
            raise ValueError(f"{len(states)} states: expected at least {2 * self.n_coordinates}")
        u = self.span.coordinates(states)
        self.mean = u.mean(axis=0)
        covariance = np.atleast_2d(np.cov(u.T))
        self._take_covariance(covariance + 1e-6 * np.eye(len(covariance)))
        self.log_z_base = self.n_coordinates / 2 * LOG_2PI

    def _take_covariance(self, covariance) -> None:
        self._root = np.linalg.cholesky(covariance)
        self._precision = np.linalg.inv(self._root @ self._root.T)
        self._log_det = float(np.log(np.diag(self._root)).sum())
        # z to u - m and to its fields, side by side
        self._both = np.concatenate([self._root.T, self._root.T @ self.model.weights], axis=1)
        self._pull = self.model.visible_bias - self.mean

    def sample_base(self, n_chains: int, rng) -> np.ndarray:
        return rng.standard_normal((n_chains, len(self.mean)))

    def state_of(self, visible) -> np.ndarray:
        """The states for visible units (n_states, n_visible)."""
        return self._back(self.span.coordinates(visible))

    def visible_of(self, v: np.ndarray, rng=None) -> np.ndarray:
        return self.span(self.mean + v @ self._root.T, checks.source_of_random(rng))

    def base_and_slope(self, v: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """log N(z; 0, I) without its constant, and log p*(u) + log det R minus it."""
        half = np.einsum("ni,ni->n", v, v) / 2
        return -half, log_density(self.model, self._place(v)) + self._log_det + half

    def transition(self, v: np.ndarray, beta, rng) -> np.ndarray:
        beta, other = np.broadcast_to(beta, len(v)), rng.standard_normal(v.shape)
        log_ratio = self._on_ellipse(v, other)
        angle = slice_angle(lambda k, at: beta[k] * log_ratio(k, at), len(v), rng)
        v = np.cos(angle)[:, None] * v + np.sin(angle)[:, None] * other
        return self._trajectory(v, beta[:, None], rng) if self.n_leapfrog else v

    def _trajectory(self, z, beta, rng) -> np.ndarray:
        start = self._place(z)
        momentum = rng.standard_normal(z.shape).astype(start.dtype)
        jitter, level = rng.random((len(z), 2)).T
        step = (STEP * (0.8 + 0.4 * jitter[:, None])).astype(start.dtype)
        log_p, slope = self._tempered(beta)
        place, error = trajectory(log_p, slope, start, momentum, step, self.n_leapfrog)
        return np.where((np.log(level) < -error)[:, None], self._back(place), z)

    def _place(self, z) -> np.ndarray:
        return self.mean + z @ self._root.T

    def _back(self, u) -> np.ndarray:
        return np.linalg.solve(self._root, (u - self.mean).T).T

    def _tempered(self, beta) -> tuple[Callable, Callable]:
        """log p of u, up to a constant, and its gradient; beta has shape (n_chains, 1)."""

        def log_p(u):
            d = u - self.mean
            prior = np.einsum("ni,ni->n", d @ self._precision, d) / 2
            return beta[:, 0] * log_density(self.model, u) - (1 - beta[:, 0]) * prior

        def slope(u):
            return beta * gradient(self.model, u) - (1 - beta) * ((u - self.mean) @ self._precision)

        return log_p, slope

    def _on_ellipse(self, x, y) -> Callable:
        """log p*(u) - log N(z; 0, I) at z = cos(angle) x + sin(angle) y, up to a constant.

        Terms linear in z are computed once; each angle then costs n_hidden numbers per chain.
        """
        (x_u, x_eta), (y_u, y_eta) = self._images(x), self._images(y)
        centre = self.model.field(self.mean[None])

        def dot(p, q):
            return np.einsum("ni,ni->n", p, q)

        linear = x_u @ self._pull, y_u @ self._pull
        square = [dot(x, x) - dot(x_u, x_u), dot(x, y) - dot(x_u, y_u), dot(y, y) - dot(y_u, y_u)]

        def log_ratio(chains, angle):
            c, s = np.cos(angle), np.sin(angle)
            eta = centre + c[:, None] * x_eta[chains] + s[:, None] * y_eta[chains]
            xx, xy, yy = (term[chains] for term in square)
            hidden = self.model.hidden.cumulant(eta)
            straight = hidden + c * linear[0][chains] + s * linear[1][chains]
            return straight + (c * c * xx + 2 * c * s * xy + s * s * yy) / 2

        return log_ratio

    def _images(self, z):
        """u - m of z, and its fields without the constant."""
        return np.split(z @ self._both, [len(self.mean)], axis=1)


class SinglePrecisionBasePath(GaussianBasePath):
    """`GaussianBasePath` in a third of the time with 500 hidden units.

    On the axes of the fitted covariance, S = V D V', u - m = V D^1/2 z needs no product. Slices and
    trajectories compute fields in float32, which changes energies by some 1e-6 nats on images of
    CIFAR-10. Log-densities of the path, and therefore the weights of AIS, are in double precision.
    """

    def _take_covariance(self, covariance) -> None:
        model = self.model
        squares, axes = np.linalg.eigh(covariance)
        self._sd = np.sqrt(squares)
        self._root, self._log_det = axes * self._sd, float(np.log(self._sd).sum())
        self._weights, self._centre = axes.T @ model.weights, model.field(self.mean[None])
        self._pull = (model.visible_bias - self.mean) @ axes
        self._at_mean = model.visible_bias @ self.mean - self.mean @ self.mean / 2
        self._single = self._weights.astype(f32)
        self._axes = axes

    def base_and_slope(self, z) -> tuple[np.ndarray, np.ndarray]:
        half, x = np.einsum("ni,ni->n", z, z) / 2, self._sd * z
        hidden = self.model.hidden.cumulant(x @ self._weights + self._centre)
        constant = self._at_mean + self.model.log_scale + self._log_det
        return -half, constant + x @ self._pull - np.einsum("ni,ni->n", x, x) / 2 + hidden + half

    def _place(self, z) -> np.ndarray:
        """u - m on the axes."""
        return (self._sd * z).astype(f32)

    def _back(self, place) -> np.ndarray:
        return place / self._sd

    def state_of(self, visible):
        return self._back((self.span.coordinates(visible) - self.mean) @ self._axes)

    def _tempered(self, beta) -> tuple[Callable, Callable]:
        model, weights = self.model, self._single
        pull, centre = self._pull.astype(f32), self._centre.astype(f32)
        at, rest = beta.astype(f32), ((1 - beta) / self._sd**2).astype(f32)

        def log_p(x):
            hidden = model.hidden.cumulant((x @ weights + centre).astype(float))
            d = x.astype(float)
            inside = d @ self._pull - np.einsum("ni,ni->n", d, d) / 2 + hidden
            prior = np.einsum("ni,ni->n", d / self._sd**2, d) / 2
            return beta[:, 0] * inside - (1 - beta[:, 0]) * prior

        def gradient(x):
            slope = model.hidden.mean(x @ weights + centre)
            return at * (pull - x + slope @ weights.T) - rest * x

        return log_p, gradient

    def _images(self, z):
        x = self._sd * z
        return x, (x.astype(f32) @ self._single).astype(float)


def slice_angle(log_likelihood, n_chains: int, rng) -> np.ndarray:
    """The angle (n_chains,), from 0, to which each chain moves on its ellipse.

    A bracket of a whole turn around 0 shrinks towards 0 until the likelihood at a draw from it
    exceeds that at 0 times a uniform draw. The upper end of the bracket is tried first.
    """
    uniforms, todo = rng.random((n_chains, SHRINKS + 1)), np.arange(n_chains)
    floor = np.log(uniforms[:, 0]) + log_likelihood(todo, np.zeros(n_chains))
    angle = 2 * np.pi * uniforms[:, 1]
    low, high = angle - 2 * np.pi, angle.copy()
    for draws in uniforms.T[2:]:
        todo = todo[log_likelihood(todo, angle[todo]) <= floor[todo]]
        if not todo.size:
            break
        new = angle[todo]
        low[todo] = np.where(new < 0, new, low[todo])
        high[todo] = np.where(new < 0, high[todo], new)
        angle[todo] = low[todo] + (high[todo] - low[todo]) * draws[todo]
    angle[todo] = 0.0
    return angle


def bracket_log_z(
    rbm, images, *, n_chains: int = 50, n_temperatures: int = 300, n_sweeps: int = 300,
    n_burn_in: int = 50, n_leapfrog: int = 0, single_precision: bool = False, rng=None,
) -> tuple[Estimate, Estimate]:  # fmt: skip
    """Anneal from the Gaussian of the model's own chains to the model, and back.

    Both bounds use the same chains, which begin at ``images``. If the chains miss some mass of the
    model, both ends are too low. Every tenth state of the second half of ``n_sweeps`` counts for
    the moments. ``n_burn_in`` exact transitions at beta = 1 precede the reverse annealing, because
    `gibbs` of a leaky RBM has another stationary distribution.
    """
    rng = checks.generator(rng)
    (model, span), seen = rbm.reduced(), []
    u = span.coordinates(np.asarray(images, float))
    if len(u) < n_chains:
        raise ValueError(f"images has {len(u)} rows: expected at least n_chains, {n_chains}")
    for done in range(1, n_sweeps + 1):
        u = model.gibbs(u, rng)
        if 2 * done > n_sweeps and done % KEPT == 0:
            seen.append(u)
    kind = SinglePrecisionBasePath if single_precision else GaussianBasePath
    states = span(np.concatenate(seen or [u]), rng)
    path = kind(rbm, states, n_leapfrog, reduced=(model, span))
    start = path.state_of(span(u[:n_chains], rng))
    start = sweep(path, start, 1.0, n_burn_in, ChainStream(rng, n_chains))
    betas = linear(n_temperatures)
    return ais(path, betas, n_chains, rng), reverse_ais(path, betas, n_chains, rng, start=start)


class GivenVisible(rl.Polyline):
    """A geometric path for quick `rbmlib.simulated_tempering` with beta given v alone.

    On an even ladder of K betas, ``exp(-beta_k |x|)`` is a power of ``exp(-|x| / (K - 1))``.
    Therefore, all betas of a hidden unit cost one exponential, and their softplus costs one
    logarithm for all units. The base must have no hidden biases, and there may be at most 900
    hidden units, because 2^900 times a field must not overflow.

    Examples
    --------
    >>> path = rl.GeometricPath(rl.testsystems.random_rbm(8, 4, coupling=3.0, rng=0))
    >>> v, betas = path.sample_base(2, np.random.default_rng(0)), rl.schedules.linear(9)
    >>> off = GivenVisible(path).log_density(v, betas) - path.log_density(v, betas)
    >>> bool(np.abs(off).max() < 1e-12)
    True
    """

    def __init__(self, path: rl.GeometricPath):
        super().__init__(path.models)
        self._given, self._last = path, (None, None, None)

    def transition(self, v, beta, rng):
        loops = compiled(self._given)
        return (loops or self._given).joint_transition(v, beta, rng)[0]

    def log_density(self, v, beta):
        return self._at(v, beta)[0] if np.ndim(beta) else super().log_density(v, beta)

    def log_density_slope(self, v, beta):
        return self._at(v, beta)[1] if np.ndim(beta) else super().log_density_slope(v, beta)

    def _at(self, v, betas):
        """Log-densities and slopes (n_chains, K) of states at all betas; cached for the same v."""
        if self._last[0] is not v:
            piece, states = self.pieces[0], v.astype(float)
            x = states @ piece.weights + piece.hidden
            logs, slopes = _of_fields(np.ascontiguousarray(x.T), len(betas))
            rise = (states @ piece.visible + piece.scale)[:, None]
            own = piece.low.visible.own(states) + piece.low.log_scale
            self._last = v, own[:, None] + rise * betas + logs, rise + slopes
        return self._last[1:]


@numba.njit(cache=True)
def _of_fields(x, n_betas):
    """Sums over hidden units of softplus(beta x), and slopes; x is (n_hidden, n_chains)."""
    n_hidden, n = x.shape
    product, below = np.ones((n_betas, n)), np.zeros((n_betas, n))
    above = np.zeros(n)
    for j in range(n_hidden):
        size = np.abs(x[j])
        above += np.maximum(x[j], 0.0)
        step, power = np.exp(-size / (n_betas - 1)), np.ones(n)
        for k in range(n_betas):
            for i in range(n):  # of chains, so that they share instructions
                more = 1.0 + power[i]
                below[k, i] = below[k, i] * more + size[i] * power[i] * product[k, i]
                product[k, i] *= more
                power[i] *= step[i]
    betas = np.arange(n_betas) / (n_betas - 1)
    logs = np.outer(betas, above) + np.log(product)
    return logs.T, (above - below / product).T
