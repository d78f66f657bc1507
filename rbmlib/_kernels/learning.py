"""One update of contrastive divergence, reproducible to the bit.

Probabilities of the positive and negative phase are rounded to multiples of 2**-16, so that
sums over a mini-batch of up to 255 rows are exact in float32: gradients, like fields, do not
depend on the order of summation. Nothing is multiplied: fields are sums of the weights of the
active units (`groups`), and what a visible unit contributes to the gradient is a sum over the rows
in which it is active.
"""

from typing import NamedTuple

import numpy as np

from .elementwise import mean_lanes
from .groups import WIDTH, Blocks, blocks, fields_of_block, list_rows, states_of
from .layers import (
    MAX_ENTRY,
    MAX_SUM,
    ROOM,
    layer_at_one,
    list_active,
    quantise,
    read_rows,
    write_rows,
)
from .simd import LANES, fma, load, load_row, njit, spread, store, to_floats
from .wide import draw_layer, read_group

f32, i16, i32, u16 = np.float32, np.int16, np.int32, np.uint16
GRID = f32(65536.0)
TO_WHOLE = f32(1.5 * 2**23)  # added and taken away it rounds
MAX_BATCH = 255
TOGETHER = 4 * LANES  # columns of the gradient that are summed in registers


class Integers(NamedTuple):
    """Weights as `requantise` leaves them."""

    up: Blocks
    down: Blocks
    scale: np.float32


def integers_of(weights) -> Integers:
    """Room for the integers of weights (n_visible, n_hidden) as large as these, or larger ones."""
    scale = quantise(weights, np.zeros(len(weights))).scale
    nothing = np.zeros(weights.shape)
    return Integers(blocks(nothing), blocks(nothing.T), f32(scale))


@njit
def _round_row(weights, inverse, whole):
    """Whole numbers of a row of weights, padded with zeros; False if one is too large."""
    fits, most = True, f32(MAX_ENTRY)
    for j in range(weights.size):
        q = np.rint(weights[j] * inverse)
        fits &= abs(q) <= most  # nor is NaN
        whole[j] = i16(min(max(q, -most), most))
    return fits


@njit
def _largest(whole, first):
    largest = i16(0)
    for lane in range(WIDTH):
        largest = max(largest, abs(whole[first + lane]))
    return largest


@njit
def _transpose(up, down, n_visible, n_hidden):
    """The rows of ``down`` from those of ``up``, a tile at a time: it stays in the cache."""
    for tile in range(down.shape[0]):
        first, stop = WIDTH * tile, min(WIDTH * tile + WIDTH, n_visible)
        for block in range(up.shape[0]):
            for j in range(WIDTH * block, min(WIDTH * block + WIDTH, n_hidden)):
                for i in range(first, stop):
                    down[tile, j, i - first] = up[block, i, j - WIDTH * block]


