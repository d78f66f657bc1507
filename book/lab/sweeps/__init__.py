"""Sweeps: many declared tasks, resumable, on one machine or on a Dask cluster."""

from .run import StoreError as StoreError
from .run import Sweep as Sweep
from .task import estimates as estimates
