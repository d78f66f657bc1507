"""Time what users wait for, our loops against others', and a sweep of short tasks.

    python book/_tools/bench.py [PART ...]

Parts are start, users, annealing, kinds, identity, sweeps and paper_scale, in this order without
one named, and exact. Each prints tables and writes data/results/speed*.csv, which the pages on
scaling and on which method to take show. Programs take turns, on one thread; medians over the
rounds, and ratios of processor seconds, which are nearly those of a quiet machine when others work
on it too.
"""

import heapq
import os
import platform
import resource
import statistics
import subprocess
import sys
import tempfile
import time
import tracemalloc
import warnings
from functools import partial
from pathlib import Path

import bench_loops
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from baselines import baselines, installed, trainings
from distributed import LocalCluster
from turns import RESULTS, ROOT, dated, in_turns, limited, machine, newest, rows

import rbmlib as rl
from rbmbook import load_reference, plots
from rbmbook.sweeps import Sweep
from rbmbook.sweeps.store import Record, ResultsStore
from rbmlib._kernels.threads import CHUNK

ROUNDS = 5

# the import, and the first answer -------------------------------------------------------------

ESTIMATE = """
import rbmlib as rl
rbm = rl.load_rbm("pcd_20")
path = rl.GeometricPath(rbm, base=rl.base_rate(rl.datasets.load_mnist().train))
rl.ais(path, rl.schedules.linear(1000), n_chains=100, rng=0)
"""
PROGRAMS = {
    "import numpy, scipy.special, numba": ["-c", "import numpy, scipy.special, numba"],
    "import rbmlib": ["-c", "import rbmlib"],
    "first estimate: AIS of pcd_20, 100 chains of 1,000 steps": ["-c", ESTIMATE],
    "python -m rbmlib logz pcd_10, from its file to the verdict":
        ["-m", "rbmlib", "logz", "pcd_10"],
    "python -m rbmlib logz cd25_500 --data mnist, which rests after ten seconds":
        ["-m", "rbmlib", "logz", "cd25_500", "--data", "mnist"],
}  # fmt: skip


def seconds_of(arguments: list[str], bytecode: str) -> tuple[float, float]:
    """Wall and processor seconds of a program in a Python of its own."""
    settings = os.environ | {"PYTHONPATH": str(ROOT), "RBMLIB_NUM_THREADS": "1",
                             "PYTHONPYCACHEPREFIX": bytecode}  # fmt: skip
    settings.pop("PYTHONDONTWRITEBYTECODE", None)
    before, begun = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run(
            [sys.executable, *arguments], cwd=folder, env=settings, capture_output=True, check=False
        )
    wall, after = time.perf_counter() - begun, resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode not in (0, 1):  # 1: a verdict that is not to be trusted
        raise SystemExit(f"{arguments} failed: {done.stderr.decode()}")
    return wall, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def start() -> None:
    """Whole programs, with kernels and the bytecode of every package compiled already.

    Where PYTHONDONTWRITEBYTECODE is set, users wait longer.
    """
    with tempfile.TemporaryDirectory() as bytecode:
        for arguments in PROGRAMS.values():  # fills caches
            seconds_of(arguments, bytecode)
        found = [[seconds_of(p, bytecode) for p in PROGRAMS.values()] for _ in range(ROUNDS)]
    wall, processor = np.median(found, axis=0).T
    table = pd.DataFrame({"program": list(PROGRAMS), "rounds": ROUNDS, "wall seconds": wall,
                          "processor seconds": processor})  # fmt: skip
    print(table.to_string(index=False))
    table.to_csv(RESULTS / "speed_start.csv", index=False, float_format="%.2f")


# an answer that holds, a training, and MBAR ---------------------------------------------------

WANTED = 0.05  # nats
UPDATES = 1000
STEPS_PART, UPDATES_PART = 100, 5  # the loops that are compared take one of so many
FEWEST_STEPS = 20  # of them, so that they do not time their own set-up
RUNS = {"pcd_20": (420, 20_000), "cd25_500": (140, 4000), "dna_cd1_500": (128, 100)}
MEAN, VARIANCE = -50.0, 300.0  # of slopes at beta = 0; the mean grows by VARIANCE beta


