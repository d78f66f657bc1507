"""What the Check page says of one claim: compared, printed, ours, interval, reason, code."""

from __future__ import annotations

import html
import math
import re
from collections.abc import Sequence

from check_numbers import (
    Interval,
    cases,
    for_people,
    is_ratio,
    margin,
    our_ess,
    printed,
    printed_number,
    with_two_digits,
    without_powers,
)

from rbmbook import load_reference
from rbmbook.claims import claims
from rbmbook.verdicts import SYMBOLS, Verdict, anchor

LEFT, RIGHT, NAMED, ROW = 8, 312, 84, 22  # of a picture, in its own units


def entry(verdict: Verdict, chapter: str, same: Sequence[str] = ()) -> str:
    """HTML of one claim; ``same``: claims that the same measurement of ours meets."""
    symbol, kind = SYMBOLS[verdict.outcome]
    name, claim = anchor(verdict.name), claims()[verdict.name]
    ours, picture = _ours(verdict)
    rows = {
        "compared": html.escape(claim.effect or verdict.claim),
        "printed": f"<b>{printed(html.escape(verdict.paper))}</b>",
        "ours": ours,
        "judged by": _factors(verdict),
        "why": html.escape(_reason(verdict)),
    }
    if claim.effect and claim.effect != verdict.claim:
        rows = {"claim": html.escape(verdict.claim)} | rows
    if same:
        others = ", ".join(f'<a href="#{anchor(s)}">{claims()[s].printed}</a>' for s in same)
        rows["note"] = f"The same run of ours is compared with this number and {others}."
    rows["truth"] = _truth(verdict)
    listed = "".join(f"<div><dt>{k}</dt><dd>{d}</dd></div>" for k, d in rows.items() if d)
    return (
        f'<div class="v-entry v-{kind}" id="{name}" data-source="{verdict.source}" '
        f'data-outcome="{kind}"><p class="v-head"><span class="v-badge v-{kind}">{symbol} '
        f'{verdict.outcome}</span> <span class="v-place">{html.escape(verdict.source)}, '
        f"{html.escape(verdict.place)}</span></p><dl>{listed}</dl>{picture}"
        f'<p class="v-links"><a href="{chapter}.html#{name}">the code and the runs: {chapter}</a>'
        f' · <a class="v-perma" href="#{name}">link to this number</a></p></div>'
    )


def _truth(verdict: Verdict) -> str:
    """What log Z of a published model is, beside a printed value: what we find too may be wrong."""
    found = re.fullmatch(r"wang-\w+-(h\d+)-logz", verdict.name)
    number = re.match(r"[\d.]+", claims()[verdict.name].printed)
    if found is None or number is None:
        return ""
    log_z = load_reference()[found[1]].log_z
    gap = float(number[0]) - log_z
    off = f"{abs(gap):.2f} nats {'below' if gap < 0 else 'above'} it"
    return f"log Z of {found[1]} is {log_z:.2f}; the printed value is {off}."


def _reason(verdict: Verdict) -> str:
    """As it is written, if it is of this outcome: a run at other parameters may give another."""
    claim = claims()[verdict.name]
    return claim.reason if claim.reason and claim.outcome == verdict.outcome else verdict.note


def _ours(verdict: Verdict) -> tuple[str, str]:
    """Our number in the quantity and unit of the printed one, and a picture of its interval."""
    if verdict.name in our_ess():
        return _ess(verdict)
    if several := cases(verdict):
        return _cases(several), ""
    words = without_powers(html.escape(with_two_digits(verdict.ours)))
    unit = f" {verdict.unit}" if verdict.unit and verdict.unit != "chains" else ""
    if unit and words[:1] in "−-0123456789" and words and not words.endswith(unit):
        words += "" if "readings" in words else unit
    if not (math.isfinite(verdict.effect) and verdict.low < verdict.high):
        return words, ""
    number, ratio = printed_number(verdict), is_ratio(verdict)
    of = ("ours / printed" if ratio else "ours − printed") if number is not None else ""
    said = (
        f"{for_people(verdict.effect)}, 99.9% between {for_people(verdict.low)} and "
        f"{for_people(verdict.high)}{'' if ratio else unit}"
    )
    said = f"{of} = {said}" if of else said
    interval = Interval("", verdict.effect, verdict.low, verdict.high)
    picture = _of_ratio(interval, margin(verdict)) if ratio else _of_difference(
        interval, margin(verdict), "printed" if number is not None else "0"
    )  # fmt: skip
    return "<br>".join(part for part in (words, said) if part), picture


