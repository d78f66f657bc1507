"""Models: layers and the weights between them, densities, conditionals, loading and saving."""

from . import testsystems as testsystems
from .bernoulli import BernoulliRBM as BernoulliRBM
from .gaussian import GaussianRBM as GaussianRBM
from .gaussian import LeakyRBM as LeakyRBM
from .layers import Bits as Bits
from .layers import Categories as Categories
from .layers import Layer as Layer
from .layers import Leaky as Leaky
from .layers import Normal as Normal
from .layers import Spins as Spins
from .likelihood import log_likelihood as log_likelihood
from .mixture import GaussianMixture as GaussianMixture
from .projection import project_weights as project_weights
from .rbm import RBM as RBM
