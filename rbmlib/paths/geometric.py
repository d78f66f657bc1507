"""The geometric path of a Bernoulli RBM, and its compiled loops."""

from __future__ import annotations

import numpy as np

from .._kernels import gibbs
from .._kernels.adaptive import Adapting
from .._kernels.fields import fields
from .._kernels.layers import run_of
from .._kernels.tempering import DRAWS, Kept, Tempering, no_draws
from .._numerics import expit, softplus
from .._validation import instance, point_of_path
from ..models.bernoulli import BernoulliRBM
from ..models.conversion import as_rbm
from .base import STATE_MEANING, AnnealingPath, State, check_visible
from .bases import base_biases

RBM_MEANING = (
    "a BernoulliRBM (a LeakyRBM takes rl.LeakinessPath, a GaussianRBM rl.GaussianGeometricPath)"
)
COARSEST = 1 / 128  # largest unit of fixed-point weights that an importance step puts right
COARSEST_SLOPES = 0.1  # nats: what the rounding of visible slopes may add, to be put right so
UNCORRECTED = 0.01  # nats: what rounding may change where no importance step follows


class GeometricPath(AnnealingPath):
    """The geometric path of a Bernoulli RBM: parameters linear in beta.

    With a base of zero weights, visible bias b_0 and hidden bias a_0 (0 by default),

        log p*_beta(v) = (b_0 + beta (b - b_0)) v + sum_j softplus(a_0j + beta (v W + a - a_0)_j)

    and log Z_0 = sum_i softplus(b_0i) + sum_j softplus(a_0j).

    Parameters
    ----------
    rbm : BernoulliRBM
        The target; a fitted one of scikit-learn is taken too.
    base : array (n_visible,), BernoulliRBM, "mean_field" or None
        Visible biases of the base (`base_rate` of training data is the best known choice), a
        whole RBM with zero weights, a mean-field fit that needs no data (`mean_field_bias`,
        the default), or None for the uniform base, which loses modes of real models: a
        warning says so.

    Examples
    --------
    >>> from rbmlib import BernoulliRBM, GeometricPath
    >>> rbm = BernoulliRBM(weights=[[2.0], [-1.0]], visible_bias=[0, 1], hidden_bias=[0.5])
    >>> path = GeometricPath(rbm, base=[0.0, 1.0])
    >>> path.at(0.5).weights.tolist()
    [[1.0], [-0.5]]
    """

    compiled = True  # False in a subclass whose draws the kernels do not know: generic loops only

    def __init__(self, rbm: BernoulliRBM, base="mean_field"):
        self.rbm = rbm = as_rbm("rbm", rbm, RBM_MEANING)
        self.base_visible_bias, self.base_hidden_bias, self.base_name = base_biases(rbm, base)
        self.log_z_base = float(
            softplus(self.base_visible_bias).sum() + softplus(self.base_hidden_bias).sum()
        )
        self._visible_slope = rbm.visible_bias - self.base_visible_bias
        self._hidden_slope = rbm.hidden_bias - self.base_hidden_bias
        self._kernel_family = self._roundings = None

    def __repr__(self) -> str:
        return f"GeometricPath({self.rbm!r}, base={self.base_name!r})"

    def at(self, beta: float) -> BernoulliRBM:
        beta = point_of_path(beta)
        return BernoulliRBM(
            beta * self.rbm.weights,
            self.base_visible_bias + beta * self._visible_slope,
            self.base_hidden_bias + beta * self._hidden_slope,
            log_scale=beta * self.rbm.log_scale,
        )

    def sample_base(self, n_chains: int, rng) -> State:
        uniforms = rng.random((n_chains, self.rbm.n_visible))
        return State((uniforms < expit(self.base_visible_bias)).astype(np.float32))

    def checked_state(self, state: State, name: str = "state") -> State:
        instance(name, state, State, STATE_MEANING)
        check_visible(name, state.coordinates, self.rbm.n_visible, binary=True)
        return state

    def _slopes(self, state: State) -> tuple[np.ndarray, np.ndarray]:
        """d/dbeta of the hidden fields (n_chains, n_hidden) and of the visible term (n_chains,)."""
        v = self.checked_state(state).coordinates.astype(float)
        return v @ self.rbm.weights + self._hidden_slope, v @ self._visible_slope

    def log_density(self, state: State, beta) -> np.ndarray:
        slopes, visible = self._slopes(state)
        constant = state.coordinates.astype(float) @ self.base_visible_bias

        def at(b):
            fields = self.base_hidden_bias + b * slopes
            return constant + b * (visible + self.rbm.log_scale) + softplus(fields).sum(axis=1)

        return at(beta) if np.ndim(beta) == 0 else np.stack([at(b) for b in beta], axis=1)

    def log_density_slope(self, state: State, beta) -> np.ndarray:
        return self._slope_at(beta, *self._slopes(state))

    def log_density_slopes(self, state: State, betas) -> np.ndarray:
        parts = self._slopes(state)  # once for all betas
        return np.stack([self._slope_at(b, *parts) for b in betas], axis=1)

    def _slope_at(self, beta, slopes, visible) -> np.ndarray:
        means = expit(self.base_hidden_bias + beta * slopes)
        return visible + self.rbm.log_scale + (means * slopes).sum(axis=1)

    def transition(self, state: State, beta, rng) -> State:
        return self.joint_transition(state, beta, rng)[0]

    def joint_transition(self, state: State, beta, rng) -> tuple[State, np.ndarray]:
        b = np.asarray(beta, float)[..., None]
        slopes, _ = self._slopes(state)
        means = expit(self.base_hidden_bias + b * slopes)
        hidden = (rng.random(means.shape) < means).astype(float)
        slopes = hidden @ self.rbm.weights.T + self._visible_slope
        means = expit(self.base_visible_bias + b * slopes)
        visible = (rng.random(means.shape) < means).astype(np.float32)
        joint = (visible * slopes).sum(axis=1) + hidden @ self._hidden_slope + self.rbm.log_scale
        return State(visible), joint

    # compiled ------------------------------------------------------------------------------

    def _kernel(self) -> gibbs.Family:
        if self._kernel_family is None:
            self._kernel_family = gibbs.family(
                self.rbm.weights, self._hidden_slope, self.base_hidden_bias,
                self._visible_slope, self.base_visible_bias,
            )  # fmt: skip
        return self._kernel_family

    def _own_bits(self, state: State) -> np.ndarray:
        """A copy of the states for the kernels, which trust its width and that it holds bits."""
        return np.array(self.checked_state(state).coordinates, dtype=np.float32, order="C")

    def _rounding(self) -> tuple[float, float, float]:
        """Nats by which the kernels' log-densities are off, typically: weights, slopes, float32.

        The first two by fixed-point rounding, in states with the activity of the base and of the
        hidden units that it drives (each unit in one state of twenty at least).
        """
        if self._roundings is None:
            kernel = self._kernel()
            weights, slope = gibbs.quantised_weights(kernel)
            visible = np.maximum(expit(self.base_visible_bias), 0.05)
            hidden = visible @ self.rbm.weights + self.rbm.hidden_bias
            hidden = np.maximum(expit(hidden), 0.05)
            largest = max(gibbs.largest_slopes(kernel), np.abs(self._visible_slope).max())
            self._roundings = (
                float(np.sqrt(visible @ (weights - self.rbm.weights) ** 2 @ hidden)),
                float(np.sqrt(visible @ (slope - self._visible_slope) ** 2)),
                float(largest * np.finfo(np.float32).epsneg),
            )
        return self._roundings

    def _compiles(self, corrected: bool) -> bool:
        """Whether the kernels come near enough to the float64 model for a loop of this path.

        ``corrected``: for `anneal`, whose importance steps put fixed-point errors right. Not if a
        few weights or slopes are hundreds of times the others (a pixel masked by a bias of -1e4):
        at the limit that step varies by a tenth of a nat. Nothing corrects the other loops.
        """
        if not self.compiled:
            return False
        weights, slopes, single = self._rounding()
        near = self._kernel().scale <= COARSEST and single <= UNCORRECTED
        if corrected:
            return bool(near and slopes <= COARSEST_SLOPES)
        return bool(near and np.hypot(weights, slopes) <= UNCORRECTED)

    def _correction(self, state: State, beta: float) -> np.ndarray:
        """log p*_beta / p*_beta,quantised of each state: the kernels' weights are fixed-point."""
        exact = self.rbm.weights, self._visible_slope
        ours, theirs = (
            fields(state.coordinates, np.column_stack(parameters))
            for parameters in (exact, gibbs.quantised_weights(self._kernel()))
        )
        difference = softplus(self.base_hidden_bias + beta * (ours[:, :-1] + self._hidden_slope))
        difference -= softplus(self.base_hidden_bias + beta * (theirs[:, :-1] + self._hidden_slope))
        return beta * (ours[:, -1] - theirs[:, -1]) + difference.sum(axis=1)

    def anneal(
        self, state: State, betas, stream, *, record_at=(), on_record=None, n_threads=None,
        on_progress=None,
    ) -> tuple[State, np.ndarray]:  # fmt: skip
        """As `AnnealingPath.anneal`, compiled.

        The kernels run on a fixed-point copy of the weights; importance steps at both ends make
        the weights proper for the float64 model again. Recorded log-weights lack the second of
        these (some 1e-3 nats).
        """
        if not self._compiles(corrected=True):
            return super().anneal(
                state, betas, stream, record_at=record_at, on_record=on_record,
                n_threads=n_threads, on_progress=on_progress,
            )  # fmt: skip
        betas = np.array(betas, float)  # a copy: the kernels are compiled for one kind of array
        v = self._own_bits(state)
        entry = -self._correction(state, betas[0]) if betas[0] else 0.0
        gains = np.zeros(len(v))
        stops = sorted({k for k in record_at if 0 < k < len(betas)} | {len(betas) - 1})
        start = 0
        for stop in stops:
            gibbs.anneal(
                self._kernel(), v, gains, betas[start : stop + 1], stream, n_threads, on_progress
            )
            log_weights = entry + gains + (betas[stop] - betas[0]) * self.rbm.log_scale
            stream.draw += 2 * (stop - start)
            start = stop
            if on_record is not None and stop in record_at:
                on_record(stop, State(v), log_weights)
        final = State(v)
        if betas[-1]:
            log_weights += self._correction(final, betas[-1])
        return final, log_weights

    def sweep(self, state: State, beta, n_sweeps: int, stream, n_threads=None, on_progress=None):
        """``n_sweeps`` compiled transitions at ``beta`` (a number, or one a chain)."""
        if not self._compiles(corrected=False):
            return super().sweep(state, beta, n_sweeps, stream, n_threads, on_progress)
        v = self._own_bits(state)
        betas = np.broadcast_to(np.asarray(beta, float), v.shape[:1])
        gibbs.sweep(self._kernel(), v, betas, n_sweeps, stream, n_threads, on_progress)
        stream.draw += 2 * n_sweeps
        return State(v)

    def move_own(self, visible: np.ndarray, n_sweeps: int, stream) -> None:
        """As `sweep` at beta = 1, to the bit, in place and in this thread.

        For loops of many small calls whose states are their own, float32 (n_chains, n_visible):
        nothing is checked, and no threads are made, which would cost more than the sweeps.
        """
        if not self._compiles(corrected=False):
            visible[:] = self.sweep(State(visible), 1.0, n_sweeps, stream).coordinates
            return
        loops, model = gibbs.loops_of(self._kernel())
        h = np.zeros((len(visible), self.rbm.n_hidden), np.float32)
        ones = np.ones(len(visible), np.float32)
        run = run_of(stream, 0, 0, n_sweeps)
        loops.sweep(visible, h, ones, model, run)
        stream.draw += 2 * n_sweeps

    def joint_sweeps(self, state: State, beta, n_sweeps: int, stream, n_threads=None):
        """As `AnnealingPath.joint_sweeps`, compiled."""
        if not self._compiles(corrected=False):
            return super().joint_sweeps(state, beta, n_sweeps, stream, n_threads)
        v = self._own_bits(state)
        betas = np.broadcast_to(np.asarray(beta, float), v.shape[:1])
        slopes = np.zeros((n_sweeps, betas.size))
        kept = Kept(slopes, np.zeros(slopes.shape, np.int16), every=1, phase=0)
        gibbs.temper(
            self._kernel(), v, np.arange(betas.size), betas, no_draws(betas.size, kept), n_sweeps,
            stream, n_threads,
        )  # fmt: skip
        stream.draw += DRAWS * n_sweeps - 1  # beta after the last is the caller's to draw
        return State(v), slopes + self.rbm.log_scale

    def temper(
        self, state: State, index, betas, offsets, tally, kept, n_sweeps: int, stream, *,
        conditional="joint", record_every=1, phase=0, n_threads=None, on_progress=None,
    ) -> State:  # fmt: skip
        """As `AnnealingPath.temper`, compiled for joint states."""
        if conditional != "joint" or not self._compiles(corrected=False):
            return super().temper(
                state, index, betas, offsets, tally, kept, n_sweeps, stream,
                conditional=conditional, record_every=record_every, phase=phase,
                n_threads=n_threads, on_progress=on_progress,
            )  # fmt: skip
        v, shift = self._own_bits(state), self.rbm.log_scale
        betas = np.asarray(betas, float)
        ours = tally._replace(
            mixed=np.zeros_like(tally.mixed), visited=np.zeros_like(tally.visited)
        )
        rows = Kept(*kept, record_every, phase)
        gibbs.temper(
            self._kernel(), v, index, betas, Tempering(offsets + betas * shift, rows, ours),
            n_sweeps, stream, n_threads, on_progress,
        )  # fmt: skip
        stream.draw += DRAWS * n_sweeps
        # log_scale is part of every slope; the kernels know the units' part only
        kept[0][...] += shift
        for sums, totals in ((ours.mixed, tally.mixed), (ours.visited, tally.visited)):
            sums[:, 2] += shift * (2 * sums[:, 1] + shift * sums[:, 0])
            sums[:, 1] += shift * sums[:, 0]
            totals += sums
        return State(v)

    def adapt(
        self, state: State, index, betas, gains, rule, adjusted, stream, *, conditional="joint",
        n_threads=None, on_progress=None,
    ) -> State:  # fmt: skip
        """As `AnnealingPath.adapt`, compiled for joint states."""
        if conditional != "joint" or not self._compiles(corrected=False):
            return super().adapt(
                state, index, betas, gains, rule, adjusted, stream, conditional=conditional,
                n_threads=n_threads, on_progress=on_progress,
            )  # fmt: skip
        v = self._own_bits(state)
        betas = np.asarray(betas, float)
        adapting = Adapting(betas * self.rbm.log_scale, gains, rule, adjusted)
        gibbs.adapt(self._kernel(), v, index, betas, adapting, stream, n_threads, on_progress)
        stream.draw += DRAWS * gains.shape[1]
        return State(v)
