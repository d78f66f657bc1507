"""What sections 3 and 5 of Li et al. (2016) and its appendices claim, judged on our numbers."""

from itertools import product

import numpy as np
import pandas as pd

import rbmlib as rl
from rbmlib.models.testsystems import orthogonal_leaky_rbm

from .. import judge
from .. import measured as ms
from ..stored import kept_verdicts
from ..tables import number
from ..verdicts import Verdict, depends, together
from . import quadrature, tables

BOUND = "the bound on the singular values"


def theorems(seed: int) -> list[Verdict]:
    """Theorem 3.1 on all patterns of random models; the projection against other weights."""
    rng, smallest = np.random.default_rng(seed), []
    for n_visible, n_hidden, largest in product((2, 3, 6), (1, 4, 7), (0.5, 0.9, 0.999)):
        weights = rng.normal(size=(n_visible, n_hidden))
        weights *= largest / np.linalg.norm(weights, 2)
        alphas = np.array(list(product((1.0, 0.01), repeat=n_hidden)))
        moments = np.einsum("ij,aj,kj->aik", weights, alphas, weights)
        smallest.append(np.linalg.eigvalsh(np.eye(n_visible) - moments).min())
    outside = rng.normal(scale=0.4, size=(12, 6))
    nearest = rl.project_weights(outside, 0.9)
    steps = 10.0 ** rng.uniform(-3, 0, size=(1000, 1, 1)) * rng.normal(size=(1000, 12, 6))
    others = [np.linalg.norm(outside - rl.project_weights(nearest + x, 0.9)) for x in steps]
    moved = np.linalg.norm(outside - nearest)
    farther = judge.compare(others, ">", moved)
    return [
        judge.statement(
            "li-theorem-valid", judge.compare(smallest, ">", 0), reason="the proof is above"
        ).said(
            ours=f"The smallest eigenvalues are {min(smallest):.4g} to {max(smallest):.4g}.",
            words="We computed them for 27 random models, over all patterns of signs.",
        ),
        judge.statement("li-theorem-projection", farther, reason="the proof is above").said(
            ours=f"The distance from W is {min(others):.4g} to {max(others):.4g} for other weights "
            f"and {moved:.4g} for the projection.",
            words="The other weights are 1,000 allowed matrices.",
        ),
    ]


def stationary() -> tuple[list[dict], Verdict]:
    """Total variation between where the published sweep settles and the model."""
    rows, w = [], quadrature.nodes(tables.NORM)[1]
    for c in (1.0, 0.5, 0.1, 0.01):
        laws = quadrature.stationary_law(tables.NORM, c)
        chain, model = (np.multiply.outer(w * law, w * law) for law in laws)
        one, two = w @ np.abs(laws[0] - laws[1]) / 2, np.abs(chain - model).sum() / 2
        rows.append({"leakiness": c, "1 dimension": one, "2 dimensions": two})
    off = np.array([list(row.values())[1:] for row in rows if row["leakiness"] < 1])
    why = "v given h is not Gaussian: its density jumps where a field changes sign"
    verdict = judge.statement("li-gibbs-stationary", judge.compare(off, "<", 1e-9), reason=why)
    return rows, verdict.said(
        ours=f"The total variation distance from the model is {off.min():.3f} to {off.max():.3f}.",
        words="At leakiness 1 the distance is 0.",
    )


# Columns of the sweep ``leaky_mixing`` in words.
STARTS = {
    "norm": "s", "leakiness": "c", "tv_cd_normal": "N(0, 1)", "tv_plain": "Gaussian",
    "tv_leaky": "Gaussian, c falls", "tv_cd_region": "CD, one region",
    "tv_mix_region": "Mix, one region",
}  # fmt: skip


def on_toys(mixing: pd.DataFrame) -> pd.DataFrame:
    """Rows of the sweep ``leaky_mixing`` for the published move, up to 20 sweeps."""
    by_law = mixing["estimator"] == "distance by quadrature"
    slow = (mixing["norm"] >= 0.9) & (mixing["n_sweeps"] <= 20)
    return mixing[by_law & slow & (mixing["kernel"] == "gibbs")]


def _on_trained(claim: str, far: dict, close: str, far_from: str) -> dict[str, Verdict]:
    """How much nearer to where chains settle one start brings them than another, by model."""
    ratios = {name: ms.ratio(x[far_from], x[close], paired=True) for name, x in far.items()}
    how = {"matters": 1.1, "reason": "a tenth of the distance", "direction": +1}
    return {name: judge.effect(claim, x, **how) for name, x in ratios.items()}


