"""A kind of task: all that a sweep needs to know of what it runs."""

import difflib
import reprlib
from collections.abc import Callable, Iterable
from typing import NamedTuple

# Raised when results of the library change: workers must have the client's, tables say theirs.
RESULTS_VERSION = 1
PLAIN = (str, int, float, bool, type(None))  # what settings and results are


class TaskKind(NamedTuple):
    """How tasks of one kind are checked, told apart and computed.

    ``compute(**task)`` returns a dict of plain values, the results of the row: a pure function of
    the task, importable where the workers are; "seconds" among them go into the provenance. Its
    ``version`` is part of every key: to be changed when results change.
    """

    compute: Callable[..., dict]
    version: str
    # the task with every setting spelled out, or a ValueError
    check: Callable[[dict], dict] = dict
    # a hash of the files that the task reads, or "": part of its key
    digest: Callable[[dict], str] = lambda task: ""
    # names of the settings that such a task may have
    settings: Callable[[dict], Iterable[str]] = dict
    # tasks that would fail, and why; nothing is downloaded unless the second argument is true
    faults: Callable[[list[dict], bool], Iterable[tuple[dict, str]]] = lambda tasks, fetch: ()
    # names of what will be downloaded
    to_download: Callable[[Iterable[dict]], list[str]] = lambda tasks: []


def kind_of(kind, version: str) -> TaskKind:
    """A kind of task as it is; a plain function as a kind of its own name and ``version``."""
    if isinstance(kind, TaskKind):
        return kind
    if not hasattr(kind, "__qualname__"):
        raise TypeError(
            f"kind is {shown(kind)}: expected a TaskKind, or a function with a name (def)"
        )
    return TaskKind(kind, f"{kind.__module__}.{kind.__qualname__} {version}")


def one_of(name: str, value, words) -> str:
    if not isinstance(value, str) or value not in words:
        raise ValueError(f"{name} is {shown(value)}: expected one of {', '.join(map(repr, words))}")
    return value


def unknown_setting(what: str, name, known) -> str:
    close = difflib.get_close_matches(str(name)[:80], known, n=1)
    hint = f", did you mean {close[0]}?" if close else "."
    return f"{what}{hint} Expected: {', '.join(known)}"


_brief = reprlib.Repr()
_brief.maxstring = _brief.maxother = _brief.maxlong = 120
_brief.maxlist, _brief.maxlevel = 12, 3


def shown(value) -> str:
    """A value for a message, of 1,000 letters at most, whatever it is; settings in their order."""
    text = _brief.repr(value)
    if isinstance(value, dict):
        pairs = list(value.items())[:40]
        text = "{" + ", ".join(f"{_brief.repr(k)}: {_brief.repr(v)}" for k, v in pairs) + "}"
    return text if len(text) <= 1000 else f"{text[:999]}…"
