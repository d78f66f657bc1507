"""Tasks of the lesson on annealing schedules."""

import numpy as np

from rbmlib.models.enumeration import states
from rbmlib.numerics import cut
from rbmlib.schedules import decelerate

from .checker import Own, function, letter, number, numbers, require


def spread(own: Own) -> tuple[np.ndarray, np.ndarray]:
    """A grid of 401 betas, denser near 0, and a variance g of slopes at each."""
    grid = np.linspace(0, 1, 401) ** 1.5
    centre, height = own.number("centre", 0.3, 0.8), own.whole("height", 20, 80)
    return grid, 2 + height * np.exp(-(((grid - centre) / 0.1) ** 2)) + 30 * np.exp(-grid / 0.05)


GIVEN = {
    "spread": spread,
    "steps": lambda own: (own.rng("steps").dirichlet(np.ones(12)), 0.12),  # lengths, the longest
}


@function("derivation", 2, rtol=2e-3)
def possible_gain(own: Own):
    """A mean of squares is at least the square of the mean, and equal only if g is constant."""
    grid, g = spread(own)
    top, root = np.trapezoid(g, grid), np.trapezoid(np.sqrt(g), grid)
    yield (grid, g), top / root**2, {
        "take the root before the integral, and the square after it": top / root,
    }  # fmt: skip
    yield lambda answer: require(abs(answer(grid, 7.0 + 0 * g) - 1) < 1e-6, "a constant g gives 1")


def _cut(grid, height, n):
    return cut(grid, np.diff(grid) * (height[1:] + height[:-1]) / 2, n)


@function("coding", 3, rtol=0, atol=2e-3)
def equal_areas(own: Own):
    """Among numbers with the same sum, equal numbers have the smallest sum of squares."""
    grid, g = spread(own)

    def ends(answer):
        found = numbers(answer(grid, g, 10), (11,), "the schedule")
        require(found[0] == 0 and abs(found[-1] - 1) < 1e-9, "begin with 0 and end with 1")
        require(np.all(np.diff(found) > 0), "the betas must increase")

    for n in (10, 33):
        yield (grid, g, n), _cut(grid, np.sqrt(g), n), {
            "cut the area under the root of g, not under g": _cut(grid, g, n),
            "these are equal steps": np.linspace(0, 1, n + 1),
        }  # fmt: skip
    yield ends


@function("coding", 3)
def cost(own: Own):
    """The variances of independent steps add up, and grow with the squares of the lengths."""
    grid, g = spread(own)
    schedule = np.sort(np.concatenate([[0, 1], own.rng("schedule").random(9)]))
    length, middle = np.diff(schedule), (schedule[1:] + schedule[:-1]) / 2
    at = np.interp(middle, grid, g)
    yield (schedule, grid, g), (length**2 * at).sum(), {
        "variances grow with the square of the length": (length * at).sum(),
        "take g at the middle of each step": (length**2 * np.interp(schedule[:-1], grid, g)).sum(),
    }  # fmt: skip


@number("experiment", 3, share=0.08)
def half_way(own: Own):
    """A step at the middle of the path adds this variance times the square of its length."""
    rows = states(own.model.visible, np.arange(2**own.model.n_visible))
    p = np.exp(own.path.at(0.5).log_density(rows) - own.log_z_at(0.5)[0])
    slope = own.path.log_density_slope(rows, 0.5)
    g = float(p @ slope**2 - (p @ slope) ** 2)
    return g, {"subtract the square of the mean": float(p @ slope**2)}


@function("trap", 0)
def capped(own: Own):
    """Only one s makes the lengths add up to 1, because their sum grows with s."""
    lengths, cap = GIVEN["steps"](own)
    betas = np.r_[0, lengths.cumsum()[:-1], 1]
    hint = "the lengths do not add up to 1: if some are cut, the others must grow"
    yield (lengths, cap), np.diff(decelerate(betas, cap)), {hint: np.minimum(lengths, cap)}


hardest = letter(
    "b", "Its point is the lowest, because only friction accounts for how slowly chains move.",
    a="VAROPT lies near the line of equal steps on four of the six models",
    c="equal steps are the line at 1, and other points lie below this line",
    d="the figure divides each variance by that of equal steps, so lower is better",
)  # fmt: skip
