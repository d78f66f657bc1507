"""J of schedules from exact slopes; verdicts on theorem 1, equation (9), the ESS and Figure 1."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable
from functools import partial

import numpy as np
import pandas as pd
from scipy.interpolate import PchipInterpolator

import rbmlib as rl
from rbmlib import schedules
from rbmlib.numerics import cut

from .. import judge
from .. import measured as ms
from ..measured import Measured, factor
from ..sweeps.words import PATHS
from ..verdicts import Verdict, depends, effect_in_words, together
from .runs import BASES, MODELS, found, papers_name, printed_ess, printed_spread, variance

TENDS = {"margin": 1.25, "reason": "a change of 12% in the standard error"}
INVERSE = {"margin": 1.5, "reason": "an exponent within 0.2 of 1"}


# J from g, the variance of slopes, as `experiments.kiwaki2015.slope_variance` finds it ---------


def curve(betas, g, n_points: int = 2001) -> tuple[np.ndarray, np.ndarray]:
    """A fine grid, and g on this grid by monotone interpolation of log g between the betas."""
    grid = np.linspace(0.0, 1.0, n_points)
    return grid, np.exp(PchipInterpolator(betas, np.log(g))(grid))


def functional(betas, grid, g) -> float:
    """Kiwaki's J of a schedule: K times the variance of log-weights with perfect transitions."""
    steps, middles = np.diff(betas), (betas[1:] + betas[:-1]) / 2
    return float(steps.size * np.sum(steps**2 * np.interp(middles, grid, g)))


def varopt(n_temperatures: int, grid, g) -> np.ndarray:
    """The schedule with the smallest J: its steps have equal thermodynamic lengths."""
    root = np.sqrt(g)
    return cut(grid, np.diff(grid) * (root[1:] + root[:-1]) / 2, n_temperatures)


def gms13(n_temperatures: int, betas, means, n_knots: int = 10) -> np.ndarray:
    """`rbmbook.schedules.gms13` from known means of the slopes along the path."""
    knots = np.linspace(0.0, 1.0, n_knots)
    at_knots = PchipInterpolator(betas, means)(knots)
    return cut(knots, np.sqrt(np.maximum(np.diff(knots) * np.diff(at_knots), 0)), n_temperatures)


def between(one, other) -> float:
    """The area, 0 to 1, between the curves of two schedules with equally many steps."""
    return float(np.trapezoid(np.abs(np.subtract(one, other)), dx=1 / (len(one) - 1)))


def schedules_of(betas, g, means, n_temperatures: int = 2000) -> dict[str, np.ndarray]:
    """Schedules of a path from its g and mean slopes at some betas, in rising order."""
    return {
        "linear": schedules.linear(n_temperatures),
        "SM08": schedules.sm08(n_temperatures),
        "GMS13": gms13(n_temperatures, betas, means),
        "VAROPT": varopt(n_temperatures, *curve(betas, g)),
    }


def _mean(rows: pd.DataFrame, kind: str, dependent: bool = False) -> Measured:
    """Mean of a column of positive numbers, on the scale "log"; ``dependent`` errors add up."""
    total, errors = rows[kind].sum(), rows[f"{kind}_error"]
    error = errors.sum() if dependent else np.hypot.reduce(errors)
    return ms.measured(rows[kind].mean(), error / total, scale="log")


def falls_with_ess(few: float, many: float, seed: int, n: int = 1000) -> dict[str, Measured]:
    """Factors by which two variances fall when the ESS of ``n`` chains rises from few to many.

    Log-weights are normal, and the averaged function is independent of the weights.
    """
    draws = np.random.default_rng(seed)

    def means(ess: float) -> np.ndarray:
        weights = np.exp(math.sqrt(math.log(n / ess)) * draws.normal(size=(4000, n)))
        shares = weights / weights.sum(axis=1, keepdims=True)
        return (shares * draws.normal(size=shares.shape)).sum(axis=1)

    root = ms.rmse_ratio(means(few), means(many), paired=False)
    squared = ms.measured(math.exp(2 * root.value), 2 * root.std_error, root.freedom, "log")
    of_z = ms.measured((n / few - 1) / (n / many - 1), 0.0, scale="log")
    return {"of a weighted mean": squared, "of Z": of_z}


class ExactPaths:
    """Schedules by (model, base), from a table of the results of `slope_variance`."""

    def __init__(self, table, bases):
        rows = table[table["base"].isin(bases)].sort_values("beta")
        columns = ["beta", "g", "g_error", "mean_slope"]
        self.slopes = {x: of[columns].to_numpy().T for x, of in rows.groupby(["model", "base"])}
        self.paths = {x: schedules_of(b, g, means) for x, (b, g, _, means) in self.slopes.items()}

    def effect(self, case: tuple[str, str], effect: Callable[[dict], float]) -> Measured:
        """A logarithm, and its standard error from 50 random draws of g within its errors."""
        betas, g, errors, means = self.slopes[case]
        rng, relative = np.random.default_rng(0), errors / g
        drawn = [
            effect(schedules_of(betas, g * np.exp(relative * rng.normal(size=len(g))), means))
            for _ in range(50)
        ]
        return ms.measured(effect(self.paths[case]), np.std(drawn, ddof=1))._replace(scale="log")


