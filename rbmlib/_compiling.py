"""Compilation of the loops: told to whoever waits for it, and not counted in a budget of time."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

from numba.core import event

NOTICE = (
    "rbmlib: compiling its loops for this processor, once after an installation; this takes "
    "half a minute or so"
)


class Watch(event.Listener):
    """Seconds that the compilation of kernels of this library has taken; says when it begins."""

    def __init__(self) -> None:
        self.seconds = 0.0
        self._depth = 0
        self._started = 0.0
        self._thread: int | None = None

    def on_start(self, event) -> None:
        ours = event.data["dispatcher"].py_func.__module__.startswith("rbmlib.")
        if self._depth == 0:
            if not ours:
                return
            self._started, self._thread = time.perf_counter(), threading.get_ident()
            if not self.seconds:
                print(NOTICE, file=sys.stderr, flush=True)
        if threading.get_ident() == self._thread:
            self._depth += 1

    def on_end(self, event) -> None:
        if self._depth and threading.get_ident() == self._thread:
            self._depth -= 1
            if self._depth == 0:
                self.seconds += time.perf_counter() - self._started


@contextmanager
def watched() -> Iterator[Watch]:
    """A `Watch` of what is compiled inside; one line on standard error tells of it."""
    with event.install_listener("numba:compile", Watch()) as watch:
        yield watch
