"""Tables of sweeps as CSV: read before anything is computed, never written over other tables."""

import csv
import json
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from rbmlib.files import replacing

from .store import Record

REMEDY = "move it away, or give the sweep another name"


class Table:
    """The files ``<name>.csv`` (settings, results) and ``<name>.provenance.csv``, row by row."""

    def __init__(self, folder: Path, name: str):
        self.results = Path(folder, f"{name}.csv")
        self.provenance = Path(folder, f"{name}.provenance.csv")

    def records(self, tasks: dict[str, dict]) -> Iterator[Record]:
        """What the table has of these tasks, by key: results, never failures.

        A row whose settings are not those of its key is of no task, and an empty cell no result.
        ValueError if these are files of something else.
        """
        (columns, rows), (about, abouts) = map(_content, (self.results, self.provenance))
        settings = {frozenset(task) for task in tasks.values()}
        names = frozenset().union(*settings)
        missing = min((sorted(one - {*columns}) for one in settings), key=len, default=[])
        unkeyed = (self.provenance, about, sorted({"key", "seconds"} - {*about}))
        for source, has, lacks in ((self.results, columns, missing), unkeyed):
            if has and lacks:
                lost = ", ".join(lacks)
                raise ValueError(
                    f"{source} is no table of this sweep: it has no column {lost}; {REMEDY}"
                )
        for row, about in zip(rows, abouts, strict=False):
            task = tasks.get(key := about.pop("key"))
            if task is None or row.get("error") or None in row:
                continue
            if any(row.get(n) != ("" if v is None else str(v)) for n, v in task.items()):
                continue
            found = {n: _value(text) for n, text in row.items() if n not in names and text}
            if found:
                yield Record(key, task, found, None, {n: _value(t) for n, t in about.items()})

    def write(self, rows: list[dict], provenance: list[dict]) -> None:
        """Both files, each whole or not at all. Columns that were there keep their places."""
        names, (before, _) = dict.fromkeys(n for row in rows for n in row), _content(self.results)
        if other := {*before} - {*names, "error"}:
            raise ValueError(
                f"{self.results} has other columns ({', '.join(sorted(other))}), and was not "
                f"written over: {REMEDY}"
            )
        order = [name for name in dict.fromkeys([*before, *names]) if name in names]
        _write(self.provenance, provenance, dict.fromkeys(n for row in provenance for n in row))
        _write(self.results, rows, sorted(order, key="error".__eq__))


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
