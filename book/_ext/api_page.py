"""The API: a page a public name, and an index of them by the question that brings a reader.

A public name has a page because `rbmlib` exports it. ``BESIDE`` adds what a reader meets without
importing it from `rbmlib`. Pages are written as files before Sphinx looks for its sources.
"""

import importlib
import inspect
import pkgutil
import re
from pathlib import Path

import rbmlib

MARK = "<!-- the public names, by question -->"
FOLDER = "book/api"

# Rooms in the order of the index, by the question that they answer.
QUESTIONS = {
    "automatic": "What is log Z of my model?",
    "estimators": "By which method?",
    "estimate": "What does an estimate say?",
    "search": "Is it right?",
    "models": "What is my model?",
    "datasets": "Where do models and data come from?",
    "paths": "Along which path, from which base?",
    "schedules": "In which steps?",
    "sampling": "How are states drawn?",
    "training": "How is a model trained?",
    "context": "On how many threads?",
}

# By room: modules, and what is returned, or explained in a chapter, without being exported.
BESIDE = {"estimators": ["gain_sequence", "MBARSolution", "FixedPoints"]}
SAME = {"results": "estimate", "plot": "estimate"}  # rooms that one question holds
MOST_USED = ("log_z", "from_state_dict", "load_rbm", "log_likelihood", "ais")


def index() -> str:
    """Markdown: the names that most readers come for, and all of them by question, with links."""
    rows = []
    for name in MOST_USED:
        thing = getattr(rbmlib, name)
        page = f"rbmlib.{_room_of(thing)}" if _is_of_a_module(name, thing) else f"rbmlib.{name}"
        rows.append((f"rl.{name}", page, thing))
    rooms = (_section(room, entries) for room, entries in _rooms().items())
    return "\n\n".join([f"## The five most used\n\n{_table(rows)}", *rooms])


def write_pages(folder: Path) -> None:
    """A file a name in ``folder``; unchanged ones are left, so that Sphinx rests."""
    pages = {f"{full}.md": _page(name, full, thing)
             for entries in _rooms().values() for name, full, thing in entries}  # fmt: skip
    folder.mkdir(parents=True, exist_ok=True)
    for stale in set(folder.glob("*.md")) - {folder / name for name in pages}:
        stale.unlink()
    for name, text in pages.items():
        file = folder / name
        if not file.is_file() or file.read_text(encoding="utf-8") != text:
            file.write_text(text, encoding="utf-8")


def _rooms() -> dict[str, list[tuple[str, str, object]]]:
    """By room: the name that a user writes, the full name, and the thing."""
    rooms: dict[str, list[tuple[str, str, object]]] = {room: [] for room in QUESTIONS}
    for name in public(rbmlib):
        thing = getattr(rbmlib, name)
        full = thing.__name__ if inspect.ismodule(thing) else f"rbmlib.{name}"
        if not _is_of_a_module(name, thing):
            rooms[_room_of(thing)].append((f"rl.{name}", full, thing))
    for room, names in BESIDE.items():
        package = importlib.import_module(f"rbmlib.{room}")
        found = [_found(package, name) for name in names]
        rooms[room] += [(full.replace("rbmlib.", "rl."), full, thing) for full, thing in found]
    return rooms


def _is_of_a_module(name: str, thing) -> bool:
    """A name such as `rl.load_dna` that stands on the page of its module, `rl.datasets`."""
    if inspect.ismodule(thing) or name in MOST_USED:
        return False
    room = thing.__module__.split(".")[1]
    if room not in public(rbmlib):
        return False
    return name in public(importlib.import_module(f"rbmlib.{room}"))


def _page(name: str, full: str, thing) -> str:
    blocks = [_directive(full, thing)]
    if inspect.ismodule(thing) and full.count(".") == 1:  # a whole room: what its files define
        blocks += [_directive(f"{full}.{n}", getattr(thing, n)) for n in public(thing)]
    body = "\n\n".join(blocks)
    return (
        f"---\norphan: true\n---\n\n# {name}\n\n```{{eval-rst}}\n{body}\n```\n\n"
        "[All of the API](../api.md)\n"
    )


def public(package) -> list[str]:
    """Names that the ``__init__`` of a package exports: ``from .x import y as y``."""
    text = inspect.getsource(package)
    return sorted(re.findall(r"(?m)^from \S+ import \w+ as ([A-Za-z]\w*)$", text))


def _room_of(thing) -> str:
    home = thing.__name__ if inspect.ismodule(thing) else thing.__module__
    return SAME.get(home.split(".")[1], home.split(".")[1])


def _section(room: str, entries: list[tuple[str, str, object]]) -> str:
    package = importlib.import_module(f"rbmlib.{room}")
    opening = inspect.getdoc(package).split("\n\n")[0].replace("\n", " ")
    return f"## {QUESTIONS[room]}\n\n{opening}\n\n{_table(entries)}"


def _table(entries: list[tuple[str, str, object]]) -> str:
    rows = "\n".join(f"| {{doc}}`{name} <api/{full}>` | {_first_sentence(thing)} |"
                     for name, full, thing in entries)  # fmt: skip
    return f"| name | what it is |\n|---|---|\n{rows}"


def _first_sentence(thing) -> str:
    text = (inspect.getdoc(thing) or "").split("\n\n")[0].replace("\n", " ").replace("|", "\\|")
    text = re.sub(r":\w+:`~?([^`]*)`", r"`\1`", text).replace("``", "`")
    return re.split(r"(?<=\.)(?<!eq\.)(?<!al\.)(?<!e\.g\.)(?<!i\.e\.)\s", text)[0]


def _found(package, name: str):
    """Full name, and the thing of this name that the room defines, or a file of it, or the file."""
    thing = getattr(package, name, None)
    if getattr(thing, "__module__", None) == package.__name__:
        return f"{package.__name__}.{name}", thing
    for file in pkgutil.iter_modules(package.__path__, f"{package.__name__}."):
        module = importlib.import_module(file.name)
        if file.name.endswith(f".{name}"):
            return file.name, module
        thing = getattr(module, name, None)
        if getattr(thing, "__module__", None) == file.name:
            return f"{file.name}.{name}", thing
    raise LookupError(f"BESIDE names {name!r} in {package.__name__}: no file there defines it")


def _directive(full_name: str, thing) -> str:
    if inspect.ismodule(thing):
        return f".. automodule:: {full_name}\n   :members:\n   :member-order: bysource"
    if not inspect.isclass(thing):
        return f".. autofunction:: {full_name}"
    if issubclass(thing, Exception):
        return f".. autoexception:: {full_name}"
    options = ["   :members:"]
    if thing.__bases__[0].__name__.startswith("_"):  # a base that has no entry of its own
        options.append("   :inherited-members:")
    if fields := getattr(thing, "_fields", ()):  # a NamedTuple says what they are in comments
        options.append(f"   :exclude-members: {', '.join(fields)}")
    return "\n".join([f".. autoclass:: {full_name}", *options])
