"""The declaration of a sweep: its tasks, one by one or as grids in a YAML file."""

from __future__ import annotations

import contextlib
import difflib
import functools
import itertools
import math
from pathlib import Path
from typing import NamedTuple

from rbmlib._extras import needed
from .kind import PLAIN, TaskKind, kind_of

PLAIN_KIND = kind_of(dict, "")
MAX_TASKS = 1_000_000  # of a sweep: the client holds them all, and looks at each
MAX_BYTES = 10_000_000  # of a declaration


def declared(number: int, task, kind: TaskKind) -> dict:
    if not isinstance(task, dict) or not task:
        raise ValueError(f"task {number} is {task!r}: expected a mapping of settings")
    for name, value in task.items():
        if not isinstance(value, PLAIN):
            raise ValueError(
                f"task {number}: {name} is {value!r}: expected text, a number, true or false"
            )
        if isinstance(value, float) and not math.isfinite(value):
            raise ValueError(f"task {number}: {name} is {value!r}: expected a finite number")
    with named(f"task {number}"):
        return kind.check(task)


def faults(tasks: list[dict], kind: TaskKind) -> list[tuple[dict, str]]:
    """Tasks that would be refused or fail, each with the reason."""
    found, good = [], []
    for task in tasks:
        try:
            good.append(declared(0, task, kind))
        except ValueError as error:
            found.append((task, str(error).removeprefix("task 0: ")))
    return found + kind.faults(good)


def distinct(numbered: dict[int, dict], key_of) -> dict[str, dict]:
    by_key: dict[str, int] = {}
    for number, task in numbered.items():
        first = by_key.setdefault(key_of(task), number)
        if first != number:
            raise ValueError(f"task {number} is the same as task {first}: {task}")
    return {key: numbered[number] for key, number in by_key.items()}


class Declaration(NamedTuple):
    """What a YAML file declares."""

    tasks: list[dict]
    results: str  # folder of the tables, relative to the file


def read_yaml(source: Path, kind: TaskKind = PLAIN_KIND, overrides=None) -> Declaration:
    """Raises ValueError if it is no declaration of a sweep; the message says where."""
    content = _content(source)
    grids = content.get("grids")
    if not isinstance(grids, list) or not all(isinstance(g, dict) and g for g in grids):
        raise ValueError(f"{source.name}: grids is {grids!r}: expected a list of mappings")
    with named(source.name):
        _check_sizes(grids, overrides or {})
        if overrides:
            tasks = _overridden(grids, kind, overrides)
        else:
            tasks = [task for grid in grids for task in _expanded(grid)]
        if not tasks:
            raise ValueError("grids is empty: expected a task or more")
        results = content.get("results", ".")
        if not isinstance(results, str) or not results.strip():
            raise ValueError(
                f"results is {results!r}: expected the name of a folder; without the key, "
                "tables go beside the file"
            )
    return Declaration(tasks, results)


def _check_sizes(grids: list[dict], overrides: dict) -> None:
    """How many tasks the grids stand for, before any is made."""
    chosen = math.prod(len(_values(*one)) for one in overrides.items())
    total = 0
    for grid in grids:
        kept = (len(_values(*one)) for one in grid.items() if one[0] not in overrides)
        total += chosen * math.prod(kept)
        if total > MAX_TASKS:
            raise ValueError(
                f"the grids stand for more than {MAX_TASKS:,} tasks: expected {MAX_TASKS:,} at "
                "most; divide the sweep into several files"
            )


def _content(source: Path) -> dict:
    yaml = needed("yaml", "a sweep in YAML")

    if not source.is_file():
        raise FileNotFoundError(f"no sweep {str(source)!r}: expected a YAML file")
    if source.stat().st_size > MAX_BYTES:
        raise ValueError(
            f"{source.name} has {source.stat().st_size:,} bytes: expected {MAX_BYTES:,} at most; "
            "a list of whole numbers is written {first: 0, count: 20}"
        )
    try:
        content = yaml.load(source.read_text(), _yaml_loader())
    except RecursionError:
        raise ValueError(
            f"{source.name} is nested too deeply: expected a list of mappings of plain values"
        ) from None
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        raise ValueError(f"{source.name} is no YAML: {' '.join(str(error).split())}") from None
    expected = {"about", "results", "grids"}
    if not isinstance(content, dict) or set(content) - expected:
        wrong = sorted(map(str, set(content) - expected)) if isinstance(content, dict) else content
        raise ValueError(f"{source.name}: unknown {wrong}: expected the keys {sorted(expected)}")
    return content


