"""Verdicts, their cards (one per claim), and the verdicts stored in notebooks."""

import html
import json
import math
from collections import Counter
from pathlib import Path
from typing import NamedTuple, Self

from . import tables
from .claims import claim, name_of, notebooks
from .measured import ALPHA, Measured

REPRODUCED = "reproduced"
DEPENDS = "depends"
CONTRADICTED = "contradicted"
OPEN = "open"
SYMBOLS = {REPRODUCED: "✔", DEPENDS: "⇄", CONTRADICTED: "✘", OPEN: "?"}  # shown with the word
OUTCOMES = tuple(SYMBOLS)

AT_SIGHT = 3  # most cases that a card shows outside its fold
LIMITS = ("margin", "smallest effect that matters", "claimed size", "allowed")  # of the notes

MIME = "application/vnd.rbmlib.verdict+json"


class Verdict(NamedTuple):
    """The verdict on one claim. Ratios are stored as ratios, not as logarithms."""

    name: str  # row of published/claims.csv
    outcome: str  # one of `OUTCOMES`
    ours: str  # our value with its error, or our result in words
    effect: float  # the judged difference or ratio; nan if nothing was measured
    low: float  # ends of its interval of level 1 - alpha
    high: float
    unit: str  # "nats", "s", ..., or "" for a pure number or a ratio
    note: str  # margin, power, what the claim depends on, or what would decide it
    intervals: int  # number of intervals behind the verdict, for the expected number of errors
    alpha: float = ALPHA
    words: str = ""  # the effect in words
    models: str = ""  # our models, in place of those of the source
    parts: tuple = ()  # cases of the claim: (name, effect or value, outcome, note)
    counts: dict | None = None  # cases by outcome, if `parts` does not have all cases

    def said(self, ours: str = "", words: str = "", models: str = "") -> Self:
        """The same verdict with our value, the effect in words, or our models."""
        given = {"ours": ours, "words": words, "models": models}
        return self._replace(**{key: text for key, text in given.items() if text})

    def if_open(self, note: str) -> Self:
        """The same verdict; if it is open, with a note on what would decide it."""
        return self._replace(note=note) if self.outcome == OPEN else self

    def priced(self, price: str) -> Self:
        """The same verdict; if it is open, what would decide it is added to its note."""
        return self.if_open(f"{self.note}; needed to decide: {price}".removeprefix("; "))


def together(cases: dict[str, Verdict], ours: str = "") -> Verdict:
    """One verdict on a claim that must hold in all of several cases.

    The outcome is the first of contradicted, open and depends that any case has, and reproduced if
    all cases are. ``ours`` is the result in words; by default, it lists the result of each case.
    """
    every = list(cases.values())
    if len({v.name for v in every}) != 1:
        raise ValueError(f"cases are of {sorted({v.name for v in every})}: expected one claim")
    order = (CONTRADICTED, OPEN, DEPENDS, REPRODUCED)
    worst = min((v.outcome for v in every), key=order.index)
    notes = {v.note for v in every if v.outcome == worst}
    found = [f"{case}: {_found(v)}" for case, v in cases.items() if _found(v)]
    parts = tuple(_part(case, v) for case, v in cases.items())
    return every[0]._replace(
        outcome=worst, ours=ours or ("; ".join(found) if len(cases) <= AT_SIGHT else ""),
        effect=math.nan, low=math.nan, high=math.nan, note=notes.pop() if len(notes) == 1 else "",
        intervals=sum(v.intervals for v in every), alpha=max(v.alpha for v in every), parts=parts,
        counts=None,
    )  # fmt: skip


def depends(setting: str, cases: dict[str, Verdict | dict[str, Verdict]]) -> Verdict:
    """One verdict on a claim that may depend on a setting which its source does not state.

    ``cases`` has verdicts by value of the setting, or by value and then by model. The outcome is
    `DEPENDS` if, on one model, the claim is reproduced with one value and contradicted with
    another. Otherwise, it is that of `together` if all values agree, and open if not.
    """
    by_model = {x: v if isinstance(v, dict) else {"": v} for x, v in cases.items()}
    by_value = {x: v if isinstance(v, Verdict) else together(v) for x, v in cases.items()}
    parts = tuple(
        _part(f"{value}, {model}".rstrip(", "), v)
        for value, models in by_model.items()
        for model, v in models.items()
    )
    found = together(by_value)._replace(parts=parts)
    seen = {(model, v.outcome) for models in by_model.values() for model, v in models.items()}
    if any((model, REPRODUCED) in seen and (model, CONTRADICTED) in seen for model, _ in seen):
        return found._replace(outcome=DEPENDS, note=f"on {setting}")
    outcomes = Counter(v.outcome for v in by_value.values())
    if len(outcomes) > 1:
        said = ", ".join(f"{n} {outcome}" for outcome, n in outcomes.items())
        return found._replace(outcome=OPEN, note=f"outcomes by reading: {said}")
    return found


def counted(parts: tuple) -> dict[str, int]:
    """Number of parts of a verdict with each outcome."""
    of = Counter(outcome for _, _, outcome, _ in parts)
    return {outcome: of[outcome] for outcome in OUTCOMES if of[outcome]}


def counts_in_words(v: Verdict) -> str:
    """Number of all cases of a verdict with each outcome, as text."""
    counts = v.counts or counted(v.parts)
    return ", ".join(f"{counts[x]} {x}" for x in OUTCOMES if x in counts)


def effect_in_words(v: Verdict) -> str:
    """The effect with its interval and its unit; "" if there is no number."""
    effect = in_brackets(v.effect, v.low, v.high)
    return f"{effect} {v.unit}".strip() if effect else ""


