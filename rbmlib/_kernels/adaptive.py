"""Simulated tempering of groups of chains, each with estimates of log Z adjusted at every sweep.

The chains of a group share one vector of estimates, which moves once all of them have been swept:
stochastic approximation (Tan 2017), of which the Wang-Landau algorithm is a case. Groups share
nothing, so they run on threads; within one the order of chains and of sums is fixed, and the same
seed gives the same bits on any number of threads. Sweeps and weights are those of `tempering`.
"""

from typing import NamedTuple

import numba
import numpy as np

from . import groups, narrow, wide
from .active import ROOM, list_active, n_words, read_row, write_row
from .memory import load
from .random import bits31, draw_key, high, low
from .simd import LANES, join
from .tempering import DRAWS, memory_of, narrow_sweep, note_end, search, weigh, wide_sweep

f32, u16, u32 = np.float32, np.uint16, np.uint32

_KERNEL = {"nogil": True, "error_model": "numpy", "cache": True}


class Adjusted(NamedTuple):
    """What is adjusted and added up, in place; groups of equally many chains come first."""

    log_z: np.ndarray  # (n_groups, K): estimates, 0 at the base
    visits: np.ndarray  # int64 (n_groups, K): how often each beta was drawn
    passages: np.ndarray  # int64 (n_chains,): from one end of the ladder to the other
    last_end: np.ndarray  # int64 (n_chains,): visited last, 0 or K - 1; -1 for none


class Rule(NamedTuple):
    """How beta is drawn, and what a draw adds to the estimates."""

    prior: np.ndarray  # (K,)
    log_prior: np.ndarray  # (K,)
    local: bool  # beta moves to a neighbour, or stays
    mixed: bool  # the update takes probabilities of betas, not the beta drawn


@numba.njit(**_KERNEL)
def jump_anywhere(delta, u, betas, offsets, mixed, memory, sums):
    """Draw the index of beta given the state; add to ``sums`` what the update takes of it."""
    total = weigh(delta, betas, offsets, *memory)
    p, parts = memory[0], memory[4]
    new = search(p, parts, u * total)
    if mixed:
        share = 1.0 / total
        for k in range(betas.size):
            sums[k] += p[k] * share
    else:
        sums[new] += 1.0
    return new


@numba.njit(**_KERNEL)
def proposed(k, other, n):
    """Probability with which ``other``, a neighbour of k, is proposed."""
    return 1.0 if k == 0 or k == n - 1 else 0.5


@numba.njit(**_KERNEL)
def jump_to_neighbour(old, delta, side, u, betas, offsets, mixed, memory, sums):
    """Propose a neighbour, accept it as Metropolis and Hastings do; add to ``sums``."""
    n = betas.size
    first, stop = max(old - 1, 0), min(old + 2, n)
    p, p_bits, shifted, shifted_bits, parts = memory
    weigh(
        delta, betas[first:stop], offsets[first:stop], p, p_bits, shifted, shifted_bits, parts[:1]
    )
    goal = old + 1 if old == 0 or (old < n - 1 and side < 0.5) else old - 1
    new, stay = old, 1.0
    for k in range(first, stop):
        if k == old:
            continue
        there, back = proposed(old, k, n), proposed(k, old, n)
        move = min(there, back * p[k - first] / p[old - first])
        if k == goal and u * there < move:
            new = k
        if mixed:
            sums[k] += move
            stay -= move
    if mixed:
        sums[old] += stay
    else:
        sums[new] += 1.0
    return new


@numba.njit(**_KERNEL)
def draw_beta(chain, group, delta, key, index, betas, offsets, rule, adjusted, memory, sums):
    """Move a chain to another beta; count."""
    u = (np.float64(bits31(0, high(key), low(key))) + 0.5) / 2147483648.0
    if rule.local:
        side = (np.float64(bits31(1, high(key), low(key))) + 0.5) / 2147483648.0
        k = jump_to_neighbour(
            index[chain], delta, side, u, betas, offsets, rule.mixed, memory, sums
        )
    else:
        k = jump_anywhere(delta, u, betas, offsets, rule.mixed, memory, sums)
    index[chain] = k
    adjusted.visits[group, k] += 1
    note_end(chain, k, betas.size, adjusted.passages, adjusted.last_end)


@numba.njit(**_KERNEL)
def adjust(log_z, gain, n_chains, rule, sums):
    """``log_z += min(gain, prior) sums / (n_chains prior)``, less that of the base; empty sums."""
    for k in range(log_z.size):
        log_z[k] += min(gain / rule.prior[k], 1.0) * sums[k] / n_chains
        sums[k] = 0.0
    base = log_z[0]
    for k in range(log_z.size):
        log_z[k] -= base


