"""Estimators of log Z, one published method a file; each returns an `Estimate`."""

from .ais import ais
from .bar import bar
from .exact import exact, exact_samples
from .reverse_ais import reverse_ais
from .trusted import log_z

__all__ = ["ais", "bar", "exact", "exact_samples", "log_z", "reverse_ais"]
