"""States of a group of chains, and the fields that they make in blocks of sixteen units.

Sums of integers are exact, so the order does not show in the digits, and there are two ways to
them. Of sparse states the weights of the active units are added; a list that would hold more than
half of the units holds the others, and is subtracted. Dense states are multiplied: two units, as
the halves of a word, with the weights of both, eight chains and two blocks at a time.
"""

from typing import NamedTuple

import numba
import numpy as np

from .active import COUNTS, PAIRS, ROOM, list_active, n_words, read_row
from .memory import add_pair, aligned, element, load, load_wide, store
from .simd import LANES, spread, to_floats

u16, i32, f32 = np.uint16, np.int32, np.float32

TURN = 4  # weight rows added in a turn of the loop
TILE = 8  # chains that share a load of weights
SPARSE = 6  # rows are added while fewer than one in so many is listed, else multiplied

_KERNEL = {"nogil": True, "error_model": "numpy", "cache": True}


class Blocks(NamedTuple):
    """Integer weights (n_rows, n_columns), columns cut in blocks of sixteen and padded."""

    rows: np.ndarray  # int16 (n_blocks, n_rows + 1, LANES): the last row is zero
    pairs: np.ndarray  # int16 (n_blocks made even, n_pairs, 2 * LANES): rows 2p and 2p + 1,
    # interleaved
    totals: np.ndarray  # int32 (n_blocks, LANES): sums of all rows


class States(NamedTuple):
    """States of a layer, for the chains of a group, in the forms that fields are made from."""

    words: np.ndarray  # uint16 (n_chains, n_words)
    listed: np.ndarray  # uint16 (n_chains, n_units + ROOM): the active units, or the others
    counts: np.ndarray  # int64 (n_chains,): how many are listed
    inverted: np.ndarray  # bool (n_chains,): whether the others are
    pairs: np.ndarray  # int32 (n_tiles, n_pairs, TILE): units 2p and 2p + 1 as halves


def blocks(q: np.ndarray) -> Blocks:
    n_rows, n_columns = q.shape
    n_blocks, n_pairs = n_words(n_columns), 8 * n_words(n_rows)
    padded = np.zeros((2 * n_pairs, n_blocks, LANES), np.int64)
    padded.reshape(2 * n_pairs, -1)[:n_rows, :n_columns] = q
    rows = aligned((n_blocks, n_rows + 1, LANES), np.int16)
    rows[:, :n_rows] = padded[:n_rows].swapaxes(0, 1)
    pairs = aligned((n_blocks + n_blocks % 2, n_pairs, 2 * LANES), np.int16)
    interleaved = padded.reshape(n_pairs, 2, n_blocks, LANES).transpose(2, 0, 3, 1)
    pairs[:n_blocks] = interleaved.reshape(n_blocks, n_pairs, 2 * LANES)
    totals = aligned((n_blocks, LANES), np.int32)
    totals[...] = padded.sum(axis=0)
    return Blocks(rows, pairs, totals)


@numba.njit(**_KERNEL)
def empty_states(n_chains, n_units):
    n_tiles = (n_chains + TILE - 1) // TILE
    return States(
        np.zeros((n_chains, n_words(n_units)), u16),
        np.empty((n_chains, n_units + ROOM), u16),
        np.empty(n_chains, np.int64),
        np.empty(n_chains, np.bool_),
        np.zeros((n_tiles, 8 * n_words(n_units), TILE), i32),
    )


