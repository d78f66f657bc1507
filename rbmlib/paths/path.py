"""The interface of a path: a base with known log Z, and a few methods."""

from functools import partial
from types import SimpleNamespace
from typing import Any

import numpy as np

from .. import checks


class Path:
    """A curve of models p_beta, from a tractable base (beta = 0) to the target (beta = 1).

    A new path is a subclass with ``log_z_base`` and the five methods ``at``, ``sample_base``,
    ``log_density``, ``log_density_slope`` and ``transition``. Annealing estimators accept it, and
    so do tempering estimators, which then draw beta given v. A path whose log-density is linear in
    beta may define ``base_and_slope`` instead of ``at`` and the two densities, and set
    ``joint = True``. States are arrays (n_chains, n) of visible units or of coordinates
    (`visible_of`). The methods do not check their arguments.
    """

    log_z_base: float  # log Z of the base, nats
    joint = False  # whether `joint_transition` is available
    n_coordinates: int  # length of a state, for `at`

    def at(self, beta: float) -> Any:
        """Return the model at ``beta``, from 0 to 1; it has a method ``log_density(v)``."""
        density = partial(self.log_density, beta=checks.point(beta))
        return SimpleNamespace(n_visible=getattr(self, "n_coordinates", None), log_density=density)

    def sample_base(self, n_chains: int, rng) -> np.ndarray:
        """Return independent draws from the base, (n_chains, n)."""
        raise NotImplementedError

    def base_and_slope(self, v: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return log p*_0 and the slope of each state, (n_chains,) each, if linear in beta."""
        raise NotImplementedError

    def log_density(self, v: np.ndarray, beta) -> np.ndarray:
        """Return log p*_beta of each state: (n_chains,), or (n_chains, K) for K betas."""
        base, slope = self.base_and_slope(v)
        return base + beta * slope if np.ndim(beta) == 0 else base[:, None] + np.outer(slope, beta)

    def log_density_slope(self, v: np.ndarray, beta) -> np.ndarray:
        """Return d/dbeta log p*_beta in the same shape; its variance is the g of VAROPT."""
        slope = self.base_and_slope(v)[1]
        return slope if np.ndim(beta) == 0 else np.tile(slope[:, None], len(beta))

    def transition(self, v: np.ndarray, beta, rng) -> np.ndarray:
        """Make a step that leaves p_beta invariant; ``beta`` is a number or (n_chains,)."""
        raise NotImplementedError

    def joint_transition(self, v: np.ndarray, beta, rng) -> tuple[np.ndarray, np.ndarray]:
        """Make a `transition`; return v and the slope (n_chains,) of the joint log-density."""
        if not self.joint:
            held = f"{type(self).__name__} has no joint log-density that is linear in beta"
            raise TypeError(f"{held}: expected a GeometricPath, or conditional='marginal'")
        v = self.transition(v, beta, rng)
        return v, self.log_density_slope(v, 0.0)

    def visible_of(self, v: np.ndarray, rng=None) -> np.ndarray:
        """Return visible units (n_chains, n_visible); ``rng`` draws what v does not determine."""
        return v
