"""Schedules that need no pilot."""

import numpy as np

from .. import checks

LEAST = 1e-6  # of the largest density: no part of a path goes without steps


def linear(n_temperatures):
    """K equal steps."""
    return np.linspace(0.0, 1.0, checks.count("n_temperatures", n_temperatures) + 1)


def sm08(n_temperatures=14_500):
    """The hand-made schedule of Salakhutdinov & Murray (2008): 500, 4,000 and 10,000 steps."""
    n = checks.count("n_temperatures", n_temperatures)
    at = np.array([0, 500, 4_500, 14_500]) / 14_500
    return np.interp(np.arange(n + 1) / n, at, [0.0, 0.5, 0.9, 1.0])


def cut(grid, lengths, n):
    """n steps of equal length, given the lengths of the intervals of a grid from 0 to 1."""
    n = checks.count("n_temperatures", n)
    least = (LEAST * lengths.max() or 1.0) * np.diff(grid)
    place = np.concatenate([[0.0], np.cumsum(np.maximum(lengths, least))])
    betas = np.interp(np.arange(n + 1) / n * place[-1], place, grid)
    betas[-1] = 1.0
    return betas
