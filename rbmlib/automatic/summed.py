"""Z as a sum over states that were found, and what chains say of all others.

    Z = S + E[w 1(h not in S)],    S = sum of p*(h) over distinct states of the smaller layer,

with w the weight of an annealed chain (times its share of a part, `cover`) and h a draw of that
layer where it ends. S is exact, and found without the chains (`search.beam`), so that the mean is
unbiased. Where S holds nearly all of Z, what the weights lack in evenness is of no account: what is
left to fear are states that neither knows. Of n effective chains none is there, if they hold more
than 3 / n, one time in 20.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from ..search.beam import Beam, descents

WORK, MOST = 2e8, 1_000_000  # states looked at, times units of the other layer; and at most
HELD = 0.9  # of Z in the sum: enough to take it for Z but for what chains find outside
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
    """log S, how many states that is, and what lies outside relative to S, with its error."""

    log_sum: float
    n_states: int
    outside: float
    error: float

    @classmethod
    def of(cls, beam, runs, source) -> Summed:
        """By the first run of every part, of which each is an unbiased estimate of its Z_c."""
        if beam.complete:
            return cls(beam.log_sum, beam.n_states, 0.0, 0.0)
        outside = variance = total = squares = 0.0
        for run in runs:
            values = np.exp(run.values - beam.log_sum)
            states = run.estimate.states
            if not beam.turned:
                states = beam.small.hidden.draw(beam.small.field(states.astype(float)), source)
            out = values * ~beam.contains(states)
            n = values.size
            outside += out.mean()
            variance += out.var(ddof=1) / n
            total += values.mean()
            squares += values.var() / n
        # rule of three, +- 1.96 of it is 3 / n: what so few effective chains would not have seen
        effective = total**2 / max(squares, 1e-300)
        effective = min(effective, sum(run.values.size for run in runs))
        variance = max(variance, (FEW / Z95 / max(effective, 1.0)) ** 2)
        return cls(beam.log_sum, beam.n_states, float(outside), float(math.sqrt(variance)))

    @property
    def log_z(self) -> float:
        return self.log_sum + math.log1p(self.outside)

    @property
    def share(self) -> float:
        """Of Z, in the sum."""
        return 1 / (1 + self.outside)

    @property
    def std_error(self) -> float:
        return self.error * self.share

    def interval(self) -> tuple[float, float]:
        """95%; log Z is not below the sum."""
        low, high = (max(0.0, self.outside + side * Z95 * self.error) for side in (-1, 1))
        return self.log_sum + math.log1p(low), self.log_sum + math.log1p(high)
