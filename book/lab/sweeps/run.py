"""A sweep of any function: keys of tasks, the table (CSV), the store of results (SQLite).

A task is a mapping of plain values, and its result is a pure function of it. Its key is a hash of
the task and of a version. The version is raised when results change, and most changes of the code
keep every digit (a test compares small results of the version).
"""

import contextlib
import csv
import hashlib
import json
import math
import sqlite3
import time
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

import rbmlib as rl
from rbmlib import checks
from rbmlib.context import bar
from rbmlib.files import replacing

from .declare import shown
from .engine import PLAIN, check_scheduler, compute, connected

# The last columns of a table: machine, versions and seconds of a row.
PROVENANCE = (
    "key", "seconds", "host", "threads", "rbmlib", "results_version", "python", "numpy", "numba",
    "finished",
)  # fmt: skip
REMEDY = "move it away, or give the sweep another name"
OF_DAMAGE = ("not a database", "malformed", "no such", "unsupported file format", "too big")
COLUMNS = "key, task, result, error, provenance"
TABLE = """
CREATE TABLE results (
    key TEXT PRIMARY KEY, task TEXT NOT NULL, result TEXT, error TEXT, provenance TEXT NOT NULL
) WITHOUT ROWID
"""


class Record(NamedTuple):
    """The result of one task, or its error."""

    key: str
    task: dict
    result: dict | None
    error: str | None
    provenance: dict


class StoreError(RuntimeError):
    """The store cannot be used; its content is unchanged."""


class Summary(NamedTuple):
    """The outcome of `Sweep.run`."""

    n_tasks: int
    n_before: int  # tasks that already had a result
    n_finished: int
    failed: dict[str, str]  # errors by key
    seconds: float


class Sweep:
    """A table of results to be computed, one row per task.

    ``tasks`` are different mappings of settings. ``function(**task)``, which workers import by its
    name, returns a dict of plain values, the results of the row. A value named "seconds" goes into
    the provenance. ``folder`` has the table ``<name>.csv`` and the store ``<name>.sqlite``;
    ``store`` is another place for it, on a local disk. Every key depends on ``version`` (by default
    the name of the function) and on ``digest(task)``, a hash of the files that a task reads.
    """

    def __init__(
        self, tasks: Iterable[dict], function: Callable[..., dict], *, name: str = "sweep",
        folder=".", store=None, version: str | None = None,
        digest: Callable[[dict], str] = lambda task: "",
    ):  # fmt: skip
        checks.instance("tasks", tasks, Iterable, "mappings of settings, one a task")
        self.function, self.digest = function, digest
        self.name, self.folder = name, Path(folder)
        self.store = Path(store) if store else self.folder / f"{name}.sqlite"
        self.table = self.folder / f"{name}.csv"
        self.version = version or f"{function.__module__}.{function.__qualname__} 1"
        self.digests: dict[str, str] = {}  # of the files of each task, by key
        self.tasks: dict[str, dict] = {}
        for number, task in enumerate(tasks, 1):
            _check_plain(f"task {number}", task)
            files = digest(task)
            content = json.dumps([self.version, task, files], sort_keys=True)
            key = hashlib.sha256(content.encode()).hexdigest()[:32]
            if key in self.tasks:
                first = [*self.tasks].index(key) + 1
                raise ValueError(f"task {number} is the same as task {first}: {shown(task)}")
            self.tasks[key], self.digests[key] = task, files

    def run(
        self, scheduler: str | None = None, *, n_workers: int | None = None,
        progress: bool | None = None,
    ) -> Summary:  # fmt: skip
        """Compute missing results; tasks that failed before are tried again.

        ``scheduler`` is the address of a Dask scheduler, such as ``tcp://10.0.0.5:8786``. Without
        it, the sweep starts ``n_workers`` processes, by default as many as the processors can run
        with ``RBMLIB_NUM_THREADS`` threads each; 0 is for a thread of this process. Raises
        `StoreError` if the store cannot be used, and RuntimeError if the scheduler cannot be
        reached, is lost during the run, or runs other code. Stored results are kept.
        """
        started = time.perf_counter()
        if n_workers is not None:
            checks.count("n_workers", n_workers, 0)
        if scheduler is not None:
            check_scheduler(scheduler)
        for folder in (self.folder, self.store.parent):
            if not folder.is_dir():
                raise StoreError(f"there is no folder {folder} for the results: make it first")
        self._joined({})  # refuse a foreign table before making a store
        failed: dict[str, str] = {}
        with ResultsStore(self.store) as store, contextlib.ExitStack() as stack:
            if todo := self._todo(self._joined(store.records())):
                client = stack.enter_context(connected(scheduler, n_workers, len(todo)))
                stack.enter_context(rl.using(progress=progress))
                shown = stack.enter_context(bar(len(todo), self.name))
                shared = scheduler is None and n_workers == 0
                for found in compute(client, self, todo, shared=shared):
                    records = [Record(key, todo[key], *more) for key, *more in found]
                    store.put(records)
                    failed |= {r.key: last_line(r.error) for r in records if r.error}
                    shown.update(len(records))
                    shown.set_postfix(failed=len(failed), refresh=False)
        n_before = len(self.tasks) - len(todo)
        seconds = time.perf_counter() - started
        return Summary(len(self.tasks), n_before, len(todo) - len(failed), failed, seconds)

    def todo(self) -> list[dict]:
        return list(self._todo(self._known()).values())

    def _todo(self, known: dict[str, Record]) -> dict[str, dict]:
        return {k: t for k, t in self.tasks.items() if k not in known or known[k].error}

    def _known(self) -> dict[str, Record]:
        if not self.store.exists():
            return self._joined({})
        with ResultsStore(self.store) as store:
            return self._joined(store.records())

    def _joined(self, stored: dict[str, Record]) -> dict[str, Record]:
        """Results of the table and the store; a failure in the store is no result."""
        tabled = {record.key: record for record in _tabled(self.table, self.tasks)}
        return tabled | {k: r for k, r in stored.items() if k not in tabled or not r.error}

    def records(self) -> list[Record]:
        """Result or error of every task in the order of the table; ValueError if one is missing."""
        known = self._known()
        if missing := self.tasks.keys() - known.keys():
            raise ValueError(
                f"{self.name}: {len(missing)} of {len(self.tasks)} tasks have not been run: run "
                "the sweep first"
            )
        names = dict.fromkeys(name for task in self.tasks.values() for name in task)
        found = [known[key] for key in self.tasks]
        return sorted(found, key=lambda r: [_sortable(r.task.get(name)) for name in names])

    def rows(self) -> list[dict]:
        """The table: settings, results, and ``error`` for failed tasks."""
        return [_row(record) for record in self.records()]

    def to_csv(self) -> Path:
        """Write ``<name>.csv`` atomically; existing columns keep their places."""
        records = self.records()
        rows, before = [_row(record) for record in records], _content(self.table)[0]
        names = dict.fromkeys(name for row in rows for name in row)
        if other := {*before} - {*names, *PROVENANCE, "error"}:
            raise ValueError(
                f"{self.table} has other columns ({', '.join(sorted(other))}), and was not "
                f"written over: {REMEDY}"
            )
        order = [name for name in dict.fromkeys([*before, *names]) if name in names]
        with replacing(self.table) as file:
            columns = [*sorted(order, key="error".__eq__), *PROVENANCE]
            table = csv.DictWriter(file, columns, lineterminator="\n")
            table.writeheader()
            for record, row in zip(records, rows, strict=True):
                table.writerow(row | {"key": record.key} | record.provenance)
        return self.table


