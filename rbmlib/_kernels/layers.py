"""What the loops take: weights, the layers of a family of RBMs, states, a chunk's part of a run.

Weights are fixed-point integers, so that fields do not depend on the order of summation:
``W ~ scale * q`` with ``scale`` a power of two and integers ``|q| < 2**15``. The scale is the
finest for which no sum of entries of q over active units can leave (-2**24, 2**24): float32
then holds every partial sum exactly, whatever the order of summation, the BLAS or the number
of threads. What rounding the weights changes is put right by one more importance step to the
float64 model (`rbmlib.sampling.compiled`). Any size of model is exact; each doubling beyond 512
units of the largest weight, or some 10,000 of typical ones, costs one bit of the weights.

Binary states are words of sixteen bits, and lists of the units that are 1. A field is the sum of
the weight rows of these, far fewer than a matrix product takes for sparse states. Drawing gives
sixteen bits at once; a table of the places of the bits of every byte turns them into a list
without a branch a unit.
"""

import math
from typing import Any, NamedTuple

import numpy as np

from .simd import LANES, load, njit, store

f32 = np.float32


# memory -------------------------------------------------------------------------------------

CACHE_LINE = 64


def aligned(shape, dtype=np.float32) -> np.ndarray:
    """Zeros that start at a cache line: a vector that straddles two is loaded more slowly."""
    n_bytes = math.prod(shape) * np.dtype(dtype).itemsize
    memory = np.zeros(n_bytes + CACHE_LINE, np.uint8)
    start = -memory.ctypes.data % CACHE_LINE
    return memory[start : start + n_bytes].view(dtype).reshape(shape)


@njit
def aligned_empty(size, dtype):
    """As `aligned` of one dimension, within a kernel, and of any content."""
    memory = np.empty(size + CACHE_LINE, dtype)
    start = (-memory.ctypes.data) % CACHE_LINE // memory.itemsize
    return memory[start : start + size]


# weights ------------------------------------------------------------------------------------

MAX_ENTRY = 2**15 - 1
MAX_SUM = 2**24
LARGEST = 1e30  # of a weight: sums over a layer stay far from the end of float32
SMALLEST_SCALE = 2.0**-126  # the least normal float32: weights far below it are 0


class FixedPoint(NamedTuple):
    """Integers held in float32, C-ordered both ways, with the difference of biases beside W."""

    up: np.ndarray  # (n_visible, n_hidden + 1): q, and the visible slope in its last column
    down: np.ndarray  # (n_hidden, n_visible): q transposed
    scale: float  # W ~ scale * q
    slope_scale: float  # visible slope ~ slope_scale * up[:, -1]


def largest_sums(q: np.ndarray) -> np.ndarray:
    """The largest magnitude that sums of some of a column can reach: q (..., n, n_columns)."""
    positive = np.maximum(q, 0).sum(axis=-2)
    return np.maximum(positive, positive - q.sum(axis=-2))


def _quantise(values: np.ndarray, both_ways: bool) -> tuple[np.ndarray, float]:
    largest = float(np.abs(values).max(initial=0.0))
    if largest == 0.0:
        return np.zeros_like(values), 1.0
    if not largest <= LARGEST:
        raise ValueError(f"parameters reach {largest:.3g}: expected {LARGEST:.0e} at most")
    scale = 2.0 ** np.floor(np.log2(max(largest / MAX_ENTRY, SMALLEST_SCALE)))
    while True:
        q = np.rint(values / scale)
        reach = max(largest_sums(q).max(), largest_sums(q.T).max() if both_ways else 0.0)
        if np.abs(q).max() <= MAX_ENTRY and reach < MAX_SUM:
            return q, float(scale)
        scale *= 2.0


def quantise(weights: np.ndarray, visible_slope: np.ndarray) -> FixedPoint:
    """Fixed-point form of ``weights`` (n_visible, n_hidden) and ``visible_slope`` (n_visible,)."""
    if max(np.shape(weights)) > MAX_UNITS:
        came = f"the model has layers of {np.shape(weights)} units"
        raise ValueError(f"{came}: compiled loops take {MAX_UNITS:,} at most")
    q, scale = _quantise(np.asarray(weights, float), both_ways=True)
    slope, slope_scale = _quantise(np.asarray(visible_slope, float)[:, None], both_ways=False)
    up = np.ascontiguousarray(np.hstack([q, slope]), dtype=np.float32)
    return FixedPoint(up, np.ascontiguousarray(q.T, dtype=np.float32), scale, slope_scale)


# states ----------------------------------------------------------------------------------------

_BITS = np.arange(256)[:, None] >> np.arange(8) & 1  # of every byte
PLACES = np.argsort(-_BITS, axis=1, kind="stable").astype(np.uint16)  # those of ones first
COUNTS = _BITS.sum(axis=1)
MAX_UNITS = 2**16 - 1  # of a layer: lists are of 16-bit integers
ROOM = 8  # a list is written eight units at a time


@njit
def n_words(n_units):
    return (n_units + LANES - 1) // LANES


@njit
def read_rows(v):
    """Words of rows of zeros and ones, (n_chains, n_words)."""
    n_chains, n_units = v.shape
    words = np.zeros((n_chains, n_words(n_units)), np.uint16)
    for chain in range(n_chains):
        for i in range(n_units):
            words[chain, i // LANES] |= np.int64(v[chain, i]) << (i % LANES)
    return words


@njit
def write_rows(words, v):
    """Rows of zeros and ones from words."""
    for chain in range(v.shape[0]):
        for i in range(v.shape[1]):
            v[chain, i] = f32((np.int64(words[chain, i // LANES]) >> (i % LANES)) & 1)


@njit
def list_active(words, n_units, active):
    """List the units whose bit is set; returns how many. ``active`` needs ROOM for more."""
    n_active, rest = 0, n_units % LANES
    if rest:  # what was drawn beyond the last unit
        words[n_units // LANES] &= (1 << rest) - 1
    for word in range(n_words(n_units)):
        bits = np.int64(words[word])
        for byte in range(2):
            here = (bits >> (8 * byte)) & 255
            store(active, n_active, load(PLACES, 8 * here) + (LANES * word + 8 * byte))
            n_active += COUNTS[here]
    return n_active


# layers and runs ------------------------------------------------------------------------------


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
    """The part of chains from ``first`` on of those that a `rbmlib.numerics.ChainStream` is for."""
    return Run(np.uint64(stream.seed), stream.first_chain + first, stream.draw, start, stop)


def layer(scale, slope, offset) -> Layer:
    """The layer of vectors of units."""
    n_units = np.size(slope)
    both = aligned((2, LANES * n_words(n_units)))
    both[:, :n_units] = slope, offset
    return Layer(n_units, f32(scale), *both)


@njit
def layer_at_one(scale, bias):
    """The layer whose biases at beta = 1 are given."""
    slope = np.zeros(LANES * n_words(bias.size), f32)
    for j in range(bias.size):  # a slice would take seconds more to compile
        slope[j] = bias[j]
    return Layer(bias.size, scale, slope, np.zeros(slope.size, f32))
