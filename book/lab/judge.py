"""The judge of the book: what our numbers say of a claim of one of the four sources.

A claim allows a region for an effect: above 0, between two sizes, within a margin of no
difference. Our repeats give an interval of the effect. Where the interval lies in the region, the
claim is reproduced; where it lies outside, contradicted, or reproduced in sign only; where it
overlaps both, the claim is not decided, and the verdict says what could have been seen. So a
verdict is false only if the interval misses the truth, which it does with a chance of at most
`ALPHA`, the same for every claim of the book. That two numbers "do not differ significantly" never
makes them alike: this needs an interval within a margin that is stated beforehand, with a reason.

**One training.** Where a source has not published its models, ours are other trainings of the same
kind. A claim about an estimator, a schedule or a sampler (which is better, whether it is flat or
stable) is judged on our models as they are, and the verdict names them. A number that is printed
of such a model, and a claim about training itself, belong to that training as well: they are
decided by the spread over several trainings (``n_trainings``), and by one they are not decided.
**Seconds.** "Less than" a time is judged on the machine that runs this; "about" a time of another
program cannot be checked. The rules are the same for all sources.

Every function takes the name of a row of ``data/published/claims.csv``, from which it has the
words, the source, the place and the printed number, and our numbers: a list of independent repeats,
or a `Measured` that `rbmbook.measured` makes of them.
"""

from __future__ import annotations

import math

import numpy as np
from scipy.special import fdtri, ndtri

from rbmlib.checks import count, number

from . import effects
from .claims import claim, printed_number
from .effects import SIGNS, Effect
from .measured import ALPHA, POWER, Measured, exactly, mean_of, trained
from .verdicts import (
    ARGUED,
    CEILING,
    CONTRADICTED,
    NOT_DECIDED,
    ONE_TRAINING,
    REPRODUCED,
    SIGN_ONLY,
    UNCHECKED,
    Verdict,
    shown,
)

WIDEST = 10.0  # factor of a variance beyond which no agreement is said


def printed_value(
    name: str,
    ours,
    *,
    printed_error: float | None = None,
    printed_variance: float | None = None,
    printed_n: int | None = None,
    margin: float | None = None,
    reason: str = "",
    unit: str = "nats",
    n_trainings: int | None = None,
) -> Verdict:
    """A printed number against ours: the effect is ours minus printed.

    Without a margin it is taken from the printed spread alone: the smallest difference that the
    printed number could have been told from, with a chance of `POWER`, had ours no error (4.6
    printed standard errors, 5.2 for 20 runs), and half a unit of the last printed digit. The claim
    is then contradicted if the interval leaves out 0, and reproduced if it lies within the margin.
    With a margin it is contradicted only if all of the interval lies beyond the margin. A spread
    of the printed number counts in the interval in either case: if it is wide, no number of runs of
    ours decides.

    Parameters
    ----------
    name : str
        Of the claim; its printed number is read from the list of claims.
    ours : repeats or Measured
    printed_error : float, optional
        Standard error of the printed number.
    printed_variance, printed_n : float and int, optional
        Or the variance of the printed runs, and their number.
    margin, reason : float and str, optional
        A difference that would not matter, and why, decided before the runs were looked at.
    n_trainings : int, optional
        For claims about training: how many models were trained. One decides nothing.
    """
    value, rounding = printed_number(name)
    spread = effects.printed_spread(value, printed_error, printed_variance, printed_n)
    ours = effects.linear("ours", ours)
    if margin is None:
        if spread is None:
            raise ValueError(
                f"{name}: the printed number has no spread (printed_error, or printed_variance "
                "and printed_n): expected a margin, with its reason"
            )
        allowed, null = spread.could_see() + rounding, rounding
        note = f"margin ±{allowed:.3g}: what the printed spread resolves"
    else:
        allowed = null = effects.margin_on(margin, reason) + rounding
        note = f"margin ±{margin:g}: {reason}"
    spread = spread or exactly(value)
    effect = effects.effect_of(effects.between(ours, spread))
    outcome, note = _decided(effect, allowed, null, note, unit)
    return _verdict(name, ours, effect, outcome, note, unit, n_trainings)


def _decided(effect, allowed: float, null: float, note: str, unit: str) -> tuple[str, str]:
    if effect.within(-allowed, allowed):
        return REPRODUCED, note
    if effect.outside(-null, null):
        return CONTRADICTED, note
    return NOT_DECIDED, effects.power_note(effect, note, unit)


