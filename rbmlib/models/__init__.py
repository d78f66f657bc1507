"""Models: parameters, unnormalised log-densities, conditionals, loading and saving."""

from . import testsystems as testsystems
from .bernoulli import BernoulliRBM as BernoulliRBM
from .gaussian import GaussianRBM as GaussianRBM
from .leaky import LeakyRBM as LeakyRBM
from .likelihood import log_likelihood as log_likelihood
from .mixture import GaussianMixture as GaussianMixture
from .modes import Modes as Modes
from .modes import find_modes as find_modes
from .projection import project_weights as project_weights
