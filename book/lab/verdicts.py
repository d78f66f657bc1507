"""Verdicts, and how they are shown: a symbol and a word, numbers with their error, a table."""

from __future__ import annotations

import html
import math
from collections import Counter
from typing import NamedTuple

from .measured import ALPHA, Measured

REPRODUCED = "reproduced"
SIGN_ONLY = "reproduced in sign, size differs"
CONTRADICTED = "contradicted"
NOT_DECIDED = "not decided"
CEILING = "at the ceiling: cannot show"
DEPENDS = "depends on what is not stated"
ARGUED = "argued, not measured"
UNCHECKED = "cannot be checked"

# Outcome: symbol, class of its colour. They are always shown with the words.
SYMBOLS = {
    REPRODUCED: ("✔", "reproduced"),
    SIGN_ONLY: ("◐", "sign-only"),
    CONTRADICTED: ("✘", "contradicted"),
    NOT_DECIDED: ("?", "not-decided"),
    CEILING: ("⊤", "ceiling"),
    DEPENDS: ("⇄", "depends"),
    ARGUED: ("∴", "argued"),
    UNCHECKED: ("–", "unchecked"),
}
OUTCOMES = tuple(SYMBOLS)
_WORST_FIRST = (
    CONTRADICTED, UNCHECKED, DEPENDS, NOT_DECIDED, CEILING, ARGUED, SIGN_ONLY, REPRODUCED
)  # fmt: skip

ONE_TRAINING = "one training: another would give other numbers"
NO_RUN = "no run decides: what is printed is too rough"

MIME = "application/vnd.rbmlib.verdicts+json"


class Verdict(NamedTuple):
    """What the judge says of one claim. Ratios are ratios here, not logarithms."""

    name: str  # of the row of published/claims.csv
    source: str
    place: str
    claim: str
    paper: str  # printed number or words
    ours: str  # with its error
    effect: float  # what was judged: a difference, or a ratio; nan if nothing was measured
    low: float  # its interval, of level 1 - ALPHA
    high: float
    unit: str  # "nats", "s", ..., or "" for a pure number or a ratio
    outcome: str  # one of OUTCOMES
    note: str  # margin, power, or reason
    intervals: int  # of level 1 - ALPHA that it rests on: what it adds to the expected errors

    @property
    def decided(self) -> bool:
        return self.outcome in (REPRODUCED, SIGN_ONLY, CONTRADICTED, DEPENDS)

    @property
    def words(self) -> str:
        """Symbol and outcome, as plain text."""
        return f"{SYMBOLS[self.outcome][0]} {self.outcome}"


def together(cases: dict[str, Verdict], ours: str = "") -> Verdict:
    """One verdict of a claim that was judged on several models or settings, and must hold on all.

    Contradicted if any is; reproduced if all are, or in sign if none is worse; else not decided, or
    at the ceiling where that is all that is in the way.

    Parameters
    ----------
    cases : dict
        Verdicts of the same claim, by the name of the model or setting.
    ours : str, optional
        What was found, in words; by default what each case found.
    """
    every = list(cases.values())
    if len({v.name for v in every}) != 1:
        raise ValueError(f"cases are of {sorted({v.name for v in every})}: expected one claim")
    outcomes = {v.outcome for v in every}
    worst = next(outcome for outcome in _WORST_FIRST if outcome in outcomes)
    ours = ours or "; ".join(f"{case}: {_found(v)}" for case, v in cases.items())
    note = "; ".join(f"{case}: {v.outcome}" for case, v in cases.items() if len(outcomes) > 1)
    notes = list(dict.fromkeys(v.note for v in every if v.outcome == worst and v.note))
    return every[0]._replace(
        ours=ours,
        effect=math.nan,
        low=math.nan,
        high=math.nan,
        outcome=worst,
        note="; ".join([note] * bool(note) + notes),
        intervals=sum(v.intervals for v in every),
    )


def depends(
    setting: str, cases: dict[str, dict[str, Verdict]], n_trainings: int | None = None
) -> Verdict:
    """One verdict of a claim whose source does not state a setting on which it may depend.

    `DEPENDS` if there is a model on which the claim is reproduced, at least in sign, with one value
    of the setting and contradicted with another. One model shows that, whatever another training
    would give. Else the verdict of `together`, if it is the same with every value of the setting,
    and not decided if no single model shows the difference.

    Parameters
    ----------
    setting : str
        That is not stated ("the base").
    cases : dict
        Verdicts by the value of the setting, and for each by the name of the model; they are
        judged as claims about that model.
    n_trainings : int, optional
        For claims about training: one decides nothing but `DEPENDS`.
    """
    by_value = {value: together(models) for value, models in cases.items()}
    found = together(by_value)
    turns = [
        model
        for model in dict.fromkeys(m for models in cases.values() for m in models)
        if _turns({models[model].outcome for models in cases.values() if model in models})
    ]
    if turns:
        said = "; ".join(
            f"{value}: " + ", ".join(f"{v.outcome} on {m}" for m, v in models.items())
            for value, models in cases.items()
        )
        return found._replace(outcome=DEPENDS, note=f"{setting} decides: {said}")
    if n_trainings == 1:
        return found._replace(outcome=NOT_DECIDED, note=ONE_TRAINING)
    if len({v.outcome for v in by_value.values()}) > 1:
        said = [f"{value}: {v.outcome}" for value, v in by_value.items()]
        said += [v.note for v in by_value.values() if v.outcome == NOT_DECIDED]
        return found._replace(outcome=NOT_DECIDED, note="; ".join(dict.fromkeys(said)))
    return found


def _turns(outcomes: set[str]) -> bool:
    return CONTRADICTED in outcomes and bool(outcomes & {REPRODUCED, SIGN_ONLY})


