"""The course report of Wang: printed results, and stored runs of its programs in every reading.

A reading sets everything that the report leaves open. `programs` has the stored runs of AIS, RTS,
SAMS and TAP.
"""

from __future__ import annotations

from functools import cache

import pandas as pd

from rbmbook.models import load_reference
from rbmbook.verdicts import CONTRADICTED, DEPENDS, OPEN, OUTCOMES, REPRODUCED, counted, depends
from rbmlib import datasets

MODELS = ("h10", "h20", "h100", "h500")
PRINTED_RUNS = 20  # behind a printed mean and variance
NAMED, LISTED = 3, 12  # most readings in the note of a verdict, and in its list
reference = cache(load_reference)  # the book's log Z of each model, exact for h10 and h20


def truth(model: str) -> float:
    return reference()[model].log_z


@cache
def printed(method: str) -> pd.DataFrame:
    """Rows whose method starts with ``method``: "logz" and "variance" as text, by model."""
    table = pd.read_csv(datasets.committed("published/report_methods.csv"), dtype=str)
    return table[table["method"].str.startswith(method)].set_index("model")


@cache
def printed_correlations() -> pd.DataFrame:
    """The table of the Metropolis-Hastings sampler, as text."""
    return pd.read_csv(datasets.committed("published/report_mh_correlation.csv"), dtype=str)


def printed_error(model: str, method: str) -> float:
    return float(printed(method).loc[model, "logz"]) - truth(model)


def over(cases: dict, ours: str, on: str = "the reading"):
    """One verdict over all readings, on a row of a printed table or on a sentence.

    ``cases`` has verdicts by reading, or by reading and then by model; ``on`` is what the claim
    depends on if readings differ.
    """
    found = depends(on, cases)
    every = {
        f"{x}, {m}".rstrip(", "): v
        for x, of_case in cases.items()
        for m, v in (of_case.items() if isinstance(of_case, dict) else [("", of_case)])
    }
    names = {o: [x for x, v in every.items() if v.outcome == o] for o in OUTCOMES}
    agree, contradict, unknown = (names[o] for o in (REPRODUCED, CONTRADICTED, OPEN))
    some = "such as " if len(agree) > NAMED else ""
    such = f" ({some}{'; '.join(agree[:NAMED])})" if agree else ""
    note = f"of {len(every):,} cases, {_did(agree, 'agree')}{such}, "
    note += f"{_did(contradict, 'contradict')} the claim and {_did(unknown, 'leave')} it open"
    if len(contradict) == len(every):
        note = f"all {len(every):,} cases contradict the claim"
    note = f"on {on}: {note}" if found.outcome == DEPENDS else note
    found = found._replace(ours=ours, note=note)
    if len(found.parts) <= LISTED:
        return found
    counts = counted(found.parts)
    by = {o: [part for part in found.parts if part[2] == o] for o in counts}
    first = tuple(part for some in by.values() for part in some[: LISTED // len(counts)])
    return found._replace(parts=first, counts=counts)


def _did(cases: list, verb: str) -> str:
    return f"{len(cases)} {verb}{'s' if len(cases) == 1 else ''}"
