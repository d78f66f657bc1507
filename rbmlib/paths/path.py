"""What a path is: a base of which log Z is known, and five methods."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from .. import checks


class Path:
    """A curve of models p_beta, from a tractable base (beta = 0) to the target (beta = 1).

    A new path is a subclass with ``log_z_base`` and the five methods ``at``, ``sample_base``,
    ``log_density``, ``log_density_slope`` and ``transition``; estimators that anneal take it, and
    those that temper, which then draw beta given v. States are arrays (n_chains, n): visible
    units, or what stands for them on the path (`visible_of`). The methods trust what they are
    given.
    """

    log_z_base: float  # log Z of the base, nats
    joint = False  # whether one slope a state serves all betas, as `joint_transition` tells it

    def at(self, beta: float) -> Any:
        """The model at ``beta``, from 0 to 1: its ``log_density(v)`` is that of `log_density`."""
        raise NotImplementedError

    def sample_base(self, n_chains: int, rng) -> np.ndarray:
        """Independent draws of the base, (n_chains, n)."""
        raise NotImplementedError

    def log_density(self, v: np.ndarray, beta) -> np.ndarray:
        """log p*_beta of each state: (n_chains,), or (n_chains, K) for K betas."""
        raise NotImplementedError

    def log_density_slope(self, v: np.ndarray, beta) -> np.ndarray:
        """d/dbeta log p*_beta, of the same shapes: VAROPT's g is its variance."""
        raise NotImplementedError

    def transition(self, v: np.ndarray, beta, rng) -> np.ndarray:
        """A step that leaves p_beta invariant; ``beta`` is a number, or one a chain."""
        raise NotImplementedError

    def joint_transition(self, v: np.ndarray, beta, rng) -> tuple[np.ndarray, np.ndarray]:
        """A `transition`, and the slope (n_chains,) of a joint log-density linear in beta."""
        raise TypeError(
            f"{type(self).__name__} has no joint log-density that is linear in beta: expected a "
            'GeometricPath, or conditional="marginal"'
        )

    def visible_of(self, v: np.ndarray, rng=None) -> np.ndarray:
        """Visible units (n_chains, n_visible); what states leave open is drawn with ``rng``."""
        return v


class LinearPath(Path):
    """Paths on which ``log p*_beta(v) = log p*_0(v) + beta slope(v)``, without hidden units in it.

    A subclass writes ``base_and_slope``, ``sample_base`` and ``transition``.
    """

    joint = True
    n_coordinates: int  # numbers of a state

    def base_and_slope(self, v: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """log p*_0 and the slope of each state, (n_chains,) each."""
        raise NotImplementedError

    def at(self, beta: float) -> Any:
        return Tempered(self, checks.point(beta))

    def log_density(self, v: np.ndarray, beta) -> np.ndarray:
        base, slope = self.base_and_slope(v)
        return base + beta * slope if np.ndim(beta) == 0 else base[:, None] + np.outer(slope, beta)

    def log_density_slope(self, v: np.ndarray, beta) -> np.ndarray:
        slope = self.base_and_slope(v)[1]
        return slope if np.ndim(beta) == 0 else np.tile(slope[:, None], len(beta))

    def joint_transition(self, v: np.ndarray, beta, rng) -> tuple[np.ndarray, np.ndarray]:
        v = self.transition(v, beta, rng)
        return v, self.log_density_slope(v, 0.0)


class Tempered(NamedTuple):
    """The density of a path's states at one beta, where that is no model of its own."""

    path: LinearPath
    beta: float

    @property
    def n_visible(self) -> int:
        return self.path.n_coordinates

    def log_density(self, v) -> np.ndarray:
        """(n_states,) of states (n_states, n_visible)."""
        return self.path.log_density(np.asarray(v, float), self.beta)