def by_case(cases: dict[str, Verdict], form: str = "{} for {}") -> str:
    """The effects of cases as text: "1.2 [1.1, 1.3] for AIS and 1.4 [1.2, 1.6] for RAISE"."""
    return tables.listed(form.format(effect_in_words(v), case) for case, v in cases.items())


def _found(v: Verdict) -> str:
    return effect_in_words(v) or v.ours


def _part(case: str, v: Verdict) -> tuple[str, str, str, str]:
    return case, _found(v), v.outcome, v.note


def with_error(value: float, error: float) -> str:
    """A value and its error with at most six decimals; an exact value with seven digits."""
    return tables.with_error(value, error, most=6) if 0 < error < math.inf else f"{value:.7g}"


def shown(m: Measured) -> str:
    """A measured number as text; for a ratio, the error is a factor."""
    if m.scale == "linear":
        return with_error(m.value, m.std_error)
    if not m.std_error:
        return f"{math.exp(m.value):.4g}"
    return f"{math.exp(m.value):.3g} ×/÷ {math.exp(m.std_error):.3g}"


def in_brackets(effect: float, low: float, high: float) -> str:
    """An effect with its interval, rounded by the width of the interval."""
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
    """Symbol and outcome as HTML, for a cell of an unescaped table."""
    outcome = verdict.outcome if isinstance(verdict, Verdict) else verdict
    return f'<span class="v-badge v-{outcome}">{SYMBOLS[outcome]} {outcome}</span>'


def card(v: Verdict) -> str:
    """HTML with the claim, our value, the effect in words and the verdict; the rest is folded."""
    row = claim(v.name)
    effect = effect_in_words(v)
    limit = _common_limit(v)
    each = "".join(f"<li>{html.escape(_in_words(*part, v.note, limit))}</li>" for part in v.parts)
    key, _, text = limit.partition(": ")
    level = f" [{1 - v.alpha:.1%} intervals]" if "[" in each else ""
    listed = ""
    if v.counts:
        n = sum(v.counts.values())
        listed = f"{len(v.parts)} of {n:,} cases are listed. All cases: {counts_in_words(v)}."
    folded = {
        "printed": html.escape(row.printed),
        "judged by": html.escape(row.measure),
        key: html.escape(text),
        f"effect [{1 - v.alpha:.1%} interval]": html.escape(effect if v.words else ""),
        f"case by case{level}": f"{listed}<ul>{each}</ul>" if each else "",
        "left open by the source": html.escape(row.open),
        "models": html.escape(v.models),
    }
    rows = "".join(f"<dt>{key}</dt><dd>{text}</dd>" for key, text in folded.items() if text)
    old = "".join(f'<span id="{name}"></span>' for name in row.old.split() if name != v.name)
    return (
        f'<div class="v-card v-{v.outcome}" id="{v.name}">{old}'
        f'<p class="v-claim">{html.escape(row.claim)} <span>{html.escape(row.place)}</span></p>'
        f'<p class="v-ours"><b>{html.escape(v.ours)}</b> {html.escape(v.words or effect)}</p>'
        f"<p>{verdict_cell(v)} {html.escape(v.note)}</p>"
        f"<details><summary>Details</summary><dl>{rows}</dl></details></div>"
    )


def _common_limit(v: Verdict) -> str:
    """The limit that several cases share, if no case has another one."""
    noted = Counter(x for *_, note in v.parts for x in note.split("; ") if x.startswith(LIMITS))
    return next(iter(noted)) if len(noted) == 1 < noted.total() and v.note not in noted else ""


def _in_words(case: str, found: str, outcome: str, note: str, of_all: str, limit: str) -> str:
    note = "; ".join(x for x in note.split("; ") if x != limit)
    join = " " if outcome == DEPENDS else "; "
    said = f"{outcome}{join}{note}" if note and note != of_all else outcome
    return f"{case}: {found} ({said})" if found else f"{case}: {said}"


def as_json(verdict: Verdict) -> dict:
    """Fields of a verdict for JSON: numbers have six digits, or are None if not finite."""

    def plain(x):
        if not isinstance(x, float):
            return x
        return float(f"{x:.6g}") if math.isfinite(x) else None

    return {key: plain(value) for key, value in verdict._asdict().items()}


def from_json(fields: dict) -> Verdict:
    numbers = {k: math.nan for k in ("effect", "low", "high") if fields[k] is None}
    return Verdict(**{**fields, **numbers, "parts": tuple(map(tuple, fields["parts"]))})


def show_verdicts(verdicts) -> None:
    """Display one card per claim, and store the verdicts in the output for the page of claims."""
    from IPython.display import display

    every = list(verdicts)
    twice = [name for name, n in Counter(v.name for v in every).items() if n > 1]
    if twice:
        raise ValueError(f"verdicts holds {', '.join(twice)} more than once: expected each once")
    plain = "\n".join(f"{v.name}: {v.outcome}" for v in every)
    cards = "\n".join(map(card, every))
    display({"text/plain": plain, "text/html": cards, MIME: [*map(as_json, every)]}, raw=True)


def verdicts_of(folder: Path) -> dict[str, tuple[Verdict, str]]:
    """Verdict and notebook by name of the claim; two verdicts on one claim are an error."""
    found = [
        (from_json(fields), name_of(path, folder))
        for path in notebooks(folder)
        for cell in json.loads(path.read_text(encoding="utf-8"))["cells"]
        for output in cell.get("outputs", [])
        for fields in output.get("data", {}).get(MIME, [])
    ]
    twice = {name for name, n in Counter(v.name for v, _ in found).items() if n > 1}
    if twice:
        places = ", ".join(f"{v.name} in {notebook}" for v, notebook in found if v.name in twice)
        raise ValueError(f"claims with more than one verdict: {places}")
    return {v.name: (v, notebook) for v, notebook in found}
