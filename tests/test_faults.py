"""Faults of the machine: kills at any moment, two at once, folders that cannot be written."""

import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from helpers_book import NIGHTLY
from helpers_sweep import results

from rbmbook.sweeps import Sweep
from rbmbook.sweeps.run import ResultsStore, StoreError

pytestmark = pytest.mark.processes
TASKS = [{"n": n} for n in range(60)]
KILLS = 50 if NIGHTLY else 10


def work(n):
    """A result that depends on nothing but n, in a few milliseconds."""
    stop = time.perf_counter() + 0.004
    values = np.sort(np.random.default_rng(n).random(500))
    while time.perf_counter() < stop:
        np.sort(values[::-1])
    return {"mean": float(values.mean()), "low": float(values[0]), "name": f"task {n}"}


def forked(folder: Path) -> int:
    """A child that runs the sweep: exit status 0 done, 3 refused since the store is in use.

    This process itself runs none: what is forked from one that has threads may never end.
    """
    pid = os.fork()
    if pid:
        return pid
    status = 1
    try:
        sys.stdout = sys.stderr = open(os.devnull, "w")  # noqa: SIM115
        try:
            sweep = Sweep(TASKS, work, folder=folder)
            sweep.run(n_workers=0, progress=False)
            sweep.to_csv()
            status = 0
        except StoreError:
            status = 3
    finally:
        os._exit(status)


def ended(pid: int) -> int:
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])


def table(folder: Path) -> list[dict] | None:
    """Of a sweep that runs to its end; None if its store was refused."""
    status = ended(forked(folder))
    assert status in (0, 3)
    return results(folder / "sweep.csv") if status == 0 else None


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory):
    """The table, and the seconds that it takes here and now."""
    began = time.monotonic()
    found = table(tmp_path_factory.mktemp("undisturbed"))
    return found, time.monotonic() - began


def test_kills_lose_nothing(tmp_path, undisturbed):
    wanted, seconds = undisturbed
    source, before, kills = random.Random(1), 0, 0
    folder, number = tmp_path / "0", 0
    folder.mkdir()
    while kills < KILLS:
        pid = forked(folder)
        time.sleep(source.uniform(0.0, 1.2 * seconds))
        os.kill(pid, signal.SIGKILL)
        killed = ended(pid) == -signal.SIGKILL
        kills += killed
        done = stored(folder)
        assert done >= before, "a finished result was lost"
        before = done
        if not killed or done == len(TASKS):
            assert table(folder) == wanted
            number += 1
            folder, before = tmp_path / str(number), 0
            folder.mkdir()
    assert table(folder) == wanted


def stored(folder: Path) -> int:
    file = folder / "sweep.sqlite"
    if not file.exists() or not file.stat().st_size:
        return 0
    with ResultsStore(file) as store:
        return len(store.records())


def test_two_processes_on_one_store(tmp_path, undisturbed):
    for trial in range(5):
        folder = tmp_path / str(trial)
        folder.mkdir()
        found = sorted(map(ended, [forked(folder), forked(folder)]))
        assert found in ([0, 0], [0, 3]), found
        assert table(folder) == undisturbed[0]


@pytest.mark.parametrize("variable", ["HOME", "XDG_CACHE_HOME", "RBMLIB_DATA", "TMPDIR"])
def test_a_home_or_cache_that_cannot_be_written(variable):
    done = subprocess.run(
        [sys.executable, "-m", "rbmlib", "data"], capture_output=True, text=True, timeout=300,
        env=os.environ | {variable: "/dev/null/nowhere"},
    )  # fmt: skip
    assert "Traceback" not in done.stderr
    if done.returncode:
        assert done.stderr.startswith("error: ")
        assert "/dev/null/nowhere" in done.stderr
    else:
        assert "h500" in done.stdout