def _check_plain(which: str, task) -> None:
    if not isinstance(task, dict) or not task:
        raise ValueError(f"{which}: it is {shown(task)}: expected a mapping of settings")
    for name, value in task.items():
        if not isinstance(value, PLAIN) or (type(value) is float and not math.isfinite(value)):
            meaning = "text, a finite number, true or false"
            raise ValueError(f"{which}: {name} is {shown(value)}: expected {meaning}")


def _row(record: Record) -> dict:
    error = {"error": last_line(record.error)} if record.error else {}
    return record.task | (record.result or {}) | error


def last_line(text: str) -> str:
    return text.strip().splitlines()[-1]


def _sortable(value) -> tuple:
    """Sort key: None before numbers before words."""
    if value is None:
        return (0, 0)
    return (2, value) if isinstance(value, str) else (1, value)


def _tabled(file: Path, tasks: dict[str, dict]) -> Iterator[Record]:
    """Results in a table, without failures or rows with settings that do not match their key."""
    columns, rows = _content(file)
    settings = {frozenset(task) for task in tasks.values()}
    names = frozenset().union(*settings)
    missing = min((sorted(one - {*columns}) for one in settings), key=len, default=[])
    if columns and (lost := [*missing, *sorted({"key", "seconds"} - {*columns})]):
        raise ValueError(
            f"{file} is no table of this sweep: it has no column {', '.join(lost)}; {REMEDY}"
        )
    for row in rows:
        about = {n: row.pop(n) for n in PROVENANCE if n in row}
        task = tasks.get(key := about.pop("key") or "")
        if task is None or row.get("error") or None in row:
            continue
        if any(row.get(n) != ("" if v is None else str(v)) for n, v in task.items()):
            continue
        found = {n: _value(text) for n, text in row.items() if n not in names and text}
        if found:
            yield Record(key, task, found, None, {n: _value(t) for n, t in about.items()})


def _content(file: Path) -> tuple[list[str], list[dict]]:
    if not file.is_file():
        return [], []
    try:
        with file.open(newline="", encoding="utf-8") as content:
            table = csv.DictReader(content)
            return list(table.fieldnames or []), list(table)
    except (csv.Error, UnicodeDecodeError) as error:
        raise ValueError(f"{file} is no table ({error}): {REMEDY}") from None


def _value(text: str):
    """The value of a cell: a number or truth value as written by `csv`, text, or None."""
    if text in ("", "True", "False"):
        return text == "True" if text else None
    with contextlib.suppress(ValueError):
        value = json.loads(text)
        if type(value) in (int, float) and str(value) == text:
            return value
    return text


class ResultsStore(contextlib.AbstractContextManager):
    """Crash-safe results by key: one SQLite file, one process at a time.

    `put` returns when its records are on the disk. A finished result is never replaced. A file that
    is not a store, is damaged, or is used by another process is refused and left unchanged.
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
        """All stored records; from now on, no other process can use the file."""
        execute("PRAGMA locking_mode = EXCLUSIVE")
        execute("PRAGMA synchronous = FULL")  # a commit returns when it is on the disk
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

    def __exit__(self, *_) -> None:
        self._connection.close()

    def records(self) -> dict[str, Record]:
        return dict(self._found)

    def put(self, records: Iterable[Record]) -> None:
        """Store all records or none; a key with a result keeps it."""
        found = self._found
        new = [one for one in records if one.key not in found or found[one.key].error]
        text = json.dumps
        rows = [(k, text(t), r and text(r), e, text(about)) for k, t, r, e, about in new]
        with self._explained(), self._connection as connection:  # commits or rolls back
            connection.execute("BEGIN IMMEDIATE")
            connection.executemany(f"REPLACE INTO results ({COLUMNS}) VALUES (?, ?, ?, ?, ?)", rows)
        found |= {one.key: one for one in new}

    @contextlib.contextmanager
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
