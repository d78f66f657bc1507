"""The engine of sweeps: tasks on a Dask cluster, results as they come in.

Dask retries the tasks of lost workers and gives up those that kill them; everything else that
can happen to a task is caught where it runs, and comes back as its result.
"""

from __future__ import annotations

import contextlib
import functools
import gc
import itertools
import logging
import os
import platform
import signal
import threading
import time
import traceback
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

from .. import __version__
from .._kernels import threads
from .kind import PLAIN, RESULTS_VERSION
from .store import Record

WINDOW = 4096  # tasks handed to the scheduler at a time: bounds its memory, feeds 2,000 threads
CONNECT_SECONDS = 10
WORKER_SECONDS = 60  # in which a cluster must show its first worker
KILLED = "KilledWorker: every worker that ran this task died (a crash, or out of memory)"


def compute(
    client, name: str, function, todo: dict[str, dict], *, shared: bool
) -> Iterator[list[Record]]:
    """Yield lists of records as tasks, by key, are done.

    ``name`` sets the sweep apart from others on the same scheduler; ``shared`` says that the
    worker is a thread of this process, whose environment is not ours to set.
    """
    from distributed import as_completed

    run = functools.partial(_on_worker, function, worker_version(), shared)
    waiting = iter(todo.items())

    def submit(n: int) -> list:
        batch = list(itertools.islice(waiting, n))
        keys = [("rbmlib-" + name, key) for key, _ in batch]
        return client.map(run, [task for _, task in batch], key=keys) if batch else []

    killers = []
    running = as_completed(submit(WINDOW), loop=client.loop)
    for batch in running.batches():
        done, killed, again = _sorted_out(client, batch)
        killers += killed
        running.update(submit(len(done) + len(killed)) + again)
        yield [Record(key, todo[key], *result) for key, result in done.items()]
    for key in killers:  # perhaps it was another task that killed the workers: alone, then
        future = client.submit(run, todo[key], key=("rbmlib-alone-" + name, key))
        running = as_completed([future], loop=client.loop)
        for batch in running.batches():
            done, killed, again = _sorted_out(client, batch)
            running.update(again)
            done |= dict.fromkeys(killed, (None, KILLED, _provenance(None)))
            yield [Record(key, todo[key], *result) for key, result in done.items()]


# on the workers -----------------------------------------------------------------------------


def _on_worker(function, version: dict, shared: bool, task: dict):
    """(result, error, provenance) of one task; an exception is a result like any other."""
    if not shared:  # a process of its own: it has a task for each of its threads
        os.environ.setdefault("RBMLIB_NUM_THREADS", "1")
    started = time.perf_counter()
    if worker_version() != version:  # it joined late: no result of its is worth storing
        raise OtherCode(_other_code("a worker", worker_version(), version))
    try:
        row, error = _plain_row(function(**task), task), None
    except (Exception, SystemExit):
        row, error = None, traceback.format_exc()
    seconds = (row or {}).pop("seconds", time.perf_counter() - started)
    return row, error, _provenance(seconds)


class OtherCode(RuntimeError):
    """A worker runs other code than the client."""


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
    return {"rbmlib": __version__, "results": RESULTS_VERSION, "python": python}


def _provenance(seconds: float | None) -> dict:
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


# the engine ---------------------------------------------------------------------------------


