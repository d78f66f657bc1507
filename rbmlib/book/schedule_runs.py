"""Stored runs of annealing schedules from several bases, and what Kiwaki (2015) prints of his."""

from __future__ import annotations

import math
from functools import cache

from .. import datasets
from . import tables


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

    One run has the interval of its bootstrap. Of several the error is that of their own spread,
    new pilots included, or what their bootstraps give, whichever is larger.
    """
    value, low, high = (runs[f"variance{end}"] for end in ("", "_low", "_high"))
    if len(runs) == 1:
        return float(value.iloc[0]), float(low.iloc[0]), float(high.iloc[0])
    mean = float(value.mean())
    of_bootstraps = math.sqrt(((((high - low) / 3.92) ** 2).mean()) / len(runs))
    half = 1.96 * max(float(value.sem()), of_bootstraps) / mean
    return mean, mean * math.exp(-half), mean * math.exp(half)


class ScheduleRuns:
    """Tables of runs by the base of their path; a schedule and its cap name the runs of a model."""

    def __init__(self, by_base):
        self.by_base = by_base

    def seeds(self, model: str, schedule: str, cap: float = 1.0, base: str = "base rate"):
        """The runs with these settings, one a seed, the first seed first."""
        table = self.by_base[base]
        here = table[(table["model"] == model) & (table["schedule"] == schedule)]
        if schedule == "varopt":
            here = here[here["max_step"] == cap]
        return here.sort_values("seed")

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