def _ess(verdict: Verdict) -> tuple[str, str]:
    lines, number = our_ess()[verdict.name], printed_number(verdict)
    words = [
        f"{i.value:.0f} [{i.low:.0f}, {i.high:.0f}] from {html.escape(i.name)}"
        + (f" (of 1,000; run with {n})" if n != 1000 else "")
        for i, n in lines
    ]
    return "<br>".join(words), strip([i for i, _ in lines], (0.0, 1000.0), mark=number)


def _factors(verdict: Verdict) -> str:
    """What decides on an ESS: another training has another, the gain of a schedule is the claim."""
    several = cases(verdict) if verdict.name in our_ess() else []
    said = "how many times smaller the variance of the log-weights is than with equal steps:"
    return f"{said}{_cases(several)}" if several else ""


def _cases(several: list[Interval]) -> str:
    unit = several[0].unit
    head = f"ours ({html.escape(unit)})" if unit else "ours"
    body = "".join(
        f'<tr><th scope="row">{html.escape(c.name)}</th><td>{for_people(c.value)}</td>'
        f"<td>[{for_people(c.low)}, {for_people(c.high)}]</td></tr>"
        for c in several
    )
    return (
        '<table class="v-cases"><thead><tr><th scope="col">on</th>'
        f'<th scope="col">{head}</th><th scope="col">99.9%</th></tr></thead>'
        f"<tbody>{body}</tbody></table>"
    )


def _of_ratio(interval: Interval, band: tuple[float, float] | None) -> str:
    ends = [x for x in (interval.low, interval.high, 1.0, *(band or ())) if 0 < x < math.inf]
    if interval.low <= 0:
        return ""
    limits = min(ends) / 1.5, max(ends) * 1.5
    return strip([interval], limits, band, 1.0, "the same", logarithmic=True)


def _of_difference(interval: Interval, band, mark_name: str) -> str:
    ends = [x for x in (interval.low, interval.high, 0.0, *(band or ())) if math.isfinite(x)]
    pad = 0.12 * ((max(ends) - min(ends)) or 1)
    return strip([interval], (min(ends) - pad, max(ends) + pad), band, 0.0, mark_name)


def strip(
    intervals: Sequence[Interval],
    limits: tuple[float, float],
    band: tuple[float, float] | None = None,
    mark: float | None = None,
    mark_name: str = "printed",
    logarithmic: bool = False,
) -> str:
    """Intervals on one axis; the margin as a band behind them, the printed number as a line."""
    scale = math.log if logarithmic else float
    low, high = scale(limits[0]), scale(limits[1])
    named = any(i.name for i in intervals)
    left, bottom = (NAMED if named else LEFT), 11 + ROW * len(intervals)

    def place(x: float) -> float:
        share = (scale(min(max(x, limits[0]), limits[1])) - low) / (high - low)
        return round(left + (RIGHT - left) * share, 1)

    drawn = []
    if band:
        ends = place(band[0]), place(band[1])
        size = f'width="{ends[1] - ends[0]:.1f}" height="{bottom - 5}"'
        drawn.append(f'<rect class="v-band" x="{ends[0]}" y="4" {size}/>')
    drawn.append(f'<path class="v-axis" d="M{left} {bottom}H{RIGHT}"/>')
    if mark is not None:
        at = place(mark)
        side = "start" if at < left + 40 else "end" if at > RIGHT - 42 else "middle"
        drawn.append(f'<path class="v-mark" d="M{at} 4V{bottom}"/>')
        drawn.append(f'<text x="{at}" y="{bottom + 14}" text-anchor="{side}">{mark_name}</text>')
        if named and at < RIGHT - 82:
            last = f"{limits[1]:,.0f}"
            drawn.append(f'<text x="{RIGHT}" y="{bottom + 14}" text-anchor="end">{last}</text>')
    for i, interval in enumerate(intervals):
        y = 16 + ROW * i
        if interval.name:
            drawn.append(f'<text x="0" y="{y + 4}">{html.escape(interval.name)}</text>')
        drawn.append(f'<path class="v-int" d="M{place(interval.low)} {y}H{place(interval.high)}"/>')
        drawn.append(f'<circle class="v-dot" cx="{place(interval.value)}" cy="{y}" r="4.5"/>')
    return (
        f'<svg class="v-strip" viewBox="0 0 320 {bottom + 19}" role="img" '
        f'aria-label="Picture of the interval">{"".join(drawn)}</svg>'
    )
