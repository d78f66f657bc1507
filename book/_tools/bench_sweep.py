"""Time a sweep of many short tasks: python book/_tools/bench_sweep.py [--tasks 10000]

What limits it: the time of a task beyond its own 10 ms, the store by itself, and the memory of
the process that holds client and scheduler. Before it two short sweeps of longer tasks, with one
worker and with two. Writes data/results/speed_sweeps.csv, which the page on scaling shows.
"""

import argparse
import resource
import tempfile
import time
from pathlib import Path

import numpy as np
import pandas as pd
from distributed import LocalCluster

from rbmbook.sweeps import Sweep
from rbmbook.sweeps.store import Record, ResultsStore

RESULTS = Path(__file__).parents[2] / "data" / "results"


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
    with ResultsStore(folder / f"store{batch}.sqlite") as store:
        started = time.perf_counter()
        for first in range(0, n, batch):
            store.put(records[first : first + batch])
        return 1000 * (time.perf_counter() - started) / n


def measured(folder: Path, n_tasks: int, milliseconds: float, n_workers: int) -> dict:
    """One sweep of short tasks, on workers that are there already."""
    tasks = [{"number": i, "milliseconds": milliseconds} for i in range(n_tasks)]
    name = f"{n_tasks}-{milliseconds:g}-{n_workers}"
    warm = Sweep(tasks[:n_workers], work, name=f"warm{name}", folder=folder)
    sweep = Sweep(tasks, work, name=f"bench{name}", folder=folder)
    with LocalCluster(
        n_workers=n_workers, threads_per_worker=1, dashboard_address="127.0.0.1:0"
    ) as cluster:
        warm.run(cluster.scheduler_address)
        cpu = time.process_time()
        seconds = sweep.run(cluster.scheduler_address).seconds
        cpu = time.process_time() - cpu
    sweep.to_csv()
    alone = n_tasks * milliseconds / 1000
    return {
        "tasks": n_tasks, "ms a task": milliseconds, "workers": n_workers,
        "seconds": round(seconds, 1),
        "tasks/s": round(n_tasks / seconds), "of the tasks' own time": round(seconds / alone, 3),
        "overhead (ms a task)": round(1000 * (seconds * n_workers - alone) / n_tasks, 2),
        "client, scheduler, store (ms of CPU a task)": round(1000 * cpu / n_tasks, 2),
        "store (MB)": round(sweep.store.stat().st_size / 2**20, 1),
        "memory (MB)": round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024),
    }  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--tasks", type=int, default=10_000, help="of the long run")
    parser.add_argument("--milliseconds", type=float, default=10.0, help="of each task of it")
    arguments = parser.parse_args()
    plan = [(100, 100.0, 1), (100, 100.0, 2), (arguments.tasks, arguments.milliseconds, 2)]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        rows = []
        for n_tasks, milliseconds, n_workers in plan:
            row = measured(folder, n_tasks, milliseconds, n_workers)
            rows.append(row)
            print(row, flush=True)
            if n_tasks >= 1000:  # not of a trial
                pd.DataFrame(rows).to_csv(RESULTS / "speed_sweeps.csv", index=False)
        for batch in (1, 100):
            each = store_alone(folder, 5000, batch)
            print(f"store alone, {batch} a commit: {each:.3f} ms a task")


if __name__ == "__main__":
    main()