@njit
def requantise(weights, integers):
    """Write the integers of ``weights`` (n_visible, n_hidden); False if they do not fit."""
    up, down = integers.up, integers.down
    n_visible, n_hidden = weights.shape
    n_blocks = up.rows.shape[0]
    whole = np.zeros(n_blocks * WIDTH, i16)
    sums = np.zeros((2, n_blocks * WIDTH), i32)  # of the positive ones of a column, and of all
    largest = np.zeros((2, max(n_blocks, down.rows.shape[0])), i16)
    fits, inverse = True, f32(1.0) / integers.scale  # a power of two: exact
    for i in range(n_visible):
        fits &= _round_row(weights[i], inverse, whole)
        positive, total = np.int64(0), np.int64(0)
        for j in range(whole.size):
            q = i32(whole[j])
            sums[0, j] += max(q, i32(0))
            sums[1, j] += q
            positive += max(q, i32(0))
            total += q
        fits &= max(positive, positive - total) < MAX_SUM
        down.totals[i // WIDTH, i % WIDTH] = i32(total)
        for block in range(n_blocks):
            most = _largest(whole, block * WIDTH)
            largest[0, block] = max(largest[0, block], most)
            largest[1, i // WIDTH] = max(largest[1, i // WIDTH], most)
            place = (block * (n_visible + 1) + i) * WIDTH
            store(up.rows, place, load_row(whole, block * WIDTH))
    for j in range(whole.size):
        fits &= max(sums[0, j], sums[0, j] - sums[1, j]) < MAX_SUM
        up.totals[j // WIDTH, j % WIDTH] = sums[1, j]
    for block in range(n_blocks):
        up.by_two[block] = 2 * i32(largest[0, block]) < 2**15
    for block in range(down.rows.shape[0]):
        down.by_two[block] = 2 * i32(largest[1, block]) < 2**15
    _transpose(up.rows, down.rows, n_visible, n_hidden)
    return fits


class Parameters(NamedTuple):
    """Parameters of a model, or their velocities; changed in place."""

    weights: np.ndarray  # float32 (n_visible, n_hidden)
    visible_bias: np.ndarray
    hidden_bias: np.ndarray


class Momentum(NamedTuple):
    """How far a step goes, by the gradient and by the step before; and what weights lose."""

    rate: np.float32
    momentum: np.float32
    decay: np.float32


class Phases(NamedTuple):
    """Both phases of an update: the rows of the batch, then those of the chains."""

    counts: np.ndarray  # float32 (n_rows, columns): 2**16 p(h | v), of the chains times -1
    rows: np.ndarray  # uint16 (n_visible, n_rows): in which a visible unit is active
    n_active: np.ndarray  # int64 (n_visible,): how many these are
    visible: np.ndarray  # float32 (n_visible,): sums of v over the batch less those over chains
    hidden: np.ndarray  # float32 (columns,): likewise of the counts


@njit
def _hidden_counts(weights, states, room, layer, first, sign, counts):
    """Write the counts of states to rows from the first on."""
    width, n_chains = counts.shape[1], states.counts.size
    for block in range(weights.n_words):
        fields = fields_of_block(block, weights, states, True, room)
        bias = load(layer.slope, LANES * block)
        for chain in range(n_chains):
            mean = mean_lanes(fma(to_floats(load(fields, LANES * chain)), layer.scale, bias))
            count = mean * (sign * GRID) + TO_WHOLE
            store(counts, (first + chain) * width + LANES * block, count - TO_WHOLE)


@njit
def _add_rows(words, first, sign, phases):
    """Add rows of a phase to the lists of the visible units that are active in them."""
    n_visible = phases.n_active.size
    active = np.empty(n_visible + ROOM, u16)
    for chain in range(words.shape[0]):
        for k in range(list_active(words[chain], n_visible, active)):
            unit = active[k]
            phases.rows[unit, phases.n_active[unit]] = first + chain
            phases.n_active[unit] += 1
            phases.visible[unit] += sign


@njit
def _add_counts(counts, sums):
    for row in range(counts.shape[0]):
        for j in range(sums.size):
            sums[j] += counts[row, j]


@njit
def _list(states, n_units):
    list_rows(states.words, n_units, states.listed, states.counts, states.inverted)


@njit
def both_phases(batch, chains, integers, parameters, run):
    """The phases of an update; the chains are moved by the sweeps of run first, in place."""
    (n_rows, n_visible), n_hidden = batch.shape, parameters.hidden_bias.size
    hidden = layer_at_one(integers.scale, parameters.hidden_bias)
    visible = layer_at_one(integers.scale, parameters.visible_bias)
    width = (n_hidden + TOGETHER - 1) // TOGETHER * TOGETHER
    phases = Phases(
        np.zeros((2 * n_rows, width), f32), np.empty((n_visible, 2 * n_rows), u16),
        np.zeros(n_visible, np.int64), np.zeros(n_visible, f32), np.zeros(width, f32),
    )  # fmt: skip
    data, group = states_of(read_rows(batch), n_visible), read_group(chains, n_hidden)
    v, h = group.visible, group.hidden
    group.betas[:] = f32(1)
    _list(data, n_visible)
    _list(v, n_visible)
    _hidden_counts(integers.up, data, group.room, hidden, 0, f32(1), phases.counts)
    for k in range(run.start, run.stop):
        draw = run.first_draw + 2 * k
        draw_layer(integers.up, v, True, None, hidden, group, h, draw, run)
        _list(h, n_hidden)
        draw_layer(integers.down, h, True, None, visible, group, v, draw + 1, run)
        _list(v, n_visible)
    _hidden_counts(integers.up, v, group.room, hidden, n_rows, f32(-1), phases.counts)
    write_rows(v.words, chains)
    _add_rows(data.words, 0, f32(1), phases)
    _add_rows(v.words, n_rows, f32(-1), phases)
    _add_counts(phases.counts, phases.hidden)
    return phases


@njit
def _gradient_row(phases, unit, out):
    """The sums of ``2**16 v h`` of a visible unit, the batch less the chains: (columns,)."""
    counts, width = phases.counts, phases.counts.shape[1]
    rows, n_active = phases.rows[unit], phases.n_active[unit]
    for first in range(0, width, TOGETHER):
        a, b, c, d = spread(f32(0)), spread(f32(0)), spread(f32(0)), spread(f32(0))
        for k in range(n_active):
            place = width * np.int64(rows[k]) + first
            a, b = a + load(counts, place), b + load(counts, place + LANES)
            c, d = c + load(counts, place + 2 * LANES), d + load(counts, place + 3 * LANES)
        store(out, first, a)
        store(out, first + LANES, b)
        store(out, first + 2 * LANES, c)
        store(out, first + 3 * LANES, d)


@njit
def gradient(phases, n_hidden):
    """The sums of `_gradient_row` of all visible units (n_visible, n_hidden)."""
    out = np.empty((phases.n_active.size, n_hidden), f32)
    row = np.empty(phases.hidden.size, f32)
    for unit in range(out.shape[0]):
        _gradient_row(phases, unit, row)
        for j in range(n_hidden):
            out[unit, j] = row[j]
    return out


@njit
def _move(parameters, velocity, sums, unit, step):
    """A step with momentum along a row of sums of this unit, in place."""
    rate, momentum, decay = step
    for j in range(parameters.size):
        slope = sums[j] * unit - decay * parameters[j]
        velocity[j] = momentum * velocity[j] + rate * slope
        parameters[j] += velocity[j]


@njit
def contrastive_divergence(batch, chains, integers, parameters, velocities, step, run):
    """One update of the parameters, in place, from a batch and the chains of the negative phase.

    ``chains`` (n_rows, n_visible), a copy of the batch for CD or persistent for PCD, are moved by
    the sweeps of run and used with p(h | v). ``integers`` are those of the parameters.
    """
    phases = both_phases(batch, chains, integers, parameters, run)
    one = f32(1.0) / f32(batch.shape[0])
    unit = f32(1.0) / (GRID * f32(batch.shape[0]))
    row = np.empty(phases.hidden.size, f32)
    for i in range(batch.shape[1]):
        _gradient_row(phases, i, row)
        _move(parameters.weights[i], velocities.weights[i], row, unit, step)
    step = Momentum(step.rate, step.momentum, f32(0))  # biases do not decay
    _move(parameters.visible_bias, velocities.visible_bias, phases.visible, one, step)
    _move(parameters.hidden_bias, velocities.hidden_bias, phases.hidden, unit, step)
