"""Estimators that the race of the page compare runs beside those of `rbmlib`."""

from .multicanonical import multicanonical as multicanonical
from .neighbours import bar_of_sample as bar_of_sample
from .nrpt import nrpt as nrpt
from .smc import smc as smc
