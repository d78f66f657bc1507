"""What a sweep can name: models, paths, schedules and estimators, as plain words and numbers.

A task is a mapping such as ``{model: h20, base: base rate, schedule: linear, n_temperatures:
10000, estimator: ais, n_chains: 500, seed: 0}``. Each registry maps a word to a function.
Its positional parameters say what it is built from: any of ``rbm``, ``path``, ``betas``, ``rng``
and ``seed``; its keyword-only parameters are the settings that a task may give, with their types
and defaults. An estimator returns an `Estimate`, or one and a dict of further columns. So a new
schedule or estimator is one decorated function in the file of its subject, and nothing else.
"""

from . import (  # noqa: F401  (each registers its functions)
    adaptive,
    annealed,
    cifar10,
    deterministic,
    leaky,
    paths,
    schedules,
    tempered,
    tracking,
)
from .models import BASES, MODELS, TEST_SETS, check_models, model_digest
from .registry import ESTIMATORS, PATHS, SCHEDULES, register
from .task import DIGITS, checked, declared, estimate

RESULTS_VERSION = 1  # raised when the results of tasks change: see `rbmlib.sweep`

__all__ = [
    "BASES",
    "DIGITS",
    "ESTIMATORS",
    "MODELS",
    "PATHS",
    "RESULTS_VERSION",
    "SCHEDULES",
    "TEST_SETS",
    "check_models",
    "checked",
    "declared",
    "estimate",
    "model_digest",
    "register",
]
