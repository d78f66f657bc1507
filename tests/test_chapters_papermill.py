"""L3: every chapter runs as the README says: papermill, other parameters, any working directory."""

import ast
import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import yaml
from conftest import chapter_paths

pytestmark = pytest.mark.chapters

GIVEN_UP = 600  # seconds: something hangs; a chapter takes some 10 to 20 on a free machine

# Smaller parameters and another seed, which keep the chapter's own checks true: a file a chapter.
# A chapter without one has half of each whole number.
SMALL = Path(__file__).parent / "small_parameters"

# Chapters that take an RBM of any size; the bases of all others are the base rate of MNIST.
ANY_SIZE = {"start"}


def parameters_of(path) -> dict:
    """Names, types and defaults in the cell tagged `parameters`."""
    cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
    cell = next(c for c in cells if "parameters" in c["metadata"].get("tags", []))
    return {
        node.target.id: (ast.unparse(node.annotation), ast.literal_eval(node.value))
        for node in ast.parse("".join(cell["source"])).body
    }


def papermill(source, target, cwd, parameters: dict):
    """The command line of the README, with the parameters as YAML."""
    command = [sys.executable, "-m", "papermill", str(source), str(target), "--no-progress-bar"]
    return subprocess.run(
        [*command, "-y", yaml.safe_dump(parameters)],
        cwd=cwd, capture_output=True, text=True, timeout=GIVEN_UP, check=False,
    )  # fmt: skip


def small_parameters(chapter) -> dict:
    numbers = {k: v for k, (kind, v) in parameters_of(chapter).items() if kind == "int" and v > 1}
    own = SMALL / f"{chapter.stem}.yaml"
    if own.exists():
        return yaml.safe_load(own.read_text(encoding="utf-8"))
    return {name: n // 2 for name, n in numbers.items()} | {"seed": 20}


def test_small_parameters_are_of_chapters():
    assert {path.stem for path in SMALL.iterdir()} <= {path.stem for path in chapter_paths()}


def test_a_new_chapter_has_small_parameters(chapter, monkeypatch, tmp_path):
    monkeypatch.setattr(sys.modules[__name__], "SMALL", tmp_path)
    test_small_parameters_differ_from_the_defaults(chapter)


def test_small_parameters_differ_from_the_defaults(chapter):
    declared = parameters_of(chapter)
    small = small_parameters(chapter)
    assert set(small) <= set(declared)
    assert small["seed"] != declared["seed"][1]
    assert len(small) > 1
    assert all(declared[name][1] != value for name, value in small.items())


def test_chapter_runs_with_other_parameters(chapter, tmp_path, read_notebook):
    target = tmp_path / "out.ipynb"
    done = papermill(chapter, target, tmp_path, small_parameters(chapter))
    assert done.returncode == 0, done.stderr[-3000:]
    cells = [c for c in read_notebook(target)["cells"] if c["cell_type"] == "code"]
    assert any("injected-parameters" in c["metadata"]["tags"] for c in cells)
    assert all(c["execution_count"] for c in cells if "".join(c["source"]).strip())
    stderr = [o for c in cells for o in c["outputs"] if o.get("name") == "stderr"]
    assert not stderr
    assert {path.name for path in tmp_path.iterdir()} == {"out.ipynb"}, "the chapter left files"


def refusal(chapter, tmp_path, parameters: dict) -> str:
    """The last line that papermill prints about a run that must stop before it computes."""
    target = tmp_path / "out.ipynb"
    done = papermill(chapter, target, tmp_path, parameters)
    assert done.returncode != 0, "not refused"
    if target.exists():  # not if papermill itself refuses
        cells = json.loads(target.read_text(encoding="utf-8"))["cells"]
        run = [c for c in cells if c["cell_type"] == "code" and c["execution_count"]]
        assert len(run) <= 3, "more has run than the parameters and the set-up"
    return done.stderr.strip().splitlines()[-1]


@pytest.mark.parametrize("kind", ["int", "str"])
def test_wrong_parameter_is_refused_by_name(chapter, tmp_path, kind):
    """`-p n_chains ten` stops at once, with a message that names the parameter and the remedy."""
    declared = parameters_of(chapter)
    names = [name for name, (annotation, _) in declared.items() if annotation == kind]
    if not names:
        pytest.skip(f"no parameter of type {kind}")
    name = next((n for n in names if n != "seed"), names[0])
    wrong = {"int": "ten", "str": "no-such-thing"}[kind]
    message = refusal(chapter, tmp_path, {name: wrong})
    assert name in message
    assert wrong in message


def test_unknown_parameter_is_refused_by_name(chapter, tmp_path):
    assert "sead" in refusal(chapter, tmp_path, {"sead": 3})


def save_zeros(path, n_visible: int, n_hidden: int):
    np.savez(
        path,
        weights=np.zeros((n_visible, n_hidden)),
        visible_bias=np.zeros(n_visible),
        hidden_bias=np.zeros(n_hidden),
    )


def test_model_of_another_size_is_refused_by_the_set_up(chapter, tmp_path):
    """Most bases of a chapter are the base rate of MNIST: a model of 8 x 8 digits fits none."""
    if "model" not in parameters_of(chapter):
        pytest.skip("no parameter model")
    if chapter.stem in ANY_SIZE:
        pytest.skip("takes any size")
    save_zeros(tmp_path / "eight.npz", 64, 16)
    message = refusal(chapter, tmp_path, {"model": "eight.npz"})
    for words in ("model is 'eight.npz'", "n_visible=64", "expected", "784", "rbmlib logz"):
        assert words in message, message


@pytest.mark.parametrize("n_visible", [64, 30])
def test_model_of_another_size_runs_where_the_chapter_takes_it(chapter, tmp_path, n_visible):
    """A square of pixels is drawn; units that form none are not, and the set-up says so."""
    if chapter.stem not in ANY_SIZE:
        pytest.skip("takes models of MNIST only")
    save_zeros(tmp_path / "mine.npz", n_visible, 16)
    target = tmp_path / "out.ipynb"
    small = small_parameters(chapter) | {"model": "mine.npz"}
    done = papermill(chapter, target, tmp_path, small)
    assert done.returncode == 0, done.stderr[-3000:]
    cells = [c for c in json.loads(target.read_text())["cells"] if c["cell_type"] == "code"]
    said = "".join("".join(o.get("text", "")) for c in cells for o in c["outputs"])
    assert ("form no square" in said) == (n_visible == 30)
    assert "all checks passed" in said


def test_a_model_with_other_than_binary_units_is_refused(chapter, tmp_path):
    if chapter.stem not in ANY_SIZE:
        pytest.skip("takes models of MNIST only")
    message = refusal(chapter, tmp_path, {"model": "gaussian_cifar10"})
    assert "model is 'gaussian_cifar10'" in message
    assert "binary visible units" in message
