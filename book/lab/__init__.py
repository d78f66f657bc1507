"""Code for the chapters of the book: parameters, stored tables, verdicts, plots and tasks."""

from . import training  # noqa: F401  (which registers methods)
from .live import checked_parameters, colophon, live_model, noted_warnings
from .models import datasheet, load_reference
from .stored import recomputed, stored_results

__all__ = [
    "checked_parameters", "colophon", "datasheet", "live_model", "load_reference",
    "noted_warnings", "recomputed", "stored_results",
]  # fmt: skip
