"""The engine of sweeps: tasks on a Dask cluster, results as they come in.

Dask retries the tasks of lost workers and gives up those that kill them; everything else that
can happen to a task is caught where it runs, and comes back as its result. Dask is imported when
it is used, since it takes a second.
"""

import contextlib
import functools
import itertools
import logging
import os
import signal
import socket
import threading
from collections.abc import Iterator
from urllib.parse import urlsplit

from .kind import TaskKind
from .store import Record
from .worker import OtherCode, on_worker, provenance, worker_version

WINDOW = 4096  # tasks handed to the scheduler at a time: bounds its memory, feeds 2,000 threads
CONNECT_SECONDS, ANSWER_SECONDS = 10, 4
WORKER_SECONDS = 60  # in which a cluster must show its first worker
OWN_WORKER_SECONDS = 600  # of a process of our own, on however busy a machine
PROTOCOLS = ("tcp", "tls", "ws", "wss")
START_ONE = "start `dask scheduler` there, and give its address as tcp://HOST:PORT"
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

    run = functools.partial(on_worker, kind.compute, kind.digest, worker_version(), shared)

    def submit(keys, prefix: str) -> list:
        keys = list(keys)
        return client.map(
            run, [todo[k] for k in keys], [digests[k] for k in keys],
            key=[(prefix + name, k) for k in keys],
        ) if keys else []  # fmt: skip

    waiting, killers = iter(todo), []
    running = as_completed(submit(itertools.islice(waiting, WINDOW), "rbmlib-"), loop=client.loop)
    for batch in running.batches():
        done, killed, again = _sorted_out(client, batch)
        killers += killed
        n_free = len(done) + len(killed)
        running.update(submit(itertools.islice(waiting, n_free), "rbmlib-") + again)
        yield [Record(key, todo[key], *result) for key, result in done.items()]
    for key in killers:  # perhaps it was another task that killed the workers: alone, then
        running = as_completed(submit([key], "rbmlib-alone-"), loop=client.loop)
        for batch in running.batches():
            done, killed, again = _sorted_out(client, batch)
            running.update(again)
            done |= dict.fromkeys(killed, (None, KILLED, provenance(None)))
            yield [Record(key, todo[key], *result) for key, result in done.items()]


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


# clusters -----------------------------------------------------------------------------------


def check_scheduler(address: str) -> None:
    """Refuse an address at which no scheduler answers.

    Raises
    ------
    ValueError
        It is no address.
    RuntimeError
        Nobody answers there, within `ANSWER_SECONDS`.
    """
    try:
        parts = urlsplit(address)
        host, port = parts.hostname, parts.port
    except ValueError:  # of a port that is no number
        host = port = None
    if not host or not port or parts.scheme not in PROTOCOLS or parts.path.strip("/"):
        raise ValueError(
            f"scheduler is {address!r}: expected the address of a Dask scheduler, such as "
            "tcp://10.0.0.5:8786"
        )
    try:
        with socket.create_connection((host, port), timeout=ANSWER_SECONDS) as connection:
            if parts.scheme == "tcp" and not connection.recv(1):  # a scheduler speaks first
                raise OSError("what listens hangs up")
    except OSError as error:
        raise _no_scheduler(address, error.strerror or str(error)) from None


def _no_scheduler(address: str, said: str) -> RuntimeError:
    return RuntimeError(
        f"scheduler is {address!r}: no Dask scheduler answers there ({said}); {START_ONE}"
    )


@contextlib.contextmanager
def connected(scheduler: str | None, n_workers: int | None, n_tasks: int):
    """A Dask client of the given scheduler, or of worker processes of our own.

    An interrupt inside is passed on at once: workers of our own are killed, and what is left is
    closed in the background.
    """
    import dask
    from distributed import Client

    logging.getLogger("distributed").setLevel(logging.CRITICAL)  # we say what matters
    opened: list = []  # clusters and clients
    leave = _close
    with dask.config.set(_settings(dask.config.get(BEFORE_SPAWN, {}))):
        try:
            if scheduler is None:
                with _without_interrupts():
                    opened.append(_own_cluster(in_thread=n_workers == 0))
                    opened.append(Client(opened[0], set_as_default=False))
                    opened[0].scale(_n_processes(n_workers, n_tasks))
            else:
                try:
                    opened.append(Client(scheduler, timeout=CONNECT_SECONDS, set_as_default=False))
                except (OSError, ValueError, TypeError) as error:
                    raise _no_scheduler(scheduler, str(error)) from None
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


def _own_cluster(in_thread: bool):
    """As yet without workers, which take seconds to start."""
    from distributed import LocalCluster

    environment = {"RBMLIB_NUM_THREADS": str(_kernel_threads())}
    own = {"processes": False} if in_thread else {"env": environment}
    return LocalCluster(
        n_workers=0, threads_per_worker=1, silence_logs=logging.CRITICAL,
        dashboard_address="127.0.0.1:0", **own,  # any free port: for two sweeps at once
    )  # fmt: skip


def _n_processes(n_workers: int | None, n_tasks: int) -> int:
    from dask.system import CPU_COUNT

    if n_workers is None:
        return max(1, min(CPU_COUNT // _kernel_threads(), n_tasks))
    return max(1, n_workers)


def _kernel_threads() -> int:
    text = os.environ.get("RBMLIB_NUM_THREADS") or "1"
    if not text.isdecimal() or int(text) < 1:
        raise ValueError(f"RBMLIB_NUM_THREADS is {text!r}: expected a whole number of at least 1")
    return int(text)


@contextlib.contextmanager
def _without_interrupts():
    """Threads and processes that start inside, and what these start, never see Ctrl-C.

    A terminal sends it to all processes. This one stops the others; by themselves each of them
    would print its traceback. An interrupt inside comes afterwards.
    """
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    from multiprocessing import resource_tracker

    resource_tracker.ensure_running()  # which would unblock it
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _close(opened: list) -> None:
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


def _check_workers(client, scheduler: str | None) -> None:
    seconds = OWN_WORKER_SECONDS if scheduler is None else WORKER_SECONDS
    try:
        client.wait_for_workers(1, timeout=seconds)
        found = client.run(worker_version)
    except TimeoutError:
        raise RuntimeError(
            f"no worker process has started after {seconds} s"
            if scheduler is None
            else f"scheduler {scheduler} has no worker after {seconds} s: start `dask worker` "
            "with its address"
        ) from None
    except ImportError as error:
        raise RuntimeError(
            f"the workers cannot import rbmbook ({error}): install it there"
        ) from None
    except OSError as error:
        raise RuntimeError(
            f"scheduler {scheduler} closed the connection ({error}): start it again"
        ) from None
    for address, version in found.items():
        if version != worker_version():
            raise OtherCode(f"worker {address}", version, worker_version())
