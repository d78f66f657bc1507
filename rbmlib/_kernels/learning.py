"""One update of contrastive divergence, reproducible to the bit.

Probabilities in both phases are rounded to multiples of 2**-16, so sums over a mini-batch of up to
255 rows are exact in float32. Gradients, like fields, therefore do not depend on the order of
summation. There are no matrix products: fields are sums of the weights of the active units
(`groups`), and the gradient of a visible unit is a sum over the rows in which the unit is active.
If the unit is active in a row of the batch and in the chain, the difference is added. A row of
weights is updated and rounded while it is in the first-level cache.
"""

from typing import NamedTuple

import numpy as np

from .elementwise import mean_lanes
from .groups import WIDTH, Blocks, blocks, fields_of_block, list_rows, states_of
from .layers import MAX_ENTRY, MAX_SUM, ROOM, layer_at_one, list_active, quantise
from .simd import (
    LANES,
    absolute,
    bits_of,
    fma,
    interleaved,
    larger,
    load,
    load_row,
    narrowed,
    njit,
    spread,
    store,
    to_floats,
    widen,
)
from .wide import draw_block, draw_layer, group_of, set_keys

f32, i16, i32, u16 = np.float32, np.int16, np.int32, np.uint16
GRID = f32(65536.0)
TO_WHOLE = f32(1.5 * 2**23)  # adding and subtracting it rounds
MAX_BATCH = 255
TOGETHER = 4 * LANES  # columns of the gradient that are summed in registers


class Integers(NamedTuple):
    """The integer weights that `requantise` writes."""

    up: Blocks
    down: Blocks
    scale: np.float32


def integers_of(weights) -> Integers:
    """Return memory for integers, with the scale for weights (n_visible, n_hidden) like these."""
    scale = quantise(weights, np.zeros(len(weights))).scale
    nothing = np.zeros(weights.shape)
    return Integers(blocks(nothing), blocks(nothing.T), f32(scale))


