"""Z as a sum over states that were found, and what chains say of all others.

    Z = S + E[w 1(h not in S)],    S = sum of p*(h) over distinct states of the smaller layer,

with w the weight of an annealed chain (times its share of a part, `cover`) and h a draw of that
layer where it ends. S is exact, and found without the chains (`search.beam`), so that the mean is
unbiased. Where S holds nearly all of Z, what the weights lack in evenness is of no account: what is
left to fear are states that neither knows. Of n effective chains none is there, if they hold more
than 3 / n, one time in 20. The same chains estimate S itself, E[w 1(h in S)]: those that find far
less than what is known to be there have failed, and where they find nothing else nothing is known.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from .beam import Beam, descents

WORK, MOST = 2e8, 1_000_000  # states looked at, times units of the other layer; and at most
HELD = 0.9  # of Z in the sum: enough to take it for Z but for what chains find outside
LOST = 0.5  # of the sum: chains that surely miss as much have failed
SURE = 3.0  # standard errors
FEW = 3.0  # effective chains that would see a state, were it to hold that many of n
Z95 = 1.96


def grown(rbm, modes, rng) -> Beam:
    """The sum: from descents at zero temperature and modes; it may have settled, and grow on.

    Of units other than bits, without modes, a state takes ten times as long.
    """
    beam = Beam(rbm)
    beam.add(descents(beam.small, rng))
    if modes is not None:
        beam.add((modes.visible if beam.turned else modes.hidden) > 0.5)
    work = WORK if modes is not None else WORK / 10
    beam.grow(int(min(MOST, work / len(beam.small.visible))))
    return beam


class Summed(NamedTuple):
    """log S, how many states that is, and what chains find outside of it, relative to S."""

    log_sum: float
    n_states: int
    outside: float
    error: float
    lost: float = 0.0  # of S, what chains surely did not find: such chains tell nothing of the rest

    @classmethod
    def of(cls, beam, model, runs, rng) -> Summed:
        """By runs (log-weights (n,), last states (n, n_visible)), whose mean weights add up to Z.

        ``model`` is the one whose visible units the states are.
        """
        if beam.complete:
            return cls(beam.log_sum, beam.n_states, 0.0, 0.0)
        means, variance, squares, n = np.zeros(2), np.zeros(2), 0.0, 0
        for log_weights, states in runs:
            values = np.exp(log_weights - beam.log_sum)
            if not beam.turned:
                states = model.hidden.draw(model.field(states.astype(float)), rng)
            held = beam.contains(states)
            out = values[:, None] * np.stack([~held, held], axis=1)
            means += out.mean(axis=0)
            variance += out.var(axis=0, ddof=1) / values.size
            squares += values.var() / values.size
            n += values.size
        # rule of three, +- 1.96 of it is 3 / n: what so few effective chains would not have seen
        effective = min(n, means.sum() ** 2 / max(squares, 1e-300))
        unseen = FEW / Z95 / max(effective, 1.0)
        errors = np.maximum(np.sqrt(variance), [unseen, unseen * means.sum()])
        outside, inside = map(float, means)
        lost = max(0.0, 1 - inside - SURE * float(errors[1]))
        return cls(beam.log_sum, beam.n_states, outside, float(errors[0]), lost)

    @property
    def log_z(self) -> float:
        return self.log_sum + math.log1p(self.outside)

    @property
    def share(self) -> float:
        """Of Z, in the sum."""
        return 1 / (1 + self.outside)

    @property
    def holds_z(self) -> bool:
        """Nearly all of it, by chains that find the sum: others do not know what lies outside."""
        return self.share >= HELD and self.lost < LOST

    @property
    def std_error(self) -> float:
        return self.error * self.share

    def interval(self) -> tuple[float, float]:
        """95%; log Z is not below the sum."""
        low, high = (max(0.0, self.outside + side * Z95 * self.error) for side in (-1, 1))
        return self.log_sum + math.log1p(low), self.log_sum + math.log1p(high)
