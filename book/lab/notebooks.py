"""Where the notebooks of the book are, and the verdicts that they hold."""

from __future__ import annotations

import json
import re
from collections import Counter
from pathlib import Path

from .verdicts import MIME, Verdict, from_json


def notebooks(folder: Path) -> list[Path]:
    """Notebooks of the book in a folder and those below, without tools, drafts and checkpoints."""
    return sorted(
        path
        for path in folder.rglob("*.ipynb")
        if not any(part[0] in "_." for part in path.relative_to(folder).parts)
        and not path.name.endswith(".partial.ipynb")
    )


def name_of(notebook: Path, folder: Path) -> str:
    """As links call it: learn/03_ais."""
    return notebook.relative_to(folder).with_suffix("").as_posix()


def short(notebook: str | Path) -> str:
    """Its name without folder and number, as lists and other files about it have it: ais."""
    return re.sub(r"^\d\d_", "", Path(notebook).stem)


def by_name(folder: Path) -> dict[str, str]:
    """What links call every notebook, by its short name."""
    return {short(path): name_of(path, folder) for path in notebooks(folder)}


def verdicts_of(folder: Path) -> dict[str, tuple[Verdict, str]]:
    """Verdict and notebook, by the name of a claim; two verdicts of one claim are an error."""
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