def _found(v: Verdict) -> str:
    effect = in_brackets(v.effect, v.low, v.high)
    return f"{effect} {v.unit}".strip() if effect else v.ours


def with_error(value: float, error: float) -> str:
    """A value and its error: three significant digits of the error, as many of the value.

    Examples
    --------
    >>> with_error(226.113155, 0.021345)
    '226.1132 ± 0.0213'
    >>> with_error(0.5, 0.0)
    '0.5'
    """
    if not error > 0 or not math.isfinite(error):
        return f"{value:.7g}"
    decimals = min(6, max(0, 2 - math.floor(math.log10(error))))
    return f"{value:,.{decimals}f} ± {error:,.{decimals}f}"


def shown(m: Measured) -> str:
    """A measured number as text; a ratio with the factor of one standard error."""
    if m.scale == "linear":
        return with_error(m.value, m.std_error)
    if not m.std_error:
        return f"{math.exp(m.value):.4g}"
    return f"{math.exp(m.value):.3g} ×/÷ {math.exp(m.std_error):.3g}"


def in_brackets(effect: float, low: float, high: float) -> str:
    """An effect with its interval, all with the digits that its width allows.

    Examples
    --------
    >>> in_brackets(-0.1234567, -0.4567, 0.2098)
    '−0.123 [−0.457, 0.210]'
    >>> in_brackets(math.nan, math.nan, math.nan)
    ''
    """
    if math.isnan(effect):
        return ""
    halves = [abs(x - effect) for x in (low, high) if math.isfinite(x)]
    half = min(halves, default=0.0) if low < high else 0.0
    if not half > 0:
        return f"{effect:.4g}".replace("-", "−")
    decimals = min(8, max(0, 2 - math.floor(math.log10(half))))
    value, *ends = (f"{x:,.{decimals}f}".replace("-", "−") for x in (effect, low, high))
    return f"{value} [{ends[0]}, {ends[1]}]".replace("inf", "∞")


def verdict_cell(verdict: Verdict | str) -> str:
    """Symbol and outcome as HTML, of a verdict or outcome, for a cell of any (unescaped) table."""
    outcome = verdict.outcome if isinstance(verdict, Verdict) else verdict
    symbol, colour = SYMBOLS[outcome]
    return (
        f'<span class="verdict verdict-{colour}"><span class="verdict-symbol">{symbol}</span> '
        f"{outcome}</span>"
    )


def verdict_table(verdicts, beside=None) -> str:
    """An HTML table of verdicts: claim and place, paper, ours, effect, verdict.

    ``beside`` gives HTML that is put after the place, such as a link.
    """
    level = f"{100 * (1 - ALPHA):g}%"
    heads = ("claim", "paper", "ours", f"effect [{level} interval]", "verdict")
    head = "".join(f'<th scope="col">{h}</th>' for h in heads)
    rows = "\n".join(_row(v, beside(v) if beside else "") for v in verdicts)
    return (
        f'<table class="verdicts">\n<thead><tr>{head}</tr></thead>\n<tbody>\n{rows}\n</tbody>\n'
        "</table>"
    )


def anchor(name: str) -> str:
    """Where links find the row of a claim: scripts take a point in it for another selector."""
    return name.replace(".", "-")


def _row(v: Verdict, beside: str) -> str:
    effect = in_brackets(v.effect, v.low, v.high)
    cells = (
        f"{html.escape(v.claim)} {_note(f'{v.source}, {v.place}')} {beside}".rstrip(),
        html.escape(v.paper),
        html.escape(v.ours),
        html.escape(f"{effect} {v.unit}".strip()) if effect else "",
        f"{verdict_cell(v)} {_note(v.note)}".rstrip(),
    )
    labels = ("claim", "paper", "ours", "effect", "verdict")
    columns = "".join(f'<td data-label="{a}">{c}</td>' for a, c in zip(labels, cells, strict=True))
    return f'<tr id="{anchor(v.name)}">{columns}</tr>'


def _note(text: str) -> str:
    return f'<span class="verdict-note">{html.escape(text)}</span>' if text else ""


def as_json(verdict: Verdict) -> dict:
    """Fields of a verdict for JSON: six digits, and None for what is not finite."""
    return {key: _plain(value) for key, value in verdict._asdict().items()}


def from_json(fields: dict) -> Verdict:
    """The verdict again."""
    numbers = {k: math.nan for k in ("effect", "low", "high") if fields[k] is None}
    return Verdict(**{**fields, **numbers})


def _plain(value):
    if not isinstance(value, float):
        return value
    return float(f"{value:.6g}") if math.isfinite(value) else None


def show_verdicts(verdicts) -> None:
    """Display a table of verdicts, and keep them in the output for the page of all verdicts.

    Parameters
    ----------
    verdicts : iterable of Verdict, or of lists of them
        Each claim once.
    """
    from IPython.display import display

    every = flat(verdicts)
    twice = [name for name, n in Counter(v.name for v in every).items() if n > 1]
    if twice:
        raise ValueError(f"verdicts holds {', '.join(twice)} more than once: expected each once")
    plain = "\n".join(f"{v.name}: {v.words}" for v in every)
    bundle = {"text/plain": plain, "text/html": verdict_table(every), MIME: [*map(as_json, every)]}
    display(bundle, raw=True)


def flat(verdicts) -> list[Verdict]:
    """Verdicts and lists of verdicts as one list."""
    found: list[Verdict] = []
    for one in verdicts:
        if isinstance(one, Verdict):
            found.append(one)
        elif isinstance(one, (list, tuple)):
            found += flat(one)
        else:
            raise TypeError(f"verdicts holds a {type(one).__name__}: expected verdicts")
    return found
