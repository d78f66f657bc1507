"""The step of Metropolis: go where was proposed, or stay."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from .._outermost import trusted


class Transition(NamedTuple):
    """What a step did to each chain."""

    x: np.ndarray  # (n_chains, d) where the chains are now
    accepted: np.ndarray  # (n_chains,) bool
    energy_error: np.ndarray  # (n_chains,) H(end) - H(start), nats; inf where it overflowed

    @property
    def probability(self) -> np.ndarray:
        """Probability with which each proposal was accepted (n_chains,)."""
        return np.exp(-np.maximum(self.energy_error, 0.0))


def accept(x, end, energy_error, log_uniforms) -> Transition:
    """Each chain goes to its end with probability ``min(1, exp(-energy_error))``, or stays."""
    error = np.where(np.isnan(energy_error), np.inf, energy_error)
    accepted = log_uniforms < -error
    return Transition(np.where(accepted[:, None], end, x), accepted, error)


def values_of(log_density, x) -> np.ndarray:
    """log p* of states (n_chains, d): (n_chains,)."""
    with trusted():  # a proposal may be anywhere: it is refused by its value
        values = np.asarray(log_density(x), float)
    if values.shape != x.shape[:1]:
        raise ValueError(
            f"log_density gives shape {values.shape}: expected {x.shape[:1]}, one value a state"
        )
    return values
