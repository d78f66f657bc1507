"""Partition functions of restricted Boltzmann machines: any estimator, path, schedule, model."""

__version__ = "0.1.0"

from . import context as context
from . import schedules as schedules
from .automatic import log_z as log_z
from .context import using as using
from .estimators import *  # noqa: F403
from .models import *  # noqa: F403
from .paths import *  # noqa: F403
from .results import ConvergenceWarning as ConvergenceWarning
from .results import Estimate as Estimate
from .sampling import *  # noqa: F403
from .search import find_modes as find_modes
