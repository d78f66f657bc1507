"""Weights as fixed-point integers, so that fields do not depend on the order of summation.

``W ~ scale * q`` with ``scale`` a power of two and integers ``|q| < 2**15``. The scale is the
finest for which no sum of entries of q over active units can leave (-2**24, 2**24): float32
then holds every partial sum exactly, whatever the order of summation, the BLAS or the number
of threads. What rounding the weights changes is put right by one more importance step to the
float64 model (`rbmlib.paths`).

Any size of model is exact. The scale is that of the 15-bit integers while ``sum |q|`` over one
sign of a row or column stays below 2**24: for 512 units of the largest weight, for some 10,000 of
typical weights, a twentieth of the largest. Each doubling beyond costs one bit of the weights;
fields and bits stay as exact, and only the last importance step has more to put right.
"""

from typing import NamedTuple

import numpy as np

from .active import MAX_UNITS

MAX_ENTRY = 2**15 - 1
MAX_SUM = 2**24
LARGEST = 1e30  # of a weight: sums over a layer stay far from the end of float32
SMALLEST_SCALE = 2.0**-126  # the least normal float32: weights far below it are 0


class FixedPoint(NamedTuple):
    """Integers held in float32, C-ordered both ways, with the difference of biases beside W."""

    up: np.ndarray  # (n_visible, n_hidden + 1): q, and the visible slope in its last column
    down: np.ndarray  # (n_hidden, n_visible): q transposed
    scale: float  # W ~ scale * q
    slope_scale: float  # visible slope ~ slope_scale * up[:, -1]


def _largest_sum(q: np.ndarray) -> float:
    """Largest magnitude that any subset sum of a column can reach."""
    positive = np.where(q > 0, q, 0).sum(axis=0)
    return float(np.maximum(positive, positive - q.sum(axis=0)).max(initial=0))


def _quantise(values: np.ndarray, both_ways: bool) -> tuple[np.ndarray, float]:
    largest = float(np.abs(values).max(initial=0.0))
    if largest == 0.0:
        return np.zeros_like(values), 1.0
    if not largest <= LARGEST:
        raise ValueError(f"parameters reach {largest:.3g}: expected {LARGEST:.0e} at most")
    scale = 2.0 ** np.floor(np.log2(max(largest / MAX_ENTRY, SMALLEST_SCALE)))
    while True:
        q = np.rint(values / scale)
        reach = max(_largest_sum(q), _largest_sum(q.T) if both_ways else 0.0)
        if np.abs(q).max() <= MAX_ENTRY and reach < MAX_SUM:
            return q, float(scale)
        scale *= 2.0


def quantise(weights: np.ndarray, visible_slope: np.ndarray) -> FixedPoint:
    """Fixed-point form of ``weights`` (n_visible, n_hidden) and ``visible_slope`` (n_visible,)."""
    if max(np.shape(weights)) > MAX_UNITS:
        raise ValueError(
            f"the model has layers of {np.shape(weights)} units: compiled loops take "
            f"{MAX_UNITS:,} at most"
        )
    q, scale = _quantise(np.asarray(weights, float), both_ways=True)
    slope, slope_scale = _quantise(np.asarray(visible_slope, float)[:, None], both_ways=False)
    up = np.ascontiguousarray(np.hstack([q, slope]), dtype=np.float32)
    return FixedPoint(up, np.ascontiguousarray(q.T, dtype=np.float32), scale, slope_scale)