@functools.cache
def _yaml_loader():
    """PyYAML's safe loader, but a key given twice is an error, where PyYAML takes the last."""
    import yaml

    class Loader(yaml.SafeLoader):
        def construct_mapping(self, node, deep=False):
            keys = [key.value for key, _ in node.value]
            twice = sorted({str(key) for key in keys if keys.count(key) > 1})
            if twice:
                raise yaml.constructor.ConstructorError(
                    None, None, f"{', '.join(twice)} given twice", node.start_mark
                )
            return super().construct_mapping(node, deep)

    return Loader


def _expanded(grid: dict) -> list[dict]:
    """All combinations of the values of a grid."""
    values = [_values(name, value) for name, value in grid.items()]
    return [dict(zip(grid, combination, strict=True)) for combination in itertools.product(*values)]


def _values(name: str, value) -> list | range:
    """What the value of a setting stands for."""
    if isinstance(value, dict):
        whole = set(value) == {"first", "count"} and all(type(x) is int for x in value.values())
        if not whole or not 1 <= value["count"] <= MAX_TASKS:
            raise ValueError(f"{name} is {value!r}: expected {{first: 0, count: 20}}")
        value = range(value["first"], value["first"] + value["count"])
    values = value if isinstance(value, (list, range)) else [value]
    if not values:
        raise ValueError(f"{name} is empty: expected a value or more")
    return values


def read_overrides(texts: list[str]) -> dict:
    """Settings from texts NAME=VALUE, the values as YAML writes them."""
    yaml = needed("yaml", "a sweep in YAML")

    found: dict = {}
    for text in texts:
        name, equals, value = text.partition("=")
        if not equals or not name.strip() or not value.strip():
            raise ValueError(f"--set is {text!r}: expected NAME=VALUE, such as n_chains=100")
        if name.strip() in found:
            raise ValueError(f"--set {name.strip()} is given twice: give one value, or a list")
        try:
            found[name.strip()] = yaml.load(value, _yaml_loader())
        except yaml.YAMLError as error:
            raise ValueError(f"--set is {text!r}: {' '.join(str(error).split())}") from None
    return found


def _overridden(grids: list[dict], kind: TaskKind, overrides: dict) -> list[dict]:
    """Tasks of the grids, each with the overrides that it takes; what becomes the same, once."""
    given = dict(zip(overrides, (_values(*one) for one in overrides.items()), strict=True))
    tasks: dict[str, dict] = {}
    known: dict[str, None] = {}
    for grid in grids:
        for task in _expanded({n: v for n, v in grid.items() if n not in given}):
            for values in itertools.product(*given.values()):
                whole = _with(task, dict(zip(given, values, strict=True)), set(grid), kind)
                known |= dict.fromkeys(_settings(kind, whole))
                tasks.setdefault(repr(sorted(whole.items())), whole)
    for name in overrides:
        if name not in known:
            close = difflib.get_close_matches(str(name), known, n=1)
            hint = f", did you mean {close[0]}?" if close else "."
            raise ValueError(
                f"no task takes the setting {name!r}{hint} Expected: {', '.join(known)}"
            )
    return list(tasks.values())


def _with(task: dict, values: dict, declared_names: set, kind: TaskKind) -> dict:
    """The task with the values that it takes: some, such as an estimator, say what it takes."""
    whole, waiting = task | {n: v for n, v in values.items() if n in declared_names}, dict(values)
    while taken := [name for name in waiting if name in _settings(kind, whole)]:
        whole |= {name: waiting.pop(name) for name in taken}
    return whole


def _settings(kind: TaskKind, task: dict) -> list[str]:
    return list(kind.settings(task))


@contextlib.contextmanager
def named(where: str):
    try:
        yield
    except ValueError as error:
        raise ValueError(f"{where}: {error}") from None
