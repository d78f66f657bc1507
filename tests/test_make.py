"""A chapter is run by the rule of the Makefile that `make book` applies to all; at night
`make chapter` renders it too."""

import subprocess

import pytest
from helpers_book import NIGHTLY, REPOSITORY

pytestmark = pytest.mark.processes

CHAPTER, NAME = "learn/01_start", "start"


def test_make_runs_a_copy_of_a_chapter(read_notebook):
    name = f"_build/tests/src/book/{CHAPTER}.ipynb"
    copy, page = REPOSITORY / name, f"_build/tests/_build/html/book/{CHAPTER}.html"
    copy.unlink(missing_ok=True)
    source = REPOSITORY / "book" / f"{CHAPTER}.ipynb"
    committed = source.read_bytes()
    done = subprocess.run(
        # one thread: two on a busy machine wait for each other, at four times the cost
        ["make", *(["chapter", f"NAME={NAME}"] if NIGHTLY else [name]), "CORES=1",
         "OUT=_build/tests", "SRC=_build/tests/src"],
        cwd=REPOSITORY, capture_output=True, text=True, timeout=600, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-3000:]
    assert f"{CHAPTER}: done in" in done.stdout
    if NIGHTLY:
        assert f"open {page}" in done.stdout
        assert (REPOSITORY / page).is_file()
    cells = [c for c in read_notebook(copy)["cells"] if c["cell_type"] == "code"]
    assert all(c["execution_count"] for c in cells if "".join(c["source"]).strip())
    assert "papermill" in read_notebook(copy)["metadata"], "this very run"
    assert source.read_bytes() == committed, "a tracked file changed"
    read = copy.with_suffix(".d").read_text(encoding="utf-8").split("\n")[0].split()[1:]
    assert {"rbmlib/estimators/ais.py", "book/lab/live.py", "data/reference.csv"} <= set(read)
    assert not [name for name in read if name.startswith("tests/") or "__pycache__" in name]
