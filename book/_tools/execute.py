"""Run committed notebooks in place and store their outputs; nothing else writes them.

    python book/_tools/execute.py book/learn/03_ais.ipynb [...]

Each runs in its own folder on a fresh kernel. Metadata that changes from run to run or from
machine to machine is left out, so that a second run of the same code gives the same file. A
notebook with an error or with output on stderr is not written.
"""

import json
import os
import re
import sys
import time
import uuid
from pathlib import Path

import nbclient
import nbformat
from progress import name_of

METADATA = {
    "kernelspec": {"display_name": "Python 3 (ipykernel)", "language": "python", "name": "python3"},
    "language_info": {"name": "python"},
}
ADDRESS = re.compile(r"\bat 0x[0-9a-f]+")
CELL_METADATA = ("tags", "mystnb", "jupyter", "editable")


def clean(notebook: nbformat.NotebookNode) -> None:
    """Keep only the metadata that the book and its tests read, and no memory addresses."""
    notebook.metadata = nbformat.from_dict(METADATA)
    for cell in notebook.cells:
        for output in cell.get("outputs", []):
            if "text/plain" in output.get("data", {}):
                output.data["text/plain"] = ADDRESS.sub("at 0x0", output.data["text/plain"])
        cell.metadata = nbformat.from_dict(
            {k: cell.metadata[k] for k in CELL_METADATA if k in cell.metadata}
        )


def read(path: Path) -> nbformat.NotebookNode:
    """Read a notebook; cells without an id are given one, which they then keep."""
    content = json.loads(path.read_text(encoding="utf-8"))
    content["nbformat_minor"] = 5
    for cell in content["cells"]:
        cell.setdefault("id", uuid.uuid4().hex[:8])
    return nbformat.reads(json.dumps(content), 4)


def refused(notebook: nbformat.NotebookNode) -> list[str]:
    return [
        f"cell {number} wrote to stderr: {output.text.strip()[:300]}"
        for number, cell in enumerate(notebook.cells)
        for output in cell.get("outputs", [])
        if output.get("name") == "stderr"
    ]


def execute(path: Path) -> bool:
    name = name_of(path)
    print(f"{name}: running", flush=True)
    start = time.monotonic()
    notebook = read(path)
    client = nbclient.NotebookClient(
        notebook,
        timeout=3600,
        kernel_name="python3",
        record_timing=False,
        coalesce_streams=True,
        resources={"metadata": {"path": str(path.parent)}},
    )
    try:
        client.execute()
    except nbclient.exceptions.CellExecutionError as error:
        print(f"{name}: not written, a cell failed\n{error}", file=sys.stderr)
        return False
    if problems := refused(notebook):
        print(f"{name}: not written\n" + "\n".join(problems), file=sys.stderr)
        return False
    clean(notebook)
    nbformat.validate(notebook)
    temporary = path.with_suffix(".tmp")
    nbformat.write(notebook, temporary)
    os.replace(temporary, path)
    print(f"{name}: stored after {time.monotonic() - start:.0f} s", flush=True)
    return True


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit("error: no notebook to run; for example: make notebooks NAME=ais")
    sys.exit(0 if all([execute(Path(name)) for name in sys.argv[1:]]) else 1)
