"""A path cut into steps of equal length."""

from __future__ import annotations

import numpy as np

LEAST = 1e-6  # of the largest density: no part of a path goes without steps


def cut(grid: np.ndarray, lengths: np.ndarray, n: int) -> np.ndarray:
    """n steps of equal length, given the lengths of the intervals of a grid from 0 to 1."""
    least = (LEAST * lengths.max() or 1.0) * np.diff(grid)
    position = np.concatenate([[0.0], np.cumsum(np.maximum(lengths, least))])
    betas = np.interp(np.arange(n + 1) / n * position[-1], position, grid)
    betas[-1] = 1.0
    return betas
