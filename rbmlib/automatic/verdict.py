"""What the runs of `log_z` say of each other, how far they leave log Z open, and in plain words."""

import math
from typing import NamedTuple

from ..estimators.bar import bennett_interval
from ..results import DISAGREEMENT, FEWEST_EFFECTIVE, MINIMUM_ESS, Check, Estimate, needed_ess
from .cover import MISSING
from .parts import Joint
from .summed import Summed

ROUNDING = 1e-9  # of log Z
MARKOV = math.log(80)  # nats that a mean of weights exceeds their expectation by, 1 time in 80
WIDE = 0.001  # of Z: what may be missing before the error bar is said to hold it
AIM = 0.05 / 1.96  # standard error of a 95% interval of +- 0.05
MOST = 1e9  # steps that are still worth being named


class Round(NamedTuple):
    """Three runs of ``n_steps``, two of them joined, a sum over states, and the best bound."""

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
    sought: bool = True  # whether modes were
    summed: Summed | None = None
    second: Summed | None = None  # the same sum, by the chains of the second base

    @property
    def held(self) -> bool:
        """Whether a sum over states holds nearly all of Z."""
        return self.summed is not None and self.summed.holds_z

    @property
    def found(self) -> float:
        """log Z by a sum that holds nearly all, with what chains found outside.

        Else of both directions, which needs no even weights; of very few chains, of one alone.
        """
        if self.summed is not None and self.held:
            return self.summed.log_z
        some = min(self.forward.ess, self.backward.ess) >= FEWEST_EFFECTIVE
        return self.joint.log_z if some else self.forward.log_z

    @property
    def is_bound(self) -> bool:
        """Whether a lower bound is the best that is known: runs that failed lie below it."""
        return self.bound > self.found and not self.passed

    @property
    def log_z(self) -> float:
        return self.bound if self.is_bound else self.found

    def apart(self, a: Estimate, b: Estimate) -> float:
        """By how many standard errors ``a`` lies above ``b``."""
        return (a.log_z - b.log_z) / math.hypot(a.std_error, b.std_error, 1e-3)

    def above_sum(self, summed: Summed) -> float:
        """By how many standard errors the higher of both forward runs lies above a sum."""
        pairs = ((run.log_z - summed.log_z, run.std_error) for run in (self.forward, self.other))
        return max(gap / math.hypot(error, summed.std_error, 1e-3) for gap, error in pairs)

    @property
    def bound_gap(self) -> float:
        """By how many standard errors the mean-field bound, which is below log Z, lies above it."""
        return (self.bound - self.found) / math.hypot(self.forward.std_error, 1e-3)

    @property
    def missed(self) -> bool:
        """Whether the second base or a mean-field solution shows more than the first run found."""
        more = self.apart(self.other, self.forward), self.bound_gap
        return not (more[0] < DISAGREEMENT and more[1] <= DISAGREEMENT)

    @property
    def bounds_cross(self) -> bool:
        low, high = self.forward, self.backward
        error = math.hypot(low.mean_std_error, high.mean_std_error)
        slack = DISAGREEMENT * error + ROUNDING * (1 + abs(low.log_z))
        return not low.mean_log_z <= high.mean_log_z + slack

    def checks(self) -> list[Check]:
        """What was checked, what was found, and whether it passed."""
        forward, other, backward, summed = self.forward, self.other, self.backward, self.summed
        if summed is not None and self.held:
            held = Check(
                f"a sum over {summed.n_states:,} states holds", True, summed.share, unit="of Z"
            )
            if not summed.error:  # all states: a run that lies above is so by chance
                return [held]
            above = self.above_sum(summed)
            lies = Check("no run lies above this value", True)
            if above > 0:
                name = "the higher run lies above this value by"
                lies = Check(name, above < DISAGREEMENT, above, DISAGREEMENT, "s.e.")
            return [held, *self._second(), lies]
        second, reverse = self.apart(other, forward), self.apart(backward, forward)
        # a second base with a low ESS can only be too low, and one that loses what has been found
        # to need a base of its own is
        below = second > -DISAGREEMENT or not other.converged or self.n_parts > 1
        two = f"two {'schedules' if self.one_base else 'bases'} (ESS of the second {other.ess:.0f})"
        checks = [
            _even("effective sample size", forward),
            _even("effective sample size from above", backward),
            Check("forward and reverse runs differ by", abs(reverse) < DISAGREEMENT, reverse,
                  DISAGREEMENT, "s.e."),
            Check(f"{two} differ by", second < DISAGREEMENT and below, second, DISAGREEMENT,
                  "s.e."),
        ]  # fmt: skip
        if math.isinf(self.bound):  # of a path
            return checks
        if summed is not None:
            known = summed.share * summed.lost
            name = "of the sum over states the chains miss"
            checks.append(Check(name, known < MISSING, known, MISSING, "of Z"))
        if self.sought:
            name = "modes that were sought add, to what these runs found there,"
            checks.append(Check(name, self.unseen < MISSING, self.unseen, MISSING, "of Z"))
        gap, name = self.bound_gap, f"the highest lower bound, {self.bound:.2f}, lies"
        if gap <= 0:
            return [*checks, Check(f"{name} below this value", True)]
        name += " above this value by"
        return [*checks, Check(name, gap <= DISAGREEMENT, gap, DISAGREEMENT, "s.e.")]

    def _second(self) -> list[Check]:
        """Whether the chains of the second base find the sum, and no more."""
        if self.second is None:
            return []
        passed = self.other.converged and self.second.holds_z
        outside, ess = 1 - self.second.share, self.other.ess
        return [
            Check(
                f"a second base {'confirms' if passed else 'does not confirm'} the sum: outside it "
                f"finds {outside:.1%} of Z, of the sum it misses {self.second.lost:.1%}, ESS "
                f"{ess:.0f}", passed,
            )
        ]  # fmt: skip

    @property
    def failed(self) -> str:
        return "; ".join(str(check) for check in self.checks() if not check.passed)

    @property
    def passed(self) -> bool:
        return all(check.passed for check in self.checks())

    @property
    def disagreement(self) -> float:
        """Nats by which a direction differs, or the second base or mean field shows more."""
        value = self.log_z
        directions = (abs(run.log_z - value) for run in (self.forward, self.backward))
        return max(0.0, *directions, self.other.log_z - value, self.bound - value)

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
        if self.missed or crossed:
            return math.inf
        high = self.backward.log_z + MARKOV, self.backward.mean_log_z, self.forward.interval[1]
        end = max(end for end in high if not math.isnan(end))
        return end if end >= max(self.log_z, self.bound) else math.inf

    def upper_bound(self) -> tuple[float, float]:
        """What the reverse run bounds in expectation, and its error.

        By chance it may lie below what is known; where it surely does, it bounds nothing.
        """
        known, back = max(self.log_z, self.bound), self.backward
        by_chance = DISAGREEMENT * back.mean_std_error + ROUNDING * (1 + abs(known))
        if not back.mean_log_z >= known - by_chance:
            return math.inf, math.nan
        return max(back.mean_log_z, known), back.mean_std_error

    def interval(self) -> tuple[float, float]:
        """95% interval: of both directions if every check passed, otherwise the bracket.

        What modes hold beyond what was found there may be missing: it is added above.
        """
        if not self.passed:
            return self.lower_end(), self.upper_end()
        if self.summed is not None and self.held:
            return self.summed.interval()
        low, high = bennett_interval(*self.joint, self.forward.std_error)
        return low, high + math.log1p(self.unseen)

    def std_error(self) -> float:
        """Of both directions, and what they lack; if a check failed, the largest disagreement."""
        lacking = math.log1p(self.unseen)
        if self.passed and self.summed is not None and self.held:
            return self.summed.std_error
        if self.passed:
            return math.hypot(self.joint.std_error, lacking)
        return math.hypot(math.hypot(self.forward.std_error, lacking), self.disagreement)


