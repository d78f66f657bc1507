"""Sweeps: tables, what is computed again, and what goes wrong before any work starts."""

import sqlite3
import subprocess
import sys
import threading
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest
from helpers_sweep import TASKS, read, results, run, square

from rbmbook.__main__ import main
from rbmbook.sweeps import Sweep
from rbmbook.sweeps import engine as _engine
from rbmbook.sweeps import run as _run
from rbmbook.sweeps.run import Record, ResultsStore, StoreError
from rbmlib import context


def key_of(sweep, n):
    return next(key for key, task in sweep.tasks.items() if task == {"n": n})


# results ------------------------------------------------------------------------------------


def test_table_is_sorted_and_provenance_goes_with_it(tmp_path):
    made, summary = run(TASKS, tmp_path)
    assert (summary.n_tasks, summary.n_before, summary.n_finished) == (3, 0, 3)
    rows = read(made.to_csv())
    assert list(rows[0])[:5] == ["n", "square", "root", "key", "seconds"]
    assert [[row["n"], row["square"], row["root"]] for row in rows] == [
        [str(n), str(n**2), repr(n**0.5)] for n in (1, 2, 3)
    ]
    assert [row["key"] for row in rows] == [key_of(made, n) for n in (1, 2, 3)]
    assert all(float(row["seconds"]) < 1 and row["rbmlib"] for row in rows)


def test_progress_counts_tasks(tmp_path, monkeypatch):
    counted = []

    class Shown:
        update = staticmethod(counted.append)
        set_postfix = close = staticmethod(lambda **_: None)

    monkeypatch.setattr(context, "_begun", lambda *_: Shown)
    run([{"n": n} for n in range(200)], tmp_path)
    assert sum(counted) == 200


def test_the_exit_code_tells_of_tasks_that_failed(tmp_path, monkeypatch, capsys):
    for numbers, code in (((1, 2), 0), ((1, -1), 1)):
        made = Sweep([{"n": n} for n in numbers], square, folder=tmp_path, name=f"to {numbers[1]}")
        monkeypatch.setattr("rbmbook.__main__.book_sweep", lambda *_, made=made, **__: made)
        assert main(["run", "any.yaml", "--workers", "0"]) == code
    assert "ArithmeticError: too small" in capsys.readouterr().err


def test_second_run_computes_only_what_is_new(tmp_path):
    run(TASKS, tmp_path)
    made, summary = run([*TASKS, {"n": 7}], tmp_path)
    assert (summary.n_before, summary.n_finished) == (3, 1)
    assert len(made.rows()) == 4
    _, other = run(TASKS, tmp_path, name="other", version="2")
    assert other.n_before == 0


def test_failed_task_is_recorded_and_tried_again(tmp_path):
    made, summary = run([{"n": -1}, {"n": 4}], tmp_path)
    assert list(summary.failed.values()) == ["ArithmeticError: too small"]
    assert results(made.to_csv()) == [
        {"n": "-1", "square": "", "root": "", "error": "ArithmeticError: too small"},
        {"n": "4", "square": "16", "root": "2.0", "error": ""},
    ]
    assert "in square" in made.records()[0].error  # the whole traceback is kept
    repaired = Sweep([{"n": -1}, {"n": 4}], lambda n: {"square": 1, "root": 1}, folder=tmp_path)
    repaired.tasks, repaired.digests = made.tasks, made.digests
    assert repaired.run(n_workers=0).n_finished == 1
    assert len(read(repaired.to_csv())) == 2


@pytest.mark.parametrize("result", [3, {}, {"x": [1]}, {"n": 1}, {"x": np.zeros(2)}])
def test_results_that_are_no_row_are_failures(tmp_path, result):
    _, summary = run([{"n": 1}], tmp_path, lambda n: result)
    assert len(summary.failed) == 1


def test_a_task_that_exits_is_recorded(tmp_path):
    _, summary = run([{"n": n} for n in range(3)], tmp_path, exits_at_one)
    assert summary.n_finished == 2
    assert list(summary.failed.values()) == ["SystemExit: 3"]


def exits_at_one(n):
    if n == 1:
        sys.exit(3)
    return {"square": n * n}


def test_tasks_whose_files_differ_on_the_worker_are_not_computed(tmp_path):
    files = [tmp_path / "one", tmp_path / "two"]
    for file in files:
        file.write_text("model")
    tasks = [{"file": str(file)} for file in files]
    made = Sweep(tasks, length_of, folder=tmp_path, digest=content_of)
    files[1].write_text("another model")
    summary = made.run(n_workers=0)
    assert summary.n_finished == 1
    assert "has another content here" in next(iter(summary.failed.values()))
    files[1].write_text("model")
    assert made.run(n_workers=0).n_before == 1
    assert [row["length"] for row in made.rows()] == [5, 5]


