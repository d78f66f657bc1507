"""Stored runs of annealing schedules from several bases, and what Kiwaki (2015) prints of his."""

from __future__ import annotations

import math
from functools import cache

from rbmlib import datasets

from . import judge, tables
from . import measured as ms
from .verdicts import Verdict, depends

# Rows of Tables 1 and 2 that are compared with equal steps: schedule, and cap of its steps.
ROWS = {
    "VAROPT": ("varopt", 1.0),
    "VAROPT0.009": ("varopt", 0.009),
    "VAROPT0.006": ("varopt", 0.006),
    "VAROPT0.003": ("varopt", 0.003),
    "GMS13": ("gms13", 1.0),
}


def papers_name(model: str) -> str:
    """A model in the paper's words.

    Examples
    --------
    >>> papers_name("cd25_500")
    'CD25(500)'
    """
    kind, units = model.split("_")
    return f"{kind.upper()}({units})"


@cache
def published_ess() -> dict[tuple[str, str], float]:
    """Effective sample sizes of Tables 1 and 2, by (model, schedule) in the paper's words."""
    import pandas as pd

    found: dict[tuple[str, str], float] = {}
    for number in (1, 2):
        frame = pd.read_csv(datasets.committed(f"published/varopt_table{number}.csv"))
        found |= frame.set_index(["model", "schedule"])["ess"].to_dict()
    return found


def published_gain(model: str, schedule: str) -> tuple[float, float, float]:
    """Variance of equal steps over that of a schedule of the paper, with a 95% interval.

    Its ESS of 1,000 chains give the variances of log-weights if these are normal.
    """
    variances = []
    for one in ("LINEAR", schedule):
        ess = published_ess()[papers_name(model), one]
        low, high = tables.ess_interval(ess, 1000)
        variances.append([math.log(1000 / x) for x in (ess, high, low)])
    return tables.ratio_interval(*variances[0], *variances[1])


def variance_over_seeds(runs) -> tuple[float, float, float]:
    """The mean variance of log-weights of runs that differ in their seed, with a 95% interval.

    One run has the interval of its bootstrap. Of several the interval is that of their own spread
    (Student's), new pilots included, or what their bootstraps give, whichever is wider.
    """
    value, low, high = (runs[f"variance{end}"] for end in ("", "_low", "_high"))
    if len(runs) == 1:
        return float(value.iloc[0]), float(low.iloc[0]), float(high.iloc[0])
    mean = float(value.mean())
    of_bootstraps = math.sqrt(((((high - low) / 3.92) ** 2).mean()) / len(runs))
    of_spread = ms.quantile(0.975, len(runs) - 1) * float(value.sem())
    half = max(of_spread, 1.96 * of_bootstraps) / mean
    return mean, mean * math.exp(-half), mean * math.exp(half)


class ScheduleRuns:
    """Tables of runs by the base of their path; a schedule and its cap name the runs of a model."""

    def __init__(self, by_base):
        self.by_base = by_base

    @classmethod
    def by_base_of(cls, table):
        """Of a table with a column "base"."""
        return cls(dict(list(table.groupby("base", sort=False))))

    def seeds(self, model: str, schedule: str, cap: float = 1.0, base: str = "base rate"):
        """The runs with these settings, one a seed, the first seed first."""
        table = self.by_base[base]
        here = table[(table["model"] == model) & (table["schedule"] == schedule)]
        if schedule == "varopt":
            here = here[here["max_step"] == cap]
        return here.sort_values("seed", kind="stable")

    def first(self, *where, **more):
        """The run of the first seed, or None if there is none."""
        here = self.seeds(*where, **more)
        return here.iloc[0] if len(here) else None

    def variance(self, *where, **more):
        """`variance_over_seeds` of the runs with these settings, or None if there are none."""
        here = self.seeds(*where, **more)
        return variance_over_seeds(here) if len(here) else None

    def gain(self, model: str, schedule: str, cap: float = 1.0, base: str = "base rate"):
        """Variance of equal steps over that of a schedule, with a 95% interval, or None."""
        one = self.variance(model, "linear", base=base)
        other = self.variance(model, schedule, cap, base)
        return tables.ratio_interval(*one, *other) if one and other else None

    def gain_over_trainings(self, schedule: str, cap: float = 1.0, base: str = "base rate"):
        """The mean gain over all models here, which are trainings of one kind, as `Measured`:
        its error is that between trainings."""
        models = self.by_base[base]["model"].unique()
        gains = [self.gain(model, schedule, cap, base) for model in models]
        return ms.mean_of([math.log(gain[0]) for gain in gains])._replace(scale="log")


def claim_of(model: str, label: str) -> str:
    """The beginning of the names of the claims about a row of Table 1 or 2.

    Examples
    --------
    >>> claim_of("cd25_500", "VAROPT0.009")
    'kiwaki-t2-cd25500-varopt0.009'
    """
    kind, units = model.split("_")
    return f"kiwaki-t{1 if units == '20' else 2}-{kind}{units}-{label.lower()}"


def of_its_kind(model: str, verdict: Verdict) -> Verdict:
    """The verdict on a printed number of a model of the paper, whose settings may be unknown.

    Of his models with 500 units the paper draws epochs, rate and penalty, and prints neither the
    ranges nor what was drawn (section 7.2).
    """
    if not model.endswith("_500"):
        return verdict
    unknown = "the model is not published, and the settings that were drawn for it are not printed"
    return judge.of_unknown_kind(verdict, unknown)


def judged_gain(
    runs: ScheduleRuns, model: str, label: str, others: ScheduleRuns | None = None
) -> Verdict:
    """The verdict on a printed gain over equal steps, from each base.

    One model of ours against one of the paper's decides nothing but that the claim depends on the
    base; with 500 units it cannot be checked (`of_its_kind`).
    ``others`` has trainings of the same kind at other learning rates ("pcd_20, rate 0.01"),
    on which no cap binds; each is judged beside ``model``.
    """
    printed, (schedule, cap) = ms.from_interval(*published_gain(model, label)), ROWS[label]
    claim, direction = f"{claim_of(model, label)}-ess", 1 if printed.value >= 0 else -1
    cases: dict[str, dict[str, Verdict]] = {}
    for base in runs.by_base:
        gains = {papers_name(model): runs.gain(model, schedule, cap, base)}
        if others is not None:
            gains |= {
                name.replace(model, papers_name(model)): others.gain(name, schedule, base=base)
                for name in others.by_base[base]["model"].unique()
                if name.startswith(f"{model}, rate")
            }
        found = {name: ms.from_interval(*gain) for name, gain in gains.items() if gain}
        if found:
            cases[base] = {
                name: judge.effect(claim, ours, direction=direction, size=printed)
                for name, ours in found.items()
            }
    return of_its_kind(model, depends("the base", cases, n_trainings=1))
