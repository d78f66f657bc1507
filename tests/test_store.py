"""The store of results: nothing is replaced, lost, or taken for what it is not."""

import sqlite3
import subprocess
import sys
from contextlib import closing

import pytest
from helpers_sweep import TASKS, square

from rbmbook.sweeps import Sweep
from rbmbook.sweeps import run as _run
from rbmbook.sweeps.run import Record, ResultsStore, StoreError


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
    """Cut short, or with a structure that SQLite, or a text that JSON, does not understand."""
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
