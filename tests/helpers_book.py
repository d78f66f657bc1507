"""What the tests of the book count: lessons, notebooks of Check, code that is shown, figures."""

import json
import os
import re
from pathlib import Path

from rbmbook.claims import name_of, notebooks

REPOSITORY = Path(__file__).resolve().parent.parent
BOOK = REPOSITORY / "book"
NIGHTLY = bool(os.environ.get("RBMLIB_NIGHTLY"))  # `make test-all`: more repeats of the same tests
FOLDED = {"hide-input", "hide-cell", "remove-input", "remove-cell"}


def chapter_paths() -> list[Path]:
    """Every notebook of the book, in every folder."""
    return notebooks(BOOK)


def chapter_name(path: Path) -> str:
    """As links call it: check/wang."""
    return name_of(path, BOOK)


def read(path: Path) -> dict:
    return json.loads(path.read_text(encoding="utf-8"))


def checks_a_source(path: Path) -> bool:
    """Read by searching, not from the start: the notebooks of Check, `calibration` too."""
    return path.parent.name == "check"


def is_lesson(path: Path) -> bool:
    """Whether it has a numbered figure, and does not check a source."""
    cells = [] if checks_a_source(path) else read(path)["cells"]
    return any("figure" in c["metadata"].get("mystnb", {}) for c in cells)


def toc_entries() -> list[str]:
    """Pages in the order of the contents."""
    text = (REPOSITORY / "_toc.yml").read_text(encoding="utf-8")
    return re.findall(r"(?m)^[ -]*(?:root|file): (\S+)", text)


def source(cell) -> str:
    return "".join(cell["source"])


def tags(cell) -> list[str]:
    return cell["metadata"].get("tags", [])


def open_cells(cells) -> list[dict]:
    """Code cells whose code a reader sees: not folded, not inside a hidden solution."""
    seen, hidden = [], False
    for cell in cells:
        text = source(cell)
        if cell["cell_type"] == "markdown":
            hidden = "{solution-start}" in text or (hidden and "{solution-end}" not in text)
        elif not hidden and not FOLDED & set(tags(cell)):
            seen.append(cell)
    return seen


def figures(cells) -> list[dict]:
    """Code cells, once for each picture that they show."""
    return [
        cell
        for cell in cells
        for output in cell.get("outputs", [])
        if any(kind.startswith("image/") for kind in output.get("data", {}))
    ]


def n_tables(cells) -> int:
    """Tables among the outputs, and those written in Markdown."""
    shown = [o for c in cells for o in c.get("outputs", []) if "<table" in _html(o)]
    texts = "\n".join(source(c) for c in cells if c["cell_type"] == "markdown")
    return len(shown) + len(re.findall(r"(?m)^\|[ :|-]*-{3}[ :|-]*\|\s*$", texts))


def _html(output) -> str:
    return "".join(output.get("data", {}).get("text/html", ""))


LEAKS = [
    (r"<Axes|<matplotlib|Axes\(|<Figure size|<BarContainer|\[<", "an object's repr"),
    (r"\bat 0x[0-9a-f]+", "a memory address"),
    (r"\beqs?\. \([A-Za-z-]{2,}", "a label instead of an equation's number"),
    (r"\{(eq|numref|doc|term|cite|ref)[a-z:]*\}", "a role that was not resolved"),
]


def leaks(text: str) -> list[str]:
    """What a reader should never see: reprs, addresses, raw labels and roles."""
    return [f"{what}: {m[0]!r}" for pattern, what in LEAKS for m in re.finditer(pattern, text)]


def shown_text(output) -> str:
    """What the page shows of an output as text: nothing of one that has a picture or a table."""
    if output["output_type"] == "stream":
        return "".join(output["text"])
    data = output.get("data", {})
    if any(kind.startswith("image/") for kind in data):
        return ""
    return re.sub(r"<[^>]*>", " ", _html(output)) or "".join(data.get("text/plain", ""))
