"""The compiled loops against NumPy and other people's, against the machine, and as they scale.

All loops take the same steps of the same chains of the same model, half-way along the path (a step
is a ten-thousandth of it). They take turns, so that a slow spell of the machine hits them alike;
medians over the rounds are shown, and ratios are medians of the ratios of a round. Rows "alone" are
yardsticks: the matrix products of a step (dense float32), and its exponentials, random numbers and
increments, each on its own. Parts of `bench.py`.
"""

import statistics
import time
import tracemalloc
from concurrent.futures import ThreadPoolExecutor
from functools import partial

import baselines
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from scipy.special import expit, log_ndtr, ndtri_exp
from tqdm import tqdm
from turns import RESULTS, ROOT, dated, in_turns, keep, limited

import rbmlib as rl
from rbmbook import plots
from rbmbook.ww_domain import ww_domain
from rbmlib._kernels import threads
from rbmlib.models.layers import shape_of
from rbmlib.numerics import ChainStream, log_half_gaussian
from rbmlib.sampling import anneal

MODELS = "pcd_20", "pcd_500"
CHAINS, STEPS, ROUNDS = 256, 200, 5
FINE, MIDDLE = 1e-4, 0.5  # size of a step, and where the steps are taken
OURS = "rbmlib, portable"  # the name that rows measured before have


def steps(n: int) -> np.ndarray:
    """The betas of ``n`` steps half-way along the path."""
    return MIDDLE + FINE * np.arange(n + 1)


def ours(path, betas, v, seed):
    """The compiled loop, with its importance steps to the float64 model."""
    anneal(path, v, betas, ChainStream(seed, len(v)))


def contestants(path) -> dict:
    """Name -> function of steps, chains and seed."""
    bias = path.base_visible_bias
    others = {
        name: lambda k, v, seed, f=f: f(path.rbm, bias, steps(k), v, seed)
        for name, f in baselines.baselines().items()
    }
    return others | {OURS: lambda k, v, seed: ours(path, steps(k), v, seed)}


def microseconds(function, n_chain_steps: int) -> float:
    started = time.perf_counter()
    function()
    return (time.perf_counter() - started) / n_chain_steps * 1e6


def all_threads(work, n_threads: int) -> None:
    """``work`` on every thread at the same time."""
    with ThreadPoolExecutor(n_threads) as pool:
        list(pool.map(lambda _: work(), range(n_threads)))


def compare() -> pd.DataFrame:
    """Microseconds a chain and step of every contestant and bound, a row a round."""
    programs, inside, sizes = {}, {}, {}
    for model in MODELS:
        rbm = rl.load_rbm(model)
        path = rl.GeometricPath(rbm, base=rl.base_rate(rl.datasets.load_mnist().train))
        v = path.sample_base(CHAINS, np.random.default_rng(0))
        for n in sorted({1, threads.default_n_threads()}):
            for name, f in contestants(path).items():
                key = model, n, name
                programs[key] = partial(f, STEPS, v, 0)
                inside[key], sizes[key] = partial(limited, n), CHAINS * STEPS
            for name, (kernel, chaiSTEPS) in baselines.bounds(rbm).items():
                key = model, n, name
                programs[key] = partial(all_threads, kernel, n)
                inside[key], sizes[key] = partial(limited, 1), n * chaiSTEPS
    return pd.DataFrame(
        [
            (*key, number, wall / sizes[key] * 1e6)
            for key, seconds in in_turns(programs, ROUNDS, inside).items()
            for number, (wall, _) in enumerate(seconds)
        ],
        columns=["model", "threads", "loop", "round", "microseconds"],
    )