@contextlib.contextmanager
def connected(scheduler: str | None, n_workers: int | None, n_tasks: int):
    """A Dask client of the given scheduler, or of worker processes of our own."""
    import dask
    from dask.system import CPU_COUNT
    from distributed import LocalCluster

    logging.getLogger("distributed").setLevel(logging.CRITICAL)  # we say what matters
    with contextlib.ExitStack() as stack:
        if scheduler is None:
            kernel = threads.default_n_threads() if os.environ.get("RBMLIB_NUM_THREADS") else 1
            if n_workers is None:
                n_workers = max(1, min(CPU_COUNT // kernel, n_tasks))
            # a restarting worker may be slow on a busy machine, but it is not lost
            stack.enter_context(dask.config.set({"distributed.deploy.lost-worker-timeout": "1h"}))
            own = (
                {"env": {"RBMLIB_NUM_THREADS": str(kernel)}} if n_workers else {"processes": False}
            )
            with _interrupts_are_ours():
                address = stack.enter_context(
                    LocalCluster(
                        n_workers=max(1, n_workers), threads_per_worker=1,
                        dashboard_address="127.0.0.1:0",  # any free port: for two sweeps at once
                        silence_logs=logging.CRITICAL, **own,
                    )
                )  # fmt: skip
        else:
            address = scheduler
        client = stack.enter_context(_client(address, scheduler))
        _check_workers(client, scheduler)
        yield client


@contextlib.contextmanager
def _interrupts_are_ours():
    """Threads and processes that are started inside never see Ctrl-C.

    A terminal sends it to all processes. This one stops the others; by themselves each of them
    would print its traceback. A blocked signal stays blocked in whatever a thread starts. Here it
    waits until the block ends: Dask cannot close what it has not yet opened.
    """
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    from multiprocessing import resource_tracker

    resource_tracker.ensure_running()  # which would unblock it
    waiting, main = [], threading.current_thread() is threading.main_thread()
    if main:  # a thread that does not block it may still receive it
        handler = signal.signal(signal.SIGINT, lambda *_: waiting.append(True))
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
        if main:
            signal.signal(signal.SIGINT, handler or signal.SIG_DFL)
    if waiting:
        signal.raise_signal(signal.SIGINT)


def _client(address, scheduler: str | None):
    from distributed import Client

    try:
        return Client(address, timeout=CONNECT_SECONDS, set_as_default=False)
    except (OSError, ValueError, TypeError) as error:
        said = str(error)
    # A client that could not connect closes when it is collected, under a lock of Dask's that the
    # start of the next one holds as well. Collected here and now it cannot block that.
    gc.collect()
    raise RuntimeError(
        f"scheduler is {scheduler!r}: no Dask scheduler answers there ({said}); start "
        "`dask scheduler`, and give its address as tcp://HOST:PORT"
    )


def _sorted_out(client, futures) -> tuple[dict[str, tuple], list[str], list]:
    """Results by key, keys of tasks whose workers died, and futures to wait for again."""
    from distributed.scheduler import KilledWorker

    by_key = {future.key[1]: future for future in futures}
    finished = {key: f for key, f in by_key.items() if f.status == "finished"}
    done = client.gather(finished, errors="skip")
    killed = []
    for key, future in by_key.items():
        if future.status == "cancelled":
            raise RuntimeError(
                "the connection to the Dask scheduler was lost; what was finished is stored: "
                "start the sweep again"
            )
        if future.status == "error":
            error = future.exception()
            if isinstance(error, KilledWorker):
                killed.append(key)
            elif type(error).__name__ == OtherCode.__name__:
                raise error
            else:  # before the task began: for example, a function that the worker cannot import
                done[key] = (None, f"{type(error).__name__}: {error}", _provenance(None))
    # a result whose worker died before it was fetched is computed again by the scheduler
    again = [f for key, f in by_key.items() if key not in done and key not in killed]
    return done, killed, again


def _check_workers(client, scheduler) -> None:
    from distributed import TimeoutError as DaskTimeout

    try:
        client.wait_for_workers(1, timeout=WORKER_SECONDS)
        found = client.run(worker_version)
    except (DaskTimeout, TimeoutError):
        raise RuntimeError(
            f"scheduler {scheduler} has no worker after {WORKER_SECONDS} s: start "
            "`dask worker` with its address"
        ) from None
    except ImportError as error:
        raise RuntimeError(
            f"the workers cannot import rbmlib ({error}): install it there"
        ) from None
    except OSError as error:
        raise RuntimeError(
            f"scheduler {scheduler} closed the connection ({error}): start it again"
        ) from None
    for address, version in found.items():
        if version != worker_version():
            raise RuntimeError(_other_code(f"worker {address}", version, worker_version()))


def _other_code(who: str, found: dict, wanted: dict) -> str:
    return f"{who} runs other code ({found}, expected {wanted}): install the same rbmlib everywhere"
