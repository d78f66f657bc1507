"""Checks, verdict and interval of `log_z` from the runs of a round."""

import math
from dataclasses import replace
from typing import Any, NamedTuple

from ..estimate import Check, Estimate
from ..results import DISAGREEMENT, FEWEST_EFFECTIVE, MINIMUM_ESS, needed_ess, skewed_interval
from ..search.summed import HELD, LOST, Z95, Summed

ROUNDING = 1e-9  # relative to log Z
MARKOV = math.log(80)  # nats by which a mean exceeds its expectation 1 time in 80 at most
NEARLY = 0.8  # share of Z in a sum that falls just short of `HELD`
MISSING = 0.03  # largest share of Z that the chains may be known to miss
WIDE = 0.001  # share of Z above which the reason mentions missing modes
AIM = 0.05 / 1.96  # standard error of a 95% interval of +- 0.05
MOST = 1e9  # largest number of steps to report


class Joint(NamedTuple):
    """log Z by Bennett's equation, its error, and its number of independent values."""

    log_z: float
    std_error: float
    families: float


class Evidence(NamedTuple):
    """Three runs of ``n_steps`` steps, two of them joined, a sum over states, and a bound."""

    n_steps: int
    n_chains: int
    forward: Estimate
    other: Estimate
    backward: Estimate
    joint: Joint
    bound: float
    summed: Summed | Any = None
    second: Summed | Any = None  # the same sum, with chains from the second base
    sure: float = 0.0  # share of Z in modes beyond what the chains found there
    tail: float = 0.0  # share of Z that modes without a pilot may hold
    n_missed: int = 0  # modes with their own chains
    one_base: bool = False  # whether all chains start from the same base
    sought: bool = True  # whether there was a search for modes

    @property
    def held(self) -> bool:
        """Whether a sum over states holds nearly all of Z, according to the chains."""
        if self.summed is None or not self.summed.holds_z:
            return False
        if self.second is None or not self.other.converged or self.second.lost >= LOST:
            return True
        return not NEARLY <= self.second.share < HELD  # in this range, it just falls short

    @property
    def best(self) -> Summed:
        """The sum, by the second base if its chains surely find more outside the sum."""
        more = self.second is not None and self.other.converged
        return self.second if more and apart(self.second, self.summed) > Z95 else self.summed

    @property
    def found(self) -> float:
        """log Z by the sum over states and the rest, if the sum holds nearly all of Z.

        Otherwise it is the joint estimate, which does not need even weights, or the forward
        estimate if an ESS is below 10.
        """
        if self.held:
            return self.best.log_z
        some = min(self.forward.ess, self.backward.ess) >= FEWEST_EFFECTIVE
        return self.joint.log_z if some else self.forward.log_z

    @property
    def unseen(self) -> float:
        """Share of Z in modes beyond what the chains found there."""
        return self.sure + self.tail

    @property
    def is_bound(self) -> bool:
        """Whether the value is a lower bound, because runs that failed a check lie below it."""
        return self.bound > self.found and not self.passed

    @property
    def log_z(self) -> float:
        return self.bound if self.is_bound else self.found

    # what was checked -------------------------------------------------------------------------

    @property
    def passed(self) -> bool:
        return all(check.passed for check in self.checks())

    @property
    def verdict(self) -> str:
        failed = [check for check in self.checks() if not check.passed]
        if failed:  # chains cannot contradict a lower bound
            contradicted = any(c.contradicts for c in failed) and not self.is_bound
            return "contradicted" if contradicted else "inconclusive"
        if self.held and not self.summed.error:  # over all states
            return "exact"
        agrees = self.held and self.second is not None and self.second.surely_holds_z
        return "verified" if agrees and not self.one_base else "consistent"

    def checks(self) -> list[Check]:
        """Return the checks of the runs, or of the sum over states."""
        if not self.held:
            return self._of_runs()
        what = f"a sum over {self.summed.n_states:,} states holds"
        held = Check(what, True, self.best.share, unit="of this value")
        if not self.summed.error:  # over all states: runs lie above by chance only
            return [held]
        above = max(apart(run, self.best) for run in (self.forward, self.other))
        return [held, *self._second(), _above("the higher run lies above the value by", above)]

    def _of_runs(self) -> list[Check]:
        forward, other, backward = self.forward, self.other, self.backward
        second, reverse = apart(other, forward), apart(backward, forward)
        # the second run may be too low if its ESS is low, or if it misses modes that have their
        # own paths
        below = second > -DISAGREEMENT or not other.converged or self.n_missed > 0
        two = f"two {'schedules' if self.one_base else 'bases'} (ESS of the second {other.ess:.0f})"
        checks = [
            _even("effective sample size", forward),
            _even("effective sample size of the reverse run", backward),
            Check("forward and reverse runs differ by", abs(reverse) < DISAGREEMENT, reverse,
                  DISAGREEMENT, "s.e.", contradicts=forward.converged and backward.converged),
            Check(f"{two} differ by", second < DISAGREEMENT and below, second, DISAGREEMENT,
                  "s.e.", contradicts=other.converged and second > 0),
        ]  # fmt: skip
        if self.summed is not None:
            known = self.summed.share * self.summed.lost
            checks.append(_missing("states that the chains miss hold", known, True))
        if self.sought:
            sure = self.sure >= MISSING
            checks.append(_missing("modes that the runs missed hold", self.unseen, sure))
        if math.isinf(self.bound):  # of a path
            return checks
        name = f"the highest lower bound, {self.bound:.2f}, lies above the value by"
        return [*checks, _above(name, self._bound_gap, f"{name[:-19]} below the value")]

    @property
    def _bound_gap(self) -> float:
        """Number of standard errors by which the lower bound lies above the value."""
        return (self.bound - self.found) / math.hypot(self.forward.std_error, 1e-3)

    def _second(self) -> list[Check]:
        """Check that the chains from the second base find the sum, and no more."""
        if self.second is None or self.one_base:
            return []
        ess, passed = f"ESS {self.other.ess:.0f}", self.second.holds_z
        if not self.other.converged:
            cannot = f"cannot confirm the sum, because their {ess} is too low"
            return [Check(f"chains from a second base {cannot}", False)]
        how, outside = "confirm" if passed else "do not confirm", 1 - self.second.share
        found = f"they find {outside:.1%} of Z outside it and miss {self.second.lost:.1%} of it"
        return [Check(f"chains from a second base ({ess}) {how} the sum: {found}", passed)]

    # how far log Z is left open ---------------------------------------------------------------

    @property
    def bounds_cross(self) -> bool:
        low, high = self.forward, self.backward
        error = math.hypot(low.mean_std_error, high.mean_std_error)
        slack = DISAGREEMENT * error + ROUNDING * (1 + abs(low.log_z))
        return not low.mean_log_z <= high.mean_log_z + slack

    @property
    def disagreement(self) -> float:
        """Largest difference (nats) of a direction, or excess of the second base or the bound."""
        value = self.log_z
        directions = (abs(run.log_z - value) for run in (self.forward, self.backward))
        return max(0.0, *directions, self.other.log_z - value, self.bound - value)

    @property
    def std_error(self) -> float:
        """Error of both directions and missing modes, with the disagreement if a check failed."""
        lacking = math.log1p(self.unseen)
        if not self.passed:
            return math.hypot(self.forward.std_error, lacking, self.disagreement)
        return self.best.std_error if self.held else math.hypot(self.joint.std_error, lacking)

    @property
    def interval(self) -> tuple[float, float]:
        """95% interval of both directions if every check passed, otherwise the bracket.

        The share of Z that may be missing in modes is added above. log Z exceeds the lower end of
        the bracket with 97.5% confidence, even if the runs missed modes: both forward runs are
        means of weights with expectation Z. By Markov's inequality, each exceeds log Z + log 80
        with probability 1/80 at most. A lower bound holds always.
        """
        if not self.passed:
            runs = self.forward.log_z - MARKOV, self.other.log_z - MARKOV
            return max(self.bound, *runs), self.upper_end
        if self.held:
            return self.best.interval()
        low, high = skewed_interval(*self.joint, self.forward.std_error)
        return low, high + math.log1p(self.unseen)

    @property
    def upper_end(self) -> float:
        """Value above log Z according to the reverse run; inf if the runs missed something.

        The reverse run starts from states of the forward runs. It bounds nothing if the second run
        or a lower bound lies well above the first run, or if the bounds cross.
        """
        crossed = self.bounds_cross or apart(self.backward, self.forward) <= -DISAGREEMENT
        agree = apart(self.other, self.forward) < DISAGREEMENT and self._bound_gap <= DISAGREEMENT
        if crossed or not agree:
            return math.inf
        high = self.backward.log_z + MARKOV, self.backward.mean_log_z, self.forward.interval[1]
        end = max(end for end in high if not math.isnan(end))
        return end if end >= max(self.log_z, self.bound) else math.inf

    @property
    def upper_bound(self) -> tuple[float, float]:
        """Upper bound in expectation from the reverse run, and its error.

        If it lies below the value or a lower bound by more than chance, it is infinite.
        """
        known, back = max(self.log_z, self.bound), self.backward
        by_chance = DISAGREEMENT * back.mean_std_error + ROUNDING * (1 + abs(known))
        if not back.mean_log_z >= known - by_chance:
            return math.inf, math.nan
        return max(back.mean_log_z, known), back.mean_std_error

    def estimate(self) -> Estimate:
        """Return the result of `log_z`, without its settings."""
        forward, other, backward = self.forward, self.other, self.backward
        found = {
            "checks": self.checks(), "reason": reason(self), "steps": steps_needed(self),
            "lower_bound": (forward.mean_log_z, forward.mean_std_error),
            "upper_bound": self.upper_bound, "best_lower_bound": self.bound,
            "both_directions": tuple(self.joint[:2]),
            "first_base": (forward.log_z, forward.std_error),
            "second_base": (other.log_z, other.std_error),
            "reverse": (backward.log_z, backward.std_error), "disagreement": self.disagreement,
            "n_missed_modes": self.n_missed, "missing": self.unseen,
        }  # fmt: skip
        return replace(
            forward, method="log_z", log_z=self.log_z, std_error=self.std_error,
            interval=self.interval, verdict=self.verdict, details=forward.details | found,
        )  # fmt: skip