def summary(rounds: pd.DataFrame) -> pd.DataFrame:
    """Medians, and median ratios to NumPy float64 on as many threads."""
    reference = rounds[rounds["loop"] == "NumPy float64"]
    joined = rounds.merge(
        reference.drop(columns="loop"), on=["model", "threads", "round"], suffixes=("", "_numpy")
    )
    joined["times_numpy"] = joined["microseconds_numpy"] / joined["microseconds"]
    groups = joined.groupby(["model", "threads", "loop"], sort=False)
    table = groups[["microseconds", "times_numpy"]].median()
    table["least"] = groups["microseconds"].min()
    return table.reset_index()


def wide(kept: pd.DataFrame) -> pd.DataFrame:
    """A row a machine and loop, a column a model and number of threads: microseconds (ratio)."""
    shown = kept.assign(
        what=kept["model"] + ", " + kept["threads"].map({1: "1 thread"}).fillna(
            kept["threads"].astype(str) + " threads"
        ),
        value=[f"{t:.3g} ({x:.3g}×)" for t, x in
               zip(kept["microseconds"], kept["times_numpy"], strict=True)],
    )  # fmt: skip
    table = shown.pivot(index=["machine", "loop"], columns="what", values="value")
    order = [tuple(x) for x in shown[["machine", "loop"]].drop_duplicates().to_numpy()]
    return table.reindex(order)[list(shown["what"].drop_duplicates())].reset_index()


