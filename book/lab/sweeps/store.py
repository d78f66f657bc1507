"""Crash-safe store of task results: one SQLite file, one process at a time.

`ResultsStore.put` returns when its records are on the disk: a process killed at any moment loses
what it had not yet put, and nothing else; a finished result is never replaced. A file that is no
store, or is damaged, is refused and left as it is.
"""

import json
import sqlite3
from collections.abc import Iterable
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

OF_DAMAGE = ("not a database", "malformed", "no such", "unsupported file format", "too big")
COLUMNS = "key, task, result, error, provenance"
TABLE = """
CREATE TABLE results (
    key TEXT PRIMARY KEY, task TEXT NOT NULL, result TEXT, error TEXT, provenance TEXT NOT NULL
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
        with self._explained():
            self._connection = sqlite3.connect(self.path, timeout=2, isolation_level=None)
            try:
                self._found = self._opened(self._connection.execute)
            except BaseException:
                self._connection.close()
                raise

    @staticmethod
    def _opened(execute) -> dict[str, Record]:
        """Everything stored; the file is ours alone from now on."""
        execute("PRAGMA locking_mode = EXCLUSIVE")
        execute("PRAGMA synchronous = FULL")  # a commit returns when the disk has it
        execute("BEGIN EXCLUSIVE")
        if execute("PRAGMA integrity_check(1)").fetchone()[0] != "ok":
            raise sqlite3.DatabaseError("malformed")
        if not execute("SELECT count(*) FROM sqlite_master").fetchone()[0]:
            execute(TABLE)
        rows = execute(f"SELECT {COLUMNS} FROM results").fetchall()
        execute("COMMIT")
        read = json.loads
        return {
            key: Record(key, read(task), read(result or "null"), error, read(about))
            for key, task, result, error, about in rows
        }

    def __enter__(self) -> "ResultsStore":
        return self

    def __exit__(self, *_) -> None:
        self._connection.close()

    def records(self) -> dict[str, Record]:
        """Everything stored, by key."""
        return dict(self._found)

    def put(self, records: Iterable[Record]) -> None:
        """Store all of them or none; a key that has a result keeps it."""
        found = self._found
        new = [one for one in records if one.key not in found or found[one.key].error]
        text = json.dumps
        rows = [(k, text(t), r and text(r), e, text(about)) for k, t, r, e, about in new]
        with self._explained(), self._connection as connection:  # which commits, or rolls back
            connection.execute("BEGIN IMMEDIATE")
            connection.executemany(f"REPLACE INTO results ({COLUMNS}) VALUES (?, ?, ?, ?, ?)", rows)
        found |= {one.key: one for one in new}

    @contextmanager
    def _explained(self):
        try:
            yield
        except (sqlite3.Error, ValueError) as error:
            text = str(error)
            if "locked" in text:
                text = "another process is using it; wait for it, or stop it"
            elif isinstance(error, ValueError) or any(word in text for word in OF_DAMAGE):
                text = "it is damaged, or no store of sweep results; move it away, or name another"
            elif "full" in text or "I/O" in text:
                text += "; make room, and start again: what is stored is kept"
            raise StoreError(f"cannot use the store {self.path}: {text}") from None
