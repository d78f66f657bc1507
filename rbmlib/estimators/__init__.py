"""Estimators of log Z, one published method a file; each returns an `Estimate`."""

from .ais import ais
from .bar import bar
from .bar_of_sample import bar_of_sample
from .exact import exact, exact_samples
from .log_z import log_z
from .mbar import mbar, mbar_of_sample
from .mbar_equations import solve_mbar, stochastic_mbar
from .reverse_ais import reverse_ais
from .rts import rts, rts_of_sample
from .sams import sams
from .tap import tap
from .ti import ti
from .transition_rts import transition_rts
from .wang_landau import wang_landau

__all__ = [
    "ais",
    "bar",
    "bar_of_sample",
    "exact",
    "exact_samples",
    "log_z",
    "mbar",
    "mbar_of_sample",
    "reverse_ais",
    "rts",
    "rts_of_sample",
    "sams",
    "solve_mbar",
    "stochastic_mbar",
    "tap",
    "ti",
    "transition_rts",
    "wang_landau",
]