@numba.njit(**_KERNEL)
def prepare(states, n_units):
    """From the words, lists or pairs of units, whichever is faster; True if it is the lists."""
    listed, rest = 0, n_units % LANES
    for words in states.words:
        if rest:  # what was drawn beyond the last unit
            words[n_units // LANES] &= (1 << rest) - 1
        n_active = 0
        for word in words:
            n_active += COUNTS[word & 255] + COUNTS[word >> 8]
        listed += min(n_active, n_units - n_active)
    if SPARSE * listed < n_units * states.counts.size:
        list_rows(states.words, n_units, states.listed, states.counts, states.inverted)
        return True
    pair_up(states)
    return False


@numba.njit(**_KERNEL)
def pair_up(states):
    """Pairs of units, for every chain at its place of its tile."""
    for chain in range(states.counts.size):
        tile, place = chain // TILE, chain % TILE
        for word in range(states.words.shape[1]):
            bits = np.int64(states.words[chain, word])
            for half in range(2):
                pattern = PAIRS[(bits >> (8 * half)) & 255]
                for i in range(4):
                    states.pairs[tile, 8 * word + 4 * half + i, place] = pattern[i]


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
    """``fields`` (n_chains, LANES): sums of the listed rows."""
    rows, listed, width = weights.rows, states.listed, states.listed.shape[1]
    start = block * rows.shape[1] * LANES
    for chain in range(states.counts.size):
        a, b = spread(i32(0)), spread(i32(0))
        first = chain * width
        for k in range(first, first + states.counts[chain], TURN):
            r0, r1 = np.int64(element(listed, k)), np.int64(element(listed, k + 1))
            r2, r3 = np.int64(element(listed, k + 2)), np.int64(element(listed, k + 3))
            a = a + load_wide(rows, start + LANES * r0)
            b = b + load_wide(rows, start + LANES * r1)
            a = a + load_wide(rows, start + LANES * r2)
            b = b + load_wide(rows, start + LANES * r3)
        total = a + b
        if states.inverted[chain]:
            total = load(weights.totals, LANES * block) - total
        store(fields, LANES * chain, to_floats(total))


@numba.njit(**_KERNEL)
def multiply_pairs(block, weights, states, fields):
    """``fields`` (2, n_chains of whole tiles, LANES): products of pairs of units and rows.

    Of two blocks, so that a pair of units is loaded once for both.
    """
    n_tiles, n_pairs = states.pairs.shape[0], states.pairs.shape[1]
    start, rows, pairs = block * n_pairs * 2 * LANES, weights.pairs, states.pairs
    other = n_pairs * 2 * LANES
    for tile in range(n_tiles):
        s0 = s1 = s2 = s3 = s4 = s5 = s6 = s7 = spread(i32(0))
        t0 = t1 = t2 = t3 = t4 = t5 = t6 = t7 = spread(i32(0))
        for p in range(n_pairs):
            r, c = start + 2 * LANES * p, TILE * (tile * n_pairs + p)
            q = r + other
            pair = element(pairs, c)
            s0, t0 = add_pair(s0, rows, r, pair), add_pair(t0, rows, q, pair)
            pair = element(pairs, c + 1)
            s1, t1 = add_pair(s1, rows, r, pair), add_pair(t1, rows, q, pair)
            pair = element(pairs, c + 2)
            s2, t2 = add_pair(s2, rows, r, pair), add_pair(t2, rows, q, pair)
            pair = element(pairs, c + 3)
            s3, t3 = add_pair(s3, rows, r, pair), add_pair(t3, rows, q, pair)
            pair = element(pairs, c + 4)
            s4, t4 = add_pair(s4, rows, r, pair), add_pair(t4, rows, q, pair)
            pair = element(pairs, c + 5)
            s5, t5 = add_pair(s5, rows, r, pair), add_pair(t5, rows, q, pair)
            pair = element(pairs, c + 6)
            s6, t6 = add_pair(s6, rows, r, pair), add_pair(t6, rows, q, pair)
            pair = element(pairs, c + 7)
            s7, t7 = add_pair(s7, rows, r, pair), add_pair(t7, rows, q, pair)
        first = LANES * TILE * tile
        second = first + LANES * TILE * n_tiles
        store(fields, first, to_floats(s0))
        store(fields, second, to_floats(t0))
        store(fields, first + LANES, to_floats(s1))
        store(fields, second + LANES, to_floats(t1))
        store(fields, first + 2 * LANES, to_floats(s2))
        store(fields, second + 2 * LANES, to_floats(t2))
        store(fields, first + 3 * LANES, to_floats(s3))
        store(fields, second + 3 * LANES, to_floats(t3))
        store(fields, first + 4 * LANES, to_floats(s4))
        store(fields, second + 4 * LANES, to_floats(t4))
        store(fields, first + 5 * LANES, to_floats(s5))
        store(fields, second + 5 * LANES, to_floats(t5))
        store(fields, first + 6 * LANES, to_floats(s6))
        store(fields, second + 6 * LANES, to_floats(t6))
        store(fields, first + 7 * LANES, to_floats(s7))
        store(fields, second + 7 * LANES, to_floats(t7))


@numba.njit(**_KERNEL)
def fields_of_block(block, weights, states, sparse, room):
    """Fields (n_chains, LANES) of the sixteen units of a block; blocks are taken in order."""
    fields = room[block % 2]
    if sparse:
        sum_rows(block, weights, states, fields)
    elif block % 2 == 0:
        multiply_pairs(block, weights, states, room)
    return fields


@numba.njit(**_KERNEL)
def read_states(v):
    """States of rows of zeros and ones."""
    states = empty_states(*v.shape)
    for chain in range(v.shape[0]):
        read_row(v[chain], states.words[chain])
    return states


@numba.njit(**_KERNEL)
def room_for_fields(n_chains):
    """(2, n_chains, LANES): of two blocks, with room for a whole number of tiles."""
    return np.empty((2, TILE * ((n_chains + TILE - 1) // TILE), LANES), f32)
