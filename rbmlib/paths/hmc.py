"""Hamiltonian Monte Carlo for densities on R^d, for many chains at once.

A step draws a momentum p ~ N(0, I), follows ``x' = p, p' = grad log p*(x)`` by ``n_leapfrog``
leapfrog steps, and accepts the end with probability min(1, exp(-energy error)). The energy is
``H = |p|^2 / 2 - log p*(x)`` (Neal 2011). Leapfrog steps are reversible and preserve volume, so the
chain is exact for any step size; a large step only lowers the acceptance. A resonance can spoil
mixing: on a Gaussian of unit variance, three steps of size 1 lead from x to -x, and the chain never
leaves its sphere. Random step sizes avoid resonances.
"""

from typing import NamedTuple

import numpy as np


class Transition(NamedTuple):
    """The result of a step for each chain."""

    x: np.ndarray  # (n_chains, d) new states
    accepted: np.ndarray  # (n_chains,) bool
    energy_error: np.ndarray  # (n_chains,) H(end) - H(start), nats; inf after an overflow

    @property
    def probability(self) -> np.ndarray:
        """The acceptance probability of each proposal, (n_chains,)."""
        return np.exp(-np.maximum(self.energy_error, 0.0))


def hmc(log_density, gradient, x, step_size, n_leapfrog: int, rng) -> Transition:
    """Make one step of each chain that leaves its density invariant.

    ``log_density`` maps states x (n_chains, d) to (n_chains,) nats, up to a constant; ``gradient``
    returns the derivative (n_chains, d). The density may differ between rows, for example by beta.
    ``step_size`` is a number or (n_chains,); it must not depend on x.
    """
    momentum, step_size = rng.standard_normal(x.shape), np.reshape(step_size, (-1, 1))
    end, error = trajectory(log_density, gradient, x, momentum, step_size, n_leapfrog)
    return accept(x, end, error, rng)


def trajectory(log_density, gradient, x, momentum, step_size, n_leapfrog: int):
    """Return the end of the trajectory and the energy error (n_chains,), NaN or inf if diverged."""
    with np.errstate(over="ignore", invalid="ignore"):  # diverged trajectories are rejected
        end, last = leapfrog(gradient, x, momentum, step_size, n_leapfrog)
        kinetic = ((last**2).sum(axis=1) - (momentum**2).sum(axis=1)) / 2
        return end, kinetic - (log_density(end) - log_density(x))


def leapfrog(gradient, x, momentum, step_size, n_leapfrog: int) -> tuple[np.ndarray, np.ndarray]:
    """Return x and momentum after the steps; with the momentum reversed, the steps lead back."""
    momentum = momentum + step_size / 2 * gradient(x)
    for _ in range(n_leapfrog - 1):
        x = x + step_size * momentum
        momentum = momentum + step_size * gradient(x)
    x = x + step_size * momentum
    return x, momentum + step_size / 2 * gradient(x)


def accept(x, end, energy_error, rng) -> Transition:
    """Move each chain to its end with probability ``min(1, exp(-energy_error))``."""
    error = np.where(np.isnan(energy_error), np.inf, energy_error)
    accepted = np.log(rng.random((len(x), 1))[:, 0]) < -error
    return Transition(np.where(accepted[:, None], end, x), accepted, error)
