"""Sweeps: many declared tasks, resumable, on one machine or on a Dask cluster.

declare   which tasks a sweep has: a YAML file with grids of settings
task      log Z of a model as a task, checked and computed
words     what such a task may name: models, bases, paths, schedules, estimators
run       a sweep of any function: keys, the table (CSV), the store of results (SQLite)
engine    its tasks on Dask
"""

from .run import StoreError as StoreError
from .run import Sweep as Sweep
from .task import estimates as estimates
