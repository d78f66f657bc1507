"""Arguments of methods are checked where a caller comes in, and not again on the way.

Paths and models call each other, and themselves, at every step of a loop. So a public method that
is `checked_once` looks at its arguments only where it was called from outside: what it then calls,
in the same thread, is trusted.
"""

from __future__ import annotations

import contextlib
import functools
import inspect
import threading
from collections.abc import Callable, Iterator, Mapping

_local = threading.local()


@contextlib.contextmanager
def trusted() -> Iterator[None]:
    """Nothing is checked inside: for loops that try states which they may refuse themselves."""
    before = getattr(_local, "inside", False)
    _local.inside = True
    try:
        yield
    finally:
        _local.inside = before


def checked_once(method: Callable, checks: Mapping[str, Callable]) -> Callable:
    """The method, which replaces its arguments by ``checks[name](self, value, others)``.

    ``others`` are the arguments by name, those before it checked already.
    """
    if hasattr(method, "checked"):
        return method
    names = list(inspect.signature(method).parameters)[1:]
    wanted = [name for name in names if name in checks]
    if not wanted:
        return method

    @functools.wraps(method)
    def call(self, *given, **named):
        if getattr(_local, "inside", False) or len(given) > len(names):
            return method(self, *given, **named)
        others = dict(zip(names, given, strict=False)) | named
        for name in wanted:
            if name in others:
                others[name] = checks[name](self, others[name], others)
        given = tuple(others[name] for name in names[: len(given)])
        named = {name: others[name] for name in named}
        with trusted():
            return method(self, *given, **named)

    call.checked = True  # type: ignore[attr-defined]
    return call


def check_methods(cls: type, methods: tuple[str, ...], checks: Mapping[str, Callable]) -> None:
    """Make those methods that the class itself defines `checked_once`."""
    for name in methods:
        method = vars(cls).get(name)
        abstract = getattr(method, "__isabstractmethod__", False)
        if inspect.isfunction(method) and not abstract:
            setattr(cls, name, checked_once(method, checks))
