"""Moves: what leaves a density invariant. Metropolis-Hastings, Hamiltonian Monte Carlo, slices."""

from . import hmc, leaky_bias
from . import metropolis as mcmc

__all__ = ["hmc", "leaky_bias", "mcmc"]
