"""Numbers that the sources print, and the values of this book beside them."""

from __future__ import annotations

import csv

from rbmbook.datasheet import load_reference
from rbmlib.datasets import committed


def report(method: str, model: str, column: str = "logz") -> float:
    """A number of the course report's table of methods."""
    with open(committed("published/report_methods.csv"), encoding="utf-8") as file:
        for row in csv.DictReader(file):
            if (row["method"], row["model"]) == (method, model):
                return float(row[column])
    raise LookupError(f"the report has no {method} of {model}")


def reference(model: str) -> float:
    """The book's value of log Z."""
    return load_reference()[model].log_z
