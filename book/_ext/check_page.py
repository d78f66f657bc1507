"""The front page of Check: counts, links to every table and figure, and all claims as a list.

Nothing is typed: verdicts are what the notebooks beside the page have in their outputs, tables and
figures are the labelled headings of the notebooks in ``check``. Addresses that claims had before
lead to the cards of today, from this page and from pages that are no more (`MOVED`).
"""

import csv
import html
import io
import json
import re
from collections import Counter
from pathlib import Path

from rbmbook.claims import COURSE_REPORT, SOURCES, by_name, claims, notebooks
from rbmbook.verdicts import (
    CONTRADICTED,
    DEPENDS,
    OPEN,
    OUTCOMES,
    REPRODUCED,
    Verdict,
    counts_in_words,
    effect_in_words,
    verdict_cell,
    verdicts_of,
)

COUNTS, PLACES, CLAIMS, SURE = (
    f"<!-- check: {x} -->" for x in ("counts", "places", "claims", "how sure")
)
TABLE = "claims_with_verdicts.csv"
IN_A_SENTENCE = {
    REPRODUCED: "are reproduced",
    DEPENDS: "depend on something left open",
    CONTRADICTED: "are contradicted",
    OPEN: "remain open",
}
LABELLED = re.compile(r"(?m)^\(([a-z]+-(?:table|figure|section)-[\w-]+)\)=\n+#+ +(.+)$")

# Pages that were, and the notebook with their contents. Every notebook was once in this folder.
MOVED = {
    "start_audit": "start",
    "mcmc_basics_audit": "wang",
    "ais_audit": "wang",
    "varopt_audit": "kiwaki2015",
    "rts_audit": "carlson2016",
    "rts_continuous_audit": "carlson2016",
    "sams_audit": "wang",
    "tap_audit": "wang",
    "tracking_audit": "carlson2016",
    "leaky_rbm_audit": "li2016",
    "bench": "compare#bench",
}
# Cells of printed tables that were claims once, by how their names began.
CELLS = {
    "kiwaki-t1-": "check/kiwaki2015.html#kiwaki-table-1",
    "kiwaki-t2-": "check/kiwaki2015.html#kiwaki-table-2",
    **{f"{s.lower()}-": f"check/{file}.html" for s, (_, _, file) in SOURCES.items()},
}

# They lead from an address of a claim to its card, and from a page that moved to where it is.
SCRIPTS = (
    '<script src="../_static/claims_at.js"></script>'
    '<script src="../_static/moved.js" data-to="{to}"></script>'
)

Found = dict[str, tuple[Verdict, str]]  # verdict and notebook, by the name of a claim


def fill(app, docname, source) -> None:
    """Fill the front page from the executed notebooks beside it."""
    if CLAIMS not in source[0]:
        return
    folder = Path(app.env.doc2path(docname)).parent
    for notebook in notebooks(folder):
        app.env.note_dependency(str(notebook))
    found = verdicts_of(folder)
    parts = {COUNTS: counts(found), PLACES: places(folder), CLAIMS: listed(found)}
    for mark, text in parts.items():
        source[0] = source[0].replace(mark, f"```{{raw}} html\n{text}\n```")
    source[0] = source[0].replace(SURE, how_sure(found))


def counts(found: Found) -> str:
    """How many claims of each source have which verdict; the course report apart."""
    rows = []
    by = {
        s: Counter(v.outcome for v, _ in found.values() if claims()[v.name].source == s)
        for s in SOURCES
    }
    report = SOURCES[COURSE_REPORT][0], by.pop(COURSE_REPORT)
    papers = sum(by.values(), Counter())
    lines = [(SOURCES[s][0], of) for s, of in by.items()]
    for name, of in [*lines, ("the three papers", papers), report]:
        numbers = "".join(f"<td>{of[o]}</td>" for o in OUTCOMES)
        rows.append(f'<tr><th scope="row">{name}</th>{numbers}<td>{of.total()}</td></tr>')
    head = "".join(f'<th scope="col">{verdict_cell(o)}</th>' for o in OUTCOMES)
    lead = ", ".join(f"<b>{papers[o]}</b> {IN_A_SENTENCE[o]}" for o in OUTCOMES)
    return (
        f'<p class="v-lead">Of {papers.total()} claims of three papers: {lead}. The claims of a '
        'course report are counted apart.</p><div class="v-scroll"><table class="v-counts">'
        f'<thead><tr><th scope="col">source</th>{head}<th scope="col">claims</th></tr></thead>'
        f"<tbody>{''.join(rows)}</tbody></table></div>"
    )


def places(folder: Path) -> str:
    """Links to the tables and figures of the sources, as the notebooks of Check show them."""
    made = []
    for name, subject, file in SOURCES.values():
        notebook = folder / "check" / f"{file}.ipynb"
        cells = json.loads(notebook.read_text(encoding="utf-8"))["cells"]
        text = "\n\n".join("".join(c["source"]) for c in cells if c["cell_type"] == "markdown")
        links = "".join(
            f'<li><a href="check/{file}.html#{label}">{html.escape(_plain(title))}</a></li>'
            for label, title in LABELLED.findall(text)
        )
        made.append(
            f'<p><a href="check/{file}.html"><b>{name}</b></a>: {subject}</p>'
            f'<ul class="v-places">{links}</ul>'
        )
    return "".join(made)


