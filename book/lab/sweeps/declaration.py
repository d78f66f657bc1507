"""The declaration of a sweep: its tasks, one by one or as grids in a YAML file."""

import contextlib
import itertools
import math
from pathlib import Path

import yaml

from rbmlib.checks import instance

from .kind import PLAIN, TaskKind, shown, unknown_setting

MAX_TASKS = 1_000_000  # of a sweep: the client holds them all, and looks at each
KEYS = "expected a YAML file with the keys about, grids, results, as those in book/scales"


def declared(number: int, task, kind: TaskKind) -> dict:
    """A task with every setting spelled out; ValueError says which task is wrong, and how."""
    with named(f"task {number}"):
        if not isinstance(task, dict) or not task:
            raise ValueError(f"it is {shown(task)}: expected a mapping of settings")
        for name, value in task.items():
            if not isinstance(value, PLAIN) or (type(value) is float and not math.isfinite(value)):
                meaning = "text, a finite number, true or false"
                raise ValueError(f"{name} is {shown(value)}: expected {meaning}")
        return kind.check(task)


def faults(tasks: list[dict], kind: TaskKind) -> list[tuple[dict, str]]:
    """Tasks that would be refused or fail, each with the reason; nothing is downloaded."""
    found, good = [], []
    for task in tasks:
        try:
            good.append(declared(0, task, kind))
        except ValueError as error:
            found.append((task, str(error).removeprefix("task 0: ")))
    return [*found, *kind.faults(good, False)]


def read_yaml(source: Path, kind: TaskKind, overrides=None) -> tuple[list[dict], str]:
    """The tasks of a declaration, and the folder of the tables, relative to the file.

    Raises ValueError if it is no declaration of a sweep; the message says where.
    """
    overrides = {} if overrides is None else overrides
    instance("overrides", overrides, dict, "settings by name, or None")
    with named(source.name):
        content = _content(source)
        grids, results = content.get("grids"), content.get("results", ".")
        if not isinstance(grids, list) or not all(isinstance(g, dict) and g for g in grids):
            raise ValueError(f"grids is {shown(grids)}: expected a list of mappings")
        if not isinstance(results, str) or not results.strip():
            raise ValueError(f"results is {shown(results)}: expected the name of a folder")
        sizes = [math.prod(len(_values(*x)) for x in (grid | overrides).items()) for grid in grids]
        if not 0 < sum(sizes) <= MAX_TASKS:
            raise ValueError(f"grids stands for {sum(sizes):,} tasks: expected 1 to {MAX_TASKS:,}")
        grids = [grid | {n: v for n, v in overrides.items() if n in grid} for grid in grids]
        tasks = [task for grid in grids for task in _expanded(grid)]
        return _overridden(tasks, kind, overrides) if overrides else tasks, results


class Loader(yaml.SafeLoader):
    """PyYAML's, but a key given twice is an error, where it takes the last."""

    def construct_mapping(self, node, deep=False):
        keys = [key.value for key, _ in node.value]
        if twice := sorted({str(key) for key in keys if keys.count(key) > 1}):
            raise yaml.MarkedYAMLError(problem=f"{', '.join(twice)} given twice")
        return super().construct_mapping(node, deep)


def _loaded(text: str, what: str):
    try:
        return yaml.load(text, Loader)
    except yaml.YAMLError as error:
        raise ValueError(f"{what}: {' '.join(str(error).split())}") from None


def _content(source: Path) -> dict:
    if not source.is_file():
        raise FileNotFoundError(f"no sweep {str(source)!r}: {KEYS}")
    try:
        content = _loaded(source.read_text("utf-8"), "it is no YAML")
    except UnicodeDecodeError:
        raise ValueError(f"it is no text: {KEYS}") from None
    if not isinstance(content, dict):
        raise ValueError(f"it is {shown(content)}: {KEYS}")
    if unknown := sorted(map(str, {*content} - {"about", "results", "grids"})):
        raise ValueError(f"unknown {shown(unknown)}: {KEYS}")
    return content


def _expanded(grid: dict) -> list[dict]:
    """All combinations of the values of a grid."""
    values = [_values(name, value) for name, value in grid.items()]
    return [dict(zip(grid, combination, strict=True)) for combination in itertools.product(*values)]


def _values(name: str, value) -> list | range:
    """What the value of a setting stands for."""
    if isinstance(value, dict):
        whole = set(value) == {"first", "count"} and all(type(x) is int for x in value.values())
        if not whole or not 1 <= value["count"] <= MAX_TASKS:
            raise ValueError(f"{name} is {shown(value)}: expected {{first: 0, count: 20}}")
        value = range(value["first"], value["first"] + value["count"])
    values = value if isinstance(value, (list, range)) else [value]
    if not values:
        raise ValueError(f"{name} is empty: expected a value or more")
    return values


def read_overrides(texts: list[str]) -> dict:
    """Settings from texts NAME=VALUE, the values as YAML writes them."""
    found: dict = {}
    for text in texts:
        name, _, value = map(str.strip, text.partition("="))
        if not name or not value:
            raise ValueError(f"--set is {shown(text)}: expected NAME=VALUE, such as n_chains=100")
        if name in found:
            raise ValueError(f"--set {name} is given twice: give one value, or a list")
        found[name] = _loaded(value, f"--set is {shown(text)}")
    return found


def _overridden(declared: list[dict], kind: TaskKind, overrides: dict) -> list[dict]:
    """Each task with the other overrides that it takes; what becomes the same, once."""
    tasks: dict[str, dict] = {}
    known: dict[str, None] = {}
    for task in declared:
        for waiting in _expanded({n: v for n, v in overrides.items() if n not in task}):
            whole = dict(task)
            # some, such as an estimator, say what else is taken
            while taken := [name for name in waiting if name in kind.settings(whole)]:
                whole |= {name: waiting.pop(name) for name in taken}
            known |= dict.fromkeys(kind.settings(whole))
            tasks.setdefault(repr(sorted(whole.items())), whole)
    for name in overrides:
        if name not in known:
            raise ValueError(
                unknown_setting(f"no task takes the setting {shown(name)}", name, known)
            )
    return list(tasks.values())


@contextlib.contextmanager
def named(where: str):
    """Errors inside say where they come from."""
    try:
        yield
    except ValueError as error:
        raise ValueError(f"{where}: {error}") from None
