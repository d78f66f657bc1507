"""Programs that take turns, and the tables of what they took, for the tools of `make bench`."""

import contextlib
import os
import sys
import time
from collections.abc import Callable
from datetime import UTC, datetime
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pandas as pd
from llvmlite.binding import get_host_cpu_name
from threadpoolctl import threadpool_limits
from tqdm import tqdm

import rbmlib as rl

ROOT = Path(__file__).parents[2]
RESULTS = ROOT / "data" / "results"


def machine() -> str:
    """The kind of processor by the name that compilers have for it, and how many there are."""
    return f"{get_host_cpu_name()}, {os.cpu_count()} processors"


@contextlib.contextmanager
def limited(n_threads: int):
    """BLAS, PyTorch and rbmlib on so many threads."""
    before = os.environ.get("RBMLIB_NUM_THREADS")
    os.environ["RBMLIB_NUM_THREADS"] = str(n_threads)
    if find_spec("torch"):
        import torch

        torch.set_num_threads(n_threads)
    try:
        with threadpool_limits(n_threads, user_api="blas"):
            yield
    finally:
        del os.environ["RBMLIB_NUM_THREADS"]
        if before is not None:
            os.environ["RBMLIB_NUM_THREADS"] = before


def in_turns(
    programs: dict[str, Callable], n_rounds: int, inside: dict[str, Callable] | None = None
) -> dict[str, list[tuple]]:
    """Seconds of the wall clock and of the processor of each round; a first one warms up.

    A slow spell of the machine so hits all of them alike. ``inside``: functions that return the
    context in which a program runs; to enter and to leave it is not timed.
    """
    seconds: dict[str, list[tuple]] = {name: [] for name in programs}
    with tqdm(total=(n_rounds + 1) * len(programs), unit="run", disable=None) as bar:
        for turn in range(-1, n_rounds):
            for name, program in programs.items():
                with (inside or {}).get(name, contextlib.nullcontext)():
                    wall, processor = time.perf_counter(), time.process_time()
                    program()
                    one = time.perf_counter() - wall, time.process_time() - processor
                bar.update(1)
                if turn >= 0:
                    seconds[name].append(one)
    return seconds


def rows(task: str, seconds: dict[str, list[tuple]], shares: dict[str, float]) -> pd.DataFrame:
    """A row a program, the first of which is ours: medians, and medians of ratios of a round.

    ``shares``: what part of the task a program did, where it is not all of it.
    """
    table, ours = [], None
    for name, of_rounds in seconds.items():
        wall, processor = np.array(of_rounds).T / shares.get(name, 1.0)
        ours = processor if ours is None else ours
        medians = (float(np.median(x)) for x in (wall, processor, processor / ours))
        table.append((task, name, len(wall), *medians))
    columns = ["task", "program", "rounds", "wall seconds", "processor seconds", "times rbmlib"]
    found = pd.DataFrame(table, columns=columns)
    print(found.to_string(index=False), file=sys.stderr, flush=True)
    return found


def dated(table: pd.DataFrame) -> pd.DataFrame:
    """The table with the day, our version and the kind of machine in its first columns."""
    day = datetime.now(UTC).strftime("%Y-%m-%d")
    first = pd.DataFrame(
        {"date": day, "rbmlib": rl.__version__, "machine": machine()},
        index=table.index,
    )
    return pd.concat([first, table], axis=1)


def keep(table: pd.DataFrame, name: str) -> pd.DataFrame:
    """Write a table of results: these rows first, and below them those of other kinds of machine.

    Rows measured before on a machine of this kind give way.
    """
    target, found = RESULTS / f"{name}.csv", dated(table)
    if target.exists():
        before = pd.read_csv(target)
        found = pd.concat([found, before[before["machine"] != machine()]])
    found.to_csv(target, index=False, float_format="%.4g")
    return found


def newest(name: str) -> pd.DataFrame:
    """Rows of the machine that measured last."""
    table = pd.read_csv(RESULTS / f"{name}.csv")
    return table[table["machine"] == table["machine"].iloc[0]]
