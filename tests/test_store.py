"""The store of results: nothing is replaced, lost, or taken for what it is not."""

import os
import sqlite3
import subprocess
import sys
import warnings
from collections import Counter
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest
from helpers_sweep import TASKS, run, square

from rbmbook.sweeps import Sweep, sweep
from rbmbook.sweeps import store as store_module
from rbmbook.sweeps.store import Record, ResultsStore, StoreError

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
        target = str(tmp_path / "sweep.sqlite")
        code = f"import rbmbook.sweeps.store as s; s.ResultsStore({target!r}, 'v')"
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert "another process is using it" in done.stderr


def test_a_store_in_use_can_be_looked_at(tmp_path, monkeypatch):
    """From a copy, unless its log of changes was moved to it while it was copied."""
    target = tmp_path / "s.sqlite"
    with ResultsStore(target, "v") as store:
        store.put([record("a")])
        assert store_module.records_now(target, "v") == {"a": record("a")}
        store.put([record("b")])
        assert set(store_module.records_now(target, "v")) == {"a", "b"}
        copied = store_module.shutil.copyfile

        def moved(source, copy):
            copied(source, copy)
            os.utime(target)

        monkeypatch.setattr(store_module.shutil, "copyfile", moved)
        monkeypatch.setattr(store_module, "COPIES", 1)
        with pytest.raises(StoreError, match="while another process writes it"):
            store_module.records_now(target, "v")
        store.put([record("c")])
    assert set(store_module.records_now(target, "v")) == {"a", "b", "c"}


def test_a_torn_copy_of_a_store_is_made_anew(tmp_path, monkeypatch):
    """Its log of changes may go while it is copied, too."""
    target, copied, torn = tmp_path / "s.sqlite", store_module.shutil.copyfile, []

    def tears_once(source, copy):
        if torn and str(source).endswith("-wal"):
            raise FileNotFoundError(source)
        copied(source, copy)
        if not torn:
            torn.append(copy)
            Path(copy).write_bytes(b"no SQLite file" * 100)

    with ResultsStore(target, "v") as store:
        store.put([record("a")])
        monkeypatch.setattr(store_module.shutil, "copyfile", tears_once)
        store_module.records_now(target, "v")
    assert len(torn) == 1


FULL = """
import resource, sys
from rbmbook.sweeps.store import Record, ResultsStore, StoreError
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


# damaged files ------------------------------------------------------------------------------

MANY = {f"{i:032x}": record(f"{i:032x}", task={"n": i}, result={"x": i / 7}) for i in range(60)}


@pytest.fixture(scope="module")
def whole(tmp_path_factory) -> bytes:
    path = tmp_path_factory.mktemp("whole") / "s.sqlite"
    with ResultsStore(path, "v") as store:
        store.put(MANY.values())
    return path.read_bytes()


def open_and_complete(path) -> dict:
    """What a sweep does: read what is there, compute what is missing, read all."""
    with ResultsStore(path, "v") as store:
        known = store.records()
        store.put(one for key, one in MANY.items() if key not in known)
        return store.records()


def end(whole: bytes, path) -> str:
    """How a damaged store ends; nothing but a refusal of an unchanged file, or the right table."""
    path.write_bytes(whole)
    try:
        with warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always")
            found = open_and_complete(path)
    except StoreError as refusal:
        refused = str(refusal)
    else:
        refused = None
    if refused:
        assert str(path) in refused
        assert path.read_bytes() == whole
        return "refused"
    assert {key: found[key] for key in MANY} == MANY
    return "named" if said else "right"


def test_a_damaged_store_is_refused_unchanged_or_gives_the_right_table(tmp_path, whole):
    random, ends = np.random.default_rng(5), Counter()
    for i in range(150):
        damaged = bytearray(whole)
        position = random.integers(len(whole)) if i % 4 else random.integers(100)  # the header
        if i % 3:
            damaged[position] ^= 1 << random.integers(8)
        else:
            damaged[position : position + 16] = random.bytes(min(16, len(whole) - position))
        ends[end(bytes(damaged), tmp_path / f"{i}.sqlite")] += 1
    for n in (10, 4096, 5000, len(whole) - 1):
        ends[end(whole[:n], tmp_path / f"cut {n}.sqlite")] += 1
    assert min(ends[kind] for kind in ("refused", "named", "right")) > 10, ends


def test_a_record_with_other_provenance_is_damaged(tmp_path):
    """What a table says of seconds and versions is kept as safe as its results."""
    made, _ = run(TASKS, tmp_path)
    with closing(sqlite3.connect(made.store)) as connection, connection:
        connection.execute("UPDATE results SET provenance = ? WHERE task LIKE '%2%'", ("{}",))
    with pytest.warns(RuntimeWarning, match="1 records? in .* damaged"):
        assert made.todo() == [{"n": 2}]


def test_damaged_records_are_named_and_computed_again(tmp_path):
    made, _ = run(TASKS, tmp_path)
    table = made.to_csv().read_bytes()
    made.table.results.unlink()  # which would do as well
    content = made.store.read_bytes()
    assert content.count(b'{"square": 9,') == 1
    made.store.write_bytes(content.replace(b'{"square": 9,', b'{"square": 8,'))
    with pytest.warns(RuntimeWarning, match=made._key({"n": 3})):
        assert made.run(n_workers=0).n_finished == 1
    assert made.to_csv().read_bytes() == table


def test_damage_beside_a_log_of_changes_is_refused_unchanged(tmp_path, whole):
    """The process was killed: what it had stored is in the log, which must not be taken over."""
    path = tmp_path / "s.sqlite"
    code = (
        "import os, sys, rbmbook.sweeps.store as s; store = s.ResultsStore(sys.argv[1], 'v');"
        "store.put([s.Record(str(i), {}, {'x': i}, None, {}) for i in range(9)]); os._exit(0)"
    )
    path.write_bytes(whole)
    subprocess.run([sys.executable, "-c", code, str(path)], check=True)
    log = tmp_path / "s.sqlite-wal"
    before = path.read_bytes(), log.read_bytes()
    with pytest.raises(StoreError, match="another version"):
        ResultsStore(path, "w")
    assert (path.read_bytes(), log.read_bytes()) == before
    assert len(before[1]) > 0
    with ResultsStore(path, "v") as store:
        assert len(store.records()) == len(MANY) + 9
