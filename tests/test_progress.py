"""What `make book` says while it runs."""

import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import pytest
from helpers_book import BOOK, REPOSITORY

from rbmbook.notebooks import notebooks

sys.path.insert(0, str(BOOK / "_tools"))

from progress import Progress, in_words


def test_first_build_is_estimated_and_the_second_remembers(tmp_path):
    build = Progress(tmp_path, ["a", "b", "c"], jobs=1)
    assert build.start() == "3 chapters to run: about 60 s (estimated)"
    assert build.done("a", 20) == "1 of 3  a: done in 20 s, about 40 s left"
    assert build.done("b", 30) == "2 of 3  b: done in 30 s, about 20 s left"
    assert build.done("c", 10) == "3 of 3  c: done in 10 s"
    again = Progress(tmp_path, ["a", "b", "c"], jobs=2)
    assert again.start() == "3 chapters to run: about 30 s (as last time)"


def test_a_chapter_of_its_own_is_counted_from_one(tmp_path):
    assert Progress(tmp_path, []).done("ais", 42) == "ais: done in 42 s"
    assert Progress(tmp_path, ["ais"]).start() == "1 chapter to run: about 40 s (as last time)"
    assert Progress(tmp_path, []).start() == "every chapter is up to date"


def test_chapters_that_end_together_are_all_counted(tmp_path):
    names = [f"chapter{i}" for i in range(20)]
    Progress(tmp_path, names).start()
    with ThreadPoolExecutor(8) as pool:
        lines = list(pool.map(lambda name: Progress(tmp_path, names).done(name, 1.0), names))
    assert sorted(int(line.split()[0]) for line in lines) == list(range(1, 21))


def test_a_damaged_record_does_not_stop_the_build(tmp_path):
    (tmp_path / "seconds.json").write_text("{")
    assert Progress(tmp_path, ["a"]).start().startswith("1 chapter to run")


@pytest.mark.parametrize(
    ("seconds", "words"), [(3, "about 5 s"), (62, "about 60 s"), (480, "about 8 minutes")]
)
def test_times_in_words(seconds, words):
    assert in_words(seconds) == words


def test_make_book_announces_every_chapter_that_is_to_be_run(tmp_path):
    """The list that the Makefile makes: of a build folder without anything, all notebooks."""
    done = subprocess.run(
        ["make", "--silent", "-n", "executed", f"SRC={tmp_path}/src"],
        cwd=REPOSITORY, capture_output=True, text=True, check=True,
    )  # fmt: skip
    named = {
        word for word in done.stdout.split() if word.startswith("book/") and word.endswith(".ipynb")
    }
    assert named == {str(path.relative_to(REPOSITORY)) for path in notebooks(BOOK)}
