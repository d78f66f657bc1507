"""Tables of sweeps as CSV: read before anything is computed, never written over other tables."""

import csv
import json
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from rbmlib.files import replacing

from .store import Record

# The last columns: who computed a row, with what, in how many seconds.
PROVENANCE = (
    "key", "seconds", "host", "threads", "rbmlib", "results_version", "python", "numpy", "numba",
    "finished", "overrides",
)  # fmt: skip
REMEDY = "move it away, or give the sweep another name"


class Table:
    """The file ``<name>.csv``: of each task its settings, results and provenance."""

    def __init__(self, folder: Path, name: str):
        self.path = Path(folder, f"{name}.csv")

    def records(self, tasks: dict[str, dict]) -> Iterator[Record]:
        """What the table has of these tasks, by key: results, never failures.

        A row whose settings are not those of its key is of no task, and an empty cell no result.
        ValueError if this is a file of something else.
        """
        columns, rows = _content(self.path)
        settings = {frozenset(task) for task in tasks.values()}
        names = frozenset().union(*settings)
        missing = min((sorted(one - {*columns}) for one in settings), key=len, default=[])
        if columns and (lost := [*missing, *sorted({"key", "seconds"} - {*columns})]):
            raise ValueError(
                f"{self.path} is no table of this sweep: it has no column {', '.join(lost)}; "
                f"{REMEDY}"
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

    def write(self, rows: list[dict], provenance: list[dict]) -> None:
        """The file, whole or not at all. Columns that were there keep their places."""
        names, (before, _) = dict.fromkeys(n for row in rows for n in row), _content(self.path)
        if other := {*before} - {*names, *PROVENANCE, "error"}:
            raise ValueError(
                f"{self.path} has other columns ({', '.join(sorted(other))}), and was not "
                f"written over: {REMEDY}"
            )
        order = [name for name in dict.fromkeys([*before, *names]) if name in names]
        about = [name for name in PROVENANCE if any(name in row for row in provenance)]
        every = [row | more for row, more in zip(rows, provenance, strict=True)]
        _write(self.path, every, [*sorted(order, key="error".__eq__), *about])


def _content(source: Path) -> tuple[list[str], list[dict]]:
    """Names of the columns, and rows."""
    if not source.is_file():
        return [], []
    try:
        with source.open(newline="", encoding="utf-8") as file:
            table = csv.DictReader(file)
            return list(table.fieldnames or []), list(table)
    except (csv.Error, UnicodeDecodeError) as error:
        raise ValueError(f"{source} is no table ({error}): {REMEDY}") from None


def _write(target: Path, rows: list[dict], names) -> None:
    with replacing(target) as file:
        table = csv.DictWriter(file, list(names), lineterminator="\n")
        table.writeheader()
        table.writerows(rows)


def _value(text: str):
    """What a cell says: a number or a truth as `csv` writes it, else the text, or None."""
    if text in ("", "True", "False"):
        return text == "True" if text else None
    with suppress(ValueError):
        value = json.loads(text)
        if type(value) in (int, float) and str(value) == text:
            return value
    return text
