"""Where and with what the result of a task was made."""

from __future__ import annotations

import contextlib
import functools
import os
import platform
from datetime import UTC, datetime
from pathlib import Path

from rbmlib import __version__
from .kind import RESULTS_VERSION


def provenance(seconds: float | None) -> dict:
    """Of a task that took so many seconds, if it is known how many."""
    import numba
    import numpy

    return {
        "seconds": None if seconds is None else round(seconds, 3),
        "host": _host_kind(),
        "threads": os.environ.get("RBMLIB_NUM_THREADS"),
        "rbmlib": __version__,
        "results_version": RESULTS_VERSION,
        "python": platform.python_version(),
        "numpy": numpy.__version__,
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
