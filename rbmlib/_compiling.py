"""Compilation of the loops: told to whoever waits for it, and not counted in a budget of time."""

from __future__ import annotations

import sys
import threading
import time
from contextlib import suppress

from numba.core import event

NOTICE = (
    "rbmlib: compiling its loops for this processor, once after an installation; this takes "
    "half a minute or so"
)


def ours(event) -> bool:
    """Whether a compilation is of a loop of this library."""
    return event.data["dispatcher"].py_func.__module__.startswith("rbmlib.")


class Watch(event.Listener):
    """Seconds that the compilation of loops of this library has taken."""

    def __init__(self) -> None:
        self.seconds = 0.0
        self._depth = 0
        self._started = 0.0
        self._thread: int | None = None

    def on_start(self, event) -> None:
        if self._depth == 0:
            if not ours(event):
                return
            self._started, self._thread = time.perf_counter(), threading.get_ident()
        if threading.get_ident() == self._thread:
            self._depth += 1

    def on_end(self, event) -> None:
        if self._depth and threading.get_ident() == self._thread:
            self._depth -= 1
            if self._depth == 0:
                self.seconds += time.perf_counter() - self._started


class Notice(event.Listener):
    """Says that loops are being compiled, once in a process."""

    said = False

    def on_start(self, event) -> None:
        if ours(event) and not Notice.said:
            Notice.said = True
            with suppress(OSError, ValueError):  # nobody reads it, or it is closed
                print(NOTICE, file=sys.stderr, flush=True)

    def on_end(self, event) -> None:
        """Not told of."""


def watched():
    """Context of a `Watch` of what is compiled inside."""
    return event.install_listener("numba:compile", Watch())


def told():
    """Context in which compiling is told of, in one line on standard error."""
    return event.install_listener("numba:compile", Notice())
