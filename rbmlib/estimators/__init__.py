"""Estimators of log Z, one published method a file; each returns an `Estimate`."""

from typing import TYPE_CHECKING

from .._public import declare as _declare

if TYPE_CHECKING:
    from .ais import ais as ais
    from .bar import bar as bar
    from .bar_of_sample import bar_of_sample as bar_of_sample
    from .exact import exact as exact
    from .exact import exact_samples as exact_samples
    from .mbar import mbar as mbar
    from .mbar import mbar_of_sample as mbar_of_sample
    from .mbar_equations import solve_mbar as solve_mbar
    from .mbar_equations import stochastic_mbar as stochastic_mbar
    from .multicanonical import multicanonical as multicanonical
    from .nrpt import nrpt as nrpt
    from .reverse_ais import reverse_ais as reverse_ais
    from .rts import rts as rts
    from .rts import rts_of_sample as rts_of_sample
    from .sams import sams as sams
    from .smc import smc as smc
    from .stepping_stone import stepping_stone_of_sample as stepping_stone_of_sample
    from .tap import tap as tap
    from .ti import ti as ti
    from .trajectory import trajectory as trajectory
    from .transition_rts import transition_rts as transition_rts
    from .wang_landau import wang_landau as wang_landau

_declare(globals())
