"""Annealing and Gibbs sweeps with any number of hidden units, for groups of chains.

Units are processed in blocks of sixteen: the fields of a block are computed for all chains of the
group from weights that fit in the first-level cache (`groups`), and then the block is drawn.
"""

from typing import NamedTuple

import numpy as np

from .elementwise import EXACT, draw_lanes, exact_increment, exp_negative, increment_lanes, step_of
from .groups import Room, States, empty_room, fields_of_block, prepare, states_of
from .layers import aligned_empty, n_words, read_rows, write_rows
from .random import draw_key, mixed_keys, mixed_units
from .simd import LANES, absolute, bits_of, fma, join, load, mask_of, njit, store, to_floats, where

f32, u32 = np.float32, np.uint32


class Group(NamedTuple):
    """States and memory of a group of chains."""

    visible: States
    hidden: States
    room: Room
    sums: np.ndarray  # float32 (n_chains * LANES,): sums of increments or slopes
    betas: np.ndarray  # float32 (n_chains,)
    k0: np.ndarray  # uint32 (n_chains,): keys from `set_keys` for the layer to be drawn
    k1: np.ndarray


@njit
def begin(words, n_visible, model):
    return group_of(words, n_visible, model.hidden.n_units)


@njit
def group_of(words, n_visible, n_hidden):
    """Return a group of chains with these words as visible states, which are not copied."""
    n_chains = words.shape[0]
    sums, betas = aligned_empty(n_chains * LANES, f32), np.empty(n_chains, f32)
    k0, k1 = np.empty(n_chains, u32), np.empty(n_chains, u32)
    room = empty_room(n_chains)
    nothing = np.zeros((n_chains, n_words(n_hidden)), np.uint16)
    visible, hidden = states_of(words, n_visible), states_of(nothing, n_hidden)
    return Group(visible, hidden, room, sums, betas, k0, k1)


@njit
def set_keys(run, draw, group):
    """Set the keys of all chains for a draw."""
    for chain in range(group.k0.size):
        key = draw_key(run.seed, run.first_chain + chain, draw)
        group.k0[chain], group.k1[chain] = mixed_keys(key)


@njit
def draw_block(block, fields, layer, step, weight, group, words):
    """Draw sixteen units of every chain at its beta.

    Adds to the sums of the group: `increment_lanes` unless ``step`` is None, and the slopes
    ``weight * fields + slope`` of the units that are 1 unless ``weight`` is None.
    """
    first, scale, sums = LANES * block, layer.scale, group.sums
    betas, k0, k1 = group.betas, group.k0, group.k1
    a, a0, units = load(layer.slope, first), load(layer.offset, first), mixed_units(first)
    here = mask_of((1 << min(layer.n_units - first, LANES)) - 1)
    for chain in range(betas.size):
        x = to_floats(load(fields, LANES * chain))
        s = fma(x, scale, a)
        t = fma(s, betas[chain], a0)
        e = exp_negative(absolute(t))
        drawn = draw_lanes(t, e, units, k0[chain], k1[chain])
        words[chain, block] = bits_of(drawn)
        if step is not None:
            gain = where(here, increment_lanes(s, t, e, step.size, step.rule), f32(0))
            store(sums, LANES * chain, load(sums, LANES * chain) + gain)
        if weight is not None:
            gain = where(drawn, fma(x, weight, a), f32(0))
            store(sums, LANES * chain, load(sums, LANES * chain) + gain)


@njit
def draw_layer(weights, states, sparse, weight, layer, group, drawn, draw, run):
    """Draw the units of the other layer of every chain; ``weight`` is that of `draw_block`."""
    set_keys(run, draw, group)
    for block in range(drawn.words.shape[1]):
        fields = fields_of_block(block, weights, states, sparse, group.room)
        draw_block(block, fields, layer, None, weight, group, drawn.words)


@njit
def draw_hidden_with_increments(model, step, sparse, group, x):
    """Draw the hidden units at one beta, and store the input of `add_gains` in the sums and x."""
    n_blocks = model.up.n_words  # the visible slope may need another block
    for block in range(n_blocks):
        fields = fields_of_block(block, model.up, group.visible, sparse, group.room)
        if block == n_blocks - 1 or step.rule == EXACT:
            for chain in range(x.shape[0]):
                lanes = to_floats(load(fields, LANES * chain))
                store(x, chain * x.shape[1] + LANES * block, lanes)
        if block < group.hidden.words.shape[1]:
            draw_block(block, fields, model.hidden, step, None, group, group.hidden.words)


@njit
def add_gains(log_weights, schedule, k, model, x, sums):
    """Add the change of log p* over step k, from fields ``x`` or ``sums`` of `increment_lanes`."""
    beta, step = schedule.betas[k + 1], schedule.betas[k + 1] - schedule.betas[k]
    for chain in range(log_weights.size):
        gain = step * model.slope_scale * np.float64(x[chain, model.hidden.n_units])
        if schedule.rules[k] != EXACT:
            gain += join(load(sums, LANES * chain))
        else:
            gain += exact_increment(x[chain], model.hidden, beta, schedule.betas[k])
        log_weights[chain] += gain


@njit
def anneal(v, log_weights, kept, schedule, model, run):
    """Make the steps of `gibbs.anneal` for one group of chains, in place."""
    group = begin(read_rows(v), v.shape[1], model)
    visible, hidden = group.visible, group.hidden
    x = np.empty((v.shape[0], LANES * model.up.n_words), f32)
    sparse = prepare(visible, model.visible.n_units)
    for k in range(run.start, run.stop):
        step, draw = step_of(schedule, k), run.first_draw + 2 * k
        group.betas[:], group.sums[:] = step.beta, f32(0)
        set_keys(run, draw, group)
        draw_hidden_with_increments(model, step, sparse, group, x)
        add_gains(log_weights, schedule, k, model, x, group.sums)
        if schedule.rows[k] >= 0:
            kept[schedule.rows[k]] = log_weights
        sparse = prepare(hidden, model.hidden.n_units)
        draw_layer(model.down, hidden, sparse, None, model.visible, group, visible, draw + 1, run)
        sparse = prepare(visible, model.visible.n_units)
    write_rows(visible.words, v)


@njit
def sweep(chains, slopes, model, draw, run):
    """Make a sweep of all chains at their betas, and fill ``slopes``."""
    up, down, _, of_h, of_v = model
    v, h, sums = chains.visible, chains.hidden, chains.sums
    sums[:] = f32(0)
    draw_layer(up, v, prepare(v, of_v.n_units), f32(0), of_h, chains, h, draw, run)
    draw_layer(down, h, prepare(h, of_h.n_units), of_v.scale, of_v, chains, v, draw + 1, run)
    for chain in range(slopes.size):
        slopes[chain] = join(load(sums, LANES * chain))
