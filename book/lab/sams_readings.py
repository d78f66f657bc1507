"""Chapter sams: the report's table of SAMS against every reading of its program, and verdicts.

The report prints the algorithm, and neither its base nor its length or ladder, so that a stored
setting is a reading of it. The lesson shows the table, the audit page what the judge says.
"""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

import numpy as np

from rbmlib import datasets

from . import judge, measured
from .group_spreads import pooled_runs
from .verdicts import Verdict, depends

if TYPE_CHECKING:
    import pandas as pd

MODELS = ("h10", "h20", "h100", "h500")
SETTINGS = ["rbm_a", "schedule", "n_temperatures", "jump", "constant", "n_sweeps"]
KINDS = {"mean": "log_z", "variance": "variance"}  # of printed numbers: columns of ours
N_RUNS = 20  # of the report
FEW = 3  # readings that are named in a note


def published() -> pd.DataFrame:
    """The printed table by model: "logz" and "variance"."""
    import pandas as pd

    table = pd.read_csv(datasets.committed("published/report_methods.csv"))
    return table[table["method"] == "SAMS"].set_index("model")


def readings(stored: pd.DataFrame) -> pd.DataFrame:
    """Mean and variance of log Z over runs of one chain, by setting and model.

    Parameters
    ----------
    stored : pandas.DataFrame
        The table of the sweep ``sams_printed``.

    Returns
    -------
    pandas.DataFrame
        "log_z"; "variance", of one run (of one run on a ladder of its own, if ladders are random
        and each has some runs); "n", independent values behind both; and what the judge says of
        the report's numbers by this reading, "mean_verdict" and "variance_verdict".
    """
    import pandas as pd

    rows = []
    for (*setting, model), runs in stored.groupby([*SETTINGS, "model"], sort=False):
        if setting[SETTINGS.index("schedule")] == "linear" or len(runs) == 1:
            n, mean, variance = pooled_runs(runs)
        else:  # a ladder of its own for a few runs
            values, within = runs["log_z"].to_numpy(), runs["variance"].mean()
            n, mean = len(runs), values.mean()
            variance = values.var(ddof=1) + within / runs["n_runs"].iloc[0]
        both = _judged(model, mean, variance, n)
        rows.append([*setting, model, mean, variance, n, *both])
    columns = [*SETTINGS, "model", "log_z", "variance", "n"]
    return pd.DataFrame(rows, columns=[*columns, *map(_verdict_of, KINDS)])


def _judged(model: str, mean: float, variance: float, n: int) -> tuple[Verdict, Verdict]:
    ours = measured.measured(mean, np.sqrt(variance / n), n - 1)
    printed = published().loc[model, "variance"]
    return (
        judge.printed_value(
            f"wang-sams-{model}-logz", ours, printed_variance=printed, printed_n=N_RUNS
        ),
        judge.printed_variance(f"wang-sams-{model}-var", variance, n=n, printed_n=N_RUNS),
    )


def words(row) -> str:
    """A reading in words: what differs from 100 equal steps and global jumps, and its length."""
    more = [row.rbm_a]
    if row.schedule == "random":
        more.append("random ladders")
    elif row.n_temperatures != 99:
        more.append(f"{row.n_temperatures + 1} temperatures")
    more += ["local jumps"] * (row.jump == "local") + ["Z_A out"] * (row.constant == "dropped")
    return ", ".join([*more, f"{row.n_sweeps:,} sweeps"])


def verdicts(table: pd.DataFrame) -> dict[tuple[str, str], Verdict]:
    """One verdict of each printed number, by model and "mean" or "variance".

    The setting that is not stated is the reading as a whole: base, length, ladder and jump.
    """
    return {
        (model, kind): _over_readings(rows, kind)
        for model, rows in table.groupby("model", sort=False)
        for kind in KINDS
    }


def _over_readings(rows: pd.DataFrame, kind: str) -> Verdict:
    judged = dict(zip(map(words, rows.itertuples()), rows[_verdict_of(kind)], strict=True))
    by_outcome = defaultdict(list)
    for reading, verdict in judged.items():
        by_outcome[verdict.outcome].append(reading)
    note = "; ".join(
        f"{outcome} by {' and '.join(names) if len(names) <= FEW else f'{len(names)} readings'}"
        for outcome, names in by_outcome.items()
    )
    low, high = rows[KINDS[kind]].agg(["min", "max"])
    found = depends("the reading", {name: {"it": verdict} for name, verdict in judged.items()})
    return found._replace(ours=f"{low:,.4g} to {high:,.4g}, {len(rows)} readings", note=note)


def _verdict_of(kind: str) -> str:
    return f"{kind}_verdict"
