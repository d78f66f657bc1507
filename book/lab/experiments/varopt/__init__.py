"""Chapter varopt: experiments on annealing schedules (Kiwaki 2015), a file for each subject.

Importing them registers the words that sweeps may name.
"""

from . import annealing, trainings

__all__ = ["annealing", "trainings"]