def printed_variance(
    name: str,
    ours,
    *,
    printed_n: int,
    n: float | None = None,
    margin: float | None = None,
    reason: str = "",
) -> Verdict:
    """A printed variance of normal values against ours: the effect is ours over printed (F).

    Without a margin, the factor is taken that the printed number of runs could have shown with a
    chance of `POWER`, had ours no error. If that is more than `WIDEST`, they are too few for
    agreement with them to say anything.

    Parameters
    ----------
    ours : repeats, or float with ``n``
        Our values, or the variance of ``n`` of them (infinity if it is computed, not sampled).
    printed_n : int
        Number of the printed runs.
    margin, reason : float and str, optional
        A factor above 1 that would not matter, and why.
    """
    value, rounding = printed_number(name)
    number("printed", value, "a variance above 0", above=0)
    freedom = count("printed_n", printed_n, 2) - 1
    if n is None:
        sample = mean_of(ours)
        ours, n = sample.std_error**2 * sample.n, int(sample.n)
    ours = number("ours", ours, "a variance above 0, or repeats", above=0)
    own = 1e9 if n == math.inf else count("n", n, 2) - 1
    centre = math.log(ours / value)
    low, high = (
        centre - math.log(float(fdtri(own, freedom, p))) for p in (1 - ALPHA / 2, ALPHA / 2)
    )
    sd = math.sqrt(2 / freedom + 2 / own)
    see = float(ndtri(1 - ALPHA / 2) + ndtri(POWER))
    effect = Effect(centre, low, high, see * sd, "log")
    if margin is None:
        allowed = see * math.sqrt(2 / freedom)
        # a printed 0.0001 may be rounded from half as much, or from half as much again
        null = math.log1p(-min(rounding / value, 1 - 1e-9)), math.log1p(rounding / value)
        note = f"margin: a factor of {math.exp(allowed):.3g}, what {printed_n} printed runs resolve"
    else:
        allowed = effects.margin_on(margin, reason, "log")
        null = -allowed, allowed
        note = f"margin: a factor of {margin:g}: {reason}"
    if effect.within(-allowed, allowed) and (margin is not None or allowed < math.log(WIDEST)):
        outcome = REPRODUCED
    elif effect.outside(*null):
        outcome = CONTRADICTED
    else:
        outcome, note = NOT_DECIDED, effects.power_note(effect, note, "")
    text = f"variance {ours:.3g}" + ("" if own >= 1e9 else f" of {own + 1} runs")
    return _verdict(name, text, effect, outcome, note, "", None)


def effect(
    name: str,
    ours,
    *,
    direction: int,
    size: tuple[float, float] | Measured | None = None,
    ceiling: tuple[float, float] | None = None,
    unit: str = "",
    n_trainings: int | None = None,
) -> Verdict:
    """A claimed direction, with a claimed size or without.

    Parameters
    ----------
    ours : repeats or Measured
        Of the effect: differences, or a ratio (`ratio`, `rmse_ratio`), which is above 1 for
        ``direction`` +1.
    direction : {+1, -1}
        Claimed sign.
    size : (low, high), or Measured, optional
        What the claim allows ("a tenth": (0.05, 0.2); "more than twofold": (2, inf)), or the
        printed effect with its error, whose margin is then as in `printed_value`.
    ceiling : (baseline, limit), optional
        What the effect starts from, and the largest (or smallest) value that there is: an ESS of
        980 of 1,000 leaves no room for a gain of 1.5. Where the claimed size, or what could have
        been seen, is more than the room, nothing but a reproduction or the opposite sign is said.
    """
    if direction not in SIGNS:
        raise ValueError(f"direction is {direction!r}: expected +1 or -1")
    ours = effects.as_measured(ours)
    found, sign = effects.effect_of(ours), SIGNS[direction]
    outcome, note, least = _sized(name, ours, found, sign, size)
    if outcome == NOT_DECIDED:
        note = effects.power_note(found, note, unit)
    if ceiling is not None and outcome in (SIGN_ONLY, NOT_DECIDED, CONTRADICTED):
        room = effects.room_of(ceiling, ours.scale, direction)
        wanted = least if least is not None else found.could_see
        if room < wanted and not found.outside(*sign):
            outcome, note = CEILING, f"room for {effects.amount(room, ours.scale)}"
    verdict = _verdict(name, ours, found, outcome, note, unit, n_trainings)
    return verdict._replace(intervals=2) if isinstance(size, Measured) else verdict


def equivalence(
    name: str,
    ours,
    *,
    margin: float,
    reason: str,
    unit: str = "",
    n_trainings: int | None = None,
) -> Verdict:
    """ "Flat", "alike", "no gain": no effect larger than a margin, stated with its reason.

    Parameters
    ----------
    ours : repeats or Measured
        Of the effect: differences, or a ratio.
    margin : float
        The largest effect that would not matter: a difference, or for a ratio a factor above 1.
    """
    ours = effects.as_measured(ours)
    allowed = effects.margin_on(margin, reason, ours.scale)
    found = effects.effect_of(ours)
    prefix = "a factor of " if ours.scale == "log" else "±"
    note = f"margin {prefix}{margin:g}: {reason}"
    outcome, note = _decided(found, allowed, allowed, note, unit)
    return _verdict(name, ours, found, outcome, note, unit, n_trainings)


