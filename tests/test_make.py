"""The commands of the README that run and render: `make chapter` does for one what `make book` does
for all, by the same rules of the Makefile. And what the set-up compiles."""

import os
import subprocess
import sys

import pytest
from helpers_book import REPOSITORY

pytestmark = pytest.mark.processes

CHAPTER = "start"


def test_make_chapter_runs_and_renders_it(read_notebook):
    copy = REPOSITORY / "_build" / "tests" / "src" / "book" / f"{CHAPTER}.ipynb"
    copy.unlink(missing_ok=True)
    committed = (REPOSITORY / "book" / copy.name).read_bytes()
    done = subprocess.run(
        # one thread: two on a busy machine wait for each other, at four times the cost
        ["make", "chapter", f"NAME={CHAPTER}", "CORES=1",
         "OUT=_build/tests", "SRC=_build/tests/src"],
        cwd=REPOSITORY, capture_output=True, text=True, timeout=600, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-3000:]
    assert f"{CHAPTER}: done in" in done.stdout
    assert f"open _build/tests/_build/html/book/{CHAPTER}.html" in done.stdout
    cells = [c for c in read_notebook(copy)["cells"] if c["cell_type"] == "code"]
    assert all(c["execution_count"] for c in cells if "".join(c["source"]).strip())
    assert "papermill" in read_notebook(copy)["metadata"], "this very run"
    assert (REPOSITORY / "_build/tests/_build/html/book" / f"{CHAPTER}.html").is_file()
    assert (REPOSITORY / "book" / copy.name).read_bytes() == committed, "a tracked file changed"
    read = copy.with_suffix(".d").read_text(encoding="utf-8").split("\n")[0].split()[1:]
    assert {"rbmlib/estimators/ais.py", "book/lab/live.py", "data/reference.csv"} <= set(read)
    assert not [name for name in read if name.startswith("tests/") or "__pycache__" in name]


def test_loops_are_compiled_ahead(tmp_path):
    """Into the folder that numba is told of; and it fails if one of its processes does."""
    command = [sys.executable, "-m", "rbmlib", "compile"]
    environment = os.environ | {"NUMBA_CACHE_DIR": str(tmp_path), "NUMBA_DISABLE_JIT": "0"}
    done = subprocess.run(command, env=environment, capture_output=True, timeout=600, check=False)
    assert done.returncode == 0, done.stderr
    assert len([*tmp_path.rglob("*.nbi")]) > 50
