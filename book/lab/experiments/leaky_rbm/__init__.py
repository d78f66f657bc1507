"""Chapter leaky_rbm: experiments on leaky RBMs (Li et al. 2016), a file for each subject.

Importing them registers the words that sweeps may name.
"""

from . import cifar10, divergence, mixing, single, training

__all__ = ["cifar10", "divergence", "mixing", "single", "training"]
