"""Sweeps on real processes: Dask's own commands on loopback, SIGKILL, restarts."""

import os
import pty
import re
import signal
import subprocess
import sys
import time
from contextlib import contextmanager, suppress
from pathlib import Path

import psutil
import pytest
from helpers_sweep import results

pytestmark = pytest.mark.processes

# A sweep of tasks that note every start of theirs in a file and compute for 0.1 s.
SCRIPT = """
import os, signal, sys, time
import numpy as np
from rbmbook.sweeps import Sweep

folder, scheduler, kind, n_tasks = sys.argv[1:]

def work(n, kind):
    with open(os.path.join(folder, "starts"), "a") as file:
        file.write(f"{n} {os.getpid()}\\n")
    if kind == "killers" and n == 3:
        os.kill(os.getpid(), signal.SIGKILL)
    first = not os.path.exists(os.path.join(folder, "again"))
    if kind == "one long" and n == 0 and ":" in scheduler and first:
        open(os.path.join(folder, "again"), "w").close()
        time.sleep(60)
    stop = time.perf_counter() + 0.1
    while time.perf_counter() < stop:
        values = np.sort(np.random.default_rng(n).random(10_000))
    return {"mean": float(values[::2].mean()), "low": float(values[0])}

if __name__ == "__main__":
    sweep = Sweep([{"n": n, "kind": kind} for n in range(int(n_tasks))], work, folder=folder)
    workers = 0 if scheduler == "thread" else None
    print("begins", flush=True)
    done = sweep.run(scheduler if ":" in scheduler else None, n_workers=workers)
    print(done.n_before, done.n_finished, *done.failed.values(), flush=True)
    sweep.to_csv()
"""


@pytest.fixture(scope="module")
def script(tmp_path_factory) -> Path:
    path = tmp_path_factory.mktemp("script") / "client.py"
    path.write_text(SCRIPT)
    return path


def client(script, folder, scheduler, kind, n_tasks=12) -> subprocess.Popen:
    return subprocess.Popen(
        [sys.executable, script, folder, scheduler, kind, str(n_tasks)],
        stdout=subprocess.PIPE, text=True,
    )  # fmt: skip


def finish(process) -> str:
    out, _ = process.communicate(timeout=300)
    assert process.returncode == 0, out
    return out.splitlines()[-1]


@pytest.fixture(scope="module")
def undisturbed(script, tmp_path_factory):
    """The table of each kind of sweep, computed in one thread."""

    def table(kind, n_tasks=12) -> bytes:
        folder = tmp_path_factory.mktemp("undisturbed")
        finish(client(script, folder, "thread", kind, n_tasks))
        return results(folder / "sweep.csv")

    return table


@contextmanager
def cluster(folder: Path, **environment):
    """`dask scheduler` and two `dask worker`, stopped workers first."""
    command = [sys.executable, "-m", "dask"]
    options = {"cwd": folder, "env": os.environ | {"RBMLIB_NUM_THREADS": "1"} | environment,
               "stdout": subprocess.DEVNULL, "stderr": subprocess.PIPE, "text": True}  # fmt: skip
    host = ["--host", "127.0.0.1", "--no-dashboard"]
    scheduler = subprocess.Popen([*command, "scheduler", "--port", "0", *host], **options)
    workers = []
    try:
        found = (re.search(r"Scheduler at:\s+(tcp://\S+)", line) for line in scheduler.stderr)
        address = next(match[1] for match in found if match)
        options["stderr"] = subprocess.DEVNULL
        start = [*command, "worker", address, "--nthreads", "1", *host]
        workers = [subprocess.Popen(start, **options) for _ in range(2)]
        yield address, workers
    finally:
        for process in [*workers, scheduler]:
            process.terminate()
            process.wait(timeout=60)


def wait_for(condition, seconds=240):
    stop = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < stop, "nothing happened"
        time.sleep(0.02)


def starts(folder: Path) -> list[list[int]]:
    file = folder / "starts"
    lines = file.read_text().splitlines() if file.exists() else []
    return [[*map(int, line.split())] for line in lines]


