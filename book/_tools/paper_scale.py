"""Foretell a run of 10^6 chains of 10^6 steps at 784-500 on 100 machines, from what was measured.

    python book/_tools/paper_scale.py [--machines 100] [--processors 16] [--price 0.05]

Nothing runs: time of a step and of a task's handling are read from the tables that `make bench`
wrote (speed.csv, speed_sweeps.csv). Price is dollars a processor and hour, an assumption.
Writes data/results/speed_paper_scale.csv, which the page on scaling shows.
"""

import argparse
from pathlib import Path

import numpy as np
import pandas as pd

from rbmlib._kernels.threads import CHUNK

RESULTS = Path(__file__).parents[2] / "data" / "results"
MODEL, N_VISIBLE = "pcd_500", 784
CHAINS, STEPS = 10**6, 10**6
LOOPS = ("NumPy float64", "rbmlib, portable", "rbmlib, AMX")
KEYS = 2.0**64  # of draws: two draws with one key share their uniforms
BELOW_ONE = np.float32(0.99)  # units are drawn at betas of 32 bits


def step_microseconds() -> pd.Series:
    """Measured on one thread, of each loop."""
    table = pd.read_csv(RESULTS / "speed.csv")
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


if __name__ == "__main__":
    main()
