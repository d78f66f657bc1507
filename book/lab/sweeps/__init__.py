"""Sweeps: many declared tasks, resumable, on one machine or on a Dask cluster.

declaration   tasks, as grids in a YAML file
kind, task    what a task is: settings, key, what computes it; log Z of a model is one kind
words         what a task may name: models, bases, paths, schedules, estimators
prechecks     what would fail, found before anything is computed
store         results as they come in (SQLite)
engine        tasks on Dask
sweep         all of it together, and the table (CSV), read before anything is computed
"""

from .kind import TaskKind as TaskKind
from .store import StoreError as StoreError
from .sweep import Sweep as Sweep
from .task import ESTIMATES as ESTIMATES
