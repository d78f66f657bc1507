"""Arguments of the loops: weights, layers of a family of RBMs, states, and parts of a run.

Weights are fixed-point integers, so fields do not depend on the order of summation:
``W ~ scale * q`` with ``scale`` a power of two and integers ``|q| < 2**15``. The scale is the
finest for which no sum of entries of q over active units can leave (-2**24, 2**24). Float32 then
holds every partial sum exactly, whatever the order of summation, the BLAS or the number of threads.
An importance step to the float64 model corrects for the rounding of the weights
(`rbmlib.sampling.compiled`). Each doubling of a layer beyond 512 units with the largest weight, or
beyond about 10,000 typical units, costs one bit of the weights.

Binary states are 16-bit words and lists of the active units. A field is the sum of the weight rows
of the active units, which are few in sparse states. A draw gives sixteen bits at once, and a table
of the bit positions in every byte converts them to a list without branches.
"""

import math
from typing import Any, NamedTuple

import numpy as np

from .simd import LANES, load, njit, store

f32 = np.float32


# memory -------------------------------------------------------------------------------------

CACHE_LINE = 64


def aligned(shape, dtype=np.float32) -> np.ndarray:
    """Return zeros that start at a cache line, which makes loads of vectors faster."""
    n_bytes = math.prod(shape) * np.dtype(dtype).itemsize
    memory = np.zeros(n_bytes + CACHE_LINE, np.uint8)
    start = -memory.ctypes.data % CACHE_LINE
    return memory[start : start + n_bytes].view(dtype).reshape(shape)


@njit
def aligned_empty(size, dtype):
    """Return an uninitialised one-dimensional array that starts at a cache line."""
    memory = np.empty(size + CACHE_LINE, dtype)
    start = (-memory.ctypes.data) % CACHE_LINE // memory.itemsize
    return memory[start : start + size]


# weights ------------------------------------------------------------------------------------

MAX_ENTRY = 2**15 - 1
MAX_SUM = 2**24
LARGEST = 1e30  # bound on a weight, which keeps sums over a layer within float32
SMALLEST_SCALE = 2.0**-126  # smallest normal float32; much smaller weights become 0


class FixedPoint(NamedTuple):
    """Integer weights in float32, in both orders, with the visible slope beside W."""

    up: np.ndarray  # (n_visible, n_hidden + 1): q, and the visible slope in its last column
    down: np.ndarray  # (n_hidden, n_visible): q transposed
    scale: float  # W ~ scale * q
    slope_scale: float  # visible slope ~ slope_scale * up[:, -1]


def largest_sums(q: np.ndarray) -> np.ndarray:
    """Return the largest magnitude of a sum over any subset of a column: q (..., n, n_columns)."""
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
    """Round ``weights`` (n_visible, n_hidden) and ``visible_slope`` (n_visible,) to integers."""
    if max(np.shape(weights)) > MAX_UNITS:
        came = f"the model has layers of {np.shape(weights)} units"
        raise ValueError(f"{came}: compiled loops take {MAX_UNITS:,} at most")
    q, scale = _quantise(np.asarray(weights, float), both_ways=True)
    slope, slope_scale = _quantise(np.asarray(visible_slope, float)[:, None], both_ways=False)
    up = np.ascontiguousarray(np.hstack([q, slope]), dtype=np.float32)
    return FixedPoint(up, np.ascontiguousarray(q.T, dtype=np.float32), scale, slope_scale)


# states ----------------------------------------------------------------------------------------

_BITS = np.arange(256)[:, None] >> np.arange(8) & 1  # the bits of every byte
PLACES = np.argsort(-_BITS, axis=1, kind="stable").astype(np.uint16)  # the positions of ones first
COUNTS = _BITS.sum(axis=1)
MAX_UNITS = 2**16 - 1  # in a layer, since lists hold 16-bit integers
ROOM = 8  # a list is written eight units at a time


@njit
def n_words(n_units):
    return (n_units + LANES - 1) // LANES


@njit
def read_rows(v):
    """Convert rows of zeros and ones to words (n_chains, n_words)."""
    n_chains, n_units = v.shape
    words = np.zeros((n_chains, n_words(n_units)), np.uint16)
    for chain in range(n_chains):
        for i in range(n_units):
            words[chain, i // LANES] |= np.int64(v[chain, i]) << (i % LANES)
    return words


@njit
def write_rows(words, v):
    """Convert words to rows of zeros and ones."""
    for chain in range(v.shape[0]):
        for i in range(v.shape[1]):
            v[chain, i] = f32((np.int64(words[chain, i // LANES]) >> (i % LANES)) & 1)


@njit
def list_active(words, n_units, active):
    """List the units whose bit is set and return their number. ``active`` has ROOM more items."""
    n_active, rest = 0, n_units % LANES
    if rest:  # clear the bits beyond the last unit
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
    """Units with the field ``beta (scale x + slope) + offset``, where x is a sum of integers."""

    n_units: int
    scale: np.float32
    slope: np.ndarray  # float32, padded with zeros to a whole number of LANES
    offset: np.ndarray


class Model(NamedTuple):
    """A family of RBMs linear in beta, with weights for `narrow` or `wide`."""

    up: Any  # weights of the hidden units, and the visible slope in the last column
    down: Any  # weights of the visible units
    slope_scale: float  # visible slope ~ slope_scale times the last column
    hidden: Layer
    visible: Layer


class Run(NamedTuple):
    """Steps ``start`` to ``stop`` of a chunk of chains, and the indices of its random numbers."""

    seed: np.uint64
    first_chain: int
    first_draw: int  # index of the first draw of step 0
    start: int
    stop: int


def layer(scale, slope, offset) -> Layer:
    """Make a layer from vectors of slopes and offsets."""
    n_units = np.size(slope)
    both = aligned((2, LANES * n_words(n_units)))
    both[:, :n_units] = slope, offset
    return Layer(n_units, f32(scale), *both)


@njit
def layer_at_one(scale, bias):
    """Make a layer with these biases at beta = 1."""
    slope = np.zeros(LANES * n_words(bias.size), f32)
    for j in range(bias.size):  # a slice would take seconds longer to compile
        slope[j] = bias[j]
    return Layer(bias.size, scale, slope, np.zeros(slope.size, f32))