def good_start(toys: pd.DataFrame, far: dict[str, dict]) -> Verdict:
    """Of the Gaussian of leakiness 1 against N(0, I); ``far``: distances of trained models."""
    claim, cases, ratios = "li-gaussian-start", {}, []
    for s, runs in toys[toys["leakiness"] == 0.01].groupby("norm"):
        ratios.append(runs["tv_cd_normal"].sum() / runs["tv_plain"].sum())
        exact = ms.measured(ratios[-1], 0.0, scale="log")
        cases[f"toy, s = {s:g}"] = judge.effect(claim, exact, direction=+1)
    cases |= _on_trained(claim, far, "gaussian", "normal")
    *_, last = far.values()
    start, normal = (last[name].mean() for name in ("gaussian", "normal"))
    return depends("the model: its biases, and how near its singular values come to 1", cases).said(
        ours=f"On the toys, chains from the Gaussian are {min(ratios):.1f} to {max(ratios):.1f} "
        "times as near to the model as chains from N(0, I).",
        words=f"On the trained model with 500 units, their distance is {start:.2f}; that of chains "
        f"from N(0, I) is {normal:.2f}.",
    )


def explores(toys: pd.DataFrame, far: dict[str, dict]) -> Verdict:
    """Mix against CD, begun in one region, or at one image of a trained model."""
    claim, cases, gains = "li-mix-explores", {}, []
    for r in toys[toys["n_sweeps"] == 20].itertuples():
        gains.append(r.tv_cd_region - r.tv_mix_region)
        nearer = judge.bound(claim, ms.exactly(gains[-1]), at_least=0.001)
        cases[f"toy, s = {r.norm:g}, c = {r.leakiness:g}"] = nearer
    cases |= _on_trained(claim, far, "mix", "cd")
    return depends("the model", cases).said(
        ours=f"On the toys, Mix is farther from the model than CD, by {-max(gains):.3f} to "
        f"{-min(gains):.3f} in total variation distance.",
        words="Both methods start in one region and run for 20 sweeps.",
    )


def thousands(gaps: dict[tuple, ms.Measured]) -> Verdict:
    """What 3,000 steps of AIS-Leaky take off the error of 1,000; ``gaps``: of trained models."""
    claim, tenth = "li-thousands-of-steps", {"at_least": 0.1, "unit": "nats"}
    path = tables.NORM, tables.LEAKINESS
    errors = [-30 * quadrature.linear_bias(*path, k, "leakiness") for k in (1000, 3000)]
    gained = {"toy, 30 units": ms.exactly(errors[0] - errors[1])}
    for name in dict.fromkeys(key[0] for key in gaps):
        pair = (gaps[name, "AIS-Leaky", k] for k in (3000, 1000))
        gained[name] = ms.difference(*pair)
    cases = {name: judge.bound(claim, x, **tenth) for name, x in gained.items()}
    said = ", ".join(f"{number(x.value)} ({name})" for name, x in gained.items()).replace("-", "−")
    return depends(BOUND, cases).said(
        ours=f"3,000 steps reduce the error left by 1,000 by {said}.",
        words="The reductions are in nats.",
    )


def cost(all_images: pd.DataFrame, at_bounds: pd.DataFrame) -> Verdict:
    """Of Mix, by the clock, and of the Gaussian in all dimensions, by operations."""
    leaky = all_images[all_images["model"].str.startswith("leaky")].assign(largest=0.9999)
    runs = pd.concat([leaky, at_bounds])
    runs["seconds"] = runs["training_seconds"] / runs["n_updates"]
    alike = ["learning_rate", "seed", "largest", "n_updates"]
    pairs = runs.pivot_table("seconds", alike, "method")[["cd", "mix"]].dropna()
    same = ms.ratio(pairs["mix"].to_numpy(), pairs["cd"].to_numpy(), paired=True)
    sweeps = 20 * 4 * 100 * 3072 * 500  # operations of 20 sweeps of 100 chains
    gaussian = 3072**2 * 500 + 3072**3 / 3  # covariance of the pixels, and its Cholesky factor
    on_span = (3072 * 500**2 + 500**3 / 3) / sweeps  # W'W and its factor
    claim, added = "li-sampling-cost", ms.exactly(gaussian / sweeps)
    cases = {
        "Mix over CD, seconds": judge.bound(claim, same, at_most=1.05),
        "Gaussian over 20 sweeps, operations": judge.bound(claim, added, at_least=0.5),
    }
    return together(cases).said(
        ours=f"Mix takes {np.exp(same.value):.2f} times the seconds of CD; the Gaussian adds "
        f"{added.value:.0%} to the operations of 20 sweeps.",
        words=f"With 500 units, the Gaussian on the span of W would add {on_span:.0%}.",
    )


