"""What only the chapters of the book need: parameters, stored tables, verdicts, plots, tasks."""

from rbmlib.numerics import ChainStream

from . import spectral  # noqa: F401  (which registers methods)
from .datasheet import datasheet, known_log_z, load_reference
from .live import LiveModel, live_model
from .parameters import (
    checked_parameters,
    colophon,
    noted_warnings,
    refused_parameter,
)
from .stored import recomputed, stored_results

__all__ = [
    "ChainStream",
    "LiveModel",
    "checked_parameters",
    "colophon",
    "datasheet",
    "known_log_z",
    "live_model",
    "load_reference",
    "noted_warnings",
    "recomputed",
    "refused_parameter",
    "stored_results",
]
