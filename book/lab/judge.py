"""The judge of the book: what our numbers say of a claim of one of the four sources.

A claim allows a region for an effect: above 0, between two sizes, within a margin of no
difference. Our repeats give an interval of the effect. Where the interval lies in the region, the
claim is reproduced; where it lies outside, contradicted; where it overlaps both, open, and the
verdict says which effect would have been seen. So a verdict is false only if the interval misses
the truth, which it does with a chance of at most ``alpha``. That two numbers are alike needs an
interval within a margin that is stated beforehand, with a reason.

**Not stated.** Where the outcome turns on something that the source does not state, the claim
*depends* (`depends`). So what the source leaves open is varied.
**Few trainings.** A claim about training belongs to that training as well: the spread over several
decides it (``n_trainings``), at ``alpha=FEW`` where there are few; one leaves it open.

Every function takes the name of a row of ``data/published/claims.csv``, and our numbers: a list of
independent repeats, or a `Measured` that `rbmbook.measured` makes of them.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from scipy.special import fdtri, ndtri

from rbmlib.checks import count, number

from .claims import claim, printed_number
from .measured import ALPHA, POWER, Measured, exactly, mean_of, minus
from .verdicts import (
    CONTRADICTED,
    ONE_TRAINING,
    OPEN,
    REPRODUCED,
    SIZE_DIFFERS,
    TOO_ROUGH,
    Verdict,
    shown,
)

SIGNS = {1: (0.0, math.inf), -1: (-math.inf, 0.0)}
WIDEST = 10.0  # factor of a variance beyond which no agreement is said


class Effect(NamedTuple):
    """An effect with its interval of level 1 - alpha, on its scale."""

    value: float
    low: float
    high: float
    could_see: float
    scale: str
    alpha: float

    def within(self, low: float, high: float) -> bool:
        return low < self.low and self.high < high

    def outside(self, low: float, high: float) -> bool:
        return self.high < low or high < self.low

    def in_region(self, low: float, high: float, null: float | None = None) -> str:
        """Reproduced within the region, contradicted outside, or where ±``null`` is left out."""
        if self.within(low, high):
            return REPRODUCED
        away = self.outside(low, high) if null is None else self.outside(-null, null)
        return CONTRADICTED if away else OPEN


def effect(
    name: str, ours, *, direction: int, size: tuple[float, float] | None = None,
    matters: float | None = None, reason: str = "", unit: str = "",
    n_trainings: int | None = None, alpha: float = ALPHA,
) -> Verdict:  # fmt: skip
    """A claimed direction (+1 or -1), with a claimed size or without, of differences or a ratio.

    ``size`` is what the claim allows ("a tenth": (0.05, 0.2); "more than twofold": (2, inf)); an
    effect of the claimed sign and of another size is reproduced, with a note. ``matters`` is the
    smallest effect that matters, a difference above 0 or a factor above 1, stated beforehand with
    its ``reason``, which the verdict sets behind it ("..., a fifth fewer sweeps"): an interval that
    reaches it nowhere contradicts the claim.
    """
    if direction not in SIGNS:
        raise ValueError(f"direction is {direction!r}: expected +1 or -1")
    ours, sign = _as_measured(ours), SIGNS[direction]
    found = _effect_of(ours, alpha)
    outcome, note = found.in_region(*sign), ""
    if matters is not None:
        least = _margin_on(matters, reason, ours.scale)
        note = f"smallest effect that matters: {_amount(least, ours.scale, unit)}, {reason}"
        if outcome == OPEN and (found.high < least if direction == 1 else found.low > -least):
            outcome = CONTRADICTED
    if size is not None:
        region = _sizes(size, ours.scale, sign)
        note = f"claimed size: {_range(*size)}"
        of_size = found.in_region(*region)
        if of_size == CONTRADICTED:
            note = f"{SIZE_DIFFERS}; {note}" if outcome == REPRODUCED else note
            outcome = REPRODUCED if outcome == REPRODUCED else CONTRADICTED
        elif of_size == OPEN and outcome == REPRODUCED:
            outcome, note = OPEN, f"{note}; the sign is as claimed, but the size is open"
    return _verdict(name, ours, found, outcome, note, unit, n_trainings)


def equivalence(name: str, ours, *, margin: float, reason: str, unit: str = "") -> Verdict:
    """ "Flat", "alike", "no gain": no effect larger than a margin, stated with its reason.

    The margin is a difference, or for a ratio a factor above 1.
    """
    ours = _as_measured(ours)
    allowed = _margin_on(margin, reason, ours.scale)
    found = _effect_of(ours)
    note = f"margin {'×/÷ ' if ours.scale == 'log' else '±'}{margin:g}: {reason}"
    return _verdict(name, ours, found, found.in_region(-allowed, allowed), note, unit)


def bound(
    name: str, ours, *, at_least: float = -math.inf, at_most: float = math.inf, unit: str = "",
    n_trainings: int | None = None, alpha: float = ALPHA, least: float = -math.inf,
) -> Verdict:  # fmt: skip
    """A claimed bound: "within a second", "at least a tenth", "in most cases".

    ``least`` is the smallest value that the effect can have, such as 0 for the size of an error.
    The interval ends there, which changes no outcome.
    """
    ours = _as_measured(ours)
    if not at_least < at_most or at_least == -at_most == -math.inf:
        raise ValueError(f"at_least is {at_least}, at_most {at_most}: expected one, or an interval")
    found = _effect_of(ours, alpha)
    found = found._replace(low=max(found.low, _on_scale(least, ours.scale)))
    outcome = found.in_region(*(_on_scale(x, ours.scale) for x in (at_least, at_most)))
    return _verdict(name, ours, found, outcome, "", unit, n_trainings)


class Comparison(NamedTuple):
    """What `compare` found: whether it holds everywhere, and in words."""

    holds: bool
    words: str

    def __and__(self, other: Comparison) -> Comparison:
        return Comparison(self.holds and other.holds, f"{self.words}; {other.words}")


def compare(a, sign: str, b) -> Comparison:
    """Compare computed numbers or arrays, one by one ("==" but for rounding): for `statement`.

    Not both are typed, or nothing would be judged. A number that is missing (nan) holds nowhere.
    """
    signs = {
        "<": np.less, "<=": np.less_equal, ">": np.greater, ">=": np.greater_equal,
        "==": lambda x, y: np.isclose(x, y, rtol=1e-9, atol=0),
    }  # fmt: skip
    if sign not in signs:
        raise ValueError(f"sign is {sign!r}: expected one of {', '.join(signs)}")
    x, y = np.asarray(a, dtype=float), np.asarray(b, dtype=float)
    if not x.size or not y.size:
        raise ValueError("a or b is empty: expected numbers, since all of none holds whatever")
    said = [
        f"{v.min():.4g}" if v.min() == v.max() else f"{v.min():.4g} to {v.max():.4g}"
        for v in (x, y)
    ]
    return Comparison(bool(signs[sign](x, y).all()), f" {sign} ".join(said))


def statement(name: str, holds: Comparison, *, reason: str, ours: str = "") -> Verdict:
    """A claim that needs no statistics: an inequality, an exact computation, a count.

    ``holds`` is what `compare` found, or several joined by ``&``, so that another result gives
    another verdict; ``reason`` says in a clause why it holds, or does not.
    """
    if not isinstance(holds, Comparison):
        raise TypeError(f"holds is a {type(holds).__name__}: expected what judge.compare gives")
    outcome = REPRODUCED if holds.holds else CONTRADICTED
    return _verdict(name, ours or holds.words, None, outcome, _words("reason", reason))


def left_open(name: str, why: str, *, ours: str = "") -> Verdict:
    """A claim that is not decided, and why, or what would decide it."""
    return _verdict(name, ours, None, OPEN, _words("why", why))


def printed_value(
    name: str, ours, *, printed: str | float | None = None, printed_error: float | None = None,
    printed_variance: float | None = None, printed_n: int | None = None, unit: str = "nats",
) -> Verdict:  # fmt: skip
    """A printed number against ours: the effect is ours minus printed.

    The margin is taken from the printed spread. Of a mean of so many runs of a printed variance it
    is what as many runs beside them could have shown: the smallest difference that is seen with a
    chance of `POWER` (6.9 printed standard errors for 20 runs). With less, 20 runs could never
    agree with 20 others. Of a printed standard error it is what that alone resolves (4.6 of it).
    Half a unit of the last printed digit is added. The claim is contradicted if the interval leaves
    out 0, and reproduced if it lies within the margin. The printed spread counts in the interval:
    if it is wide, no number of runs of ours decides.

    ``printed`` is the number as it is printed ("10.00"), by default that of the claim.
    """
    value, rounding = printed_number(name, printed)
    ours = _as_measured(ours)
    if ours.scale != "linear":
        raise ValueError("ours is a ratio: expected repeats, or Measured on the scale 'linear'")
    if printed_n is None:
        error = number("printed_error", printed_error, "a standard error above 0", above=0)
        spread = again = Measured(value, error, math.inf, math.inf)
        shows = "the smallest difference that the printed error resolves"
    else:
        spread = _mean_of_printed(value, printed_variance, printed_n)
        again = minus(spread, spread)
        shows = f"the smallest difference that {printed_n} runs against {printed_n} would show"
    allowed = again.could_see() + rounding
    note = f"margin ±{allowed:.3g}: {shows}"

    def judged(x: Measured) -> Effect:
        return _effect_of(minus(x, spread))

    def outcome_of(found: Effect) -> str:
        return found.in_region(-allowed, allowed, rounding)

    found = judged(ours)
    outcome = outcome_of(found)
    if outcome == OPEN:
        rough = _no_run_decides(_effect_of(ours), lambda x: outcome_of(judged(exactly(x))))
        note = f"{TOO_ROUGH}; {note}" if rough else note
    return _verdict(name, ours, found, outcome, note, unit)


def printed_variance(
    name: str, ours, *, printed_n: int, printed: str | float | None = None, n: float | None = None
) -> Verdict:
    """A printed variance of normal values against ours: the effect is ours over printed (F).

    The margin is the factor that as many runs beside the printed ones could have shown with a
    chance of `POWER`. If that is more than `WIDEST`, they are too few for agreement with them to
    say anything.

    ``ours``: repeats, or the variance of ``n`` of them (infinity if it is computed).
    """
    value, rounding = printed_number(name, printed)
    number("printed", value, "a variance above 0", above=0)
    freedom = count("printed_n", printed_n, 2) - 1
    if n is None:
        sample = mean_of(ours)
        ours, n = sample.std_error**2 * sample.n, int(sample.n)
    own = 1e9 if n == math.inf else n - 1
    see = float(ndtri(1 - ALPHA / 2) + ndtri(POWER))
    allowed = see * math.sqrt(4 / freedom)
    # a printed 0.0001 may be rounded from half as much, or from half as much again
    null = math.log1p(-min(rounding / value, 1 - 1e-9)), math.log1p(rounding / value)
    shows = f"the smallest ratio that {printed_n} runs against {printed_n} would show"
    note = f"margin ×/÷ {math.exp(allowed):.3g}: {shows}"

    def of_ratio(x: float, own: float = 1e9, freedom: float = freedom) -> Effect:
        ends = (math.log(float(fdtri(own, freedom, p))) for p in (1 - ALPHA / 2, ALPHA / 2))
        low, high = (x - end for end in ends)
        return Effect(x, low, high, see * math.sqrt(2 / freedom + 2 / own), "log", ALPHA)

    def outcome_of(found: Effect) -> str:
        if found.within(-allowed, allowed) and allowed < math.log(WIDEST):
            return REPRODUCED
        return CONTRADICTED if found.outside(*null) else OPEN

    found = of_ratio(math.log(ours / value), own)
    outcome = outcome_of(found)
    if outcome == OPEN:
        alone = of_ratio(found.value, own, 1e9)  # as if what is printed had no error
        rough = _no_run_decides(alone, lambda x: outcome_of(of_ratio(x)))
        note = f"{TOO_ROUGH}; {note}" if rough else note
    text = f"variance {ours:.3g}" + ("" if own >= 1e9 else f" of {own + 1} runs")
    return _verdict(name, text, found, outcome, note)


def digits(name: str, ours: float, printed: str | float | None = None, unit="nats") -> Verdict:
    """A printed number against one that is computed without error: equal to the printed digits?"""
    value, rounding = printed_number(name, printed)
    off = number("ours", ours, "a number") - value
    agree = abs(off) <= rounding * (1 + 1e-9)
    note = "agrees to the printed digits" if agree else "differs in the printed digits"
    found = Effect(off, off, off, 0.0, "linear", ALPHA)
    return _verdict(name, f"{ours:.8g}", found, REPRODUCED if agree else CONTRADICTED, note, unit)


def _effect_of(m: Measured, alpha: float = ALPHA) -> Effect:
    return Effect(m.value, *m.interval(alpha), m.could_see(alpha), m.scale, alpha)


def _as_measured(ours) -> Measured:
    return ours if isinstance(ours, Measured) else mean_of(ours)


def _on_scale(x: float, scale: str) -> float:
    if scale == "linear":
        return float(x)
    return math.log(x) if x > 0 else -math.inf


def _margin_on(margin, reason: str, scale: str = "linear") -> float:
    above = 1 if scale == "log" else 0
    margin = number("margin", margin, f"a number above {above}", above=above)
    _words("reason", reason)
    return math.log(margin) if scale == "log" else margin


def _words(name: str, value) -> str:
    if not isinstance(value, str) or not value.strip():
        raise ValueError(f"{name} is {value!r}: expected words")
    return value


def _amount(x: float, scale: str, unit: str) -> str:
    return f"a factor of {math.exp(x):.3g}" if scale == "log" else f"{x:.3g} {unit}".strip()


def _range(low: float, high: float) -> str:
    if math.isinf(high):
        return f"{low:g} or more"
    return f"{high:g} or less" if low in (0, -math.inf) else f"{low:g} to {high:g}"


def _sizes(size, scale: str, sign) -> tuple[float, float]:
    low, high = (_on_scale(x, scale) for x in size)
    if not (low < high and sign[0] <= low and high <= sign[1]):
        raise ValueError(
            f"size is {size!r}: expected (low, high) on the claimed side of no effect, or Measured"
        )
    return low, high


def _mean_of_printed(value: float, variance: float, n: int) -> Measured:
    variance = number("printed_variance", variance, "a variance above 0", above=0)
    n = count("printed_n", n, 2)
    return Measured(value, math.sqrt(variance / n), n - 1, n)


def _no_run_decides(ours: Effect, were_it: Callable[[float], str]) -> bool:
    """Is the outcome, ``were_it`` of a value, open for every value in the interval of ours?"""
    if not math.isfinite(ours.high - ours.low):
        return False
    return all(were_it(x) == OPEN for x in np.linspace(ours.low, ours.high, 101).tolist())


def _verdict(name, ours, found: Effect | None, outcome, note, unit="", n_trainings=None) -> Verdict:
    claim(name)
    values, intervals, alpha = (math.nan,) * 3, 0, ALPHA
    if found is not None:
        if outcome == OPEN and not note.startswith(TOO_ROUGH):
            least = "unknown, because repeats that are all equal show no error"
            if found.could_see < math.inf:
                least = _amount(found.could_see, found.scale, unit)
            note = f"smallest detectable effect: {least}" + (f"; {note}" if note else "")
        values, alpha, intervals = found[:3], found.alpha, int(found.low < found.high)
        if found.scale == "log":
            with np.errstate(over="ignore"):
                values = tuple(float(np.exp(x)) for x in values)
    if n_trainings is not None:
        n = count("n_trainings", n_trainings)
        if n > 1 and ours.n != n:
            raise ValueError(
                f"{name}: n_trainings is {n}, but ours is made of {ours.n:g} repeats: expected one "
                "number a training"
            )
        outcome, note = (OPEN, ONE_TRAINING) if n == 1 else (outcome, note)
    ours = shown(ours) if isinstance(ours, Measured) else ours
    return Verdict(name, outcome, ours, *values, unit, note, intervals, alpha)
