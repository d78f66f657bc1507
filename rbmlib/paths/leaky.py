"""Annealing paths of models with Gaussian visible units.

Paths work on the span of the weights (`LeakyRBM.reduced`): a state holds the coordinates u of
the visible units on a basis of it, rank(W) numbers, and log Z is that of the whole model. The
other dimensions are independent of it all; ``path.visible_of`` draws them.
"""

from __future__ import annotations

import numpy as np

from .._kernels import leaky, threads
from .._numerics import LOG_2PI, expit, softplus
from .._validation import instance, point_of_path
from ..models import GaussianRBM, LeakyRBM
from ..models.gaussian_visible import Reduction
from ..moves import leaky as leaky_kernels
from ..moves.leaky import KERNELS, negative_squares
from .base import AnnealingPath, State
from .linear import LinearPath


class OnSpan(AnnealingPath):
    """Paths whose states hold coordinates on the span of the weights."""

    reduction: Reduction

    def visible_of(self, state: State, rng=None) -> np.ndarray:
        return self.reduction.expand(state.coordinates, rng)


class _LeakyPath(OnSpan, LinearPath):
    """Paths of leaky RBMs whose log-density is linear in beta.

    A subclass says at which leakiness c and scale t of the fields the model of beta is
    (`_point`), and by what eta^2 / 2 enters the slope where eta <= 0 and where eta > 0
    (`_slopes`).
    """

    def __init__(self, rbm: LeakyRBM, kernel="hmc"):
        instance("rbm", rbm, LeakyRBM, "a LeakyRBM")
        self.rbm, self.reduction = rbm, rbm.reduced()
        self.kernel = _checked_kernel(kernel, self.reduction.model)
        self._move = KERNELS.get(kernel, kernel) if isinstance(kernel, str) else kernel
        self.log_z_base = self._log_z_base()

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.rbm!r}, kernel={self.kernel!r})"

    def sample_base(self, n_chains: int, rng) -> State:
        model = self.reduction.model
        mean, sd = leaky_kernels.gaussian(model, self._point(0.0)[1])
        return State(mean + sd * rng.standard_normal((n_chains, model.n_visible)))

    def transition(self, state: State, beta, rng) -> State:
        c, t = self._point(np.asarray(beta, float)[..., None])
        return State(self._move(self.reduction.model, state.coordinates, c, t, rng))

    def anneal(
        self, state: State, betas, stream, *, record_at=(), on_record=None, n_threads=None,
        on_progress=None,
    ) -> tuple[State, np.ndarray]:  # fmt: skip
        """As `AnnealingPath.anneal`; compiled where directions move on their own."""
        model = self.reduction.model
        if self.kernel not in ("gibbs", "blockwise") or not model.has_orthogonal_columns():
            return super().anneal(
                state, betas, stream, record_at=record_at, on_record=on_record,
                n_threads=n_threads, on_progress=on_progress,
            )  # fmt: skip
        betas, u = np.asarray(betas, float), np.array(self.checked_state(state).coordinates, float)
        points = np.column_stack([np.diff(betas), *np.broadcast_arrays(*self._point(betas[1:]))])
        parameters = np.stack([np.diag(model.weights), model.hidden_bias, model.visible_bias])
        exact, gains = self.kernel == "blockwise", np.zeros(len(u))
        chunks = threads.chunks(len(u), threads.CHUNK)
        stops = sorted({k for k in record_at if 0 < k < len(betas)} | {len(betas) - 1})
        start, draws = 0, 3 if exact else 2
        for stop in stops:

            def run(chunk, first, last, start=start):
                rows = chunks[chunk]
                leaky.anneal_diagonal(
                    u[rows], gains[rows], parameters, points[start + first : start + last],
                    self._slopes, exact, np.uint64(stream.seed), stream.first_chain + rows.start,
                    stream.draw + draws * first,
                )  # fmt: skip

            threads.run_blocks(run, len(chunks), stop - start, n_threads, on_progress)
            stream.draw += draws * (stop - start)
            start = stop
            if on_record is not None and stop in record_at:
                on_record(stop, State(u.copy()), gains)
        return State(u), gains


class LeakinessPath(_LeakyPath):
    """Anneal the leakiness: from the Gaussian of leakiness 1 to the model (Li et al., section 4).

    The leakiness at beta is ``1 - beta (1 - c)``, and
    ``log p*_beta(v) = log p*_0(v) - beta (1 - c) / 2 sum of eta_j^2 over eta_j <= 0``: the
    geometric path between the two (eq. 12). The base's log Z is exact.

    Parameters
    ----------
    rbm : LeakyRBM
    kernel : {"hmc", "slice", "metropolis", "blockwise", "gibbs"} or callable
        The transition; see `rbmlib.moves.leaky`. All are exact but "gibbs", the sampler of the
        paper, which biases log Z by an amount that more steps do not remove. "blockwise" needs
        orthogonal columns of W; "metropolis" is for few hidden units. Or a function
        ``kernel(model, u, c, t, rng)``.

    Attributes
    ----------
    reduction : Reduction
        The model on the span of its weights, where states live, and the way back.

    Examples
    --------
    >>> import rbmlib as rl
    >>> rbm = rl.LeakyRBM([[0.9, 0.0], [0.0, 0.9], [0.0, 0.0]])
    >>> estimate = rl.ais(rl.LeakinessPath(rbm), rl.schedules.linear(100), n_chains=500, rng=0)
    >>> abs(estimate.log_z - rbm.exact_log_z()) < 5 * estimate.std_error
    True
    """

    def _log_z_base(self) -> float:
        model = self.reduction.model
        mean, sd = leaky_kernels.gaussian(model, 1.0)
        a = model.hidden_bias
        quadratic = ((mean / sd) ** 2).sum() + a @ a
        log_det = 2 * np.log(sd).sum() + model.n_visible * LOG_2PI
        return float((quadratic + log_det) / 2 + model.log_scale)

    def _point(self, beta):
        return 1 - beta * (1 - self.rbm.leakiness), 1.0

    @property
    def _slopes(self) -> tuple[float, float]:
        return -(1 - self.rbm.leakiness), 0.0

    def at(self, beta: float) -> LeakyRBM:
        return self.reduction.model.with_leakiness(self._point(point_of_path(beta))[0])

    def _base_and_slope(self, u):
        model = self.reduction.model
        eta = leaky_kernels.fields(model, u, 1.0)
        base = _gaussian_part(model, u) + np.einsum("nj,nj->n", eta, eta) / 2
        return base, -(1 - self.rbm.leakiness) * negative_squares(eta)


