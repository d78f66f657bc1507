"""Settings of calls: threads, progress, and the independent check.

    with rl.using(n_threads=2, progress=False):
        rl.ais(path, betas)

The number of threads and the progress bar do not change any result.
"""

import contextlib
import functools
import os
import sys
import threading
import time
from collections.abc import Iterator
from contextvars import ContextVar
from typing import NamedTuple

from . import checks
from ._kernels import threads

__version__ = "0.1.0"

QUIET_SECONDS, EVERY_SECONDS = 2.0, 10.0  # before progress is shown, and between two lines
SMALL_SHARE = 0.1  # fewer of the steps are no basis for an estimate of the time left


class Settings(NamedTuple):
    n_threads: int | None = None  # None: RBMLIB_NUM_THREADS, or all
    progress: bool | None = None  # None: on a terminal or in a log
    independent_check: bool = True  # of the result of the outermost estimator
    started: float | None = None  # start time of the outermost estimator


settings: ContextVar[Settings] = ContextVar("settings", default=Settings())  # noqa: B039
_open: ContextVar = ContextVar("open", default=None)  # the progress bar on display


@contextlib.contextmanager
def using(
    *,
    n_threads: int | None = None,
    progress: bool | None = None,
    independent_check: bool | None = None,
) -> Iterator[None]:
    """Context manager that runs calls with these settings; None leaves a setting unchanged.

    Parameters
    ----------
    n_threads : int or None
        Number of threads of compiled loops and of BLAS; by default, ``RBMLIB_NUM_THREADS`` or all.
    progress : bool or None
        By default, calls of more than two seconds show a bar on a terminal, nothing in a notebook,
        and lines on stderr elsewhere. True shows progress in notebooks too; False never shows it.
    independent_check : bool or None
        If False, estimators return their results without the independent check of `rbmlib.check`.

    Examples
    --------
    >>> import rbmlib as rl
    >>> path = rl.GeometricPath(rl.testsystems.random_rbm(12, 6, rng=0))
    >>> with rl.using(n_threads=1, progress=False):
    ...     one = rl.ais(path, rl.schedules.linear(100), 50, rng=0)
    >>> one.log_z == rl.ais(path, rl.schedules.linear(100), 50, rng=0).log_z
    True
    """
    now = settings.get()
    for name, value in (("progress", progress), ("independent_check", independent_check)):
        if value is not None:
            checks.instance(name, value, checks.BOOLS, "True, False, or None")
            now = now._replace(**{name: bool(value)})
    if n_threads is not None:
        now = now._replace(n_threads=checks.count("n_threads", n_threads, most=threads.MOST))
    # setting "all" again wakes BLAS threads, which then spin and double the time of a small run
    said = now.n_threads is not None or "RBMLIB_NUM_THREADS" in os.environ
    blas = threads.blas_threads(now.n_threads) if said else contextlib.nullcontext()
    with _having(settings, now), blas:
        yield


@contextlib.contextmanager
def inside_an_estimator() -> Iterator[Settings]:
    """Yield the settings of the call; nested calls are not checked and share its start time."""
    asked = settings.get()
    started = asked.started or time.time()
    with _having(settings, asked._replace(independent_check=False, started=started)):
        yield asked


@contextlib.contextmanager
def _having(variable: ContextVar, value):
    token = variable.set(value)
    try:
        yield
    finally:
        variable.reset(token)


@contextlib.contextmanager
def bar(total: int, description: str, *, whole: bool = True):
    """Yield a progress bar with ``update(n)``; a nested call reuses the outer ``whole`` bar."""
    outer = None if settings.get().progress is False else _open.get()
    shown = outer or _begun(total, description)
    try:
        with _having(_open, shown) if whole else contextlib.nullcontext():
            yield shown
    finally:
        if shown is not outer:
            shown.close()


def steps(items, description: str):
    """Yield the items and show progress; work on an item may show a bar of its own."""
    with bar(len(items), description, whole=False) as shown:
        for item in items:
            yield item
            shown.update()


def _begun(total, description):
    now, stderr = settings.get(), sys.stderr
    notebook = type(stderr).__module__.startswith("ipykernel")
    silent = now.progress is False or not stderr or stderr.closed or (notebook and not now.progress)
    terminal = not silent and stderr.isatty()
    line = "{desc}: {percentage:.0f}% done, {remaining} left{postfix}"
    return _bar()(
        total=total, desc=description, disable=silent, file=stderr, leave=False, smoothing=0,
        delay=max(QUIET_SECONDS + (now.started or time.time()) - time.time(), 1e-9),
        miniters=1, mininterval=0.1 if terminal else EVERY_SECONDS,
        bar_format=None if terminal else line,
    )  # fmt: skip


@functools.cache
def _bar():
    from tqdm import tqdm

    class Bar(tqdm):
        monitor_interval, _lock = 0, threading.RLock()  # no monitor thread, no multiprocess lock

        def update(self, n=1):
            if self.n == 0 and 0 < n < SMALL_SHARE * self.total and not self.disable:
                # the first of many steps may include compilation: leave it out of the rate
                self.initial, self.start_t = n, self._time()
            return super().update(n)

    return Bar
