"""States of a group of chains, and their fields in blocks of sixteen units.

Sums of integers are exact, so they may be computed in two ways. For sparse states, the weights of
the active units are added; if more than half of the units are active, the weights of the others are
subtracted from the total. For dense states, a table in the first-level cache holds the sums of all
patterns of four units, for sixteen units at a time. The table serves all chains of a group: a chain
adds one row for four units instead of four rows. A row has 32 columns of 16 bits. Sums stay in 16
bits as long as they fit; weights that are too large are cut into parts.
"""

from typing import NamedTuple

import numpy as np

from .layers import COUNTS, ROOM, aligned, aligned_empty, largest_sums, list_active, n_words
from .simd import LANES, element, inline, load, load_row, njit, spread, store, widen

i16, u16, i32 = np.int16, np.uint16, np.int32

TURN = 4  # weight rows added in an iteration
SPARSE = 5  # add rows if fewer than one unit in five is listed, otherwise look sums up
MAKING = 12  # chains for which looking up takes as long as making the table
WIDTH = 2 * LANES  # columns of a row
TOGETHER = 8  # units whose weights are added in 16 bits
LARGEST = 2**15 - 1 - TOGETHER  # bound on their sums; rounding in a cut may add one for each unit
PATTERNS = 16 * WIDTH  # size of the table for four units
TABLE = 4 * PATTERNS  # size of the table for sixteen units
PARTS = 4  # parts whose tables fit in the first-level cache (16 KB)


# dense states: sums for four units, by the pattern of their bits -------------------------------


class Parts(NamedTuple):
    """Integer weights in parts of sixteen units and 32 columns; PARTS of a block make a turn."""

    rows: np.ndarray  # int16 (n_turns, PARTS, LANES, WIDTH)
    words: np.ndarray  # int64 (n_turns, PARTS): index of the sixteen units
    whole: np.ndarray  # bool (n_turns,): whether sums of sixteen units fit in 16 bits
    starts: np.ndarray  # int64 (n_blocks + 1,): the first turn of each block


def _reach(rows: np.ndarray, together: int) -> np.ndarray:
    """Return the largest magnitude of sums over ``together`` units; rows (..., LANES, WIDTH)."""
    some = rows.reshape(*rows.shape[:-2], -1, together, WIDTH)
    return largest_sums(some).max(axis=(-2, -1))


