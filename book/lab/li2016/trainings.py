"""Training runs of leaky and Bernoulli-Gaussian RBMs, and verdicts that compare them.

Verdicts use the test log-likelihoods of several runs with different seeds, at both limits of log Z.
The learning rate has the highest log-likelihood of other images, with a seed that does not count.
"""

from __future__ import annotations

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from rbmlib import datasets

from .. import judge, tables
from .. import measured as ms
from ..page import pm
from ..plots import BLUE, GREEN, ORANGE, RED
from ..verdicts import CONTRADICTED, Verdict, depends, effect_in_words, together

METHODS = {"cd": "CD", "mix": "Mix", "leaky": "Leaky", "pcd": "PCD"}
CD, MIX, LEAKY = "leaky, CD", "leaky, Mix", "leaky, Leaky"
GB = "Bernoulli-Gaussian, CD"
FALLING = ", falling rate"
LEAST = {"matters": 2.0, "reason": "a small part of the hundreds of nats that training gains"}
LEAST |= {"direction": +1}
ORDER = [*(f"leaky, {name}" for name in METHODS.values()), CD + FALLING, GB, GB + FALLING]
ORDER += [f"{GB}-1", f"{GB}-40"]
LEAD = 1517  # nats of the leaky RBM over the Bernoulli-Gaussian RBM in Table 3, on CIFAR-10
RUN_SECONDS = 62  # of a training run with 500 units on all images, with its score
ENDS = "high", "low"
LOOKS = {"cd": (GREEN, 4.0), "mix": (BLUE, 2.0), "leaky": (ORANGE, 1.2)}
SWEEPS = 1, 5, 10, 20, 40, 60  # of the columns "mean_<k>" of the sweep ``leaky_divergence``


def best_rates(tried: pd.DataFrame) -> pd.Series:
    """Best learning rates in ``leaky_figure4`` by method and bound, from seed 0 only."""
    first = tried[tried["seed"] == 0]
    tuning = first[["tuning_low", "tuning_high"]].mean(axis=1)
    rows = first.assign(tuning=tuning).groupby(["method", "largest"])["tuning"].idxmax()
    return first.loc[rows].set_index(["method", "largest"])["learning_rate"]


class Trainings:
    """Scored training runs of both models with one number of hidden units, by model and method."""

    def __init__(self, stored: pd.DataFrame):
        tuning = stored[["tuning_low", "tuning_high"]].mean(axis=1)
        self.table = stored.assign(name=_names(stored), tuning=tuning)
        first = self.table[self.table["seed"] == 0]
        by_rate = first.pivot(index="name", columns="learning_rate", values="tuning")
        given = self.table.groupby("name")["learning_rate"].first()  # for kinds without tuning
        self.rates = by_rate.idxmax(axis=1).reindex(given.index).fillna(given)

    def of(self, name: str, end: str = "high") -> pd.Series:
        """Test log-likelihoods of the runs that count, with the "high" or "low" limit of log Z."""
        rows = self.table[(self.table["name"] == name) & (self.table["seed"] > 0)]
        rows = rows[rows["learning_rate"] == self.rates.get(name)].sort_values("seed")
        return rows.set_index("seed")[f"test_{end}"]

    def ahead(self, one: str, other: str, end: str = "high") -> ms.Measured:
        """Mean log-likelihood of one kind of training run minus another's, paired by seed."""
        a, b = self.of(one, end), self.of(other, end)
        return ms.mean_of(a - b) if a.index.equals(b.index) else ms.difference(a, b)

    def verdict(self, claim: str, one: str, other: str, judged=judge.effect, **how) -> Verdict:
        """Is the first kind ahead at both limits of log Z? Open if a training run broke down."""
        counts = [self.of(name, end) for name in (one, other) for end in ENDS]
        n = min(map(len, counts))
        if n < 2 or not np.isfinite(np.concatenate(counts)).all():
            return judge.left_open(claim, "fewer than two complete training runs of a kind")
        told = {"unit": "nats", "n_trainings": n, "alpha": ms.FEW} | (how or {"direction": +1})
        ends = {f"{end} end": judged(claim, self.ahead(one, other, end), **told) for end in ENDS}
        both = together(ends)
        return both._replace(**{k: getattr(ends["high end"], k) for k in ("effect", "low", "high")})

    def summary(self) -> pd.Series:
        """Mean log-likelihood of the runs that count, with its error, by model and method."""
        names = [n for n in ORDER if n in self.rates.index and len(self.of(n)) > 1]
        return pd.Series({name: pm(ms.mean_of(self.of(name))) for name in names})


