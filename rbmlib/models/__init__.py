"""Models: layers, weights, densities, conditional distributions, and model files."""

from . import testsystems as testsystems
from .conversion import from_state_dict as from_state_dict
from .conversion import log_likelihood as log_likelihood
from .layers import Binary as Binary
from .layers import DoubleReLU as DoubleReLU
from .layers import Gaussian as Gaussian
from .layers import Layer as Layer
from .layers import LeakyReLU as LeakyReLU
from .layers import Potts as Potts
from .layers import Spin as Spin
from .named import BernoulliRBM as BernoulliRBM
from .named import GaussianRBM as GaussianRBM
from .named import LeakyRBM as LeakyRBM
from .normal import project_weights as project_weights
from .rbm import RBM as RBM
