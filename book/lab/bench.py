"""Judge a table of answers, of any program, on models whose log Z is known.

An answer is *trusted* if its program says so. A trusted one is *wrong*, a false assurance, if it is
off by more than four of its own standard errors and by more than .05 nats. *Coverage* is the share
of trusted answers within 1.96 of their standard errors, *spread* the root mean square of errors in
standard errors, which is 1 where error bars are right. Shares have 95% intervals (Clopper and
Pearson 1934).
"""

from __future__ import annotations

import csv
import math
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple
from zipfile import ZipFile

from scipy.special import betaincinv

from rbmlib import RBM
from rbmlib.datasets import committed

ERRORS, NATS = 4.0, 0.05
Z95 = 1.96
COLUMNS = ("name", "log_z", "std_error", "trusted")
YES, NO = {"1", "true", "yes"}, {"0", "false", "no"}


class Answer(NamedTuple):
    log_z: float
    std_error: float  # NaN: no error bar
    trusted: bool


class Score(NamedTuple):
    """Of one family, or of all."""

    models: int
    answers: int
    trusted: int
    wrong: int
    covered: int
    spread: float
    median: float  # absolute error of trusted answers, nats


def read_index(file: Path | None = None) -> dict[str, tuple[str, float]]:
    """Family and log Z of each model by its name; by default of those in data/bench."""
    path = committed("bench/index.csv") if file is None else Path(file)
    rows = _rows(path, ("name", "family", "log_z"))
    return {row["name"]: (row["family"], float(row["log_z"])) for row in rows}


def model(name: str, file: Path | None = None) -> RBM:
    """The model of this name of an archive; by default of data/bench."""
    with ZipFile(file or committed("bench/models.zip")) as models, TemporaryDirectory() as folder:
        return RBM.load(models.extract(f"{name}.npz", folder))


def read_answers(file) -> dict[str, Answer]:
    """A CSV with the columns name, log_z, std_error (may be empty) and trusted.

    Raises
    ------
    ValueError
        If a column is missing, a value is no number, or a name stands there twice.
    """
    found: dict[str, Answer] = {}
    for line, row in enumerate(_rows(Path(file), COLUMNS), 2):
        where = f"{file}, line {line}"
        if row["name"] in found:
            raise ValueError(
                f"{where}: {row['name']!r} is answered twice: expected one row a model"
            )
        if (flag := row["trusted"].strip().lower()) not in YES | NO:
            raise ValueError(f"{where}: trusted is {row['trusted']!r}: expected true or false")
        try:
            log_z, error = (float(row[n].strip() or "nan") for n in ("log_z", "std_error"))
        except ValueError as why:
            raise ValueError(f"{where}: {why}: expected numbers, or nothing") from None
        if error < 0 or math.isinf(error):
            raise ValueError(f"{where}: std_error is {error}: expected a number, or nothing")
        found[row["name"]] = Answer(log_z, error, flag in YES)
    return found


def _rows(path: Path, columns) -> list[dict[str, str]]:
    if not Path(path).is_file():
        raise FileNotFoundError(f"no table {str(path)!r}: expected a CSV of {','.join(columns)}")
    with open(path, newline="", encoding="utf-8-sig") as file:
        reader = csv.DictReader(file)
        if missing := set(columns) - set(reader.fieldnames or ()):
            raise ValueError(
                f"{path} has the columns {', '.join(reader.fieldnames or ()) or 'none'}: expected "
                f"also {', '.join(sorted(missing))}"
            )
        return [{name: row[name] or "" for name in columns} for row in reader]


def scores(answers: dict[str, Answer], index, *, partial: bool = False) -> dict[str, Score]:
    """By family, and "all": a table that leaves models out is refused unless ``partial``.

    Raises
    ------
    ValueError
        If a name is not in the index, or models are missing.
    """
    if unknown := [name for name in answers if name not in index]:
        raise ValueError(f"{unknown[0]!r} is no model of the bench: expected names of its index")
    if not partial and (missing := [name for name in index if name not in answers]):
        raise ValueError(
            f"{len(missing)} of {len(index)} models have no answer ({missing[0]!r} first): "
            "expected a row for each, with trusted false where there is none; or --partial"
        )
    families = [*dict.fromkeys(family for family, _ in index.values())]
    of = {f: [name for name in index if index[name][0] == f] for f in families}
    return {f: _score(names, answers, index) for f, names in (of | {"all": [*index]}).items()}


def _score(names, answers, index) -> Score:
    given = [(answers[name], index[name][1]) for name in names if name in answers]
    held = [(abs(a.log_z - log_z), a.std_error) for a, log_z in given if a.trusted]
    wrong = sum(not (off <= NATS or off <= ERRORS * error) for off, error in held)
    with_bar = [(off, error) for off, error in held if error > 0]
    spread = math.nan
    if with_bar:
        spread = math.sqrt(sum((off / error) ** 2 for off, error in with_bar) / len(with_bar))
    offs = sorted(off for off, _ in held)
    median = offs[len(offs) // 2] if offs else math.nan
    # rounding of values that have no error bar because they are exact
    covered = sum(off <= max(Z95 * error, 1e-6) for off, error in held if error >= 0)
    return Score(len(names), len(given), len(held), wrong, covered, spread, median)


def share_interval(k: int, n: int) -> tuple[float, float]:
    """95% interval of a probability after k of n."""
    low = 0.0 if k == 0 else float(betaincinv(k, n - k + 1, 0.025))
    high = 1.0 if k == n else float(betaincinv(k + 1, n - k, 0.975))
    return low, high
