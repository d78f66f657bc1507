"""The course report of Wang: printed results, and stored runs of its programs in every reading.

A reading sets everything that the report leaves open. `programs` has the stored runs of AIS, RTS,
SAMS and TAP.
"""

from __future__ import annotations

from functools import cache

import pandas as pd

from rbmbook.models import load_reference
from rbmbook.verdicts import CONTRADICTED, DEPENDS, REPRODUCED, counted, depends
from rbmlib import datasets

MODELS = ("h10", "h20", "h100", "h500")
PRINTED_RUNS = 20  # behind a printed mean and variance
LISTED, EXAMPLES = 12, 2  # most cases in the list of a verdict; of more, cases of each outcome
reference = cache(load_reference)  # the book's log Z of each model, exact for h10 and h20


def truth(model: str) -> float:
    return reference()[model].log_z


@cache
def printed(method: str) -> pd.DataFrame:
    """Rows whose method starts with ``method``: "logz" and "variance" as text, by model."""
    table = pd.read_csv(datasets.committed("published/report_methods.csv"), dtype=str)
    return table[table["method"].str.startswith(method)].set_index("model")


def printed_error(model: str, method: str) -> float:
    return float(printed(method).loc[model, "logz"]) - truth(model)


def over(cases: dict, ours: str, on: str = "the reading"):
    """One verdict over all readings, on a row of a printed table or on a sentence.

    ``cases`` has verdicts by reading, or by reading and then by model; ``on`` is what the claim
    depends on if readings differ. Of many cases, the verdict lists a few of each outcome.
    """
    found = depends(on, cases)
    counts = counted(found.parts)
    agree, contradict = (counts.get(outcome, 0) for outcome in (REPRODUCED, CONTRADICTED))
    note = f"agreement in {agree} of {len(found.parts):,} cases, contradiction in {contradict}"
    note = f"on {on}: {note}" if found.outcome == DEPENDS else note
    found = found._replace(ours=ours, note=note)
    if len(found.parts) <= LISTED:
        return found
    by = {o: [part for part in found.parts if part[2] == o] for o in counts}
    most = {o: LISTED if o == REPRODUCED else EXAMPLES for o in by}
    first = tuple(part for o, some in by.items() for part in some[: most[o]])
    return found._replace(parts=first, counts=counts)