def _even(name: str, run: Estimate) -> Check:
    return Check(name, run.converged, run.ess, needed_ess(run.n_chains))


def verdict(last: Round, has_data: bool) -> str:
    """One sentence that begins with "trust", "wider than it looks" or "do not trust"."""
    more = needed(last)
    if not last.passed:
        if last.missed:
            more = "a mode was missed, and more steps alone may not find it"
        advice = more if has_data or last.one_base else f"{more}; give it training data"
        bound = "the value is a lower bound, and no more; " if last.is_bound else ""
        return f"do not trust: {last.failed}; {bound}{advice}"
    if last.held:
        return f"trust: {last.checks()[0]}; {more}"
    if last.unseen > WIDE:
        return (
            f"wider than it looks: modes that were sought may hold {last.unseen:.1%} of Z more "
            f"than these runs found there, which the error bar holds; {more}"
        )
    if last.one_base or not last.sought:
        began = "all chains began at one base and " if last.one_base else ""
        return (
            f"wider than it looks: every check passed, but {began}no "
            f"modes were sought, so that a mode which the path loses shows nowhere; {more}"
        )
    if not last.other.converged:
        return (
            "wider than it looks: every check passed, but the second base had too low an effective "
            f"sample size ({last.other.ess:.0f}) to see a mode that the first lost; {more}"
        )
    return f"trust: every check passed; {more}"


def factor_needed(last: Round) -> float:
    """How many times the steps, of as many chains, +- 0.05 takes, by the spread V of log-weights.

    V falls as 1 / steps. Were log-weights normal it would be log(n / ESS), and the variance of
    both directions together V / 2 n.
    """
    if last.passed:
        return (last.std_error() / AIM) ** 2
    run = last.forward
    return math.log(run.n_chains / max(run.ess, 1.0)) / (2 * run.n_chains * AIM**2)


def rounded_up(value: float) -> float:
    """To two digits and zeros, which are easy to repeat."""
    unit = 10.0 ** (math.floor(math.log10(value)) - 1)
    return math.ceil(value / unit - 1e-9) * unit


def needed(last: Round) -> str:
    """The steps that +- 0.05 takes."""
    factor = factor_needed(last)
    if last.passed and factor <= 1:
        return f"{last.n_steps:,} steps are enough for an interval of ± 0.05"
    steps = last.n_steps * max(factor, 1.0)
    if not steps < MOST:
        return "no number of steps is in sight for an interval of ± 0.05"
    unit = 10 ** max(0, int(math.log10(steps)) - 1)
    least = "at least " if last.forward.ess < MINIMUM_ESS else ""
    return (
        f"an interval of ± 0.05 takes {least}{math.ceil(steps / unit) * unit:,.0f} steps, "
        f"{steps / last.n_steps:,.1f} times as many"
    )
