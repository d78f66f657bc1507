"""Tasks of the lesson on annealing schedules."""

from __future__ import annotations

import numpy as np

from .checker import choice, near, numbers, require, same, task
from .own import Own, states


def spread(own: Own) -> tuple[np.ndarray, np.ndarray]:
    """A grid of 401 betas, closer near 0, and a variance g of slopes at each."""
    grid = np.linspace(0, 1, 401) ** 1.5
    centre, height = own.number("centre", 0.3, 0.8), own.number("height", 20, 80, 0)
    return grid, 2 + height * np.exp(-(((grid - centre) / 0.1) ** 2)) + 30 * np.exp(-grid / 0.05)


def steps(own: Own) -> tuple[np.ndarray, float]:
    """Lengths of twelve steps that add up to 1, and the longest that is allowed."""
    return own.rng("steps").dirichlet(np.ones(12)), 0.12


GIVEN = {"spread": spread, "steps": steps}


@task("derivation", 2)
def possible_gain(answer, own: Own):
    """A mean of squares is never less than the square of the mean, and equal only if g is flat."""
    grid, g = spread(own)
    top, root = np.trapezoid(g, grid), np.trapezoid(np.sqrt(g), grid)
    mistakes = {
        "the root is taken before the integral, and the square after it": top / root,
        "equal steps over the best: the ratio is 1 or more": root**2 / top,
        "this is the best value; divide the one of equal steps by it": root**2,
    }
    same(answer(grid, g), top / root**2, mistakes, rtol=2e-3)
    same(answer(grid, np.full(401, 7.0)), 1.0, rtol=1e-6)


@task("coding", 3)
def equal_areas(answer, own: Own):
    """Of all lists of numbers with one sum, equal ones have the smallest sum of squares."""
    grid, g = spread(own)
    for n in (10, 33):
        found = numbers(answer(grid, g, n), (n + 1,), "the schedule")
        require(found[0] == 0 and abs(found[-1] - 1) < 1e-9, "begin with 0 and end with 1")
        require(np.all(np.diff(found) > 0), "betas must grow")
        right = _cut(grid, np.sqrt(g), n)
        mistakes = {
            "cut the area under the root of g, not under g": _cut(grid, g, n),
            "where g is large, steps must be short": _cut(grid, 1 / np.sqrt(g), n),
            "these are equal steps": np.linspace(0, 1, n + 1),
        }
        same(found, right, mistakes, rtol=0, atol=2e-3)


def _cut(grid, height, n):
    strips = (height[1:] + height[:-1]) / 2 * np.diff(grid)
    area = np.concatenate([[0], np.cumsum(strips)])
    return np.interp(np.linspace(0, area[-1], n + 1), area, grid)


@task("coding", 3)
def cost(answer, own: Own):
    """Independent steps add up their variances, and each grows with the square of its length."""
    grid, g = spread(own)
    schedule = np.sort(np.concatenate([[0, 1], own.rng("schedule").random(9)]))
    length, middle = np.diff(schedule), (schedule[1:] + schedule[:-1]) / 2
    at = np.interp(middle, grid, g)
    mistakes = {
        "variances grow with the square of the length": (length * at).sum(),
        "g is a variance already: do not square it": (length**2 * at**2).sum(),
        "take g at the middle of each step": (length**2 * np.interp(schedule[:-1], grid, g)).sum(),
        "this is the mean over steps; variances add up": (length**2 * at).mean(),
    }
    same(answer(schedule, grid, g), (length**2 * at).sum(), mistakes)


@task("experiment", 3)
def half_way(answer, own: Own):
    """The step at the middle of the way costs this, times the square of its length."""
    rows = states(own.model.n_visible)
    p = np.exp(own.path.at(0.5).log_density(rows) - own.log_z_at(0.5)[0])
    slope = own.path.log_density_slope(rows, 0.5)
    g = float(p @ slope**2 - (p @ slope) ** 2)
    near(answer, g, 0.08 * g, {
        "this is the standard deviation": float(np.sqrt(g)),
        "this is the mean of the slopes": float(p @ slope),
        "the mean must be taken away": float(p @ slope**2),
    })  # fmt: skip


@task("trap", 0)
def capped(answer, own: Own):
    """Only one scale brings the sum to 1, because the sum grows with it."""
    lengths, cap = steps(own)
    found = numbers(answer(lengths, cap), (12,), "the lengths")
    require(np.all(found <= cap + 1e-9), "a step is longer than the cap")
    require(abs(found.sum() - 1) < 1e-6, "the lengths do not add up to 1: after a cut the others "
            "must grow, which may bring them over the cap in turn")  # fmt: skip
    free = found < cap - 1e-7
    ratio = found[free] / lengths[free]
    require(free.any() and np.ptp(ratio) < 1e-4 * ratio.max(), "steps below the cap must "
            "keep their proportions")  # fmt: skip
    require(np.all(lengths[~free] * ratio.max() >= cap - 1e-6), "a step was cut that need "
            "not be")  # fmt: skip


@task("reading", 1)
def hardest(answer, own: Own):
    """Its point is the lowest, and it alone looks at how long chains remember."""
    choice(answer, "b", {
        "a": "its points lie at the line of equal steps on four of the six models",
        "c": "equal steps are the line at 1, and points lie below it",
        "d": "the variance is a ratio to that of equal steps on the same model: lower is better",
    })  # fmt: skip
