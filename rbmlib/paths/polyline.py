"""Polylines: paths through a sequence of models, with linear interpolation of parameters.

Between two models with layers in the exponential family, a polyline is the geometric path of the
joint densities, ``p*_0^(1 - beta) p*_1^beta``. Through fitted models it is moment averaging.
"""

from collections.abc import Callable, Sequence
from functools import cache
from itertools import pairwise

import numpy as np

from .. import checks
from ..models.layers import Gaussian, Layer
from ..models.rbm import RBM
from ..numerics import ChainStream, by_rows, rows_at_once
from . import moves
from .path import Path


class Polyline(Path):
    """A path through ``models``, from a model with a known ``log_z`` to the target.

    Parameters
    ----------
    models : list of RBM
        At least two models with layers of the same kinds and sizes; the last is the target.
    knots : array (n_models,), optional
        The betas of the models, from 0 to 1. By default, they are equally spaced.
    move : function, optional
        ``move(model, v, rng)``, which must leave ``model`` invariant. By default, Gibbs sampling,
        or Hamiltonian Monte Carlo if the hidden units are `LeakyReLU`.
    span : Span, optional
        The map to visible units, if the models are those of `RBM.reduced`.

    Examples
    --------
    >>> import rbmlib as rl
    >>> one, two = (rl.testsystems.random_rbm(8, 4, coupling=c, rng=0) for c in (0.5, 2.0))
    >>> base = rl.BernoulliRBM(0 * one.weights, one.visible_bias, one.hidden_bias)
    >>> path = rl.Polyline([base, one, two], knots=[0.0, 0.3, 1.0])
    >>> bool((path.at(0.3).weights == one.weights).all())
    True
    """

    def __init__(
        self,
        models: Sequence[RBM],
        knots=None,
        *,
        move: Callable | None = None,
        span: Callable | None = None,
    ):
        for i, model in enumerate(models):
            checks.instance(f"models[{i}]", model, RBM, "an RBM, such as a BernoulliRBM")
            model.refuse_improper()
        if len(models) < 2:
            raise ValueError(f"models holds {len(models)}: expected at least a base and a target")
        if models[0].log_z is None:
            raise ValueError(f"models[0] is {models[0]!r} with weights: its log Z is not known")
        self.models, self.rbm, self.span = list(models), models[-1], span
        self.log_z_base = models[0].log_z
        self.pieces = [Piece(*ends) for ends in pairwise(models)]
        places = np.linspace(0, 1, len(models)) if knots is None else knots
        self.knots = checks.schedule(places, "knots")
        if self.knots.shape != (len(models),):
            raise ValueError(f"knots has shape {self.knots.shape}: expected ({len(models)},)")
        conditional = self.rbm.hidden.conditional
        if not (conditional or move or isinstance(self.rbm.visible, Gaussian)):
            came = f"models end in {self.rbm!r}, whose hidden units have no conditional"
            meaning = "a move(model, v, rng) that leaves such models invariant"
            raise ValueError(f"{came}: expected Gaussian visible units, or {meaning}")
        self.move = move or (RBM.gibbs if conditional else moves.leaky_hmc)
        self._sweeps = conditional and self.move is RBM.gibbs
        self.joint = self._sweeps and len(models) == 2

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.rbm!r}, {len(self.models)} models)"

    def _place(self, beta):
        """Return the piece of a beta, the position t on the piece, and dt/dbeta."""
        j = np.searchsorted(self.knots, beta, side="right") - 1
        j = min(max(int(j), 0), len(self.pieces) - 1)
        width = self.knots[j + 1] - self.knots[j]
        return self.pieces[j], (beta - self.knots[j]) / width, 1 / width

    def at(self, beta: float) -> RBM:
        return self._model(checks.point(beta))

    def _model(self, beta):
        piece, t, _ = self._place(beta)
        return piece.at(t)

    def sample_base(self, n_chains: int, rng) -> np.ndarray:
        base, size = self.models[0], rows_at_once(n_chains, self.rbm.n_visible)
        if size == n_chains or not isinstance(rng, ChainStream):
            return base.draw(n_chains, rng)
        return np.concatenate([base.draw(part.n_chains, part) for part in rng.parts(size)])

    def log_density(self, v: np.ndarray, beta) -> np.ndarray:
        return self._of_pieces(v, beta, lambda piece, t, rate: piece[0](t))

    def log_density_slope(self, v: np.ndarray, beta) -> np.ndarray:
        """Return d/dbeta log p*_beta; at a knot, on the piece that begins there."""
        return self._of_pieces(v, beta, lambda piece, t, rate: rate * piece[1](t))

    def _of_pieces(self, v, beta, ask) -> np.ndarray:
        if rows_at_once(len(v), width := sum(self.rbm.weights.shape)) < len(v):
            return by_rows(lambda part: self._of_pieces(part, beta, ask), v, width)
        along = cache(lambda piece: piece.along(v))  # shared by all betas on a piece
        places = map(self._place, np.atleast_1d(beta))
        each = [ask(along(piece), t, rate) for piece, t, rate in places]
        return np.stack(each, axis=1) if np.ndim(beta) else each[0]

    def transition(self, v: np.ndarray, beta, rng) -> np.ndarray:
        piece, t = self.pieces[0], beta
        if np.ndim(beta):
            t = np.asarray(beta, float)[:, None]  # one for each chain
            if len(self.pieces) > 1 or not (self._sweeps or piece.flat):
                return self._by_beta(v, beta, rng)
        else:
            piece, t, _ = self._place(beta)
        return piece.gibbs(v, t, rng)[0] if self._sweeps else self.move(piece.at(t), v, rng)

    def _by_beta(self, v, beta, rng):
        """Make a step of chains at different betas, with one model for each distinct beta."""
        groups = [(self._model(b), np.equal(beta, b)) for b in np.unique(beta)]
        v = v.astype(float)
        if not self._sweeps:
            for model, rows in groups:
                v[rows] = self.move(model, v[rows], rng)
            return v
        x = np.empty((len(v), self.rbm.n_hidden))
        for model, rows in groups:
            x[rows] = model.field(v[rows])
        h = self.rbm.hidden.draw(x, rng)
        for model, rows in groups:
            v[rows] = model.visible_field(h[rows])
        return self.rbm.visible.draw(v, rng)

    def joint_transition(self, v: np.ndarray, beta, rng) -> tuple[np.ndarray, np.ndarray]:
        if not (self.joint and self._sweeps):
            return super().joint_transition(v, beta, rng)
        t, piece = np.asarray(beta, float), self.pieces[0]
        v, h, rise = piece.gibbs(v, t[:, None] if t.ndim else t, rng)
        return v, (v * rise).sum(axis=1) + h @ piece.hidden + piece.scale

    def visible_of(self, v: np.ndarray, rng=None) -> np.ndarray:
        return v if self.span is None else self.span(v, checks.source_of_random(rng))


