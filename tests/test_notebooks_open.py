"""L0: code in notebooks is read, not unfolded: short open cells, and no name with two meanings."""

import ast
import builtins
import re
import statistics
import subprocess
import sys

import pytest
from helpers_book import BOOK, FOLDED, chapter_paths, read, source, tags

LONGEST, MEDIAN, MOST_HIDDEN = 12, 7, 0.05
PAGES = [*chapter_paths(), BOOK / "_tools" / "template.ipynb"]

every_page = pytest.mark.parametrize("path", PAGES, ids=lambda path: path.stem)


def code_cells(path) -> list[dict]:
    return [c for c in read(path)["cells"] if c["cell_type"] == "code" and source(c).strip()]


def formatted(cells: list[str]) -> list[str]:
    """Cells as ruff would lay them out, so that lines that are joined do not count as one."""
    mark = "\n\n# ---- next cell ----\n\n"
    text = mark.join(re.sub(r"(?m)^([%!].*)$", r"# \1", cell) for cell in cells)
    ruff = [sys.executable, "-m", "ruff", "format", "--line-length", "88", "-"]
    done = subprocess.run(ruff, input=text, capture_output=True, text=True, check=True)
    return [cell.strip() for cell in done.stdout.split("# ---- next cell ----")]


def too_long(cells: list[str]) -> list[str]:
    lines = [(cell, len(cell.splitlines())) for cell in formatted(cells)]
    return [f"{n} lines: {cell[:60]!r}" for cell, n in lines if n > LONGEST]


@every_page
def test_no_cell_is_longer_than_a_glance(path):
    assert not too_long([source(c) for c in code_cells(path)]), "cut it, or move it to book/lab"


@every_page
def test_the_usual_cell_is_short(path):
    lengths = [len(cell.splitlines()) for cell in formatted([source(c) for c in code_cells(path)])]
    assert statistics.median(lengths) <= MEDIAN


@every_page
def test_code_is_not_hidden(path):
    cells = code_cells(path)
    hidden = [c for c in cells if FOLDED & set(tags(c))]
    assert len(hidden) <= MOST_HIDDEN * len(cells)


def assigned(statement: ast.stmt) -> list[str]:
    """Global names that a statement gives a meaning, anew or for the first time."""
    if isinstance(statement, (ast.FunctionDef, ast.ClassDef)):
        return [statement.name]
    names = []
    for node in ast.walk(statement):
        if isinstance(
            node, (ast.Lambda, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
        ):
            continue
        if isinstance(node, ast.Assign):
            targets = node.targets
        elif isinstance(node, (ast.AnnAssign, ast.NamedExpr)):
            targets = [node.target]
        elif isinstance(node, (ast.With)):
            targets = [item.optional_vars for item in node.items if item.optional_vars]
        else:
            continue
        names += [n.id for target in targets for n in ast.walk(target)
                  if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)]  # fmt: skip
    return names


def assigned_twice(cells: list[str]) -> list[str]:
    """Names that two cells assign: functions read globals late, and would see the second."""
    where: dict[str, set[int]] = {}
    for number, cell in enumerate(cells):
        for statement in ast.parse(re.sub(r"(?m)^[%!].*$", "", cell)).body:
            for name in assigned(statement):
                where.setdefault(name, set()).add(number)
    return sorted(
        n for n, found in where.items() if len(found) > 1 and n not in ("_", "ax", "axes")
    )


@every_page
def test_no_name_is_assigned_in_two_cells(path):
    assert not assigned_twice([source(c) for c in code_cells(path)])


@every_page
def test_no_statements_are_joined_and_no_layout_is_kept(path):
    for cell in code_cells(path):
        text = source(cell)
        assert "fmt: skip" not in text
        assert "fmt: off" not in text
        lines = [node.lineno for node in ast.parse(re.sub(r"(?m)^[%!].*$", "", text)).body]
        assert len(lines) == len(set(lines)), f"two statements on a line: {text[:60]!r}"


@every_page
def test_what_is_checked_is_said(path):
    """A bare assert tells a reader nothing when it holds: `checks` says what was checked."""
    found = []
    for cell in code_cells(path):
        tree = ast.parse(re.sub(r"(?m)^[%!].*$", "", source(cell)))
        found += [ast.unparse(node) for node in tree.body if isinstance(node, ast.Assert)]
    assert not found


def test_the_page_on_an_own_model_runs_as_it_is_shown():
    """Its visible cells import three packages and use no name of the cells in its fold."""
    cells = code_cells(BOOK / "own_model.ipynb")
    shown = [source(c) for c in cells if not {"run", "check"} & set(tags(c))]
    nodes = list(ast.walk(ast.parse("\n".join(shown))))
    imports = [alias for node in nodes if isinstance(node, ast.Import) for alias in node.names]
    assert {alias.name for alias in imports} == {"matplotlib.pyplot", "numpy", "rbmlib"}
    assert not [node for node in nodes if isinstance(node, ast.ImportFrom)]
    names = [node for node in nodes if isinstance(node, ast.Name)]
    known = {node.id for node in names if isinstance(node.ctx, ast.Store)} | set(dir(builtins))
    assert {node.id for node in names} <= known | {alias.asname for alias in imports}


def test_the_template_is_stored_as_it_ran():
    counts = [cell["execution_count"] for cell in code_cells(PAGES[-1])]
    assert counts == list(range(1, len(counts) + 1))


def test_what_counts():
    long = "x = [\n" + "    1,\n" * 11 + "]"
    assert too_long(["y = 2", long]) == [f"13 lines: {long[:60]!r}"]
    assert not too_long(["x = (\n    1)", "y = 3"])
    joined = "f(" + ", ".join(f"argument_{i}={i}" for i in range(16)) + ")"
    assert too_long([joined])[0].startswith("18 lines")
    assert assigned_twice(["a = 1\nb = 2", "a, c = 3, 4", "def b(): pass"]) == ["a", "b"]
    assert not assigned_twice(["a = 1\na = 2", "f(lambda: [q for q in a])", "[q for q in a]"])
    assert assigned_twice(["for i in r:\n    total = i", "with f() as total:\n    pass"]) == [
        "total"
    ]
