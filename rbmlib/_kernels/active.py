"""Binary states as words of sixteen bits, and as lists of the units that are 1.

A field is the sum of the weight rows of the active units, far fewer than a matrix product takes
for sparse states. Drawing gives sixteen bits at once; a table of the places of the bits of
every byte turns them into a list without a branch a unit.
"""

import numba
import numpy as np

from .memory import load, store
from .simd import LANES

f32 = np.float32

_KERNEL = {"nogil": True, "error_model": "numpy", "cache": True}


def _places() -> np.ndarray:
    """Row p: the places of the bits of the byte p, in rising order, then zeros."""
    out = np.zeros((256, 8), np.uint16)
    for pattern in range(256):
        places = [bit for bit in range(8) if pattern >> bit & 1]
        out[pattern, : len(places)] = places
    return out


PLACES = _places()
COUNTS = np.array([bin(pattern).count("1") for pattern in range(256)])
MAX_UNITS = 2**16 - 1  # of a layer: lists are of 16-bit integers
ROOM = 8  # a list is written eight units at a time


@numba.njit(**_KERNEL)
def n_words(n_units):
    return (n_units + LANES - 1) // LANES


@numba.njit(**_KERNEL)
def read_row(row, words):
    """Words of a row of zeros and ones."""
    for word in range(words.size):
        bits = 0
        for i in range(word * LANES, min((word + 1) * LANES, row.size)):
            bits |= np.int64(row[i]) << (i - word * LANES)
        words[word] = bits


@numba.njit(**_KERNEL)
def write_row(words, row):
    """A row of zeros and ones from words."""
    for i in range(row.size):
        row[i] = f32((np.int64(words[i // LANES]) >> (i % LANES)) & 1)


@numba.njit(**_KERNEL)
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
