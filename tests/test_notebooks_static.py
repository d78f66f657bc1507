"""L0: what a committed notebook must look like, read from the file without running it."""

import ast
import re

import pytest
from helpers_book import chapter_paths, is_lesson, source, tags

# Of the code cells of a page, those whose digits depend on the processor: run, not compared.
NOT_COMPARED = 0.3

DRAWN = "application/vnd.rbmlib.figure+json"
IGNORE = "nbval-ignore-output"


@pytest.fixture
def notebook(chapter, read_notebook):
    return read_notebook(chapter)


@pytest.fixture
def code_cells(notebook):
    return [c for c in notebook["cells"] if c["cell_type"] == "code" and source(c).strip()]


def tagged(cells, tag) -> list:
    return [cell for cell in cells if tag in tags(cell)]


def outputs(cells, kind: str):
    return [(cell, o) for cell in cells for o in cell["outputs"] if o["output_type"] == kind]


def test_there_are_chapters(repository):
    assert chapter_paths(), "book/ holds no notebook"


def test_ran_from_top_to_bottom(code_cells):
    counts = [cell["execution_count"] for cell in code_cells]
    assert counts == list(range(1, len(counts) + 1)), "run `make notebooks`"


def test_no_error_and_nothing_on_stderr(code_cells):
    errors = [o["ename"] for _, o in outputs(code_cells, "error")]
    stderr = ["".join(o["text"]) for _, o in outputs(code_cells, "stream") if o["name"] == "stderr"]
    assert not errors
    assert not stderr


def test_parameters_are_annotated_literals(code_cells):
    parameters = tagged(code_cells, "parameters")
    assert len(parameters) == 1
    assert code_cells[0] is parameters[0], "the parameters come before any other code"
    text = source(parameters[0])
    lines = text.splitlines()
    names = []
    for statement in ast.parse(text).body:
        assert isinstance(statement, ast.AnnAssign), (
            f"not `name: type = literal`: {lines[statement.lineno - 1]}"
        )
        ast.literal_eval(statement.value)
        assert "#" in lines[statement.end_lineno - 1], (
            f"{statement.target.id} has no trailing comment, which papermill shows as its help"
        )
        names.append(statement.target.id)
    assert {"seed", "model"} & set(names)  # where a model is given, lines may show their seeds


def test_no_trace_of_a_tool_or_of_a_run(notebook):
    assert set(notebook["metadata"]) <= {"kernelspec", "language_info"}
    assert notebook["metadata"]["kernelspec"]["name"] == "python3"
    ids = [cell["id"] for cell in notebook["cells"]]
    assert len(ids) == len(set(ids))
    for cell in notebook["cells"]:
        assert set(cell["metadata"]) <= {"tags", "mystnb", "jupyter", "editable"}
        assert "injected-parameters" not in tags(cell)


def code_of(cells) -> ast.Module:
    """All code of a chapter; IPython's own lines are left out."""
    text = "\n".join(source(cell) for cell in cells)
    return ast.parse(re.sub(r"(?m)^%.*$", "", text))


def private_names(tree: ast.Module) -> list[str]:
    """Rooms and names of rbmlib that begin with an underscore, as far as a chapter uses them."""
    found = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            targets = [alias.name for alias in node.names if alias.name.startswith("rbmlib")]
        elif isinstance(node, ast.ImportFrom) and (node.module or "").startswith("rbmlib"):
            targets = [f"{node.module}.{alias.name}" for alias in node.names]
        elif isinstance(node, ast.Attribute):
            targets = [node.attr]
        else:
            continue
        parts = [(target, part) for target in targets for part in target.split(".")]
        found += [t for t, part in parts if re.match(r"_[a-zA-Z]", part)]
    return found


def test_nothing_private_is_used(code_cells):
    assert not private_names(code_of(code_cells)), "ask for a public way, or for one in rbmbook"


@pytest.mark.parametrize(
    ("code", "private"),
    [
        ("from rbmlib._kernels import tempering", ["rbmlib._kernels.tempering"]),
        ("import rbmlib._streams", ["rbmlib._streams"]),
        ("import rbmlib as rl\nrl.GeometricPath(rbm)._kernel()", ["_kernel"]),
        ("from rbmbook import tables\nlabel.__name__", []),
    ],
)
def test_what_counts_as_private(code, private):
    assert private_names(ast.parse(code)) == private


def test_no_chapter_defines_what_the_book_has(code_cells):
    from rbmbook import errors, timing

    shared = {name for room in (errors, timing) for name in vars(room) if not name.startswith("_")}
    nodes = ast.walk(code_of(code_cells))
    defined = {node.name for node in nodes if isinstance(node, ast.FunctionDef)}
    assert not defined & shared, "import these from rbmbook"


def test_no_output_is_hidden_by_a_semicolon(code_cells):
    """nbval shows what IPython's trailing `;` hides: write `_ = ax.plot(...)`."""
    for cell in code_cells:
        last = source(cell).rstrip().splitlines()[-1]
        assert not re.sub(r"\s*#.*$", "", last).rstrip().endswith(";"), last


def test_every_table_is_shown(code_cells):
    """A table is shown by `display`, or as the last line of its cell; elsewhere it is lost."""
    lost = []
    for cell in code_cells:
        tree = ast.parse(re.sub(r"^[%!].*$", "", source(cell), flags=re.MULTILINE))
        lines = [node for node in ast.walk(tree) if isinstance(node, ast.Expr)]
        unseen = [ast.unparse(node) for node in lines if node is not (tree.body or [None])[-1]]
        lost += [line for line in unseen if line.startswith("tables.show(")]
    assert lost == []


@pytest.mark.parametrize("tag", ["checked-table", "check"])
def test_checked_cells_have_outputs_that_are_compared(chapter, code_cells, tag):
    """A lesson may leave its asserts to the notebooks of Check."""
    cells = tagged(code_cells, tag)
    assert cells or (tag == "check" and is_lesson(chapter)), f"no cell is tagged {tag}"
    for cell in cells:
        assert cell["outputs"], f"the cell tagged {tag} shows nothing to compare"
        assert IGNORE not in tags(cell)
    if cells and tag == "check":
        assert any(re.search(r"assert|checks\(", source(cell)) for cell in cells)


def test_few_cells_are_left_uncompared(notebook, code_cells):
    ignored = tagged(notebook["cells"], IGNORE)
    assert len(ignored) <= NOT_COMPARED * len(code_cells)
    other = {t for cell in notebook["cells"] for t in tags(cell) if t.startswith("nbval-")} - {
        IGNORE
    }
    assert not other, f"only {IGNORE} is allowed, not {sorted(other)}"
    assert not [c for c in code_cells if "NBVAL" in source(c)], "a comment switches nbval off"


def test_figures_are_svg_with_alternative_text_and_what_is_drawn(code_cells):
    figures = outputs(code_cells, "display_data") + outputs(code_cells, "execute_result")
    for cell, output in figures:
        images = [kind for kind in output["data"] if kind.startswith("image/")]
        if not images:
            continue
        assert images == ["image/svg+xml"], "figures are stored as SVG: call `begin` first"
        assert DRAWN in output["data"], "a figure is compared by the digest of its data"
        alt = cell["metadata"].get("mystnb", {}).get("image", {}).get("alt", "")
        assert len(alt.split()) >= 4, (
            "describe the figure in the cell's metadata: mystnb: {image: {alt: ...}}"
        )
