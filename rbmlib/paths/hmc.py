"""Hamiltonian Monte Carlo for densities on R^d: many chains at once, a step size for each.

A momentum p ~ N(0, I) is drawn, ``x' = p, p' = grad log p*(x)`` is followed by ``n_leapfrog``
leapfrog steps, and the end is accepted with probability min(1, exp(-energy error)), the energy
being ``H = |p|^2 / 2 - log p*(x)`` (Neal 2011). Leapfrog is reversible and keeps volume, so the
chain is exact whatever the step size, whose error only costs acceptance. What can go wrong is a
resonance: on a Gaussian of unit variance three steps of 1 lead from x to -x, and a chain never
leaves its sphere. Step sizes that are drawn anew each time cure it.
"""

from typing import NamedTuple

import numpy as np


class Transition(NamedTuple):
    """What a step did to each chain."""

    x: np.ndarray  # (n_chains, d) where the chains are now
    accepted: np.ndarray  # (n_chains,) bool
    energy_error: np.ndarray  # (n_chains,) H(end) - H(start), nats; inf where it overflowed

    @property
    def probability(self) -> np.ndarray:
        """Probability with which each proposal was accepted (n_chains,)."""
        return np.exp(-np.maximum(self.energy_error, 0.0))


def hmc(log_density, gradient, x, step_size, n_leapfrog: int, rng) -> Transition:
    """One step of each chain, which leaves its density invariant.

    ``log_density`` and ``gradient`` are of states x (n_chains, d): (n_chains,) nats, up to a
    constant, and its derivative (n_chains, d). Row i may have a density of its own (its own beta),
    and a step size: a number, or (n_chains,). It may depend on a chain's beta, not on its x.
    """
    momentum, step_size = rng.standard_normal(x.shape), np.reshape(step_size, (-1, 1))
    end, error = trajectory(log_density, gradient, x, momentum, step_size, n_leapfrog)
    return accept(x, end, error, rng)


def trajectory(log_density, gradient, x, momentum, step_size, n_leapfrog: int):
    """Where `leapfrog` leads, and the energy error (n_chains,), NaN or inf where it diverged."""
    with np.errstate(over="ignore", invalid="ignore"):  # what diverged is rejected
        end, last = leapfrog(gradient, x, momentum, step_size, n_leapfrog)
        kinetic = ((last**2).sum(axis=1) - (momentum**2).sum(axis=1)) / 2
        return end, kinetic - (log_density(end) - log_density(x))


def leapfrog(gradient, x, momentum, step_size, n_leapfrog: int) -> tuple[np.ndarray, np.ndarray]:
    """The new x and momentum; with the momentum turned round, the same steps lead back."""
    momentum = momentum + step_size / 2 * gradient(x)
    for _ in range(n_leapfrog - 1):
        x = x + step_size * momentum
        momentum = momentum + step_size * gradient(x)
    x = x + step_size * momentum
    return x, momentum + step_size / 2 * gradient(x)


def accept(x, end, energy_error, rng) -> Transition:
    """Each chain goes to its end with probability ``min(1, exp(-energy_error))``, or stays."""
    error = np.where(np.isnan(energy_error), np.inf, energy_error)
    accepted = np.log(rng.random((len(x), 1))[:, 0]) < -error
    return Transition(np.where(accepted[:, None], end, x), accepted, error)
