"""The API page, made from what `rbmlib` exports: a public name is there because it is public.

Names are grouped by the room they live in. A room's heading and first sentences are those of its
docstring. ``BESIDE`` adds what a reader meets without importing it from `rbmlib`.
"""

import importlib
import inspect
import pkgutil
import re

import rbmlib

MARK = "<!-- the public names, by room -->"

# The order of the page; a room that is not named here comes last.
ROOMS = ["models", "datasets", "paths", "schedules", "sampling", "search", "estimators",
         "automatic", "results", "context", "training", "sweeps", "book"]  # fmt: skip

# By room: modules, and what is returned, or explained in a chapter, without being exported.
BESIDE = {
    "models": ["Span"],
    "estimators": ["estimator", "gain_sequence", "MBARSolution", "FixedPoints"],
    "sweeps": ["Sweep", "StoreError", "Summary", "task"],
    "book": [
        "judge", "measured", "verdicts", "claims", "tables", "errors", "plots", "parameters",
        "step_sizes", "stored", "timing",
    ],
}  # fmt: skip
BESIDE_THE_LIBRARY = {"sweeps": "rbmbook.sweeps", "book": "rbmbook"}


def page() -> str:
    """Markdown: a heading for each room, and under it a directive for each name."""
    names: dict[str, list[str]] = {room: [] for room in ROOMS}
    for name in public(rbmlib):
        names.setdefault(_room_of(getattr(rbmlib, name)), []).append(name)
    return "\n\n".join(_section(room, public) for room, public in names.items())


def public(package) -> list[str]:
    """Names that the ``__init__`` of a package exports: ``from .x import y as y``."""
    text = inspect.getsource(package)
    return sorted(re.findall(r"(?m)^from \S+ import \w+ as ([A-Za-z]\w*)$", text))


def _room_of(thing) -> str:
    home = thing.__name__ if inspect.ismodule(thing) else thing.__module__
    return home.split(".")[1]


def _section(room: str, names: list[str]) -> str:
    package = importlib.import_module(BESIDE_THE_LIBRARY.get(room, f"rbmlib.{room}"))
    opening = inspect.getdoc(package).split("\n\n")[0]
    title = re.split(r"[:,;.]", opening)[0]
    whole = room in names  # the room itself is public, and its module says what is in it
    blocks = [_directive(f"rbmlib.{room}", package)] if whole else [opening]
    for name in names:
        if whole and name in public(package):
            blocks.append(f"``rl.{name}`` is ``rl.{room}.{name}``.")
        elif name != room:
            blocks.append(_entry(name, getattr(rbmlib, name)))
    if whole:
        blocks += [_directive(f"rbmlib.{room}.{n}", getattr(package, n)) for n in public(package)]
    blocks += [_directive(*_found(package, name)) for name in BESIDE.get(room, [])]
    text = "\n\n".join(blocks)
    return f"## {title}\n\n```{{eval-rst}}\n{text}\n```"


def _entry(name: str, thing) -> str:
    if inspect.ismodule(thing):  # by the name of its file, which may be another
        return f"``rl.{name}`` is ``{thing.__name__}``.\n\n{_directive(thing.__name__, thing)}"
    return _directive(f"rbmlib.{name}", thing)


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
