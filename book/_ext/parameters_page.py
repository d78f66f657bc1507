"""What each chapter takes, from its cell of parameters: a table of the page `rerun`."""

import json
import re
from pathlib import Path

from rbmbook.notebooks import name_of, notebooks

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
