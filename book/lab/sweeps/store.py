"""Crash-safe store of task results: one SQLite file, written ahead (WAL), one writer at a time.

`ResultsStore.put` returns when its records are on the disk. A process killed at any moment loses
the records that it had not yet put, and nothing else; a finished result is never replaced.

A record has a checksum. The file is looked through before it is opened for writing: where its
structure is damaged it is refused and left as it is; a record that is damaged is named, and
forgotten as soon as something is put.
"""

import hashlib
import json
import shutil
import sqlite3
import warnings
from collections.abc import Iterable
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

APPLICATION = 0x52424D73  # "RBMs": marks the file as ours
FORM = 2
SHOWN = 5  # keys of damaged records in a warning
COPIES = 5  # tries to copy a store that is being written
OF_DAMAGE = ("not a database", "malformed", "no such", "unsupported file format", "too big")

TABLES = f"""
BEGIN IMMEDIATE;
CREATE TABLE results (
    key TEXT PRIMARY KEY, task TEXT NOT NULL, result TEXT, error TEXT, provenance TEXT NOT NULL,
    checksum TEXT
) WITHOUT ROWID;
CREATE TABLE meta (name TEXT PRIMARY KEY, value TEXT NOT NULL);
PRAGMA application_id = {APPLICATION};
PRAGMA user_version = {FORM};
COMMIT;
"""
COLUMNS = "key, task, result, error, provenance, checksum"
PUT = """
INSERT INTO results VALUES (?, ?, ?, ?, ?, ?)
ON CONFLICT (key) DO UPDATE SET
    result = excluded.result, error = excluded.error, provenance = excluded.provenance,
    checksum = excluded.checksum
WHERE results.error IS NOT NULL
"""
FORGET = "DELETE FROM results WHERE key = CAST(? AS TEXT)"  # bytes: it may be no text any more


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

    ``version`` names the code whose results these are. A store of other results, of another
    form, of another process that still runs, or no store at all is refused (`StoreError`).
    """

    def __init__(self, path, version: str):
        self.path, self.version = Path(path), version
        self._damaged: list[tuple[bytes]] = []  # keys
        with self._explained():
            self._look_through()
            self._connection = _opened(self.path)
            try:
                self._check(self._connection.execute)
                self._prepare()
            except BaseException:
                self._connection.close()
                raise

    def _look_through(self) -> None:
        """Refuse what is no store of ours, or is damaged, before anything is written or locked."""
        if self.path.exists() and not self.path.is_file():
            raise StoreError(f"{self.path} is no regular file: expected the name of a store")
        files = [Path(f"{self.path.resolve()}{end}") for end in ("", "-journal", "-wal")]
        filled, half_made, log = (file.exists() and file.stat().st_size > 0 for file in files)
        if filled and not half_made:
            # a log of changes is there if a process uses the store, or was killed
            with closing(_opened(self.path, "mode=ro" if log else "immutable=1")) as connection:
                self._check(connection.execute)

    def _check(self, execute) -> None:
        def value(question: str):
            return execute(question).fetchone()[0]

        application = value("PRAGMA application_id")
        if not value("SELECT count(*) FROM sqlite_master") and not application:
            return
        remedy = "move it away or name another one (--store); nothing in it was changed"
        if application != APPLICATION:
            raise StoreError(f"{self.path} is a database, but no store of sweep results: {remedy}")
        if (form := value("PRAGMA user_version")) != FORM:
            raise StoreError(
                f"{self.path} was made by another rbmlib (form {form}, here {FORM}): {remedy}"
            )
        if value("PRAGMA integrity_check(1)") != "ok":
            raise StoreError(f"{self.path} is damaged: {remedy}")
        execute(f"SELECT {COLUMNS} FROM results LIMIT 1").fetchall()
        found = dict(execute("SELECT name, value FROM meta")).get("version", self.version)
        if found != self.version:
            raise StoreError(
                f"{self.path} holds results of another version of the code "
                f"({found}, here {self.version}), which would not compare: {remedy}"
            )

    def _prepare(self) -> None:
        execute = self._connection.execute
        execute("PRAGMA locking_mode = EXCLUSIVE")  # one writer, and no shared-memory file
        if not execute("SELECT count(*) FROM sqlite_master").fetchone()[0]:
            self._connection.executescript(TABLES)
        execute("PRAGMA journal_mode = WAL")
        execute("PRAGMA synchronous = FULL")  # a commit returns when the disk has it
        execute("BEGIN IMMEDIATE")  # takes the lock
        execute("INSERT OR IGNORE INTO meta VALUES ('version', ?)", (self.version,))
        execute("COMMIT")

    def __enter__(self) -> "ResultsStore":
        return self

    def __exit__(self, *_) -> None:
        self.close()

    def close(self) -> None:
        self._connection.close()

    def records(self) -> dict[str, Record]:
        """Everything stored, by key, but records that are damaged, which a warning names."""
        with self._explained():
            rows = self._connection.execute(f"SELECT {COLUMNS} FROM results").fetchall()
        good = [row for row in rows if row[-1] == _checksum(row[:-1])]
        if bad := [str(row[0]) for row in rows if row[-1] != _checksum(row[:-1])]:
            warnings.warn(
                f"{len(bad)} records in {self.path} are damaged, and count as not computed: "
                f"{', '.join(bad[:SHOWN])}{', ...' * (len(bad) > SHOWN)}",
                RuntimeWarning,
                stacklevel=2,
            )
        self._damaged = [(key.encode(errors="surrogateescape"),) for key in bad]
        return {
            key: Record(
                key, json.loads(task), json.loads(result or "null"), error, json.loads(provenance)
            )
            for key, task, result, error, provenance, _ in good
        }

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
                self._connection.executemany(FORGET, self._damaged)
                self._connection.executemany(PUT, [(*row, _checksum(row)) for row in rows])
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
            if any(word in text for word in OF_DAMAGE):
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
                before, copy = path.stat().st_mtime_ns, Path(folder) / path.name
                shutil.copyfile(path, copy)
                with suppress(FileNotFoundError):  # it goes when the other process ends
                    shutil.copyfile(f"{path.resolve()}-wal", f"{copy}-wal")
                if path.stat().st_mtime_ns == before:  # else the log was moved to it meanwhile
                    with ResultsStore(copy, version) as store:
                        return store.records()
    raise StoreInUse(f"cannot read the store {path} while another process writes it: try again")


def _opened(path: Path, how: str = "mode=rwc") -> sqlite3.Connection:
    """A connection; ``how`` as SQLite's addresses say it."""
    address = f"{path.absolute().as_uri()}?{how}"
    connection = sqlite3.connect(address, uri=True, timeout=2, isolation_level=None)
    connection.text_factory = lambda text: text.decode(errors="surrogateescape")  # if damaged
    return connection


def _checksum(row: tuple) -> str:
    """Of key, task, result, error and provenance as they are stored."""
    return hashlib.sha256(ascii(row).encode()).hexdigest()[:32]
