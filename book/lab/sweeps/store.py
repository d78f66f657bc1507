"""Crash-safe store of task results: one SQLite file, written ahead (WAL), one writer at a time.

`ResultsStore.put` returns when its records are on the disk. A process killed at any moment loses
the records that it had not yet put, and nothing else; a finished result is never replaced.

A record has a checksum. The file is looked through before it is opened for writing: where its
structure is damaged it is refused and left as it is; a record that is damaged is named, and
forgotten as soon as something is put.
"""

from __future__ import annotations

import hashlib
import json
import shutil
import sqlite3
import warnings
from collections.abc import Iterable
from contextlib import contextmanager, suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

APPLICATION = 0x52424D73  # "RBMs": marks the file as ours
SCHEMA = 2  # 1 had no checksums, and is brought to this form when it is opened

_TABLES = f"""
CREATE TABLE results (
    key TEXT PRIMARY KEY, task TEXT NOT NULL, result TEXT, error TEXT, provenance TEXT NOT NULL,
    checksum TEXT
) WITHOUT ROWID;
CREATE TABLE meta (name TEXT PRIMARY KEY, value TEXT NOT NULL);
PRAGMA application_id = {APPLICATION};
PRAGMA user_version = {SCHEMA};
"""
_PUT = """
INSERT INTO results VALUES (?, ?, ?, ?, ?, ?)
ON CONFLICT (key) DO UPDATE SET
    result = excluded.result, error = excluded.error, provenance = excluded.provenance,
    checksum = excluded.checksum
WHERE results.error IS NOT NULL
"""


_FORGET = "DELETE FROM results WHERE key = CAST(? AS TEXT)"  # bytes: it may be no text any more
_COLUMNS = "key, task, result, error, provenance"
SHOWN = 5  # keys of damaged records in a warning
COPIES = 5  # tries to copy a store that is being written


class Record(NamedTuple):
    """What is known of one task: its result, or the error that it ended with."""

    key: str
    task: dict
    result: dict | None
    error: str | None
    provenance: dict


class StoreError(RuntimeError):
    """The store cannot be used; nothing in it was changed."""


class StoreInUse(StoreError):
    """Another process writes the store."""


