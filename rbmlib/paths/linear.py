"""What paths share whose log-density is linear in beta, without hidden units in it."""

from __future__ import annotations

from abc import abstractmethod
from typing import NamedTuple

import numpy as np

from .._validation import point_of_path
from .base import AnnealingPath, State


class LinearPath(AnnealingPath):
    """Paths on which ``log p*_beta(x) = log p*_0(x) + beta slope(x)``, such as geometric paths.

    One number a state serves all betas, for RTS, TI, BAR and MBAR alike, and "joint" and
    "marginal" tempering are the same. A subclass says what the two terms are.
    """

    @property
    def n_coordinates(self) -> int:
        """Numbers that stand for a state."""
        raise NotImplementedError

    @abstractmethod
    def _base_and_slope(self, x) -> tuple[np.ndarray, np.ndarray]:
        """log p*_0 and the slope, each (n_states,), of coordinates (n_states, n)."""

    def at(self, beta: float):
        return Tempered(self, point_of_path(beta))

    def log_density(self, state: State, beta) -> np.ndarray:
        base, slope = self._base_and_slope(state.coordinates)
        return base + beta * slope if np.ndim(beta) == 0 else base[:, None] + np.outer(slope, beta)

    def log_density_slope(self, state: State, beta) -> np.ndarray:
        return self._base_and_slope(state.coordinates)[1]

    def joint_transition(self, state: State, beta, rng) -> tuple[State, np.ndarray]:
        state = self.transition(state, beta, rng)
        return state, self.log_density_slope(state, beta)


class Tempered(NamedTuple):
    """The density of a path's coordinates at one beta, where that is no model of its own."""

    path: LinearPath
    beta: float

    @property
    def n_visible(self) -> int:
        return self.path.n_coordinates

    def log_density(self, x) -> np.ndarray:
        """(n_states,) of coordinates (n_states, n_visible)."""
        return self.path.log_density(State(np.asarray(x, float)), self.beta)
