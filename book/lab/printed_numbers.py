"""Printed numbers against ours: a value, a variance, digits. A part of `rbmbook.judge`."""

from __future__ import annotations

import math

from scipy.special import fdtri, ndtri

from rbmlib.checks import count, number

from . import effects
from .claims import printed_number
from .effects import Effect
from .measured import ALPHA, POWER, exactly, mean_of
from .verdicts import CONTRADICTED, NO_RUN, NOT_DECIDED, REPRODUCED, Verdict

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
    outcome, said = effects.decided(effect, allowed, null, note, unit)

    def were_it(x: float) -> str:
        off = effects.effect_of(effects.between(exactly(x), spread))
        return effects.decided(off, allowed, null, "", unit)[0]

    if outcome == NOT_DECIDED and effects.no_run_decides(effects.effect_of(ours), were_it):
        said = f"{NO_RUN}; {note}"
    return effects.verdict_of(name, ours, effect, outcome, said, unit, n_trainings)


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
    ratio, see = math.log(ours / value), float(ndtri(1 - ALPHA / 2) + ndtri(POWER))
    if margin is None:
        allowed = see * math.sqrt(2 / freedom)
        # a printed 0.0001 may be rounded from half as much, or from half as much again
        null = math.log1p(-min(rounding / value, 1 - 1e-9)), math.log1p(rounding / value)
        note = f"margin: a factor of {math.exp(allowed):.3g}, what {printed_n} printed runs resolve"
    else:
        allowed = effects.margin_on(margin, reason, "log")
        null = -allowed, allowed
        note = f"margin: a factor of {margin:g}: {reason}"
    says_something = margin is not None or allowed < math.log(WIDEST)

    def of_ratio(x: float, own: float = 1e9, freedom: float = freedom) -> Effect:
        ends = (math.log(float(fdtri(own, freedom, p))) for p in (1 - ALPHA / 2, ALPHA / 2))
        low, high = (x - end for end in ends)
        return Effect(x, low, high, see * math.sqrt(2 / freedom + 2 / own), "log")

    def outcome_of(effect: Effect) -> str:
        if effect.within(-allowed, allowed) and says_something:
            return REPRODUCED
        return CONTRADICTED if effect.outside(*null) else NOT_DECIDED

    effect = of_ratio(ratio, own)
    outcome = outcome_of(effect)
    if outcome == NOT_DECIDED:
        alone = of_ratio(ratio, own, 1e9)  # as if what is printed had no error
        open_ = effects.no_run_decides(alone, lambda x: outcome_of(of_ratio(x)))
        note = f"{NO_RUN}; {note}" if open_ else effects.power_note(effect, note, "")
    text = f"variance {ours:.3g}" + ("" if own >= 1e9 else f" of {own + 1} runs")
    return effects.verdict_of(name, text, effect, outcome, note, "", None)


def digits(name: str, ours: float, unit: str = "nats") -> Verdict:
    """A printed number against one that is computed without error: equal to the printed digits?"""
    value, rounding = printed_number(name)
    ours = number("ours", ours, "a number")
    off = ours - value
    agree = abs(off) <= rounding * (1 + 1e-9)
    note = "to the printed digits" if agree else "other digits"
    found = Effect(off, off, off, 0.0, "linear")
    return effects.verdict_of(
        name, f"{ours:.8g}", found, REPRODUCED if agree else CONTRADICTED, note, unit, None
    )
