"""Verdicts on the claims of sections 3 and 5 and the appendices of Li et al. (2016)."""

from itertools import product

import numpy as np
import pandas as pd

import rbmlib as rl
from rbmlib.models.testsystems import orthogonal_leaky_rbm

from .. import judge
from .. import measured as ms
from ..stored import kept_verdicts
from ..tables import listed, number, span
from ..training import annealed_leakiness
from ..verdicts import Verdict, by_case, depends, effect_in_words, together
from . import quadrature, tables

BOUND = "the bound on the singular values"
TOY = "toy model, 30 units"
NAMED = "{} ({})"


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
    positive, farther = judge.compare(smallest, ">", 0), judge.compare(others, ">", moved)
    return [
        judge.statement("li-theorem-valid", positive, reason="the proof is above").said(
            f"In {len(smallest)} random models, the smallest eigenvalue over all patterns of signs "
            f"is {min(smallest):.3f} to {max(smallest):.3f}."
        ),
        judge.statement("li-theorem-projection", farther, reason="the proof is above").said(
            f"The distance from W is {moved:.3f} for the clipped matrix and {min(others):.3f} or "
            f"more for {len(others):,} other matrices within the bound."
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
        "In one and two dimensions, the total variation distance is "
        f"{off.min():.3f} to {off.max():.3f} at leakiness 0.5 and below, and 0 at leakiness 1."
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
    claim, cases = "li-gaussian-start", {}
    for s, runs in toys[toys["leakiness"] == 0.01].groupby("norm"):
        exact = ms.measured(runs["tv_cd_normal"].sum() / runs["tv_plain"].sum(), 0.0, scale="log")
        cases[f"toy, s = {s:g}"] = judge.effect(claim, exact, direction=+1)
    trained = _on_trained(claim, far, "gaussian, on the way", "normal, on the way")
    ratios = [v.effect for v in cases.values()]
    return depends(f"{BOUND} of trained models", cases | trained).said(
        "Over 20 sweeps on toy models, chains from N(0, I) are on average "
        f"{span(ratios, '{:.1f}'.format)} times as far from the model as chains from the Gaussian.",
        f"On trained models, the ratio is {by_case(trained, NAMED)}.",
    )


def explores(far: dict[str, dict]) -> Verdict:
    """Mix against CD, from data: the share of chains that change region, and the distance."""
    claim, c, norms = "li-mix-explores", tables.LEAKINESS, (0.99, 0.999)
    sweeps, changed, toys = (np.full(20, c), annealed_leakiness(c, 20)), {}, {}
    for s in norms:
        runs = (quadrature.from_nodes(s, c, x) for x in sweeps)
        cd, mix = (np.array([share @ mass, away @ mass]) for share, away, mass in runs)
        more, ratio = 100 * (mix / cd - 1)[0], ms.measured((cd / mix)[1], 0.0, scale="log")
        changed[f"toy, s = {s:g}"] = judge.effect(claim, ms.exactly(more), direction=+1)
        toys[f"toy, s = {s:g}"] = judge.effect(claim, ratio, direction=+1)
    trained = _on_trained(claim, far, "mix", "cd")
    every = ([v.effect for v in x.values() if np.isfinite(v.effect)] for x in (toys, trained))
    on_toys, on_trained = map(span, every)
    cases = {"% more chains that change region": changed, "distance": toys | trained}
    return depends("the measure of exploring", cases).said(
        f"From data, Mix moves {span([v.effect for v in changed.values()], '{:.1f}%'.format)} "
        "more chains than CD into the other region of a toy model.",
        "But chains of Mix end farther from the model: after CD, the distance is "
        f"{on_toys} times that after Mix on toy models, and {on_trained} times on trained models.",
    )


def stability() -> Verdict:
    """AIS-Leaky against AIS-Energy with the paper's particles and steps, which decide."""
    leaky, energy = ([tables.deviation(m, j) for j in tables.UNITS] for m in tables.METHODS)
    units = [tables.unit_bias(path).relative_variance for path in ("leakiness", "energy")]
    less = judge.compare(leaky, "<", energy)
    reason = "because AIS-Energy uses many more particles and steps"
    return judge.statement("li-leaky-stable", less, reason=reason).said(
        "With the paper's numbers of particles and steps, the standard deviation is "
        f"{min(leaky):.5f} to {max(leaky):.5f} nats for AIS-Leaky and {min(energy):.5f} to "
        f"{max(energy):.5f} nats for AIS-Energy.",
        "With equal numbers and the published moves, the standard deviation of AIS-Energy is "
        f"{(units[1] / units[0]) ** 0.5:.2f} times that of AIS-Leaky.",
    )


def thousands(gaps: dict[tuple, ms.Measured]) -> Verdict:
    """Error of AIS-Leaky with 1,000 steps minus that with 3,000; ``gaps`` of trained models."""
    claim, path = "li-thousands-of-steps", (tables.NORM, tables.LEAKINESS)
    exact = [ms.exactly(30 * quadrature.linear_bias(*path, k, "leakiness")) for k in (1000, 3000)]
    errors = {TOY: exact}
    for name in dict.fromkeys(key[0] for key in gaps):
        errors[name] = [gaps[name, "AIS-Leaky", k] for k in (1000, 3000)]
    gained = {name: ms.difference(*reversed(x)) for name, x in errors.items()}
    cases = {n: judge.bound(claim, x, at_least=0.1, unit="nats") for n, x in gained.items()}
    below = [NAMED.format(listed(number(-x.value) for x in y), n) for n, y in errors.items()]
    return depends(BOUND, cases).said(
        "With 1,000 and 3,000 steps, the mean log-weight of AIS-Leaky (on the toy model, its "
        f"estimate of log Z) is too low by {listed(below)} nats."
    )


def cost(all_images: pd.DataFrame, at_bounds: pd.DataFrame) -> Verdict:
    """Cost of Mix in seconds, and of the Gaussian in all dimensions in operations."""
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
        "seconds of Mix over seconds of CD": judge.bound(claim, same, at_most=1.05),
        "operations, Gaussian over 20 sweeps": judge.bound(claim, added, at_least=0.5),
    }
    mix, _ = cases.values()
    return together(cases).said(
        f"An update by Mix takes {effect_in_words(mix)} times as long as by CD. The covariance of "
        f"the Gaussian and its Cholesky factor add {added.value:.0%} to the operations of 20 "
        "sweeps.",
        f"Drawing on the span of W alone, which the paper does not consider, adds {on_span:.0%}.",
    )


def diverges(free: pd.DataFrame, held: pd.DataFrame, by_cd20: float) -> Verdict:
    """Chains without and with projection; ``by_cd20`` is the growth for our model of Table 3."""
    claim = "li-fig5-diverges"
    over = [_ratio(runs, "mean_60", "mean_1") for runs in (free, held)]
    steeper = _ratio(free, "gradient_20", "gradient_1")
    tenfold = {"at_least": 10.0}  # growth that counts as divergence
    limits = {
        "500 units, mean visible unit after 60 sweeps over that after 1": (over[0], tenfold),
        "500 units, gradient after 20 sweeps over that after 1": (steeper, tenfold),
        "500 units, with projection": (over[1], {"at_most": 2.0}),
    }
    cases = _of_trainings(claim, limits)
    name = "our model of Table 3, size of a visible unit after 60 sweeps over that after 1"
    cases[name] = judge.bound(claim, ms.exactly(by_cd20), at_most=2.0)
    cases |= kept_verdicts("leaky_small", claim)
    free_60, held_60 = (runs["mean_60"].abs() for runs in (free, held))
    _, gradient, *_, broken = cases.values()
    return together(cases).said(
        "Without projection, the largest singular value is "
        f"{span(free['largest_singular_value'], '{:.2f}'.format)}, the size of the mean visible "
        f"unit after 60 sweeps is {span(free_60, '{:.0f}'.format)} (with projection, at most "
        f"{held_60.max():.3f}), and the gradient after 20 sweeps is {effect_in_words(gradient)} "
        "times that after 1 sweep.",
        f"With 20 hidden units, {broken.effect:.0f} of 3 training runs by CD-20, one at each of "
        "three weight decays, break down.",
    )


def tasks(free: pd.DataFrame, held: pd.DataFrame) -> Verdict:
    """Reconstruction with 500 units and classification with few, without and with projection."""
    claim = "li-projection-tasks"
    errors = [runs["reconstruction_error"].to_numpy() for runs in (free, held)]
    ratio = ms.ratio(*errors, paired=True)
    limits = {"reconstruction error, without over with projection": (ratio, {"at_most": 1.0})}
    found = together(_of_trainings(claim, limits) | kept_verdicts("leaky_small", claim))
    error, share, more = (part[1] for part in found.parts)
    return found.said(
        f"The reconstruction error without projection is {error} times that with projection. With "
        f"20 hidden units, the share of images classified correctly is {share} with projection "
        f"(by chance, 0.1), and larger by {more} without projection."
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
    units = [30 * tables.unit_bias(path).bias for path in ("leakiness", "energy")]
    extra = {TOY: ms.exactly(units[0] - units[1])}
    for name in dict.fromkeys(key[0] for key in gaps):
        extra[name] = ms.difference(*(gaps[name, method, 1000] for method in tables.METHODS))
    bias = {n: judge.effect(claim, x, direction=+1, unit="nats") for n, x in extra.items()}
    rbm, rng = orthogonal_leaky_rbm(12, 4, norm=0.9, leakiness=0.01), np.random.default_rng(seed)
    path, states = rl.LeakinessPath(rbm), rng.normal(size=(5, 4))
    ends = [path.at(beta).log_density(states) for beta in (0.0, 0.3, 1.0)]
    linear = judge.compare(ends[1], "==", 0.7 * ends[0] + 0.3 * ends[2])
    reason = "the log-density on the leakiness path is linear in β"
    same = judge.statement(claim, linear, reason=reason, ours="densities compared at 5 states")
    more = depends(BOUND, bias)
    found = together({"more bias": more, "the same path": same})
    trained = [(n, v) for n, v in bias.items() if n != TOY]
    ahead, behind = ({n: v for n, v in trained if v.effect * x > 0} for x in (1, -1))
    less = {n: v._replace(effect=-v.effect, low=-v.high, high=-v.low) for n, v in behind.items()}
    return found._replace(parts=(*more.parts, *found.parts[1:])).said(
        f"On the toy model, the bias of AIS-Energy is {effect_in_words(bias[TOY])} larger than "
        "that of AIS-Leaky. On trained models, the mean log-weight of AIS-Energy is farther from "
        f"log Z by {by_case(ahead, NAMED)}, but that of AIS-Leaky by {by_case(less, NAMED)}.",
        "From the same Gaussian, the two paths are identical.",
    )
