"""Paths: WHAT is annealed. A path is a polyline through models, from a tractable base to the target.

Between two models the parameters of layers and the weights are linear in beta. With layers in the
exponential family that is the geometric path, ``p*_beta ~ p*_0^(1 - beta) p*_1^beta`` of the joint
densities: one base and one target. Through fitted models it is moment averaging, through
checkpoints the path of a training; from a leaky model of leakiness 1 it anneals the leakiness.

A path that is no polyline subclasses `Path` and writes five methods: `at`, `sample_base`,
`log_density`, `log_density_slope`, `transition` (and `log_z_base`).
"""

import numpy as np

from .. import checks
from . import moves
from .path import Path


class Polyline(Path):
    """Through ``models`` at ``knots``; the first has a log Z that is known, and draws.

    Parameters
    ----------
    models : list of RBM
    knots : array (n_models,), optional
        Their betas, from 0 to 1: equally spaced by default.
    move : function, optional
        ``move(model, v, rng)``; Gibbs sampling if the layers allow it, else `moves.elliptical_slice`.
    """

    compiled = True  # False in a subclass whose models or draws the kernels do not know

    def __init__(self, models, knots=None, *, move=None, expand=None):
        self.models, self.pieces = models, [Piece(*ends) for ends in zip(models, models[1:])]
        even = np.linspace(0, 1, len(models))
        self.knots = even if knots is None else checks.schedule(knots)
        if models[0].log_z is None:
            raise ValueError(f"base is {models[0]!r} with weights: its log Z is not known")
        self.log_z_base = models[0].log_z
        conditional = models[-1].hidden.conditional
        self.move = move or (moves.gibbs if conditional else moves.elliptical_slice)
        self.joint = conditional and len(models) == 2
        self._expand = expand

    def __repr__(self):
        return f"{type(self).__name__}({self.models[-1]!r}, {len(self.models)} models)"

    def _place(self, beta):
        """The piece of a beta, how far along it is, and d/dbeta of that."""
        j = int(
            np.clip(np.searchsorted(self.knots, beta, side="right") - 1, 0, len(self.pieces) - 1)
        )
        width = self.knots[j + 1] - self.knots[j]
        return self.pieces[j], (beta - self.knots[j]) / width, 1 / width

    def at(self, beta):
        piece, t, _ = self._place(beta)
        return piece.at(t)

    def sample_base(self, n_chains, rng):
        return self.models[0].draw(n_chains, rng)

    def log_density(self, v, beta):
        if np.ndim(beta) == 0:
            piece, t, _ = self._place(beta)
            return piece.fields(v).log_density(t)
        fields, each = {}, []
        for b in beta:
            piece, t, _ = self._place(b)
            if piece not in fields:
                fields[piece] = piece.fields(v)  # once for all betas of a piece
            each.append(fields[piece].log_density(t))
        return np.stack(each, axis=1)

    def log_density_slope(self, v, beta):
        if np.ndim(beta):
            return np.stack([self.log_density_slope(v, b) for b in beta], axis=1)
        piece, t, rate = self._place(beta)
        return rate * piece.fields(v).slope(t)

    def transition(self, v, beta, rng):
        piece, many = self.pieces[0], np.ndim(beta) > 0
        if many and len(self.pieces) == 1 and (self.move is moves.gibbs or not piece.weights.any()):
            t = np.asarray(beta, float)[:, None]  # the formulas take one a chain
            return (
                piece.gibbs(v, t, rng)[0]
                if self.move is moves.gibbs
                else self.move(piece.at(t), v, rng)
            )
        if many:
            return self._by_beta(v, beta, rng)
        piece, t, _ = self._place(beta)
        return (
            piece.gibbs(v, t, rng)[0]
            if self.move is moves.gibbs
            else self.move(piece.at(t), v, rng)
        )

    def _by_beta(self, v, beta, rng):
        """Chains of one beta share a model; by Gibbs sampling each draws from its own stream."""
        groups = [(self.at(b), beta == b) for b in np.unique(beta)]
        if self.move is not moves.gibbs:
            out = np.empty_like(v)
            for model, rows in groups:
                out[rows] = self.move(model, v[rows], rng)
            return out
        target, v = self.models[-1], v.astype(float)
        x = np.empty((len(v), len(target.hidden)))
        for model, rows in groups:
            x[rows] = model.field(v[rows])
        h = target.hidden.draw(x, rng)
        for model, rows in groups:
            v[rows] = h[rows] @ model.weights.T + model.visible.bias
        return target.visible.draw(v, rng)

    def joint_transition(self, v, beta, rng):
        """A `transition`, and the slope of the joint log-density at its end (n_chains,)."""
        t = np.asarray(beta, float)
        return self.pieces[0].gibbs(v, t[:, None] if t.ndim else t, rng)

    def visible_of(self, v, rng=None):
        return v if self._expand is None else self._expand(v, checks.generator(rng))


class Piece:
    """The straight line between two models: ``low + t (high - low)`` in every parameter."""

    def __init__(self, low, high):
        kinds = [(type(m.visible), type(m.hidden), m.weights.shape) for m in (low, high)]
        if kinds[0] != kinds[1]:
            raise ValueError(f"base is {low!r}: expected the layers of {high!r}")
        self.low, self.high = low, high
        self.weights, self.base_weights = high.weights - low.weights, low.weights.any()
        self.visible = high.visible.bias - low.visible.bias
        self.hidden = high.hidden.bias - low.hidden.bias
        self.scale = high.log_scale - low.log_scale

    def at(self, t):
        model = object.__new__(RBM)
        model.visible = self.low.visible.between(self.high.visible, t)
        model.hidden = self.low.hidden.between(self.high.hidden, t)
        flat = np.ndim(t) == 0  # one t a chain: only moves whose weights do not change take it
        model.weights = self.low.weights + t * self.weights if flat else self.low.weights
        model.log_scale = self.low.log_scale + t * self.scale if flat else 0.0
        return model

    def fields(self, v):
        return Fields(self, v)

    def hidden_fields(self, v):
        """Fields of the hidden units at the low end, and how they rise to the high one."""
        low = v @ self.low.weights if self.base_weights else 0.0
        return low + self.low.hidden.bias, v @ self.weights + self.hidden

    def gibbs(self, v, t, rng):
        """A sweep at t, and the slope of log p*_t(v, h) at its end: linear in t."""
        low, high, (x, rise) = self.low, self.high, self.hidden_fields(v.astype(float, copy=False))
        h = low.hidden.between(high.hidden, t).draw(x + t * rise, rng)
        rise = h @ self.weights.T + self.visible
        x = low.visible.bias + (h @ low.weights.T if self.base_weights else 0.0)
        v = low.visible.between(high.visible, t).draw(x + t * rise, rng)
        return v, (v * rise).sum(axis=1) + h @ self.hidden + self.scale


class Fields:
    """What the densities of a piece need of some states: once for all points on it."""

    def __init__(self, piece, v):
        self.piece, v = piece, v.astype(float, copy=False)
        self.x, self.rise = piece.hidden_fields(v)
        self.own = piece.low.visible.own(v) + piece.low.log_scale
        self.own_rise = v @ piece.visible + piece.scale

    def _hidden(self, t):
        return self.piece.low.hidden.between(self.piece.high.hidden, t), self.x + t * self.rise

    def log_density(self, t):
        hidden, x = self._hidden(t)
        return self.own + t * self.own_rise + hidden.cumulant(x)

    def slope(self, t):
        (hidden, x), ends = self._hidden(t), (self.piece.high.hidden, self.piece.low.hidden)
        return self.own_rise + hidden.slope(x, self.rise, *ends)
