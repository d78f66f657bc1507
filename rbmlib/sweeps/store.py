"""Crash-safe store of task results: one SQLite file, written ahead (WAL), one writer at a time.

`ResultsStore.put` returns when its records are on the disk. A process killed at any moment loses
the records that it had not yet put, and nothing else; a finished result is never replaced.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

APPLICATION = 0x52424D73  # "RBMs": marks the file as ours
SCHEMA = 1

_TABLES = f"""
CREATE TABLE results (
    key TEXT PRIMARY KEY, task TEXT NOT NULL, result TEXT, error TEXT, provenance TEXT NOT NULL
) WITHOUT ROWID;
CREATE TABLE meta (name TEXT PRIMARY KEY, value TEXT NOT NULL);
PRAGMA application_id = {APPLICATION};
PRAGMA user_version = {SCHEMA};
"""
_PUT = """
INSERT INTO results VALUES (?, ?, ?, ?, ?)
ON CONFLICT (key) DO UPDATE SET
    result = excluded.result, error = excluded.error, provenance = excluded.provenance
WHERE results.error IS NOT NULL
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

    ``version`` names the code whose results these are. A store of other results, of a later
    rbmlib, of another process that still runs, or no store at all is refused (`StoreError`).
    """

    def __init__(self, path, version: str):
        self.path = Path(path)
        with self._explained():
            self._connection = sqlite3.connect(self.path, timeout=2, isolation_level=None)
            execute = self._connection.execute
            execute("PRAGMA locking_mode = EXCLUSIVE")  # one writer, and no shared-memory file
            try:
                self._check(execute("PRAGMA application_id").fetchone()[0], version)
                execute("PRAGMA journal_mode = WAL")
                execute("PRAGMA synchronous = FULL")  # a commit returns when the disk has it
                execute("BEGIN IMMEDIATE")  # takes the lock, and fails at once on a full disk
                execute("INSERT OR REPLACE INTO meta VALUES ('version', ?)", (version,))
                execute("COMMIT")
            except BaseException:
                self._connection.close()
                raise

    def _check(self, application: int, version: str) -> None:
        execute = self._connection.execute
        if not execute("SELECT count(*) FROM sqlite_master").fetchone()[0]:
            self._connection.executescript(f"BEGIN IMMEDIATE; {_TABLES} COMMIT;")
            return
        schema = execute("PRAGMA user_version").fetchone()[0]
        remedy = "move it away or name another one (--store); nothing in it was changed"
        if application != APPLICATION:
            raise StoreError(f"{self.path} is a database, but no store of sweep results: {remedy}")
        if schema != SCHEMA:
            raise StoreError(
                f"{self.path} was made by another rbmlib (form {schema}, here {SCHEMA}): {remedy}"
            )
        found = dict(execute("SELECT name, value FROM meta")).get("version", version)
        if found != version:
            raise StoreError(
                f"{self.path} holds results of another version of the code "
                f"({found}, here {version}), which would not compare: {remedy}"
            )

    def __enter__(self) -> ResultsStore:
        return self

    def __exit__(self, *_) -> None:
        self.close()

    def close(self) -> None:
        self._connection.close()

    def records(self) -> dict[str, Record]:
        """Everything stored, by key."""
        with self._explained():
            rows = self._connection.execute("SELECT * FROM results").fetchall()
        return {
            key: Record(key, json.loads(task), json.loads(result) if result else None, error,
                        json.loads(provenance))
            for key, task, result, error, provenance in rows
        }  # fmt: skip

    def put(self, records: Iterable[Record]) -> None:
        """Store all of them or none; a key that has a result keeps it."""
        rows = [
            (r.key, json.dumps(r.task), None if r.result is None else json.dumps(r.result),
             r.error, json.dumps(r.provenance))
            for r in records
        ]  # fmt: skip
        with self._explained():
            self._connection.execute("BEGIN IMMEDIATE")
            try:
                self._connection.executemany(_PUT, rows)
                self._connection.execute("COMMIT")
            except BaseException:
                if self._connection.in_transaction:
                    self._connection.execute("ROLLBACK")
                raise

    @contextmanager
    def _explained(self):
        try:
            yield
        except sqlite3.Error as error:
            text = str(error)
            if "locked" in text:
                text = "another process is using it; wait for it, or stop it"
            elif "not a database" in text or "malformed" in text:
                text = "it is damaged, or no SQLite file; move it away"
            elif "full" in text or "I/O" in text:
                text += "; make room, and start again: what is stored is kept"
            raise StoreError(f"cannot use the store {self.path}: {text}") from None
