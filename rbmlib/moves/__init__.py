"""Moves: what leaves a density invariant. Metropolis-Hastings, Hamiltonian Monte Carlo, slices."""

from typing import TYPE_CHECKING

from .._public import declare as _declare

if TYPE_CHECKING:
    from . import hmc as hmc
    from . import leaky_bias as leaky_bias
    from . import metropolis as _metropolis

    mcmc = _metropolis

_declare(globals())
