"""L3: every chapter runs as the README says: papermill, other parameters, any working directory."""

import ast
import re
import subprocess
import sys
from pathlib import Path

import matplotlib.pyplot as plt
import nbclient
import nbformat
import numpy as np
import pytest
import yaml
from helpers_book import (
    BOOK,
    chapter_name,
    chapter_paths,
    checks_a_source,
    open_cells,
    read,
    source,
    tags,
)

import rbmlib as rl
from rbmbook.claims import short

pytestmark = pytest.mark.chapters

SET_UP = 2  # cells after the parameters, by which wrong ones must have been refused
GIVEN_UP = 600  # seconds: something hangs; a chapter takes some 10 to 20 on a free machine

# Smaller parameters and another seed, which keep the chapter's own checks true: a file a chapter.
# A chapter without one has half of each whole number.
SMALL = yaml.safe_load((Path(__file__).parent / "small_parameters.yaml").read_text("utf-8"))

# Models of other sizes than the book's: lessons get images with their data, notebooks of Check a
# model whose units form no picture, without data.
SIDE, N_HIDDEN = 8, 10


def at_night(left_out) -> list:
    """Every chapter; those that are left out by day are marked so."""
    return [
        pytest.param(path, id=chapter_name(path), marks=[pytest.mark.nightly][: left_out(path)])
        for path in chapter_paths()
    ]


@pytest.fixture(scope="session")
def own_files(tmp_path_factory):
    """A trained RBM of 8 x 8 digits with its data, and an RBM of 30 visible units."""
    folder = tmp_path_factory.mktemp("own")
    images = rl.datasets.load_mnist().train[:20_000].reshape(-1, 28, 28)[:, 2:26, 2:26]
    digits = (images.reshape(-1, SIDE, 3, SIDE, 3).mean(axis=(2, 4)) > 0.4).reshape(-1, SIDE**2)
    np.save(folder / "digits.npy", digits.astype(np.uint8))
    trained = rl.train(digits.astype(float), N_HIDDEN, n_updates=2000, rng=0)
    trained.rbm.save(folder / "digits.npz")
    rl.testsystems.random_rbm(30, N_HIDDEN, rng=0).save(folder / "thirty.npz")
    own_family(folder)
    return folder


def own_family(folder) -> None:
    """200 sequences of 10 letters of DNA in a FASTA file, and a model of letters."""
    letters = np.random.default_rng(0).integers(0, 4, size=(200, 10))
    words = ("".join("ACGT"[k] for k in row) for row in letters)
    (folder / "dna.fasta").write_text("".join(f">s\n{word}\n" for word in words))
    weights = 0.3 * np.random.default_rng(1).normal(size=(40, 3))
    rl.RBM(rl.Potts(np.zeros(40), 4), rl.Binary(np.zeros(3)), weights).save(folder / "letters.npz")


def own_model(chapter, own_files) -> dict:
    """Parameters that give a chapter a model or data of another size, where it takes them."""
    declared = parameters_of(chapter)
    if "alphabet" in declared:
        files = {"model": "letters.npz", "data": "dna.fasta"}
        return {name: str(own_files / file) for name, file in files.items()} | {"alphabet": "ACGT"}
    if "model" not in declared:
        return {"data": str(own_files / "digits.npy")} if "data" in declared else {}
    if checks_a_source(chapter):
        return {"model": str(own_files / "thirty.npz")}
    return {"model": str(own_files / "digits.npz"), "data": str(own_files / "digits.npy")}


def parameters_of(path) -> dict:
    """Names, types and defaults in the cell tagged `parameters`."""
    cell = next(c for c in read(path)["cells"] if "parameters" in tags(c))
    return {
        node.target.id: (ast.unparse(node.annotation), ast.literal_eval(node.value))
        for node in ast.parse(source(cell)).body
    }


