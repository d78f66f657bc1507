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
from .models import testsystems as testsystems
from .models.conversion import from_state_dict as from_state_dict
from .models.conversion import log_likelihood as log_likelihood
from .models.layers import Binary as Binary
from .models.layers import DoubleReLU as DoubleReLU
from .models.layers import Gaussian as Gaussian
from .models.layers import Layer as Layer
from .models.layers import LeakyReLU as LeakyReLU
from .models.layers import Potts as Potts
from .models.layers import Spin as Spin
from .models.named import BernoulliRBM as BernoulliRBM
from .models.named import GaussianRBM as GaussianRBM
from .models.named import LeakyRBM as LeakyRBM
from .models.normal import project_weights as project_weights
from .models.rbm import RBM as RBM
from .paths.bases import base_rate as base_rate
from .paths.bases import mean_field_bias as mean_field_bias
from .paths.density import DensityPath as DensityPath
from .paths.named import EnergyPath as EnergyPath
from .paths.named import GeometricPath as GeometricPath
from .paths.named import LeakinessPath as LeakinessPath
from .paths.path import Path as Path
from .paths.polyline import Polyline as Polyline
from .results import Check as Check
from .results import ConvergenceWarning as ConvergenceWarning
from .results import Estimate as Estimate
from .sampling.anneal import Pilot as Pilot
from .sampling.anneal import pilot as pilot
from .sampling.sample import TemperedSample as TemperedSample
from .sampling.tempered import parallel_tempering as parallel_tempering
from .sampling.tempered import simulated_tempering as simulated_tempering
from .search.check import check as check
from .search.modes import Modes as Modes
from .search.modes import find_modes as find_modes
from .training.loop import TrainingResult as TrainingResult
from .training.tracking import LogZTracker as LogZTracker
from .training.train import train as train
