"""What a path is: a base of which log Z is known, and a few methods."""

from functools import partial
from types import SimpleNamespace
from typing import Any

import numpy as np

from .. import checks


class Path:
    """A curve of models p_beta, from a tractable base (beta = 0) to the target (beta = 1).

    A new path is a subclass with ``log_z_base`` and the five methods ``at``, ``sample_base``,
    ``log_density``, ``log_density_slope`` and ``transition``; estimators that anneal take it, and
    those that temper, which then draw beta given v. One whose log-density is linear in beta may
    write ``base_and_slope`` in place of ``at`` and the two densities, and set ``joint = True``.
    States are arrays (n_chains, n): visible units, or what stands for them on the path
    (`visible_of`). The methods trust what they are given.
    """

    log_z_base: float  # log Z of the base, nats
    joint = False  # whether one slope a state serves all betas, as `joint_transition` tells it
    n_coordinates: int  # numbers of a state, for `at`

    def at(self, beta: float) -> Any:
        """The model at ``beta``, from 0 to 1: its ``log_density(v)`` is that of `log_density`."""
        density = partial(self.log_density, beta=checks.point(beta))
        n = getattr(self, "n_coordinates", None)
        return SimpleNamespace(n_visible=n, log_density=density)

    def sample_base(self, n_chains: int, rng) -> np.ndarray:
        """Independent draws of the base, (n_chains, n)."""
        raise NotImplementedError

    def base_and_slope(self, v: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """log p*_0 and the slope of each state, (n_chains,) each, where it is one for all betas."""
        raise NotImplementedError

    def log_density(self, v: np.ndarray, beta) -> np.ndarray:
        """log p*_beta of each state: (n_chains,), or (n_chains, K) for K betas."""
        base, slope = self.base_and_slope(v)
        return base + beta * slope if np.ndim(beta) == 0 else base[:, None] + np.outer(slope, beta)

    def log_density_slope(self, v: np.ndarray, beta) -> np.ndarray:
        """d/dbeta log p*_beta, of the same shapes: VAROPT's g is its variance."""
        slope = self.base_and_slope(v)[1]
        return slope if np.ndim(beta) == 0 else np.tile(slope[:, None], len(beta))

    def transition(self, v: np.ndarray, beta, rng) -> np.ndarray:
        """A step that leaves p_beta invariant; ``beta`` is a number, or one a chain."""
        raise NotImplementedError

    def joint_transition(self, v: np.ndarray, beta, rng) -> tuple[np.ndarray, np.ndarray]:
        """A `transition`, and the slope (n_chains,) of a joint log-density linear in beta."""
        if not self.joint:
            held = f"{type(self).__name__} has no joint log-density that is linear in beta"
            raise TypeError(f"{held}: expected a GeometricPath, or conditional='marginal'")
        v = self.transition(v, beta, rng)
        return v, self.log_density_slope(v, 0.0)

    def visible_of(self, v: np.ndarray, rng=None) -> np.ndarray:
        """Visible units (n_chains, n_visible); what states leave open is drawn with ``rng``."""
        return v