def _names(stored: pd.DataFrame) -> pd.Series:
    name = "leaky, " + stored["method"].map(METHODS)
    name[stored["model"].str.startswith("gaussian")] = GB
    other = stored["n_sweeps"] != 20
    name[other] += "-" + stored["n_sweeps"][other].astype(str)
    name[stored["falling"]] += FALLING
    return name


def all_settings(size_100, size_500, all_images) -> dict[str, Trainings]:
    """Settings by name, first the paper's 500 units, which include runs with more CD steps."""
    more = pd.read_csv(datasets.committed("results/leaky_steps.csv"))
    runs = {"500 units": pd.concat([size_500, more]), "all images": all_images}
    runs["100 units"] = size_100[size_100["largest"] == 0.9999]
    return {name: Trainings(table) for name, table in runs.items()}


def by_bounds(settings: dict[str, Trainings], at_bounds, at_09) -> dict[str, dict]:
    """Training runs by bound on the singular values, then by setting."""
    found = {f"{b:g}": {"100 units": Trainings(t)} for b, t in at_bounds.groupby("largest")}
    found["0.9"] = {"500 units, all images": Trainings(at_09)} | found["0.9"]
    return found | {"0.9999": settings}


def who_is_ahead(settings: dict[str, Trainings], table_3: pd.DataFrame) -> list[Verdict]:
    """Section 4.2: leaky against Bernoulli-Gaussian RBM, and tuning of the Bernoulli-Gaussian."""
    other, leaky = table_3[["ours, at least", "ours, at most"]].to_numpy()[:2]
    leads = [np.nanmin(leaky) - np.nanmax(other), np.nanmax(leaky) - np.nanmin(other)]
    of_500, claim = settings["500 units"], "li-leaky-outperforms"
    constant = {n: settings[n].verdict(claim, CD, GB) for n in ("500 units", "all images")}
    falling = of_500.verdict(claim, CD + FALLING, GB + FALLING)
    by_rate = {"constant rates": constant, "falling rates": {"500 units": falling}}
    ahead = depends("whether the learning rate falls", by_rate).said(
        "On CIFAR-10, the log-likelihood of the leaky RBM minus that of the Bernoulli-Gaussian RBM "
        f"is {effect_in_words(constant['500 units'])} at constant rates and "
        f"{effect_in_words(falling)} at falling rates (in the paper, {LEAD:,} nats).",
        f"For our models of Table 3 (one run of each), it is {tables.span(leads, '{:.0f}'.format)} "
        "nats.",
    )
    if falling.high < LEAD / 2:
        ahead = ahead._replace(note=f"{ahead.note}; {judge.SIZE_DIFFERS}".removeprefix("; "))
    claim, size = "li-bernoulli-tuning", {"at_least": 250, "at_most": 350}
    cases = {
        "falling rate": of_500.verdict(claim, GB + FALLING, GB, judge.bound, **size),
        "CD-40 over CD-20": of_500.verdict(claim, f"{GB}-40", GB, direction=+1, size=(0, 50)),
    }
    rate, more = map(effect_in_words, cases.values())
    tuning = together(cases).said(
        f"A rate that falls linearly to zero raises the log-likelihood by {rate} (in the paper, by "
        f"about 300 nats). CD-40 instead of CD-20 changes it by {more}; this effect is "
        f"{cases['CD-40 over CD-20'].outcome}."
    )
    return [ahead, tuning]


