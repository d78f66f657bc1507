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

from ..models.enumeration import parts
from .beam import Beam, descents

WORK, MOST = 2e8, 1_000_000  # states looked at, times units of the other layer; and at most
HELD = 0.9  # of Z in the sum: enough to take it for Z but for what chains find outside
LOST = 0.03  # of the sum: chains that surely miss as much do not know what lies outside of it
SURE = 3.0  # standard errors
FEW = 3.0  # effective chains that would see a state, were it to hold that many of n
Z95 = 1.96


class StateSum:
    """S: of a model in parts that no weight connects, the product of the sums of a `Beam` each.

    Attributes
    ----------
    beams : list of Beam
        One a part.
    log_sum : float
        log S (nats).
    n_states : int
        Terms, of all parts.
    """

    def __init__(self, rbm):
        split = parts(rbm)
        self._free, self._units = split.free, split.units
        self.beams = [Beam(model) for model in split.models]

    @property
    def log_sum(self) -> float:
        return self._free + sum(beam.log_sum for beam in self.beams)

    @property
    def n_states(self) -> int:
        return sum(beam.n_states for beam in self.beams)

    @property
    def complete(self) -> bool:
        return all(beam.complete for beam in self.beams)

    def descend(self, rng) -> None:
        """Add states in which descents at zero temperature end."""
        for beam in self.beams:
            beam.add(descents(beam.small, rng))

    def add(self, visible, hidden=None) -> None:
        """Add states of both layers; without ``hidden``, (n, n_hidden), the likeliest of each."""
        for beam, (v, h) in zip(self.beams, self._units, strict=True):
            known = beam.turned or hidden is None
            beam.add(beam.of_visible(visible[:, v]) if known else hidden[:, h])

    def grow(self, n_states: int) -> None:
        """Look at up to ``n_states`` more, as many of each part."""
        for beam in self.beams:
            beam.grow(n_states // len(self.beams))

    def holds(self, model, visible, rng) -> np.ndarray:
        """Whether S has the visible states, or draws of the hidden layer given them."""
        hidden = visible  # if no part needs it
        if not all(beam.turned for beam in self.beams):
            hidden = model.hidden.draw(model.field(visible.astype(float)), rng)
        every = zip(self.beams, self._units, strict=True)
        held = [b.contains(visible[:, v] if b.turned else hidden[:, h]) for b, (v, h) in every]
        return np.all(held, axis=0)


def grown(rbm, modes, rng) -> StateSum:
    """The sum: from descents and modes, by as many states as a run of `log_z` affords.

    Of units other than bits, without modes, a state takes ten times as long.
    """
    found = StateSum(rbm)
    found.descend(rng)
    if modes is not None:
        found.add(modes.visible > 0.5, modes.hidden > 0.5)
    work = WORK if modes is not None else WORK / 10
    units = sum(len(beam.small.visible) for beam in found.beams)
    found.grow(int(min(MOST, work / max(1, units))))
    return found


class Summed(NamedTuple):
    """log S, how many states that is, and what chains find outside of it, relative to S."""

    log_sum: float
    n_states: int
    outside: float
    error: float
    lost: float = 0.0  # of S, what chains surely did not find: such chains tell nothing of the rest

    @classmethod
    def of(cls, known: StateSum, model, runs, rng) -> Summed:
        """By runs (log-weights (n,), last states (n, n_visible)), whose mean weights add up to Z.

        ``model`` is the one whose visible units the states are.
        """
        log_sum, n_states = known.log_sum, known.n_states
        if known.complete:
            return cls(log_sum, n_states, 0.0, 0.0)
        means, variance, squares, n = np.zeros(2), np.zeros(2), 0.0, 0
        for log_weights, states in runs:
            values = np.exp(log_weights - log_sum)
            held = known.holds(model, states, rng)
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
        return cls(log_sum, n_states, outside, float(errors[0]), lost)

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
    def surely_holds_z(self) -> bool:
        """Nearly all of it, where chains find as much outside as their error leaves open."""
        return self.outside + Z95 * self.error <= 1 / HELD - 1

    @property
    def std_error(self) -> float:
        return self.error * self.share

    def interval(self) -> tuple[float, float]:
        """95%; log Z is not below the sum."""
        low, high = (max(0.0, self.outside + side * Z95 * self.error) for side in (-1, 1))
        return self.log_sum + math.log1p(low), self.log_sum + math.log1p(high)
