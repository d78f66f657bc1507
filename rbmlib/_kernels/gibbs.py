"""Annealing and block Gibbs sweeps of many chains of a Bernoulli RBM.

The family is linear in beta: hidden field ``beta (vW + hidden_slope) + hidden_offset`` and
visible field ``beta (Wh + visible_slope) + visible_offset``; one step draws h given v, then v
given h. Weights are fixed-point integers (`fixed_point`), so fields are exact and their digits do
not depend on how they were summed. The portable routes add the weights of the active units only:
`narrow` for few hidden units, a chain at a time; `wide` for any number, a group of chains at a
time. `amx` multiplies matrix tiles where the machine has them.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import NamedTuple

import numba
import numpy as np

from . import active, adaptive, amx, groups, narrow, tempering, threads, tiles, wide
from .elementwise import draw_row, increment_rules
from .fixed_point import FixedPoint, quantise
from .random import draw_key

f32 = np.float32

_KERNEL = {"nogil": True, "error_model": "numpy", "cache": True}


class Family(NamedTuple):
    """What the kernels need of a family of RBMs linear in beta (arrays float32)."""

    up: np.ndarray  # (n_visible, n_hidden + 1), or narrow.WIDTH columns if small
    down: np.ndarray  # (n_hidden, n_visible)
    tables: np.ndarray  # of `narrow` if small, else empty
    scale: np.float32
    slope_scale: float
    hidden_slope: np.ndarray
    hidden_offset: np.ndarray
    visible_slope: np.ndarray
    visible_offset: np.ndarray
    small: bool
    fixed: FixedPoint
    routes: dict


def family(weights, hidden_slope, hidden_offset, visible_slope, visible_offset) -> Family:
    """Kernel form of a family; weights (n_visible, n_hidden), the rest vectors of units."""
    if max(np.shape(weights)) > active.MAX_UNITS:
        raise ValueError(
            f"the model has layers of {np.shape(weights)} units: compiled loops take "
            f"{active.MAX_UNITS:,} at most"
        )
    fixed: FixedPoint = quantise(weights, visible_slope)
    n_hidden = np.shape(weights)[1]
    small = n_hidden <= narrow.MAX_HIDDEN
    up, tables = narrow.layout(fixed) if small else (fixed.up, np.zeros((0, 0, 0), f32))
    return Family(
        up,
        fixed.down,
        tables,
        f32(fixed.scale),
        fixed.slope_scale,
        *(np.ascontiguousarray(x, f32) for x in (hidden_slope, hidden_offset)),
        # the slope that the log-weights use, to the bit: draws must leave the same model invariant
        np.ascontiguousarray(fixed.up[:, n_hidden] * fixed.slope_scale, f32),
        np.ascontiguousarray(visible_offset, f32),
        small,
        fixed,
        {},
    )


def quantised_weights(kernel_family: Family) -> tuple[np.ndarray, np.ndarray]:
    """The float64 weights and visible slope that the kernels really use, exactly."""
    weights = kernel_family.down.T.astype(float) * float(kernel_family.scale)
    n_hidden = kernel_family.down.shape[0]
    slope = kernel_family.up[:, n_hidden].astype(float) * kernel_family.slope_scale
    return weights, slope


@numba.njit(**_KERNEL)
def fields_up(v, up, small, out):
    """Integer fields (n_chains, columns of up) of the hidden units."""
    if small:
        narrow.fields_up(v, up, out)
    else:
        np.dot(v, up, out)


@numba.njit(**_KERNEL)
def fields_down(h, down, tables, small, out):
    """Integer fields (n_chains, n_visible) of the visible units."""
    if small:
        narrow.fields_down(h, tables, out)
    else:
        np.dot(h, down, out)


@numba.njit(**_KERNEL)
def sweep_chunk(
    v, h, betas, start, stop, seed, first_chain, first_draw,
    up, down, tables, scale, slope_scale,
    hidden_slope, hidden_offset, visible_slope, visible_offset, small,
):  # fmt: skip
    """Sweeps ``start`` to ``stop`` (h given v, v given h), chain c at betas[c], in place."""
    if small:
        narrow.sweep(
            v, h, betas, start, stop, seed, first_chain, first_draw,
            up, tables, scale, hidden_slope, hidden_offset, visible_slope, visible_offset,
        )  # fmt: skip
        return
    n_chains = v.shape[0]
    x = np.empty((n_chains, up.shape[1]), f32)
    y = np.empty((n_chains, v.shape[1]), f32)
    for k in range(start, stop):
        fields_up(v, up, small, x)
        for chain in range(n_chains):
            key = draw_key(seed, first_chain + chain, first_draw + 2 * k)
            beta = f32(betas[chain])
            draw_row(x[chain], scale, hidden_slope, hidden_offset, beta, key, h[chain])
        fields_down(h, down, tables, small, y)
        for chain in range(n_chains):
            key = draw_key(seed, first_chain + chain, first_draw + 2 * k + 1)
            beta = f32(betas[chain])
            draw_row(y[chain], scale, visible_slope, visible_offset, beta, key, v[chain])


def largest_slopes(kernel_family: Family) -> float:
    """Bound on |d(hidden field)/d(beta)| over all visible states."""
    q = kernel_family.down.astype(float) * float(kernel_family.scale)
    positive = np.where(q > 0, q, 0).sum(axis=1) + kernel_family.hidden_slope
    negative = np.where(q < 0, q, 0).sum(axis=1) + kernel_family.hidden_slope
    return float(np.maximum(np.abs(positive), np.abs(negative)).max(initial=0.0))


class _Route(NamedTuple):
    """The kernels that suit a family and the machine; all draw the same bits."""

    anneal: Callable
    sweep: Callable
    weights: tuple[np.ndarray, ...]
    memory: Callable[[], tuple]  # of one call


def _route(f: Family, n_chains: int, any_route: bool = True) -> _Route:
    """The fastest route; its form of the weights is made on first use.

    Tiles cost the same for one chain as for a whole group of them; not all loops have them.
    """
    portable, fewest = ("narrow", tiles.GROUP // 2) if f.small else ("wide", tiles.GROUP // 4)
    name = "amx" if any_route and n_chains >= fewest and tiles.available() else portable
    if name not in f.routes:
        if name == "amx":
            weights = tiles.layout(f.fixed.up), tiles.layout(f.fixed.down)
            memory = partial(amx.workspace, *f.fixed.down.shape[::-1])
            f.routes[name] = _Route(amx.anneal, amx.sweep, weights, memory)
        elif name == "narrow":
            weights = f.up, f.tables
            f.routes[name] = _Route(narrow.anneal, narrow.sweep, weights, tuple)
        else:
            weights = groups.blocks(f.fixed.up), groups.blocks(f.fixed.down)
            f.routes[name] = _Route(wide.anneal, wide.sweep, weights, tuple)
    return f.routes[name]


def _parts(n_chains: int, n_threads: int | None) -> list[slice]:
    """Chunks of chains for the threads, of whole groups if there are that many."""
    share = -(-n_chains // (threads.resolve(n_threads) * tiles.GROUP)) * tiles.GROUP
    return threads.chunks(n_chains, min(threads.CHUNK, share))


def anneal(
    kernel_family: Family, v, log_weights, betas, seed, first_chain, first_draw, n_threads=None,
    on_progress=None,
) -> None:  # fmt: skip
    """Anneal ``v`` (n_chains, n_visible) float32 along betas; adds to log_weights, in place.

    Step k: weight of v between betas[k] and betas[k + 1], then one sweep at betas[k + 1].
    Step by step, so that a run has the same bits wherever it is interrupted to be looked at.
    """
    f, route = kernel_family, _route(kernel_family, v.shape[0])
    rules = increment_rules(np.diff(betas), largest_slopes(f))
    parts = _parts(v.shape[0], n_threads)

    def run(chunk, start, stop):
        part = parts[chunk]
        route.anneal(
            v[part], log_weights[part], betas, rules, start, stop, np.uint64(seed),
            first_chain + part.start, first_draw, *route.weights, *route.memory(),
            f.scale, f.slope_scale,
            f.hidden_slope, f.hidden_offset, f.visible_slope, f.visible_offset,
        )  # fmt: skip

    threads.run_blocks(run, len(parts), betas.size - 1, n_threads, on_progress)


def sweep(
    kernel_family: Family, v, betas, n_sweeps, seed, first_chain, first_draw, n_threads=None,
    on_progress=None,
) -> np.ndarray:  # fmt: skip
    """``n_sweeps`` Gibbs sweeps of ``v`` in place, chain c at betas[c]; returns the last h."""
    f, route = kernel_family, _route(kernel_family, v.shape[0])
    h = np.zeros((v.shape[0], f.down.shape[0]), f32)
    parts = _parts(v.shape[0], n_threads)

    def run(chunk, start, stop):
        part = parts[chunk]
        route.sweep(
            v[part], h[part], betas[part], start, stop, np.uint64(seed),
            first_chain + part.start, first_draw, *route.weights, *route.memory(),
            f.scale, f.hidden_slope, f.hidden_offset, f.visible_slope, f.visible_offset,
        )  # fmt: skip

    threads.run_blocks(run, len(parts), n_sweeps, n_threads, on_progress)
    return h


def temper(
    kernel_family: Family, v, index, betas, offsets, delta_out, index_out, every, phase, tally,
    n_sweeps, seed, first_chain, first_draw, n_threads=None, on_progress=None,
) -> None:  # fmt: skip
    """``n_sweeps`` sweeps of ``v`` in place, each followed by a draw of beta given (v, h).

    Chain c is at ``betas[index[c]]``; beta_k has probability ~ exp(beta_k Delta + offsets[k]).
    Every ``every``-th Delta and index go into ``delta_out`` and ``index_out`` (n_kept, n_chains),
    ``phase`` sweeps having passed since the last that was kept.
    With ``tally`` None, beta is not drawn.
    """
    f, route = kernel_family, _route(kernel_family, v.shape[0], any_route=False)
    run_part = tempering.narrow_temper if f.small else tempering.wide_temper
    parts = _parts(v.shape[0], n_threads)
    draw = tally is not None
    if not draw:
        nothing = np.zeros(v.shape[0], np.int64)
        empty = np.zeros((v.shape[0], 3, 0))
        tally = tempering.Tally(empty, empty, *np.zeros((2, 0, 0), np.int64), nothing, nothing)
    sums = np.zeros((len(parts), 2, *tally.transitions.shape), np.int64)

    def run(chunk, start, stop):
        part = parts[chunk]
        run_part(
            v[part], index[part], betas, offsets, draw, delta_out[:, part], index_out[:, part],
            every, phase, start, stop, np.uint64(seed), first_chain + part.start, first_draw,
            tally.mixed[part], tally.visited[part], sums[chunk, 0], sums[chunk, 1],
            tally.passages[part], tally.last_end[part], *route.weights,
            f.scale, f.hidden_slope, f.hidden_offset, f.visible_slope, f.visible_offset,
        )  # fmt: skip

    threads.run_blocks(run, len(parts), n_sweeps, n_threads, on_progress)
    tally.transitions[...] += sums[:, 0].sum(axis=0)
    tally.mixed_transitions[...] += sums[:, 1].sum(axis=0)


def adapt(
    kernel_family: Family, v, index, betas, shifts, gains, rule, adjusted, seed, first_chain,
    first_draw, n_threads=None, on_progress=None,
) -> None:  # fmt: skip
    """As `temper`, with estimates of log Z that each group of chains adjusts after every sweep.

    A row of ``gains`` (n_groups, n_sweeps) is a group, of equally many chains; ``shifts`` (K,) are
    added to the log-probabilities of betas. ``adjusted`` is filled in place.
    """
    f, route = kernel_family, _route(kernel_family, v.shape[0], any_route=False)
    run_part = adaptive.narrow_adapt if f.small else adaptive.wide_adapt
    n_groups, n_sweeps = gains.shape
    size = v.shape[0] // n_groups
    share = -(-n_groups // threads.resolve(n_threads))
    parts = threads.chunks(n_groups, max(1, min(threads.CHUNK // size, share)))

    def run(chunk, start, stop):
        groups = parts[chunk]
        part = slice(groups.start * size, groups.stop * size)
        own = adaptive.Adjusted(
            adjusted.log_z[groups], adjusted.visits[groups], adjusted.passages[part],
            adjusted.last_end[part],
        )  # fmt: skip
        run_part(
            v[part], index[part], betas, shifts, gains[groups], rule, own, start, stop,
            np.uint64(seed), first_chain + part.start, first_draw, *route.weights,
            f.scale, f.hidden_slope, f.hidden_offset, f.visible_slope, f.visible_offset,
        )  # fmt: skip

    threads.run_blocks(run, len(parts), n_sweeps, n_threads, on_progress)
