"""Paths."""

from . import moves as moves
from .bases import base_rate as base_rate
from .named import EnergyPath as EnergyPath
from .named import GeometricPath as GeometricPath
from .named import LeakinessPath as LeakinessPath
from .named import TrajectoryPath as TrajectoryPath
from .path import Path as Path
from .polyline import Polyline as Polyline
