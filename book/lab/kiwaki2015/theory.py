"""Theorem 1 on a model that can be enumerated, equation (9), the ESS and Figure 1: verdicts."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

import numpy as np

import rbmlib as rl
from rbmlib import schedules

from .. import exact_slopes, judge
from .. import measured as ms
from ..exact_slopes import OnPath
from ..measured import Measured, bootstrap_log_weights
from ..page import over
from ..verdicts import Verdict, depends, together
from .runs import BASES, TWENTY, found, papers_name, printed_ess, printed_spread, variance

TENDS = {"margin": 1.25, "reason": "12% of an error bar"}
INVERSE = {"margin": 1.5, "reason": "an exponent within 0.2 of 1"}


class PerfectPath(rl.GeometricPath):
    """Transitions that draw from p_beta itself."""

    def transition(self, v, beta, rng):
        draws = np.random.default_rng(int(2**52 * rng.random((len(v), 1))[0, 0]))
        return rl.sample(self.at(beta), len(v), draws).states


class Scaled(NamedTuple):
    """K times the variance of log-weights along one schedule, and what it should tend to."""

    schedule: str
    steps: int
    j: Measured
    perfect: Measured
    gibbs: Measured


def scaled_variances(n_chains: int, seed: int) -> list[Scaled]:
    """Theorem 1 on a model of 40 × 8 units, along equal steps and VAROPT, at four K each.

    J is that of one long pilot, whose error is the spread of four of an eighth of its work.
    """
    small = rl.testsystems.random_rbm(n_visible=40, n_hidden=8, coupling=8.0, rng=1)
    perfect, gibbs = PerfectPath(small, base=np.zeros(40)), rl.GeometricPath(small, np.zeros(40))

    def recorded(k, n, seed):
        return rl.ais(perfect, schedules.linear(k), n, seed, n_recorded=k + 1, slopes=True)

    with rl.using(independent_check=False):
        pilot = recorded(200, 1000, seed)
        others = [recorded(100, 250, seed + i) for i in range(4)]
    found = []
    for name, steps in ((x, k) for x in ("linear", "VAROPT") for k in (20, 60, 180, 540)):
        betas = schedules.linear(steps) if name == "linear" else schedules.varopt(pilot, steps)
        j, *spread = (steps * schedules.predicted_variance(p, betas) for p in (pilot, *others))
        error = float(np.std(spread, ddof=1)) / math.sqrt(8)
        variances = [
            variance_of(rl.ais(path, betas, n * n_chains, seed + steps), seed, steps)
            for path, n in ((perfect, 5), (gibbs, 25))
        ]
        found.append(Scaled(name, steps, ms.measured(j, error, len(spread) - 1), *variances))
    return found


def variance_of(run: rl.Estimate, rng, times: float) -> Measured:
    """``times`` the variance of the log-weights of a run, with the error of the bootstrap."""
    low, high = bootstrap_log_weights(run.log_weights, rng=rng)["variance"]
    value = times * float(np.var(run.log_weights, ddof=1))
    return ms.measured(value, times * (high - low) / (2 * 1.96))


def mean_of(values: Iterable[Measured], dependent: bool = False) -> Measured:
    """The mean of positive numbers, on the scale "log"; ``dependent`` errors add up unsquared."""
    every = list(values)
    total, errors = sum(m.value for m in every), [m.std_error for m in every]
    error = sum(errors) if dependent else math.hypot(*errors)
    return ms.measured(total / len(every), error / total, scale="log")


def bent_functionals(pilot: rl.Estimate, sizes) -> tuple[float, np.ndarray]:
    """J of the solution of eq. (9), and of curves that bend away from it by ``sizes``."""
    grid, g = schedules.slope_variance(pilot, 5.0)
    best, t = schedules.varopt(pilot, 1000), np.linspace(0, 1, 1001)

    def functional(size: float) -> float:
        betas = np.interp(t + size * np.sin(np.pi * t) / np.pi, t, best)
        g_between = np.interp((betas[1:] + betas[:-1]) / 2, grid, g)
        return float(1000 * (np.diff(betas) ** 2 * g_between).sum())

    return functional(0.0), np.array([functional(size) for size in sizes])


def falls_with_ess(few: float, many: float, seed: int, n: int = 1000) -> dict[str, Measured]:
    """By what factor two variances fall when the ESS of ``n`` chains rises from few to many.

    Log-weights are normal; the mean is of a function that has nothing to do with the weights.
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
    """Paths by (model, base) from a table of what `exact_slopes.slope_variance` gives."""

    def __init__(self, table, bases):
        rows = table[table["base"].isin(bases)].sort_values("beta")
        columns = ["beta", "g", "g_error", "mean_slope"]
        self.slopes = {
            case: found[columns].to_numpy().T for case, found in rows.groupby(["model", "base"])
        }
        self.paths = {
            case: exact_slopes.on_path(beta, g, slope)
            for case, (beta, g, _, slope) in self.slopes.items()
        }

    def effect(
        self, case: tuple[str, str], effect: Callable[[OnPath], float], scale: str = "linear"
    ) -> Measured:
        """A number of a path with its standard error from those of g; a logarithm for "log"."""
        found = exact_slopes.with_error(effect, *self.slopes[case])
        return ms.measured(*found)._replace(scale=scale)


def departure(p: OnPath) -> float:
    """How far VAROPT is above equal steps, over how far SM08 is: areas, with sign."""
    above = [np.mean(p.betas[x] - p.betas["linear"]) for x in ("VAROPT", "SM08")]
    return float(above[0] / above[1])


def nearness(p: OnPath) -> float:
    """log of GMS13's distance from VAROPT over its distance from equal steps: areas."""
    far = [exact_slopes.between(p.betas["GMS13"], p.betas[x]) for x in ("VAROPT", "linear")]
    return float(np.log(far[0]) - np.log(far[1]))


