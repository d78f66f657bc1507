"""Estimators of log Z, one published method a file; each returns an `Estimate`."""

from .ais import ais
from .exact import exact, exact_samples
from .reverse_ais import reverse_ais
from .rts import rts, rts_of_sample
from .ti import ti
from .transition_rts import transition_rts
from .trusted import log_z

__all__ = [
    "ais",
    "exact",
    "exact_samples",
    "log_z",
    "reverse_ais",
    "rts",
    "rts_of_sample",
    "ti",
    "transition_rts",
]