def test_worker_killed_in_mid_task(script, tmp_path, undisturbed):
    """SIGKILL of the process that computes: its task runs again elsewhere, nothing else is said."""
    with cluster(tmp_path) as (address, _):
        process = client(script, tmp_path, address, "one long")
        wait_for(lambda: any(n == 0 for n, _ in starts(tmp_path)))
        victim = next(pid for n, pid in starts(tmp_path) if n == 0)
        os.kill(victim, signal.SIGKILL)
        assert finish(process) == "0 12"
    again = [pid for n, pid in starts(tmp_path) if n == 0]
    assert len(again) == 2
    assert again[1] != victim
    assert results(tmp_path / "sweep.csv") == undisturbed("one long")


@pytest.mark.nightly
def test_only_the_task_that_kills_its_workers_fails_in_the_end(script, tmp_path):
    with cluster(tmp_path, DASK_DISTRIBUTED__SCHEDULER__ALLOWED_FAILURES="1") as (address, _):
        for _ in range(5):
            out = finish(client(script, tmp_path, address, "killers"))
            lines = (tmp_path / "sweep.csv").read_text().splitlines()
            killed = [line.split(",")[0] for line in lines if "KilledWorker" in line]
            assert "3" in killed
            assert out.count("KilledWorker") == len(killed)
            if killed == ["3"]:
                break
    assert killed == ["3"]
    assert len(lines) == 13


def test_own_workers_die_with_their_client(script, tmp_path, undisturbed):
    process = client(script, tmp_path, "own", "many", 24)
    wait_for(lambda: (tmp_path / "sweep.sqlite").exists() and len(starts(tmp_path)) > 4)
    family = psutil.Process(process.pid).children(recursive=True)
    assert family
    process.kill()
    process.communicate()
    _, alive = psutil.wait_procs(family, timeout=30)
    assert not alive
    assert finish(client(script, tmp_path, "own", "many", 24)).split()[0] != "0"
    assert results(tmp_path / "sweep.csv") == undisturbed("many", 24)


@pytest.mark.parametrize("seconds", [0, 12], ids=["at the start", "at work"])
def test_interrupt_from_a_terminal_is_one_line(tmp_path, seconds):
    task = "{model: pcd_20, n_temperatures: 10000000, n_chains: 1000, seed: [1, 2]}"
    (tmp_path / "s.yaml").write_text(f"grids: [{task}]")
    pid, terminal = pty.fork()
    if pid == 0:
        signal.signal(signal.SIGHUP, signal.SIG_DFL)  # as in a terminal, whoever runs the tests
        command = [sys.executable, "-m", "rbmbook", "run", str(tmp_path / "s.yaml"), "--workers"]
        os.execv(sys.executable, [*command, "2"])
    said = b""
    wait_for(lambda: len(psutil.Process(pid).children(recursive=True)) >= 3)  # and one of Python's
    time.sleep(seconds)
    family = psutil.Process(pid).children(recursive=True)
    started = time.monotonic()
    os.write(terminal, b"\x03")
    with suppress(OSError):  # the end of a terminal's output
        while more := os.read(terminal, 4096):
            said += more
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 130
    assert time.monotonic() - started < 1
    _, alive = psutil.wait_procs(family, timeout=5)
    assert not alive
    assert b"Traceback" not in said, said.decode()
    last = b"stopped: what is finished is stored; the same command goes on\r\n"
    lines = [line for line in said.splitlines(keepends=True) if b"task" not in line]
    assert lines[-1].endswith(last), said.decode()
    assert len(lines) == 1, said.decode()


MEMORY = """
import os, sys
from rbmbook.sweeps import Sweep

def seen(n):
    return {"threshold": os.environ.get("MALLOC_TRIM_THRESHOLD_", "none"), "n_threads":
            os.environ.get("OPENBLAS_NUM_THREADS", "none")}

if __name__ == "__main__":
    sweep = Sweep([{"n": 1}], seen, folder=sys.argv[1])
    sweep.run(n_workers=1)
    print(*[f"{row['threshold']} {row['n_threads']}" for row in sweep.rows()])
"""


def test_own_workers_keep_freed_memory_and_have_one_thread(tmp_path):
    """Dask's default returns it at once, and what uses large arrays takes up to twice as long."""
    (tmp_path / "client.py").write_text(MEMORY)
    names = {"MALLOC_TRIM_THRESHOLD_", "OPENBLAS_NUM_THREADS"}
    variables = {name: value for name, value in os.environ.items() if name not in names}
    command = [sys.executable, tmp_path / "client.py", tmp_path]
    done = subprocess.run(command, env=variables, capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "none 1"
