"""Partition functions of restricted Boltzmann machines: any estimator, path, schedule, model.

>>> import rbmlib as rl
>>> rbm = rl.testsystems.random_rbm(n_visible=20, n_hidden=8, rng=1)
>>> path = rl.GeometricPath(rbm)
>>> print(rl.ais(path, rl.schedules.linear(1000), n_chains=500, rng=0).bound)
lower
"""

__version__ = "0.1.0"

from . import datasets, schedules
from .datasets import Standardisation, load_rbm
from .estimators import (
    ais,
    bar,
    bar_of_sample,
    exact,
    exact_samples,
    log_z,
    mbar,
    mbar_of_sample,
    reverse_ais,
    rts,
    rts_of_sample,
    sams,
    solve_mbar,
    stochastic_mbar,
    tap,
    ti,
    transition_rts,
    wang_landau,
)
from .models import (
    BernoulliRBM,
    GaussianMixture,
    GaussianRBM,
    LeakyRBM,
    log_likelihood,
    project_weights,
    testsystems,
)
from .moves import hmc, leaky_bias, mcmc
from .paths import (
    AnnealingPath,
    DensityPath,
    EnergyPath,
    GaussianBasePath,
    GaussianGeometricPath,
    GeometricPath,
    LeakinessPath,
    MomentAveragingPath,
    State,
    adapt_covariances,
    adapt_step_sizes,
    base_rate,
    mean_field_bias,
)
from .results import ConvergenceWarning, Estimate
from .sweeps import StoreError, Sweep
from .tempering import TemperedSample, parallel_tempering, pilot, simulated_tempering
from .training import LogZTracker, train, train_gaussian

__all__ = [
    "AnnealingPath",
    "BernoulliRBM",
    "ConvergenceWarning",
    "DensityPath",
    "EnergyPath",
    "Estimate",
    "GaussianBasePath",
    "GaussianGeometricPath",
    "GaussianMixture",
    "GaussianRBM",
    "GeometricPath",
    "LeakinessPath",
    "LeakyRBM",
    "LogZTracker",
    "MomentAveragingPath",
    "Standardisation",
    "State",
    "StoreError",
    "Sweep",
    "TemperedSample",
    "adapt_covariances",
    "adapt_step_sizes",
    "ais",
    "bar",
    "bar_of_sample",
    "base_rate",
    "datasets",
    "exact",
    "exact_samples",
    "hmc",
    "leaky_bias",
    "load_rbm",
    "log_likelihood",
    "log_z",
    "mbar",
    "mbar_of_sample",
    "mcmc",
    "mean_field_bias",
    "parallel_tempering",
    "pilot",
    "project_weights",
    "reverse_ais",
    "rts",
    "rts_of_sample",
    "sams",
    "schedules",
    "simulated_tempering",
    "solve_mbar",
    "stochastic_mbar",
    "tap",
    "testsystems",
    "ti",
    "train",
    "train_gaussian",
    "transition_rts",
    "wang_landau",
]
