"""Verdicts on the claims of sections 3 and 5 and the appendices of Li et al. (2016)."""

from itertools import product

import numpy as np
import pandas as pd

import rbmlib as rl
from rbmlib.models.testsystems import orthogonal_leaky_rbm

from .. import judge
from .. import measured as ms
from ..stored import kept_verdicts
from ..tables import listed, number
from ..training import annealed_leakiness
from ..verdicts import Verdict, depends, together
from . import quadrature, tables

BOUND = "the bound on the singular values"


def theorems(seed: int) -> list[Verdict]:
    """Theorem 3.1 for all patterns of random models; the projection against other weights."""
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
            ours="The smallest eigenvalues of 27 random models are between "
            f"{min(smallest):.4g} and {max(smallest):.4g}.",
            words="For each model, we tried all patterns of signs.",
        ),
        judge.statement("li-theorem-projection", farther, reason="the proof is above").said(
            ours=f"The distance from W is {moved:.4g} for the projection and {min(others):.4g} to "
            f"{max(others):.4g} for 1,000 other allowed matrices.",
        ),
    ]


def stationary() -> tuple[list[dict], Verdict]:
    """Total variation distance between the model and the stationary law of the published sweep."""
    rows, w = [], quadrature.nodes(tables.NORM)[1]
    for c in (1.0, 0.5, 0.1, 0.01):
        laws = quadrature.stationary_law(tables.NORM, c)
        chain, model = (np.multiply.outer(w * law, w * law) for law in laws)
        one, two = w @ np.abs(laws[0] - laws[1]) / 2, np.abs(chain - model).sum() / 2
        rows.append({"leakiness": c, "1 dimension": one, "2 dimensions": two})
    off = np.array([list(row.values())[1:] for row in rows if row["leakiness"] < 1])
    why = "the density of v given h is not Gaussian, because it jumps where a field changes sign"
    verdict = judge.statement("li-gibbs-stationary", judge.compare(off, "<", 1e-9), reason=why)
    return rows, verdict.said(
        ours="At leakiness 0.5 and below, the total variation distance is "
        f"{off.min():.3f} to {off.max():.3f}.",
        words="At leakiness 1, the distance is 0.",
    )


# Names of the columns of the sweep ``leaky_mixing``.
STARTS = {
    "norm": "s", "leakiness": "c", "tv_cd_normal": "N(0, 1)", "tv_plain": "Gaussian",
    "tv_leaky": "Gaussian, c falls", "tv_cd_region": "CD, narrow region",
    "tv_mix_region": "Mix, narrow region",
}  # fmt: skip


def on_toys(mixing: pd.DataFrame) -> pd.DataFrame:
    """Rows of the sweep ``leaky_mixing`` for the published move, up to 20 sweeps."""
    by_law = mixing["estimator"] == "distance by quadrature"
    slow = (mixing["norm"] >= 0.9) & (mixing["n_sweeps"] <= 20)
    return mixing[by_law & slow & (mixing["kernel"] == "gibbs")]


def _on_trained(claim: str, far: dict, close: str, far_from: str) -> dict[str, Verdict]:
    """Ratio of the distances from settled chains after two starts, judged by model."""
    how, cases = {"matters": 1.1, "reason": "about a tenth of the distance", "direction": +1}, {}
    for name, x in far.items():
        if max(x[far_from].mean(), x[close].mean()) < 1.1 * x["same"].mean():
            cases[name] = judge.left_open(claim, "chains from both starts have settled")
        else:
            cases[name] = judge.effect(claim, ms.ratio(x[far_from], x[close], paired=True), **how)
    return cases


def good_start(toys: pd.DataFrame, far: dict[str, dict]) -> Verdict:
    """The Gaussian of leakiness 1 against N(0, I); ``far`` has distances from trained models."""
    claim, cases, ratios = "li-gaussian-start", {}, []
    for s, runs in toys[toys["leakiness"] == 0.01].groupby("norm"):
        ratios.append(runs["tv_cd_normal"].sum() / runs["tv_plain"].sum())
        exact = ms.measured(ratios[-1], 0.0, scale="log")
        cases[f"toy, s = {s:g}"] = judge.effect(claim, exact, direction=+1)
    cases |= _on_trained(claim, far, "gaussian", "normal")
    *_, last = far.values()
    start, normal = (last[name].mean() for name in ("gaussian", "normal"))
    setting = "the model's biases and on how close its singular values are to 1"
    return depends(setting, cases).said(
        ours=f"Summed over six numbers of sweeps, the distance on toy models is {min(ratios):.1f} "
        f"to {max(ratios):.1f} times as large from N(0, I) as from the Gaussian.",
        words="On the trained model with 500 units, the distance is "
        f"{start:.2f} for chains from the Gaussian and {normal:.2f} for chains from N(0, I). If "
        "singular values are below 0.9, chains from both starts settle within 20 sweeps.",
    )


