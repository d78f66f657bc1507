"""What the runs of `log_z` say of each other, and how far they leave log Z open."""

from __future__ import annotations

import math
from typing import NamedTuple

from .._diagnosis import DISAGREEMENT
from ..estimators.bar import bennett_interval
from ..results import FEWEST_EFFECTIVE, Estimate
from .cover import MISSING
from .parts import Joint

ROUNDING = 1e-9  # of log Z
MARKOV = math.log(80)  # nats that a mean of weights exceeds their expectation by, 1 time in 80


class Round(NamedTuple):
    """Three runs of ``n_steps``, two of them joined, and the best mean-field bound."""

    n_steps: int
    n_chains: int
    forward: Estimate
    other: Estimate
    backward: Estimate
    joint: Joint
    bound: float
    n_parts: int = 1  # bases that it took
    unseen: float = 0.0  # of Z, in modes beyond what was found there
    one_base: bool = False  # all chains began at one, and no modes were sought

    @property
    def log_z(self) -> float:
        """Of both directions, which needs no even weights; of very few chains, of one alone."""
        some = min(self.forward.ess, self.backward.ess) >= FEWEST_EFFECTIVE
        return self.joint.log_z if some else self.forward.log_z

    def apart(self, a: Estimate, b: Estimate) -> float:
        """By how many standard errors ``a`` lies above ``b``."""
        return (a.log_z - b.log_z) / math.hypot(a.std_error, b.std_error, 1e-3)

    @property
    def second_found_more(self) -> bool:
        return not self.apart(self.other, self.forward) < DISAGREEMENT

    @property
    def bound_is_above(self) -> bool:
        """A mean-field solution bounds log Z from below above the estimate."""
        gap = self.bound - self.log_z
        return not gap <= DISAGREEMENT * math.hypot(self.forward.std_error, 1e-3)

    @property
    def bounds_cross(self) -> bool:
        low, high = self.forward, self.backward
        error = math.hypot(low.mean_std_error, high.mean_std_error)
        slack = DISAGREEMENT * error + ROUNDING * (1 + abs(low.log_z))
        return not low.mean_log_z <= high.mean_log_z + slack

    def checks(self) -> dict[str, bool]:
        """What was checked, in words, and whether it passed."""
        forward, other, backward = self.forward, self.other, self.backward
        second, reverse = self.apart(other, forward), self.apart(backward, forward)
        gap = (self.bound - self.log_z) / math.hypot(forward.std_error, 1e-3)
        # a second base with a low ESS can only be too low, and one that loses what has been found
        # to need a base of its own is
        below = second > -DISAGREEMENT or not other.converged or self.n_parts > 1
        checks = {
            f"effective sample size ({forward.ess:.0f} of {forward.n_chains})": forward.converged,
            f"effective sample size from above ({backward.ess:.0f})": backward.converged,
            f"forward and reverse agree ({reverse:+.1f} s.e.)": bool(abs(reverse) < DISAGREEMENT),
            f"two {'schedules' if self.one_base else 'bases'} agree ({second:+.1f} s.e., "
            f"ESS {other.ess:.0f})": bool(not self.second_found_more and below),
        }
        if self.one_base:
            return checks
        return checks | {
            "modes that were sought hold no more than these runs found in them "
            f"({self.unseen:.1%} of Z)": self.unseen < MISSING,
            "no lower bound from mean field lies above this value (the highest: "
            f"{self.bound:.2f}, {gap:+.1f} s.e. from it)": not self.bound_is_above,
        }

    @property
    def passed(self) -> bool:
        return all(self.checks().values())

    def lower_end(self) -> float:
        """What log Z is above with 97.5% confidence, whatever the runs have missed.

        Both forward runs are means of weights with expectation Z, so that by Markov's inequality
        each exceeds log Z + log 80 one time in 80 at most; a mean-field bound holds always.
        """
        return max(self.bound, self.forward.log_z - MARKOV, self.other.log_z - MARKOV)

    def upper_end(self) -> float:
        """What log Z is below, as far as the reverse run knows; inf if something was missed.

        Its particles began at what the forward runs found. Where one of these, or a mean-field
        solution, shows more than the first run found, or the bounds cross, it bounds nothing.
        """
        crossed = self.bounds_cross or self.apart(self.backward, self.forward) <= -DISAGREEMENT
        if self.second_found_more or self.bound_is_above or crossed:
            return math.inf
        ends = (
            self.backward.log_z + MARKOV,
            self.backward.mean_log_z,
            self.forward.interval[1],
        )
        return max(end for end in ends if not math.isnan(end))

    def interval(self) -> tuple[float, float]:
        """95% interval: of both directions if every check passed, otherwise the bracket.

        What modes hold beyond what was found there may be missing: it is added above.
        """
        if not self.passed:
            return self.lower_end(), self.upper_end()
        low, high = bennett_interval(*self.joint, self.forward.std_error)
        return low, high + math.log1p(self.unseen)

    def std_error(self) -> float:
        """Of both directions, and what they lack; if a check failed, the largest disagreement."""
        lacking = math.log1p(self.unseen)
        if self.passed:
            return math.hypot(self.joint.std_error, lacking)
        error, value = math.hypot(self.forward.std_error, lacking), self.log_z
        directions = (abs(run.log_z - value) for run in (self.forward, self.backward))
        others = (*directions, self.other.log_z - value, self.bound - value)
        return math.hypot(error, max(0.0, *others))
