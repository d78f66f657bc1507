"""Chapter calibration: how often intervals hold log Z, and which runs say so and are wrong.

Importing them registers the words that sweeps may name.
"""

from . import coverage, kinds, trusted

__all__ = ["coverage", "kinds", "trusted"]
