"""Regions of leaky RBMs, by counting: sign patterns of the fields that some state has."""

from __future__ import annotations

from itertools import product
from math import comb
from typing import NamedTuple

import numpy as np

from rbmlib.checks import count, number


class Census(NamedTuple):
    """Of one random model."""

    n_found: int  # sign patterns that some v has
    n_expected: int  # regions that planes in general position cut out
    smallest: float  # eigenvalue of I - sum of alpha W W', over all patterns, found or not


def has_states(weights, offsets, signs) -> bool:
    """Whether some v has these signs of its fields: the largest margin is positive.

    Examples
    --------
    >>> rays = np.array([[1.0, 1.0]])  # both fields are v, but for their offsets 0 and 1
    >>> [has_states(rays, np.array([0.0, 1.0]), np.array(s)) for s in ((-1, 1), (1, -1))]
    [True, False]
    """
    from scipy.optimize import linprog

    rows = np.column_stack([-signs[:, None] * weights.T, np.ones(signs.size)])
    goal = np.append(np.zeros(weights.shape[0]), -1.0)
    bounds = [(None, None)] * weights.shape[0] + [(None, 1.0)]
    return bool(-linprog(goal, rows, signs * offsets, bounds=bounds).fun > 1e-9)


def census(n_visible: int, n_hidden: int, norm: float, leakiness: float, rng) -> Census:
    """Of a model with normal weights and biases and the largest singular value ``norm``."""
    count("n_visible", n_visible)
    count("n_hidden", n_hidden)
    number("norm", norm, "a singular value in (0, 1)", above=0, below=1)
    weights, offsets = rng.normal(size=(n_visible, n_hidden)), rng.normal(size=n_hidden)
    weights *= norm / np.linalg.norm(weights, 2)
    patterns = [np.array(p) for p in product((-1.0, 1.0), repeat=n_hidden)]
    found = sum(has_states(weights, offsets, p) for p in patterns)
    alphas = [np.where(p > 0, 1.0, leakiness) for p in patterns]
    smallest = min(
        np.linalg.eigvalsh(np.eye(n_visible) - (weights * a) @ weights.T)[0] for a in alphas
    )
    expected = sum(comb(n_hidden, i) for i in range(n_visible + 1))
    return Census(found, expected, smallest)
