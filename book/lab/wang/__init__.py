"""The course report of Wang: what it printed, and stored runs of its programs in every reading.

A reading is a setting of all that the report leaves open. `programs` has AIS, RTS and SAMS, `tap`
the iteration of TAP, `metropolis` the sampler of section IV.A.
"""

from __future__ import annotations

from functools import cache

import pandas as pd

from rbmbook.datasheet import load_reference
from rbmbook.verdicts import CONTRADICTED, DEPENDS, OPEN, OUTCOMES, REPRODUCED, TOO_ROUGH, depends
from rbmlib import datasets

MODELS = ("h10", "h20", "h100", "h500")
PRINTED_RUNS = 20  # behind a printed mean and variance
NAMED, LISTED = 3, 12  # readings that a verdict names in its note, and lists


@cache
def reference() -> dict:
    """The book's log Z of each model: exact for h10 and h20."""
    return load_reference()


def truth(model: str) -> float:
    return reference()[model].log_z


@cache
def printed(method: str) -> pd.DataFrame:
    """ "logz" and "variance" as text, by model, of rows whose method begins so."""
    table = pd.read_csv(datasets.committed("published/report_methods.csv"), dtype=str)
    return table[table["method"].str.startswith(method)].set_index("model")


def printed_error(model: str, method: str = "SAMS") -> float:
    """Error of a printed mean."""
    return float(printed(method).loc[model, "logz"]) - truth(model)


def over(cases: dict, ours: str, on: str = "the reading", agree: str = "give all that is printed"):
    """One verdict over all readings: of a row of a printed table, or of a sentence.

    ``cases``: verdicts by the reading, or by the reading, then by the model; ``on``: what the claim
    depends on if readings differ; ``agree``: what those do that give it.
    """
    found = depends(on, cases)
    every = {
        f"{x}, {m}".rstrip(", "): v
        for x, of_case in cases.items()
        for m, v in (of_case.items() if isinstance(of_case, dict) else [("", of_case)])
    }
    by_outcome: dict[str, list[str]] = {o: [] for o in OUTCOMES}
    for reading, verdict in every.items():
        by_outcome[verdict.outcome].append(reading)
    n = {o: len(names) for o, names in by_outcome.items()}
    note = f"of {len(every)} readings {n[REPRODUCED]} {agree}, {n[CONTRADICTED]} are contradicted, "
    note += f"{n[OPEN]} decide nothing"
    if names := by_outcome[REPRODUCED]:
        more = f" and {len(names) - NAMED} more" if len(names) > NAMED else ""
        note += f"; they {agree}: {'; '.join(names[:NAMED])}{more}"
    elif names := by_outcome[OPEN]:
        parts = ["; ".join(part[3] for part in every[x].parts) for x in names]
        note += f"; {TOO_ROUGH}" if all(TOO_ROUGH in part for part in parts) else ""
    left = [part for part in found.parts if part[2] != CONTRADICTED] or list(found.parts)
    note = f"on {on}: {note}" if found.outcome == DEPENDS else note
    return found._replace(ours=ours, note=note, parts=tuple(left[:LISTED]))
