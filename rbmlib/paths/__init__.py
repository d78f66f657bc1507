"""Annealing paths: WHAT is annealed, from a tractable base (beta = 0) to the target (beta = 1)."""

from .base import AnnealingPath, State
from .bases import base_rate, mean_field_bias
from .density import DensityPath, adapt_covariances, adapt_step_sizes
from .fitted_gaussian import GaussianBasePath
from .geometric import GeometricPath
from .leaky import EnergyPath, GaussianGeometricPath, LeakinessPath
from .moment_averaging import MomentAveragingPath

__all__ = [
    "AnnealingPath",
    "DensityPath",
    "EnergyPath",
    "GaussianBasePath",
    "GaussianGeometricPath",
    "GeometricPath",
    "LeakinessPath",
    "MomentAveragingPath",
    "State",
    "adapt_covariances",
    "adapt_step_sizes",
    "base_rate",
    "mean_field_bias",
]