def _cut(rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Cut the rows (n_words, LANES, WIDTH) of a block into parts; return these and their words."""
    counts = np.maximum(1, -(-_reach(rows, TOGETHER) // LARGEST))
    words = np.repeat(np.arange(len(rows)), counts)
    if words.size > len(rows):
        number = np.arange(words.size) - np.repeat(np.cumsum(counts) - counts, counts)
        number, of = number[:, None, None], counts[words][:, None, None]
        rows = rows[words] * (number + 1) // of - rows[words] * number // of
    rest = -words.size % PARTS
    return np.pad(rows, ((0, rest), (0, 0), (0, 0))), np.pad(words, (0, rest))


def parts(q: np.ndarray) -> Parts:
    """Return the parts of integer weights (n_rows, n_columns)."""
    n_rows, n_columns = q.shape
    n_blocks = -(-n_columns // WIDTH)
    padded = np.zeros((n_words(n_rows), LANES, n_blocks, WIDTH), i32)
    padded.reshape(-1, n_blocks * WIDTH)[:n_rows, :n_columns] = q
    cut = [_cut(padded[:, :, block]) for block in range(n_blocks)]
    words = np.concatenate([words for _, words in cut]).reshape(-1, PARTS)
    rows = aligned((len(words), PARTS, LANES, WIDTH), i16)
    rows[...] = np.concatenate([rows for rows, _ in cut]).reshape(rows.shape)
    whole = _reach(rows, LANES).max(axis=1) <= 2**15 - 1
    starts = np.cumsum([0] + [len(words) // PARTS for _, words in cut])
    return Parts(rows, words, whole, starts)


@njit
def tabulate(rows, first, table, place):
    """Store the sums of all patterns of the four rows that begin at offset ``first``."""
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


@inline
def _looked_up(table, part, bits):
    """Return the sums for the first and for the last eight units of a part."""
    place = TABLE * part
    one = load_row(table, place + WIDTH * (bits & 15))
    one = one + load_row(table, place + PATTERNS + WIDTH * ((bits >> 4) & 15))
    two = load_row(table, place + 2 * PATTERNS + WIDTH * ((bits >> 8) & 15))
    two = two + load_row(table, place + 3 * PATTERNS + WIDTH * (bits >> 12))
    return one, two


@njit
def add_patterns(which, whole, words, table, fields):
    """Add the sums of a turn, whose parts have the words ``which``, to the fields of all chains."""
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


@njit
def sum_patterns(block, weights, words, room):
    """Compute the fields of the 32 units of a block from tables of sums."""
    room.fields[:] = i32(0)
    for turn in range(weights.starts[block], weights.starts[block + 1]):
        first = 4 * PARTS * turn
        for four in range(4 * PARTS):
            tabulate(weights.rows, 4 * WIDTH * (first + four), room.table, PATTERNS * four)
        add_patterns(weights.words[turn], weights.whole[turn], words, room.table, room.fields)


# fields in both ways --------------------------------------------------------------------------


class Room(NamedTuple):
    """Memory for the fields of a group of chains; flat because reshapes take seconds to compile."""

    fields: np.ndarray  # int32 (2 * n_chains * LANES,): two blocks of sixteen units
    table: np.ndarray  # int16 (PARTS * TABLE,): pattern 0 of each four units stays 0


@njit
def empty_room(n_chains):
    fields = aligned_empty(n_chains * WIDTH, i32)
    table = aligned_empty(PARTS * TABLE, np.int16)
    table[:] = 0
    return Room(fields, table)


class Blocks(NamedTuple):
    """Integer weights (n_rows, n_columns) in padded blocks of 32 columns."""

    rows: np.ndarray  # int16 (n_blocks, n_rows + 1, WIDTH): the last row is zero
    by_two: np.ndarray  # bool (n_blocks,): whether the sum of any two rows fits in 16 bits
    totals: np.ndarray  # int32 (n_blocks, WIDTH): sums of all rows
    parts: Parts
    n_words: int  # blocks of sixteen columns


class States(NamedTuple):
    """States of a layer for the chains of a group, as words and as lists."""

    words: np.ndarray  # uint16 (n_chains, n_words)
    listed: np.ndarray  # uint16 (n_chains, n_units + ROOM): the active or the inactive units
    counts: np.ndarray  # int64 (n_chains,): number of listed units
    inverted: np.ndarray  # bool (n_chains,): whether the inactive units are listed


def blocks(q: np.ndarray) -> Blocks:
    n_rows, n_columns = q.shape
    rows = aligned((-(-n_columns // WIDTH), n_rows + 1, WIDTH), np.int16)
    padded = np.zeros((n_rows, len(rows) * WIDTH), np.int32)
    padded[:, :n_columns] = q
    rows[:, :n_rows] = padded.reshape(n_rows, -1, WIDTH).swapaxes(0, 1)
    second = min(2, n_rows)
    largest = np.partition(np.abs(rows[:, :n_rows]), n_rows - second, axis=1)[:, n_rows - second :]
    by_two = largest.sum(axis=1, dtype=np.int64).max(axis=1) < 2**15
    totals = aligned((len(rows), WIDTH), np.int32)
    totals[...] = padded.sum(axis=0).reshape(-1, WIDTH)
    return Blocks(rows, by_two, totals, parts(q), n_words(n_columns))


@njit
def states_of(words, n_units):
    """Return states without lists."""
    n_chains = words.shape[0]
    listed, counts = np.empty((n_chains, n_units + ROOM), u16), np.empty(n_chains, np.int64)
    return States(words, listed, counts, np.empty(n_chains, np.bool_))


@njit
def prepare(states, n_units):
    """Return whether adding listed rows is faster than looking sums up; if so, list the units."""
    listed, rest = 0, n_units % LANES
    for words in states.words:
        if rest:  # clear the bits beyond the last unit
            words[n_units // LANES] &= (1 << rest) - 1
        n_active = 0
        for word in words:
            n_active += COUNTS[word & 255] + COUNTS[word >> 8]
        listed += min(n_active, n_units - n_active)
    sparse = SPARSE * listed < n_units * (states.counts.size + MAKING)
    if sparse:
        list_rows(states, n_units)
    return sparse


@njit
def list_rows(states, n_units):
    """List the active or the inactive units of every chain, whichever are fewer."""
    words, rows, counts, inverted = states
    for chain in range(counts.size):
        n_active = list_active(words[chain], n_units, rows[chain])
        inverted[chain] = 2 * n_active > n_units
        if inverted[chain]:
            for word in range(words.shape[1]):
                words[chain, word] ^= 0xFFFF
            n_active = list_active(words[chain], n_units, rows[chain])
            for word in range(words.shape[1]):
                words[chain, word] ^= 0xFFFF
        while n_active % TURN:  # pad with the row of zeros
            rows[chain, n_active] = n_units
            n_active += 1
        counts[chain] = n_active


@njit
def sum_rows(block, weights, states, fields):
    """Compute the fields of the 32 units of a block as sums of the listed rows."""
    rows, listed, width = weights.rows, states.listed, states.listed.shape[1]
    start, totals, n_chains = block * rows.shape[1] * WIDTH, weights.totals, states.counts.size
    by_two = weights.by_two[block]
    for chain in range(n_chains):
        a, b = spread(i32(0)), spread(i32(0))
        first = chain * width
        for k in range(first, first + states.counts[chain], TURN):
            r0 = load_row(rows, start + WIDTH * np.int64(element(listed, k)))
            r1 = load_row(rows, start + WIDTH * np.int64(element(listed, k + 1)))
            r2 = load_row(rows, start + WIDTH * np.int64(element(listed, k + 2)))
            r3 = load_row(rows, start + WIDTH * np.int64(element(listed, k + 3)))
            if by_two:
                r0, r2 = r0 + r1, r2 + r3
            else:
                a, b = a + widen(r1, 0), b + widen(r1, 1)
                a, b = a + widen(r3, 0), b + widen(r3, 1)
            a, b = a + widen(r0, 0), b + widen(r0, 1)
            a, b = a + widen(r2, 0), b + widen(r2, 1)
        if states.inverted[chain]:
            a = load(totals, WIDTH * block) - a
            b = load(totals, WIDTH * block + LANES) - b
        store(fields, LANES * chain, a)
        store(fields, LANES * (n_chains + chain), b)


@njit
def fields_of_block(block, weights, states, sparse, room):
    """Return the fields of a block of sixteen units; call in order, as even blocks make two."""
    if block % 2 == 0:
        if sparse:
            sum_rows(block // 2, weights, states, room.fields)
        else:
            sum_patterns(block // 2, weights.parts, states.words, room)
    half = LANES * states.counts.size
    return room.fields[half * (block % 2) : half * (block % 2 + 1)]
