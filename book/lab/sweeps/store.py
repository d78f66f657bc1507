"""Crash-safe store of task results: one SQLite file, one writer at a time.

`ResultsStore.put` returns when its records are on the disk: a process killed at any moment loses
what it had not yet put, and nothing else; a finished result is never replaced. A file that is no
store, or whose structure is damaged, is refused and left as it is. A record has a checksum: one
that is damaged is named, and counts as not computed.
"""

import hashlib
import json
import sqlite3
import warnings
from collections.abc import Iterable
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import NamedTuple

SHOWN = 5  # keys of damaged records in a warning
LOOKS = 5  # at a store that is being written
OF_DAMAGE = ("not a database", "malformed", "no such", "unsupported file format", "too big")
COLUMNS = "key, task, result, error, provenance, checksum"
TABLE = """
CREATE TABLE results (
    key TEXT PRIMARY KEY, task TEXT NOT NULL, result TEXT, error TEXT, provenance TEXT NOT NULL,
    checksum TEXT
) WITHOUT ROWID
"""


class Record(NamedTuple):
    """What is known of one task: its result, or the error that it ended with."""

    key: str
    task: dict
    result: dict | None
    error: str | None
    provenance: dict


class StoreError(RuntimeError):
    """The store cannot be used; nothing in it was changed."""


class ResultsStore:
    """Results by key, in the file ``path``, which is made if it is not there.

    Raises `StoreError` if it is no store, or another process uses it.
    """

    def __init__(self, path):
        self.path = Path(path)
        if self.path.exists() and not Path(f"{self.path.resolve()}-journal").exists():
            _look(self.path)  # nothing is changed in what is no store
        with _explained(self.path):
            self._connection = _opened(self.path, "mode=rwc")
            try:
                self._prepare()
                self._found = _records(self.path, self._connection)
            except BaseException:
                self._connection.close()
                raise

    def _prepare(self) -> None:
        execute = self._connection.execute
        execute("PRAGMA locking_mode = EXCLUSIVE")
        execute("PRAGMA journal_mode = DELETE")  # all that is committed lies in the one file
        execute("PRAGMA synchronous = FULL")  # a commit returns when the disk has it
        execute("BEGIN EXCLUSIVE")
        if not execute("SELECT count(*) FROM sqlite_master").fetchone()[0]:
            execute(TABLE)
        execute("COMMIT")

    def __enter__(self) -> "ResultsStore":
        return self

    def __exit__(self, *_) -> None:
        self._connection.close()

    def records(self) -> dict[str, Record]:
        """Everything stored, by key, but records that are damaged, which a warning names."""
        return dict(self._found)

    def put(self, records: Iterable[Record]) -> None:
        """Store all of them or none; a key that has a result keeps it."""
        found = self._found
        new = [one for one in records if one.key not in found or found[one.key].error]
        rows = []
        for key, task, result, error, provenance in new:
            text = None if result is None else json.dumps(result)
            row = key, json.dumps(task), text, error, json.dumps(provenance)
            rows.append((*row, _checksum(row)))
        with _explained(self.path), self._connection as connection:  # which commits, or rolls back
            connection.execute("BEGIN IMMEDIATE")
            connection.executemany("REPLACE INTO results VALUES (?, ?, ?, ?, ?, ?)", rows)
        found |= {one.key: one for one in new}


def records_now(path: Path) -> dict[str, Record]:
    """What a store holds, even if another process writes it."""
    for _ in range(LOOKS):
        with suppress(StoreError):  # a part of what is being written looks like damage
            return _look(path)
    with ResultsStore(path) as store:  # what a killed process left is put right
        return store.records()


def _look(path: Path) -> dict[str, Record]:
    """What the file holds, whoever uses it."""
    if not path.is_file():
        raise StoreError(f"{path} is no regular file: expected the name of a store")
    with _explained(path), closing(_opened(path, "immutable=1")) as connection:
        return _records(path, connection)


def _opened(path: Path, how: str) -> sqlite3.Connection:
    """A connection; ``how`` as SQLite's addresses say it."""
    address = f"{path.absolute().as_uri()}?{how}"
    connection = sqlite3.connect(address, uri=True, timeout=2, isolation_level=None)
    connection.text_factory = lambda text: text.decode(errors="surrogateescape")  # if damaged
    return connection


def _records(path: Path, connection) -> dict[str, Record]:
    """By key; an error of SQLite's if it is no store, or its structure is damaged."""
    if not connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]:
        return {}
    if connection.execute("PRAGMA integrity_check(1)").fetchone()[0] != "ok":
        raise sqlite3.DatabaseError("malformed")
    found, bad = {}, []
    for *row, checksum in connection.execute(f"SELECT {COLUMNS} FROM results"):
        if checksum == _checksum(tuple(row)):
            key, task, result, error, about = row
            result = json.loads(result or "null")
            found[key] = Record(key, json.loads(task), result, error, json.loads(about))
        else:
            bad.append(ascii(row[0]).strip("'"))
    if bad:
        warnings.warn(
            f"{len(bad)} records in {path} are damaged, and count as not computed: "
            f"{', '.join(bad[:SHOWN])}{', ...' * (len(bad) > SHOWN)}",
            RuntimeWarning,
            stacklevel=3,
        )
    return found


def _checksum(row: tuple) -> str:
    """Of key, task, result, error and provenance as they are stored."""
    return hashlib.sha256(ascii(row).encode()).hexdigest()[:32]


@contextmanager
def _explained(path: Path):
    try:
        yield
    except sqlite3.Error as error:
        text = str(error)
        if "locked" in text:
            text = "another process is using it; wait for it, or stop it"
        elif any(word in text for word in OF_DAMAGE):
            text = "it is damaged, or no store of sweep results; move it away, or name another one"
        elif "full" in text or "I/O" in text:
            text += "; make room, and start again: what is stored is kept"
        raise StoreError(f"cannot use the store {path}: {text}") from None
