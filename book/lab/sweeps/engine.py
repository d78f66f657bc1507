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
from concurrent.futures import Future
from concurrent.futures import TimeoutError as FutureTimeoutError

from rbmlib import __version__
from rbmlib._extras import needed
from rbmlib._kernels import threads
from rbmlib._progress import silence
from .kind import PLAIN, RESULTS_VERSION, TaskKind
from .provenance import provenance
from .scheduler import ANSWER_SECONDS, START_ONE
from .store import Record

WINDOW = 4096  # tasks handed to the scheduler at a time: bounds its memory, feeds 2,000 threads
CONNECT_SECONDS = 10
WORKER_SECONDS = 60  # in which a cluster must show its first worker
OWN_WORKER_SECONDS = 600  # of a process of our own, on however busy a machine
BEFORE_SPAWN = "distributed.nanny.pre-spawn-environ"
TRIM, DASK_TRIM = "MALLOC_TRIM_THRESHOLD_", "65536"  # bytes: Dask's default
KILLED = "KilledWorker: every worker that ran this task died (a crash, or out of memory)"


def compute(
    client, name: str, kind: TaskKind, todo: dict[str, dict], digests: dict[str, str], *,
    shared: bool,
) -> Iterator[list[Record]]:  # fmt: skip
    """Yield lists of records as tasks, by key, are done.

    ``digests`` are those of the files of each task, by key; a worker whose files have others does
    not compute it. ``name`` sets the sweep apart from others on the same scheduler; ``shared`` says
    that the worker is a thread of this process, whose environment is not ours to set.
    """
    from distributed import as_completed

    run = functools.partial(_on_worker, kind.compute, kind.digest, worker_version(), shared)
    waiting = iter(todo.items())

    def submit(n: int) -> list:
        batch = list(itertools.islice(waiting, n))
        if not batch:
            return []
        keys = [("rbmlib-" + name, key) for key, _ in batch]
        return client.map(
            run, [task for _, task in batch], [digests[key] for key, _ in batch], key=keys
        )

    killers = []
    running = as_completed(submit(WINDOW), loop=client.loop)
    for batch in running.batches():
        done, killed, again = _sorted_out(client, batch)
        killers += killed
        running.update(submit(len(done) + len(killed)) + again)
        yield [Record(key, todo[key], *result) for key, result in done.items()]
    for key in killers:  # perhaps it was another task that killed the workers: alone, then
        future = client.submit(run, todo[key], digests[key], key=("rbmlib-alone-" + name, key))
        running = as_completed([future], loop=client.loop)
        for batch in running.batches():
            done, killed, again = _sorted_out(client, batch)
            running.update(again)
            done |= dict.fromkeys(killed, (None, KILLED, provenance(None)))
            yield [Record(key, todo[key], *result) for key, result in done.items()]


# on the workers -----------------------------------------------------------------------------


def _on_worker(function, digest_of, version: dict, shared: bool, task: dict, digest: str):
    """(result, error, provenance) of one task; an exception is a result like any other."""
    if not shared:  # a process of its own: it has a task for each of its threads
        os.environ.setdefault("RBMLIB_NUM_THREADS", "1")
    started = time.perf_counter()
    if worker_version() != version:  # it joined late: no result of its is worth storing
        raise OtherCode(_other_code("a worker", worker_version(), version))
    try:
        if digest_of(task) != digest:
            raise OtherFiles("a file that the task names has another content here: copy it anew")
        with silence():  # the client tells of the whole
            row, error = _plain_row(function(**task), task), None
    except (Exception, SystemExit):
        row, error = None, traceback.format_exc()
    seconds = (row or {}).pop("seconds", time.perf_counter() - started)
    return row, error, provenance(seconds)


class OtherFiles(RuntimeError):
    """A worker has files of the same names as the client, which are not the same."""


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


# the engine ---------------------------------------------------------------------------------


@contextlib.contextmanager
def connected(scheduler: str | None, n_workers: int | None, n_tasks: int):
    """A Dask client of the given scheduler, or of worker processes of our own.

    An interrupt inside is passed on at once: workers of our own are killed, and what is left is
    closed in the background.
    """
    needed("distributed", "a sweep")  # before its settings are changed, or it loses them after
    import dask

    logging.getLogger("distributed").setLevel(logging.CRITICAL)  # we say what matters
    with dask.config.set(_settings(dask.config.get(BEFORE_SPAWN, {}))):
        leave = _close
        opened = _started(scheduler, n_workers == 0)
        try:
            if scheduler is None:
                opened[0].scale(_n_processes(n_workers, n_tasks))
            _check_workers(opened[-1], scheduler)
            yield opened[-1]
        except KeyboardInterrupt:
            leave = _abandon
            raise
        finally:
            leave(opened)


