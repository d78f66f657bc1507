"""Annealing and block Gibbs sweeps of many chains of a Bernoulli RBM.

The family is linear in beta: hidden field ``beta (vW + hidden_slope) + hidden_offset`` and
visible field ``beta (Wh + visible_slope) + visible_offset``; one step draws h given v, then v
given h. Weights are fixed-point integers (`layers`), so fields are exact and their digits do
not depend on how they were summed. `narrow` adds the weights of the active units, a chain at a
time, for few hidden units; `wide` serves any number, a group of chains at a time.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from . import groups, narrow, threads, wide
from .adaptive import Adapting, Adjusted
from .elementwise import Schedule, increment_rules
from .layers import FixedPoint, Layer, Model, layer, quantise, run_of
from .tempering import Tally, Tempering, narrow_sweeps, wide_sweeps

f32 = np.float32
GROUP = 32  # chains: a chunk is a number of whole groups, where there are that many


class Family(NamedTuple):
    """Kernel form of a family of RBMs linear in beta."""

    up: np.ndarray  # float32 (n_visible, n_hidden + 1), or narrow.WIDTH columns if small
    down: np.ndarray  # float32 (n_hidden, n_visible)
    tables: np.ndarray  # of `narrow` if small, else empty
    scale: np.float32
    slope_scale: float
    hidden: Layer
    visible: Layer
    small: bool
    fixed: FixedPoint
    made: list  # the weights of `loops_of`, on first use
    largest: list  # `largest_slopes`, likewise


def family(weights, hidden_slope, hidden_offset, visible_slope, visible_offset) -> Family:
    """Kernel form of a family; weights (n_visible, n_hidden), the rest vectors of units."""
    fixed: FixedPoint = quantise(weights, visible_slope)
    n_hidden = np.shape(weights)[1]
    small = n_hidden <= narrow.MAX_HIDDEN
    up, tables = narrow.layout(fixed) if small else (fixed.up, np.zeros((0, 0, 0), f32))
    # the slope that the log-weights use, to the bit: draws must leave the same model invariant
    visible_slope = fixed.up[:, n_hidden] * fixed.slope_scale
    hidden = layer(fixed.scale, hidden_slope, hidden_offset)
    visible = layer(fixed.scale, visible_slope, visible_offset)
    return Family(
        up, fixed.down, tables, hidden.scale, fixed.slope_scale, hidden, visible, small, fixed,
        made=[], largest=[],
    )  # fmt: skip


def quantised_weights(kernel_family: Family) -> tuple[np.ndarray, np.ndarray]:
    """The float64 weights and visible slope that the kernels really use, exactly."""
    weights = kernel_family.down.T.astype(float) * float(kernel_family.scale)
    n_hidden = kernel_family.down.shape[0]
    slope = kernel_family.up[:, n_hidden].astype(float) * kernel_family.slope_scale
    return weights, slope


def largest_slopes(kernel_family: Family) -> float:
    """Bound on |d(hidden field)/d(beta)| over all visible states."""
    if kernel_family.largest:
        return kernel_family.largest[0]
    q = kernel_family.down.astype(float) * float(kernel_family.scale)
    slope = kernel_family.hidden.slope[: len(q)]
    positive = np.where(q > 0, q, 0).sum(axis=1) + slope
    negative = np.where(q < 0, q, 0).sum(axis=1) + slope
    largest = np.maximum(np.abs(positive), np.abs(negative)).max(initial=0.0)
    kernel_family.largest.append(float(largest))
    return kernel_family.largest[0]


def loops_of(f: Family):
    """The loops of a family, and its weights in the form that they take, made on first use."""
    if not f.made:
        weights = (f.up, f.tables) if f.small else map(groups.blocks, (f.fixed.up, f.fixed.down))
        f.made.append(Model(*weights, f.slope_scale, f.hidden, f.visible))
    return narrow if f.small else wide, f.made[0]


def _parts(n_chains: int, n_threads: int | None) -> list[slice]:
    """Chunks of chains for the threads."""
    share = -(-n_chains // (threads.resolve(n_threads) * GROUP)) * GROUP
    return threads.chunks(n_chains, min(threads.CHUNK, share))


def anneal(
    kernel_family: Family, v, log_weights, betas, stream, n_threads=None, on_progress=None
) -> None:
    """Anneal ``v`` (n_chains, n_visible) float32 along betas; adds to log_weights, in place.

    Step k: weight of v between betas[k] and betas[k + 1], then one sweep at betas[k + 1].
    Step by step, so that a run has the same bits wherever it is interrupted to be looked at.
    Here and below, ``stream`` says where random numbers begin, and is left there.
    """
    loops, model = loops_of(kernel_family)
    schedule = Schedule(betas, increment_rules(np.diff(betas), largest_slopes(kernel_family)))
    parts = _parts(v.shape[0], n_threads)

    def run(chunk, start, stop):
        part = parts[chunk]
        own = run_of(stream, part.start, start, stop)
        loops.anneal(v[part], log_weights[part], schedule, model, own)

    threads.run_blocks(run, len(parts), betas.size - 1, n_threads, on_progress)


def sweep(
    kernel_family: Family, v, betas, n_sweeps, stream, n_threads=None, on_progress=None
) -> np.ndarray:
    """``n_sweeps`` Gibbs sweeps of ``v`` in place, chain c at betas[c]; returns the last h."""
    loops, model = loops_of(kernel_family)
    betas = np.ascontiguousarray(betas, f32)
    h = np.zeros((v.shape[0], kernel_family.down.shape[0]), f32)
    parts = _parts(v.shape[0], n_threads)

    def run(chunk, start, stop):
        part = parts[chunk]
        own = run_of(stream, part.start, start, stop)
        loops.sweep(v[part], h[part], betas[part], model, own)

    threads.run_blocks(run, len(parts), n_sweeps, n_threads, on_progress)
    return h


def _tempered_loops(f: Family):
    """As `loops_of`, with draws of beta."""
    return narrow_sweeps if f.small else wide_sweeps, loops_of(f)[1]


def temper(
    kernel_family: Family, v, index, betas, tempering: Tempering, n_sweeps, stream,
    n_threads=None, on_progress=None,
) -> None:  # fmt: skip
    """``n_sweeps`` sweeps of ``v`` in place, each followed by a draw of beta given (v, h).

    Chain c is at ``betas[index[c]]``. What ``tempering`` holds is filled and added to in place.
    """
    sweeps, model = _tempered_loops(kernel_family)
    parts, tally, kept = _parts(v.shape[0], n_threads), tempering.tally, tempering.kept

    def run(chunk, start, stop):
        part = parts[chunk]
        own = tempering._replace(
            tally=Tally(*(total[part] for total in tally)), kept=kept._replace(first=part.start)
        )
        steps = run_of(stream, part.start, start, stop)
        sweeps(v[part], index[part], betas, own, None, model, steps)

    threads.run_blocks(run, len(parts), n_sweeps, n_threads, on_progress)


def adapt(
    kernel_family: Family, v, index, betas, adapting: Adapting, stream, n_threads=None,
    on_progress=None,
) -> None:  # fmt: skip
    """As `temper`, with estimates of log Z that each group of chains adjusts after every sweep.

    A row of the gains (n_groups, n_sweeps) is a group, of equally many chains.
    """
    sweeps, model = _tempered_loops(kernel_family)
    n_groups, n_sweeps = adapting.gains.shape
    size = v.shape[0] // n_groups
    share = -(-n_groups // threads.resolve(n_threads))
    parts = threads.chunks(n_groups, max(1, min(threads.CHUNK // size, share)))

    def run(chunk, start, stop):
        groups = parts[chunk]
        part = slice(groups.start * size, groups.stop * size)
        log_z, visits, passages, last_end = adapting.adjusted
        adjusted = Adjusted(log_z[groups], visits[groups], passages[part], last_end[part])
        own = adapting._replace(gains=adapting.gains[groups], adjusted=adjusted)
        steps = run_of(stream, part.start, start, stop)
        sweeps(v[part], index[part], betas, None, own, model, steps)

    threads.run_blocks(run, len(parts), n_sweeps, n_threads, on_progress)
