"""Fields of dense states: the weights of four units at a time, by the pattern of their bits.

For sixteen units the sums of all patterns of four are made once (a table in the first-level
cache) and serve every chain of a group: a chain then adds a row for four units, where a matrix
product takes four. Rows are of 32 columns of 16 bits. Sums stay in 16 bits for as long as no sum
of the units concerned can leave them; weights too large for that are cut in parts that add up to
them.
"""

from typing import NamedTuple

import numba
import numpy as np

from .active import n_words
from .memory import aligned, element, load, load_row, store, widen
from .simd import LANES

i16, i32 = np.int16, np.int32

WIDTH = 2 * LANES  # columns of a row
TOGETHER = 8  # units whose weights are added in 16 bits
LARGEST = 2**15 - 1 - TOGETHER  # reach of their sums: cutting may add one a unit
PATTERNS = 16 * WIDTH  # size of the table of four units
TABLE = 4 * PATTERNS  # of the sixteen of a part
TURN = 4  # parts whose tables fit the first-level cache (16 KB)

_KERNEL = {"nogil": True, "error_model": "numpy", "cache": True}
_INLINE = {"inline": "always", "error_model": "numpy"}


class Parts(NamedTuple):
    """Integer weights of sixteen units and 32 columns each: TURN a turn, block by block."""

    rows: np.ndarray  # int16 (n_turns, TURN, LANES, WIDTH)
    words: np.ndarray  # int64 (n_turns, TURN): which sixteen units
    whole: np.ndarray  # bool (n_turns,): whether sums of sixteen units stay in 16 bits
    starts: np.ndarray  # int64 (n_blocks + 1,): the first turn of a block


def _reach(rows: np.ndarray, together: int) -> np.ndarray:
    """Largest magnitude of sums of so many units: rows (..., LANES, WIDTH)."""
    some = rows.reshape(*rows.shape[:-2], -1, together, WIDTH)
    positive = np.maximum(some, 0).sum(axis=-2, dtype=np.int32)
    negative = positive - some.sum(axis=-2, dtype=np.int32)
    return np.maximum(positive, negative).max(axis=(-2, -1))