class ResultsStore:
    """Results by key, in the file ``path``, which is made if it is not there.

    ``version`` names the code whose results these are. A store of other results, of a later
    rbmlib, of another process that still runs, or no store at all is refused (`StoreError`).
    """

    def __init__(self, path, version: str):
        self.path = Path(path)
        self._damaged: list[tuple[bytes]] = []  # keys
        with self._explained():
            looked = self._look_through(version)
            self._connection = _opened(self.path)
            try:
                if not looked:
                    self._check(self._connection.execute, version)
                self._prepare(version)
            except BaseException:
                self._connection.close()
                raise

    def _prepare(self, version: str) -> None:
        execute = self._connection.execute
        execute("PRAGMA locking_mode = EXCLUSIVE")  # one writer, and no shared-memory file
        if not execute("SELECT count(*) FROM sqlite_master").fetchone()[0]:
            self._connection.executescript(f"BEGIN IMMEDIATE; {_TABLES} COMMIT;")
        execute("PRAGMA journal_mode = WAL")
        execute("PRAGMA synchronous = FULL")  # a commit returns when the disk has it
        execute("BEGIN IMMEDIATE")  # takes the lock
        if execute("PRAGMA user_version").fetchone()[0] == 1:
            execute("ALTER TABLE results ADD COLUMN checksum TEXT")
            rows = execute(f"SELECT {_COLUMNS} FROM results").fetchall()
            sums = [(_checksum(row), row[0]) for row in rows if _record(row)]
            self._connection.executemany("UPDATE results SET checksum = ? WHERE key = ?", sums)
            execute(f"PRAGMA user_version = {SCHEMA}")
        execute("INSERT OR IGNORE INTO meta VALUES ('version', ?)", (version,))
        execute("COMMIT")

    def _look_through(self, version: str) -> bool:
        """Refuse what is no store of ours, or is damaged, before anything is written or locked.

        False where it cannot be seen yet: no file, or one whose making was interrupted.
        """
        if self.path.exists() and not self.path.is_file():
            raise StoreError(f"{self.path} is no regular file: expected the name of a store")

        def size(end: str) -> int:
            file = Path(f"{self.path.resolve()}{end}")
            return file.stat().st_size if file.exists() else 0

        if not size("") or size("-journal"):
            return False
        # a log of changes is there if a process uses the store, or was killed
        connection = _opened(self.path, "mode=ro" if size("-wal") else "immutable=1")
        try:
            self._check(connection.execute, version)
        finally:
            connection.close()
        return True

    def _check(self, execute, version: str) -> None:
        application = execute("PRAGMA application_id").fetchone()[0]
        if not execute("SELECT count(*) FROM sqlite_master").fetchone()[0] and not application:
            return
        schema = execute("PRAGMA user_version").fetchone()[0]
        remedy = "move it away or name another one (--store); nothing in it was changed"
        if application != APPLICATION:
            raise StoreError(f"{self.path} is a database, but no store of sweep results: {remedy}")
        if schema not in (1, SCHEMA):
            raise StoreError(
                f"{self.path} was made by another rbmlib (form {schema}, here {SCHEMA}): {remedy}"
            )
        if execute("PRAGMA integrity_check(1)").fetchone()[0] != "ok":
            raise StoreError(f"{self.path} is damaged: {remedy}")
        more = ", checksum" if schema == SCHEMA else ""
        execute(f"SELECT {_COLUMNS}{more} FROM results LIMIT 1").fetchall()
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
        """Everything stored, by key, but records that are damaged, which a warning names."""
        with self._explained():
            rows = self._connection.execute(f"SELECT {_COLUMNS}, checksum FROM results").fetchall()
        good = [row[:-1] for row in rows if row[-1] == _checksum(row[:-1])]
        bad = [str(row[0]) for row in rows if row[-1] != _checksum(row[:-1])]
        self._damaged = [(key.encode(errors="surrogateescape"),) for key in bad]
        if bad:
            warnings.warn(
                f"{len(bad)} records in {self.path} are damaged, and count as not computed: "
                f"{', '.join(bad[:SHOWN])}{', ...' * (len(bad) > SHOWN)}",
                RuntimeWarning,
                stacklevel=2,
            )
        return {record.key: record for record in map(_record, good) if record is not None}

    def put(self, records: Iterable[Record]) -> None:
        """Store all of them or none; a key that has a result keeps it."""
        rows = [
            (r.key, json.dumps(r.task), None if r.result is None else json.dumps(r.result),
             r.error, json.dumps(r.provenance))
            for r in records
        ]  # fmt: skip
        checked = [(*row, _checksum(row)) for row in rows]
        with self._explained():
            self._connection.execute("BEGIN IMMEDIATE")
            try:
                self._connection.executemany(_FORGET, self._damaged)
                self._connection.executemany(_PUT, checked)
                self._connection.execute("COMMIT")
                self._damaged = []
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
                raise StoreInUse(f"cannot use the store {self.path}: {text}") from None
            if any(word in text for word in _OF_DAMAGE):
                text = "it is damaged, or no SQLite file; move it away"
            elif "full" in text or "I/O" in text:
                text += "; make room, and start again: what is stored is kept"
            raise StoreError(f"cannot use the store {self.path}: {text}") from None


def records_now(path: Path, version: str) -> dict[str, Record]:
    """What a store holds; of one that another process writes, what a copy of its files holds."""
    for _ in range(COPIES):
        try:
            with ResultsStore(path, version) as store:
                return store.records()
        except StoreInUse:
            with suppress(StoreError), TemporaryDirectory() as folder:  # a torn copy is made anew
                if copy := _copied(path, Path(folder)):
                    with ResultsStore(copy, version) as store:
                        return store.records()
    raise StoreInUse(f"cannot read the store {path} while another process writes it: try again")


def _copied(path: Path, folder: Path) -> Path | None:
    """A copy of a store and of its log of changes, or None if these were moved to it meanwhile."""
    before, copy = path.stat().st_mtime_ns, folder / path.name
    log = Path(f"{path.resolve()}-wal")
    shutil.copyfile(path, copy)
    with suppress(FileNotFoundError):  # it goes when the other process ends
        shutil.copyfile(log, f"{copy}-wal")
    return copy if path.stat().st_mtime_ns == before else None


_OF_DAMAGE = ("not a database", "malformed", "no such", "unsupported file format", "too big")


def _opened(path: Path, how: str = "mode=rwc") -> sqlite3.Connection:
    """A connection; ``how`` as SQLite's addresses say it."""
    address = f"{path.absolute().as_uri()}?{how}"
    connection = sqlite3.connect(address, uri=True, timeout=2, isolation_level=None)
    connection.text_factory = lambda text: text.decode(errors="surrogateescape")  # if damaged
    return connection


def _checksum(row: tuple) -> str:
    """Of key, task, result, error and provenance as they are stored."""
    return hashlib.sha256(ascii(row).encode()).hexdigest()[:32]


def _record(row: tuple) -> Record | None:
    """None if the texts are not what `ResultsStore.put` writes."""
    key, task, result, error, provenance = row
    try:
        return Record(
            key, json.loads(task), json.loads(result) if result else None, error,
            json.loads(provenance),
        )  # fmt: skip
    except (TypeError, ValueError):
        return None
