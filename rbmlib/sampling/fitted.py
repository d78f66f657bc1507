"""Paths that are fitted to states: moment averaging, and a Gaussian with the moments of states.

On the geometric path natural parameters are averaged; on that of Grosse, Maddison & Salakhutdinov
(2013) moments are: the model at beta has ``E[v], E[h], E[v h']`` equal to (1 - beta) times the
base's and beta times the target's. Such a model must be fitted, so it is at a few knots; between
knots natural parameters are averaged. Any knots make a valid path, on which AIS is unbiased: a
poor fit costs accuracy, not validity.

For Normal visible units the two usual bases can lie far away: N(b, I) is narrow, and the Gaussian
of leakiness 1 of a trained leaky RBM can have its mean far outside the data, and a log Z thousands
of nats above the model's. A Gaussian with the mean and the covariance of the training data, or of
states of a chain, lies where the model should.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from .. import checks
from ..context import bar
from ..models.conversion import as_rbm
from ..models.layers import Normal
from ..models.normal import Span
from ..models.rbm import RBM, gradient, log_density
from ..numerics import LOG_2PI, ChainStream
from ..paths import GeometricPath, LinearPath, Polyline
from ..paths.hmc import trajectory
from ..paths.moves import slice_angle
from .anneal import anneal, sweep

STEP = 0.4  # of trajectories, jittered by a fifth


class MomentAveragingPath(Polyline):
    """A path through RBMs whose moments are averages of the base's and the target's.

    Parameters
    ----------
    rbm : RBM
        The target; its visible units have countable states.
    base : array (n_visible,), RBM, "mean_field" or None
        As in `GeometricPath`.
    n_knots : int
        Knots between the two ends, evenly spaced in beta.
    n_chains, n_updates : int
        Chains that estimate the target's moments and those of the models that are fitted, and
        updates of each fit (stochastic approximation; the second half is averaged).
    learning_rate : float
        Of the first update of a knot, falling to a tenth.
    rng : int, Generator or None

    Attributes
    ----------
    models : list of RBM
        Base, fitted models, target.
    knots : ndarray (n_knots + 2,)
        Their betas.
    fits : ndarray (n_knots,)
        Root mean square distance of the moments E[v h'] of each fitted model from those wanted,
        over the chains of the second half: the noise of ``n_chains`` included.

    Examples
    --------
    >>> import rbmlib as rl
    >>> rbm = rl.testsystems.random_rbm(n_visible=10, n_hidden=4, coupling=3, rng=0)
    >>> path = rl.MomentAveragingPath(rbm, n_knots=3, rng=0)
    >>> bool(abs(path.at(1.0).weights - rbm.weights).max() < 1e-12)
    True
    """

    def __init__(
        self,
        rbm: RBM,
        base="mean_field",
        *,
        n_knots: int = 9,
        n_chains: int = 100,
        n_updates: int = 500,
        learning_rate: float = 0.1,
        rng=None,
    ):
        rbm, seed = as_rbm("rbm", rbm), checks.seed_of(rng)
        self._options = f"{n_knots=}, {n_chains=}, {n_updates=}, {learning_rate=}, rng={seed}"
        if rbm.visible.values is None:
            raise TypeError(f"rbm is {rbm!r}: expected a BernoulliRBM, or other countable units")
        line = GeometricPath(rbm, base)
        n_knots = checks.count("n_knots", n_knots)
        n_updates = checks.count("n_updates", n_updates, 2)
        meaning = "a number above 0, such as 0.1"
        learning_rate = checks.number("learning_rate", learning_rate, meaning, above=0)
        rng, n_chains = checks.generator(rng), checks.count("n_chains", n_chains, 2)
        stream, low = ChainStream(rng, n_chains), line.models[0]
        v = line.sample_base(n_chains, stream)
        knots, fitted, fits, model = np.linspace(0, 1, n_knots + 2), [], [], rbm
        with bar(n_knots * n_updates, "moment averaging") as shown:
            v, _ = anneal(line, v, np.linspace(0, 1, 1001), stream)
            v, last = _target_moments(line, v, stream, n_updates)
            first = _base_moments(low)
            for beta in knots[-2:0:-1]:  # from the target down: its chains are at hand
                wanted = [(1 - beta) * m + beta * n for m, n in zip(first, last, strict=True)]
                model, v, fit = _fit(model, wanted, v, stream, n_updates, learning_rate)
                fitted.append(model)
                fits.append(fit)
                shown.update(n_updates)
        super().__init__([low, *fitted[::-1], rbm], knots)
        self.base_name, self.fits = line.base_name, np.array(fits[::-1])

    def __repr__(self) -> str:
        return f"MomentAveragingPath({self.rbm!r}, base={self.base_name!r}, {self._options})"


def _base_moments(base):
    """E[v], E[h], E[v h'] of a model without weights."""
    visible, hidden = (x.mean(x.bias[None])[0] for x in (base.visible, base.hidden))
    return visible, hidden, np.outer(visible, hidden)


def _target_moments(line, v, stream, n_sweeps):
    """Averages over chains and ``n_sweeps`` sweeps at beta = 1, after a tenth as many."""
    looks, seen = max(2, n_sweeps // 10), []
    v = sweep(line, v, 1.0, max(1, n_sweeps // 10), stream)
    for _ in range(looks):
        v = sweep(line, v, 1.0, 10, stream)
        seen.append(line.rbm.statistics(v))
    return v, [sum(each) / looks for each in zip(*seen, strict=True)]


def _fit(rbm, wanted, v, stream, n_updates, learning_rate):
    """The RBM near ``rbm`` with the wanted moments: gradient ascent with persistent chains."""
    b, a, w = (x.copy() for x in (rbm.visible_bias, rbm.hidden_bias, rbm.weights))
    half, means, misfit = n_updates // 2, [np.zeros_like(x) for x in (b, a, w)], 0.0

    def model_of(b, a, w):
        visible, hidden = rbm.visible.with_(bias=b), rbm.hidden.with_(bias=a)
        return rbm.with_(visible=visible, hidden=hidden, weights=w, log_scale=0.0)

    for update in range(n_updates):
        model = model_of(b, a, w)
        v = model.gibbs(v.astype(float), stream)
        rate, found = learning_rate * 0.1 ** (update / n_updates), model.statistics(v)
        for x, want, have in zip((b, a, w), wanted, found, strict=True):
            x += rate * (want - have)
        if update >= half:
            for mean, x in zip(means, (b, a, w), strict=True):
                mean += x / (n_updates - half)
            misfit = misfit + (found[2] - wanted[2]) / (n_updates - half)
    return model_of(*means), v, float(np.sqrt(np.mean(misfit**2)))


class GaussianBasePath(LinearPath):
    """The geometric path from a fitted Gaussian to a model with Normal visible units.

    ``log p*_beta = (1 - beta) log N(u; m, S) + beta log p*(u)`` on the span of the weights
    (`RBM.reduced`), with m and S the mean and covariance of ``states`` there. A state holds
    z = R^-1 (u - m), S = R R', so that the base is N(0, I); the density carries log det R, and
    log Z is that of the whole model. Transitions are elliptical slice sampling (Murray, Adams &
    MacKay 2010) with the base as prior: exact, and with nothing to tune. In hundreds of dimensions
    a slice moves little, and ``n_leapfrog`` adds a Hamiltonian trajectory in u after it, exact too:
    no model has a curvature above 1 there, so one step size serves all.

    Parameters
    ----------
    rbm : LeakyRBM, GaussianRBM or another RBM with Normal visible units
    states : array (n_states, n_visible)
        At least twice as many as hidden units: training data, or states of a chain.
    n_steps : int
        Slices a transition.
    n_leapfrog : int
        Steps of a Hamiltonian trajectory after them; 0: none.
    reduced : (RBM, Span), optional
        ``rbm.reduced()``, where it is known: a singular value decomposition less.

    Attributes
    ----------
    model, span
        The model on the span of its weights, and the way back.

    Raises
    ------
    TypeError, ValueError
        If it is no such model, or states are too few.

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
        self,
        rbm: RBM,
        states,
        n_steps: int = 1,
        n_leapfrog: int = 0,
        *,
        reduced: tuple[RBM, Span] | None = None,
    ):
        if not isinstance(rbm, RBM) or not isinstance(rbm.visible, Normal):
            raise TypeError(f"rbm is a {type(rbm).__name__}: expected a LeakyRBM or a GaussianRBM")
        self.rbm, (self.model, self.span) = rbm, reduced or rbm.reduced()
        self.n_steps = checks.count("n_steps", n_steps)
        self.n_leapfrog = checks.count("n_leapfrog", n_leapfrog, 0)
        self.n_coordinates = self.model.n_visible
        meaning = f"(n_states, {rbm.n_visible}), at least {2 * self.n_coordinates} states"
        v = checks.array("states", states, (None, rbm.n_visible), meaning)
        if len(v) < 2 * self.n_coordinates:
            raise ValueError(f"states has shape {v.shape}: expected {meaning}")
        u = self.span.coordinates(v)
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

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.rbm!r})"

    def sample_base(self, n_chains: int, rng) -> np.ndarray:
        return rng.standard_normal((n_chains, len(self.mean)))

    def state_of(self, visible) -> np.ndarray:
        """The states that stand for visible units (n_states, n_visible)."""
        return self._back(self.span.coordinates(visible))

    def visible_of(self, v: np.ndarray, rng=None) -> np.ndarray:
        return self.span(self.mean + v @ self._root.T, checks.source_of_random(rng))

    def base_and_slope(self, v: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """log N(z; 0, I) without its constant, and log p*(u) + log det R minus it."""
        half = np.einsum("ni,ni->n", v, v) / 2
        return -half, log_density(self.model, self._place(v)) + self._log_det + half

    def transition(self, v: np.ndarray, beta, rng) -> np.ndarray:
        beta = np.broadcast_to(beta, len(v))
        for _ in range(self.n_steps):
            v = self._slice(v, beta, rng)
        return self._trajectory(v, beta[:, None], rng) if self.n_leapfrog else v

    def _trajectory(self, z, beta, rng) -> np.ndarray:
        """Hamiltonian Monte Carlo on u, masses 1: z is put back at the end."""
        start = self._place(z)
        momentum = rng.standard_normal(z.shape).astype(start.dtype)
        jitter, level = rng.random((len(z), 2)).T
        step = (STEP * (0.8 + 0.4 * jitter[:, None])).astype(start.dtype)
        log_p, slope = self._tempered(beta)
        place, error = trajectory(log_p, slope, start, momentum, step, self.n_leapfrog)
        return np.where((np.log(level) < -error)[:, None], self._back(place), z)

    def _place(self, z) -> np.ndarray:
        """Where trajectories move: u."""
        return self.mean + z @ self._root.T

    def _back(self, u) -> np.ndarray:
        """z of u."""
        return np.linalg.solve(self._root, (u - self.mean).T).T

    def _tempered(self, beta) -> tuple[Callable, Callable]:
        """log p of u, up to a constant, and its gradient; beta (n_chains, 1)."""

        def log_p(u):
            d = u - self.mean
            prior = np.einsum("ni,ni->n", d @ self._precision, d) / 2
            return beta[:, 0] * log_density(self.model, u) - (1 - beta[:, 0]) * prior

        def slope(u):
            return beta * gradient(self.model, u) - (1 - beta) * ((u - self.mean) @ self._precision)

        return log_p, slope

    def _slice(self, z, beta, rng) -> np.ndarray:
        other = rng.standard_normal(z.shape)
        log_ratio = self._on_ellipse(z, other)
        angle = slice_angle(
            lambda chains, at: beta[chains] * log_ratio(chains, at),
            lambda share: (2 * np.pi * share - 2 * np.pi, 2 * np.pi * share),
            len(z),
            rng,
        )
        return np.cos(angle)[:, None] * z + np.sin(angle)[:, None] * other

    def _on_ellipse(self, x, y) -> Callable:
        """log p*(u) - log N(z; 0, I) at z = cos(angle) x + sin(angle) y, up to a constant.

        What is linear in z is computed once; an angle then costs n_hidden numbers a chain.
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

    def _images(self, z) -> tuple[np.ndarray, np.ndarray]:
        """u - m of z, and its fields without the constant."""
        u, eta = np.split(z @ self._both, [len(self.mean)], 1)
        return u, eta
