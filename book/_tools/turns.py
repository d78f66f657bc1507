"""Programs that take turns, so that a slow spell of the machine hits all of them alike."""

import sys
import time
from collections.abc import Callable

import numpy as np
import pandas as pd


def in_turns(programs: dict[str, Callable], n_rounds: int) -> dict[str, list[tuple]]:
    """Seconds of the wall clock and of the processor of each round; a first one warms up."""
    seconds: dict[str, list[tuple]] = {name: [] for name in programs}
    for turn in range(-1, n_rounds):
        for name, program in programs.items():
            wall, processor = time.perf_counter(), time.process_time()
            program()
            one = time.perf_counter() - wall, time.process_time() - processor
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
