"""L0: what a committed notebook must look like, read from its file without running it."""

import ast
import re

import pytest
from helpers_book import figures, leaks, n_tables, read, shown_text, source, tags

DRAWN = "application/vnd.rbmlib.figure+json"
IGNORE = "nbval-ignore-output"


@pytest.fixture
def cells(chapter):
    return read(chapter)["cells"]


def code_of(cells) -> list[dict]:
    return [cell for cell in cells if cell["cell_type"] == "code" and source(cell).strip()]


@pytest.fixture
def code(cells):
    return code_of(cells)


def parsed(cell) -> ast.Module:
    """IPython's own lines are left out."""
    return ast.parse(re.sub(r"(?m)^[%!].*$", "", source(cell)))


def test_ran_from_top_to_bottom_without_an_error(code):
    counts = [cell["execution_count"] for cell in code]
    assert counts == list(range(1, len(counts) + 1)), "run `make notebooks`"
    outputs = [o for cell in code for o in cell["outputs"]]
    assert not [o for o in outputs if o["output_type"] == "error" or o.get("name") == "stderr"]


def test_parameters_are_annotated_literals_with_a_comment(code):
    """The comment is shown by papermill as help, and on the page of parameters."""
    assert [cell for cell in code if "parameters" in tags(cell)] == code[:1]
    lines, names = source(code[0]).splitlines(), set()
    for statement in ast.parse(source(code[0])).body:
        assert isinstance(statement, ast.AnnAssign), lines[statement.lineno - 1]
        ast.literal_eval(statement.value)
        assert "#" in lines[statement.end_lineno - 1], lines[statement.end_lineno - 1]
        names.add(statement.target.id)
    # where a model is given, lines may show their seeds; stored tables alone need none
    assert {"seed", "model", "scheduler"} & names


def test_no_trace_of_a_tool_or_of_a_run(chapter, cells):
    metadata = read(chapter)["metadata"]
    assert set(metadata) <= {"kernelspec", "language_info"}
    assert metadata["kernelspec"]["name"] == "python3"
    assert len({cell["id"] for cell in cells}) == len(cells)
    for cell in cells:
        assert set(cell["metadata"]) <= {"tags", "mystnb", "jupyter", "editable"}
        assert "injected-parameters" not in tags(cell)


def test_cells_that_only_run_or_check_a_lesson_are_folded_in_jupyterlab(chapter, code):
    for cell in code if chapter.parent.name == "learn" else []:
        folded = cell["metadata"].get("jupyter", {}).get("source_hidden", False)
        assert folded == bool({"run", "check"} & {*tags(cell)})


def test_nothing_private_is_used(code):
    names = []
    for node in (node for cell in code for node in ast.walk(parsed(cell))):
        if isinstance(node, ast.Import):
            names += [alias.name for alias in node.names if alias.name.startswith("rbmlib")]
        elif isinstance(node, ast.ImportFrom) and (node.module or "").startswith("rbmlib"):
            names += [f"{node.module}.{alias.name}" for alias in node.names]
        elif isinstance(node, ast.Attribute):
            names.append(node.attr)
    assert not [name for name in names if re.search(r"(^|\.)_[a-zA-Z]", name)]


def test_what_a_cell_shows_is_seen_by_readers_and_by_nbval(code):
    """nbval shows what a trailing `;` hides; a table that is not the last line is lost."""
    for cell in code:
        last = source(cell).rstrip().splitlines()[-1]
        assert not re.sub(r"\s*#.*$", "", last).rstrip().endswith(";"), last
        tree = parsed(cell)
        lines = [node for node in ast.walk(tree) if isinstance(node, ast.Expr)]
        unseen = [ast.unparse(node) for node in lines if node is not (tree.body or [None])[-1]]
        assert not [line for line in unseen if line.startswith("tables.show(")]


def test_checked_cells_have_outputs_that_are_compared(code):
    found = [cell for cell in code if {"checked-table", "check"} & {*tags(cell)}]
    assert found
    for cell in found:
        assert cell["outputs"]
        assert IGNORE not in tags(cell)


def test_figures_are_svg_and_are_compared_by_what_they_draw(code):
    data = [o["data"] for cell in code for o in cell["outputs"] if "data" in o]
    for shown in data:
        images = [kind for kind in shown if kind.startswith("image/")]
        assert images in ([], ["image/svg+xml"])
        assert not images or DRAWN in shown, "it is compared by the digest of its data"


def test_figures_have_captions_and_descriptions(chapter, cells):
    """One a cell, and in lessons and Check a name for links; the description is no caption."""
    for cell in figures(cells):
        mystnb = cell["metadata"].get("mystnb", {})
        figure, alt = mystnb.get("figure", {}), mystnb.get("image", {}).get("alt", "")
        assert alt.strip()
        if figure:
            assert len(figures([cell])) + n_tables([cell]) == 1
            assert figure["caption"].strip() not in ("", alt)
            assert re.fullmatch(r"fig-[a-z0-9-]+", figure["name"])


def test_nothing_leaks_into_the_text(cells):
    """No repr or address in what is printed; an equation by {eq} or the number of its source."""
    printed = [shown_text(o) for cell in cells for o in cell.get("outputs", [])]
    assert not [leak for text in printed for leak in leaks(text)]
    assert not [leak for c in cells for leak in leaks(source(c)) if "a label" in leak]
