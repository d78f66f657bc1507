"""Models: layers and the weights between them, densities, conditionals, loading and saving."""

from . import testsystems as testsystems
from .conversion import from_state_dict as from_state_dict
from .conversion import log_likelihood as log_likelihood
from .layers import Bits as Bits
from .layers import Categories as Categories
from .layers import Layer as Layer
from .layers import Leaky as Leaky
from .layers import Normal as Normal
from .layers import Rectified as Rectified
from .layers import Spins as Spins
from .named import BernoulliRBM as BernoulliRBM
from .named import GaussianRBM as GaussianRBM
from .named import LeakyRBM as LeakyRBM
from .normal import project_weights as project_weights
from .rbm import RBM as RBM
