"""A kind of task: all that a sweep needs to know of what it runs."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import NamedTuple

# Raised when results of the library change: workers must have the client's, tables say theirs.
RESULTS_VERSION = 1
PLAIN = (str, int, float, bool, type(None))  # what settings and results are


def _as_given(task: dict) -> dict:
    return task


def _no_file(task: dict) -> str:
    return ""


def _nothing(tasks: Iterable[dict]) -> None:
    pass


def _none(tasks: Iterable[dict]) -> list:
    return []


class TaskKind(NamedTuple):
    """How tasks of one kind are checked, told apart and computed.

    Attributes
    ----------
    compute : callable
        ``compute(**task)`` -> dict of plain values, the results of the row: a pure function of
        the task, importable where the workers are. A value named "seconds" goes into the
        provenance instead.
    version : str
        Of ``compute``: to be changed when its results change, since it is part of every key.
    check : callable
        ``check(task)`` -> the task with every setting spelled out, or a ValueError.
    digest : callable
        ``digest(task)`` -> a hash of the files that the task reads, or "": part of its key.
    check_files : callable
        ``check_files(tasks)`` raises ValueError where a file that is named cannot be read here,
        or does not fit its task.
    settings : callable
        ``settings(task)``: names of the settings that such a task may have.
    faults : callable
        ``faults(tasks)`` -> pairs of a task that would fail and the reason; downloads nothing.
    to_download : callable
        ``to_download(tasks)`` -> names of what will be downloaded.
    """

    compute: Callable[..., dict]
    version: str
    check: Callable[[dict], dict] = _as_given
    digest: Callable[[dict], str] = _no_file
    check_files: Callable[[Iterable[dict]], None] = _nothing
    settings: Callable[[dict], Iterable[str]] = _as_given
    faults: Callable[[Iterable[dict]], list[tuple[dict, str]]] = _none
    to_download: Callable[[Iterable[dict]], list[str]] = _none


def kind_of(kind, version: str) -> TaskKind:
    """A kind of task as it is; a plain function as a kind of its own name and ``version``."""
    if isinstance(kind, TaskKind):
        return kind
    if not hasattr(kind, "__qualname__"):
        raise TypeError(f"kind is {kind!r}: expected a TaskKind, or a function with a name (def)")
    return TaskKind(kind, f"{kind.__module__}.{kind.__qualname__} {version}")