class Piece:
    """The line between two models: ``low + t (high - low)`` in every parameter."""

    def __init__(self, low: RBM, high: RBM):
        if not low.like(high):
            raise ValueError(f"models hold {high!r} after {low!r}: expected layers of one kind")
        self.low, self.high = low, high
        self.weights, self.base_weights = high.weights - low.weights, bool(low.weights.any())
        self.visible = high.visible.bias - low.visible.bias
        self.hidden = high.hidden.bias - low.hidden.bias
        self.scale = high.log_scale - low.log_scale
        self.flat = not self.weights.any() and not self.scale
        self._of_bias_alone = Layer.parameters == low.hidden.parameters

    def at(self, t) -> RBM:
        """Return the model at t; t may be (n_chains, 1) if the weights do not change."""
        low, high = self.low, self.high
        if np.ndim(t) == 0 and t in (0, 1):
            return high if t else low
        visible, hidden = low.visible._between(high.visible, t), low.hidden._between(high.hidden, t)
        if self.flat:
            return low.with_(visible=visible, hidden=hidden)
        weights, scale = low.weights + t * self.weights, low.log_scale + t * self.scale
        return low.with_(visible=visible, hidden=hidden, weights=weights, log_scale=scale)

    def hidden_at(self, t) -> Layer:
        """Return the hidden layer at t for draws and cumulants, which do not use its biases."""
        low, high = self.low.hidden, self.high.hidden
        return high if self._of_bias_alone else low._between(high, t)

    def hidden_fields(self, v) -> tuple[np.ndarray, np.ndarray]:
        """Return the fields of the hidden units at t = 0, and their derivative in t."""
        low, still = self.low.hidden.bias, self.flat and self.base_weights
        x = v @ self.low.weights + low if self.base_weights else low
        return x, self.hidden if still else v @ self.weights + self.hidden

    def gibbs(self, v, t, rng):
        """Return v and h after a sweep at t, and the derivative of the visible fields in t."""
        x, rise = self.hidden_fields(v.astype(float, copy=False))
        h = self.hidden_at(t).draw(x + t * rise, rng).astype(float, copy=False)
        rise = h @ self.weights.T + self.visible
        x = self.low.visible.bias
        if self.base_weights:
            x = x + h @ self.low.weights.T
        return self.high.visible.draw(x + t * rise, rng), h, rise

    def along(self, v):
        """Return two functions of t: the log-density of the states v, and its slope."""
        v = v.astype(float, copy=False)
        (x, rise), ends = self.hidden_fields(v), (self.high.hidden, self.low.hidden)
        own = self.low.visible.own(v) + self.low.log_scale
        own_rise = v @ self.visible + self.scale

        def log_density(t):
            return own + t * own_rise + self.hidden_at(t).cumulant(x + t * rise)

        def slope(t):
            return own_rise + self.hidden_at(t)._slope(x + t * rise, rise, *ends)

        return log_density, slope
