"""Sweeps: many declared tasks, resumable, on one machine or on a Dask cluster.

A task is a mapping of plain values, and its result a pure function of it. Its key is a hash of the
task and of the version of its kind, a number that is raised when results change: most changes of
the code leave every digit as it is (a test holds small results of that version fixed).
A result goes into the store as soon as it arrives, so a run can be killed at any moment and started
again. What the table of the sweep holds already, such as one that is committed beside its
declaration, is never computed again.
"""

import contextlib
import hashlib
import json
import time
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

import rbmlib as rl
from rbmlib import checks
from rbmlib.context import bar

from .declaration import declared, named, read_yaml
from .engine import check_scheduler, compute, connected
from .kind import TaskKind, kind_of, shown
from .store import Record, ResultsStore, StoreError
from .tables import Table


class Summary(NamedTuple):
    """What `Sweep.run` did."""

    n_tasks: int
    n_before: int  # had a result already
    n_finished: int
    failed: dict[str, str]  # errors by key
    seconds: float


class Sweep:
    """A table of results to be computed, one row a task.

    Parameters
    ----------
    tasks : iterable of dict
        Settings of each task: text, numbers, true or false. No two alike.
    kind : TaskKind or callable
        What a task is: `rbmbook.sweeps.ESTIMATES` (log Z of a model), another `TaskKind`, or a
        plain function ``kind(**task)`` -> dict of plain values, the results of the row. A value
        named "seconds" goes into the provenance instead.
    name : str
        Of the table ``<name>.csv`` and the store ``<name>.sqlite``.
    folder : path
        Where these files are.
    store : path, optional
        Another place for the store; on a cluster, a local disk of the machine that runs this.
    version : str
        Version of a plain function: change it when its results change.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     sweep = Sweep([{"n": n} for n in (2, 1)], lambda n: {"square": n * n}, folder=folder)
    ...     summary = sweep.run(n_workers=0)
    ...     print(summary.n_finished, sweep.rows())
    2 [{'n': 1, 'square': 1}, {'n': 2, 'square': 4}]
    """

    def __init__(
        self, tasks: Iterable[dict], kind, *, name: str = "sweep", folder=".", store=None,
        version: str = "1",
    ):  # fmt: skip
        self.kind: TaskKind = kind_of(kind, version)
        self.name, self.folder = name, Path(folder)
        self.store = Path(store) if store else self.folder / f"{name}.sqlite"
        self.version = self.kind.version
        self.overrides: dict = {}  # of settings of a declaration
        self._digests: dict[str, str] = {}  # of the files of each task, by key
        self.tasks: dict[str, dict] = {}
        numbers: dict[str, int] = {}
        checks.instance("tasks", tasks, Iterable, "mappings of settings, one a task")
        for number, task in enumerate(tasks, 1):
            whole = declared(number, task, self.kind)
            key = self._key(whole)
            if key in numbers:
                raise ValueError(
                    f"task {number} is the same as task {numbers[key]}: {shown(whole)}"
                )
            numbers[key], self.tasks[key] = number, whole

    @classmethod
    def from_yaml(
        cls, path, kind, *, folder=None, store=None, check_models: bool = True, overrides=None
    ) -> "Sweep":
        """Read a declaration: see the files in ``book/scales``; ValueError says what is wrong.

        ``grids`` is a list of mappings of settings. A value may be a list, or ``{first: 0,
        count: 20}`` for a run of whole numbers; a grid stands for all combinations. ``results``
        is the folder of the tables, relative to the file (default: beside it), unless ``folder``
        names another. ``check_models``: whether the models of tasks that are not in the table can
        be read here. ``overrides`` replace settings in every task that takes them; the table of
        such a sweep needs a ``folder`` of its own, and its provenance says what was overridden.
        """
        source, kind = Path(path), kind_of(kind, "1")
        tasks, results = read_yaml(source, kind, overrides)
        committed = (source.parent / results).resolve()
        if overrides and (folder is None or Path(folder).resolve() == committed):
            raise ValueError(
                f"{source.name}: overrides without a folder of their own: expected a folder "
                f"(--folder out) other than {committed}, whose table has other settings"
            )
        with named(source.name):
            sweep = cls(tasks, kind, name=source.stem, folder=folder or committed, store=store)
            if check_models:
                for _, reason in kind.faults(list(sweep._todo(sweep._tabled()).values()), True):
                    raise ValueError(reason)
        sweep.overrides = dict(overrides or {})
        return sweep

    def _key(self, task: dict) -> str:
        digest = self.kind.digest(task)
        content = json.dumps([self.version, task, digest], sort_keys=True)
        key = hashlib.sha256(content.encode()).hexdigest()[:32]
        self._digests[key] = digest
        return key

    # running -------------------------------------------------------------------------------

    def run(
        self, scheduler: str | None = None, *, n_workers: int | None = None,
        progress: bool | None = None,
    ) -> Summary:  # fmt: skip
        """Compute what is missing; tasks that failed before are tried again.

        Parameters
        ----------
        scheduler : str, optional
            Address of a Dask scheduler, such as ``tcp://10.0.0.5:8786``. Default: worker
            processes of our own, as many as there are processors for tasks of
            ``RBMLIB_NUM_THREADS`` threads (one, unless that is set).
        n_workers : int, optional
            Number of worker processes of our own; 0 for a thread of this process, which starts
            at once and suits a few short tasks.

        Raises `StoreError` if the store cannot be used or the disk is full, RuntimeError if the
        scheduler cannot be reached, is lost on the way, or runs other code. What is stored is kept.
        """
        started = time.perf_counter()
        if n_workers is not None:
            n_workers = checks.count("n_workers", n_workers, 0)
        if scheduler is not None:
            check_scheduler(scheduler)
        for folder in (self.folder, self.store.parent):
            if not folder.is_dir():
                raise StoreError(f"there is no folder {folder} for the results: make it first")
        tabled = self._tabled()  # a table of others is refused
        failed: dict[str, str] = {}
        with ResultsStore(self.store) as store, contextlib.ExitStack() as stack:
            if todo := self._todo(_joined(store.records(), tabled)):
                client = stack.enter_context(connected(scheduler, n_workers, len(todo)))
                stack.enter_context(rl.using(progress=progress))
                shown = stack.enter_context(bar(len(todo), self.name))
                shared = scheduler is None and n_workers == 0
                for records in compute(
                    client, self.name, self.kind, todo, self._digests, shared=shared
                ):
                    store.put(records)
                    failed |= {r.key: last_line(r.error) for r in records if r.error}
                    shown.update(len(records))
                    shown.set_postfix(failed=len(failed), refresh=False)
        n_before = len(self.tasks) - len(todo)
        seconds = time.perf_counter() - started
        return Summary(len(self.tasks), n_before, len(todo) - len(failed), failed, seconds)

    def _todo(self, known: dict[str, Record]) -> dict[str, dict]:
        return {k: t for k, t in self.tasks.items() if k not in known or known[k].error}

    # results -------------------------------------------------------------------------------

    @property
    def table(self) -> Table:
        return Table(self.folder, self.name)

    def _tabled(self) -> dict[str, Record]:
        return {record.key: record for record in self.table.records(self.tasks)}

    def _known(self) -> dict[str, Record]:
        if not self.store.exists():
            return self._tabled()
        with ResultsStore(self.store) as store:
            return _joined(store.records(), self._tabled())

    def records(self) -> list[Record]:
        """What is known of this sweep's tasks, in the order of the table."""
        known = self._known()
        found = [known[key] for key in self.tasks if key in known]
        names = list(dict.fromkeys(name for task in self.tasks.values() for name in task))
        return sorted(found, key=lambda r: [_sortable(r.task.get(name)) for name in names])

    def rows(self) -> list[dict]:
        """The table: settings, results, and ``error`` where a task failed.

        Raises ValueError if a task has not been run yet.
        """
        records = self.records()
        if missing := len(self.tasks) - len(records):
            raise ValueError(
                f"{self.name}: {missing} of {len(self.tasks)} tasks have not been run: run the "
                "sweep first"
            )
        errors = [{"error": last_line(r.error)} if r.error else {} for r in records]
        return [r.task | (r.result or {}) | e for r, e in zip(records, errors, strict=True)]

    def to_csv(self) -> Path:
        """Write ``<name>.csv``: settings and results, the same however the tasks were run.

        The last columns hold the seconds, the kind of machine and the versions.
        """
        records = self.records()
        said = "; ".join(f"{name}={value}" for name, value in self.overrides.items())
        more = {"overrides": said} if said else {}
        about = [{"key": r.key} | r.provenance | more for r in records]
        self.table.write(self.rows(), about)
        return self.table.path

    def todo(self) -> list[dict]:
        """Tasks of which neither the store nor the table has a result."""
        return list(self._todo(self._known()).values())


def _joined(stored: dict[str, Record], tabled: dict[str, Record]) -> dict[str, Record]:
    """What either holds; a failure in the store is no result."""
    return tabled | {k: r for k, r in stored.items() if k not in tabled or not r.error}


def last_line(text: str) -> str:
    return text.strip().splitlines()[-1]


def _sortable(value) -> tuple:
    """Numbers before words, and nothing before both."""
    if value is None:
        return (0, 0)
    return (2, value) if isinstance(value, str) else (1, value)
