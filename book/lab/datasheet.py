"""What the models of the book are: size, data, training, and what is known of log Z."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from rbmlib import datasets

if TYPE_CHECKING:
    import pandas as pd

# What the authors of the published models say of them; nothing else about their training is known.
_PUBLISHED = {"salakhutdinov_cd25_500": "CD-25, by its author"}


def load_reference() -> dict[str, Any]:
    """The reference set: a row of ``data/reference.csv`` for each model, small ones first.

    All values are in nats. ``log_z`` is exact (``std_error`` 0), or joined from ``n_runs`` runs of
    independent methods (`data/make_reference.py`), whose ``chi_squared`` about their mean has
    ``n_runs - 1`` degrees of freedom. ``lower`` and ``upper`` are means over chains of forward and
    of reverse annealing, with their standard errors: in expectation they bracket log Z, the upper
    one as far as the reverse chains began at draws of the model. ``settled`` says that the value is
    exact, or that runs of two methods or more, without a flag, agree (chance of their
    ``chi_squared`` at least 0.001) with a standard error of at most 0.02 nats.
    """
    import pandas as pd

    table = pd.read_csv(datasets.committed("reference.csv"), float_precision="round_trip")
    return {row.model: row for row in table.itertuples(index=False, name="Reference")}


def known_log_z() -> pd.DataFrame:
    """``log_z``, ``std_error`` (0: exact) and ``known by`` of the settled models, by name."""
    import pandas as pd

    table = pd.DataFrame(load_reference().values()).set_index("model").rename_axis(None)
    table["known by"] = table["exact"].map({True: "enumeration", False: "long runs"})
    return table.loc[table["settled"], ["log_z", "std_error", "known by"]]


def datasheet() -> pd.DataFrame:
    """One row a model of the reference set, small ones first; published ones without updates."""
    import pandas as pd

    known = known_log_z().rename(columns={"log_z": "log Z", "std_error": "s.e."})
    models = pd.DataFrame(load_reference().values()).sort_values(["n_hidden", "n_visible", "model"])
    trained = [_training(name) for name in models["model"]]
    columns = pd.DataFrame(trained, columns=["data", "trained by", "updates"], index=models.index)
    units = models[["model", "n_visible", "n_hidden"]]
    units = units.rename(columns={"n_visible": "visible", "n_hidden": "hidden"})
    sheet = units.join(columns.astype({"updates": "Int64"})).join(known, on="model")
    return sheet.fillna({"known by": "later chapters"}).reset_index(drop=True)


def _training(name: str) -> tuple[str, str, int | None]:
    """Data set, method and number of updates, from the record of a committed model."""
    if name in datasets.register.PUBLISHED_RBMS:
        return "MNIST", _PUBLISHED.get(name, "training not recorded"), None
    records = datasets.committed("models/models.json").read_text(encoding="utf-8")
    settings = json.loads(records)[name]["settings"]
    is_cd = settings["method"] == "cd" or "hidden" in settings
    method = f"CD-{settings['n_sweeps']}" if is_cd else "PCD"
    if "spectral" in (settings["method"], settings.get("optimizer")):
        method += ", spectral steps"
    if settings.get("hidden") == "leaky":
        method += ", leaky units"
    if settings.get("hidden") == "bernoulli":
        method += ", Gaussian visible units"
    return settings["data"].split()[0], method, settings["n_updates"]