def figure_4(bounds: dict[str, dict[str, Trainings]]) -> list[Verdict]:
    """Leaky against CD, and the order of Leaky, Mix and CD, by bound on the singular values."""

    def leaky(runs):
        return runs.verdict("li-fig4-leaky", LEAKY, CD, **LEAST)

    def order(runs):
        pairs = {"Leaky over Mix": (LEAKY, MIX), "Mix over CD": (MIX, CD)}
        return together({n: runs.verdict("li-fig4-mix", *p, **LEAST) for n, p in pairs.items()})

    (at_09, *_), verdicts = bounds["0.9"].values(), []
    for judged, method, n_methods in ((leaky, LEAKY, 2), (order, MIX, 3)):
        cases = {b: {n: judged(x) for n, x in some.items()} for b, some in bounds.items()}
        others = [b for b, x in cases.items() if {v.outcome for v in x.values()} == {CONTRADICTED}]
        found = at_09.ahead(method, CD)
        n_runs = round(found.n * (found.could_see(ms.FEW) / LEAST["matters"]) ** 2, -3)
        price = (
            f"at the bound 0.9, contradicted at {tables.listed(others)}; needed to decide: about "
            f"{n_runs:,.0f} training runs of each method with 500 units "
            f"({n_methods * n_runs * RUN_SECONDS / 7200:.0f} h on two cores)"
        )
        verdicts.append(depends("the bound on the singular values", cases).if_open(price))
    first = {f"bound {b}, {n}": x for b, some in bounds.items() for n, x in [*some.items()][:1]}
    leads = tables.listed(f"{effect_in_words(leaky(x))} ({n})" for n, x in first.items())
    (_, over_mix, *_), (_, over_cd, *_) = order(at_09).parts
    behind = [x.ahead(MIX, LEAKY).value for b in bounds if b != "0.9" for x in bounds[b].values()]
    return [
        verdicts[0].said(f"The log-likelihood of Leaky minus that of CD is {leads}."),
        verdicts[1].said(
            f"At the bound 0.9, the log-likelihood of Leaky minus that of Mix is {over_mix}, and "
            f"that of Mix minus that of CD is {over_cd}. At 0.99 and 0.9999, Leaky is "
            f"{min(behind):.0f} to {max(behind):.0f} nats behind Mix."
        ),
    ]


def draw_figure_4(curves: dict, bounds: dict[str, dict]) -> None:
    """Live training runs by method and bound; stored runs minus CD, by bound and setting."""
    _, (left, right) = plt.subplots(1, 2, figsize=(9.4, 3.6))
    for (method, bound), run in curves.items():
        (colour, width), seen = LOOKS[method], run.history
        label = f"{METHODS[method]}, below {bound:g}"
        look = {"color": colour, "lw": width, "ls": "-" if bound > 0.99 else "--"}
        left.plot(seen["update"], seen["log_likelihood"], label=label, **look)
    left.set(xlabel="update (live)", ylabel="test log-likelihood (nats)")
    left.legend(fontsize=7, loc="center right", bbox_to_anchor=(1, 0.58))
    runs = {f"{n}, below {b}": x for b, some in bounds.items() for n, x in some.items()}
    for i, name in enumerate((MIX, LEAKY)):
        found = [x.ahead(name, CD) for x in runs.values()]
        values = np.array([x.value for x in found])
        ends = np.array([x.interval(ms.FEW) for x in found]).T
        at = np.arange(len(runs)) + 0.2 * i - 0.1
        right.errorbar(values, at, xerr=np.abs(ends - values), color=(BLUE, ORANGE)[i], fmt="o",
                       ms=4, capsize=3, label=name.removeprefix("leaky, "))  # fmt: skip
    right.axvline(0, color="black", lw=0.8)
    right.set(xscale="symlog", xlim=(-600, 300), yticks=range(len(runs)), yticklabels=runs)
    right.set(xlabel="log-likelihood minus that of CD (nats)")
    right.legend(fontsize=8, ncols=2, loc="lower left", bbox_to_anchor=(0, 1))


def draw_figure_5(free, held) -> None:
    """The mean visible unit of 1,000 chains against sweeps, one line per training run."""
    _, ax = plt.subplots(figsize=(6.0, 3.1))
    arms = (free, "weight decay, no projection", RED, "-"), (held, "projection", BLUE, "--")
    for runs, label, colour, line in arms:
        sizes = runs[[f"mean_{k}" for k in SWEEPS]].abs().to_numpy().T
        lines = ax.plot(SWEEPS, sizes, color=colour, ls=line, marker="o", ms=3)
        lines[0].set_label(label)
    ax.set(yscale="log", xlabel="Gibbs sweeps", ylabel="size of the mean visible unit")
    ax.legend(fontsize=8)
