"""The path of a training: through the models of its checkpoints, one after the other."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import pairwise

import numpy as np

from .._numerics import expit
from .._validation import instance, point_of_path
from ..models.bernoulli import BernoulliRBM
from ..models.conversion import as_rbm
from .base import STATE_MEANING, AnnealingPath, State, check_visible
from .geometric import GeometricPath

MEANING = "a list of BernoulliRBMs of one size, in the order of the training, two or more"


class TrajectoryPath(AnnealingPath):
    """From a base to the first checkpoint of a training, and on through all others to the last.

    Between neighbours the parameters are linear in beta, so every point is an RBM again, and the
    piece from the base to the first checkpoint is a geometric path. Training goes through models
    whose modes split one at a time, where a path of temperatures may have to make them all at
    once. Any estimator takes this path; `rbmlib.trajectory` is made for it.

    Parameters
    ----------
    checkpoints : list of BernoulliRBM
        In the order of the training, of one size, two or more; `rbmlib.Checkpoints` collects them.
    base : array (n_visible,), BernoulliRBM, "mean_field" or None
        As in `rbmlib.GeometricPath`, for the first checkpoint.

    Attributes
    ----------
    checkpoints : list of BernoulliRBM
    rbm : BernoulliRBM
        The last of them, which is the target.
    knots : ndarray (n_checkpoints,)
        The beta of each checkpoint: equally spaced, the last at 1.

    Raises
    ------
    TypeError, ValueError
        If they are no BernoulliRBMs, fewer than two, or of different sizes.

    Examples
    --------
    >>> import rbmlib as rl
    >>> first, last = (rl.testsystems.random_rbm(8, 4, coupling=c, rng=0) for c in (0.5, 2.0))
    >>> path = rl.TrajectoryPath([first, last])
    >>> bool((path.at(path.knots[0]).weights == first.weights).all())
    True
    """

    def __init__(self, checkpoints, base="mean_field"):
        self.checkpoints = checked_checkpoints(checkpoints)
        first, self.rbm = self.checkpoints[0], self.checkpoints[-1]
        self._leg = GeometricPath(first, base=base)
        self.log_z_base = self._leg.log_z_base
        self._models = [self._leg.at(0.0), *self.checkpoints]
        self.knots = np.arange(1, len(self._models)) / (len(self._models) - 1)

    def __repr__(self) -> str:
        return (
            f"TrajectoryPath({self.rbm!r}, {len(self.checkpoints)} checkpoints, "
            f"base={self._leg.base_name!r})"
        )

    def _place(self, beta: float) -> tuple[int, float]:
        """The piece on which a point lies, and how far along it, from 0 to 1."""
        pieces = len(self.checkpoints)
        place = round(point_of_path(beta) * pieces, 9)  # knots lie on their checkpoints exactly
        piece = min(int(place), pieces - 1)
        return piece, place - piece

    def at(self, beta: float) -> BernoulliRBM:
        piece, t = self._place(beta)
        low, high = self._models[piece : piece + 2]
        if t in (0, 1):
            return high if t else low
        return BernoulliRBM(
            (1 - t) * low.weights + t * high.weights,
            (1 - t) * low.visible_bias + t * high.visible_bias,
            (1 - t) * low.hidden_bias + t * high.hidden_bias,
            log_scale=(1 - t) * low.log_scale + t * high.log_scale,
        )

    def end_at(self, beta: float) -> GeometricPath:
        """A path whose end is the model at ``beta``: its compiled sweeps at 1 are this model's."""
        model = self.at(beta)
        return GeometricPath(model, base=model.visible_bias)

    def sample_base(self, n_chains: int, rng) -> State:
        return self._leg.sample_base(n_chains, rng)

    def checked_state(self, state: State, name: str = "state") -> State:
        instance(name, state, State, STATE_MEANING)
        check_visible(name, state.coordinates, self._models[0].n_visible, binary=True)
        return state

    def log_density_slope(self, state: State, beta) -> np.ndarray:
        """Of the piece that begins at ``beta`` where two meet."""
        v = self.checked_state(state).coordinates.astype(float)
        low, high = self._models[(piece := self._place(beta)[0]) : piece + 2]
        means = expit(self.at(beta).hidden_field(v))
        fields = v @ (high.weights - low.weights) + high.hidden_bias - low.hidden_bias
        slope = v @ (high.visible_bias - low.visible_bias) + (means * fields).sum(axis=1)
        return len(self.checkpoints) * (slope + high.log_scale - low.log_scale)

    def transition(self, state: State, beta, rng) -> State:
        v = self.checked_state(state).coordinates.astype(float)
        betas = np.broadcast_to(np.asarray(beta, float), v.shape[:1])
        rows = [(self.at(b), betas == b) for b in np.unique(betas)]
        on = np.empty((len(v), self._models[0].n_hidden))
        for model, chains in rows:
            on[chains] = model.hidden_mean(v[chains])
        hidden = (rng.random(on.shape) < on).astype(float)
        for model, chains in rows:
            v[chains] = model.visible_mean(hidden[chains])
        return State((rng.random(v.shape) < v).astype(np.float32))


def checked_checkpoints(checkpoints) -> list[BernoulliRBM]:
    """Two BernoulliRBMs or more, all of one size."""
    if isinstance(checkpoints, (str, dict)) or not isinstance(checkpoints, Iterable):
        raise TypeError(f"checkpoints is a {type(checkpoints).__name__}: expected {MEANING}")
    models = [as_rbm(f"checkpoints[{i}]", model) for i, model in enumerate(checkpoints)]
    if len(models) < 2:
        raise ValueError(f"checkpoints holds {len(models)}: expected {MEANING}")
    for i, (one, two) in enumerate(pairwise(models)):
        if one.weights.shape != two.weights.shape:
            raise ValueError(
                f"checkpoints[{i + 1}] has weights of shape {two.weights.shape}, the one before "
                f"{one.weights.shape}: expected {MEANING}"
            )
    return models