def content_of(task):
    return Path(task["file"]).read_text()


def length_of(file):
    return {"length": len(Path(file).read_text())}


def test_table_of_an_unfinished_sweep_is_refused(tmp_path):
    run(TASKS, tmp_path)
    with pytest.raises(ValueError, match="1 of 4 tasks have not been run"):
        Sweep([*TASKS, {"n": 9}], square, folder=tmp_path).to_csv()


# the table as the first source --------------------------------------------------------------


def test_what_lies_in_the_table_is_never_computed_again(tmp_path):
    made, _ = run(TASKS, tmp_path)
    before = made.to_csv().read_bytes()
    made.store.unlink()
    assert made.todo() == []
    assert [row["square"] for row in made.rows()] == [1, 4, 9]
    again, summary = run(TASKS, tmp_path, fails)
    again.tasks, again.digests = made.tasks, made.digests
    assert summary.n_finished == 0  # another function has other keys
    again.store.unlink()
    assert again.run(n_workers=0)[:3] == (3, 3, 0)
    assert again.to_csv().read_bytes() == before
    _, summary = run([*TASKS, {"n": 7}], tmp_path, name="sweep")
    assert (summary.n_before, summary.n_finished) == (3, 1)


@pytest.mark.parametrize("threads", [None, "2"])
def test_a_table_written_again_from_itself_is_the_same(tmp_path, monkeypatch, threads):
    monkeypatch.delenv("RBMLIB_NUM_THREADS", raising=False)
    if threads:
        monkeypatch.setenv("RBMLIB_NUM_THREADS", threads)
    made, _ = run(TASKS, tmp_path)
    before = made.to_csv().read_bytes()
    assert [row["threads"] for row in read(made.table)] == [threads or ""] * 3
    made.store.unlink()
    assert made.to_csv().read_bytes() == before


def fails(n):
    raise AssertionError("it was computed again")


@pytest.mark.parametrize("damage", ["a row is gone", "a setting", "a key", "an error"])
def test_a_row_that_is_not_of_the_task_is_computed(tmp_path, damage):
    made, _ = run(TASKS, tmp_path)
    text, table = made.to_csv().read_text(), results(made.table)
    made.store.unlink()
    *others, last = text.splitlines(True)
    damaged = {
        "a row is gone": "",
        "a setting": last.replace("3,9", "5,9"),
        "a key": last.replace(key_of(made, 3), "0" * 32),
        "an error": last.replace(f"9,{3**0.5!r}", ","),
    }[damage]
    made.table.write_text("".join(others) + damaged)
    assert len(made.todo()) == 1
    assert made.run(n_workers=0)[:3] == (3, 2, 1)
    assert results(made.to_csv()) == table


# what else may be missing -------------------------------------------------------------------


def test_unreachable_scheduler_is_said(tmp_path):
    made = Sweep(TASKS, square, folder=tmp_path)
    with pytest.raises(RuntimeError, match=r"no Dask scheduler answers there.*start `dask sched"):
        made.run("tcp://127.0.0.1:9")
    for address in ("nowhere", "10.0.0.5:1", "tcp://10.0.0.5", "tcp://10.0.0.5:x", "http://a:80"):
        with pytest.raises(ValueError, match="expected the address of a Dask scheduler"):
            made.run(address)
    for n_workers in (-1, 1.5, "two"):
        with pytest.raises(ValueError, match=r"n_workers is .*: expected a whole number"):
            made.run(n_workers=n_workers)
    assert not list(tmp_path.iterdir())  # said before a store is made


def test_workers_with_other_code_are_refused(tmp_path, monkeypatch):
    def version():  # of the worker, which is another thread here
        return threading.current_thread() is threading.main_thread()

    monkeypatch.setattr(_engine, "worker_version", version)
    with pytest.raises(RuntimeError, match="install the same rbmlib everywhere"):
        Sweep(TASKS, square, folder=tmp_path).run(n_workers=0)


@pytest.mark.parametrize(
    ("n_workers", "n_tasks", "wanted"),
    [(None, 100, 4), (None, 3, 3), (None, 0, 1), (5, 1, 5), (0, 100, 1)],
)
def test_as_many_processes_as_cores_or_tasks(monkeypatch, n_workers, n_tasks, wanted):
    """Eight cores, two threads each."""
    monkeypatch.setattr("dask.system.CPU_COUNT", 8)
    monkeypatch.setenv("RBMLIB_NUM_THREADS", "2")
    assert _engine._n_processes(n_workers, n_tasks) == wanted