def answer(model: str) -> pd.DataFrame:
    """Seconds to a standard error of 0.05 that holds.

    A run of rbmlib has about that error bar, and is off the reference by no more than the bar
    allows, over all rounds. Its seconds are multiplied by (its standard error / 0.05)^2: of so many
    more or fewer chains. Other people's loops take a part of the same steps with as many chains.
    """
    n_chains, n_steps = RUNS[model]
    data = rl.datasets.load_dna() if model.startswith("dna") else rl.datasets.load_mnist()
    rbm, truth = rl.load_rbm(model), load_reference()[model]
    path, betas = rl.GeometricPath(rbm, rl.base_rate(data.train)), rl.schedules.linear(n_steps)
    found, n_taken = [], min(n_steps // 2, max(FEWEST_STEPS, n_steps // STEPS_PART))

    def ours():
        estimate = rl.ais(path, betas, n_chains, rng=len(found))
        found.append((estimate.log_z - truth.log_z, estimate.std_error))

    def theirs(loop):
        v = path.sample_base(n_chains, np.random.default_rng(0))
        part = betas[n_steps // 2 :][: n_taken + 1]
        return lambda: loop(rbm, path.base_visible_bias, part, v, 0)

    loops = {name: theirs(loop) for name, loop in baselines().items() if "Gibbs" not in name}
    seconds = in_turns({"rbmlib": ours} | loops, ROUNDS)
    off, errors = np.array(found[1:]).T
    if abs(off.mean()) > 4 * np.sqrt((errors**2).mean() / off.size):
        raise SystemExit(f"error: {model}: off by {off.mean():.2f} nats: no answer that holds")
    more = float(np.median(errors) / WANTED) ** 2
    if not 1 / 1.5 < more < 1.5:
        raise SystemExit(f"error: {model}: {more:.2f} times the chains are needed: change RUNS")
    shares = {name: n_taken / n_steps / more for name in loops}
    task = f"AIS to an error bar of {WANTED}, {rbm.n_visible}-{rbm.n_hidden} ({model})"
    return rows(task, seconds, shares | {"rbmlib": 1 / more})


def training(method: str) -> pd.DataFrame:
    """Seconds of `UPDATES` updates; ours look at the model before and after, too."""
    data = rl.datasets.load_mnist().train[:10_000].astype(float)
    few = UPDATES // UPDATES_PART  # scikit-learn has whole epochs

    def ours():
        rl.train(data, 500, method=method, n_updates=UPDATES, monitor_every=UPDATES, rng=0)

    loops = {name: lambda f=f: f(data, 500, few) for name, f in trainings(method).items()}
    seconds = in_turns({"rbmlib": ours} | loops, ROUNDS)
    shares = dict.fromkeys(loops, few / UPDATES)
    return rows(f"Training, {UPDATES:,} updates of {method.upper()}-1, 784-500", seconds, shares)


def slopes(n_states: int, n_each: int):
    """Slopes ordered by temperature, their counts, and the betas."""
    betas = np.linspace(0, 1, n_states)
    noise = np.random.default_rng(0).normal(size=(n_states, n_each))
    delta = MEAN + VARIANCE * betas[:, None] + np.sqrt(VARIANCE) * noise
    return delta.ravel(), np.full(n_states, n_each), betas


def pymbar_log_z(protocol: str, delta, counts, betas):
    """log Z of each temperature, with their errors, as its own interface gives them."""
    import pymbar

    found = pymbar.MBAR(-betas[:, None] * delta, counts, solver_protocol=protocol)
    found = found.compute_free_energy_differences()
    return -found["Delta_f"][0], found["dDelta_f"][0]


def joint() -> pd.DataFrame:
    """MBAR against pymbar, whose numbers must be ours; and a problem too large for it.

    pymbar keeps a matrix of samples times temperatures, which is 8 GB of the large problem.
    """
    small, large = slopes(100, 200), slopes(1000, 1000)
    found = {}

    def kept(name, solve, problem):
        return lambda: found.update({name: solve(*problem)})

    programs = {"rbmlib": kept("rbmlib", rl.solve_mbar, small)}
    if installed("pymbar"):
        for protocol in ("default", "robust"):
            name = f"pymbar {'with' if installed('jax') else 'without'} JAX, {protocol} solver"
            programs[name] = kept(name, partial(pymbar_log_z, protocol), small)
    seconds = in_turns(programs, ROUNDS)
    for name, (log_z, std_error) in list(found.items())[1:]:
        same = np.allclose(log_z, found["rbmlib"].log_z, atol=1e-3)
        if not same or not np.allclose(std_error[1:], found["rbmlib"].std_error[1:], rtol=1e-2):
            raise SystemExit(f"error: MBAR by {name} is not that of rbmlib")
    tracemalloc.start()
    rl.solve_mbar(*large)
    megabytes = tracemalloc.get_traced_memory()[1] / 1e6
    tracemalloc.stop()
    alone = in_turns({f"rbmlib, {megabytes:.0f} MB": kept("large", rl.solve_mbar, large)}, 1)

    def task(problem):
        return f"MBAR, {problem[2].size:,} temperatures, {problem[0].size:,} samples"

    return pd.concat([rows(task(small), seconds, {}), rows(task(large), alone, {})])


def figure(table: pd.DataFrame) -> None:
    """A row of panels: one a task."""
    plots.use_style()
    tasks = list(table["task"].unique())
    fig, axes = plt.subplots(
        len(tasks), 1, figsize=(7, 1.4 * len(tasks)), sharex=True, layout="constrained"
    )
    for ax, task in zip(axes, tasks, strict=True):
        part = table[table["task"] == task][::-1]
        colours = [
            plots.GREEN if name.startswith("rbmlib") else plots.BLUE for name in part["program"]
        ]
        ax.scatter(part["processor seconds"], part["program"], color=colours)
        ax.set_title(task, loc="left", fontsize="medium")
        ax.set(xscale="log", ylim=(-0.6, len(part) - 0.4))
    axes[-1].set_xlabel("processor seconds, one thread")
    fig.savefig(ROOT / "book" / "speed_users.svg", metadata={"Date": None})
    plt.close(fig)


def users() -> None:
    """speed_users.csv and book/speed_users.svg, and a line a program in speed_history.csv."""
    os.environ["XLA_FLAGS"] = "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1"
    with limited(1):
        tables = [answer(model) for model in RUNS] + [training(m) for m in ("cd", "pcd")]
        table = pd.concat([*tables, joint()], ignore_index=True)
    table.to_csv(RESULTS / "speed_users.csv", index=False, float_format="%.4g")
    history = RESULTS / "speed_history.csv"
    dated(table).to_csv(history, mode="a", header=not history.exists(), index=False,
                        float_format="%.4g")  # fmt: skip
    figure(table)


# many short tasks -----------------------------------------------------------------------------


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


def sweeps() -> None:
    """What limits a sweep of short tasks: their time beyond their own 10 ms, store and memory."""
    plan = [(100, 100.0, 1), (100, 100.0, 2), (10_000, 10.0, 2)]
    with tempfile.TemporaryDirectory() as name:
        found = [measured(Path(name), *tasks) for tasks in plan]
        pd.DataFrame(found).to_csv(RESULTS / "speed_sweeps.csv", index=False)
        for batch in (1, 100):
            each = store_alone(Path(name), 5000, batch)
            print(f"store alone, {batch} a commit: {each:.3f} ms a task")


# a run of 10^6 chains of 10^6 steps at 784-500 on 100 machines, foretold --------------------------

MODEL, N_VISIBLE = "pcd_500", 784
CHAINS, STEPS = 10**6, 10**6
LOOPS = ("NumPy float64", "rbmlib, portable")
KEYS = 2.0**64  # of draws: two draws with one key share their uniforms
SPREAD = 0.1  # of the logarithm of a task's length: machines and neighbours differ
LOSSES = 0.01  # workers lost an hour, each
BELOW_ONE = np.float32(0.99)  # units are drawn at betas of 32 bits
WORKERS, PRICE = 100 * 16, 0.05  # processors of 100 machines; dollars a processor and hour


def step_microseconds() -> pd.Series:
    """Measured on one thread, of each loop."""
    table = newest("speed")
    table = table[(table["model"] == MODEL) & (table["threads"] == 1)]
    return table.set_index("loop")["microseconds"].reindex(LOOPS).dropna()


def foretold(microseconds: float, client: float) -> dict:
    """A column of the table, in tasks of one chunk of chains, each on a processor."""
    task = CHUNK * STEPS * microseconds * 1e-6
    tasks = -(-CHAINS // CHUNK)
    rounds = -(-tasks // WORKERS)  # the last one may leave workers without a task
    hours = CHAINS * STEPS * microseconds * 1e-6 / 3600
    return {
        "µs a chain and step (measured)": f"{microseconds:.3g}",
        "processor-hours": f"{hours:,.0f}",
        "dollars": f"{hours * PRICE:,.0f}",
        "hours, all processors at work all the time": f"{hours / WORKERS:.2f}",
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


def simulated(n_tasks: int, seconds: float, client: float) -> tuple[float, float]:
    """Hours until the last task is done, and the share of them that the client is busy.

    Event by event: each worker takes the next task as soon as it is free and the client, which
    handles one task at a time, has handed it out; tasks last unequally long (`SPREAD`), and a
    worker is lost now and then (`LOSSES`), with what it was computing.
    """
    rng = np.random.default_rng(0)
    free = [0.0] * WORKERS  # a heap of the times at which a worker asks for a task
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


def schedules(microseconds: float, client: float) -> pd.DataFrame:
    """The simulation for tasks of ever fewer chains, each as fast a chain as the others."""
    found = []
    for chains in (CHUNK, CHUNK // 4, CHUNK // 16, CHUNK // 64):
        n_tasks, task = -(-CHAINS // chains), chains * STEPS * microseconds * 1e-6
        hours, busy = simulated(n_tasks, task, client)
        found.append(
            {
                "chains a task": chains,
                "tasks": n_tasks,
                "minutes a task": task / 60,
                "hours": hours,
                "of perfect balance": CHAINS * STEPS * microseconds * 1e-6 / 3600 / WORKERS / hours,
                "client busy": busy,
            }
        )
    return pd.DataFrame(found)


def paper_scale() -> None:
    """No chain runs: times of a step and of a task's handling are those that were measured last."""
    longest = pd.read_csv(RESULTS / "speed_sweeps.csv").iloc[-1]
    client = 1e-3 * longest["client, scheduler, store (ms of CPU a task)"]
    measured = step_microseconds()
    table = pd.DataFrame({loop: foretold(t, client) for loop, t in measured.items()})
    table.index.name = "100 machines of 16 processors"
    table.to_csv(RESULTS / "speed_paper_scale.csv")
    print(table.to_string())
    table = schedules(measured["rbmlib, portable"], client)
    table.to_csv(RESULTS / "speed_scheduler.csv", index=False, float_format="%.3g")
    print(table.to_string(index=False))


# all states, added up -------------------------------------------------------------------------


def exact() -> None:
    """`rl.exact` by the units of the smaller layer."""

    def seconds(n_visible: int, n_hidden: int) -> float:
        rbm = rl.testsystems.random_rbm(n_visible, n_hidden, rng=0)
        started = time.process_time()
        rl.exact(rbm)
        return time.process_time() - started

    seconds(30, 10)  # what is compiled, once
    found = []
    for small in (20, 22, 24, 26):
        row = {"units in the smaller layer": small, "states": f"{2**small:,}"}
        for n in (100, 784):
            taken = statistics.median(seconds(n, small) for _ in range(3))
            row[f"seconds, other layer {n}"] = f"{taken:.2g}"
        found.append(row)
        print(row, flush=True)
    pd.DataFrame(found).to_csv(RESULTS / "speed_exact.csv", index=False)


PARTS = {
    "start": start, "users": users, "annealing": bench_loops.annealing, "kinds": bench_loops.kinds,
    "identity": bench_loops.identity, "sweeps": sweeps, "paper_scale": paper_scale, "exact": exact,
}  # fmt: skip

if __name__ == "__main__":
    warnings.simplefilter("ignore")
    for part in sys.argv[1:]:
        PARTS[part]()
    if not sys.argv[1:]:
        versions = f"Python {platform.python_version()}, rbmlib {rl.__version__}"
        print(f"{machine()}, {versions}", flush=True)
        for part in list(PARTS)[:-1]:  # each in a process of its own, whose memory is measured
            subprocess.run([sys.executable, __file__, part], check=True)