def explores(far: dict[str, dict]) -> Verdict:
    """Mix against CD, from either region of a toy model or from one image on a trained model."""
    claim, crossed, cases = "li-mix-explores", [], {}
    for s, c in product((0.9, 0.99, 0.999), (0.01, 0.1, 0.5)):
        sweeps = np.full(20, c), annealed_leakiness(c, 20)
        (cd, cd_off), (mix, mix_off) = (quadrature.from_regions(s, c, x) for x in sweeps)
        crossed.append(mix - cd)
        gains = {"more chains cross": crossed[-1], "nearer to the model": cd_off - mix_off}
        for measure, by_region in gains.items():
            for region, gain in zip(("wide", "narrow"), by_region, strict=True):
                of_reading = cases.setdefault(f"{measure}, from the {region} region", {})
                gained = judge.bound(claim, ms.exactly(gain), at_least=0.001)
                of_reading[f"toy, s = {s:g}, c = {c:g}"] = gained
    cases["nearer to settled chains, from one image"] = _on_trained(claim, far, "mix", "cd")
    wide, narrow = 100 * np.transpose(crossed)
    trained = cases["nearer to settled chains, from one image"].values()
    ratios = [v.effect for v in trained if np.isfinite(v.effect)]
    setting = "the region in which the chains start and on the measure of exploring"
    return depends(setting, cases).said(
        ours="From the wide region of a toy model, the share of chains that end in the other "
        f"region is {wide.min():.1f} to {wide.max():.1f} percentage points larger with Mix than "
        "with CD.",
        words="From the narrow region, this share is "
        f"{-narrow.max():.1f} to {-narrow.min():.1f} percentage points smaller with Mix. "
        "On trained models, the distance from settled chains after CD is "
        f"{min(ratios):.2f} to {max(ratios):.2f} times that after Mix, or both have settled.",
    )


def stability(gaps: dict[tuple, ms.Measured]) -> Verdict:
    """AIS-Leaky against AIS-Energy with the paper's particles and steps, which decide.

    The verdict also states the result with equal numbers; ``gaps`` are those of trained models.
    """
    claim = "li-leaky-stable"
    leaky, energy = ([tables.deviation(m, j) for j in tables.UNITS] for m in tables.METHODS)
    less = judge.compare(leaky, "<", energy)
    units = [tables.unit_bias(path).relative_variance for path in ("leakiness", "energy")]
    ratios = {"toy models": (units[1] / units[0]) ** 0.5}
    for name in dict.fromkeys(key[0] for key in gaps):
        one, other = (gaps[name, method, 1000] for method in tables.METHODS)
        ratios[name] = other.std_error / one.std_error
    span = (f"{min(x):.6f} to {max(x):.6f}" for x in (leaky, energy))
    equal = listed(f"{number(ratio)} ({name})" for name, ratio in ratios.items())
    return judge.statement(claim, less, reason="computed by quadrature").said(
        ours="With the paper's numbers of particles and steps, the standard deviation on the toy "
        "models is {} nats for AIS-Leaky and {} nats for AIS-Energy.".format(*span),
        words="With equal numbers of particles and steps, the standard deviation of AIS-Energy "
        f"divided by that of AIS-Leaky is {equal}. On trained models, we compare standard errors "
        "of the mean log-weight.",
    )


def thousands(gaps: dict[tuple, ms.Measured]) -> Verdict:
    """Error of AIS-Leaky with 1,000 steps minus that with 3,000; ``gaps`` of trained models."""
    claim, tenth = "li-thousands-of-steps", {"at_least": 0.1, "unit": "nats"}
    path = tables.NORM, tables.LEAKINESS
    errors = [-30 * quadrature.linear_bias(*path, k, "leakiness") for k in (1000, 3000)]
    gained = {"toy model, 30 units": ms.exactly(errors[0] - errors[1])}
    for name in dict.fromkeys(key[0] for key in gaps):
        pair = (gaps[name, "AIS-Leaky", k] for k in (3000, 1000))
        gained[name] = ms.difference(*pair)
    cases = {name: judge.bound(claim, x, **tenth) for name, x in gained.items()}
    said = listed(f"{number(x.value)} nats ({name})" for name, x in gained.items())
    return depends(BOUND, cases).said(
        ours="The error of AIS-Leaky with 1,000 steps minus that with 3,000 steps is "
        f"{said.replace('-', '−')}.",
        words="On trained models, it is the error of the mean log-weight.",
    )


