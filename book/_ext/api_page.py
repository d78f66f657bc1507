"""The API: a page a public name, and an index of them by subject.

A name has a page because `rbmlib` exports it. Pages are written as files before Sphinx looks for
its sources.
"""

import inspect
import re
from pathlib import Path

import rbmlib

MARK = "<!-- the public names, by subject -->"
FOLDER = "book/api"

# Rooms in the order of the index, by the subject under which they stand.
SUBJECTS = {
    "estimators": "Estimators of log Z",
    "estimate": "Estimates",
    "search": "Checks and modes",
    "sampling": "Samples",
    "models": "Models",
    "datasets": "Data and trained models",
    "paths": "Annealing paths and bases",
    "schedules": "Schedules",
    "training": "Training",
    "context": "Settings",
}

# Rooms, and a file, that stand under another subject.
SAME = {
    "automatic": "estimators",
    "results": "estimate",
    "plot": "estimate",
    "estimators.sample": "sampling",
}
MOST_USED = (
    "log_z", "Estimate", "check", "exact", "BernoulliRBM", "from_state_dict", "load_rbm",
    "log_likelihood", "sample",
)  # fmt: skip


def index() -> str:
    """Markdown: the names that most readers come for, and all of them by subject, with links."""
    most = [(f"rl.{name}", f"rbmlib.{name}", getattr(rbmlib, name)) for name in MOST_USED]
    rooms = [f"## {SUBJECTS[room]}\n\n{_table(entries)}" for room, entries in _rooms().items()]
    return "\n\n".join([f"## Most used\n\n{_table(most)}", *rooms])


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
    rooms: dict[str, list[tuple[str, str, object]]] = {room: [] for room in SUBJECTS}
    for name in public(rbmlib):
        thing = getattr(rbmlib, name)
        full = thing.__name__ if inspect.ismodule(thing) else f"rbmlib.{name}"
        rooms[_room_of(thing)].append((f"rl.{name}", full, thing))
    return rooms


def _page(name: str, full: str, thing) -> str:
    blocks = [_directive(full, thing)]
    if inspect.ismodule(thing) and full.count(".") == 1:  # a whole room: what its files define
        blocks += [_directive(f"{full}.{n}", getattr(thing, n)) for n in public(thing)
                   if n not in public(rbmlib)]  # fmt: skip
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
    room = home.split(".")[1]
    return SAME.get(home.removeprefix("rbmlib."), SAME.get(room, room))


def _table(entries: list[tuple[str, str, object]]) -> str:
    rows = "\n".join(f"| {{doc}}`{name} <api/{full}>` | {_first_sentence(thing)} |"
                     for name, full, thing in entries)  # fmt: skip
    return f"| name | what it is |\n|---|---|\n{rows}"


def _first_sentence(thing) -> str:
    text = (inspect.getdoc(thing) or "").split("\n\n")[0].replace("\n", " ").replace("|", "\\|")
    text = re.sub(r":\w+:`~?([^`]*)`", r"`\1`", text).replace("``", "`")
    return re.split(r"(?<=\.)(?<!eq\.)(?<!al\.)(?<!e\.g\.)(?<!i\.e\.)\s", text)[0]


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
