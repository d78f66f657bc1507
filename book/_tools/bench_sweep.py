"""Time a sweep of many short tasks: python book/_tools/bench_sweep.py [--tasks 100000]

What limits it: the time of a task beyond its own 10 ms, the store by itself, and the memory of
the process that holds client and scheduler.
"""

import argparse
import resource
import tempfile
import time
from pathlib import Path

import numpy as np

import rbmlib as rl
from rbmlib.store import Record, ResultsStore


def work(number: int, milliseconds: float) -> dict:
    """Compute on one thread for so long."""
    values = np.random.default_rng(number).random(1000)
    stop = time.perf_counter() + milliseconds / 1000
    while time.perf_counter() < stop:
        total = np.sort(values).sum()
    return {"total": round(float(total), 6)}


def store_alone(folder: Path, n: int, batch: int) -> float:
    """Milliseconds a record, in transactions of ``batch``."""
    provenance = {"seconds": 0.01, "host": "x" * 60, "finished": "2000-01-01T00:00:00Z"}
    records = [Record(f"{i:032x}", {"number": i}, {"total": 1.5}, None, provenance)
               for i in range(n)]  # fmt: skip
    with ResultsStore(folder / f"store{batch}.sqlite", "bench") as store:
        started = time.perf_counter()
        for first in range(0, n, batch):
            store.put(records[first : first + batch])
        return 1000 * (time.perf_counter() - started) / n


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--tasks", type=int, default=100_000)
    parser.add_argument("--milliseconds", type=float, default=10.0)
    parser.add_argument("--workers", type=int, nargs="+", default=[2])
    parser.add_argument("--scheduler")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for batch in (1, 100):
            print(
                f"store alone, {batch} a commit: {store_alone(folder, 5000, batch):.3f} ms a task"
            )
        for n_workers in arguments.workers:
            tasks = [{"number": i, "milliseconds": arguments.milliseconds}
                     for i in range(arguments.tasks)]  # fmt: skip
            sweep = rl.Sweep(tasks, work, name=f"bench{n_workers}", folder=folder)
            warm = rl.Sweep(tasks[:n_workers], work, name=f"warm{n_workers}", folder=folder)
            start_up = warm.run(arguments.scheduler, n_workers=n_workers).seconds
            cpu = time.process_time()
            seconds = sweep.run(arguments.scheduler, n_workers=n_workers).seconds - start_up
            cpu = 1000 * (time.process_time() - cpu) / arguments.tasks
            own = arguments.tasks * arguments.milliseconds / 1000 / n_workers
            each = 1000 * (seconds - own) * n_workers / arguments.tasks
            started = time.perf_counter()
            size = sweep.to_csv().stat().st_size
            table = time.perf_counter() - started
            memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
            print(
                f"{arguments.tasks} tasks of {arguments.milliseconds:g} ms, {n_workers} workers: "
                f"{seconds:.1f} s after {start_up:.1f} s of start-up, "
                f"{arguments.tasks / seconds:.0f} tasks/s, {each:.2f} ms overhead a task,\n"
                f"of it {cpu:.2f} ms of processor time of client, scheduler and store\n"
                f"table {size / 2**20:.1f} MB in {table:.1f} s, store "
                f"{sweep.store.stat().st_size / 2**20:.1f} MB, memory of client and scheduler "
                f"{memory:.0f} MB"
            )


if __name__ == "__main__":
    main()
