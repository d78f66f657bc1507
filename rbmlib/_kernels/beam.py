"""States of a layer of bits that differ in one unit, and a hash table of distinct states.

The key of a state holds its bits in 64-bit words. If y is the field of the other layer and
p = sigma(y),

    softplus(y + w) - softplus(y) = log(1 - p + p exp(w)),

so a table of exp(w) serves all states. A state and all its neighbours need one exponential for each
unit of the other layer, and few logarithms of products.
"""

import numpy as np

from .float_sums import _sum_softplus
from .simd import njit

FACTORS = 512  # most factors in a product before a logarithm is taken
LARGEST = 600.0  # bound on the logarithm of a product, and on a weight
WORD, FOLD = np.uint64(63), np.uint64(33)
MIX, AGAIN = np.uint64(0xFF51AFD7ED558CCD), np.uint64(0xC4CEB9FE1A85EC53)


@njit
def neighbours(keys, rows, factors, own, other, out):
    """Fill ``out`` (n, n_units) with log p* of each state after a change of each unit.

    ``rows`` (n_units, n_other) are the weights, ``factors`` (n_other, n_units) are their
    exponentials, and ``own`` and ``other`` are the biases.
    """
    n_units, n_other = rows.shape
    y, on, product = np.empty(n_other), np.empty(n_units), np.empty(n_units)
    total, largest = np.zeros(n_units), LARGEST / FACTORS
    for j in range(n_units):  # loops, since `sum` along an axis takes three seconds to compile
        for i in range(n_other):
            total[j] += rows[j, i]
            largest = max(largest, abs(rows[j, i]))
    chunk = max(1, int(LARGEST / largest))
    for state in range(keys.shape[0]):
        linear = 0.0
        for i in range(n_other):
            y[i] = other[i]
        for j in range(n_units):
            on[j] = (keys[state, j >> 6] >> (np.uint64(j) & WORD)) & np.uint64(1)
            if on[j] > 0:
                linear += own[j]
                for i in range(n_other):
                    y[i] += rows[j, i]
        linear += _sum_softplus(y)
        for j in range(n_units):
            out[state, j] = linear + (-own[j] - total[j] if on[j] > 0 else own[j])
        for start in range(0, n_other, chunk):
            product[:] = 1.0
            stop = min(start + chunk, n_other)
            _multiply(y[start:stop], on, factors[start:stop], product)
            for j in range(n_units):
                out[state, j] += np.log(product[j])


@njit
def _multiply(y, on, factors, product):
    """Multiply by q + p exp(w), or by exp(w) (q + p exp(-w)) if the unit is switched off."""
    for i in range(y.size):
        small = np.exp(-abs(y[i]))
        large = 1.0 / (1.0 + small)
        small *= large
        p, q = (large, small) if y[i] > 0 else (small, large)
        for j in range(on.size):
            constant = p if on[j] > 0 else q
            slope = q if on[j] > 0 else p
            product[j] *= constant + slope * factors[i, j]


@njit
def _slot(key, table, stored):
    """Return the slot of a state in the table, or the free slot for it."""
    number = np.uint64(0)
    for word in key:
        number = (number ^ word) * MIX
        number = (number ^ (number >> FOLD)) * AGAIN
        number ^= number >> FOLD
    slot = np.int64(number & np.uint64(table.size - 1))
    while table[slot] >= 0:
        same = True
        for word in range(key.size):
            same &= stored[table[slot], word] == key[word]
        if same:
            break
        slot = (slot + 1) & (table.size - 1)
    return slot


@njit
def insert(keys, values, table, stored, logs, n):
    """Store the new states after the first ``n``, and return the number of stored states.

    ``table`` has a power of two of slots; a slot holds the index of a stored state, or -1.
    """
    for k in range(keys.shape[0]):
        slot = _slot(keys[k], table, stored)
        if table[slot] < 0:
            table[slot] = n
            for word in range(keys.shape[1]):  # a slice would take seconds longer to compile
                stored[n, word] = keys[k, word]
            logs[n] = values[k]
            n += 1
    return n


@njit
def holds(keys, table, stored, out):
    """Fill ``out`` with whether each state is in the table."""
    for k in range(keys.shape[0]):
        out[k] = table[_slot(keys[k], table, stored)] >= 0
