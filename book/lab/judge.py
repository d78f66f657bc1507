"""The judge of the book: verdicts of our numbers on the claims of the four sources.

A claim allows a region for an effect: above 0, between two sizes, or within a margin around no
difference. Our repeats give an interval of the effect. The claim is reproduced if the interval lies
in the region, contradicted if it lies outside, and open if it overlaps both. An open verdict states
the smallest detectable effect. A verdict is false only if the interval misses the truth,
with a probability of at most ``alpha``. Two numbers count as alike if the interval lies within a
margin that is stated beforehand, with a reason.

**Not stated.** We vary what the source leaves open. If the outcome changes with it, the claim
*depends* on it (`depends`).
**Few training runs.** A claim about training must hold for other training runs. The spread over
several runs (``n_trainings``) decides, at ``alpha=FEW`` if there are few; one run leaves it open.

Every function takes the name of a row of ``data/published/claims.csv`` and our numbers, which are a
list of independent repeats or a `Measured` from `rbmbook.measured`.
"""

import math
from collections.abc import Callable
from typing import NamedTuple, Self

import numpy as np
from scipy.special import fdtri, ndtri

from rbmlib.checks import count, number

from . import tables
from .claims import claim, printed_number
from .measured import ALPHA, POWER, Measured, exactly, mean_of, minus
from .verdicts import CONTRADICTED, OPEN, REPRODUCED, Verdict, shown

SIZE_DIFFERS = "size differs"
ONE_TRAINING = "there is only one training run, and another would give other numbers"
TOO_ROUGH = "further runs cannot decide, because the printed number is too uncertain"
SIGNS = {1: (0.0, math.inf), -1: (-math.inf, 0.0)}
WIDEST = 10.0  # a margin of a variance above this factor shows no agreement


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
        """Reproduced within the region; contradicted outside the region, or ±``null`` if given."""
        if self.within(low, high):
            return REPRODUCED
        away = self.outside(low, high) if null is None else self.outside(-null, null)
        return CONTRADICTED if away else OPEN


def effect(
    name: str, ours, *, direction: int, size: tuple[float, float] | None = None,
    matters: float | None = None, reason: str = "", unit: str = "",
    n_trainings: int | None = None, alpha: float = ALPHA,
) -> Verdict:  # fmt: skip
    """A claimed direction (+1 or -1) of a difference or a ratio, with or without a claimed size.

    ``size`` is the range that the claim allows: (0.05, 0.2) for "a tenth", (2, inf) for "more than
    twofold". An effect with the claimed sign but another size is reproduced, with a note.
    ``matters`` is the smallest effect that matters, a difference above 0 or a factor above 1, which
    is stated beforehand. The verdict quotes its ``reason`` after it ("..., a fifth fewer sweeps").
    An interval that includes no effect and lies below this one contradicts the claim.
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
    """A claim of no effect ("flat", "alike", "no gain"), judged with a margin and its reason.

    The margin is a difference or, for a ratio, a factor above 1.
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

    ``least`` is the smallest possible value of the effect, such as 0 for the size of an error. The
    interval is cut at this value, which changes no outcome.
    """
    ours = _as_measured(ours)
    if not at_least < at_most or at_least == -at_most == -math.inf:
        raise ValueError(f"at_least is {at_least}, at_most {at_most}: expected one, or an interval")
    found = _effect_of(ours, alpha)
    found = found._replace(low=max(found.low, _on_scale(least, ours.scale)))
    outcome = found.in_region(*(_on_scale(x, ours.scale) for x in (at_least, at_most)))
    return _verdict(name, ours, found, outcome, "", unit, n_trainings)


class Comparison(NamedTuple):
    """The result of `compare`: whether it holds everywhere, and its words."""

    holds: bool
    words: str

    def __and__(self, other: Self) -> Self:
        return Comparison(self.holds and other.holds, f"{self.words}; {other.words}")


def compare(a, sign: str, b) -> Comparison:
    """Compare numbers or arrays element by element, for `statement`; "==" ignores rounding.

    At least one side must be computed. A comparison with nan does not hold.
    """
    signs = {
        "<": np.less, "<=": np.less_equal, ">": np.greater, ">=": np.greater_equal,
        "==": lambda x, y: np.isclose(x, y, rtol=1e-9, atol=0),
    }  # fmt: skip
    if sign not in signs:
        raise ValueError(f"sign is {sign!r}: expected one of {', '.join(signs)}")
    x, y = np.asarray(a, dtype=float), np.asarray(b, dtype=float)
    if not x.size or not y.size:
        raise ValueError("a or b is empty: expected numbers, or any comparison would hold")
    said = [tables.span((v.min(), v.max()), "{:.4g}".format) for v in (x, y)]
    return Comparison(bool(signs[sign](x, y).all()), f" {sign} ".join(said))


def statement(name: str, holds: Comparison, *, reason: str, ours: str = "") -> Verdict:
    """A claim that needs no statistics: an inequality, an exact computation or a count.

    ``holds`` is the result of `compare`, or several results joined by ``&``. ``reason`` is a clause
    that says why the claim holds or fails.
    """
    if not isinstance(holds, Comparison):
        raise TypeError(f"holds is a {type(holds).__name__}: expected what judge.compare gives")
    outcome = REPRODUCED if holds.holds else CONTRADICTED
    return _verdict(name, ours or holds.words, None, outcome, _words("reason", reason))


def left_open(name: str, why: str, *, ours: str = "") -> Verdict:
    """An undecided claim; ``why`` says why, or what would decide it."""
    return _verdict(name, ours, None, OPEN, _words("why", why))


def printed_value(
    name: str, ours, *, printed: str | float | None = None, printed_error: float | None = None,
    printed_variance: float | None = None, printed_n: int | None = None, unit: str = "nats",
) -> Verdict:  # fmt: skip
    """Our value against a printed number: the effect is ours minus printed.

    The claim is reproduced if the interval lies within a margin. Otherwise, it is contradicted if
    the interval excludes 0. The margin comes from the printed spread. For a mean of ``printed_n``
    runs with a printed variance, it is the smallest difference that equally many other runs would
    detect with probability `POWER` (6.9 printed standard errors for 20 runs). With a smaller
    margin, 20 runs could never agree with 20 others. For a printed standard error, it is the
    smallest difference that this error resolves (4.6 standard errors). Half a unit of the last
    printed digit is added. The interval includes the printed spread. If this spread is wide, no
    number of our runs decides.

    ``printed`` is the number as printed ("10.00"), by default that of the claim.
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

    def judged(x: Measured) -> tuple[Effect, str]:
        found = _effect_of(minus(x, spread))
        return found, found.in_region(-allowed, allowed, rounding)

    found, outcome = judged(ours)
    note = _rough(outcome, _effect_of(ours), lambda x: judged(exactly(x))[1]) + note
    return _verdict(name, ours, found, outcome, note, unit)


