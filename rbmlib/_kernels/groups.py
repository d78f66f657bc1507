"""States of a group of chains, and the fields that they make in blocks of sixteen units.

Sums of integers are exact, so the order does not show in the digits, and there are two ways to
them. Of sparse states the weights of the active units are added; a list that would hold more than
half of the units holds the others, and is subtracted. Of dense states sums for every pattern of
four units are looked up, for two blocks at a time (`patterns`).
"""

from typing import NamedTuple

import numba
import numpy as np

from . import patterns
from .active import COUNTS, ROOM, list_active, n_words, read_row
from .memory import aligned, aligned_empty, element, load, load_row, store, widen
from .patterns import WIDTH
from .simd import LANES, spread

u16, i32 = np.uint16, np.int32

TURN = 4  # weight rows added in a turn of the loop
SPARSE = 5  # rows are added while fewer than one in so many is listed, else looked up
MAKING = 12  # chains for which looking up takes as long as making the sums

_KERNEL = {"nogil": True, "error_model": "numpy", "cache": True}


class Blocks(NamedTuple):
    """Integer weights (n_rows, n_columns), columns cut in blocks of 32 and padded."""

    rows: np.ndarray  # int16 (n_blocks, n_rows + 1, WIDTH): the last row is zero
    by_two: np.ndarray  # bool (n_blocks,): whether the sum of any two rows stays in 16 bits
    totals: np.ndarray  # int32 (n_blocks, WIDTH): sums of all rows
    parts: patterns.Parts
    n_words: int  # blocks of sixteen columns


class States(NamedTuple):
    """States of a layer, for the chains of a group, in the forms that fields are made from."""

    words: np.ndarray  # uint16 (n_chains, n_words)
    listed: np.ndarray  # uint16 (n_chains, n_units + ROOM): the active units, or the others
    counts: np.ndarray  # int64 (n_chains,): how many are listed
    inverted: np.ndarray  # bool (n_chains,): whether the others are


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
    return Blocks(rows, by_two, totals, patterns.parts(q), n_words(n_columns))


@numba.njit(**_KERNEL)
def empty_states(n_chains, n_units):
    return States(
        np.zeros((n_chains, n_words(n_units)), u16),
        np.empty((n_chains, n_units + ROOM), u16),
        np.empty(n_chains, np.int64),
        np.empty(n_chains, np.bool_),
    )


@numba.njit(**_KERNEL)
def prepare(states, n_units):
    """Whether to list the units, or to look up their words; does what is faster."""
    listed, rest = 0, n_units % LANES
    for words in states.words:
        if rest:  # what was drawn beyond the last unit
            words[n_units // LANES] &= (1 << rest) - 1
        n_active = 0
        for word in words:
            n_active += COUNTS[word & 255] + COUNTS[word >> 8]
        listed += min(n_active, n_units - n_active)
    sparse = SPARSE * listed < n_units * (states.counts.size + MAKING)
    if sparse:
        list_rows(states.words, n_units, states.listed, states.counts, states.inverted)
    return sparse


@numba.njit(**_KERNEL)
def list_rows(words, n_units, rows, counts, inverted):
    """List the active units of every chain, or the others if they are fewer."""
    for chain in range(counts.size):
        n_active = list_active(words[chain], n_units, rows[chain])
        inverted[chain] = 2 * n_active > n_units
        if inverted[chain]:
            for word in range(words.shape[1]):
                words[chain, word] ^= 0xFFFF
            n_active = list_active(words[chain], n_units, rows[chain])
            for word in range(words.shape[1]):
                words[chain, word] ^= 0xFFFF
        while n_active % TURN:  # with the row of zeros
            rows[chain, n_active] = n_units
            n_active += 1
        counts[chain] = n_active


@numba.njit(**_KERNEL)
def sum_rows(block, weights, states, fields):
    """Fields of the 32 units of a block: sums of the listed rows, by two in 16 bits if they fit."""
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


@numba.njit(**_KERNEL)
def fields_of_block(block, weights, states, sparse, room):
    """Fields of sixteen units, chain by chain; blocks are taken in order, made two at a time."""
    if block % 2 == 0:
        if sparse:
            sum_rows(block // 2, weights, states, room.fields)
        else:
            patterns.sum_patterns(block // 2, weights.parts, states.words, room)
    half = LANES * states.counts.size
    return room.fields[half * (block % 2) : half * (block % 2 + 1)]


@numba.njit(**_KERNEL)
def read_states(v):
    """States of rows of zeros and ones."""
    states = empty_states(*v.shape)
    for chain in range(v.shape[0]):
        read_row(v[chain], states.words[chain])
    return states


@numba.njit(**_KERNEL)
def room_for_fields(n_chains):
    fields = aligned_empty(n_chains * WIDTH, i32)
    table = aligned_empty(patterns.TURN * patterns.TABLE, np.int16)
    table[:] = 0
    return patterns.Room(fields, table)