def _cut(rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Parts of a block of columns, rows (n_words, LANES, WIDTH), and their words; whole turns."""
    counts = np.maximum(1, -(-_reach(rows, TOGETHER) // LARGEST))
    words = np.repeat(np.arange(len(rows)), counts)
    if words.size > len(rows):
        number = np.arange(words.size) - np.repeat(np.cumsum(counts) - counts, counts)
        number, of = number[:, None, None], counts[words][:, None, None]
        rows = rows[words] * (number + 1) // of - rows[words] * number // of
    rest = -words.size % TURN
    return np.pad(rows, ((0, rest), (0, 0), (0, 0))), np.pad(words, (0, rest))


def parts(q: np.ndarray) -> Parts:
    """Of integer weights (n_rows, n_columns)."""
    n_rows, n_columns = q.shape
    n_blocks = -(-n_columns // WIDTH)
    padded = np.zeros((n_words(n_rows), LANES, n_blocks, WIDTH), i32)
    padded.reshape(-1, n_blocks * WIDTH)[:n_rows, :n_columns] = q
    cut = [_cut(padded[:, :, block]) for block in range(n_blocks)]
    words = np.concatenate([words for _, words in cut]).reshape(-1, TURN)
    rows = aligned((len(words), TURN, LANES, WIDTH), i16)
    np.concatenate(
        [rows.reshape(-1, TURN, LANES, WIDTH) for rows, _ in cut], out=rows, casting="unsafe"
    )
    whole = _reach(rows, LANES).max(axis=1) <= 2**15 - 1
    starts = np.cumsum([0] + [len(words) // TURN for _, words in cut])
    return Parts(rows, words, whole, starts)


@numba.njit(**_KERNEL)
def tabulate(rows, first, table, place):
    """The sums of all patterns of four rows from an offset on, pattern by pattern."""
    a, b = load_row(rows, first), load_row(rows, first + WIDTH)
    c, d = load_row(rows, first + 2 * WIDTH), load_row(rows, first + 3 * WIDTH)
    ab, ac, bc = a + b, a + c, b + c
    abc = ab + c
    store(table, place + WIDTH, a)
    store(table, place + 2 * WIDTH, b)
    store(table, place + 3 * WIDTH, ab)
    store(table, place + 4 * WIDTH, c)
    store(table, place + 5 * WIDTH, ac)
    store(table, place + 6 * WIDTH, bc)
    store(table, place + 7 * WIDTH, abc)
    store(table, place + 8 * WIDTH, d)
    store(table, place + 9 * WIDTH, a + d)
    store(table, place + 10 * WIDTH, b + d)
    store(table, place + 11 * WIDTH, ab + d)
    store(table, place + 12 * WIDTH, c + d)
    store(table, place + 13 * WIDTH, ac + d)
    store(table, place + 14 * WIDTH, bc + d)
    store(table, place + 15 * WIDTH, abc + d)


@numba.njit(**_INLINE)
def _looked_up(table, part, bits):
    """Sums of the first and of the second eight units of a part."""
    place = TABLE * part
    one = load_row(table, place + WIDTH * (bits & 15))
    one = one + load_row(table, place + PATTERNS + WIDTH * ((bits >> 4) & 15))
    two = load_row(table, place + 2 * PATTERNS + WIDTH * ((bits >> 8) & 15))
    two = two + load_row(table, place + 3 * PATTERNS + WIDTH * (bits >> 12))
    return one, two


@numba.njit(**_KERNEL)
def add_patterns(which, whole, words, table, fields):
    """Add the rows of a turn, the parts of the words ``which``, to the fields of every chain."""
    n_chains, n_words = words.shape
    w0, w1, w2, w3 = which[0], which[1], which[2], which[3]
    for chain in range(n_chains):
        row, low, high = chain * n_words, LANES * chain, LANES * (n_chains + chain)
        a, b = load(fields, low), load(fields, high)
        r0, s0 = _looked_up(table, 0, np.int64(element(words, row + w0)))
        r1, s1 = _looked_up(table, 1, np.int64(element(words, row + w1)))
        r2, s2 = _looked_up(table, 2, np.int64(element(words, row + w2)))
        r3, s3 = _looked_up(table, 3, np.int64(element(words, row + w3)))
        if whole:
            r0, r1, r2, r3 = r0 + s0, r1 + s1, r2 + s2, r3 + s3
        else:
            a, b = a + widen(s0, 0), b + widen(s0, 1)
            a, b = a + widen(s1, 0), b + widen(s1, 1)
            a, b = a + widen(s2, 0), b + widen(s2, 1)
            a, b = a + widen(s3, 0), b + widen(s3, 1)
        a, b = a + widen(r0, 0), b + widen(r0, 1)
        a, b = a + widen(r1, 0), b + widen(r1, 1)
        a, b = a + widen(r2, 0), b + widen(r2, 1)
        a, b = a + widen(r3, 0), b + widen(r3, 1)
        store(fields, low, a)
        store(fields, high, b)


@numba.njit(**_KERNEL)
def sum_patterns(block, weights, words, room):
    """Fields of the 32 units of a block."""
    room.fields[:] = i32(0)
    for turn in range(weights.starts[block], weights.starts[block + 1]):
        first = 4 * TURN * turn
        for four in range(4 * TURN):
            tabulate(weights.rows, 4 * WIDTH * (first + four), room.table, PATTERNS * four)
        add_patterns(weights.words[turn], weights.whole[turn], words, room.table, room.fields)


class Room(NamedTuple):
    """Memory for the fields of a group of chains; flat: to reshape takes seconds to compile."""

    fields: np.ndarray  # int32 (2 * n_chains * LANES,): of two blocks of sixteen units
    table: np.ndarray  # int16 (TURN * TABLE,): pattern 0 of every four units stays 0
