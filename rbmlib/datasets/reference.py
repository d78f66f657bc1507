"""The reference set: the best log Z known for each model of the book."""

import csv
from typing import Any, NamedTuple

from .files import committed

FILE = "reference.csv"


class Reference(NamedTuple):
    """One line of :func:`load_reference`; all values in nats.

    ``model`` is a name for `load_rbm`; ``log_z`` is exact (``std_error`` 0), or joined from
    ``n_runs`` runs of independent methods, whose ``chi_squared`` about their mean has
    ``n_runs - 1`` degrees of freedom. ``lower`` and ``upper`` are means over chains of forward and
    of reverse annealing, with their standard errors: in expectation they bracket log Z, the upper
    one as far as the reverse chains began at draws of the model. Both are log Z where it is
    ``exact``, a sum over all states. ``settled`` says that the value is exact, or that
    runs of two methods or more, without a flag, agree (chance of their ``chi_squared`` at least
    0.001) with a standard error of at most 0.02 nats.
    """

    model: str
    n_visible: int
    n_hidden: int
    log_z: float
    std_error: float
    lower: float
    lower_error: float
    upper: float
    upper_error: float
    exact: bool
    n_runs: int
    chi_squared: float
    settled: bool


def load_reference() -> dict[str, Reference]:
    """Return log Z of the published and the committed models: truths to test estimators against.

    Returns
    -------
    dict
        A `Reference` for each model, in the order of their sizes. The runs behind them are in
        ``data/results/reference.csv``; ``data/make_reference.py`` joins them.

    Raises
    ------
    DataCorrupt
        If the table is missing.

    Examples
    --------
    >>> import rbmlib as rl
    >>> reference = rl.datasets.load_reference()
    >>> round(reference["h20"].log_z, 4), reference["h20"].exact
    (221.0668, True)
    >>> rbm = rl.load_rbm("pcd_10")
    >>> abs(rl.exact(rbm, progress=False).log_z - reference["pcd_10"].log_z) < 1e-5
    True
    """
    with committed(FILE).open(newline="", encoding="utf-8") as file:
        rows = [_reference(row) for row in csv.DictReader(file)]
    return {row.model: row for row in rows}


def _reference(row: dict[str, str]) -> Reference:
    whole = {name: int(row[name]) for name in ("n_visible", "n_hidden", "n_runs")}
    truth = {name: row[name] == "True" for name in ("exact", "settled")}
    text = {"model": row["model"]}
    numbers = {n: float(row[n]) for n in Reference._fields if n not in whole | truth | text}
    values: dict[str, Any] = numbers | whole | truth | text
    return Reference(**values)
