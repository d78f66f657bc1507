"""Tables of sweeps as CSV: read with a look at their columns, never written over other tables."""

from __future__ import annotations

import csv
from pathlib import Path

from .files import replacing

REMEDY = "move it away, or give the sweep another name"


def read_table(source: Path, *needed: set[str]) -> list[dict]:
    """Its rows; none if there is no such file, or nothing in it.

    Raises ValueError if it is no table, or has none of the sets of columns ``needed``.
    """
    names, rows = _read(source)
    missing = min((sorted(one - set(names)) for one in needed), key=len, default=[])
    if names and missing:
        raise ValueError(
            f"{source} is no table of this sweep: it has no column {', '.join(missing)}; {REMEDY}"
        )
    return rows


def _read(source: Path) -> tuple[list[str], list[dict]]:
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


def columns(rows: list[dict]) -> list[str]:
    """Of all rows, in the order in which they appear; errors last."""
    names = list(dict.fromkeys(name for row in rows for name in row if name != "error"))
    return names + ["error"] * any("error" in row for row in rows)


def check_columns(target: Path, names: list[str]) -> None:
    """Raises ValueError if ``target`` is a table with columns that are not in ``names``."""
    other = set(_read(target)[0]) - {*names, "error"}
    if other:
        raise ValueError(
            f"{target} has other columns ({', '.join(sorted(other))}), and was not written over: "
            f"{REMEDY}"
        )


def write_table(target: Path, rows: list[dict]) -> None:
    with replacing(target) as file:
        table = csv.DictWriter(file, columns(rows), lineterminator="\n")
        table.writeheader()
        table.writerows(rows)