@njit
def _padded(n_units):
    """Return zeros for a row of floats, padded for the loop of `_gradient_row`."""
    return np.zeros((n_units + TOGETHER - 1) // TOGETHER * TOGETHER, f32)


@njit
def _round_row(weights, inverse, row, unit, up):
    """Round a unit's weights to integers; return False if one is too large. ``row`` is work space,
    which holds zeros beyond the weights."""
    fits, most = 2**LANES - 1, f32(MAX_ENTRY + 0.5)
    for j in range(weights.size):
        row[j] = weights[j] * inverse
    for block in range(up.shape[0]):
        a, b = load(row, WIDTH * block) + TO_WHOLE, load(row, WIDTH * block + LANES) + TO_WHOLE
        fits &= bits_of(absolute(a - TO_WHOLE) < most)  # False for NaN, too
        fits &= bits_of(absolute(b - TO_WHOLE) < most)
        place = (block * up.shape[1] + unit) * WIDTH
        store(up, place, narrowed(a, b))  # the low bits hold the integer
    return fits == 2**LANES - 1


@njit
def _turn_tile(tile, spare):
    """Transpose 32 rows of 32 into ``spare`` by interleaving rows i and i + 16 five times."""
    for _ in range(5):
        for i in range(0, WIDTH * LANES, WIDTH):
            one, two = load_row(tile, i), load_row(tile, i + WIDTH * LANES)
            store(spare, 2 * i, interleaved(one, two, 0))
            store(spare, 2 * i + WIDTH, interleaved(one, two, 1))
        tile, spare = spare, tile


@njit
def _copy_rows(source, start, n_rows, target, place):
    for i in range(0, n_rows * WIDTH, WIDTH):
        store(target, place + i, load_row(source, start + i))


@njit
def _transpose(up, down):
    """Write the rows of ``down`` from the rows of ``up`` in tiles that stay in the cache."""
    n_visible, n_hidden = up.shape[1] - 1, down.shape[1] - 1
    tile, spare = np.zeros(WIDTH * WIDTH, i16), np.empty(WIDTH * WIDTH, i16)
    for i in range(0, n_visible, WIDTH):
        for j in range(0, n_hidden, WIDTH):
            tile[:] = i16(0)  # in case there are fewer rows
            _copy_rows(up, j * up.shape[1] + i * WIDTH, min(WIDTH, n_visible - i), tile, 0)
            _turn_tile(tile, spare)
            _copy_rows(spare, 0, min(WIDTH, n_hidden - j), down, i * down.shape[1] + j * WIDTH)


@njit
def _add_up(weights):
    """Set totals and ``by_two`` of `Blocks`; return False if a sum may not be exact in float32."""
    rows, largest, reach = weights.rows, np.empty(WIDTH, i16), np.empty(LANES, i32)
    totals, fits = weights.totals, True
    for block in range(rows.shape[0]):
        a, b = spread(i32(0)), spread(i32(0))  # sums of positive weights
        c, d = spread(i32(0)), spread(i32(0))  # sums of negative weights
        zero = load_row(rows, ((block + 1) * rows.shape[1] - 1) * WIDTH)
        most = zero
        for k in range(rows.shape[1]):
            q = load_row(rows, (block * rows.shape[1] + k) * WIDTH)
            positive, negative = larger(q, zero), larger(zero - q, zero)
            a, b = a + widen(positive, 0), b + widen(positive, 1)
            c, d = c + widen(negative, 0), d + widen(negative, 1)
            most = larger(most, larger(positive, negative))
        store(totals, WIDTH * block, a - c)
        store(totals, WIDTH * block + LANES, b - d)
        for sums in (a, b, c, d):
            store(reach, 0, sums)
            for one in reach:
                fits &= one < MAX_SUM
        store(largest, 0, most)
        weights.by_two[block] = True
        for one in largest:
            weights.by_two[block] &= 2 * i32(one) < 2**15
    return fits


@njit
def requantise(weights, integers):
    """Write the integers of ``weights`` (n_visible, n_hidden); return False if they do not fit."""
    up, row = integers.up.rows, _padded(weights.shape[1])
    fits, inverse = True, f32(1.0) / integers.scale  # exact for a power of two
    for i in range(weights.shape[0]):
        fits &= _round_row(weights[i], inverse, row, i, up)
    return fits and _both_ways(integers)


@njit
def _both_ways(integers):
    """Complete the integers from the rows of ``up``; return False if sums do not fit."""
    _transpose(integers.up.rows, integers.down.rows)
    fits = _add_up(integers.up)
    return _add_up(integers.down) and fits


class Parameters(NamedTuple):
    """Parameters of a model or their velocities, which are changed in place."""

    weights: np.ndarray  # float32 (n_visible, n_hidden)
    visible_bias: np.ndarray
    hidden_bias: np.ndarray


class Momentum(NamedTuple):
    """Learning rate, momentum and weight decay of a step."""

    rate: np.float32
    momentum: np.float32
    decay: np.float32


class Phases(NamedTuple):
    """Both phases of an update: rows for the batch, for the chains, and for sums of the two."""

    counts: np.ndarray  # float32 (3 n_rows, columns): 2**16 p(h | v), times -1 for the chains
    rows: np.ndarray  # uint16 (n_visible, n_rows): rows of counts that each visible unit adds
    n_active: np.ndarray  # int64 (n_visible,): number of these rows
    visible: np.ndarray  # float32 (n_visible,): sum of v over the batch less that over the chains
    hidden: np.ndarray  # float32 (columns,): the same for the counts


@njit
def _hidden_counts(weights, states, layer, group, first, sign, counts, drawn):
    """Write the counts of states from row ``first`` on; if ``drawn``, also draw hidden units."""
    width, n_chains = counts.shape[1], states.counts.size
    for block in range(weights.n_words):
        fields = fields_of_block(block, weights, states, True, group.room)
        bias = load(layer.slope, LANES * block)
        for chain in range(n_chains):
            mean = mean_lanes(fma(to_floats(load(fields, LANES * chain)), layer.scale, bias))
            count = mean * (sign * GRID) + TO_WHOLE
            store(counts, (first + chain) * width + LANES * block, count - TO_WHOLE)
        if drawn:
            draw_block(block, fields, layer, None, None, group, group.hidden.words)


@njit
def _list_rows(batch, chains, phases):
    """List the rows of counts of each visible unit; a unit active in both phases has one row."""
    (n_rows, n_words), n_visible = batch.shape, phases.n_active.size
    active, words = np.empty(n_visible + ROOM, u16), np.empty((3, n_words), u16)
    for row in range(n_rows):
        for k in range(n_words):
            both = batch[row, k] & chains[row, k]
            words[0, k], words[1, k] = batch[row, k] ^ both, chains[row, k] ^ both
            words[2, k] = both
        for which in range(3):
            change = f32(0) if which == 2 else f32(1 - 2 * which)
            for k in range(list_active(words[which], n_visible, active)):
                unit = active[k]
                phases.rows[unit, phases.n_active[unit]] = which * n_rows + row
                phases.n_active[unit] += 1
                phases.visible[unit] += change


@njit
def both_phases(batch, chains, integers, parameters, run):
    """Move the chains by the sweeps of run, in place, and return the phases of an update."""
    n_rows, n_hidden = batch.shape[0], parameters.hidden_bias.size
    n_visible = parameters.visible_bias.size
    hidden = layer_at_one(integers.scale, parameters.hidden_bias)
    visible = layer_at_one(integers.scale, parameters.visible_bias)
    width = _padded(n_hidden).size
    phases = Phases(
        np.zeros((3 * n_rows, width), f32), np.empty((n_visible, n_rows), u16),
        np.zeros(n_visible, np.int64), np.zeros(n_visible, f32), np.zeros(width, f32),
    )  # fmt: skip
    data, group = states_of(batch, n_visible), group_of(chains, n_visible, n_hidden)
    v, h = group.visible, group.hidden
    group.betas[:] = f32(1)
    list_rows(data, n_visible)
    list_rows(v, n_visible)
    start_at_batch = run.start < run.stop and np.array_equal(batch, chains)
    set_keys(run, run.first_draw + 2 * run.start, group)
    _hidden_counts(integers.up, data, hidden, group, 0, f32(1), phases.counts, start_at_batch)
    for k in range(run.start, run.stop):
        draw = run.first_draw + 2 * k
        if k > run.start or not start_at_batch:
            draw_layer(integers.up, v, True, None, hidden, group, h, draw, run)
        list_rows(h, n_hidden)
        draw_layer(integers.down, h, True, None, visible, group, v, draw + 1, run)
        list_rows(v, n_visible)
    _hidden_counts(integers.up, v, hidden, group, n_rows, f32(-1), phases.counts, False)
    _list_rows(batch, chains, phases)
    counts, sums = phases.counts, phases.hidden
    for row in range(n_rows):
        for j in range(width):
            both = counts[row, j] + counts[n_rows + row, j]
            counts[2 * n_rows + row, j] = both
            sums[j] += both
    return phases


@njit
def _gradient_row(phases, unit, out):
    """Fill ``out`` (columns,) with the sums of ``2**16 v h`` of a unit, batch less chains."""
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
def _move(parameters, velocity, sums, unit, step):
    """Make a step with momentum along a row of sums in multiples of ``unit``, in place."""
    rate, momentum, decay = step
    for j in range(parameters.size):
        slope = sums[j] * unit - decay * parameters[j]
        velocity[j] = momentum * velocity[j] + rate * slope
        parameters[j] += velocity[j]


@njit
def contrastive_divergence(batch, chains, integers, parameters, velocities, step, run):
    """Update the parameters in place, from a batch and the chains of the negative phase.

    Batch and chains are words (n_rows, n_words). The chains, a copy of the batch for CD or
    persistent chains for PCD, are moved by the sweeps of run and used with p(h | v). ``integers``
    are updated with the parameters; the return value is False if they no longer fit.
    """
    phases = both_phases(batch, chains, integers, parameters, run)
    one, unit = f32(1.0) / f32(len(batch)), f32(1.0) / (GRID * f32(len(batch)))
    row = np.empty(phases.hidden.size, f32)
    fits, inverse = True, f32(1.0) / integers.scale
    for i in range(parameters.visible_bias.size):
        _gradient_row(phases, i, row)
        weights = parameters.weights[i]
        _move(weights, velocities.weights[i], row, unit, step)
        row[weights.size :] = f32(0)
        fits &= _round_row(weights, inverse, row, i, integers.up.rows)
    step = Momentum(step.rate, step.momentum, f32(0))  # biases do not decay
    _move(parameters.visible_bias, velocities.visible_bias, phases.visible, one, step)
    _move(parameters.hidden_bias, velocities.hidden_bias, phases.hidden, unit, step)
    return fits and _both_ways(integers)