def cost(all_images: pd.DataFrame, at_bounds: pd.DataFrame) -> Verdict:
    """Cost of Mix in seconds, and of the Gaussian in all dimensions in operations."""
    leaky = all_images[all_images["model"].str.startswith("leaky")].assign(largest=0.9999)
    runs = pd.concat([leaky, at_bounds])
    runs["seconds"] = runs["training_seconds"] / runs["n_updates"]
    alike = ["learning_rate", "seed", "largest", "n_updates"]
    seconds = runs.pivot_table("seconds", alike, "method")
    pairs = seconds[["cd", "mix"]].dropna()
    same = ms.ratio(pairs["mix"].to_numpy(), pairs["cd"].to_numpy(), paired=True)
    times = (seconds["leaky"] / seconds["cd"]).median()
    sweeps = 20 * 4 * 100 * 3072 * 500  # operations of 20 sweeps of 100 chains
    gaussian = 3072**2 * 500 + 3072**3 / 3  # covariance of the pixels, and its Cholesky factor
    on_span = (3072 * 500**2 + 500**3 / 3) / sweeps  # W'W and its factor
    claim, added = "li-sampling-cost", ms.exactly(gaussian / sweeps)
    cases = {
        "seconds of Mix over seconds of CD": judge.bound(claim, same, at_most=1.05),
        "operations, Gaussian over 20 sweeps": judge.bound(claim, added, at_least=0.5),
    }
    return together(cases).said(
        ours=f"An update by Mix takes {np.exp(same.value):.2f} times as long as by CD. Drawing "
        f"from the Gaussian adds {added.value:.0%} to the operations of 20 sweeps.",
        words=f"With 500 units, drawing only on the span of W adds {on_span:.0%}. Our updates by "
        f"Algorithm 2 draw so, and take {times:.2f} times as long as by CD.",
    )


def diverges(free: pd.DataFrame, held: pd.DataFrame) -> Verdict:
    """Chains without and with projection; the table leaky_small has those of small models."""
    claim = "li-fig5-diverges"
    over = [_ratio(runs, "mean_60", "mean_1") for runs in (free, held)]
    steeper = _ratio(free, "gradient_20", "gradient_1")
    tenfold = {"at_least": 10.0}  # growth that counts as divergence
    limits = {
        "500 units, mean visible unit after 60 sweeps over that after 1": (over[0], tenfold),
        "500 units, gradient after 20 sweeps over that after 1": (steeper, tenfold),
        "500 units, with projection": (over[1], {"at_most": 2.0}),
    }
    cases = _of_trainings(claim, limits) | kept_verdicts("leaky_small", claim)
    free_60, held_60 = (runs["mean_60"].abs() for runs in (free, held))
    return together(cases).said(
        "After 60 sweeps, the mean visible unit of models with 500 hidden units is "
        f"{free_60.min():.0f} to {free_60.max():.0f} in size without projection and at most "
        f"{held_60.max():.3f} with projection.",
        "We trained both by CD-1 on CIFAR-10. The paper also uses SVHN, and trains the model with "
        "projection by CD-20.",
    )


def tasks(free: pd.DataFrame, held: pd.DataFrame) -> Verdict:
    """Reconstruction with 500 units and classification with few, without and with projection."""
    claim = "li-projection-tasks"
    errors = [runs["reconstruction_error"].to_numpy() for runs in (free, held)]
    ratio = ms.ratio(*errors, paired=True)
    limits = {"reconstruction error, without over with projection": (ratio, {"at_most": 1.0})}
    found = together(_of_trainings(claim, limits) | kept_verdicts("leaky_small", claim))
    error, share = (part[1] for part in found.parts)
    return found.said(
        f"Without projection, the reconstruction error with 500 hidden units is {error} times that "
        "with projection. With 20 hidden units, ridge regression on the hidden means classifies a "
        f"share of images correctly that is larger by {share}."
    )


def _of_trainings(claim: str, limits: dict) -> dict[str, Verdict]:
    """Measurements from a few training runs against their limits."""
    return {
        name: judge.bound(claim, x, n_trainings=int(x.n), alpha=ms.FEW, **limit)
        for name, (x, limit) in limits.items()
    }


def _ratio(runs: pd.DataFrame, top: str, bottom: str) -> ms.Measured:
    values = (runs[column].abs().to_numpy() for column in (top, bottom))
    return ms.ratio(*values, paired=True)


def appendix_d(gaps: dict[tuple, ms.Measured], seed: int) -> Verdict:
    """Which path has more bias at equal steps, and are both equal from the same start?"""
    claim = "li-appendix-d"
    units = [tables.unit_bias(path).bias for path in ("leakiness", "energy")]
    exact = ms.exactly(units[0] - units[1])
    bias = {"toy models": judge.effect(claim, exact, direction=+1, unit="nats per hidden unit")}
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
        ours="Annealing the energy causes more bias on the toy models "
        f"({units[1] / units[0]:.1f} times as much) and on the trained model at the bound 0.9, but "
        "less at 0.99 and 0.9999.",
        words="All runs had 1,000 steps. On trained models, the bias is that of the mean "
        "log-weight. From the same Gaussian, the two paths are identical.",
    )
