"""Annealing and Gibbs sweeps with few hidden units, without matrix products.

Each chain makes all its steps alone, and its state stays in the first-level cache. The active
visible units form a list whose weight rows (one or two vectors each) are added up. The hidden state
is an integer; each five of its bits select a row from a table of sums of five weights. Fields are
exact integers (`layers`), so results equal those of `wide`.
"""

from typing import NamedTuple

import numpy as np

from .elementwise import EXACT, draw_lanes, exact_increment, exp_negative, increment_lanes, step_of
from .layers import ROOM, FixedPoint, aligned, list_active, n_words, read_rows, write_rows
from .random import draw_key, mixed_keys, mixed_units
from .simd import LANES, absolute, bits_of, fma, join, load, mask_of, njit, spread, store, where

f32 = np.float32

MAX_HIDDEN = 30
WIDTH = 2 * LANES  # columns of a weight row: the hidden units, the visible slope, padding
TABLE_BITS = 5
PATTERNS = 2**TABLE_BITS


def layout(fixed: FixedPoint) -> tuple[np.ndarray, np.ndarray]:
    """Return weight rows (n_visible, WIDTH) and tables (n_groups, PATTERNS, n_visible padded).

    ``tables[g, pattern]`` is the sum of the rows of ``down`` in group g selected by the pattern.
    """
    n_hidden, n_visible = fixed.down.shape
    up = aligned((n_visible, WIDTH))
    up[:, : n_hidden + 1] = fixed.up
    n_groups = 2 * -(-n_hidden // (2 * TABLE_BITS))
    rows = np.zeros((n_groups * TABLE_BITS, LANES * n_words(n_visible)), f32)
    rows[:n_hidden, :n_visible] = fixed.down
    tables = aligned((n_groups, PATTERNS, rows.shape[1]))
    bits = np.arange(PATTERNS)[:, None] >> np.arange(TABLE_BITS) & 1
    np.matmul(bits.astype(f32), rows.reshape(n_groups, TABLE_BITS, -1), out=tables)  # exact
    return up, tables


@njit
def add_rows(up, active, n_active, out):
    """Fill ``out`` with the sum of the listed rows of ``up``; four sums hide the latency."""
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


@njit
def draw_hidden(x, layer, beta, step, key):
    """Draw the hidden units given fields ``x`` (WIDTH,), and return them as the bits of an integer.

    Also returns the sum of `increment_lanes`, or 0 if ``step`` is None.
    """
    (k0, k1), state, n_hidden = mixed_keys(key), 0, layer.n_units
    total = spread(f32(0))
    for j in range(0, n_hidden, LANES):
        s = fma(load(x, j), layer.scale, load(layer.slope, j))
        t = fma(s, beta, load(layer.offset, j))
        e = exp_negative(absolute(t))
        state |= bits_of(draw_lanes(t, e, mixed_units(j), k0, k1)) << j
        if step is not None:
            here = mask_of(((1 << n_hidden) - 1) >> j)
            total = total + where(here, increment_lanes(s, t, e, step.size, step.rule), f32(0))
    return state & ((1 << n_hidden) - 1), join(total)


@njit
def draw_visible(state, tables, layer, beta, slopes, key, units, bits):
    """Draw the visible units into the words ``bits``.

    Returns the sum of the slopes of the units that are 1, or 0 if ``slopes`` is None.
    """
    scale, slope, offset = layer.scale, layer.slope, layer.offset
    k0, k1 = mixed_keys(key)
    n_groups, width, total = tables.shape[0], tables.shape[2], spread(f32(0))
    r0 = (state & 31) * width  # offsets of the six table rows that the hidden state selects
    r1 = (((state >> 5) & 31) + PATTERNS) * width
    r2 = (((state >> 10) & 31) + 2 * PATTERNS) * width
    r3 = (((state >> 15) & 31) + 3 * PATTERNS) * width
    r4 = (((state >> 20) & 31) + 4 * PATTERNS) * width
    r5 = (((state >> 25) & 31) + 5 * PATTERNS) * width
    for word in range(bits.size):
        j = word * LANES
        y = load(tables, r0 + j) + load(tables, r1 + j)
        if n_groups > 2:
            y = y + (load(tables, r2 + j) + load(tables, r3 + j))
        if n_groups > 4:
            y = y + (load(tables, r4 + j) + load(tables, r5 + j))
        s = fma(y, scale, load(slope, j))
        t = fma(s, beta, load(offset, j))
        drawn = draw_lanes(t, exp_negative(absolute(t)), load(units, j), k0, k1)
        bits[word] = bits_of(drawn)
        if slopes is not None:
            total = total + where(drawn, s, f32(0))  # slopes of padding are 0
    return join(total)


class Chains(NamedTuple):
    """States of chains, and memory for one chain at a time."""

    words: np.ndarray  # uint16 (n_chains, n_words): the visible units
    betas: np.ndarray  # float32 (n_chains,)
    active: np.ndarray  # uint16 (n_visible + ROOM,): active visible units of a chain
    x: np.ndarray  # float32 (WIDTH,): fields of the hidden units
    units: np.ndarray  # uint32 (n_visible padded,): `mixed_units`


@njit
def begin(words, n_visible, model):
    units = np.empty(LANES * words.shape[1], np.uint32)
    for j in range(0, units.size, LANES):
        store(units, j, mixed_units(j))
    betas, active = np.empty(words.shape[0], f32), np.empty(n_visible + ROOM, np.uint16)
    return Chains(words, betas, active, np.empty(WIDTH, f32), units)


@njit
def anneal(v, log_weights, kept, schedule, model, run):
    """Make the steps of `gibbs.anneal`, chain by chain."""
    up, tables, slope_scale, hidden, visible = model
    n_hidden, n_visible, betas = hidden.n_units, v.shape[1], schedule.betas
    words, _, active, x, units = begin(read_rows(v), n_visible, model)
    for c in range(v.shape[0]):
        bits = words[c]
        n_active = list_active(bits, n_visible, active)
        for k in range(run.start, run.stop):
            step, beta = step_of(schedule, k), f32(betas[k + 1])
            add_rows(up, active, n_active, x)
            gain = (betas[k + 1] - betas[k]) * slope_scale * np.float64(x[n_hidden])
            key = draw_key(run.seed, run.first_chain + c, run.first_draw + 2 * k)
            state, change = draw_hidden(x, hidden, beta, step, key)
            if step.rule == EXACT:
                change = exact_increment(x, hidden, betas[k + 1], betas[k])
            log_weights[c] += gain + change
            if schedule.rows[k] >= 0:
                kept[schedule.rows[k], c] = log_weights[c]
            key = draw_key(run.seed, run.first_chain + c, run.first_draw + 2 * k + 1)
            draw_visible(state, tables, visible, beta, None, key, units, bits)
            n_active = list_active(bits, n_visible, active)
    write_rows(words, v)


@njit
def sweep(chains, slopes, model, draw, run):
    """Make a sweep of every chain at its beta, and fill ``slopes`` unless it is empty."""
    up, tables, _, hidden, visible = model
    words, betas, active, x, units = chains
    for c in range(betas.size):
        bits, beta = words[c], betas[c]
        add_rows(up, active, list_active(bits, visible.n_units, active), x)
        key = draw_key(run.seed, run.first_chain + c, draw)
        state, _ = draw_hidden(x, hidden, beta, None, key)
        key = draw_key(run.seed, run.first_chain + c, draw + 1)
        if slopes.size:
            slopes[c] = 0.0
            for unit in range(hidden.n_units):
                if (state >> unit) & 1:
                    slopes[c] += np.float64(hidden.slope[unit])
            slopes[c] += draw_visible(state, tables, visible, beta, True, key, units, bits)
        else:
            draw_visible(state, tables, visible, beta, None, key, units, bits)
