"""Sweeps: many declared tasks, resumable, on one machine or on a Dask cluster."""

from typing import TYPE_CHECKING

from rbmlib._public import declare as _declare

if TYPE_CHECKING:
    from .kind import TaskKind as TaskKind
    from .store import StoreError as StoreError
    from .sweep import Sweep as Sweep
    from .task import ESTIMATES as ESTIMATES

_declare(globals())
