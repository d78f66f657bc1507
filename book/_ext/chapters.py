"""What each chapter takes, a table of the page `rerun`; and the fold "Run this page yourself".

Papermill wants the parameters of a notebook first, a reader wants them last. Cells tagged
``parameters`` or ``run`` stay where they are in the notebook. On the page they stand in the fold
at the end of a lesson with what they print, after its first paragraph; and so do, at its end, the
cells that come after it, which check what the page says. Parameters that visible lines use are
tagged ``shown`` and stay.
"""

import json
import re
from pathlib import Path

from docutils import nodes

from rbmbook.claims import name_of, notebooks

MARK = "<!-- what chapters take -->"
OWN = ("model", "data", "threshold")  # of a reader's own
LINE = re.compile(r"(?m)^(\w+): \w+ = (\S+|\".*\")  # (.*)$")


def parameters(notebook: Path) -> dict[str, tuple[str, str]]:
    """Default and meaning of each, by name."""
    cells = json.loads(notebook.read_text(encoding="utf-8"))["cells"]
    texts = ["".join(c["source"]) for c in cells if "parameters" in c["metadata"].get("tags", [])]
    found = LINE.findall("\n".join(texts))
    return {name: (default, meaning) for name, default, meaning in found}


def page(folder: Path) -> str:
    """Markdown: a row a chapter, whether it takes a model and data, and its other numbers."""
    rows = ["| chapter | `model` | `data`, `threshold` | also |", "|---|---|---|---|"]
    for notebook in notebooks(folder):
        taken = parameters(notebook)
        if not taken:
            continue
        model, data = taken.get("model"), "data" in taken
        also = ", ".join(f"`{name}` {taken[name][0]}" for name in taken if name not in OWN)
        yes = "no" if model is None else f"`{model[0]}`" if model[0] != '""' else "yes"
        name = name_of(notebook, folder)
        rows.append(f"| {{doc}}`{name}` | {yes} | {'yes' if data else 'no'} | {also} |")
    return "\n".join(rows)


# the fold ------------------------------------------------------------------------------------

TITLE = "Run this page yourself"
MOVED = {"tag_parameters", "tag_run"}


def gather(app, doctree) -> None:
    order = list(doctree.findall(nodes.Element))
    boxes = doctree.findall(nodes.admonition)
    folds = [box for box in boxes if len(box) and box[0].astext() == TITLE]
    if not folds:
        return
    cells = [node for node in order if node.get("nb_element") == "cell_code"]
    after = [cell for cell in cells if order.index(cell) > order.index(folds[0])]
    moved = [c for c in cells if MOVED & set(c["classes"]) and "tag_shown" not in c["classes"]]
    first = [cell for cell in moved if cell not in after]
    for cell in first + after:
        cell.parent.remove(cell)
    folds[0][2:2] = first
    folds[0].extend(after)
