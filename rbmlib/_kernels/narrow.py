"""Annealing and Gibbs sweeps with few hidden units: no matrix products.

A chain takes all its steps alone and its state never leaves the first-level cache: the active
visible units as a list, whose weight rows (one or two vectors each) are added up, and the
hidden state as bits, five of which select a row of sums of five weights from a table.
Fields are exact integers (`fixed_point`), so the route does not show in the digits.
"""

import numba
import numpy as np

from .active import ROOM, list_active, n_words, read_row, write_row
from .elementwise import EXACT, draw_lanes, exact_increment, exp_negative, increment_lanes
from .fixed_point import FixedPoint
from .memory import aligned, load, store
from .random import draw_key, mixed_keys, mixed_units
from .simd import LANES, absolute, bits_of, fma, join, mask_of, spread, where

f32 = np.float32

MAX_HIDDEN = 30
WIDTH = 2 * LANES  # columns of a weight row: the hidden units, the visible slope, padding
TABLE_BITS = 5
PATTERNS = 2**TABLE_BITS

_KERNEL = {"nogil": True, "error_model": "numpy", "cache": True}
_INLINE = {"inline": "always", "error_model": "numpy"}


def layout(fixed: FixedPoint) -> tuple[np.ndarray, np.ndarray]:
    """Weight rows (n_visible, WIDTH), and tables (2, 4 or 6 groups, PATTERNS, n_visible padded)."""
    n_hidden, n_visible = fixed.down.shape
    up = aligned((n_visible, WIDTH))
    up[:, : n_hidden + 1] = fixed.up
    n_groups = 2 * -(-n_hidden // (2 * TABLE_BITS))
    tables = aligned((n_groups, PATTERNS, LANES * n_words(n_visible)))
    fill_tables(fixed.down, tables)
    return up, tables


@numba.njit(**_KERNEL)
def fill_tables(down, tables):
    """``tables[g, pattern]``: sum of the rows of ``down`` that the five bits of group g select."""
    for group in range(tables.shape[0]):
        tables[group, 0] = f32(0)
        for bit in range(TABLE_BITS):
            unit = group * TABLE_BITS + bit
            for pattern in range(1 << bit):
                for i in range(down.shape[1]):
                    row = down[unit, i] if unit < down.shape[0] else f32(0)
                    tables[group, pattern + (1 << bit), i] = tables[group, pattern, i] + row


@numba.njit(**_KERNEL)
def add_rows(up, active, n_active, out):
    """Sum of the listed rows of ``up`` (n_visible, WIDTH); four sums, as additions take time."""
    zero = spread(f32(0))
    a, b, c, d = zero, zero, zero, zero
    e, f, g, h = zero, zero, zero, zero
    whole = n_active - n_active % 4
    for k in range(0, whole, 4):
        one, two = np.int64(active[k]) * WIDTH, np.int64(active[k + 1]) * WIDTH
        three, four = np.int64(active[k + 2]) * WIDTH, np.int64(active[k + 3]) * WIDTH
        a, e = a + load(up, one), e + load(up, one + LANES)
        b, f = b + load(up, two), f + load(up, two + LANES)
        c, g = c + load(up, three), g + load(up, three + LANES)
        d, h = d + load(up, four), h + load(up, four + LANES)
    for k in range(whole, n_active):
        one = np.int64(active[k]) * WIDTH
        a, e = a + load(up, one), e + load(up, one + LANES)
    store(out, 0, (a + b) + (c + d))
    store(out, LANES, (e + f) + (g + h))


@numba.njit(**_INLINE)
def _hidden_lanes(x, j, scale, slope_bias, offset, beta):
    s = fma(load(x, j), scale, load(slope_bias, j))
    t = fma(s, beta, load(offset, j))
    return s, t, exp_negative(absolute(t))


@numba.njit(**_KERNEL)
def draw_hidden(x, n_hidden, scale, slope_bias, offset, beta, key):
    """Hidden units as the bits of an integer; ``x``, ``slope_bias``, ``offset`` (WIDTH,)."""
    (k0, k1), state = mixed_keys(key), 0
    for j in range(0, n_hidden, LANES):
        _, t, e = _hidden_lanes(x, j, scale, slope_bias, offset, beta)
        state |= bits_of(draw_lanes(t, e, mixed_units(j), k0, k1)) << j
    return state & ((1 << n_hidden) - 1)


@numba.njit(**_KERNEL)
def draw_hidden_with_increments(x, n_hidden, scale, slope_bias, offset, beta, step, rule, key):
    """`draw_hidden`, and the sum of `increment_lanes`: sixteen partial sums, joined in float64."""
    (k0, k1), state = mixed_keys(key), 0
    total = spread(f32(0))
    for j in range(0, n_hidden, LANES):
        s, t, e = _hidden_lanes(x, j, scale, slope_bias, offset, beta)
        state |= bits_of(draw_lanes(t, e, mixed_units(j), k0, k1)) << j
        here = mask_of(((1 << n_hidden) - 1) >> j)
        total = total + where(here, increment_lanes(s, t, e, step, rule), f32(0))
    return state & ((1 << n_hidden) - 1), join(total)


@numba.njit(**_INLINE)
def _table_rows(state, width):
    """Offsets of the six table rows that a hidden state selects."""
    r0 = (state & 31) * width
    r1 = (((state >> 5) & 31) + PATTERNS) * width
    r2 = (((state >> 10) & 31) + 2 * PATTERNS) * width
    r3 = (((state >> 15) & 31) + 3 * PATTERNS) * width
    r4 = (((state >> 20) & 31) + 4 * PATTERNS) * width
    r5 = (((state >> 25) & 31) + 5 * PATTERNS) * width
    return r0, r1, r2, r3, r4, r5


@numba.njit(**_KERNEL)
def draw_visible(state, tables, scale, slope_bias, offset, units, beta, key, bits):
    """Draw the visible units, sixteen a word of ``bits``."""
    k0, k1 = mixed_keys(key)
    r0, r1, r2, r3, r4, r5 = _table_rows(state, tables.shape[2])
    n_groups = tables.shape[0]
    for word in range(bits.size):
        j = word * LANES
        y = load(tables, r0 + j) + load(tables, r1 + j)
        if n_groups > 2:
            y = y + (load(tables, r2 + j) + load(tables, r3 + j))
        if n_groups > 4:
            y = y + (load(tables, r4 + j) + load(tables, r5 + j))
        t = fma(fma(y, scale, load(slope_bias, j)), beta, load(offset, j))
        bits[word] = bits_of(draw_lanes(t, exp_negative(absolute(t)), load(units, j), k0, k1))


@numba.njit(**_KERNEL)
def _mixed_units(size):
    out = np.empty(size, np.uint32)
    for j in range(0, size, LANES):
        store(out, j, mixed_units(j))
    return out


@numba.njit(**_KERNEL)
def _padded(vector, size):
    out = np.zeros(size, f32)
    out[: vector.size] = vector
    return out


@numba.njit(**_KERNEL)
def anneal(
    v, log_weights, betas, rules, start, stop, seed, first_chain, first_draw,
    up, tables, scale, slope_scale, hidden_slope, hidden_offset, visible_slope, visible_offset,
):  # fmt: skip
    """Steps ``start`` to ``stop`` of `gibbs.anneal`, chain by chain."""
    n_hidden, n_visible = hidden_slope.size, v.shape[1]
    a, a0 = _padded(hidden_slope, WIDTH), _padded(hidden_offset, WIDTH)
    b, b0 = _padded(visible_slope, tables.shape[2]), _padded(visible_offset, tables.shape[2])
    active, bits = np.empty(n_visible + ROOM, np.uint16), np.empty(b.size // LANES, np.uint16)
    x, units = np.empty(WIDTH, f32), _mixed_units(b.size)
    for chain in range(v.shape[0]):
        read_row(v[chain], bits)
        n_active = list_active(bits, n_visible, active)
        for k in range(start, stop):
            beta, step = betas[k + 1], betas[k + 1] - betas[k]
            add_rows(up, active, n_active, x)
            gain = step * slope_scale * np.float64(x[n_hidden])
            key = draw_key(seed, first_chain + chain, first_draw + 2 * k)
            if rules[k] != EXACT:
                state, change = draw_hidden_with_increments(
                    x, n_hidden, scale, a, a0, f32(beta), f32(step), rules[k], key
                )
            else:
                state = draw_hidden(x, n_hidden, scale, a, a0, f32(beta), key)
                change = exact_increment(x, scale, hidden_slope, hidden_offset, beta, betas[k])
            log_weights[chain] += gain + change
            key = draw_key(seed, first_chain + chain, first_draw + 2 * k + 1)
            draw_visible(state, tables, scale, b, b0, units, f32(beta), key, bits)
            n_active = list_active(bits, n_visible, active)
        write_row(bits, v[chain])


@numba.njit(**_KERNEL)
def sweep(
    v, h, betas, start, stop, seed, first_chain, first_draw,
    up, tables, scale, hidden_slope, hidden_offset, visible_slope, visible_offset,
):  # fmt: skip
    """Sweeps ``start`` to ``stop`` of `gibbs.sweep`, chain by chain."""
    n_hidden, n_visible = hidden_slope.size, v.shape[1]
    a, a0 = _padded(hidden_slope, WIDTH), _padded(hidden_offset, WIDTH)
    b, b0 = _padded(visible_slope, tables.shape[2]), _padded(visible_offset, tables.shape[2])
    active, bits = np.empty(n_visible + ROOM, np.uint16), np.empty(b.size // LANES, np.uint16)
    x, units = np.empty(WIDTH, f32), _mixed_units(b.size)
    for chain in range(v.shape[0]):
        read_row(v[chain], bits)
        n_active, state, beta = list_active(bits, n_visible, active), 0, f32(betas[chain])
        for k in range(start, stop):
            add_rows(up, active, n_active, x)
            key = draw_key(seed, first_chain + chain, first_draw + 2 * k)
            state = draw_hidden(x, n_hidden, scale, a, a0, beta, key)
            key = draw_key(seed, first_chain + chain, first_draw + 2 * k + 1)
            draw_visible(state, tables, scale, b, b0, units, beta, key, bits)
            n_active = list_active(bits, n_visible, active)
        if stop > start:
            write_row(bits, v[chain])
            for unit in range(n_hidden):
                h[chain, unit] = f32((state >> unit) & 1)


@numba.njit(**_KERNEL)
def fields_up(v, up, out):
    n_visible = v.shape[1]
    active = np.empty(n_visible + ROOM, np.uint16)
    bits = np.empty(n_words(n_visible), np.uint16)
    for chain in range(v.shape[0]):
        read_row(v[chain], bits)
        add_rows(up, active, list_active(bits, n_visible, active), out[chain])


@numba.njit(**_KERNEL)
def fields_down(h, tables, out):
    for chain in range(h.shape[0]):
        out[chain] = f32(0)
        for group in range(tables.shape[0]):
            pattern = 0
            for unit in range(group * TABLE_BITS, min((group + 1) * TABLE_BITS, h.shape[1])):
                pattern |= np.int64(h[chain, unit]) << (unit - group * TABLE_BITS)
            for i in range(out.shape[1]):
                out[chain, i] += tables[group, pattern, i]
