"""How a call runs, which is no part of what it computes: threads, and progress.

    with using(n_threads=2, progress=False): ais(path, betas)

Digits depend on neither. Every estimator takes both by keyword (`estimators.estimator`); no other
function names them.
"""

import contextlib
import sys
from contextvars import ContextVar
from typing import NamedTuple


class Settings(NamedTuple):
    n_threads: int | None = None  # None: all, or RBMLIB_NUM_THREADS
    progress: bool | None = None  # None: on a terminal or in a log, after two seconds


settings = ContextVar("settings", default=Settings())


@contextlib.contextmanager
def using(**changed):
    before = settings.set(settings.get()._replace(**changed))
    try:
        yield
    finally:
        settings.reset(before)


def bar(total, description):
    """A tqdm bar, seen of what takes more than two seconds."""
    from tqdm import tqdm

    shown, stderr = settings.get().progress, sys.stderr
    notebook = type(stderr).__module__.startswith("ipykernel")
    every = 0.1 if stderr and stderr.isatty() else 10
    return tqdm(
        total=total,
        desc=description,
        leave=False,
        delay=2,
        mininterval=every,
        disable=shown is False or stderr is None or (notebook and not shown),
    )


def steps(items, description):
    """The items, with progress."""
    with bar(len(items), description) as shown:
        for item in items:
            yield item
            shown.update()