def diverges(free: pd.DataFrame, held: pd.DataFrame) -> Verdict:
    """Chains without and with projection, 500 units; of small models in the table leaky_small."""
    claim = "li-fig5-diverges"
    over = [_ratio(runs, "mean_60", "mean_1") for runs in (free, held)]
    steeper = _ratio(free, "gradient_20", "gradient_1")
    tenfold = {"at_least": 10.0}  # the growth from which chains are said to diverge
    limits = {
        "500 units, mean visible unit after 60 sweeps over that after 1": (over[0], tenfold),
        "500 units, gradient after 20 sweeps over that after 1": (steeper, tenfold),
        "500 units, with projection": (over[1], {"at_most": 2.0}),
    }
    cases = _of_trainings(claim, limits) | kept_verdicts("leaky_small", claim)
    grown = [np.exp(x.value) for x in over]
    return together(cases).said(
        f"The mean visible unit changes {grown[0]:,.0f}-fold without projection and "
        f"{grown[1]:.2f}-fold with projection.",
        "The change is from 1 to 60 sweeps, with 500 units.",
    )


def tasks(free: pd.DataFrame, held: pd.DataFrame) -> Verdict:
    """Reconstruction of 500 units, classification of few, without and with projection."""
    claim = "li-projection-tasks"
    errors = [runs["reconstruction_error"].to_numpy() for runs in (free, held)]
    ratio = ms.ratio(*errors, paired=True)
    limits = {
        "reconstruction error, without projection over with projection": (ratio, {"at_most": 1.0})
    }
    return together(_of_trainings(claim, limits) | kept_verdicts("leaky_small", claim))


def _of_trainings(claim: str, limits: dict) -> dict[str, Verdict]:
    """Each measured on a few trainings, against its limit."""
    return {
        name: judge.bound(claim, x, n_trainings=int(x.n), alpha=judge.FEW, **limit)
        for name, (x, limit) in limits.items()
    }


def _ratio(runs: pd.DataFrame, top: str, bottom: str) -> ms.Measured:
    values = (runs[column].abs().to_numpy() for column in (top, bottom))
    return ms.ratio(*values, paired=True)


def appendix_d(gaps: dict[tuple, ms.Measured], seed: int) -> Verdict:
    """Which path has more bias at equal steps, and whether they are one from the same start."""
    claim = "li-appendix-d"
    units = [tables.unit_bias(path).bias for path in ("leakiness", "energy")]
    exact = ms.exactly(units[0] - units[1])
    bias = {"toys": judge.effect(claim, exact, direction=+1, unit="nats per hidden unit")}
    for name in dict.fromkeys(key[0] for key in gaps):
        pair = (gaps[name, method, 1000] for method in tables.METHODS)
        bias[name] = judge.effect(claim, ms.difference(*pair), direction=+1, unit="nats")
    rbm, rng = orthogonal_leaky_rbm(12, 4, norm=0.9, leakiness=0.01), np.random.default_rng(seed)
    path, states = rl.LeakinessPath(rbm), rng.normal(size=(5, 4))
    ends = [path.at(beta).log_density(states) for beta in (0.0, 0.3, 1.0)]
    linear = judge.compare(ends[1], "==", 0.7 * ends[0] + 0.3 * ends[2])
    more = depends(BOUND, bias)
    same = judge.statement(claim, linear, reason="the log-densities on the path are linear in β")
    found = together({"more bias": more, "the same path": same})
    return found._replace(parts=(*more.parts, *found.parts[1:])).said(
        ours=f"On the toys, annealing the energy has {units[1] / units[0]:.1f} times the bias; on "
        "trained models it has more bias at 0.9, and less at 0.99 and 0.9999.",
        words="All runs have 1,000 steps. Started from the same Gaussian, the two paths are one.",
    )