def farther(p: dict, one: str, from_one: str, from_other: str) -> float:
    """log of the area between one schedule and a second, divided by that between it and a third."""
    far = [between(p[one], p[x]) for x in (from_one, from_other)]
    return float(np.log(far[0]) - np.log(far[1]))


def _over_j(scaled: pd.DataFrame, kind: str) -> Measured:
    """K times the variance, divided by J, over the rows with 60 steps and more."""
    many = scaled[scaled["steps"] >= 60]
    return ms.minus(_mean(many, kind), _mean(many, "j", dependent=True))  # J is that of one pilot


def theorem_1(scaled: pd.DataFrame) -> Verdict:
    ratio = _over_j(scaled, "perfect")
    return judge.equivalence("kiwaki-theorem1", ratio, **TENDS).said(
        f"With exact draws, K Var[log w] is {factor(ratio)} times J.",
        "The factor is a mean over equal steps and VAROPT with K from 60 to 540.",
        "a random model of 40 × 8 units",
    )


def dominates(scaled: pd.DataFrame, runs, predicted) -> Verdict:
    """The column "perfect" of ``predicted`` has J / K of equal steps on four of the models."""
    linear = predicted[predicted["schedule"] == "linear"].set_index("model")["perfect"]

    def judged(ratio: Measured) -> Verdict:
        return judge.bound("kiwaki-j-dominates", ratio, at_most=2.0)

    perfect, toy, trained = _over_j(scaled, "perfect"), _over_j(scaled, "gibbs"), {}
    for model in MODELS:
        if (j := linear.get(model)) is None:
            pilot = _pilot(model, BASES[0])
            j = schedules.predicted_variance(pilot, schedules.linear(100_000))
        v = variance(found(runs, model, "LINEAR"))
        trained[papers_name(model)] = v._replace(value=v.value - math.log(j))
    gibbs = {name: judged(ratio) for name, ratio in {"40 × 8": toy, **trained}.items()}
    cases = {"perfect transitions": judged(perfect), "Gibbs sweeps": together(gibbs)}
    parts = {"perfect transitions, 40 × 8": judged(perfect)}
    parts |= {f"Gibbs sweeps, {name}": verdict for name, verdict in gibbs.items()}
    least, most = (end(trained, key=lambda model: trained[model].value) for end in (min, max))
    on = "the transitions, and with Gibbs sweeps on the model"
    verdict = depends(on, cases)._replace(parts=together(parts).parts)
    return verdict.said(
        f"With 40 × 8 units, K Var[log w] is {factor(perfect)} times J with perfect transitions "
        f"and {factor(toy)} times J with Gibbs sweeps.",
        f"On six trained models, Gibbs sweeps give {factor(trained[least])} times J ({least}) to "
        f"{effect_in_words(gibbs[most])} times J ({most}).",
    )


def _pilot(model: str, base: str) -> rl.Estimate:
    path = PATHS["geometric"](rl.load_rbm(model), base=base)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", rl.ConvergenceWarning)  # its slopes are used, not its value
        return rl.ais(path, schedules.linear(1000), 100, 2015, slopes=True)


def inverse_k(scaled: pd.DataFrame, runs) -> Verdict:
    def on_the_toy(kind: str) -> Measured:
        return ms.minus(*(_mean(scaled[scaled["steps"] == k], kind) for k in (540, 60)))

    ratios = {
        "perfect transitions, 40 × 8": on_the_toy("perfect"),
        "Gibbs sweeps, 40 × 8": on_the_toy("gibbs"),
    }
    for model in MODELS:
        tenfold = ms.minus(*(variance(found(runs, model, "LINEAR", k)) for k in (100_000, 10_000)))
        tenfold = tenfold._replace(value=tenfold.value + math.log(10))
        ratios[f"Gibbs sweeps, {papers_name(model)}"] = tenfold
    cases = judge.each(judge.equivalence, "kiwaki-inverse-k", ratios, **INVERSE)
    perfect, pcd_20 = ratios["perfect transitions, 40 × 8"], ratios["Gibbs sweeps, PCD(20)"]
    on = "the transitions, and with Gibbs sweeps on the model and on how large K has to be"
    return depends(on, cases).said(
        f"With perfect transitions, K Var[log w] changes by a factor of {factor(perfect)} from "
        "K = 60 to 540 (40 × 8 units).",
        f"With Gibbs sweeps, K Var[log w] changes by a factor of {factor(pcd_20)} from K = 10,000 "
        "to 100,000 on PCD(20).",
    )


