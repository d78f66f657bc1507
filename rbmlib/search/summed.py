"""Z as a sum over known states plus an estimate for all other states.

    Z = S + E[w 1(h not in S)],    S = sum of p*(h) over distinct states of the smaller layer,

where w is the weight of an annealed chain (times its share of a part, `Missed`) and h a draw of the
smaller layer at the end of the chain. S is exact and found without the chains (`search.beam`), so
the mean is unbiased. If S holds nearly all of Z, uneven weights do little harm. The risk is states
that neither the sum nor the chains find: n effective chains miss a set of states with a share of
3 / n of Z one time in 20. The same chains also estimate S, by E[w 1(h in S)]. Chains that find far
less than S have failed and give no information about other states.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from ..models.enumeration import parts
from .beam import Beam, descents

WORK, MOST = 2e8, 1_000_000  # states times units of the other layer; most states
HELD = 0.9  # least share of Z in a sum that holds nearly all of Z
LOST = 0.03  # share of the sum; chains that surely miss as much give no information outside it
SURE = 3.0  # standard errors
FEW = 3.0  # rule of three: n effective chains can miss a share of 3 / n
Z95 = 1.96


class StateSum:
    """The sum S, a product of the sums of a `Beam` for each connected part of a model.

    Attributes
    ----------
    beams : list of Beam
        One for each part.
    log_sum : float
        log S (nats).
    n_states : int
        Number of terms in all parts.
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
        """Add the ends of descents at zero temperature."""
        for beam in self.beams:
            beam.add(descents(beam.small, rng))

    def add(self, visible, hidden=None) -> None:
        """Add states; ``hidden`` (n, n_hidden) is by default the most probable state given v."""
        for beam, (v, h) in zip(self.beams, self._units, strict=True):
            known = beam.turned or hidden is None
            beam.add(beam.of_visible(visible[:, v]) if known else hidden[:, h])

    def grow(self, n_states: int) -> None:
        """Evaluate up to ``n_states`` more, the same number for each part."""
        for beam in self.beams:
            beam.grow(n_states // len(self.beams))

    def holds(self, model, visible, rng) -> np.ndarray:
        """Return whether S holds the visible states, or draws of the hidden layer given them."""
        hidden = visible  # unused if every part sums over visible states
        if not all(beam.turned for beam in self.beams):
            hidden = model.hidden.draw(model.field(visible.astype(float)), rng)
        every = zip(self.beams, self._units, strict=True)
        held = [b.contains(visible[:, v] if b.turned else hidden[:, h]) for b, (v, h) in every]
        return np.all(held, axis=0)


def grown(rbm, modes, rng) -> StateSum:
    """Return the sum from descents and modes, with the number of states that `log_z` uses."""
    found = StateSum(rbm)
    found.descend(rng)
    if modes is not None:
        found.add(modes.visible > 0.5, modes.hidden > 0.5)
    work = WORK if modes is not None else WORK / 10  # a state takes ten times as long
    units = sum(len(beam.small.visible) for beam in found.beams)
    found.grow(int(min(MOST, work / max(1, units))))
    return found


class Summed(NamedTuple):
    """A sum over states, and the estimate of the rest of Z by chains, relative to S."""

    log_sum: float  # log S, nats
    n_states: int
    outside: float  # estimate of Z / S - 1
    error: float  # standard error of `outside`
    lost: float = 0.0  # share of S that the chains surely missed

    @classmethod
    def of(cls, known: StateSum, model, runs, rng) -> Summed:
        """Estimate from runs (log-weights (n,), last states (n, n_visible)) of ``model``.

        The sum over runs of the mean weights estimates Z.
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
        # rule of three: 1.96 times this error is the share 3 / n that n effective chains can miss
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
        """The share of Z in the sum."""
        return 1 / (1 + self.outside)

    @property
    def holds_z(self) -> bool:
        """Whether the sum holds nearly all of Z, according to chains that find the sum."""
        return self.share >= HELD and self.lost < LOST

    @property
    def surely_holds_z(self) -> bool:
        """Whether the sum holds nearly all of Z even at the upper end of the interval."""
        return self.outside + Z95 * self.error <= 1 / HELD - 1

    @property
    def std_error(self) -> float:
        return self.error * self.share

    def interval(self) -> tuple[float, float]:
        """Return the 95% interval of log Z, which does not extend below the sum."""
        low, high = (max(0.0, self.outside + side * Z95 * self.error) for side in (-1, 1))
        return self.log_sum + math.log1p(low), self.log_sum + math.log1p(high)