def record(key, **more):
    return Record(**({"key": key, "task": {"n": 1}, "result": {"x": 1.5}, "error": None,
                      "provenance": {}} | more))  # fmt: skip


def test_a_result_is_never_replaced_but_an_error_is(tmp_path):
    with ResultsStore(tmp_path / "s.sqlite") as store:
        store.put([record("a"), record("b", result=None, error="bad")])
        store.put([record("a", result={"x": 2.5}), record("b")])
    with ResultsStore(tmp_path / "s.sqlite") as store:
        assert store.records() == {"a": record("a"), "b": record("b")}


def test_values_come_back_exactly(tmp_path):
    given = 0.1 + 0.2, 5e-324, -(2**63), True, None, "ß", 1e300
    values = dict(zip("abcdefg", given, strict=True))
    with ResultsStore(tmp_path / "s.sqlite") as store:
        store.put([record("k", result=values)])
        assert store.records()["k"].result == values


@pytest.mark.parametrize("kind", ["foreign", "not a database"])
def test_other_files_are_refused_and_left_alone(tmp_path, monkeypatch, kind):
    monkeypatch.setattr(_run, "connected", None)  # no work may start
    store = tmp_path / "sweep.sqlite"
    if kind == "foreign":
        with closing(sqlite3.connect(store)) as connection:
            connection.execute("CREATE TABLE songs (name TEXT)")
    else:
        store.write_bytes(b"not a database at all" * 100)
    before = store.read_bytes()
    with pytest.raises(StoreError, match=r"no store of sweep results; move it away"):
        Sweep(TASKS, square, folder=tmp_path).run()
    assert store.read_bytes() == before


FULL = """
import resource, sys
from rbmbook.sweeps.run import Record, ResultsStore, StoreError
store = ResultsStore(sys.argv[1])
resource.setrlimit(resource.RLIMIT_FSIZE, (200_000, 200_000))
try:
    for i in range(1000):
        store.put([Record(str(i), {"n": i}, {"x": "y" * 1000}, None, {})])
        print(i, flush=True)
except StoreError as error:
    sys.exit(str(error))
"""


def test_disk_that_fills_on_the_way_loses_nothing_that_was_stored(tmp_path):
    target = str(tmp_path / "s.sqlite")
    done = subprocess.run([sys.executable, "-c", FULL, target], capture_output=True, text=True)
    assert "make room, and start again" in done.stderr
    n = len(done.stdout.split())
    assert n > 10
    with ResultsStore(target) as store:
        assert set(store.records()) >= {str(i) for i in range(n)}
        store.put([record("more")])


# damaged files ------------------------------------------------------------------------------

MANY = {f"{i:032x}": record(f"{i:032x}", task={"n": i}, result={"x": i / 7}) for i in range(60)}


@pytest.fixture(scope="module")
def whole(tmp_path_factory) -> bytes:
    path = tmp_path_factory.mktemp("whole") / "s.sqlite"
    with ResultsStore(path) as store:
        store.put(MANY.values())
    return path.read_bytes()


def test_a_damaged_store_is_refused_and_left_as_it_is(tmp_path, whole):
    damaged = [whole[:n] for n in (10, 4096, 5000, len(whole) - 1)]
    damaged += [whole.replace(b'{"n": 7}', b'{"n" 7}}'), whole[:8192] + bytes(4096) + whole[12288:]]
    for i, content in enumerate(damaged):
        assert content != whole
        path = tmp_path / f"{i}.sqlite"
        path.write_bytes(content)
        with pytest.raises(StoreError, match=f"{i}.sqlite: it is damaged, or no store"):
            ResultsStore(path)
        assert path.read_bytes() == content


HALF_DONE = """
import os, sqlite3, sys
connection = sqlite3.connect(sys.argv[1], isolation_level=None)
connection.execute("PRAGMA cache_size = 1")  # so that changes reach the file before the commit
connection.execute("BEGIN")
connection.execute("UPDATE results SET result = '{}', provenance = hex(randomblob(4000))")
os._exit(0)
"""


def test_what_a_killed_process_left_is_put_right(tmp_path, whole):
    path = tmp_path / "s.sqlite"
    path.write_bytes(whole)
    subprocess.run([sys.executable, "-c", HALF_DONE, str(path)], check=True)
    assert list(tmp_path.glob("s.sqlite-*")), "the process left nothing"
    with ResultsStore(path) as store:
        assert store.records() == MANY
