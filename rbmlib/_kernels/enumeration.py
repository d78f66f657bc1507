"""Sums over all states of one layer, in Gray-code order: one weight row a step.

Hidden states are cut in blocks of 2**10 that share their high bits; within a block the field
of the other layer changes by one row a step, and starts afresh in the next block, so that
rounding does not build up.
"""

import numba
import numpy as np

BLOCK_BITS = 10
FACTORS = 512  # factors of at most 2 multiplied before a logarithm is taken: 2**512 is safe


@numba.njit(nogil=True, error_model="numpy", cache=True, inline="never")
def _sum_softplus(y):
    """sum_i softplus(y_i) = sum_i max(y_i, 0) + log prod_i (1 + exp(-|y_i|))."""
    total = 0.0
    for start in range(0, y.size, FACTORS):
        linear, product = 0.0, 1.0
        for i in range(start, min(start + FACTORS, y.size)):
            linear += max(y[i], 0.0)
            product *= 1.0 + np.exp(-abs(y[i]))
        total += linear + np.log(product)
    return total


@numba.njit(nogil=True, error_model="numpy", cache=True)
def log_density_block(rows, row_bias, other_bias, block, out):
    """Fill ``out`` (2**bits,) with log p*(s) of the states s = block * 2**bits + index.

    ``rows`` (n_units, n_other): weights of each unit of the summed layer; ``row_bias`` its
    biases; ``other_bias`` those of the layer that is summed analytically. Bit j of the state
    is unit j.
    """
    n_units, n_other = rows.shape
    bits = 0
    while (1 << bits) < out.size:
        bits += 1
    y = other_bias.copy()
    linear = 0.0
    for j in range(bits, n_units):
        if (block >> (j - bits)) & 1:
            linear += row_bias[j]
            for i in range(n_other):
                y[i] += rows[j, i]
    state = 0
    out[0] = linear + _sum_softplus(y)
    for count in range(1, out.size):
        j, rest = 0, count
        while (rest & 1) == 0:
            rest >>= 1
            j += 1
        sign = -1.0 if (state >> j) & 1 else 1.0
        for i in range(n_other):
            y[i] += sign * rows[j, i]
        linear += sign * row_bias[j]
        state ^= 1 << j
        out[state] = linear + _sum_softplus(y)
