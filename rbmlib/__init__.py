"""Estimate partition functions of restricted Boltzmann machines.

>>> import rbmlib as rl
>>> rbm = rl.testsystems.random_rbm(n_visible=20, n_hidden=8, rng=1)
>>> path = rl.GeometricPath(rbm)
>>> print(rl.ais(path, rl.schedules.linear(1000), n_chains=500, rng=0).bound)
lower
"""

from os import environ as _environ

# OpenBLAS reads this when NumPy loads it. By default, a waiting thread spins for 2**26 cycles.
_environ.setdefault("OPENBLAS_THREAD_TIMEOUT", "18")

from . import datasets as datasets
from . import plot as plot
from . import schedules as schedules
from .automatic.log_z import log_z as log_z
from .context import __version__ as __version__
from .context import using as using
from .datasets import load_rbm as load_rbm
from .estimators.ais import ais as ais
from .estimators.bar import bar as bar
from .estimators.exact import exact as exact
from .estimators.join import join as join
from .estimators.mbar import mbar as mbar
from .estimators.mbar import mbar_of_sample as mbar_of_sample
from .estimators.mbar import solve_mbar as solve_mbar
from .estimators.reverse_ais import reverse_ais as reverse_ais
from .estimators.rts import rts as rts
from .estimators.rts import rts_of_sample as rts_of_sample
from .estimators.sample import Draws as Draws
from .estimators.sample import sample as sample
from .estimators.sams import sams as sams
from .estimators.tap import tap as tap
from .estimators.ti import ti as ti
from .estimators.wang_landau import wang_landau as wang_landau
from .models import RBM as RBM
from .models import BernoulliRBM as BernoulliRBM
from .models import Binary as Binary
from .models import DoubleReLU as DoubleReLU
from .models import Gaussian as Gaussian
from .models import GaussianRBM as GaussianRBM
from .models import Layer as Layer
from .models import LeakyRBM as LeakyRBM
from .models import LeakyReLU as LeakyReLU
from .models import Potts as Potts
from .models import Spin as Spin
from .models import from_state_dict as from_state_dict
from .models import log_likelihood as log_likelihood
from .models import project_weights as project_weights
from .models import testsystems as testsystems
from .paths import DensityPath as DensityPath
from .paths import EnergyPath as EnergyPath
from .paths import GeometricPath as GeometricPath
from .paths import LeakinessPath as LeakinessPath
from .paths import Path as Path
from .paths import Polyline as Polyline
from .paths import base_rate as base_rate
from .paths import mean_field_bias as mean_field_bias
from .results import Check as Check
from .results import ConvergenceWarning as ConvergenceWarning
from .results import Estimate as Estimate
from .sampling import Pilot as Pilot
from .sampling import TemperedSample as TemperedSample
from .sampling import parallel_tempering as parallel_tempering
from .sampling import pilot as pilot
from .sampling import simulated_tempering as simulated_tempering
from .search import Modes as Modes
from .search import check as check
from .search import find_modes as find_modes
from .training import LogZTracker as LogZTracker
from .training import TrainingResult as TrainingResult
from .training import train as train