def _settings(variables: dict) -> dict:
    """Dask's settings for workers of our own; ``variables`` are those that it sets in them.

    Its default lets them return freed memory to the system at once, and each array of more than
    128 KiB is then fetched anew, page by page: arithmetic on such arrays takes three times as
    long. What a user has set in its place, or in the environment, stays; the default in the
    environment was left there by a cluster that Dask started in this process before.
    """
    # a restarting worker may be slow on a busy machine, but it is not lost
    found: dict = {"distributed.deploy.lost-worker-timeout": "1h"}
    if os.environ.get(TRIM) == DASK_TRIM:
        del os.environ[TRIM]
    if str(variables.get(TRIM)) == DASK_TRIM:
        found[BEFORE_SPAWN] = {name: x for name, x in variables.items() if name != TRIM}
    return found


def _n_processes(n_workers: int | None, n_tasks: int) -> int:
    from dask.system import CPU_COUNT

    if n_workers is None:
        return max(1, min(CPU_COUNT // _kernel_threads(), n_tasks))
    return max(1, n_workers)


def _kernel_threads() -> int:
    return threads.default_n_threads() if os.environ.get("RBMLIB_NUM_THREADS") else 1


def _opened(scheduler: str | None, in_thread: bool) -> list:
    """A cluster of our own, as yet without workers, which take seconds to start; a client."""
    from distributed import LocalCluster

    opened: list = []
    if scheduler is None:
        environment = {"RBMLIB_NUM_THREADS": str(_kernel_threads())}
        own = {"processes": False} if in_thread else {"env": environment}
        cluster = LocalCluster(
            n_workers=0, threads_per_worker=1,
            dashboard_address="127.0.0.1:0",  # any free port: for two sweeps at once
            silence_logs=logging.CRITICAL, **own,
        )  # fmt: skip
        opened.append(cluster)
    try:
        return [*opened, _client(scheduler or cluster, scheduler)]
    except BaseException:
        _close(opened)
        raise


def _started(scheduler: str | None, in_thread: bool) -> list:
    """What `_opened` opens. A listener that never says a word keeps Dask waiting for ever."""
    seconds = None if scheduler is None else CONNECT_SECONDS + ANSWER_SECONDS
    try:
        return _without_interrupts(lambda: _opened(scheduler, in_thread), _close, seconds)
    except FutureTimeoutError:
        raise RuntimeError(
            f"scheduler is {scheduler!r}: no Dask scheduler answers there (something listens, and "
            f"says nothing for {seconds:g} s); {START_ONE}"
        ) from None


def _close(opened: list) -> None:
    """Clients and clusters, last first."""
    for one in reversed(opened):
        one.close()


def _abandon(opened: list) -> None:
    """Kill workers of our own, and close the rest while the interrupt goes on."""
    from distributed import Nanny

    for cluster in opened[:-1]:
        cluster.shutdown_on_close = False  # or Python waits for it when it ends
        for nanny in list(cluster.workers.values()):
            if isinstance(nanny, Nanny):  # else it is a thread of this process
                nanny.close_gracefully(reason="interrupted")  # or it starts another worker
                with contextlib.suppress(OSError, TypeError):  # it has ended, or not yet begun
                    os.kill(nanny.pid, signal.SIGKILL)

    def close():
        with contextlib.suppress(Exception):
            _close(opened)

    threading.Thread(target=close, daemon=True).start()


def _without_interrupts(start, undo, seconds: float | None = None):
    """``start()``, whose threads and processes never see Ctrl-C, waited for so many seconds.

    A terminal sends it to all processes. This one stops the others; by themselves each of them
    would print its traceback. A signal that is blocked in a thread is blocked in whatever that
    thread starts, so another thread starts it; this one can be interrupted while it waits, and
    what is started in vain is undone.
    """
    from multiprocessing import resource_tracker

    if hasattr(signal, "pthread_sigmask"):
        resource_tracker.ensure_running()  # which would unblock it
    found: Future = Future()
    stopped = threading.Event()

    def run():
        if hasattr(signal, "pthread_sigmask"):
            signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
        try:
            found.set_result(start())
        except BaseException as error:
            found.set_exception(error)
        else:
            if stopped.is_set():
                undo(found.result())

    threading.Thread(target=run, daemon=True).start()
    try:
        return found.result(seconds)
    except (KeyboardInterrupt, FutureTimeoutError):
        stopped.set()
        raise


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
        f"scheduler is {scheduler!r}: no Dask scheduler answers there ({said}); {START_ONE}"
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
                done[key] = (None, f"{type(error).__name__}: {error}", provenance(None))
    # a result whose worker died before it was fetched is computed again by the scheduler
    again = [f for key, f in by_key.items() if key not in done and key not in killed]
    return done, killed, again


def _check_workers(client, scheduler) -> None:
    from distributed import TimeoutError as DaskTimeout

    seconds = OWN_WORKER_SECONDS if scheduler is None else WORKER_SECONDS
    try:
        client.wait_for_workers(1, timeout=seconds)
        found = client.run(worker_version)
    except (DaskTimeout, TimeoutError):
        raise RuntimeError(
            f"no worker process has started after {seconds} s"
            if scheduler is None
            else f"scheduler {scheduler} has no worker after {seconds} s: start `dask worker` "
            "with its address"
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
