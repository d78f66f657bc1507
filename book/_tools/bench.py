"""Time what users wait for, the annealing loop against others', and a sweep of short tasks.

    python book/_tools/bench.py [PART ...]

Parts are start, users, annealing and sweeps, in this order without one named, and exact. Each
writes data/results/speed*.csv, which the pages on scaling and on which method to take show.
Programs take turns, so that a slow spell of the machine hits all alike; medians over the rounds,
and ratios of processor seconds, which are nearly those of a quiet machine when others work on it.
"""

import contextlib
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
import tracemalloc
import warnings
from collections.abc import Callable
from datetime import UTC, datetime
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from unittest import mock

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from baselines import baselines, installed, trainings
from distributed import LocalCluster
from llvmlite.binding import get_host_cpu_name
from threadpoolctl import threadpool_limits
from tqdm import tqdm

import rbmlib as rl
from rbmbook import load_reference, plots
from rbmbook.sweeps import Sweep
from rbmlib._kernels import threads
from rbmlib.numerics import ChainStream
from rbmlib.sampling.anneal import anneal

ROOT = Path(__file__).parents[2]
RESULTS = ROOT / "data" / "results"
ROUNDS = 5


def machine() -> str:
    """The kind of processor by the name that compilers have for it, and how many there are."""
    return f"{get_host_cpu_name()}, {os.cpu_count()} processors"


@contextlib.contextmanager
def limited(n_threads: int):
    """BLAS, PyTorch and rbmlib on so many threads."""
    if find_spec("torch"):
        import torch

        torch.set_num_threads(n_threads)
    ours = mock.patch.dict(os.environ, RBMLIB_NUM_THREADS=str(n_threads))
    with ours, threadpool_limits(n_threads, user_api="blas"):
        yield


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


def write(table: pd.DataFrame, name: str, digits: str = "%.4g") -> None:
    table.to_csv(RESULTS / f"{name}.csv", index=False, float_format=digits)


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
    "python -m rbmlib logz cd25_500 --data mnist, which plans for ten seconds":
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
    write(pd.DataFrame({"program": list(PROGRAMS), "rounds": ROUNDS, "wall seconds": wall,
                        "processor seconds": processor}), "speed_start", "%.2f")  # fmt: skip


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
    megabytes = peak_megabytes(lambda: rl.solve_mbar(*large))
    alone = in_turns({f"rbmlib, {megabytes:.0f} MB": kept("large", rl.solve_mbar, large)}, 1)

    def task(problem):
        return f"MBAR, {problem[2].size:,} temperatures, {problem[0].size:,} samples"

    return pd.concat([rows(task(small), seconds, {}), rows(task(large), alone, {})])


def users() -> None:
    os.environ["XLA_FLAGS"] = "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1"
    with limited(1):
        tables = [answer(model) for model in RUNS] + [training(m) for m in ("cd", "pcd")]
        table = pd.concat([*tables, joint()], ignore_index=True)
    write(table, "speed_users")


# a step of annealing --------------------------------------------------------------------------

MODELS = "pcd_20", "pcd_500"
CHAINS, STEPS = 256, 200
FINE, MIDDLE = 1e-4, 0.5  # size of a step, and where the steps are taken: half-way along the path


def ours(path, betas, v, seed):
    """The compiled loop, with its importance steps to the float64 model."""
    anneal(path, v, betas, ChainStream(seed, len(v)))


def compare() -> pd.DataFrame:
    """Microseconds a chain and step of every loop, a row a model, number of threads and round."""
    programs, inside, base = {}, {}, rl.base_rate(rl.datasets.load_mnist().train)
    betas = MIDDLE + FINE * np.arange(STEPS + 1)
    for model in MODELS:
        path = rl.GeometricPath(rl.load_rbm(model), base=base)
        v = path.sample_base(CHAINS, np.random.default_rng(0))
        for n in sorted({1, threads.default_n_threads()}):
            for name, f in baselines().items():
                programs[model, n, name] = partial(f, path.rbm, path.base_visible_bias, betas, v, 0)
            programs[model, n, "rbmlib"] = partial(ours, path, betas, v, 0)
            inside |= {key: partial(limited, n) for key in programs if key[:2] == (model, n)}
    found = in_turns(programs, ROUNDS, inside)
    columns = ["model", "threads", "loop", "round", "microseconds"]
    rounds = [(*key, k, wall / CHAINS / STEPS * 1e6) for key, taken in found.items()
              for k, (wall, _) in enumerate(taken)]  # fmt: skip
    return pd.DataFrame(rounds, columns=columns)


def summary(rounds: pd.DataFrame) -> pd.DataFrame:
    """Medians, and median ratios to NumPy float64 in the same round on as many threads."""
    same = ["model", "threads", "round"]
    numpy = rounds[rounds["loop"] == "NumPy float64"].set_index(same)["microseconds"]
    rounds = rounds.join(numpy.rename("numpy"), on=same)
    rounds["times_numpy"] = rounds["numpy"] / rounds["microseconds"]
    groups = rounds.groupby(["model", "threads", "loop"], sort=False)
    return groups[["microseconds", "times_numpy"]].median().reset_index()


def wide(table: pd.DataFrame) -> pd.DataFrame:
    """A row a loop, a column a model and number of threads: microseconds (ratio)."""
    many = table["threads"].map(lambda n: "1 thread" if n == 1 else f"{n} threads")
    pairs = zip(table["microseconds"], table["times_numpy"], strict=True)
    shown = table.assign(what=table["model"] + ", " + many,
                         value=[f"{t:.3g} ({x:.3g}×)" for t, x in pairs])  # fmt: skip
    found = shown.pivot(index="loop", columns="what", values="value")
    return found.reindex(shown["loop"].unique())[shown["what"].unique()].reset_index()


