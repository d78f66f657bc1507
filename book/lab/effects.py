"""An effect on its scale: its interval, the regions of a claim, what could be seen, the outcome."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from rbmlib.checks import count, number

from .claims import claim
from .measured import Measured, mean_of, trained, welch_freedom
from .verdicts import CONTRADICTED, NOT_DECIDED, ONE_TRAINING, REPRODUCED, Verdict, shown

SIGNS = {1: (0.0, math.inf), -1: (-math.inf, 0.0)}


class Effect(NamedTuple):
    """An effect with its interval and what could have been seen, on its scale."""

    value: float
    low: float
    high: float
    could_see: float
    scale: str

    def within(self, low: float, high: float) -> bool:
        return low < self.low and self.high < high

    def outside(self, low: float, high: float) -> bool:
        return self.high < low or high < self.low


def effect_of(m: Measured) -> Effect:
    return Effect(m.value, *m.interval(), m.could_see(), m.scale)


def as_measured(ours) -> Measured:
    return ours if isinstance(ours, Measured) else mean_of(ours)


def linear(name: str, ours) -> Measured:
    m = as_measured(ours)
    if m.scale != "linear":
        raise ValueError(f"{name} is a ratio: expected repeats, or Measured on the scale 'linear'")
    return m


def on_scale(x: float, scale: str) -> float:
    if scale == "linear":
        return float(x)
    return math.log(x) if x > 0 else -math.inf


def back(value: float, low: float, high: float, scale: str) -> tuple[float, float, float]:
    if scale == "linear":
        return value, low, high
    with np.errstate(over="ignore"):
        return float(np.exp(value)), float(np.exp(low)), float(np.exp(high))


def margin_on(margin, reason: str, scale: str = "linear") -> float:
    above = 1 if scale == "log" else 0
    margin = number("margin", margin, f"a number above {above}", above=above)
    words("reason", reason)
    return math.log(margin) if scale == "log" else margin


def words(name: str, value) -> str:
    if not isinstance(value, str) or not value.strip():
        raise ValueError(f"{name} is {value!r}: expected words")
    return value


def amount(x: float, scale: str) -> str:
    return f"a factor of {math.exp(x):.3g}" if scale == "log" else f"{x:.3g}"


def power_note(found: Effect, note: str, unit: str) -> str:
    if found.could_see == math.inf:
        return "power: none, as repeats that are all equal show no error" + f"; {note}" * bool(note)
    seen = f"{amount(found.could_see, found.scale)} {unit}".strip()
    return f"power: an effect of {seen} would have been seen" + (f"; {note}" if note else "")


def sizes(size, scale: str, sign) -> tuple[float, float]:
    try:
        low, high = (on_scale(x, scale) for x in size)
    except (TypeError, ValueError):
        low, high = math.nan, math.nan
    if not (low < high and sign[0] <= low and high <= sign[1]):
        raise ValueError(
            f"size is {size!r}: expected (low, high) on the claimed side of no effect, or Measured"
        )
    return low, high


def room_of(ceiling, scale: str, direction: int) -> float:
    try:
        baseline, limit = (on_scale(x, scale) for x in ceiling)
    except (TypeError, ValueError):
        baseline, limit = math.nan, math.nan
    room = direction * (limit - baseline)
    if not room >= 0:
        raise ValueError(
            f"ceiling is {ceiling!r}: expected (baseline, limit), the limit further on in the "
            "claimed direction"
        )
    return room


def printed_spread(value, error, variance, n) -> Measured | None:
    if error is not None:
        if variance is not None or n is not None:
            raise ValueError("printed_error excludes printed_variance and printed_n")
        error = number("printed_error", error, "a standard error above 0", above=0)
        return Measured(value, error, math.inf, math.inf)
    if variance is None and n is None:
        return None
    if variance is None or n is None:
        raise ValueError(
            f"printed_variance is {variance} and printed_n {n}: expected both or neither"
        )
    variance = number("printed_variance", variance, "a variance above 0", above=0)
    n = count("printed_n", n, 2)
    return Measured(value, math.sqrt(variance / n), n - 1, n)


def between(ours: Measured, printed: Measured) -> Measured:
    error = math.hypot(ours.std_error, printed.std_error)
    freedom = welch_freedom(ours, printed)
    return Measured(ours.value - printed.value, error, freedom, ours.n, ours.scale)


def no_run_decides(ours: Effect, were_it: Callable[[float], str]) -> bool:
    """Is the outcome open for every value in the interval of ours, had that no error?

    ``were_it`` gives the outcome for a value without error.
    """
    if not math.isfinite(ours.high - ours.low):
        return False
    return all(were_it(x) == NOT_DECIDED for x in np.linspace(ours.low, ours.high, 101).tolist())


def decided(effect, allowed: float, null: float, note: str, unit: str) -> tuple[str, str]:
    if effect.within(-allowed, allowed):
        return REPRODUCED, note
    if effect.outside(-null, null):
        return CONTRADICTED, note
    return NOT_DECIDED, power_note(effect, note, unit)


def verdict_of(name, ours, found: Effect | None, outcome, note, unit, n_trainings) -> Verdict:
    row = claim(name)
    if isinstance(ours, Measured) and trained(name, ours, n_trainings) == 1:
        outcome, note = NOT_DECIDED, ONE_TRAINING
    values, intervals = (math.nan,) * 3, 0
    if found is not None:
        values = back(found.value, found.low, found.high, found.scale)
        intervals = int(found.low < found.high)
    return Verdict(
        row.name,
        row.source,
        row.place,
        row.claim,
        row.printed,
        shown(ours) if isinstance(ours, Measured) else ours,
        *values,
        unit,
        outcome,
        note,
        intervals,
    )