def scaling() -> pd.DataFrame:
    """Microseconds a chain and step of rbmlib along one axis at a time."""
    data = rl.datasets.load_mnist().train
    base = rl.base_rate(data)
    most = threads.default_n_threads()
    plan = [("chains", 500, n, max(2 * STEPS, 5 * STEPS * 64 // max(64, n)), most)
            for n in (1, 8, 32, 128, 512, 2048)]  # fmt: skip
    plan += [("steps", 500, 64, k, most) for k in (100, 1000, 10_000)]
    plan += [
        ("hidden units", m, 256, 5 * STEPS, most) for m in (10, 20, 30, 50, 100, 200, 500, 1000)
    ]
    plan += [("threads", m, 256, 5 * STEPS, n) for m in (20, 500) for n in range(1, most + 1)]
    rows = []
    for axis, n_hidden, n_chains, n_steps, n_threads in tqdm(plan, unit="point", disable=None):
        rbm = rl.testsystems.random_rbm(n_visible=784, n_hidden=n_hidden, rng=n_hidden)
        path = rl.GeometricPath(rbm, base=base)
        v = path.sample_base(n_chains, np.random.default_rng(0))
        betas = MIDDLE + min(FINE, 0.5 / n_steps) * np.arange(n_steps + 1)
        with limited(n_threads):
            times = [
                microseconds(lambda b=betas, v=v, p=path: ours(p, b, v, 0), n_chains * n_steps)
                for _ in range(3)
            ]
            megabytes = peak_megabytes(lambda b=betas, v=v, p=path: ours(p, b, v, 0))
        rows.append((axis, OURS, n_hidden, n_chains, n_steps, n_threads,
                     statistics.median(times), megabytes))  # fmt: skip
    return pd.DataFrame(
        rows,
        columns=["axis", "loop", "n_hidden", "n_chains", "n_steps", "threads", "microseconds",
                 "megabytes"],
    )  # fmt: skip


def peak_megabytes(function) -> float:
    """Largest memory held by Python and NumPy while a function runs."""
    tracemalloc.start()
    function()
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return peak / 2**20


def figure(table: pd.DataFrame, scales: pd.DataFrame) -> None:
    """Bars of the comparison, and the curves of scaling."""
    plots.use_style()
    plt.rcParams["svg.hashsalt"] = "speed"  # the same file for the same numbers
    n = table["threads"].max()
    loops = [x for x in table["loop"].unique() if not x.startswith("alone")]
    fig, axes = plt.subplots(2, 2, figsize=(10, 7))
    wide = table[table["threads"] == n].pivot(index="loop", columns="model", values="microseconds")
    for model, colour in zip(wide, (plots.BLUE, plots.ORANGE), strict=False):
        axes[0, 0].semilogx(
            wide.loc[loops[::-1], model], loops[::-1], "o", color=colour, label=model
        )
    axes[0, 0].set(xlabel="µs a chain and step", title=f"{n} threads")
    axes[0, 0].legend()
    for ax, (axis, column) in zip(
        axes.flat[1:],
        [("chains", "n_chains"), ("hidden units", "n_hidden"), ("steps", "n_steps")],
        strict=True,
    ):
        for name, part in scales[scales["axis"] == axis].groupby("loop"):
            ax.loglog(part[column], part["microseconds"], "o-", label=name, color=plots.GREEN)
        ax.set(xlabel=f"number of {axis}", ylabel="µs a chain and step")
        ax.legend()
    fig.savefig(ROOT / "book" / "speed.svg", metadata={"Date": None})


def annealing() -> None:
    """speed.csv, a block of rows a kind of machine; from it speed_steps.csv, a row a loop."""
    table = summary(compare())
    show(table)
    wide(keep(table, "speed")).to_csv(RESULTS / "speed_steps.csv", index=False)
    rates, scales = baselines.rates(ROUNDS), scaling()
    show(rates)
    show(scales)
    dated(rates).to_csv(RESULTS / "speed_machine.csv", index=False, float_format="%.4g")
    scales.to_csv(RESULTS / "speed_scaling.csv", index=False, float_format="%.4g")
    figure(table, scales)


def show(table: pd.DataFrame) -> None:
    with pd.option_context("display.width", 120, "display.float_format", "{:.3g}".format):
        print("\n" + table.to_string(index=False), flush=True)


# colours and rectified units ------------------------------------------------------------------

N_STEPS = 10


class Colours(rl.Potts):
    """Drawn by NumPy."""

    def draw(self, x, rng, n=None):
        below = np.cumsum(self._relative(x)[1], axis=2)
        u = rng.random(shape_of(below[..., 0], n))[..., None] * below[..., -1:]
        return np.eye(self.q)[(below <= u).sum(axis=2)].reshape(len(u), -1)


class Halves(rl.DoubleReLU):
    """Drawn and summed by SciPy."""

    def sides(self, x):
        both = (x - self.theta_plus, self.a_plus**-0.5), (-x - self.theta_minus, self.a_minus**-0.5)
        return [(sd, f * sd, np.log(sd) + log_half_gaussian(f * sd)) for f, sd in both]

    def cumulant(self, x):
        (*_, above), (*_, below) = self.sides(x)
        return np.logaddexp(above, below).sum(axis=1)

    def draw(self, x, rng, n=None):
        (sd, z, above), (sd_, z_, below) = self.sides(x)
        share, u = expit(above - below), rng.random(shape_of(x, n))
        up = u < share
        rest = np.where(up, u, 1 - u) / np.where(up, share, 1 - share)
        sd, z = np.where(up, sd, sd_), np.where(up, z, z_)
        return np.where(up, sd, -sd) * np.maximum(z - ndtri_exp(np.log(rest) + log_ndtr(z)), 0.0)


def by_numpy(layer):
    """The same layer, drawn by NumPy."""
    kind = {rl.Potts: Colours, rl.DoubleReLU: Halves}.get(type(layer), type(layer))
    other = object.__new__(kind)
    other.__dict__.update(layer.__dict__)
    return other


def programs(rbm) -> dict:
    """Name -> a function, of each loop; both sample the same path, and draw at the same fields."""
    found, seeded = {}, partial(ChainStream, 0, CHAINS)
    betas = 0.5 + 1e-4 * np.arange(N_STEPS + 1)
    start = rl.GeometricPath(rbm).sample_base(CHAINS, np.random.default_rng(0))
    half = rl.GeometricPath(rbm).at(0.5)
    x = half.field(start)
    y = half.visible_field(half.hidden.draw(x, np.random.default_rng(1)))
    for loop, turned in (("NumPy", by_numpy), ("rbmlib", lambda layer: layer)):
        visible, hidden = turned(rbm.visible), turned(rbm.hidden)
        path = rl.GeometricPath(rl.RBM(visible, hidden, rbm.weights))
        found["a draw of the visible units", loop] = lambda v=visible: v.draw(y, seeded())
        found["a draw of the hidden units", loop] = lambda h=hidden: h.draw(x, seeded())
        found["a step of annealing", loop] = lambda p=path: anneal(p, start, betas, seeded())
    return found


def kinds() -> None:
    """Draws of colours and of rectified units, and a step of annealing, against NumPy's.

    NumPy's draws are layers of the same kinds, which invert the same distributions by cumulative
    sums and by SciPy's inverse of log Phi; all else of a step is shared. One thread.
    """
    rng, rows = np.random.default_rng(0), []
    bits = rl.RBM(
        rl.Potts(rng.normal(size=651), 21), rl.Binary(rng.normal(size=100)),
        rng.normal(scale=0.2, size=(651, 100)),
    )  # fmt: skip
    for name, rbm in (("ww_domain", ww_domain()), ("colours, bits", bits)):
        with limited(1):
            seconds = in_turns(programs(rbm), 15)
        for what in dict.fromkeys(what for what, _ in seconds):
            n = CHAINS * (N_STEPS if "step" in what else 1)
            numpy, ours = (np.array(seconds[what, k])[:, 1] / n * 1e6 for k in ("NumPy", "rbmlib"))
            ratio = np.median(numpy / ours)
            rows.append((name, what, np.median(numpy), np.median(ours), ratio))
    columns = ["model", "what", "NumPy, microseconds a chain", "compiled", "times NumPy"]
    print(keep(pd.DataFrame(rows, columns=columns), "speed_kinds").to_string(index=False))


# is the compiled loop the same sampler? -------------------------------------------------------


def run_pair(path, betas, n_chains: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Log-weights of both loops, each from its own draws of the base."""
    rng = np.random.default_rng([seed, 1])
    v = path.sample_base(n_chains, rng)
    reference = baselines.numpy_annealing(path.rbm, path.base_visible_bias, betas, v, [seed, 2])
    stream = ChainStream(seed, n_chains)
    _, compiled = anneal(path, path.sample_base(n_chains, stream), betas, stream)
    return reference, compiled


def identity(n_runs: int = 5, n_chains: int = 2000, n_steps: int = 25) -> None:
    """Mean log-weights against plain NumPy in float64.

    Fresh seeds on both sides, so the difference of the means should be within a few standard
    errors: on a whole path of coarse steps, and on the first steps of a fine one, where increments
    are series.
    """
    pieces = {
        "whole path": np.linspace(0, 1, n_steps + 1),
        "fine steps": 1e-4 * np.arange(n_steps + 1),
    }
    rows = []
    with tqdm(total=len(MODELS) * len(pieces) * n_runs, disable=None) as bar:
        for model in MODELS:
            base = rl.base_rate(rl.datasets.load_mnist().train)
            path = rl.GeometricPath(rl.load_rbm(model), base=base)
            for piece, betas in pieces.items():
                sums = []
                for seed in range(n_runs):
                    pair = run_pair(path, betas, n_chains, seed)
                    sums.append([[x.mean(), x.var(ddof=1)] for x in pair])
                    bar.update(1)
                means, variances = np.moveaxis(np.array(sums), 2, 0).mean(axis=1)
                error = np.sqrt(variances.sum() / (n_runs * n_chains))
                difference = means[1] - means[0]
                rows.append((model, piece, *means, difference, error, difference / error))
    columns = ["model", "steps", "NumPy float64", "rbmlib", "difference", "s.e.", "in s.e."]
    table = pd.DataFrame(rows, columns=columns)
    print(table.to_string(index=False))
    table.to_csv(RESULTS / "speed_identity.csv", index=False, float_format="%.6g")
    if (table["in s.e."].abs() > 3).any():
        raise SystemExit("error: the two loops differ by more than 3 standard errors")
