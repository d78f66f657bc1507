"""Search for the modes of a model, and independent checks of estimates."""

from .check import check as check
from .modes import Modes as Modes
from .modes import find_modes as find_modes
