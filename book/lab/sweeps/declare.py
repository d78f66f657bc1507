"""Declarations of the tasks of sweeps.

Files in ``book/scales`` declare the sweeps of the book by name. A reader's file declares one sweep,
with the text ``about`` and the ``grids`` of its tasks. A grid is a mapping of settings and stands
for all combinations of their values. A value may be a list, or ``{first: 0, count: 20}`` for
consecutive whole numbers.
"""

import contextlib
import difflib
import itertools
import math
import re
import reprlib
from pathlib import Path
from typing import NamedTuple

import yaml

SCALES = Path(__file__).parents[2] / "scales"
RESULTS = SCALES.parents[1] / "data" / "results"
MAX_TASKS = 1_000_000  # per sweep, because the client holds and checks them all
KEYS = "about", "grids"
FORM = f"expected the name of a sweep of the book, or a YAML file with the keys {', '.join(KEYS)}"


class Declared(NamedTuple):
    """The tasks of a sweep, and the folder of its table."""

    name: str
    where: str  # place of the declaration, for messages
    tasks: list[dict]
    folder: Path


def names() -> dict[str, Path]:
    """The sweeps of the book and their declaring files."""
    files = sorted(SCALES.glob("*.yaml"))
    return {n: f for f in files for n in re.findall(r"^(\w+):", f.read_text("utf-8"), re.M)}


def read(source: str | Path, overrides: dict | None = None) -> Declared:
    """Read a sweep of the book by its name, or a file with one sweep.

    ``overrides`` replace settings in every grid that names them.
    """
    book, file = names(), Path(source)
    if str(source) in book:
        name, where, folder = str(source), str(source), RESULTS
        content = _loaded(book[name].read_bytes(), where)[name]
    elif file.is_file():
        name, where, folder = file.stem, file.name, file.resolve().parent
        content = _loaded(file.read_bytes(), f"{where}: it is no YAML")
    else:
        raise FileNotFoundError(f"no sweep {shown(str(source))}{nearest(source, book)}: {FORM}")
    with named(where):
        grids = _replaced(_grids(content), overrides or {})
        n = sum(math.prod(map(len, grid.values())) for grid in grids)
        if not 0 < n <= MAX_TASKS:
            raise ValueError(f"grids stands for {n:,} tasks: expected 1 to {MAX_TASKS:,}")
    tasks = [
        dict(zip(grid, values, strict=True))
        for grid in grids
        for values in itertools.product(*grid.values())
    ]
    if overrides:  # without tasks that became equal
        tasks = [*{repr(task): task for task in tasks}.values()]
    return Declared(name, where, tasks, folder)


def _grids(content) -> list[dict]:
    if not isinstance(content, dict):
        raise ValueError(f"it is {shown(content)}: {FORM}")
    if unknown := {*content} - {*KEYS}:
        raise ValueError(f"it has the keys {sorted(map(str, unknown))}: {FORM}")
    grids = content.get("grids", [])
    if not isinstance(grids, list) or not all(isinstance(g, dict) and g for g in grids):
        raise ValueError(f"grids is {shown(grids)}: expected a list of mappings")
    return [{n: _values(n, v) for n, v in grid.items()} for grid in grids]


def _replaced(grids: list[dict], overrides: dict) -> list[dict]:
    known = {str(name) for grid in grids for name in grid}
    for name in overrides:
        if name not in known:
            near, there = nearest(name, known), ", ".join(sorted(known))
            raise ValueError(f"no grid has the setting {shown(name)}{near}: expected {there}")
    new = {name: _values(name, value) for name, value in overrides.items()}
    return [grid | {n: v for n, v in new.items() if n in grid} for grid in grids]


def _values(name: str, value) -> list | range:
    if isinstance(value, dict):
        whole = set(value) == {"first", "count"} and all(type(x) is int for x in value.values())
        if not whole or not 1 <= value["count"] <= MAX_TASKS:
            raise ValueError(f"{name} is {shown(value)}: expected {{first: 0, count: 20}}")
        value = range(value["first"], value["first"] + value["count"])
    values = value if isinstance(value, (list, range)) else [value]
    if not values:
        raise ValueError(f"{name} is empty: expected a value or more")
    return values


def _loaded(text: str | bytes, what: str):
    try:
        return yaml.load(text, yaml.CSafeLoader)
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        raise ValueError(f"{what}: {' '.join(str(error).split())}") from None


def read_overrides(texts: list[str]) -> dict:
    """Settings from texts NAME=VALUE, with values in YAML."""
    found: dict = {}
    for text in texts:
        name, _, value = map(str.strip, text.partition("="))
        if not name or not value:
            raise ValueError(f"--set is {shown(text)}: expected NAME=VALUE, such as n_chains=100")
        if name in found:
            raise ValueError(f"--set {name} is given twice: give one value, or a list")
        found[name] = _loaded(value, f"--set is {shown(text)}")
    return found


@contextlib.contextmanager
def named(where: str):
    """Add the place to errors raised inside the context."""
    try:
        yield
    except ValueError as error:
        raise ValueError(f"{where}: {error}") from None


def one_of(name: str, value, words) -> str:
    if not isinstance(value, str) or value not in words:
        near, expected = nearest(value, words), ", ".join(map(repr, words))
        raise ValueError(f"{name} is {shown(value)}{near}: expected one of {expected}")
    return value


def nearest(word, words) -> str:
    """A hint at the most similar word, if there is one."""
    close = difflib.get_close_matches(str(word)[:80], words, n=1)
    return f", did you mean {close[0]}?" if close else ""


_brief = reprlib.Repr()
_brief.maxstring = _brief.maxother = _brief.maxlong = 120
_brief.maxlist, _brief.maxdict, _brief.maxlevel = 12, 40, 3


def shown(value) -> str:
    """Any value as text for a message, of at most 1,000 letters."""
    return _brief.repr(value)[:1000]
