"""Foretell a run of 10^6 chains of 10^6 steps at 784-500 on 100 machines, from what was measured.

    python book/_tools/paper_scale.py [--machines 100] [--processors 16] [--price 0.05]

No chain runs: time of a step and of a task's handling are read from the tables that `make bench`
wrote (speed.csv, of the machine that measured last, and speed_sweeps.csv). Price is dollars a
processor and hour, an assumption.

A simulation plays the client and its workers event by event, for tasks of ever fewer chains: each
worker takes the next task as soon as it is free and the client, which handles one task at a time,
has handed it out; tasks last unequally long (`SPREAD`), and a worker is lost now and then
(`LOSSES`), with what it was computing.

Writes data/results/speed_paper_scale.csv and speed_scheduler.csv, which the page on scaling shows.
"""

import argparse
import heapq

import numpy as np
import pandas as pd
from turns import RESULTS, newest

from rbmlib._kernels.threads import CHUNK

MODEL, N_VISIBLE = "pcd_500", 784
CHAINS, STEPS = 10**6, 10**6
LOOPS = ("NumPy float64", "rbmlib, portable")
KEYS = 2.0**64  # of draws: two draws with one key share their uniforms
SPREAD = 0.1  # of the logarithm of a task's length: machines and neighbours differ
LOSSES = 0.01  # workers lost an hour, each
BELOW_ONE = np.float32(0.99)  # units are drawn at betas of 32 bits


def step_microseconds() -> pd.Series:
    """Measured on one thread, of each loop."""
    table = newest("speed")
    table = table[(table["model"] == MODEL) & (table["threads"] == 1)]
    return table.set_index("loop")["microseconds"].reindex(LOOPS).dropna()


def foretold(microseconds: float, workers: int, price: float, sweeps: pd.Series) -> dict:
    """A column of the table, in tasks of one chunk of chains, each on a processor."""
    task = CHUNK * STEPS * microseconds * 1e-6
    tasks = -(-CHAINS // CHUNK)
    rounds = -(-tasks // workers)  # the last one may leave workers without a task
    hours = CHAINS * STEPS * microseconds * 1e-6 / 3600
    client = 1e-3 * sweeps["client, scheduler, store (ms of CPU a task)"]
    return {
        "µs a chain and step (measured)": f"{microseconds:.3g}",
        "processor-hours": f"{hours:,.0f}",
        "dollars": f"{hours * price:,.0f}",
        "hours, all processors at work all the time": f"{hours / workers:.2f}",
        f"hours, in {tasks:,} tasks of {CHUNK} chains": f"{rounds * task / 3600:.2f}",
        "hours lost with a worker, at most": f"{task / 3600:.2f}",
        "seconds of the client for all tasks": f"{tasks * client:.0f}",
        "workers that one client keeps busy": f"{task / client:,.0f}",
        "MB of log-weights": f"{8e-6 * CHAINS:.0f}",
        "MB of last states, one byte a unit": f"{1e-6 * CHAINS * N_VISIBLE:.0f}",
        "MB a task, if the schedule were sent with it": f"{8e-6 * STEPS:.0f}",
        "spacings of a float32 beta in a step, near 1": f"{1 / STEPS / np.spacing(BELOW_ONE):.0f}",
        "draws that share a key with another, of 10^12": f"{2 * CHAINS * STEPS / KEYS * 1e12:,.0f}",
    }


def simulated(n_tasks: int, seconds: float, workers: int, client: float) -> tuple[float, float]:
    """Hours until the last task is done, and the share of them that the client is busy."""
    rng = np.random.default_rng(0)
    free = [0.0] * workers  # a heap of the times at which a worker asks for a task
    waiting, now, end = n_tasks, 0.0, 0.0
    while waiting:
        asked = heapq.heappop(free)
        now = max(now, asked) + client
        length = seconds * rng.lognormal(-(SPREAD**2) / 2, SPREAD)
        lost = rng.exponential(3600 / LOSSES)
        if lost < length:  # the task goes to another, and the worker is started anew
            heapq.heappush(free, now + lost)
            continue
        waiting -= 1
        end = max(end, now + length)
        heapq.heappush(free, now + length)
    return end / 3600, n_tasks * client / end


def schedules(microseconds: float, workers: int, sweeps: pd.Series) -> pd.DataFrame:
    """The simulation for tasks of ever fewer chains, each as fast a chain as the others."""
    client, rows = 1e-3 * sweeps["client, scheduler, store (ms of CPU a task)"], []
    for chains in (CHUNK, CHUNK // 4, CHUNK // 16, CHUNK // 64):
        n_tasks, task = -(-CHAINS // chains), chains * STEPS * microseconds * 1e-6
        hours, busy = simulated(n_tasks, task, workers, client)
        rows.append(
            {
                "chains a task": chains,
                "tasks": n_tasks,
                "minutes a task": task / 60,
                "hours": hours,
                "of perfect balance": CHAINS * STEPS * microseconds * 1e-6 / 3600 / workers / hours,
                "client busy": busy,
            }
        )
    return pd.DataFrame(rows)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--machines", type=int, default=100)
    parser.add_argument("--processors", type=int, default=16, help="of a machine")
    parser.add_argument("--price", type=float, default=0.05, help="dollars a processor and hour")
    options = parser.parse_args()
    workers = options.machines * options.processors
    sweeps = pd.read_csv(RESULTS / "speed_sweeps.csv").iloc[-1]  # the longest
    table = pd.DataFrame(
        {loop: foretold(t, workers, options.price, sweeps)
         for loop, t in step_microseconds().items()}
    )  # fmt: skip
    table.index.name = f"{options.machines} machines of {options.processors} processors"
    table.to_csv(RESULTS / "speed_paper_scale.csv")
    print(table.to_string())
    portable = step_microseconds()["rbmlib, portable"]
    table = schedules(portable, workers, sweeps)
    table.to_csv(RESULTS / "speed_scheduler.csv", index=False, float_format="%.3g")
    print(table.to_string(index=False))


if __name__ == "__main__":
    main()
