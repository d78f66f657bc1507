"""What a schedule gains over equal steps, in effective sample size or variance, and its words.

Of stored runs of `rbmbook.schedule_runs`, and of the tables of Kiwaki (2015). A triple is a value
with the ends of an interval.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import numpy as np

from . import measured as ms
from . import tables
from .bootstrap import bootstrap_log_weights
from .measured import Measured
from .schedule_runs import ScheduleRuns, papers_name, published_ess
from .verdicts import Verdict, depends

Triple = tuple[float, float, float]
SCHEDULES = {"linear": "LINEAR", "gms13": "GMS13"}  # in the paper's words


def brackets(triple: Triple | None, decimals: int = 2, missing: str = "not run") -> str:
    """A value with its interval as text.

    Examples
    --------
    >>> brackets((1.234, 1.0, 1.5)), brackets((517.2, 480.0, 552.0), 0), brackets(None)
    ('1.23 [1.00, 1.50]', '517 [480, 552]', 'not run')
    """
    if triple is None:
        return missing
    value, low, high = triple
    return f"{value:.{decimals}f} [{low:.{decimals}f}, {high:.{decimals}f}]"


def spread(triple: Triple | None) -> str:
    """A value with the standard error that half of its 95% interval amounts to, as text.

    Examples
    --------
    >>> spread((2.0, 1.804, 2.196)), spread(None)
    ('2.000 ± 0.100', 'not run')
    """
    if triple is None:
        return "not run"
    value, low, high = triple
    return tables.with_error(value, (high - low) / 3.92)


def factor(ratio: Measured) -> Triple:
    """A ratio on the scale "log" as a factor, with the interval of a verdict (99.9%)."""
    low, high = ratio.interval()
    return math.exp(ratio.value), math.exp(low), math.exp(high)


def relative(m: Measured) -> Measured:
    """A positive number on the scale "log", with its relative error."""
    return ms.measured(m.value, m.std_error / m.value, scale="log")


def schedule_label(row) -> str:
    """The schedule of a stored run in the paper's words: "VAROPT0.006" has a cap of its steps."""
    if row["schedule"] != "varopt":
        return SCHEDULES.get(row["schedule"], row["schedule"])
    return "VAROPT" + ("" if row["max_step"] >= 1 else f"{row['max_step']:g}")


def share(row) -> Triple:
    """ESS / chains: the wider interval of the bootstrap and of normal log-weights."""
    ess, low, high, n = row[["ess", "ess_low", "ess_high", "n_chains"]]
    normal = tables.ess_interval(ess, int(n))
    return ess / n, min(low, normal[0]) / n, max(high, normal[1]) / n


def ess_gain(runs: ScheduleRuns, model: str, schedule: str, cap: float = 1.0) -> Triple:
    """ESS of a schedule over that of equal steps, from the base rate: ours."""
    row, equal = runs.first(model, schedule, cap), runs.first(model, "linear")
    return tables.ratio_interval(*share(row), *share(equal))


def papers_ess_gain(model: str, label: str) -> Triple | None:
    """The same of the paper, in its words; None if it prints none.

    Its intervals are those of normal log-weights.
    """
    both = [published_ess().get((model, x), math.nan) for x in (label, "LINEAR")]
    if label == "LINEAR" or not np.isfinite(both).all():
        return None
    one, other = ((ess, *tables.ess_interval(ess, 1000)) for ess in both)
    return tables.ratio_interval(*one, *other)


def log_ratio(top, bottom, column: str) -> Measured:
    """A column of one stored run over that of another, from the intervals of both bootstraps."""
    errors = [math.log(x[f"{column}_high"] / x[f"{column}_low"]) / 3.92 for x in (top, bottom)]
    return ms.measured(top[column] / bottom[column], math.hypot(*errors), scale="log")


def variance_interval(run, rng=0) -> Triple:
    """The variance of the log-weights of a live run, with the 95% interval of the bootstrap."""
    low, high = bootstrap_log_weights(run.log_weights, rng=rng)["variance"]
    return float(np.var(run.log_weights, ddof=1)), low, high


def ends_of(run, rng=0) -> dict[str, str]:
    """ESS and variance of the log-weights of a live run as text, each with its 95% interval."""
    ess = bootstrap_log_weights(run.log_weights, rng=rng)["ess"]
    value, low, high = map(tables.number, variance_interval(run, rng))
    return {
        "ESS [95%]": brackets((run.ess, *ess), 0),
        "Var log w [95%]": f"{value} [{low}, {high}]",
    }


def by_base(
    bases: Iterable[str],
    cases: Iterable[str] | Mapping[str, Any],
    judged: Callable[[str, Any], Verdict | None],
) -> Verdict:
    """One verdict on a claim whose source states no base: ``judged(base, case)`` of each.

    Parameters
    ----------
    cases : iterable or mapping
        Names of models, or what is judged by its name.
    judged : callable
        None is left out: not every schedule was run from every base.
    """
    named = cases if isinstance(cases, Mapping) else {papers_name(x): x for x in cases}
    found = {}
    for base in bases:
        every = {name: judged(base, case) for name, case in named.items()}
        found[base] = {name: verdict for name, verdict in every.items() if verdict is not None}
    return depends("the base", {b: some for b, some in found.items() if some})
