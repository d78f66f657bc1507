"""What a long run says of itself: a bar on a terminal, elsewhere a line every few seconds."""

from __future__ import annotations

import contextlib
import functools
import sys
import threading
import time
from collections.abc import Callable
from contextvars import ContextVar
from typing import Any, TypeVar

import numpy as np

from ._validation import instance

Function = TypeVar("Function", bound=Callable[..., Any])
QUIET_SECONDS = 2.0  # nothing is said of a run that is shorter
EVERY_SECONDS = 5.0  # between two lines, at first
SLOWER = 0.05  # lines of a run of hours come no oftener than after this share of it


@contextlib.contextmanager
def progress_bar(total: int, description: str, enabled: bool | None = None, unit: str = "step"):
    """A tqdm bar on a terminal, plain lines on stderr elsewhere, nothing in a notebook.

    ``enabled``: False is silent everywhere; True shows a bar in a notebook too.
    """
    if enabled is not None:
        instance("progress", enabled, (bool, np.bool_), "True, False, or None")
    if not _shown(enabled):
        bar: Any = Lines(total, description, unit, None)
    elif _place() == "log":
        bar = Lines(total, description, unit, sys.stderr)
    else:
        from tqdm import tqdm

        every = 0.1 if _place() == "terminal" else 30
        bar = tqdm(total=total, desc=description, leave=False, unit=unit, mininterval=every)
    with bar:
        yield bar


def _shown(enabled: bool | None) -> bool:
    place = _place()
    if enabled is None:
        return place in ("terminal", "log") and not _silenced.get()
    return bool(enabled) and place != "nowhere"


def one_run(function: Function) -> Function:
    """Decorator: runs inside a call of ``function`` are reported as parts of it.

    What lasts long between them, or instead of them, is reported too. ``function`` has an
    argument ``progress``, given by keyword.
    """

    @functools.wraps(function)
    def reported(*args, progress: bool | None = None, **options):
        if progress is False or _silenced.get():
            with silence():
                return function(*args, progress=progress, **options)
        heard = _place() == "log"
        outer = Lines(0, function.__name__, "", sys.stderr if heard else None)
        with outer as lines:
            before = _outer.set(lines)
            try:
                return function(*args, progress=progress, **options)
            finally:
                _outer.reset(before)

    return reported  # type: ignore[return-value]


@contextlib.contextmanager
def silence():
    """Nothing is said inside, unless a run is told to."""
    before = _silenced.set(True)
    try:
        yield
    finally:
        _silenced.reset(before)


def _place() -> str:
    """Where stderr goes."""
    if sys.stderr is None:
        return "nowhere"
    if type(sys.stderr).__module__.startswith("ipykernel"):
        return "notebook"
    return "terminal" if sys.stderr.isatty() else "log"


class Lines:
    """A line on ``stream`` every few seconds, with the share done and the time left.

    The first comes after `QUIET_SECONDS`, whether or not anything is done by then: a thread that
    all runs share watches over them. Quacks like a tqdm bar; ``stream`` None: silent.
    """

    def __init__(self, total: int, description: str, unit: str, stream):
        self.total, self.description, self.unit, self.stream = total, description, unit, stream
        self.n, self.more = 0, ""
        self.started = time.monotonic()
        self.due = self.started + QUIET_SECONDS
        self.outer: Lines | None = _outer.get()
        self.inner: Lines | None = None
        if self.outer is not None:  # which says when the next line is due
            self.description = f"{self.outer.description}, {description}"
            self.due = self.outer.due

    def __enter__(self) -> Lines:
        if self.outer is not None:
            self.outer.inner = self
        if self.stream is not None:
            _watch(self)
        return self

    def __exit__(self, *_) -> None:
        with _lock:
            _open.discard(self)
        if self.outer is not None:
            self.outer.inner, self.outer.due = None, self.due

    def update(self, n: int = 1) -> None:
        self.n += n

    def set_postfix(self, refresh: bool = True, **values) -> None:
        self.more = "".join(f", {value} {name}" for name, value in values.items() if value)

    def say(self, now: float) -> None:
        """Write a line if one is due."""
        if now < self.due or self.inner is not None:
            return
        seconds = now - self.started
        self.due = now + max(EVERY_SECONDS, SLOWER * seconds)
        with contextlib.suppress(OSError, ValueError):  # nobody reads it, or it is closed
            self.stream.write(self.line(seconds) + "\n")
            self.stream.flush()

    def line(self, seconds: float) -> str:
        done = f"{self.n:,} of {self.total:,} tasks" if self.unit == "task" else ""
        if not 0 < self.n <= self.total:
            said = f"{done} done after" if done else "running for"
            return f"{self.description}: {said} {in_words(seconds)}{self.more}"
        done = done or f"{self.n / self.total:.0%}"
        left = in_words(seconds * (self.total - self.n) / self.n)
        return f"{self.description}: {done} done, {left} left{self.more}"


def in_words(seconds: float) -> str:
    for size, unit in ((86400, "days"), (3600, "hours"), (60, "minutes")):
        if seconds >= 2 * size:
            return f"{seconds / size:.1f} {unit}"
    return f"{seconds:.0f} s"


_outer: ContextVar[Lines | None] = ContextVar("outer", default=None)
_silenced: ContextVar[bool] = ContextVar("silenced", default=False)
_open: set[Lines] = set()
_lock = threading.Lock()
_watcher: threading.Thread | None = None


def _watch(lines: Lines) -> None:
    global _watcher
    with _lock:
        _open.add(lines)
        if _watcher is None or not _watcher.is_alive():  # it is not, in a process that was forked
            _watcher = threading.Thread(target=_look_round, name="progress", daemon=True)
            _watcher.start()


def _look_round() -> None:
    while True:
        time.sleep(0.25)
        with _lock:
            now_open = list(_open)
        for lines in now_open:
            lines.say(time.monotonic())
