"""The claims of the four sources that the book judges, and the notebooks of the book."""

import csv
import difflib
import re
from functools import cache
from pathlib import Path
from typing import NamedTuple

from rbmlib import datasets

# Name and subject of each source, and its notebook in book/check.
SOURCES = {
    "Kiwaki": ("Kiwaki 2015", "optimal annealing schedules", "kiwaki2015"),
    "Carlson": ("Carlson et al. 2016", "Rao-Blackwellized tempered sampling", "carlson2016"),
    "Li": ("Li et al. 2016", "annealing the leakiness", "li2016"),
    "Wang": ("Wang (course report)", "AIS, TAP, RTS and SAMS compared", "wang"),
}
COURSE_REPORT = "Wang"  # its claims are counted apart from those of the three papers


class Claim(NamedTuple):
    """A result that the authors would list or a reader would check."""

    name: str  # short and unique; used by verdicts and as the anchor in the notebook
    source: str  # one of `SOURCES`
    place: str  # table, figure, section
    claim: str  # in words
    printed: str  # the number or the words as printed
    measure: str  # the quantity that is judged
    open: str = ""  # what the source does not state
    old: str = ""  # former names, separated by blanks; their addresses still work


@cache
def claims() -> dict[str, Claim]:
    with datasets.committed("published/claims.csv").open(encoding="utf-8", newline="") as file:
        rows = [Claim(**row) for row in csv.DictReader(file)]
    by_name = {row.name: row for row in rows}
    if len(by_name) != len(rows):
        raise ValueError("published/claims.csv names a claim twice")
    return by_name


def claim(name: str) -> Claim:
    """The claim of this name; raises ValueError with similar names if there is none."""
    if name not in claims():
        close = ", ".join(difflib.get_close_matches(str(name), claims(), n=3)) or "none is close"
        raise ValueError(f"name is {name!r}: expected one of data/published/claims.csv ({close})")
    return claims()[name]


def printed_number(name: str, printed=None) -> tuple[float, float]:
    """The printed number of the claim, or a given one, and half a unit of its last digit."""
    text = claim(name).printed if printed is None else str(printed)
    try:
        value = float(text)
    except ValueError:
        raise ValueError(
            f"printed is {text!r} for {name}: expected a number; give printed, or judge words by "
            "another function"
        ) from None
    digits, _, power = text.lower().partition("e")
    decimals = len(digits.partition(".")[2]) - int(power or 0)
    return value, 0.5 * 10.0**-decimals


def notebooks(folder: Path) -> list[Path]:
    """Notebooks in a folder and its subfolders, without tools, drafts and checkpoints."""
    return sorted(
        path
        for path in folder.rglob("*.ipynb")
        if not any(part[0] in "_." for part in path.relative_to(folder).parts)
        and not path.name.endswith(".partial.ipynb")
    )


def name_of(notebook: Path, folder: Path) -> str:
    """Name of a notebook in links, such as learn/03_ais."""
    return notebook.relative_to(folder).with_suffix("").as_posix()


def short(notebook: str | Path) -> str:
    """Name of a notebook without folder and number, such as ais."""
    return re.sub(r"^\d\d_", "", Path(notebook).stem)


def by_name(folder: Path) -> dict[str, str]:
    """Names of all notebooks in links, by short name."""
    return {short(path): name_of(path, folder) for path in notebooks(folder)}
