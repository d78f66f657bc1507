"""The page of all verdicts, made from what the chapters beside it have in their outputs.

A chapter shows its verdicts with `rbmbook.verdicts.show_verdicts`, which keeps them as data in
the same output as the table. Nothing on the page is typed, so it cannot differ from a chapter.
"""

import json
from collections import Counter
from pathlib import Path

import check_page

from rbmbook.claims import claims
from rbmbook.measured import ALPHA
from rbmbook.verdicts import MIME, Verdict, from_json

MARK = "<!-- the verdicts, by source -->"


def page(folder: Path) -> str:
    """Markdown: what the level means, the sources' tables with verdicts, and claims without one."""
    found = {
        v.name: (v, chapter.stem) for chapter in chapters(folder) for v in verdicts_in(chapter)
    }
    missing = [name for name in claims() if name not in found]
    sections = [_raw(check_page.page({c: found[c] for c in claims() if c in found}))]
    sections += ["## How sure this is", _opening([v for v, _ in found.values()], missing)]
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


def _opening(judged: list[Verdict], missing: list[str]) -> str:
    intervals = sum(v.intervals for v in judged)
    return (
        f"{len(judged)} of {len(judged) + len(missing)} claims have a verdict in this run. They "
        f"rest on {intervals} intervals, each of level {1 - ALPHA:.1%}, the same for every claim "
        "and fixed before any was judged. A verdict can be false only if one of its intervals "
        f"misses the truth; so about {ALPHA * intervals:.2g} false ones, at most, are to be "
        "expected on this page where repeats are normal, however they depend on one another. "
        "Repeats that are very skewed miss more often (up to 4% of intervals in simulations)."
    )


def _raw(html: str) -> str:
    return f"```{{raw}} html\n{html}\n```"
