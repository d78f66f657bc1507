"""Chapter calibration: how often intervals hold log Z, and how often a verdict is wrong.

Importing them registers the words that sweeps may name.
"""

from . import coverage, kinds, verdicts

__all__ = ["coverage", "kinds", "verdicts"]
