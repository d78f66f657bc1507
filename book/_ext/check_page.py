"""The Check page: the sources' tables as printed, each cell with its verdict; then the sentences.

Everything stands in the HTML, made from what the chapters have in their outputs. ``check.js`` moves
what belongs to a chosen cell into a panel, and filters; without it a cell links to its entry below.
"""

from __future__ import annotations

import html
from collections import Counter

from check_entry import entry
from check_layout import SOURCES, Table, tables
from check_numbers import printed
from redrawn import Redrawn, block, claims_on
from redrawn_data import figures

from rbmbook.claims import claims
from rbmbook.verdicts import (
    ARGUED,
    CONTRADICTED,
    DEPENDS,
    NO_RUN,
    NOT_DECIDED,
    OUTCOMES,
    REPRODUCED,
    SIGN_ONLY,
    SYMBOLS,
    UNCHECKED,
    Verdict,
    anchor,
)

SHORT = {
    "depends on what is not stated": "depends",
    "reproduced in sign, size differs": "in sign only",
    "at the ceiling: cannot show": "at the ceiling",
    "argued, not measured": "argued",
}
PANEL = (
    '<aside class="v-panel" id="v-panel" aria-label="The chosen number" hidden>'
    '<button type="button" class="v-close pill">Close</button>'
    '<div class="v-panel-body" tabindex="-1"></div></aside>'
)
Found = dict[str, tuple[Verdict, str]]  # verdict and chapter, by the name of a claim


def page(found: Found) -> str:
    """HTML of the page."""
    same, printed_tables = _met_together(found), tables()
    shown = {name for table in printed_tables for _, cells in table.rows for name in cells}
    drawn = figures()
    shown |= {name for figure in drawn for name in claims_on(figure, found)}
    sections = []
    for source, (name, subject) in SOURCES.items():
        own = [table for table in printed_tables if table.source == source]
        pictures = [figure for figure in drawn if figure.source == source]
        above = [_with_entries(table, found, same) for table in own]
        above += [_figure_with_entries(figure, found) for figure in pictures]
        of_source = [name for name, claim in claims().items() if claim.source == source]
        rest = [name for name in of_source if name in found and name not in shown]
        lines = "\n".join(_line(*found[claim]) for claim in rest)
        head = "Sentences" if own or pictures else "Sentences (it prints no table)"
        sections.append(
            f'<section class="v-source" data-source="{source}" id="check-{source.lower()}">'
            f"<h2>{name}<span>{subject}</span></h2>{''.join(above)}<h3>{head}</h3>"
            f'<div class="v-lines">{lines}</div></section>'
        )
    return (
        f'<div class="check-page">{_summary(found)}<div class="v-grid"><div class="v-main">'
        f'{"".join(sections)}</div>{PANEL}</div></div>\n<script src="../_static/check.js" defer>'
        "</script>"
    )


def _met_together(found: Found) -> dict[str, list[str]]:
    """Printed numbers that one and the same measurement of ours meets, by each of them."""
    groups: dict[tuple[str, str], list[str]] = {}
    for name, (verdict, _) in found.items():
        if verdict.ours and verdict.source == "Kiwaki" and "table" in verdict.place:
            groups.setdefault((verdict.place, verdict.ours), []).append(name)
    return {one: [o for o in group if o != one] for group in groups.values() for one in group}


def _with_entries(table: Table, found: Found, same: dict) -> str:
    names = [name for _, cells in table.rows for name in cells if name in found]
    entries = "\n".join(entry(*found[name], same.get(name, ())) for name in names)
    return (
        f"{_table(table, found)}<details class='v-all'><summary>All {len(names)} numbers of this "
        f"table in words</summary>{entries}</details>"
    )


def _figure_with_entries(figure: Redrawn, found: Found) -> str:
    entries = "\n".join(entry(*found[name]) for name in claims_on(figure, found))
    return (
        f"{block(figure, found)}<details class='v-all'><summary>The claims of this figure in words"
        f"</summary>{entries}</details>"
    )


