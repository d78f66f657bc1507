"""Annealing and block Gibbs sweeps of many chains of a Bernoulli RBM.

The family is linear in beta: the hidden field is ``beta (vW + hidden_slope) + hidden_offset``, and
the visible field is ``beta (Wh + visible_slope) + visible_offset``. A step draws h given v, then v
given h. Weights are fixed-point integers (`layers`), so fields are exact and do not depend on the
order of summation. `narrow` processes one chain at a time and needs few hidden units; `wide`
processes groups of chains with any number of hidden units.

All functions change ``v`` (n_chains, n_visible), float32, in place. ``stream`` gives the start of
the random numbers and is not advanced.
"""

from typing import NamedTuple

import numpy as np

from . import groups, narrow, tempering, threads, wide
from .adaptive import Adjusted
from .elementwise import Schedule, increment_rules
from .layers import FixedPoint, Model, Run, layer, quantise
from .tempering import Tally

GROUP = 32  # chains; a chunk consists of whole groups if there are enough chains


class Family(NamedTuple):
    """The form for kernels of a family of RBMs linear in beta."""

    model: Model  # with weights for `narrow` if small, otherwise for `wide`
    small: bool
    fixed: FixedPoint
    largest: float  # bound on |d(hidden field)/d(beta)| over all visible states


def family(
    weights, hidden_slope, hidden_offset, visible_slope, visible_offset, small=None
) -> Family:
    """Make a family from weights (n_visible, n_hidden) and vectors of slopes and offsets."""
    fixed = quantise(weights, visible_slope)
    small = np.shape(weights)[1] <= narrow.MAX_HIDDEN if small is None else small
    both = narrow.layout(fixed) if small else (groups.blocks(fixed.up), groups.blocks(fixed.down))
    # the rounded slope that the log-weights use, so that draws leave the same model invariant
    visible_slope = fixed.up[:, -1] * fixed.slope_scale
    hidden = layer(fixed.scale, hidden_slope, hidden_offset)
    visible = layer(fixed.scale, visible_slope, visible_offset)
    q, slope = fixed.down.astype(float) * fixed.scale, hidden.slope[: len(fixed.down)]
    positive, negative = (np.where(s * q > 0, q, 0).sum(axis=1) + slope for s in (1, -1))
    largest = np.maximum(np.abs(positive), np.abs(negative)).max(initial=0.0)
    model = Model(*both, fixed.slope_scale, hidden, visible)
    return Family(model, small, fixed, float(largest))


def quantised_weights(f: Family) -> tuple[np.ndarray, np.ndarray]:
    """Return the exact values (float64) of the weights and visible slope in the kernels."""
    slope = f.fixed.up[:, -1].astype(float) * f.fixed.slope_scale
    return f.fixed.down.T.astype(float) * f.fixed.scale, slope


def in_parts(loop, parts, n_steps, stream, n_threads, on_progress):
    """Call ``loop(part, run)`` on threads, for all parts of the chains and all steps."""

    def block(chunk, start, stop):
        part = parts[chunk]
        first = stream.first_chain + part.start
        loop(part, Run(np.uint64(stream.seed), first, stream.draw, start, stop))

    threads.run_blocks(block, len(parts), n_steps, n_threads, on_progress)


def _parts(n_chains: int, n_threads: int | None) -> list[slice]:
    """Return chunks of chains for the threads."""
    share = -(-n_chains // (threads.resolve(n_threads) * GROUP)) * GROUP
    return threads.chunks(n_chains, min(threads.CHUNK, share))


def anneal(
    f: Family, v, log_weights, betas, stream, n_threads=None, on_progress=None, looks=()
) -> np.ndarray:
    """Anneal ``v`` along betas and add to log_weights, in place.

    Returns the log-weights after the steps ``looks``, (n_looks, n_chains). Step k adds the weight
    of v between betas[k] and betas[k + 1], then makes a sweep at betas[k + 1]. A run has the same
    bits wherever it is interrupted.
    """
    kernel, rows = narrow.anneal if f.small else wide.anneal, np.full(betas.size - 1, -1)
    rows[np.array(looks, int) - 1] = np.arange(len(looks))
    schedule = Schedule(betas, increment_rules(np.diff(betas), f.largest), rows)
    kept = np.empty((len(looks), len(v)))

    def loop(part, run):
        kernel(v[part], log_weights[part], kept[:, part], schedule, f.model, run)

    in_parts(loop, _parts(len(v), n_threads), betas.size - 1, stream, n_threads, on_progress)
    return kept


def sweep(f: Family, v, betas, slopes, n_sweeps, stream, n_threads=None, on_progress=None) -> None:
    """Make Gibbs sweeps with chain c at betas[c], and fill ``slopes`` (n_chains,) unless empty."""
    betas, index = np.array(betas, float), np.arange(len(v))

    def loop(part, run):
        tempering.sweep(v[part], index[part], betas, slopes[part], f.model, run)

    in_parts(loop, _parts(len(v), n_threads), n_sweeps, stream, n_threads, on_progress)


def temper(
    f: Family, v, index, betas, given, n_sweeps, stream, n_threads=None, on_progress=None
) -> None:
    """Make sweeps, each followed by a draw of beta given (v, h).

    Chain c is at ``betas[index[c]]``. ``given`` is the argument of `tempering.draw_betas`, whose
    arrays are changed in place.
    """
    slopes, (offsets, kept, tally) = np.empty(len(v)), given

    def loop(part, run):
        sums = Tally(*(total[part] for total in tally))
        own = offsets, kept._replace(first=part.start), sums
        tempering.temper(v[part], index[part], betas, slopes[part], own, None, f.model, run)

    in_parts(loop, _parts(len(v), n_threads), n_sweeps, stream, n_threads, on_progress)


def adapt(
    f: Family, v, index, betas, given, n_sweeps, stream, n_threads=None, on_progress=None
) -> None:
    """Like `temper`, but each group of chains adjusts its estimates of log Z after every sweep.

    ``given`` is the argument of `adaptive.adapt_groups`; all groups have the same size.
    """
    shifts, gains, rule, (log_z, visits, passages, last_end) = given
    n_groups, slopes = len(gains), np.empty(len(v))
    size = len(v) // n_groups
    share = -(-n_groups // threads.resolve(n_threads))
    parts = threads.chunks(len(v), size * max(1, min(threads.CHUNK // size, share)))

    def loop(part, run):
        some = slice(part.start // size, part.stop // size)
        adjusted = Adjusted(log_z[some], visits[some], passages[part], last_end[part])
        own = shifts, gains[some], rule, adjusted
        tempering.temper(v[part], index[part], betas, slopes[part], None, own, f.model, run)

    in_parts(loop, parts, n_sweeps, stream, n_threads, on_progress)