@numba.njit(**_KERNEL)
def set_offsets(log_z, shifts, rule, offsets):
    for k in range(log_z.size):
        offsets[k] = rule.log_prior[k] - log_z[k] + shifts[k]


@numba.njit(**_KERNEL)
def narrow_adapt(
    v, index, betas, shifts, gains, rule, adjusted, start, stop, seed, first_chain, first_draw,
    up, tables, scale, hidden_slope, hidden_offset, visible_slope, visible_offset,
):  # fmt: skip
    """Sweeps ``start`` to ``stop`` of `gibbs.adapt` for some groups, few hidden units."""
    n_chains, n_visible, n_groups = v.shape[0], v.shape[1], gains.shape[0]
    size = n_chains // n_groups
    a, a0 = narrow._padded(hidden_slope, narrow.WIDTH), narrow._padded(hidden_offset, narrow.WIDTH)
    b, b0 = (
        narrow._padded(visible_slope, tables.shape[2]),
        narrow._padded(visible_offset, tables.shape[2]),
    )
    bits = np.empty((n_chains, b.size // LANES), u16)
    active, n_active = np.empty((n_chains, n_visible + ROOM), u16), np.empty(n_chains, np.int64)
    x, units = np.empty(narrow.WIDTH, f32), narrow._mixed_units(b.size)
    memory, sums, offsets = memory_of(betas.size), np.zeros(betas.size), np.empty(betas.size)
    for chain in range(n_chains):
        read_row(v[chain], bits[chain])
        n_active[chain] = list_active(bits[chain], n_visible, active[chain])
    for group in range(n_groups):
        for sweep in range(start, stop):
            first = first_draw + DRAWS * sweep
            set_offsets(adjusted.log_z[group], shifts, rule, offsets)
            for chain in range(group * size, (group + 1) * size):
                delta, n_active[chain] = narrow_sweep(
                    f32(betas[index[chain]]), seed, first_chain + chain, first, active[chain],
                    n_active[chain], bits[chain], x, units, hidden_slope, a, a0, b, b0, up, tables,
                    scale, n_visible,
                )  # fmt: skip
                key = draw_key(seed, first_chain + chain, first + 2)
                draw_beta(
                    chain, group, delta, key, index, betas, offsets, rule, adjusted, memory, sums
                )
            adjust(adjusted.log_z[group], gains[group, sweep], size, rule, sums)
    for chain in range(n_chains):
        write_row(bits[chain], v[chain])


@numba.njit(**_KERNEL)
def wide_adapt(
    v, index, betas, shifts, gains, rule, adjusted, start, stop, seed, first_chain, first_draw,
    up, down, scale, hidden_slope, hidden_offset, visible_slope, visible_offset,
):  # fmt: skip
    """Sweeps ``start`` to ``stop`` of `gibbs.adapt` for some groups, any number of hidden units."""
    n_chains, n_visible, n_hidden = v.shape[0], v.shape[1], hidden_slope.size
    n_groups = gains.shape[0]
    size = n_chains // n_groups
    h_blocks, v_blocks = n_words(n_hidden), n_words(n_visible)
    a, a0 = wide.padded(hidden_slope, h_blocks), wide.padded(hidden_offset, h_blocks)
    b, b0 = wide.padded(visible_slope, v_blocks), wide.padded(visible_offset, v_blocks)
    visible, hidden = groups.read_states(v), groups.empty_states(n_chains, n_hidden)
    k0, k1 = np.empty(n_chains, u32), np.empty(n_chains, u32)
    room, lanes = groups.room_for_fields(n_chains), np.empty((n_chains, LANES), f32)
    chain_betas, memory = np.empty(n_chains, f32), memory_of(betas.size)
    sums, offsets = np.zeros(betas.size), np.empty(betas.size)
    sparse = groups.prepare(visible, n_visible)
    for sweep in range(start, stop):
        first = first_draw + DRAWS * sweep
        for chain in range(n_chains):
            chain_betas[chain] = f32(betas[index[chain]])
        sparse = wide_sweep(
            chain_betas, seed, first_chain, first, visible, hidden, sparse, room, lanes, k0, k1,
            a, a0, b, b0, up, down, scale, n_visible, n_hidden,
        )  # fmt: skip
        for group in range(n_groups):
            set_offsets(adjusted.log_z[group], shifts, rule, offsets)
            for chain in range(group * size, (group + 1) * size):
                delta = np.float64(join(load(lanes, LANES * chain)))
                key = draw_key(seed, first_chain + chain, first + 2)
                draw_beta(
                    chain, group, delta, key, index, betas, offsets, rule, adjusted, memory, sums
                )
            adjust(adjusted.log_z[group], gains[group, sweep], size, rule, sums)
    for chain in range(n_chains):
        write_row(visible.words[chain], v[chain])
