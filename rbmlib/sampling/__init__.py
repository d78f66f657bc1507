"""Loops along a path (annealing, sweeps, tempering), and samples over betas."""

from .anneal import Pilot as Pilot
from .anneal import anneal as anneal
from .anneal import both_ends as both_ends
from .anneal import pilot as pilot
from .anneal import sweep as sweep
from .sample import TemperedSample as TemperedSample
from .temper import adapt as adapt
from .temper import temper as temper
from .tempered import parallel_tempering as parallel_tempering
from .tempered import simulated_tempering as simulated_tempering
