"""What a long run says of itself: lines in a log, nothing in a notebook, silence if told to; and
what `make book` says."""

import io
import re
import subprocess
import sys
import threading
from functools import partial

import pytest
from helpers_book import BOOK, NIGHTLY, REPOSITORY, read
from progress import Progress
from test_estimators import RUNS as ESTIMATORS
from tqdm import tqdm

import rbmlib as rl
from rbmbook.claims import notebooks
from rbmlib import context

PATH = rl.GeometricPath(rl.testsystems.random_rbm(n_visible=12, n_hidden=6, rng=0), "mean_field")
RUNS = {
    name: partial(ESTIMATORS[name], PATH, 0)
    for name in ("ais", "reverse_ais", "bar", "rts", "ti", "mbar", "sams", "wang_landau")
} | {
    "parallel tempering": lambda: rl.parallel_tempering(PATH, [0, 0.5, 1], 4, 40, rng=0),
    "mean-field base": lambda: rl.GeometricPath(PATH.rbm),
    "log_z": lambda: rl.log_z(PATH.rbm, n_steps=20, n_chains=20, enumerate_small=False),
}


@pytest.fixture
def heard(monkeypatch, capsys):
    """What is said, where everything is said at once."""
    monkeypatch.setattr(context, "QUIET_SECONDS", -1.0)
    monkeypatch.setattr(context, "EVERY_SECONDS", 0.0)
    return lambda: capsys.readouterr().err


@pytest.fixture
def clock(monkeypatch, capsys):
    """The seconds that the library sees, and what is said."""
    seconds = [100.0]
    monkeypatch.setattr(context.time, "time", lambda: seconds[0])
    monkeypatch.setattr("tqdm.std.time", lambda: seconds[0])
    return seconds, lambda: capsys.readouterr().err


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", RUNS)
def test_every_estimator_is_heard_of_unless_told_to_be_silent(heard, name):
    with rl.using(progress=False):
        RUNS[name]()
    assert heard() == ""
    RUNS[name]()
    assert re.search(r"[\w ,-]+: (\d+% done|\d)", heard()), name


def lines(text):
    """What a log says, where each line begins with a return and the last is wiped."""
    return [line for line in text.split("\r") if line.strip()]


def test_lines_are_apart_and_tell_share_and_time_left(clock):
    seconds, said = clock
    with context.bar(200, "ais") as shown:
        for _ in range(100):
            seconds[0] += 0.25
            shown.update(2)
    assert lines(said()) == ["ais: 40% done, 00:15 left", "ais: 80% done, 00:05 left"]


def test_a_slow_first_step_is_no_measure_of_the_time_left(clock):
    """It may have compiled the loop: 2.9 s of 10,000 steps are not eight hours."""
    seconds, said = clock
    with context.bar(10_000, "ais") as shown:
        seconds[0] += 2.9
        for _ in range(2500):
            shown.update(1)
            seconds[0] += 0.004
    (line,) = lines(said())
    share, left = map(int, re.fullmatch(r"ais: (\d+)% done, 00:(\d+) left", line).groups())
    assert abs(left - 0.4 * (100 - share)) < 2


def test_the_clock_of_a_terminal_is_that_of_the_outermost_call(clock, monkeypatch):
    """Many short parts of a long run are heard of; short runs of their own are not."""
    seconds, said = clock
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True, raising=False)

    def part():
        with context.bar(2, "part") as shown:
            seconds[0] += 0.5
            shown.update()

    with rl.using(n_threads=1):
        for _ in range(10):
            part()
    assert said() == ""
    with context.inside_an_estimator():
        for _ in range(10):
            part()
    assert "part:  50%" in said()


@pytest.mark.parametrize("stream", [None, "closed"])
def test_a_run_outlives_its_log(monkeypatch, heard, stream):
    log = io.StringIO()
    monkeypatch.setattr(sys, "stderr", log if stream else None)
    with context.bar(4, "part") as shown:
        shown.update()
        log.close()
        shown.update()


def test_a_notebook_is_left_alone(monkeypatch):
    stream = type("OutStream", (io.StringIO,), {"__module__": "ipykernel.iostream"})()
    monkeypatch.setattr(sys, "stderr", stream)
    with context.bar(2, "part") as shown:
        assert shown.disable
        shown.update()
    assert stream.getvalue() == ""


def test_a_terminal_has_a_bar_after_two_seconds_and_no_thread_for_it(monkeypatch, clock):
    stream, (seconds, _) = io.StringIO(), clock
    stream.isatty = lambda: True
    monkeypatch.setattr(sys, "stderr", stream)
    monkeypatch.setattr(tqdm, "monitor", None)  # another bar of this process may have left one
    before = threading.enumerate()
    with context.bar(10, "ais") as shown:
        seconds[0] += 1.5
        shown.update()
        assert stream.getvalue() == ""
        seconds[0] += 1
        shown.update()
        assert "\rais:  20%|" in stream.getvalue()
    assert threading.enumerate() == before


# make book ----------------------------------------------------------------------------------


def test_first_build_is_estimated_and_the_second_remembers(tmp_path):
    build = Progress(tmp_path, ["a", "check/b", "c"], jobs=1)
    assert build.start() == "3 chapters to run: about 60 s (estimated)"
    assert build.done("a", 20) == "1 of 3  a: done in 20 s, about 40 s left"
    assert build.done("check/b", 30) == "2 of 3  check/b: done in 30 s, about 20 s left"
    assert build.done("c", 10) == "3 of 3  c: done in 10 s"
    (tmp_path / "seconds" / "c.txt").write_text("damaged")
    again = Progress(tmp_path, ["a", "check/b", "c"], jobs=2)
    assert again.start() == "3 chapters to run: about 35 s (estimated)"
    (tmp_path / "seconds" / "check+b.txt").write_text("70")
    assert "about 70 s" in again.start(), "no sooner than its longest chapter"
    assert Progress(tmp_path, []).done("ais", 42) == "ais: done in 42 s"
    assert Progress(tmp_path, ["ais"]).start() == "1 chapter to run: about 40 s (as last time)"
    assert Progress(tmp_path, []).start() == "every chapter is up to date"


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


CHAPTER, NAME = "learn/01_start", "start"


@pytest.mark.processes
def test_make_runs_a_copy_of_a_chapter():
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
    cells = [c for c in read(copy)["cells"] if c["cell_type"] == "code"]
    assert all(c["execution_count"] for c in cells if "".join(c["source"]).strip())
    assert "papermill" in read(copy)["metadata"], "this very run"
    assert source.read_bytes() == committed, "a tracked file changed"
    files = copy.with_suffix(".d").read_text(encoding="utf-8").split("\n")[0].split()[1:]
    assert {"rbmlib/estimators/ais.py", "book/lab/live.py", "data/reference.csv"} <= set(files)
    assert not [name for name in files if name.startswith("tests/") or "__pycache__" in name]
