"""The stored tables of sweeps, and recomputation of a row."""

import math
from pathlib import Path

import pandas as pd

from rbmbook.sweeps import declare
from rbmbook.sweeps.run import PROVENANCE
from rbmbook.sweeps.task import estimate, known_settings
from rbmlib import datasets

from .experiments import book_sweep
from .judge import bound
from .measured import Measured, quantile
from .verdicts import Verdict, depends, together


class Provenance(dict):
    """Columns by name, not copied when pandas deep-copies ``attrs`` at every step."""

    def __deepcopy__(self, memo):
        return self


def stored_results(name: str, scheduler: str = ""):
    """The table of a sweep, stored or computed now; prints a line on its origin.

    With the address of a Dask ``scheduler``, the sweep is run there, in the working directory.
    ``attrs["provenance"]`` has the last columns of the file: seconds, machine and versions.
    """
    if scheduler and name in declare.names():
        sweep = book_sweep(name, folder=Path.cwd())
        sweep.run(scheduler)
        source = sweep.to_csv()
    else:
        source = datasets.committed(f"results/{name}.csv")
    table = pd.read_csv(source)
    provenance = table[[column for column in PROVENANCE if column in table]]
    table = table.drop(columns=provenance.columns)
    table.attrs["provenance"] = Provenance(provenance.to_dict("list"))
    versions, hosts = (", ".join(map(str, provenance[c].unique())) for c in ("rbmlib", "host"))
    minutes = _counted(round(provenance["seconds"].sum() / 60), "minute")
    tasks = _counted(len(table), "task") + (_seeds(table["seed"]) if "seed" in table else "")
    print(f"{name}: {tasks}, {minutes} on {hosts}, rbmlib {versions}")
    return table


def _counted(n: int, noun: str) -> str:
    return f"{n} {noun}" if n == 1 else f"{n} {noun}s"


def _seeds(seeds: pd.Series) -> str:
    first, last = f"{seeds.min():.0f}", f"{seeds.max():.0f}"
    return f", seed {first}" if first == last else f", seeds {first} to {last}"


def kept_verdicts(name: str, claim: str) -> dict[str, Verdict]:
    """Verdicts, by case, on measurements for a claim by a program that is no longer run."""
    table = pd.read_csv(datasets.committed(f"results/{name}.csv"), keep_default_na=False)
    found = {}
    for row in table[table["claim"] == claim].itertuples():
        change = math.log if row.scale == "log" else float
        value, low, high = map(change, (row.effect, row.low, row.high))
        std_error = (high - low) / 2 / quantile((1 + row.level) / 2, math.inf)
        ours = Measured(value, std_error, math.inf, math.inf, row.scale)
        region = {k: float(x) for k in ("at_least", "at_most") if (x := getattr(row, k)) != ""}
        verdict = bound(claim, ours, **region, unit=row.unit, alpha=1 - row.level)
        allowed = " and ".join(f"{k.replace('_', ' ')} {x:.3g}" for k, x in region.items())
        note = f"allowed: {allowed}".replace(" -", " −")
        found[row.case] = verdict._replace(note=verdict.note or note)
    return found


def kept_verdict(name: str, claim: str) -> Verdict:
    """One verdict from `kept_verdicts`.

    The first row of a claim has a sentence with "{}" for each effect. If it also names a setting,
    cases are called "value: model", and the claim may depend on this setting.
    """
    table = pd.read_csv(datasets.committed(f"results/{name}.csv"), keep_default_na=False)
    said, setting = table.loc[table["claim"] == claim, ["said", "setting"]].iloc[0]
    cases = kept_verdicts(name, claim)
    ours = said.format(*(f"{v.effect:.3g}".replace("-", "−") for v in cases.values()))
    if not setting:
        return together(cases).said(ours)
    by_value: dict[str, dict[str, Verdict]] = {}
    for case, verdict in cases.items():
        value, model = case.split(": ")
        by_value.setdefault(value, {})[model] = verdict
    return depends(setting, by_value).said(ours)


def recomputed(table, **where):
    """Compute the stored row with these settings again: a table of stored and live numbers."""
    rows = table.loc[(table[list(where)] == pd.Series(where)).all(axis=1)].to_dict("records")
    if len(rows) != 1:
        raise ValueError(f"{len(rows)} rows have {where}: expected one")
    stored = {name: value for name, value in rows[0].items() if not pd.isna(value)}
    task = {name: stored[name] for name in known_settings(stored) if name in stored}
    live = estimate(**task)
    names = [name for name in live if name in stored and isinstance(live[name], float)]
    return pd.DataFrame(
        {"result": names, "stored": [stored[n] for n in names], "live": [live[n] for n in names]}
    )
