"""Search for the modes of a model, and for what a run has missed."""

from .check import check as check
from .modes import Modes as Modes
from .modes import find_modes as find_modes
