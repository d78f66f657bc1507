"""The commands of the README that run and render: `make chapter` does for one what `make book` does
for all, by the same rules of the Makefile. And what the set-up compiles."""

import subprocess
import sys

import pytest
from helpers_book import REPOSITORY

from rbmlib import ahead

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


def test_loops_are_compiled_ahead(monkeypatch):
    """Here they are compiled already: it takes a few seconds to find that."""
    command = [sys.executable, "-m", "rbmlib", "compile"]
    done = subprocess.run(command, capture_output=True, timeout=600, check=False)
    assert done.returncode == 0, done.stderr
    monkeypatch.setattr(ahead, "HIDDEN", ("no number",))
    assert not ahead.compile_loops(), "what fails in one of the processes is told"