def scaling() -> pd.DataFrame:
    """Microseconds a chain and step of rbmlib along one axis at a time."""
    base, most = rl.base_rate(rl.datasets.load_mnist().train), threads.default_n_threads()
    plan = [("chains", 500, n, max(2 * STEPS, 5 * STEPS * 64 // max(64, n)), most)
            for n in (1, 8, 32, 128, 512, 2048)]  # fmt: skip
    plan += [("steps", 500, 64, k, most) for k in (100, 1000, 10_000)]
    plan += [("hidden units", m, 256, 5 * STEPS, most)
             for m in (10, 20, 30, 50, 100, 200, 500, 1000)]  # fmt: skip
    plan += [("threads", m, 256, 5 * STEPS, n) for m in (20, 500) for n in range(1, most + 1)]
    found = []
    for axis, n_hidden, n_chains, n_steps, n_threads in plan:
        rbm = rl.testsystems.random_rbm(n_visible=784, n_hidden=n_hidden, rng=n_hidden)
        path = rl.GeometricPath(rbm, base=base)
        v = path.sample_base(n_chains, np.random.default_rng(0))
        run = partial(ours, path, MIDDLE + min(FINE, 0.5 / n_steps) * np.arange(n_steps + 1), v, 0)
        with limited(n_threads):
            seconds = np.median([wall for wall, _ in in_turns({"": run}, 3)[""]])
            megabytes = peak_megabytes(run)
        each = 1e6 * seconds / n_chains / n_steps
        found.append((axis, n_hidden, n_chains, n_steps, n_threads, each, megabytes))
    columns = ["axis", "n_hidden", "n_chains", "n_steps", "threads", "microseconds", "megabytes"]
    return pd.DataFrame(found, columns=columns)


def peak_megabytes(function) -> float:
    """Largest memory held by Python and NumPy while a function runs."""
    tracemalloc.start()
    function()
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return peak / 1e6


def figure(table: pd.DataFrame, scales: pd.DataFrame) -> None:
    """The comparison, and the curves of scaling."""
    plots.use_style()
    plt.rcParams["svg.hashsalt"] = "speed"  # the same file for the same numbers
    fig, axes = plt.subplots(2, 2, figsize=(10, 7))
    n = table["threads"].max()
    loops = table[table["threads"] == n].pivot(index="loop", columns="model", values="microseconds")
    for model, colour in zip(loops, (plots.BLUE, plots.ORANGE), strict=True):
        axes[0, 0].semilogx(loops[model], loops.index, "o", color=colour, label=model)
    axes[0, 0].set(xlabel="µs a chain and step", title=f"{n} threads")
    axes[0, 0].legend()
    sizes = {"chains": "n_chains", "hidden units": "n_hidden", "steps": "n_steps"}
    for ax, (axis, column) in zip(axes.flat[1:], sizes.items(), strict=True):
        part = scales[scales["axis"] == axis]
        ax.loglog(part[column], part["microseconds"], "o-", color=plots.GREEN)
        ax.set(xlabel=f"number of {axis}", ylabel="µs a chain and step")
    fig.savefig(ROOT / "book" / "speed.svg", metadata={"Date": None})


def annealing() -> None:
    """speed_steps.csv, speed_scaling.csv and book/speed.svg."""
    table, scales = summary(compare()), scaling()
    shown = wide(table)
    shown.insert(0, "machine", machine())
    write(shown, "speed_steps")
    write(scales, "speed_scaling")
    figure(table, scales)


# many short tasks -----------------------------------------------------------------------------


def work(number: int, milliseconds: float) -> dict:
    """Compute on one thread for so long."""
    values = np.random.default_rng(number).random(1000)
    stop = time.perf_counter() + milliseconds / 1000
    while time.perf_counter() < stop:
        total = np.sort(values).sum()
    return {"total": round(float(total), 6)}


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
        "tasks/s": round(n_tasks / seconds),
        "elapsed over the tasks' own time": round(seconds / alone, 3),
        "overhead (ms a task)": round(1000 * (seconds * n_workers - alone) / n_tasks, 2),
        "client, scheduler, store (ms of CPU a task)": round(1000 * cpu / n_tasks, 2),
        "store (MB)": round(sweep.store.stat().st_size / 2**20, 1),
        "memory (MB)": round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024),
    }  # fmt: skip


def sweeps() -> None:
    """What limits a sweep of short tasks: their time beyond their own, store and memory."""
    plan = [(100, 100.0, 1), (100, 100.0, 2), (10_000, 10.0, 2)]
    with tempfile.TemporaryDirectory() as name:
        write(pd.DataFrame([measured(Path(name), *tasks) for tasks in plan]), "speed_sweeps")


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
    write(pd.DataFrame(found), "speed_exact")


PARTS = {"start": start, "users": users, "annealing": annealing, "sweeps": sweeps, "exact": exact}

if __name__ == "__main__":
    warnings.simplefilter("ignore")
    for part in sys.argv[1:]:
        PARTS[part]()
    for part in [] if sys.argv[1:] else list(PARTS)[:-1]:  # in a process, whose memory is measured
        subprocess.run([sys.executable, __file__, part], check=True)