def bound(
    name: str,
    ours,
    *,
    at_least: float = -math.inf,
    at_most: float = math.inf,
    unit: str = "",
    n_trainings: int | None = None,
) -> Verdict:
    """A claimed bound: "within a second", "at least a tenth", "between 0.484 and 0.497"."""
    ours = effects.as_measured(ours)
    if not at_least < at_most or at_least == -at_most == -math.inf:
        raise ValueError(f"at_least is {at_least}, at_most {at_most}: expected one, or an interval")
    found = effects.effect_of(ours)
    region = tuple(effects.on_scale(x, ours.scale) for x in (at_least, at_most))
    if found.within(*region):
        outcome, note = REPRODUCED, ""
    elif found.outside(*region):
        outcome, note = CONTRADICTED, ""
    else:
        outcome, note = NOT_DECIDED, effects.power_note(found, "", unit)
    return _verdict(name, ours, found, outcome, note, unit, n_trainings)


def digits(name: str, ours: float, unit: str = "nats") -> Verdict:
    """A printed number against one that is computed without error: equal to the printed digits?"""
    value, rounding = printed_number(name)
    ours = number("ours", ours, "a number")
    off = ours - value
    agree = abs(off) <= rounding * (1 + 1e-9)
    note = "to the printed digits" if agree else "other digits"
    found = Effect(off, off, off, 0.0, "linear")
    return _verdict(
        name, f"{ours:.8g}", found, REPRODUCED if agree else CONTRADICTED, note, unit, None
    )


def statement(name: str, holds: bool, *, ours: str, reason: str) -> Verdict:
    """A claim that needs no statistics: an inequality, an exact computation, a count.

    Never for a number with an error: that is for the functions above. ``holds`` comes out of the
    computation, so that another result gives another verdict; where nothing is computed, the claim
    is `argued`.

    ``reason`` says in a clause why it holds, or does not ("above a bound that is proved").
    """
    if not isinstance(holds, (bool, np.bool_)):
        raise ValueError(f"holds is {holds!r}: expected True or False")
    outcome = REPRODUCED if holds else CONTRADICTED
    return _verdict(
        name, effects.words("ours", ours), None, outcome, effects.words("reason", reason), "", None
    )


def argued(name: str, holds: bool, proof: str) -> Verdict:
    """A claim that a proof decides and no run can: a class of its own.

    Parameters
    ----------
    holds : bool
        What is proved: that it holds, or that it does not.
    proof : str
        One paragraph, which a reader can follow without the code: 20 words or more.
    """
    if len(effects.words("proof", proof).split()) < 20:
        raise ValueError(f"proof is {proof!r}: expected a paragraph of 20 words or more")
    ours = "it holds, by the proof" if holds else "it does not hold, by the proof"
    return _verdict(name, ours, None, ARGUED, proof, "", None)


def unchecked(names: str | list[str], reason: str) -> list[Verdict]:
    """Claims that cannot be checked, all for the same reason ("the models are not published")."""
    every = [names] if isinstance(names, str) else list(names)
    return [
        _verdict(n, "", None, UNCHECKED, effects.words("reason", reason), "", None) for n in every
    ]


def _sized(name, ours, found, sign, size):
    """Outcome, note and smallest claimed size (on the scale), for a direction and a size."""
    inside = found.within(*sign)
    if size is None:
        outcome = REPRODUCED if inside else CONTRADICTED if found.outside(*sign) else NOT_DECIDED
        return outcome, "", None
    if isinstance(size, Measured):
        if size.scale != ours.scale:
            raise ValueError(f"{name}: size is on the scale {size.scale!r}, ours {ours.scale!r}")
        against = effects.effect_of(effects.between(ours, size))
        margin = size.could_see()
        fits, differs = against.within(-margin, margin), against.outside(0.0, 0.0)
        note, least = f"claimed size {shown(size)}", abs(size.value)
    else:
        region = effects.sizes(size, ours.scale, sign)
        fits, differs = found.within(*region), found.outside(*region)
        note, least = f"claimed size {size[0]:g} to {size[1]:g}", min(map(abs, region))
    if found.outside(*sign):
        return CONTRADICTED, note, least
    if differs:
        return (SIGN_ONLY if inside else CONTRADICTED), note, least
    if fits and inside:
        return REPRODUCED, note, least
    return NOT_DECIDED, f"{note}; the sign is as claimed" if inside else note, least


def _verdict(name, ours, found: Effect | None, outcome, note, unit, n_trainings) -> Verdict:
    row = claim(name)
    if isinstance(ours, Measured) and trained(name, ours, n_trainings) == 1:
        outcome, note = NOT_DECIDED, ONE_TRAINING
    values, intervals = (math.nan,) * 3, 0
    if found is not None:
        values = effects.back(found.value, found.low, found.high, found.scale)
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
