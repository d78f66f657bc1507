"""The page of all verdicts, made from what the chapters beside it have in their outputs.

A chapter shows its verdicts with `rbmbook.verdicts.show_verdicts`, which keeps them as data in
the same output as the table. Nothing on the page is typed, so it cannot differ from a chapter.
"""

import json
from collections import Counter
from pathlib import Path

from rbmbook.claims import claims
from rbmbook.measured import ALPHA
from rbmbook.verdicts import (
    MIME,
    OUTCOMES,
    Verdict,
    anchor,
    from_json,
    verdict_cell,
    verdict_table,
)

MARK = "<!-- the verdicts, by source -->"

SOURCES = {
    "Kiwaki": "Kiwaki: optimal annealing schedules",
    "Carlson": "Carlson, Stinson, Pakman and Paninski: Rao-Blackwellized tempered sampling",
    "Li": "Li, Ravanbakhsh and Póczos: annealing the leakiness",
    "Wang": "Wang: a comparison of AIS, TAP, RTS and SAMS",
}


def page(folder: Path) -> str:
    """Markdown: what the level means, counts of outcomes, and a table of verdicts a source."""
    found = {v.name: (v, chapter) for chapter in chapters(folder) for v in verdicts_in(chapter)}
    of = {s: [found[c.name] for c in claims().values() if c.source == s and c.name in found]
          for s in SOURCES}  # fmt: skip
    missing = [c.name for c in claims().values() if c.name not in found]
    sections = [_opening(found, missing), _raw(_counts(of))]
    for source, pairs in of.items():
        where = {v.name: _link(chapter, v.name) for v, chapter in pairs}
        table = verdict_table([v for v, _ in pairs], beside=lambda v, where=where: where[v.name])
        sections += [f"## {SOURCES[source]}", _raw(table)]
    if missing:
        names = ", ".join(f"`{name}`" for name in missing)
        sections += ["## Claims without a verdict in this run", names]
    return "\n\n".join(sections)


def chapters(folder: Path) -> list[Path]:
    """Notebooks of the folder; two that judge the same claim are an error."""
    every = sorted(folder.glob("*.ipynb"))
    notebooks = [path for path in every if not path.name.endswith(".partial.ipynb")]
    names = [(v.name, path.stem) for path in notebooks for v in verdicts_in(path)]
    twice = {name for name, n in Counter(name for name, _ in names).items() if n > 1}
    if twice:
        places = ", ".join(f"{name} in {stem}" for name, stem in names if name in twice)
        raise ValueError(f"claims with more than one verdict: {places}")
    return notebooks


def verdicts_in(notebook: Path) -> list[Verdict]:
    """Every verdict in the outputs of a notebook, in their order."""
    cells = json.loads(notebook.read_text(encoding="utf-8"))["cells"]
    outputs = [o for cell in cells for o in cell.get("outputs", [])]
    return [from_json(v) for o in outputs for v in o.get("data", {}).get(MIME, [])]


def _opening(found, missing) -> str:
    judged = [v for v, _ in found.values()]
    intervals = sum(v.intervals for v in judged)
    return (
        f"{len(judged)} of {len(judged) + len(missing)} claims have a verdict in this run. They "
        f"rest on {intervals} intervals, each of level {1 - ALPHA:.1%}, the same for every claim "
        "and fixed before any was judged. A verdict can be false only if one of its intervals "
        f"misses the truth; so about {ALPHA * intervals:.2g} false ones, at most, are to be "
        "expected on this page where repeats are normal, however they depend on one another. "
        "Repeats that are very skewed miss more often (up to 4% of intervals in simulations)."
    )


def _counts(of: dict) -> str:
    heads = "".join(f'<th scope="col">{s}</th>' for s in of)
    rows = []
    for outcome in OUTCOMES:
        numbers = [sum(v.outcome == outcome for v, _ in pairs) for pairs in of.values()]
        cell = verdict_cell(outcome)
        rows.append(
            f'<tr><th scope="row">{cell}</th>{"".join(f"<td>{n}</td>" for n in numbers)}</tr>'
        )
    return (
        f'<table class="verdict-counts">\n<thead><tr><th scope="col">verdict</th>{heads}</tr>'
        f"</thead>\n<tbody>\n{chr(10).join(rows)}\n</tbody>\n</table>"
    )


def _link(chapter: Path, name: str) -> str:
    return f'<a href="{chapter.stem}.html#{anchor(name)}">{chapter.stem}</a>'


def _raw(html: str) -> str:
    return f"```{{raw}} html\n{html}\n```"