def apart(a, b) -> float:
    """Return the number of standard errors by which ``a`` lies above ``b``."""
    return (a.log_z - b.log_z) / math.hypot(a.std_error, b.std_error, 1e-3)


def _even(name: str, run: Estimate) -> Check:
    return Check(name, run.converged, run.ess, needed_ess(run.n_chains))


def _missing(name: str, share: float, contradicts: bool) -> Check:
    return Check(name, share < MISSING, share, MISSING, "of Z", contradicts=contradicts)


def _above(name: str, gap: float, otherwise: str = "no run lies above the value") -> Check:
    """Check that a lower bound or a run does not lie ``gap`` standard errors above the value."""
    if gap <= 0:
        return Check(otherwise, True)
    return Check(name, gap < DISAGREEMENT, gap, DISAGREEMENT, "s.e.", contradicts=True)


# in words -------------------------------------------------------------------------------------


def reason(last: Evidence) -> str:
    """Return what failed, or what verifies the value, or what the checks could not show."""
    checks, verdict = last.checks(), last.verdict
    if failed := [str(check) for check in checks if not check.passed]:
        return "; ".join(failed)
    if verdict == "exact":
        return f"{checks[0].name} all of Z"
    if verdict == "verified":
        return f"{checks[0]}, and {checks[1]}"
    of = ["one base" if last.one_base else "two bases", "forward and reverse runs"]
    of += ["a search for modes"] * last.sought
    said = [f"all {len(checks)} checks passed ({', '.join(of)})"]
    if last.held:
        said.append(str(checks[0]))
    elif last.unseen > WIDE:
        further = f"a further {last.unseen:.1%} of Z, which the error bar includes"
        said.append(f"modes that were found may hold {further}")
    if not last.one_base and not last.other.converged:
        said.append(f"the ESS from the second base, {last.other.ess:.0f}, is too low to show a "
                    "mode that the first base lost")  # fmt: skip
    if not last.sought:
        said.append("there was no search for modes")
    return "; ".join([*said, "nothing verifies the value"])