def _table(table: Table, found: Found) -> str:
    columns = [f'<th scope="col">{html.escape(c)}</th>' for c in table.columns]
    if table.groups:
        first = f'<th scope="col" rowspan="2">{html.escape(table.columns[0])}</th>'
        over = "".join(
            f'<th scope="colgroup" colspan="{n}">{html.escape(group)}</th>'
            for group, n in table.groups
        )
        head = f"<tr>{first}{over}</tr><tr>{''.join(columns[1:])}</tr>"
    else:
        head = f"<tr>{''.join(columns)}</tr>"
    rows = "".join(
        f'<tr><th scope="row">{html.escape(name)}</th>'
        f"{''.join(_cell(claim, found) for claim in cells)}</tr>"
        for name, cells in table.rows
    )
    return (
        '<div class="v-scroll"><table class="printed"><caption><span>'
        f"<b>{html.escape(table.title)}.</b> {html.escape(table.caption)}</span></caption>"
        f"<thead>{head}</thead><tbody>{rows}</tbody></table></div>"
    )


def _cell(name: str, found: Found) -> str:
    if name not in found:
        return '<td class="v-none"></td>'
    verdict, _ = found[name]
    symbol, kind = SYMBOLS[verdict.outcome]
    return (
        f'<td class="v-cell v-{kind}" data-source="{verdict.source}" data-outcome="{kind}">'
        f'<a href="#{anchor(name)}">'
        f'<span class="v-num">{printed(html.escape(verdict.paper))}</span>'
        f'<span class="v-sym" aria-hidden="true">{symbol}</span>'
        f'<span class="vh">, {html.escape(verdict.outcome)}</span></a></td>'
    )


def _line(verdict: Verdict, chapter: str) -> str:
    symbol, kind = SYMBOLS[verdict.outcome]
    return (
        f'<details class="v-line v-{kind}" data-source="{verdict.source}" data-outcome="{kind}">'
        f'<summary><span class="v-badge v-{kind}">{symbol} '
        f"{SHORT.get(verdict.outcome, verdict.outcome)}</span>"
        f'<span class="v-claim">{html.escape(verdict.claim)}</span>'
        f'<span class="v-where">{html.escape(verdict.place)}</span></summary>'
        f"{entry(verdict, chapter)}</details>"
    )


def _summary(found: Found) -> str:
    verdicts = [verdict for verdict, _ in found.values()]
    by = Counter(v.outcome for v in verdicts)
    of_source = Counter(v.source for v in verdicts)
    kinds = [(o, *SYMBOLS[o], by[o]) for o in OUTCOMES if by[o]]
    bar = "".join(f'<span class="v-{kind}" style="flex:{n}"></span>' for _, _, kind, n in kinds)
    chips = "".join(
        f'<button type="button" class="v-chip v-{kind}" aria-pressed="false" data-outcome="{kind}">'
        f"{symbol} {SHORT.get(outcome, outcome)} <b>{n}</b></button>"
        for outcome, symbol, kind, n in kinds
    )
    sources = "".join(
        f'<button type="button" class="v-chip" aria-pressed="false" data-source="{source}">{name} '
        f"<b>{of_source[source]}</b></button>"
        for source, (name, _) in SOURCES.items()
    )
    return (
        f'<p class="v-lead">{_in_words(verdicts, by)} Choose a number to see ours beside it.</p>'
        f'<div class="v-bar" aria-hidden="true">{bar}</div><div class="v-filter">'
        f'<div role="group" aria-label="Verdict">{chips}</div>'
        f'<div role="group" aria-label="Source">{sources}'
        '<button type="button" class="v-reset pill" hidden>Show all</button></div>'
        '<p class="v-count" role="status"></p></div>'
    )


def _in_words(verdicts: list[Verdict], by: Counter) -> str:
    training = sum(v.outcome == NOT_DECIDED and "one training" in v.note for v in verdicts)
    rough = sum(
        v.outcome == NOT_DECIDED and NO_RUN in v.note and "power:" not in v.note for v in verdicts
    )
    runs = by[NOT_DECIDED] - training - rough
    still_open = by[UNCHECKED] + by[NOT_DECIDED] + by[DEPENDS]
    return (
        "Four sources print numbers. Here are their tables again, each cell with what we found: "
        f"<b>{by[REPRODUCED]}</b> reproduced, <b>{by[SIGN_ONLY]}</b> in sign only, "
        f"<b>{by[CONTRADICTED]}</b> contradicted, <b>{by[ARGUED]}</b> argued, not measured, and "
        f"<b>{still_open}</b> open: {by[UNCHECKED]} because the model or program is not published, "
        f"{training} because one training stands for many, {runs} because our runs are too few, "
        f"{rough} because what is printed is too rough for any run to tell, {by[DEPENDS]} because "
        "the answer turns on what the source leaves out."
    )
