"""The store of results: nothing is replaced, lost, or taken for what it is not."""

import sqlite3
import subprocess
import sys
from contextlib import closing

import pytest
from helpers_sweep import TASKS, square

from rbmlib import Sweep
from rbmlib.sweeps import sweep
from rbmlib.sweeps.store import Record, ResultsStore, StoreError

VERSION = f"{square.__module__}.square 1"  # of a sweep of squares


def record(key, **more):
    return Record(**({"key": key, "task": {"n": 1}, "result": {"x": 1.5}, "error": None,
                      "provenance": {}} | more))  # fmt: skip


def test_a_result_is_never_replaced_but_an_error_is(tmp_path):
    with ResultsStore(tmp_path / "s.sqlite", "v") as store:
        store.put([record("a"), record("b", result=None, error="bad")])
        store.put([record("a", result={"x": 2.5}), record("b")])
    with ResultsStore(tmp_path / "s.sqlite", "v") as store:
        assert store.records() == {"a": record("a"), "b": record("b")}


def test_values_come_back_exactly(tmp_path):
    values = {
        "a": 0.1 + 0.2,
        "b": 5e-324,
        "c": -(2**63),
        "d": True,
        "e": None,
        "f": "ß",
        "g": 1e300,
    }
    with ResultsStore(tmp_path / "s.sqlite", "v") as store:
        store.put([record("k", result=values)])
        assert store.records()["k"].result == values


def spoil(kind, path):
    if kind == "not a database":
        path.write_bytes(b"not a database at all" * 100)
        return
    if kind == "foreign":
        with closing(sqlite3.connect(path)) as connection:
            connection.execute("CREATE TABLE songs (name TEXT)")
        return
    ResultsStore(path, "another version" if kind == "version" else VERSION).close()
    if kind == "form":
        with closing(sqlite3.connect(path)) as connection:
            connection.execute("PRAGMA user_version = 99")


@pytest.mark.parametrize(
    ("kind", "words"),
    [
        ("version", "another version of the code"),
        ("form", "another rbmlib"),
        ("foreign", "no store of sweep results"),
        ("not a database", "damaged, or no SQLite"),
    ],
)
def test_other_stores_are_refused_and_left_alone(tmp_path, monkeypatch, kind, words):
    monkeypatch.setattr(sweep, "connected", None)  # no work may start
    store = tmp_path / "sweep.sqlite"
    spoil(kind, store)
    before = store.read_bytes()
    with pytest.raises(StoreError, match=words):
        Sweep(TASKS, square, folder=tmp_path).run()
    assert store.read_bytes() == before


def test_a_store_in_use_is_refused(tmp_path):
    with ResultsStore(tmp_path / "sweep.sqlite", VERSION):
        place = str(tmp_path / "sweep.sqlite")
        code = f"import rbmlib.sweeps.store as s; s.ResultsStore({place!r}, 'v')"
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert "another process is using it" in done.stderr


FULL = """
import resource, sys
from rbmlib.sweeps.store import Record, ResultsStore, StoreError
store = ResultsStore(sys.argv[1], "v")
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
    with ResultsStore(target, "v") as store:
        assert set(store.records()) >= {str(i) for i in range(n)}
        store.put([record("more")])
