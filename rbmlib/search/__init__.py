"""Search for the modes of a model."""

from .modes import Modes as Modes
from .modes import find_modes as find_modes
