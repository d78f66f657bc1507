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
Where neither the settings of a training nor their ranges are printed, no training of ours is of its
kind, and a number that is printed of it cannot be checked (`of_unknown_kind`).
**Seconds.** "Less than" a time is judged on the machine that runs this; "about" a time of another
program cannot be checked. The rules are the same for all sources.

Every function takes the name of a row of ``data/published/claims.csv``, from which it has the
words, the source, the place and the printed number, and our numbers: a list of independent repeats,
or a `Measured` that `rbmbook.measured` makes of them.
"""

from __future__ import annotations

import math
from functools import partial

import numpy as np

from . import effects
from .effects import SIGNS
from .measured import Measured
from .printed_numbers import digits, printed_value, printed_variance
from .verdicts import (
    ARGUED,
    CEILING,
    CONTRADICTED,
    NO_RUN,
    NOT_DECIDED,
    REPRODUCED,
    SIGN_ONLY,
    UNCHECKED,
    Verdict,
    shown,
)

__all__ = [
    "argued",
    "bound",
    "digits",
    "effect",
    "equivalence",
    "of_unknown_kind",
    "printed_value",
    "printed_variance",
    "statement",
    "unchecked",
]


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
        were_it = partial(_outcome_without_error, name, ours, sign, size)
        printed = isinstance(size, Measured) and effects.no_run_decides(found, were_it)
        note = f"{NO_RUN}; {note}" if printed else effects.power_note(found, note, unit)
    if ceiling is not None and outcome in (SIGN_ONLY, NOT_DECIDED, CONTRADICTED):
        room = effects.room_of(ceiling, ours.scale, direction)
        wanted = least if least is not None else found.could_see
        if room < wanted and not found.outside(*sign):
            outcome, note = CEILING, f"room for {effects.amount(room, ours.scale)}"
    verdict = effects.verdict_of(name, ours, found, outcome, note, unit, n_trainings)
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
    outcome, note = effects.decided(found, allowed, allowed, note, unit)
    return effects.verdict_of(name, ours, found, outcome, note, unit, n_trainings)


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
    return effects.verdict_of(name, ours, found, outcome, note, unit, n_trainings)


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
    return effects.verdict_of(
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
    return effects.verdict_of(name, ours, None, ARGUED, proof, "", None)


def unchecked(names: str | list[str], reason: str) -> list[Verdict]:
    """Claims that cannot be checked, all for the same reason ("the models are not published")."""
    every = [names] if isinstance(names, str) else list(names)
    return [
        effects.verdict_of(n, "", None, UNCHECKED, effects.words("reason", reason), "", None)
        for n in every
    ]


def _outcome_without_error(name, ours: Measured, sign, size, x: float) -> str:
    known = ours._replace(value=x, std_error=0.0, freedom=math.inf)
    return _sized(name, known, effects.effect_of(known), sign, size)[0]


def of_unknown_kind(verdict: Verdict, reason: str) -> Verdict:
    """A verdict that one training leaves open, if the settings of the source's are not printed.

    No training of ours is then known to be of its kind, and no number of them decides: the claim
    cannot be checked. What we found stays beside it. Other verdicts are left as they are.
    """
    if verdict.outcome != NOT_DECIDED:
        return verdict
    return verdict._replace(outcome=UNCHECKED, note=effects.words("reason", reason))


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