def _over_j(scaled: Sequence[Scaled], kind: str) -> Measured:
    """K times the variance over J, of the rows with 60 steps and more."""
    many = [s for s in scaled if s.steps >= 60]
    j = mean_of([s.j for s in many], dependent=True)  # of one pilot
    return over(mean_of([getattr(s, kind) for s in many]), j)


def theorem_1(scaled: Sequence[Scaled]) -> Verdict:
    ratio = _over_j(scaled, "perfect")
    return judge.equivalence("kiwaki-theorem1", ratio, **TENDS).said(
        f"{math.exp(ratio.value):.2f} times J", "with perfect transitions, K from 60 to 540"
    )


def dominates(scaled: Sequence[Scaled], runs, predicted) -> Verdict:
    """``predicted`` has J over K, in the column "perfect", of equal steps on trained models."""

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
        f"{min(factors):.1f} to {max(factors):.0f} times J with Gibbs sweeps",
        f"{math.exp(perfect.value):.2f} times J with perfect transitions",
        "40 × 8 units; pcd_20, cd1_20, cd25_20, pcd_500 at K = 100,000",
    )


def inverse_k(scaled: Sequence[Scaled], runs) -> Verdict:
    def judged(ratio: Measured) -> Verdict:
        return judge.equivalence("kiwaki-inverse-k", ratio, **INVERSE)

    def on_the_toy(kind: str) -> Verdict:
        ends = ([getattr(s, kind) for s in scaled if s.steps == k] for k in (540, 60))
        return judged(over(*map(mean_of, ends)))

    tenfold = {}
    for model in (*TWENTY, "pcd_500"):
        ratio = over(*(variance(found(runs, model, "LINEAR", k)) for k in (100_000, 10_000)))
        tenfold[papers_name(model)] = ratio._replace(value=ratio.value + math.log(10))
    falls = ", ".join(f"{10 / math.exp(m.value):.1f}" for m in tenfold.values())
    trained = together({name: judged(ratio) for name, ratio in tenfold.items()})
    cases = {
        "perfect transitions, 40 × 8": on_the_toy("perfect"),
        "Gibbs sweeps, 40 × 8": on_the_toy("gibbs"),
        "Gibbs sweeps, trained models, K = 10,000 to 100,000": trained,
    }
    return depends("the transitions, and on from which K", cases).said(
        f"falls by factors of {falls} for a tenfold K on {', '.join(tenfold)}",
        "as 1/K on a model of 40 × 8 units, with either kind of transitions",
        "pcd_20, cd1_20, cd25_20, pcd_500; a random model of 40 × 8 units",
    )


def equation_9(pilot: rl.Estimate) -> Verdict:
    least, others = bent_functionals(pilot, np.linspace(-0.5, 0.5, 50))
    return judge.statement(
        "kiwaki-eq9",
        judge.compare(others, ">", least),
        reason="its first integral is constant speed in thermodynamic length",
        ours=f"J = {least:.4g} nats²",
    ).said(words=f"fifty curves that bend away from it have {others.min():.4g} and more")


def ess_variance(seed: int) -> Verdict:
    few, many = (printed_ess("pcd_20", label) for label in ("LINEAR", "VAROPT"))
    due = ms.measured(many / few, 0.0, scale="log")
    fall = falls_with_ess(few, many, seed)
    cases = {
        which: judge.equivalence("kiwaki-ess-variance", over(ratio, due), **TENDS)
        for which, ratio in fall.items()
    }
    said = (f"{math.exp(m.value):.2f} ({which})" for which, m in fall.items())
    return depends("which variance is meant", cases).said(
        f"falls by {' and '.join(said)}",
        f"where the ESS rises by {many / few:.2f}, from {few:.0f} to {many:.0f} of 1,000",
    )


def ess_reliable() -> Verdict:
    spread = printed_spread()
    return judge.bound("kiwaki-ess-reliable", spread, at_least=0.25, at_most=4).said(
        f"mean square {math.exp(spread.value):.2f}",
        "of 36 printed estimates' distances, in the errors that their ESS imply",
    )


def pilot_cost(main) -> Verdict:
    """Of 100 chains of 1,000 steps beside a stored run of the main annealing."""
    part = ms.exactly(100 * 1000 / (main["n_chains"] * main["n_temperatures"]))
    return judge.bound("kiwaki-pilot-cost", part, at_most=0.05).said(
        f"{part.value:.1%} of the chain-steps at K = 100,000", "and a tenth at K = 1,000"
    )


def figure_1(paths: ExactPaths) -> list[Verdict]:
    """GMS13 is nearer to equal steps than to VAROPT; VAROPT lies above them as SM08 does."""

    def by_base(name, effect, scale="linear", **more) -> Verdict:
        cases = {
            base: {
                papers_name(model): judge.effect(
                    name, paths.effect((model, base), effect, scale), direction=1, **more
                )
                for model in TWENTY
            }
            for base in BASES
        }
        at = [effect(paths.paths["pcd_20", base]) for base in BASES]
        first, second = (math.exp(x) if scale == "log" else x for x in at)
        ours = f"{first:.2f} from the {BASES[0]}, {second:.2f} from {BASES[1]}"
        return depends("the base", cases).said(ours, models=", ".join(TWENTY))

    linear = by_base("kiwaki-fig1-gms13", nearness, "log")
    hand_made = by_base("kiwaki-fig1-sm08", departure, size=(0.5, math.inf))
    return [
        linear.said(words="PCD(20): GMS13's distance from VAROPT over that from equal steps"),
        hand_made.said(words="PCD(20): VAROPT's area above equal steps over that of SM08"),
    ]
