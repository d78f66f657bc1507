"""What the models of the book are: size, data, training, and what is known of log Z."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from .. import datasets

if TYPE_CHECKING:
    import pandas as pd

# What the authors of the published models say of them; nothing else about their training is known.
_PUBLISHED = {"salakhutdinov_cd25_500": "CD-25, by its author"}


def known_log_z() -> pd.DataFrame:
    """log Z of the models by name: ``log_z``, ``std_error`` (0: exact) and ``known by``.

    By enumeration where that is possible, or else by a stored run of AIS whose effective sample
    size is large enough. Models of which neither is stored are left out.
    """
    import pandas as pd

    stored = [
        pd.read_csv(datasets.committed(f"results/{name}.csv"))
        for name in ("start", "exact", "ais_likelihood")
    ]
    rows = pd.concat(stored, ignore_index=True)
    exact = rows[rows["estimator"] == "exact"].assign(**{"known by": "enumeration"})
    annealed = rows[(rows["estimator"] == "ais") & rows["converged"] & (rows["n_chains"] >= 1000)]
    best = pd.concat([exact, annealed.assign(**{"known by": "AIS"})]).drop_duplicates("model")
    return best.set_index("model")[["log_z", "std_error", "known by"]]


def datasheet() -> pd.DataFrame:
    """One row a registered model, small ones first.

    Returns
    -------
    pandas.DataFrame
        ``model``, ``visible`` and ``hidden`` (numbers of units), ``data``, ``trained by``,
        ``updates`` (none for published models), ``log Z``, ``s.e.`` and ``known by``.
    """
    import pandas as pd

    known = known_log_z()
    rows = []
    for info in sorted(datasets.list_rbms(), key=lambda m: (m.n_hidden, m.n_visible, m.name)):
        data, training, updates = _training(info.name)
        found = known.loc[info.name].to_dict() if info.name in known.index else {}
        rows.append(
            {
                "model": info.name,
                "visible": info.n_visible,
                "hidden": info.n_hidden,
                "data": data,
                "trained by": training,
                "updates": updates,
                "log Z": found.get("log_z", float("nan")),
                "s.e.": found.get("std_error", float("nan")),
                "known by": found.get("known by", "later chapters"),
            }
        )
    return pd.DataFrame(rows).astype({"updates": "Int64"})


def _training(name: str) -> tuple[str, str, int | None]:
    """Data set, method and number of updates, from the record beside a committed model."""
    if name in datasets.register.PUBLISHED_RBMS:
        return "MNIST", _PUBLISHED.get(name, "not recorded"), None
    record = datasets.committed(f"models/{name}.npz").with_suffix(".json")
    settings = json.loads(record.read_text(encoding="utf-8"))["settings"]
    method = "PCD" if settings["method"] == "pcd" else f"CD-{settings['n_sweeps']}"
    if settings.get("optimizer", "sgd") != "sgd":
        method += f", {settings['optimizer']} steps"
    if settings.get("hidden") == "leaky":
        method += ", leaky units"
    if settings.get("hidden") == "bernoulli":
        method += ", Gaussian visible units"
    return settings["data"].split()[0], method, settings["n_updates"]
