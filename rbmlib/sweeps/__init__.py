"""Sweeps: many declared tasks, resumable, on one machine or on a Dask cluster."""

from .kind import TaskKind
from .store import StoreError
from .sweep import Sweep
from .task import ESTIMATES

__all__ = ["ESTIMATES", "StoreError", "Sweep", "TaskKind"]
