"""J of schedules from exact slopes; verdicts on theorem 1, equation (9), the ESS and Figure 1."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pandas as pd
from scipy.interpolate import PchipInterpolator

import rbmlib as rl
from rbmlib import schedules
from rbmlib.numerics import cut

from .. import judge
from .. import measured as ms
from ..measured import Measured
from ..page import over
from ..tables import listed
from ..verdicts import Verdict, depends, together
from .runs import BASES, MODELS, TWENTY, found, papers_name, printed_ess, printed_spread, variance

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


def with_error(effect, betas, g, errors, means, n_repeats: int = 50) -> tuple[float, float]:
    """``effect(schedules_of)`` and its standard error, from random draws of g within its errors."""
    rng = np.random.default_rng(0)
    relative = np.asarray(errors) / g
    drawn = [
        effect(schedules_of(betas, g * np.exp(relative * rng.normal(size=len(g))), means))
        for _ in range(n_repeats)
    ]
    return effect(schedules_of(betas, g, means)), float(np.std(drawn, ddof=1))


def _mean(rows: pd.DataFrame, kind: str, dependent: bool = False) -> Measured:
    """Mean of a column of positive numbers, on the scale "log"; ``dependent`` errors add up."""
    total, errors = rows[kind].sum(), rows[f"{kind}_error"]
    error = errors.sum() if dependent else np.hypot.reduce(errors)
    return ms.measured(rows[kind].mean(), error / total, scale="log")


def bent_functionals(pilot: rl.Estimate, sizes) -> tuple[float, np.ndarray]:
    """J of the solution of eq. (9) and of curves that bend away from the solution by ``sizes``."""
    grid, g = schedules.slope_variance(pilot, 5.0)
    best, t = schedules.varopt(pilot, 1000), np.linspace(0, 1, 1001)

    def bent(size: float) -> float:
        betas = np.interp(t + size * np.sin(np.pi * t) / np.pi, t, best)
        return functional(betas, grid, g)

    return bent(0.0), np.array([bent(size) for size in sizes])


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
        self.slopes = {
            case: found[columns].to_numpy().T for case, found in rows.groupby(["model", "base"])
        }
        self.paths = {
            case: schedules_of(beta, g, slope) for case, (beta, g, _, slope) in self.slopes.items()
        }

    def effect(
        self, case: tuple[str, str], effect: Callable[[dict], float], scale: str = "linear"
    ) -> Measured:
        """The value of ``effect`` with its standard error; a logarithm if ``scale`` is "log"."""
        found = with_error(effect, *self.slopes[case])
        return ms.measured(*found)._replace(scale=scale)


def farther(p: dict, one: str, from_one: str, from_other: str) -> float:
    """log of the area between one schedule and a second, divided by that between it and a third."""
    far = [between(p[one], p[x]) for x in (from_one, from_other)]
    return float(np.log(far[0]) - np.log(far[1]))


def _over_j(scaled: pd.DataFrame, kind: str) -> Measured:
    """K times the variance, divided by J, over the rows with 60 steps and more."""
    many = scaled[scaled["steps"] >= 60]
    return over(_mean(many, kind), _mean(many, "j", dependent=True))  # J is that of one pilot


def theorem_1(scaled: pd.DataFrame) -> Verdict:
    ratio = _over_j(scaled, "perfect")
    return judge.equivalence("kiwaki-theorem1", ratio, **TENDS).said(
        f"With perfect transitions, K Var[log w] is {math.exp(ratio.value):.2f} times J.",
        "The ratio is a mean over K from 60 to 540.",
    )


def dominates(scaled: pd.DataFrame, runs, predicted) -> Verdict:
    """The column "perfect" of ``predicted`` has J / K of equal steps on trained models."""

    def judged(ratio: Measured) -> Verdict:
        return judge.bound("kiwaki-j-dominates", ratio, at_most=2.0)

    times = {"40 × 8": _over_j(scaled, "gibbs")}
    for row in predicted[predicted["schedule"] == "linear"].itertuples():
        v = variance(found(runs, row.model, "LINEAR"))
        times[papers_name(row.model)] = v._replace(value=v.value - math.log(row.perfect))
    perfect = _over_j(scaled, "perfect")
    factors = [math.exp(m.value) for m in times.values()]
    cases = {
        "perfect transitions, 40 × 8": judged(perfect),
        "Gibbs sweeps": together({name: judged(ratio) for name, ratio in times.items()}),
    }
    return depends("the transitions", cases).said(
        f"With Gibbs sweeps, K Var[log w] is {min(factors):.1f} to {max(factors):.0f} times J.",
        f"With perfect transitions, K Var[log w] is {math.exp(perfect.value):.2f} times J.",
        "40 × 8 units; pcd_20, cd1_20, cd25_20, pcd_500 at K = 100,000",
    )


def inverse_k(scaled: pd.DataFrame, runs) -> Verdict:
    def judged(ratio: Measured) -> Verdict:
        return judge.equivalence("kiwaki-inverse-k", ratio, **INVERSE)

    def on_the_toy(kind: str) -> Verdict:
        return judged(over(*(_mean(scaled[scaled["steps"] == k], kind) for k in (540, 60))))

    tenfold = {}
    for model in MODELS:
        ratio = over(*(variance(found(runs, model, "LINEAR", k)) for k in (100_000, 10_000)))
        tenfold[papers_name(model)] = ratio._replace(value=ratio.value + math.log(10))
    falls = listed(f"{10 / math.exp(m.value):.1f} on {x}" for x, m in tenfold.items())
    cases = {
        "perfect transitions, 40 × 8": on_the_toy("perfect"),
        "Gibbs sweeps, 40 × 8": on_the_toy("gibbs"),
    }
    for name, ratio in tenfold.items():
        cases[f"Gibbs sweeps, {name}, K = 10,000 to 100,000"] = judged(ratio)
    return depends("the model and on what counts as a large K", cases).said(
        f"With Gibbs sweeps, a tenfold increase of K reduces the variance by a factor of {falls}.",
        "With 40 × 8 units, it falls as 1/K with perfect transitions and with Gibbs sweeps.",
        f"{', '.join(MODELS)}; a random model of 40 × 8 units",
    )


def equation_9(pilot: rl.Estimate) -> Verdict:
    least, others = bent_functionals(pilot, np.linspace(-0.5, 0.5, 50))
    return judge.statement(
        "kiwaki-eq9",
        judge.compare(others, ">", least),
        reason="the solution has constant speed in thermodynamic length",
        ours=f"The solution has J = {least:.5g} nats².",
    ).said(
        words=f"Fifty curves that bend away from the solution have J ≥ {others.min():.5g} nats²."
    )


def ess_variance(seed: int) -> Verdict:
    few, many = (printed_ess("pcd_20", label) for label in ("LINEAR", "VAROPT"))
    due = ms.measured(many / few, 0.0, scale="log")
    fall = falls_with_ess(few, many, seed)
    cases = {
        which: judge.equivalence("kiwaki-ess-variance", over(ratio, due), **TENDS)
        for which, ratio in fall.items()
    }
    of_mean, of_z = (f"{math.exp(m.value):.2f}" for m in fall.values())
    return depends("which variance is meant", cases).said(
        f"If the ESS rises by a factor of {many / few:.2f}, from {few:.0f} to {many:.0f} of 1,000, "
        f"the variance falls by a factor of {of_mean} for a weighted mean and of {of_z} for Z."
    )


def ess_reliable() -> Verdict:
    spread = printed_spread()
    mean, free = math.exp(spread.value), spread.freedom
    return judge.bound("kiwaki-ess-reliable", spread, at_least=0.25, at_most=4).said(
        "The squared errors of the 36 printed estimates, each divided by the variance that its ESS "
        f"implies, have the sum {mean * free:.1f}. Divided by its {free:.0f} degrees of freedom, "
        f"it is {mean:.2f}.",
        "If the ESS are reliable, this ratio is about 1.",
    )


def pilot_cost(main) -> Verdict:
    """Cost of 100 chains of 1,000 steps, relative to a stored main run."""
    part = ms.exactly(100 * 1000 / (main["n_chains"] * main["n_temperatures"]))
    return judge.bound("kiwaki-pilot-cost", part, at_most=0.05).said(
        f"At K = 100,000 (Tables 1 and 2), the pilot makes {part.value:.1%} of the steps of a run.",
        "At K = 1,000, this share is 10%.",
    )


def figure_1(paths: ExactPaths) -> list[Verdict]:
    """Is GMS13 nearer to equal steps than to VAROPT, and is VAROPT nearer to SM08 than to them?"""

    def by_base(name, one, other, direction) -> Verdict:
        def effect(p):
            return farther(p, one, other, "linear")

        cases = {
            base: {
                papers_name(model): judge.effect(
                    name, paths.effect((model, base), effect, "log"), direction=direction
                )
                for model in TWENTY
            }
            for base in BASES
        }
        first, second = (math.exp(effect(paths.paths["pcd_20", base])) for base in BASES)
        return depends("the base", cases).said(
            f"On PCD(20), the distance of {one} from {other}, divided by its distance from equal "
            f"steps, is {first:.2f} with the {BASES[0]} and {second:.2f} with {BASES[1]}.",
            models=", ".join(TWENTY),
        )

    return [
        by_base("kiwaki-fig1-gms13", "GMS13", "VAROPT", +1),
        by_base("kiwaki-fig1-sm08", "VAROPT", "SM08", -1),
    ]
