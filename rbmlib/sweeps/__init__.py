"""Sweeps: many declared tasks, resumable, on one machine or on a Dask cluster."""

from .kind import TaskKind as TaskKind
from .store import StoreError as StoreError
from .sweep import Sweep as Sweep
from .task import ESTIMATES as ESTIMATES