def factor_needed(last: Evidence) -> float:
    """Return the factor of steps for an interval of +- 0.05, from the variance V of log-weights.

    V falls as 1 / steps. For normal log-weights, V is log(n / ESS), and the variance of the joint
    estimate is V / 2 n.
    """
    if last.passed:
        return (last.std_error / AIM) ** 2
    run = last.forward
    return math.log(run.n_chains / max(run.ess, 1.0)) / (2 * run.n_chains * AIM**2)


def rounded_up(value: float) -> float:
    """Round up to two significant digits, which are easy to repeat."""
    unit = 10.0 ** (math.floor(math.log10(value)) - 1)
    return math.ceil(value / unit - 1e-9) * unit


def steps_needed(last: Evidence) -> str:
    """Return in words how many steps give an interval of +- 0.05."""
    factor = factor_needed(last)
    if last.passed and factor <= 1:
        return f"the {last.n_steps:,} steps of this run are enough for an interval of about ± 0.05"
    steps = last.n_steps * max(factor, 1.0)
    if not steps < MOST:
        return "no feasible number of steps gives an interval of about ± 0.05"
    least = "at least " if last.forward.ess < MINIMUM_ESS else ""
    return f"an interval of about ± 0.05 takes {least}{rounded_up(steps):,.0f} steps"
