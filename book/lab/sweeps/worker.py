"""What runs on the workers of a sweep: one task, its result or its error, and where it was made."""

import contextlib
import functools
import os
import platform
import time
import traceback
from datetime import UTC, datetime
from pathlib import Path

import numba
import numpy as np

import rbmlib as rl

from .kind import PLAIN, RESULTS_VERSION


class OtherFiles(RuntimeError):
    """A worker has files of the same names as the client, which are not the same."""


class OtherCode(RuntimeError):
    """A worker runs other code than the client."""

    def __init__(self, who: str, found: dict, wanted: dict):
        super().__init__(who, found, wanted)

    def __str__(self) -> str:
        who, found, wanted = self.args
        return (
            f"{who} runs other code ({found}, expected {wanted}): install the same rbmlib "
            "everywhere"
        )


def on_worker(function, digest_of, version: dict, shared: bool, task: dict, digest: str):
    """(result, error, provenance) of one task; an exception is a result like any other."""
    if not shared:  # a process of its own: it has a task for each of its threads
        os.environ.setdefault("RBMLIB_NUM_THREADS", "1")
    started = time.perf_counter()
    if (own := worker_version()) != version:  # it joined late: no result of its is worth storing
        raise OtherCode("a worker", own, version)
    try:
        if digest_of(task) != digest:
            raise OtherFiles("a file that the task names has another content here: copy it anew")
        with rl.using(progress=False):  # the client tells of the whole
            row, error = _plain_row(function(**task), task), None
    except (Exception, SystemExit):
        row, error = None, traceback.format_exc()
    seconds = (row or {}).pop("seconds", time.perf_counter() - started)
    return row, error, provenance(seconds)


def _plain_row(row, task: dict) -> dict:
    if not isinstance(row, dict) or not row:
        raise TypeError(f"the task returned a {type(row).__name__}: expected a dict of results")
    row = {name: value.item() if hasattr(value, "item") else value for name, value in row.items()}
    for name, value in row.items():
        if name in task:
            raise ValueError(f"the result {name!r} has the name of a setting: rename it")
        if not isinstance(value, PLAIN):
            raise TypeError(f"the result {name!r} is a {type(value).__name__}: expected a number")
    return row


def worker_version() -> dict:
    """What client and workers must agree on."""
    python = ".".join(platform.python_version_tuple()[:2])
    return {"rbmlib": rl.__version__, "results": RESULTS_VERSION, "python": python}


def provenance(seconds: float | None) -> dict:
    """Where and with what a result was made, in so many seconds, if it is known how many."""
    return {
        "seconds": None if seconds is None else round(seconds, 3),
        "host": _host_kind(),
        "threads": os.environ.get("RBMLIB_NUM_THREADS"),
        "rbmlib": rl.__version__,
        "results_version": RESULTS_VERSION,
        "python": platform.python_version(),
        "numpy": np.__version__,
        "numba": numba.__version__,
        "finished": datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
    }


@functools.cache
def _host_kind() -> str:
    """Processor, not the machine's name."""
    with contextlib.suppress(OSError, StopIteration):
        lines = Path("/proc/cpuinfo").read_text().splitlines()
        model = next(line for line in lines if line.startswith("model name"))
        return f"{platform.machine()} {model.partition(':')[2].strip()}"
    return f"{platform.machine()} {platform.processor()}".strip()
