"""Write exercise notebooks from the pages of exercises: for students without, for teachers with
solutions and marks.

    python book/_tools/exercises.py [folder]

The source is ``book/exercises/*.md``, the same files that the book shows. There an exercise is a
directive ``{exercise}``, a block of Python that begins an answer and calls ``check(...)``, and a
directive ``{solution}`` that may hold one block of Python. A teacher's notebook has the solution
in the place of the beginning, and the outputs of a run of it, with all marks.
"""

import contextlib
import functools
import io
import json
import re
import sys
from pathlib import Path
from typing import NamedTuple

import nbformat
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output

from rbmbook.claims import notebooks, short

SOURCES = Path(__file__).resolve().parent.parent / "exercises"
FENCE = re.compile(r"(?ms)^(`{3,}|:{3,})(\{[\w-]+\}|python|console)?([^\n]*)\n(.*?)^\1[ \t]*$\n?")


class Part(NamedTuple):
    """A piece of a page: ``kind`` is text, exercise, python or solution."""

    kind: str
    title: str
    body: str


def parts(text: str) -> list[Part]:
    """The pieces of a page in their order."""
    found, end = [], 0
    for match in FENCE.finditer(text):
        if match.start() > end:
            found.append(Part("text", "", text[end : match.start()]))
        kind = (match[2] or "").strip("{}")
        if kind in ("exercise", "python", "solution"):
            found.append(Part(kind, match[3].strip(), match[4]))
        elif kind not in ("raw", "figure"):
            found.append(Part("text", "", match[0]))
        end = match.end()
    found.append(Part("text", "", text[end:]))
    return [part for part in found if part.body.strip()]


def options_off(body: str) -> str:
    return re.sub(r"(?m)\A(:[\w-]+:[^\n]*\n)+", "", body).strip()


@functools.cache
def captions() -> dict[str, str]:
    """What every figure of the book shows, in the words before the first full stop or colon."""
    found = {}
    for path in notebooks(SOURCES.parent):
        for cell in json.loads(path.read_text(encoding="utf-8"))["cells"]:
            if look := cell["metadata"].get("mystnb", {}).get("figure"):
                start = re.split(r"[.:](?:\s|$)", look["caption"])[0]
                found[look["name"]] = f"*{start}* of the lesson {short(path)}"
    return found


def plain(text: str) -> str:
    """MyST as Markdown that a notebook shows: roles become words, labels of equations go."""
    text = re.sub(r"\{(?:doc|term|ref)\}`([^`<]+?)\s*<[^>]+>`", r"*\1*", text)
    text = re.sub(r"\{doc\}`(?:\.\./)?([\w/]+)`", r"*\1*", text)
    text = re.sub(r"\{term\}`([^`]+)`", r"\1", text)
    text = re.sub(r"\{numref\}`(fig-[\w-]+)`", lambda m: f"the figure {captions()[m[1]]}", text)
    text = re.sub(r"\{eq\}`eq-([\w-]+)`", r"*\1*", text)
    text = re.sub(r"\{cite\}`([^`]+)`", r"[\1]", text)
    text = re.sub(r"(?m)^\$\$ \(eq-[\w-]+\)$", "$$", text)
    return text.strip()


def check_lines(code: str) -> str:
    """The calls of the checker in the beginning of an answer: they follow the solution too."""
    return "\n".join(line for line in code.splitlines() if line.startswith("check"))


def solved(solution: Part) -> tuple[str, str]:
    """Text and code of a solution."""
    body = options_off(solution.body)
    blocks = re.findall(r"(?ms)^```python\n(.*?)^```", body)
    return re.sub(r"(?ms)^```python\n.*?^```\n?", "", body).strip(), "\n".join(blocks).strip()


def cells_of(text: str, teacher: bool) -> list:
    """Cells of the notebook of a page."""
    pieces, cells, number = parts(text), [], 0
    for i, part in enumerate(pieces):
        if part.kind == "text":
            cells.append(new_markdown_cell(plain(part.body)))
        elif part.kind == "exercise":
            number += 1
            asked = plain(options_off(part.body))
            cells.append(new_markdown_cell(f"### Exercise {number}. {part.title}\n\n{asked}"))
        elif part.kind == "python":
            following = pieces[i + 1] if i + 1 < len(pieces) else None
            code = part.body.strip()
            if teacher and following is not None and following.kind == "solution":
                words, answer = solved(following)
                if words:
                    cells.append(new_markdown_cell(f"**Solution.** {plain(words)}"))
                if answer:
                    code = f"{answer}\n\n\n{check_lines(code)}"
            cells.append(new_code_cell(code))
        elif teacher and (i == 0 or pieces[i - 1].kind != "python"):
            cells.append(new_markdown_cell(f"**Solution.** {plain(solved(part)[0])}"))
    for i, cell in enumerate(cells):
        cell["id"] = f"cell-{i:03}"
    return cells


def run(cells, name: str | None = None) -> dict:
    """Run the code of cells one after the other and keep what they print as outputs.

    ``name`` takes the place of the student's name in the first cell. Returns the variables.
    """
    space: dict = {"__name__": "exercises"}
    for count, cell in enumerate((c for c in cells if c.cell_type == "code"), 1):
        code = cell.source if name is None else cell.source.replace('"ada"', repr(name))
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            exec(compile(code, f"<cell {count}>", "exec"), space)
        cell.execution_count = count
        if printed.getvalue():
            cell.outputs = [new_output("stream", name="stdout", text=printed.getvalue())]
    return space


def notebook(cells) -> nbformat.NotebookNode:
    made = new_notebook(cells=cells)
    made.metadata["kernelspec"] = {
        "display_name": "Python 3", "language": "python", "name": "python3",
    }  # fmt: skip
    return made


def pages() -> list[Path]:
    """The pages that have exercises."""
    return sorted(p for p in SOURCES.glob("*.md") if "{exercise}" in p.read_text("utf-8"))


def main(folder: Path) -> None:
    for page in pages():
        text = page.read_text(encoding="utf-8")
        for who in ("student", "teacher"):
            cells = cells_of(text, teacher=who == "teacher")
            if who == "teacher":
                run(cells)
            target = folder / who / f"{page.stem}.ipynb"
            target.parent.mkdir(parents=True, exist_ok=True)
            nbformat.write(notebook(cells), target)
        print(f"{page.stem}: student and teacher notebooks written", flush=True)


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "_build/exercises"))
