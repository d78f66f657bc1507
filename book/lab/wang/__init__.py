"""The course report of Wang: what it printed, and stored runs of its programs in every reading.

A reading is a setting of all that the report leaves open. `programs` has AIS, RTS and SAMS, `tap`
the iteration of TAP, `metropolis` the sampler of section IV.A.
"""

from __future__ import annotations

from collections import Counter
from functools import cache
from typing import TYPE_CHECKING

from rbmbook.datasheet import load_reference
from rbmbook.verdicts import CONTRADICTED, DEPENDS, OPEN, REPRODUCED, TOO_ROUGH, Verdict, depends
from rbmlib import datasets

if TYPE_CHECKING:
    import pandas as pd

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
    import pandas as pd

    table = pd.read_csv(datasets.committed("published/report_methods.csv"), dtype=str)
    return table[table["method"].str.startswith(method)].set_index("model")


def over(cases: dict[str, Verdict], ours: str) -> Verdict:
    """One verdict of a row of a printed table over all readings, each of all its numbers.

    It *depends* if one reading gives all the printed numbers and another does not.
    """
    found, counts = depends("the reading", cases), Counter(v.outcome for v in cases.values())
    note = f"of {len(cases)} readings {counts[REPRODUCED]} give all that is printed, "
    note += f"{counts[CONTRADICTED]} are contradicted, {counts[OPEN]} decide nothing"
    by_outcome = {o: [x for x, v in cases.items() if v.outcome == o] for o in (REPRODUCED, OPEN)}
    for outcome, said in ((REPRODUCED, "give it"), (OPEN, "nearest")):
        if names := by_outcome[outcome]:
            more = f" and {len(names) - NAMED} more" if len(names) > NAMED else ""
            note += f"; {said}: {'; '.join(names[:NAMED])}{more}"
            break
    if found.outcome == OPEN:
        rough = all(TOO_ROUGH in v.note for v in cases.values() if v.outcome == OPEN)
        note += f"; {TOO_ROUGH}" if rough else "; more runs of these would decide (minutes each)"
    left = [part for part in found.parts if part[2] != CONTRADICTED] or list(found.parts)
    note = f"on the reading: {note}" if found.outcome == DEPENDS else note
    return found._replace(ours=ours, note=note, parts=tuple(left[:LISTED]))
