"""What the loops take: the layers of a family of RBMs, its weights, and a chunk's part of a run.

All of them are NamedTuples: a compiled function takes one as a single argument, at the cost of
its members.
"""

from typing import Any, NamedTuple

import numba
import numpy as np

from .active import n_words
from .memory import aligned
from .simd import LANES

f32 = np.float32

_KERNEL = {"nogil": True, "error_model": "numpy", "cache": True}


class Layer(NamedTuple):
    """Units of the field ``beta (scale x + slope) + offset``, x a sum of integer weights."""

    n_units: int
    scale: np.float32
    slope: np.ndarray  # float32, padded with zeros to a whole number of LANES
    offset: np.ndarray


class Model(NamedTuple):
    """A family of RBMs linear in beta, with its weights in the form that one route takes."""

    up: Any  # weights of the hidden units; the column after them holds the visible slope
    down: Any  # weights of the visible units
    slope_scale: float  # visible slope ~ slope_scale times its column
    hidden: Layer
    visible: Layer


class Run(NamedTuple):
    """Steps ``start`` to ``stop`` of a chunk of chains, and where its random numbers stand."""

    seed: np.uint64
    first_chain: int
    first_draw: int  # of step 0
    start: int
    stop: int


def run_of(stream, first: int, start: int, stop: int) -> Run:
    """The part of chains from ``first`` on of those that a `rbmlib._streams.ChainStream` is for."""
    return Run(np.uint64(stream.seed), stream.first_chain + first, stream.draw, start, stop)


def layer(scale, slope, offset) -> Layer:
    """The layer of vectors of units."""
    n_units = np.size(slope)
    both = aligned((2, LANES * n_words(n_units)))
    both[:, :n_units] = slope, offset
    return Layer(n_units, f32(scale), *both)


@numba.njit(**_KERNEL)
def layer_at_one(scale, bias):
    """The layer whose biases at beta = 1 are given."""
    slope = np.zeros(LANES * n_words(bias.size), f32)
    slope[: bias.size] = bias
    return Layer(bias.size, scale, slope, np.zeros(slope.size, f32))