def small_parameters(chapter) -> dict:
    declared = parameters_of(chapter)
    numbers = {k: v for k, (kind, v) in declared.items() if kind == "int" and v > 1}
    if short(chapter) in SMALL:
        return SMALL[short(chapter)]
    halves = {name: n // 2 for name, n in numbers.items()}
    return halves | ({"seed": 20} if "seed" in declared else {})


@pytest.mark.parametrize("chapter", at_night(checks_a_source))
def test_chapter_runs_with_other_parameters(chapter, tmp_path, kernel, own_files):
    given = small_parameters(chapter) | own_model(chapter, own_files)
    code, place = code_and_place(chapter)
    injected = "\n".join(f"{name} = {value!r}" for name, value in given.items())
    run_cells(kernel, tmp_path, [*code[: place + 1], injected, *code[place + 1 :]])
    stderr = [o for c in kernel.nb.cells for o in c.outputs if o.get("name") == "stderr"]
    assert not stderr
    assert not list(tmp_path.iterdir()), "the chapter left files"


def test_a_chapter_runs_by_the_command_line(tmp_path, own_files):
    chapter, target = BOOK / "learn/01_start.ipynb", tmp_path / "out.ipynb"
    given = small_parameters(chapter) | own_model(chapter, own_files)
    done = subprocess.run(
        [sys.executable, "-m", "papermill", str(chapter), str(target), "--no-progress-bar", "-y",
         yaml.safe_dump(given)],
        cwd=tmp_path, capture_output=True, text=True, timeout=GIVEN_UP, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-3000:]
    cells = [c for c in read(target)["cells"] if c["cell_type"] == "code"]
    assert any("injected-parameters" in c["metadata"]["tags"] for c in cells)
    assert all(c["execution_count"] for c in cells if "".join(c["source"]).strip())
    assert {path.name for path in tmp_path.iterdir()} == {"out.ipynb"}, "the chapter left files"


def code_and_place(chapter) -> tuple[list[str], int]:
    """The code cells of a chapter, and which of them holds the parameters."""
    cells = [c for c in nbformat.read(chapter, 4).cells if c.cell_type == "code"]
    place = next(i for i, c in enumerate(cells) if "parameters" in tags(c))
    return [c.source for c in cells], place


def run_cells(client, folder, sources: list[str]) -> None:
    """On a kernel that has forgotten all names, in a folder."""
    sources = ["%reset -f", f"%cd -q {folder}", *sources]
    client.nb.cells = [nbformat.v4.new_code_cell(text) for text in sources]
    for i, cell in enumerate(client.nb.cells):
        client.execute_cell(cell, i)


@pytest.fixture(scope="session")
def kernel():
    """One for all chapters of a process, which forgets all names before each."""
    client = nbclient.NotebookClient(
        nbformat.v4.new_notebook(), timeout=GIVEN_UP, kernel_name="python3"
    )
    with client.setup_kernel():
        yield client


def test_parameters_are_checked_before_anything_is_computed(chapter):
    code, place = code_and_place(chapter)
    first_cells = "\n".join(code[place + 1 : place + 1 + SET_UP])
    statements = ast.parse(re.sub(r"(?m)^%.*$", "", first_cells)).body
    first = next(s for s in statements if not isinstance(s, ast.Import | ast.ImportFrom))
    called = r"(\w+ = )?(\w+\.)?(begin|begin_families|checked_parameters)\(globals\(\)"
    assert re.match(called, ast.unparse(first))


HIDDEN = {"run", "check"}
ALONE = [path for path in chapter_paths() if path.parent.name == "learn"] + [
    BOOK / "use/own_model.ipynb"
]


@pytest.mark.parametrize("path", ALONE, ids=chapter_name)
def test_the_code_that_a_lesson_shows_runs_alone(path, monkeypatch):
    monkeypatch.setitem(sys.modules, "rbmbook", None)  # to import it is an ImportError
    namespace: dict = {"__name__": "__main__"}
    for cell in open_cells(read(path)["cells"]):
        if cell["cell_type"] == "code" and not HIDDEN & set(tags(cell)):
            exec(compile(source(cell), f"{path.stem}: {cell['id']}", "exec"), namespace)
            namespace |= small_parameters(path) if "parameters" in tags(cell) else {}
    plt.close("all")
