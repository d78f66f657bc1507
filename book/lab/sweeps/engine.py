"""The engine of sweeps: tasks on a Dask cluster, and results in order of completion.

Dask retries the tasks of lost workers and gives up tasks that kill workers. All other failures are
caught on the worker and returned as results. Importing Dask takes a second, and it is imported only
when used.
"""

import contextlib
import functools
import logging
import os
import platform
import re
import signal
import socket
import time
import traceback
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import numba
import numpy as np

import rbmlib as rl
from rbmlib._kernels.threads import default_n_threads

# Raised when results of the library change. Workers must have the client's version.
RESULTS_VERSION = 1
PLAIN = (str, int, float, bool, type(None))  # types of settings and results

CONNECT_SECONDS, WORKER_SECONDS = 4, 60  # limits for an answer, and for a worker
OWN_WORKER_SECONDS = 600  # limit for our own processes, even on a busy machine
BEFORE_SPAWN = "distributed.nanny.pre-spawn-environ"
KILLED = "KilledWorker: every worker that ran this task died (a crash, or out of memory)"


def on_worker(function, digest_of, version: dict, shared: bool, task: dict, digest: str):
    """(result, error, provenance) of one task; an exception is returned as an error."""
    if not shared:  # a separate process, with one task per thread
        os.environ.setdefault("RBMLIB_NUM_THREADS", "1")
    if (own := worker_version()) != version:  # do not store its results
        raise RuntimeError(f"a worker runs other code ({own}, expected {version})")
    started = time.perf_counter()
    try:
        if digest_of(task) != digest:
            raise ValueError("a file that the task names has another content here: copy it anew")
        with rl.using(progress=False):  # the client shows the total progress
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
    """The version on which client and workers must agree."""
    python = ".".join(platform.python_version_tuple()[:2])
    return {"rbmlib": rl.__version__, "results": RESULTS_VERSION, "python": python}


def provenance(seconds: float | None) -> dict:
    """Machine, versions and, if known, seconds of a result."""
    return {
        "seconds": None if seconds is None else round(seconds, 3), "host": _processor(),
        "threads": os.environ.get("RBMLIB_NUM_THREADS"), "rbmlib": rl.__version__,
        "results_version": RESULTS_VERSION, "python": platform.python_version(),
        "numpy": np.__version__, "numba": numba.__version__,
        "finished": datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
    }  # fmt: skip


@functools.cache
def _processor() -> str:
    name = platform.processor()
    with contextlib.suppress(OSError, StopIteration):
        lines = Path("/proc/cpuinfo").read_text().splitlines()
        name = next(line for line in lines if line.startswith("model name")).partition(":")[2]
    return f"{platform.machine()} {name.strip()}".strip()


def compute(client, sweep, todo: dict[str, dict], *, shared: bool) -> Iterator[list[tuple]]:
    """Yield lists of (key, result, error, provenance) as tasks of a sweep finish.

    A worker refuses a task if its files do not match the sweep's digests. If ``shared``, the worker
    is a thread of this process, and its environment is not changed.
    """
    from distributed import as_completed
    from distributed.scheduler import KilledWorker

    run = functools.partial(on_worker, sweep.function, sweep.digest, worker_version(), shared)
    given = list(todo.values()), [sweep.digests[key] for key in todo]
    name = f"rbmlib-{sweep.name}"  # distinct on a shared scheduler
    futures = client.map(run, *given, key=[(name, key) for key in todo])
    done = as_completed(futures, loop=client.loop, with_results=True, raise_errors=False)
    del futures  # otherwise, the scheduler keeps all results
    for batch in done.batches():
        found = []
        for future, result in batch:
            if future.status == "cancelled":
                raise RuntimeError(
                    "the connection to the Dask scheduler was lost; what was finished is stored: "
                    "start the sweep again"
                )
            if future.status == "error":
                if not isinstance(result[1], KilledWorker):  # before the task began
                    raise RuntimeError(
                        f"a worker cannot run the tasks ({result[1]}): install the same rbmlib "
                        "everywhere, and what the tasks import"
                    )
                result = None, KILLED, provenance(None)
            found.append((future.key[1], *result))
        yield found


def check_scheduler(address: str) -> None:
    """Raise ValueError if it is not an address, and RuntimeError if nothing answers there."""
    parts = re.fullmatch(r"(?:tcp|tls)://\[?([^/\]]+)\]?:(\d{1,5})", address)
    if not parts:
        raise ValueError(
            f"scheduler is {address!r}: expected the address of a Dask scheduler, such as "
            "tcp://10.0.0.5:8786"
        )
    try:
        socket.create_connection((parts[1], int(parts[2])), timeout=CONNECT_SECONDS).close()
    except (OSError, OverflowError) as error:
        raise RuntimeError(
            f"scheduler is {address!r}: no Dask scheduler answers there ({error}); start "
            "`dask scheduler` there, and give its address as tcp://HOST:PORT"
        ) from None


@contextlib.contextmanager
def connected(scheduler: str | None, n_workers: int | None, n_tasks: int):
    """A Dask client of the given scheduler, or of our own worker processes."""
    import dask
    from distributed import Client, LocalCluster

    logging.getLogger("distributed").setLevel(logging.CRITICAL)  # our messages say what matters
    # With Dask's default (65536), workers return freed memory to the system at once, and arithmetic
    # on arrays of more than 128 KiB takes three times as long. A user's setting is kept.
    variables = {k: v for k, v in dask.config.get(BEFORE_SPAWN).items() if str(v) != "65536"}
    # A restarting worker may be slow on a busy machine, but it is not lost.
    own = {BEFORE_SPAWN: variables, "distributed.deploy.lost-worker-timeout": "1h"}
    with dask.config.set(own), contextlib.ExitStack() as opened:
        if scheduler is None:
            with _without_interrupts():  # as yet without workers, which take seconds to start
                cluster = LocalCluster(
                    n_workers=0, threads_per_worker=1, processes=n_workers != 0,
                    silence_logs=logging.CRITICAL, dashboard_address="127.0.0.1:0",
                )  # fmt: skip
                opened.enter_context(cluster)
                client = opened.enter_context(Client(cluster, set_as_default=False))
                cluster.scale(_n_processes(n_workers, n_tasks))
        else:
            client = opened.enter_context(Client(scheduler, timeout=10, set_as_default=False))
        seconds = OWN_WORKER_SECONDS if scheduler is None else WORKER_SECONDS
        try:
            client.wait_for_workers(1, timeout=seconds)
        except TimeoutError:
            advice = f": start `dask worker {scheduler}`" if scheduler else ""
            raise RuntimeError(f"no worker has come after {seconds} s{advice}") from None
        yield client


def _n_processes(n_workers: int | None, n_tasks: int) -> int:
    from dask.system import CPU_COUNT

    each = default_n_threads() if os.environ.get("RBMLIB_NUM_THREADS") else 1
    return max(1, min(CPU_COUNT // each, n_tasks) if n_workers is None else n_workers)


@contextlib.contextmanager
def _without_interrupts():
    """Shield threads and processes that start inside the context from Ctrl-C.

    Our processes end with this one, and each would otherwise print a traceback.
    """
    from multiprocessing import resource_tracker

    resource_tracker.ensure_running()  # otherwise, its start would unblock the signal
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
