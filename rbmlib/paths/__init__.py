"""Annealing paths: WHAT is annealed, from a tractable base (beta = 0) to the target (beta = 1)."""

from .base import AnnealingPath as AnnealingPath
from .base import State as State
from .bases import base_rate as base_rate
from .bases import mean_field_bias as mean_field_bias
from .density import DensityPath as DensityPath
from .density import adapt_covariances as adapt_covariances
from .density import adapt_step_sizes as adapt_step_sizes
from .fitted_gaussian import GaussianBasePath as GaussianBasePath
from .geometric import GeometricPath as GeometricPath
from .leaky import EnergyPath as EnergyPath
from .leaky import GaussianGeometricPath as GaussianGeometricPath
from .leaky import LeakinessPath as LeakinessPath
from .moment_averaging import MomentAveragingPath as MomentAveragingPath
from .trajectory import TrajectoryPath as TrajectoryPath