def equation_9(pilot: rl.Estimate) -> Verdict:
    """J of the solution of eq. (9) and of fifty curves that bend away from it."""
    grid, g = schedules.slope_variance(pilot, 5.0)
    best, t = schedules.varopt(pilot, 1000), np.linspace(0, 1, 1001)
    bends = (size * np.sin(np.pi * t) / np.pi for size in np.linspace(-0.5, 0.5, 50))
    others = np.array([functional(np.interp(t + bend, t, best), grid, g) for bend in bends])
    least = functional(best, grid, g)
    return judge.statement(
        "kiwaki-eq9",
        judge.compare(others, ">", least),
        reason="by the Cauchy-Schwarz inequality, because the solution has constant β̇² g(β)",
        ours=f"The solution has J = {least:.5g} nats². Fifty schedules that bend away from it have "
        f"J from {others.min():.5g} to {others.max():.5g} nats².",
    )


def ess_variance(seed: int) -> Verdict:
    few, many = (printed_ess("pcd_20", label) for label in ("LINEAR", "VAROPT"))
    due = ms.measured(many / few, 0.0, scale="log")
    fall = falls_with_ess(few, many, seed)
    off = {which: ms.minus(ratio, due) for which, ratio in fall.items()}
    cases = judge.each(judge.equivalence, "kiwaki-ess-variance", off, **TENDS)
    of_mean, of_z = map(factor, fall.values())
    return depends("which variance is meant, and for Z on the ESS", cases).said(
        f"If the ESS of 1,000 chains rises by a factor of {many / few:.2f}, from {few:.0f} to "
        f"{many:.0f} as printed for PCD(20), the variance falls by a factor of {of_mean} for a "
        f"weighted mean and of {of_z} for Z.",
        "The variance for Z is proportional to 1/ESS − 1/1000.",
    )


def ess_reliable(runs) -> Verdict:
    labels = ("LINEAR", "GMS13", "VAROPT0.009")
    ours = pd.concat([found(runs, "cd1_20", label, base="own biases") for label in labels])
    error = np.sqrt(1 / ours["ess"] - 1 / ours["n_chains"])
    missed = ms.mean_square((ours["log_z"] - ours["truth"]) / error, len(ours))
    judged = partial(judge.bound, "kiwaki-ess-reliable", at_least=0.25, at_most=4)
    spread = printed_spread()
    return judged(spread).said(
        "The mean squared error of the 36 printed estimates is "
        f"{factor(spread)} times the variance that their ESS imply.",
        f"In our {len(ours)} runs on CD1(20) from own biases, this factor is "
        f"{effect_in_words(judged(missed))}, because no chain enters some states.",
    )


def pilot_cost(main) -> Verdict:
    """100 chains of 1,000 steps, divided by the chain-steps of runs with the chains of ``main``."""
    shares = {k: 100 * 1000 / main["n_chains"] / k for k in (1000, 3000, 10_000, 30_000, 100_000)}
    exact = {f"{k:,}": ms.exactly(share) for k, share in shares.items()}
    cases = judge.each(judge.bound, "kiwaki-pilot-cost", exact, "K = {}", at_most=0.05)
    return depends("K of the main run", cases).said(
        f"The pilot costs {shares[100_000]:.1%} of a run with K = 100,000 (Tables 1 and 2) and "
        f"{shares[1000]:.0%} of a run with K = 1,000, the smallest in the figures."
    )


def figure_1(paths: ExactPaths) -> list[Verdict]:
    """Is GMS13 nearer to equal steps than to VAROPT, and is VAROPT nearer to SM08 than to them?"""
    rates = {"pcd_20": "learning rate 0.02", "pcd_20, rate 0.002": "learning rate 0.002"}

    def by_base(name, one, other, direction, more: dict[str, Verdict], words="") -> Verdict:
        cases, ours = {base: {"500 units": verdict} for base, verdict in more.items()}, {}
        for model, base in paths.paths:
            if model in rates:
                far = paths.effect((model, base), lambda p: farther(p, one, other, "linear"))
                judged = judge.effect(name, far, direction=direction)
                cases.setdefault(base, {})[rates[model]] = judged
                ours[model, base] = factor(far)
        first, second = (ours["pcd_20", base] for base in BASES)
        return depends("the base", cases).said(
            f"The distance of {one} from {other}, divided by its distance from LINEAR, is {first} "
            f"from the {BASES[0]} and {second} from {BASES[1]} (PCD(20), learning rate 0.02).",
            words,
        )

    def of_500(base: str) -> Verdict:
        p = {"SM08": schedules.sm08(2000), "linear": schedules.linear(2000)}
        p["VAROPT"] = schedules.varopt(_pilot("pcd_500", base), 2000)
        far = math.exp(farther(p, "VAROPT", "SM08", "linear"))
        nearer, ours = judge.compare(far, "<", 1), f"{far:.1f}"
        return judge.statement("kiwaki-fig1-sm08", nearer, reason="by one pilot", ours=ours)

    alike = {base: of_500(base) for base in BASES}
    words = f"On PCD(500), it is {' and '.join(v.ours for v in alike.values())}."
    return [
        by_base("kiwaki-fig1-gms13", "GMS13", "VAROPT", +1, {}),
        by_base("kiwaki-fig1-sm08", "VAROPT", "SM08", -1, alike, f"{words} LINEAR is nearer."),
    ]
