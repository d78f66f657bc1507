"""Partition functions of restricted Boltzmann machines: any estimator, path, schedule, model.

>>> import rbmlib as rl
>>> rbm = rl.testsystems.random_rbm(n_visible=20, n_hidden=8, rng=1)
>>> path = rl.GeometricPath(rbm)
>>> print(rl.ais(path, rl.schedules.linear(1000), n_chains=500, rng=0).bound)
lower
"""

from typing import TYPE_CHECKING

from . import _interrupts

_interrupts.quiet_start()  # what a command imports takes a second
__version__ = "0.1.0"

from ._public import declare as _declare

if TYPE_CHECKING:
    from . import datasets as datasets
    from . import schedules as schedules
    from .automatic import *
    from .datasets import Standardisation as Standardisation
    from .datasets import load_rbm as load_rbm
    from .estimators import *
    from .models import *
    from .moves import *
    from .paths import *
    from .results import ConvergenceWarning as ConvergenceWarning
    from .results import Estimate as Estimate
    from .tempering import *
    from .training import *

_declare(globals())
