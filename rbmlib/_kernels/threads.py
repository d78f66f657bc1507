"""Chunks of chains on threads with one BLAS thread each.

Compiled code cannot be interrupted, so a long run is cut into blocks of a fifth of a second.
Between two blocks, Python notices Ctrl-C and progress is reported.
"""

import os
import time
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from itertools import repeat

import scipy.linalg.cython_blas  # noqa: F401  (numba's dot calls this BLAS: load it before limiting)
from threadpoolctl import ThreadpoolController

CHUNK = 256  # chains in a chunk: they share tables, and their fields stay in the cache
BLOCK_SECONDS = 0.2
MOST = 10_000  # threads, far more than a machine has processors
WORTH_SECONDS = 0.02  # least remaining work for which threads are started


def default_n_threads() -> int:
    """Return ``RBMLIB_NUM_THREADS`` if set, otherwise the number of available processors."""
    if value := os.environ.get("RBMLIB_NUM_THREADS", ""):
        if value.isdigit() and 1 <= int(value) <= MOST:
            return int(value)
        expected = f"a whole number from 1 to {MOST:,}"
        raise ValueError(f"RBMLIB_NUM_THREADS is {value!r:.20}: expected {expected}")
    affinity = getattr(os, "sched_getaffinity", None)
    return len(affinity(0)) if affinity else (os.cpu_count() or 1)


def resolve(n_threads: int | None) -> int:
    """Return ``n_threads``, or the default if it is None."""
    return default_n_threads() if n_threads is None else n_threads


@cache
def _controller() -> ThreadpoolController:
    return ThreadpoolController()


def blas_threads(n_threads: int | None):
    """Return a context in which BLAS uses ``n_threads`` threads (None: the default number)."""
    return _controller().limit(limits=resolve(n_threads), user_api="blas")


def chunks(n_chains: int, size: int) -> list[slice]:
    return [slice(i, min(i + size, n_chains)) for i in range(0, n_chains, size)]


def run_blocks(run_chunk, n_chunks: int, n_steps: int, n_threads: int | None, on_progress=None):
    """Call ``run_chunk(chunk, start, stop)`` for all chunks and all steps, block by block.

    The length of a block adapts to BLOCK_SECONDS. The chunks of a block run on ``n_threads``
    threads, except that the first block, of one step, and a short remainder run on this thread.
    """
    n_threads = min(resolve(n_threads), n_chunks)
    done, block, left = 0, 1, 0.0
    with blas_threads(1), ThreadPoolExecutor(n_threads) as pool:
        while done < n_steps:
            stop = min(done + block, n_steps)
            started = time.perf_counter()
            if n_threads == 1 or left < WORTH_SECONDS:
                for chunk in range(n_chunks):
                    run_chunk(chunk, done, stop)
            else:
                list(pool.map(run_chunk, range(n_chunks), repeat(done), repeat(stop)))
            seconds = time.perf_counter() - started
            left = seconds * (n_steps - stop) / (stop - done)
            if on_progress is not None:
                on_progress(stop - done)
            block = max(1, min(2 * (stop - done), int((stop - done) * BLOCK_SECONDS / seconds)))
            done = stop


def run_all(task, n_tasks: int, n_threads: int | None = None, on_progress=lambda n: None) -> list:
    """Return ``[task(0), task(1), ...]``, computed on ``n_threads`` threads."""
    results = []
    with ThreadPoolExecutor(resolve(n_threads)) as pool:
        for result in pool.map(task, range(n_tasks)):
            results.append(result)
            on_progress(1)
    return results