class EnergyPath(_LeakyPath):
    """Anneal the energy of a leaky RBM, from N(b, I): the AIS-Energy of Li et al. (eq. 11).

    ``log p*_beta(v) = b v - |v|^2 / 2 + beta sum_j F(eta_j)``: a leaky RBM whose weights and
    hidden biases are those of the target times sqrt(beta), since F is of degree 2.

    Parameters
    ----------
    rbm, kernel
        As in `LeakinessPath`.
    """

    def _log_z_base(self) -> float:
        model = self.reduction.model
        b = model.visible_bias
        return float((model.n_visible * LOG_2PI + b @ b) / 2 + model.log_scale)

    def _point(self, beta):
        return self.rbm.leakiness, np.sqrt(np.maximum(beta, 0))  # no model below 0

    @property
    def _slopes(self) -> tuple[float, float]:
        return self.rbm.leakiness, 1.0

    def at(self, beta: float) -> LeakyRBM:
        model, t = self.reduction.model, np.sqrt(point_of_path(beta))
        return model._with(weights=t * model.weights, hidden_bias=t * model.hidden_bias)

    def _base_and_slope(self, u):
        model = self.reduction.model
        return _gaussian_part(model, u), model._hidden_term(model.hidden_field(u))


class GaussianGeometricPath(OnSpan):
    """The geometric path of a `GaussianRBM` from N(b, I): weights and hidden biases times beta.

    ``log p*_beta(v, h) = b v - |v|^2 / 2 + beta (v W + a) h``. Transitions are Gibbs sweeps.

    Parameters
    ----------
    rbm : GaussianRBM

    Attributes
    ----------
    reduction : Reduction
        As in `LeakinessPath`.
    """

    def __init__(self, rbm: GaussianRBM):
        instance("rbm", rbm, GaussianRBM, "a GaussianRBM")
        self.rbm, self.reduction = rbm, rbm.reduced()
        model = self.reduction.model
        b = model.visible_bias
        self.log_z_base = float(
            (model.n_visible * LOG_2PI + b @ b) / 2 + model.log_scale + model.n_hidden * np.log(2)
        )

    def __repr__(self) -> str:
        return f"GaussianGeometricPath({self.rbm!r})"

    def at(self, beta: float) -> GaussianRBM:
        model, beta = self.reduction.model, point_of_path(beta)
        return model._with(weights=beta * model.weights, hidden_bias=beta * model.hidden_bias)

    def sample_base(self, n_chains: int, rng) -> State:
        model = self.reduction.model
        return State(model.visible_bias + rng.standard_normal((n_chains, model.n_visible)))

    def log_density(self, state: State, beta) -> np.ndarray:
        model = self.reduction.model
        constant, x = (
            _gaussian_part(model, state.coordinates),
            model.hidden_field(state.coordinates),
        )
        if np.ndim(beta) == 0:
            return constant + softplus(beta * x).sum(axis=1)
        return np.stack([constant + softplus(b * x).sum(axis=1) for b in beta], axis=1)

    def log_density_slope(self, state: State, beta) -> np.ndarray:
        x = self.reduction.model.hidden_field(state.coordinates)
        return (expit(beta * x) * x).sum(axis=1)

    def transition(self, state: State, beta, rng) -> State:
        return self.joint_transition(state, beta, rng)[0]

    def joint_transition(self, state: State, beta, rng) -> tuple[State, np.ndarray]:
        model, b = self.reduction.model, np.asarray(beta, float)[..., None]
        means = expit(b * model.hidden_field(state.coordinates))
        hidden = (rng.random(means.shape) < means).astype(float)
        pull = hidden @ model.weights.T
        mean = model.visible_bias + b * pull
        u = mean + rng.standard_normal(mean.shape)
        return State(u), np.einsum("ni,ni->n", u, pull) + hidden @ model.hidden_bias


def _gaussian_part(model, u) -> np.ndarray:
    """b u - |u|^2 / 2, and the constant."""
    return u @ model.visible_bias - np.einsum("ni,ni->n", u, u) / 2 + model.log_scale


def _checked_kernel(kernel, model: LeakyRBM) -> str:
    if callable(kernel):
        return getattr(kernel, "__name__", repr(kernel))
    if not isinstance(kernel, str) or kernel not in KERNELS:
        raise ValueError(
            f"kernel is {kernel!r}: expected one of {', '.join(map(repr, KERNELS))}, or a function"
        )
    if kernel == "blockwise" and not model.has_orthogonal_columns():
        raise ValueError(
            "kernel is 'blockwise', but the columns of the weights are not orthogonal: expected "
            "'slice' or 'hmc', or 'metropolis' for few hidden units"
        )
    return kernel
