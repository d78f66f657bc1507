"""The two hills that open the lessons: a density on a line whose log Z is 20 wherever they stand.

The same numbers as in ``book/_ext/static/moving/hills.js``. Averages are sums over a grid, so that
they are exact; moves are on the line.
"""

from __future__ import annotations

import numpy as np

LOG_Z, GAP, WIDTH, BASE_WIDTH = 20.0, 8.0, 0.5, 0.95
GRID = np.linspace(-8, 8, 641)


def log_normal(x, place: float, width: float) -> np.ndarray:
    """The logarithm of the density of a normal law."""
    return -(((x - place) / width) ** 2) / 2 - np.log(width * np.sqrt(2 * np.pi))


class Hills:
    """Hills at ``-at`` and ``at``, of which the left one holds exp(-8) of the right one.

    The path to them begins at a normal law around ``base``, and is geometric.

    Examples
    --------
    >>> hills = Hills(base=-2, at=2)
    >>> round(float(hills.log_z(1.0)), 6)
    20.0
    """

    def __init__(self, base: float = -2.0, at: float = 2.0):
        self.base, self.at = base, at

    def log_base(self, x) -> np.ndarray:
        return log_normal(x, self.base, BASE_WIDTH)

    def log_target(self, x) -> np.ndarray:
        """log p*, unnormalised."""
        low, high = (log_normal(x, place, WIDTH) for place in (-self.at, self.at))
        return LOG_Z - np.logaddexp(0, -GAP) + np.logaddexp(low - GAP, high)

    def slope(self, x) -> np.ndarray:
        """By how much log p* grows from the base to the hills: its derivative in beta."""
        return self.log_target(x) - self.log_base(x)

    def log_z(self, beta: float) -> float:
        every = self.log_base(GRID) + beta * self.slope(GRID)
        return np.logaddexp.reduce(every) + np.log(GRID[1] - GRID[0])

    def law(self, beta: float) -> np.ndarray:
        """The probability of each point of `GRID`."""
        every = self.log_base(GRID) + beta * self.slope(GRID)
        p = np.exp(every - every.max())
        return p / p.sum()

    def mean_slope(self, beta: float) -> float:
        """The derivative of log Z in beta."""
        return float(self.law(beta) @ self.slope(GRID))

    def draw(self, n: int, beta: float, rng) -> np.ndarray:
        """Independent states."""
        return rng.choice(GRID, n, p=self.law(beta))

    def move(self, x: np.ndarray, beta, rng, width: float = 0.7) -> np.ndarray:
        """A Metropolis step of each chain, at one beta or at one each."""
        y = x + width * rng.standard_normal(x.shape)
        rise = self.log_base(y) - self.log_base(x)
        rise = (1 - beta) * rise + beta * (self.log_target(y) - self.log_target(x))
        return np.where(np.log(rng.random(x.shape)) < rise, y, x)