def printed_variance(
    name: str, ours, *, printed_n: int, printed: str | float | None = None, n: float | None = None
) -> Verdict:
    """Our variance against a printed variance of normal values: the effect is their ratio (F).

    The margin is the smallest factor that equally many other runs would detect with probability
    `POWER`. If it exceeds `WIDEST`, the printed runs are too few to show agreement.

    ``ours`` has repeats, or is the variance of ``n`` repeats (infinity if it is computed).
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
    # a printed 0.0001 may be rounded from 0.00005 or from 0.00015
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
    alone = of_ratio(found.value, own, 1e9)  # as if the printed value had no error
    note = _rough(outcome, alone, lambda x: outcome_of(of_ratio(x))) + note
    text = f"variance {ours:.3g}" + ("" if own >= 1e9 else f" of {own + 1} runs")
    return _verdict(name, text, found, outcome, note)


def digits(name: str, ours: float, printed: str | float | None = None) -> Verdict:
    """Does a number computed without error agree with the printed digits?"""
    value, rounding = printed_number(name, printed)
    off = number("ours", ours, "a number") - value
    agree = abs(off) <= rounding * (1 + 1e-9)
    note = "agrees to the printed digits" if agree else "differs in the printed digits"
    found = Effect(off, off, off, 0.0, "linear", ALPHA)
    return _verdict(name, f"{ours:.8g}", found, REPRODUCED if agree else CONTRADICTED, note, "nats")


def each(judged, name: str, cases: dict, label: str = "{}", **how) -> dict[str, Verdict]:
    """Verdicts on all cases by one function; ``label`` formats their names."""
    return {label.format(case): judged(name, found, **how) for case, found in cases.items()}


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


def _rough(outcome: str, ours: Effect, were_it: Callable[[float], str]) -> str:
    """`TOO_ROUGH` if ``were_it(value)`` is open, too, for every value in our interval."""
    if outcome != OPEN or not math.isfinite(ours.high - ours.low):
        return ""
    values = np.linspace(ours.low, ours.high, 101).tolist()
    return f"{TOO_ROUGH}; " if all(were_it(x) == OPEN for x in values) else ""


def _verdict(name, ours, found: Effect | None, outcome, note, unit="", n_trainings=None) -> Verdict:
    claim(name)
    values, intervals, alpha = (math.nan,) * 3, 0, ALPHA
    if found is not None:
        if outcome == OPEN and not note.startswith(TOO_ROUGH):
            least = "unknown, because equal repeats show no error"
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
                f"{name}: n_trainings is {n}, but ours has {ours.n:g} repeats: expected one "
                "number per training run"
            )
        outcome, note = (OPEN, ONE_TRAINING) if n == 1 else (outcome, note)
    ours = shown(ours) if isinstance(ours, Measured) else ours
    return Verdict(name, outcome, ours, *values, unit, note, intervals, alpha)
