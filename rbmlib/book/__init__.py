"""What only the chapters of the book need: parameters, stored tables, verdicts, plots, tasks."""

from .._streams import ChainStream
from .parameters import checked_parameters, colophon, noted_warnings, refused_parameter
from .stored import recomputed, stored_results

__all__ = [
    "ChainStream",
    "checked_parameters",
    "colophon",
    "noted_warnings",
    "recomputed",
    "refused_parameter",
    "stored_results",
]
