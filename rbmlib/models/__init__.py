"""Models: parameters, unnormalised log-densities, conditionals, loading and saving."""

from . import testsystems
from .bernoulli import BernoulliRBM, log_likelihood
from .gaussian import GaussianRBM
from .leaky import LeakyRBM
from .mixture import GaussianMixture
from .projection import project_weights

__all__ = [
    "BernoulliRBM",
    "GaussianMixture",
    "GaussianRBM",
    "LeakyRBM",
    "log_likelihood",
    "project_weights",
    "testsystems",
]
