"""Tables of sweeps as CSV: read before anything is computed, never written over other tables."""

import csv
import json
import os
import secrets
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from .store import Record

REMEDY = "move it away, or give the sweep another name"


class Table:
    """The files ``<name>.csv`` (settings, results) and ``<name>.provenance.csv``, row by row."""

    def __init__(self, folder: Path, name: str):
        self.results = Path(folder, f"{name}.csv")
        self.provenance = Path(folder, f"{name}.provenance.csv")

    def rows(self, tasks: dict[str, dict]) -> list[tuple[dict, dict]]:
        """Pairs of a row and its provenance, texts; none if there are no such files.

        Raises ValueError if they are not of a sweep of such tasks.
        """
        settings = {frozenset(task) for task in tasks.values()}  # sets of names, each once
        rows = _read(self.results, *settings), _read(self.provenance, {"key", "seconds"})
        return list(zip(*rows, strict=False))

    def records(self, tasks: dict[str, dict]) -> Iterator[Record]:
        """What the table has of these tasks, by key: results, never failures.

        A key is that of the code, of the settings and of the files of a task; a row whose
        settings are not those of its key is of no task. A cell that is empty is no result: the
        table is the same with and without it.
        """
        names = {name for task in tasks.values() for name in task}
        for row, provenance in self.rows(tasks):
            task = tasks.get(key := provenance.pop("key"))
            if task is None or row.get("error") or None in row:
                continue
            if any(row.get(name) != _text(value) for name, value in task.items()):
                continue
            found = {n: _value(text) for n, text in row.items() if n not in names and text}
            about = {name: _value(text) for name, text in provenance.items() if text}
            if found:
                yield Record(key, task, found, None, about)

    def write(self, rows: list[dict], provenance: list[dict]) -> None:
        """Both files, each whole or not at all. Columns that were there keep their places."""
        names, before = columns(rows), _names(self.results)
        if other := {*before} - {*names, "error"}:
            raise ValueError(
                f"{self.results} has other columns ({', '.join(sorted(other))}), and was not "
                f"written over: {REMEDY}"
            )
        _write(self.provenance, provenance, columns(provenance))
        order = [name for name in dict.fromkeys([*before, *names]) if name in names]
        _write(self.results, rows, sorted(order, key="error".__eq__))


def columns(rows: list[dict]) -> list[str]:
    """Of all rows, in the order in which they appear; errors last."""
    names = dict.fromkeys(name for row in rows for name in row if name != "error")
    return [*names, *["error"][: any("error" in row for row in rows)]]


def _read(source: Path, *needed) -> list[dict]:
    """Its rows; ValueError if it is no table, or has none of the sets of columns ``needed``."""
    names, rows = _content(source)
    missing = min((sorted({*one} - {*names}) for one in needed), key=len, default=[])
    if names and missing:
        raise ValueError(
            f"{source} is no table of this sweep: it has no column {', '.join(missing)}; {REMEDY}"
        )
    return rows


def _names(source: Path) -> list[str]:
    return _content(source)[0]


def _content(source: Path) -> tuple[list[str], list[dict]]:
    if not source.exists():
        return [], []
    if not source.is_file():
        raise ValueError(f"{source} is no regular file: {REMEDY}")
    try:
        with source.open(newline="", encoding="utf-8") as file:
            table = csv.DictReader(file)
            return list(table.fieldnames or []), list(table)
    except (csv.Error, UnicodeDecodeError) as error:
        raise ValueError(f"{source} is no table ({error}): {REMEDY}") from None


def _write(target: Path, rows: list[dict], names: list[str]) -> None:
    target = Path(os.path.realpath(target))  # a link stays a link
    part = target.with_name(f"{target.name[:50]}.{secrets.token_hex(4)}.part")
    try:
        with part.open("x", encoding="utf-8", newline="") as file:
            table = csv.DictWriter(file, names, lineterminator="\n")
            table.writeheader()
            table.writerows(rows)
            file.flush()
            os.fsync(file.fileno())
        part.replace(target)
    except BaseException as error:
        with suppress(OSError):
            part.unlink()
        if isinstance(error, OSError) and error.errno is not None:
            said = f"{error.strerror}; nothing was written"
            raise OSError(error.errno, said, str(target)) from None
        raise


def _text(value) -> str:
    return "" if value is None else str(value)


def _value(text: str):
    """What a cell says: a number or a truth as `csv` writes it, else the text."""
    if text in ("True", "False"):
        return text == "True"
    with suppress(ValueError):
        value = json.loads(text)
        if type(value) in (int, float) and str(value) == text:
            return value
    return text
