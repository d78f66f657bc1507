"""Moves: what leaves a density invariant. Metropolis-Hastings, Hamiltonian Monte Carlo, slices."""

from . import hmc as hmc
from . import leaky_bias as leaky_bias
from . import metropolis as _metropolis

mcmc = _metropolis
