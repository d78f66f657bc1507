"""How a call runs, which is no part of what it computes: threads, and progress.

    with rl.using(n_threads=2, progress=False):
        rl.ais(path, betas)

Digits depend on neither. Every estimator takes both by keyword (`estimators.estimator`); no other
function names them.
"""

import contextlib
import difflib
import functools
import inspect
import os
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextvars import ContextVar
from typing import NamedTuple, TypedDict, TypeVar

from . import checks
from ._kernels import threads

__version__ = "0.1.0"

QUIET_SECONDS, EVERY_SECONDS = 2.0, 10.0  # before the first line of a log, and between two
SMALL_SHARE = 0.01  # of all steps: fewer are no ground for an estimate of the time left


class Settings(NamedTuple):
    n_threads: int | None = None  # None: all, or RBMLIB_NUM_THREADS
    progress: bool | None = None  # None: on a terminal or in a log, after two seconds
    second_opinion: bool = True  # on what estimators return; not within one


class Context(TypedDict, total=False):
    """The same, as keywords of a call: `configured` takes them off."""

    n_threads: int | None
    progress: bool | None


ALSO = {"seed": "rng", "random_state": "rng"}  # what other programs call an argument
Function = TypeVar("Function", bound=Callable)
DEFAULTS = Settings()
settings: ContextVar[Settings] = ContextVar("settings", default=DEFAULTS)
# when a log was last told of a call, by whatever part of it
_said: ContextVar[list[float] | None] = ContextVar("said", default=None)
_open: ContextVar = ContextVar("open", default=None)  # the progress that is shown


@contextlib.contextmanager
def using(
    *,
    n_threads: int | None = None,
    progress: bool | None = None,
    second_opinion: bool | None = None,
) -> Iterator[None]:
    """Context in which calls run with these settings; None leaves one as it is.

    Parameters
    ----------
    n_threads : int or None
        Threads of compiled loops and of BLAS; by default all, or ``RBMLIB_NUM_THREADS``.
    progress : bool or None
        A call of more than two seconds says how far it is, by a bar on a terminal, by lines on
        stderr elsewhere, not in a notebook. True: there too. False: nowhere.
    second_opinion : bool or None
        False: estimators return their own error bars and flags, without that of `rbmlib.check`.

    Examples
    --------
    >>> import rbmlib as rl
    >>> path = rl.GeometricPath(rl.testsystems.random_rbm(12, 6, rng=0))
    >>> with rl.using(n_threads=1, progress=False):
    ...     one = rl.ais(path, rl.schedules.linear(100), 50, rng=0)
    >>> one.log_z == rl.ais(path, rl.schedules.linear(100), 50, rng=0).log_z
    True
    """
    for name, given in (("progress", progress), ("second_opinion", second_opinion)):
        if given is not None:
            checks.instance(name, given, checks.BOOLS, "True, False, or None")
    before = settings.get()
    now = Settings(
        before.n_threads if n_threads is None else n_threads,
        before.progress if progress is None else bool(progress),
        before.second_opinion if second_opinion is None else bool(second_opinion),
    )
    token = settings.set(now)
    try:
        # to say "all" again wakes threads of BLAS, which then spin: twice the time of a small run
        said = now.n_threads is not None or "RBMLIB_NUM_THREADS" in os.environ
        with threads.blas_threads(now.n_threads) if said else contextlib.nullcontext():
            yield
    finally:
        settings.reset(token)


def configured(function: Function) -> Function:
    """Decorator: the call takes ``n_threads`` and ``progress`` by keyword, as `using` does."""

    signature = own_signature(function)

    @functools.wraps(function)
    def run(*args, n_threads: int | None = None, progress: bool | None = None, **options):
        for name in options.keys() - signature.parameters.keys():
            close = difflib.get_close_matches(ALSO.get(name, name), signature.parameters, n=1)
            meant = f"; did you mean {close[0]}?" if close else ""
            raise TypeError(f"{function.__name__} has no argument {name}{meant}")
        token = _said.set(_said.get() or _nothing_yet())
        try:
            with using(n_threads=n_threads, progress=progress):
                return function(*args, **options)
        finally:
            _said.reset(token)

    kind = inspect.Parameter.KEYWORD_ONLY
    more = [inspect.Parameter(name, kind, default=None) for name in Context.__annotations__]
    both = [*signature.parameters.values(), *more]
    run.__signature__ = signature.replace(parameters=both)  # type: ignore[attr-defined]
    return run  # type: ignore[return-value]


def _nothing_yet() -> list[float]:
    return [time.time() + QUIET_SECONDS - EVERY_SECONDS]


def own_signature(function: Callable) -> inspect.Signature:
    """What a function takes but for `Context`."""
    signature = inspect.signature(function)
    own = [p for p in signature.parameters.values() if p.kind is not p.VAR_KEYWORD]
    return signature.replace(parameters=own)


@contextlib.contextmanager
def bar(total: int, description: str, *, whole: bool = True):
    """What shows progress by ``update(n)``: inside a whole, that one, of which it is a part."""
    outer = None if settings.get().progress is False else _open.get()
    shown = _begun(total, description) if outer is None else outer
    token = _open.set(shown) if whole else None
    try:
        yield shown
    finally:
        if token:
            _open.reset(token)
        if shown is not outer:
            shown.close()


def steps(items, description: str):
    """The items, with progress: what is done with each shows its own."""
    with bar(len(items), description, whole=False) as shown:
        for item in items:
            yield item
            shown.update()


def _begun(total, description):
    wanted, stderr = settings.get().progress, sys.stderr
    notebook = type(stderr).__module__.startswith("ipykernel")
    silent = wanted is False or stderr is None or stderr.closed or (notebook and not wanted)
    terminal = not silent and stderr.isatty()
    line = "{desc}: {percentage:.0f}% done, {remaining} left{postfix}"
    said = _said.get() or _nothing_yet()
    shown = _bar()(
        total=total, desc=description, disable=silent, file=stderr if terminal else Log(said),
        delay=max(said[0] + EVERY_SECONDS - time.time(), 1e-9), leave=False, smoothing=0,
        miniters=1, mininterval=0.1 if terminal else EVERY_SECONDS,
        bar_format=None if terminal else line,
    )  # fmt: skip
    if not terminal:
        shown.last_print_t = said[0]
    return shown


@functools.cache
def _bar():
    from tqdm import tqdm

    class Bar(tqdm):
        monitor_interval, _lock = 0, threading.RLock()  # no thread for ever, no lock of processes

        def update(self, n=1):
            if self.n == 0 and 0 < n < SMALL_SHARE * self.total and not self.disable:
                # one of many steps, which may have compiled the loop, is no measure of the rest
                self.initial, self.start_t = n, self._time()
            return super().update(n)

    return Bar


class Log(NamedTuple):
    """Where stderr is no terminal: a line for what tqdm would write over the last."""

    said: list[float]

    def write(self, text: str) -> None:
        with contextlib.suppress(OSError, ValueError):  # a run outlives its log
            if text.strip():
                print(text.strip(), file=sys.stderr, flush=True)
                self.said[0] = time.time()

    def flush(self) -> None:
        """Each line is."""
