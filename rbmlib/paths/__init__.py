"""Annealing paths from a tractable base (beta = 0) to the target (beta = 1)."""

from .bases import base_rate as base_rate
from .bases import mean_field_bias as mean_field_bias
from .density import DensityPath as DensityPath
from .named import EnergyPath as EnergyPath
from .named import GeometricPath as GeometricPath
from .named import LeakinessPath as LeakinessPath
from .path import Path as Path
from .polyline import Polyline as Polyline