def listed(found: Found) -> str:
    """Every claim with its verdict, a link to its card, and what filters the list."""
    of = Counter(v.outcome for v, _ in found.values())
    sources = Counter(c.source for c in claims().values())
    chips = "".join(
        f'<button type="button" class="v-chip v-{o}" aria-pressed="false" data-outcome="{o}">'
        f"{o} <b>{of[o]}</b></button>"
        for o in OUTCOMES
    ) + "".join(
        f'<button type="button" class="v-chip" aria-pressed="false" data-source="{s}">{name} '
        f"<b>{sources[s]}</b></button>"
        for s, (name, _, _) in SOURCES.items()
    )
    lines = "".join(_line(name, found) for name in claims())
    return (
        f'<div class="check-page"><div class="v-filter" role="group" aria-label="Show only">{chips}'
        f'<p class="v-count" role="status"></p></div><ul class="v-list">{lines}</ul>'
        f'<p><a href="{TABLE}" download>All claims with their verdicts (CSV)</a></p></div>'
        f'{SCRIPTS.format(to="")}<script src="../_static/check.js" defer></script>'
    )


def _line(name: str, found: Found) -> str:
    claim = claims()[name]
    outcome = found[name][0].outcome if name in found else ""
    badge = verdict_cell(outcome) if outcome else '<span class="v-badge">no verdict here</span>'
    ids = "".join(f'<span id="{old}"></span>' for old in claim.old.split() if old != name)
    words = html.escape(claim.claim)
    if outcome:
        words = f'<a href="{address(name, found)}">{words}</a>'
    where = f"{claim.source}, {claim.place}"
    return (
        f'<li id="{name}" data-source="{claim.source}" data-outcome="{outcome}">{ids}'
        f'{badge} <span class="v-claim">{words}</span> <span class="v-where">{html.escape(where)}'
        "</span></li>"
    )


def address(name: str, found: Found) -> str:
    """Of the card of a claim, from the folder of the book."""
    return f"{found[name][1]}.html#{name}"


def how_sure(found: Found) -> str:
    """Markdown: how many intervals the verdicts rest on, and how many may be false."""
    judged = [v for v, _ in found.values()]
    n_intervals = Counter()
    for v in judged:
        n_intervals[v.alpha] += v.intervals
    wrong = " and ".join(
        f"{n * alpha:.2g} of the {n:,} intervals of level {100 * (1 - alpha):g}%"
        for alpha, n in sorted(n_intervals.items())
        if n
    )
    return (
        f"{len(judged)} of {len(claims())} claims have a verdict in this run, and they rest on "
        f"{n_intervals.total():,} intervals. A verdict can be false only if one of its intervals "
        f"misses the truth. Where repeats are normal, about {wrong or 'none'} are expected to miss "
        "it, however they depend on one another. Very skewed repeats cause more misses (up "
        "to 4% of intervals of level 99.9% in simulations)."
    )


def _plain(title: str) -> str:
    return re.sub(r"\{[a-z]+\}`([^`<]*?)\s*(?:<[^>]*>)?`", r"\1", title).replace("`", "")


def as_table(found: Found) -> str:
    """CSV of all claims, printed and ours, with their verdicts."""
    file = io.StringIO()
    writer = csv.writer(file, lineterminator="\n")
    writer.writerow(
        ["name", "source", "place", "claim", "printed", "measure", "left_open", "verdict", "ours",
         "effect", "interval_level", "cases", "note", "models"]
    )  # fmt: skip
    for c in claims().values():
        row = [c.name, c.source, c.place, c.claim, c.printed, c.measure, c.open]
        if c.name in found:
            v = found[c.name][0]
            effect = effect_in_words(v) or v.words
            row += [v.outcome, v.ours, effect, f"{1 - v.alpha:g}", counts_in_words(v)]
            row += [v.note, v.models]
        writer.writerow(row + [""] * (14 - len(row)))
    return file.getvalue()


def addresses(found: Found) -> dict[str, str]:
    """Where a claim is now, by every name that it has had."""
    names = {old: c.name for c in claims().values() for old in (*c.old.split(), c.name)}
    return {old: address(name, found) for old, name in names.items() if name in found}


def finish(app, exception) -> None:
    """The CSV, the script that knows old addresses, and pages in place of those that moved."""
    book, sources = Path(app.outdir, "book"), Path(app.srcdir, "book")
    if exception or not (sources / "reproduction_notes.md").is_file():
        return
    found = verdicts_of(sources)
    (book / TABLE).write_text(as_table(found), encoding="utf-8")
    cells = {begin: to for begin, to in CELLS.items() if (book / to.partition("#")[0]).is_file()}
    known = f"const at = {json.dumps(addresses(found))}, cells = {json.dumps(cells)};\n"
    Path(app.outdir, "_static", "claims_at.js").write_text(known, encoding="utf-8")
    at = by_name(sources)
    for old, new in ({name: name for name in at} | MOVED).items():
        name, mark, place = new.partition("#")
        if name in at:
            text = _moved(f"{at[name]}.html{mark}{place}")
            (book / f"{old}.html").write_text(text, encoding="utf-8")


def _moved(to: str) -> str:
    title = "This page has moved"
    return (
        '<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8">'
        f"<title>{title}</title></head>"
        f'<body><h1>{title}</h1><p><a href="{to}">It is here now</a>.</p>{SCRIPTS.format(to=to)}'
        "</body></html>\n"
    )
