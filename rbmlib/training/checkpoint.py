"""The state of a training in a file, from which it goes on to the same bits."""

from __future__ import annotations

import json
import os
import zipfile
from pathlib import Path

from ..files import checked_target, read_arrays, write_npz
from .loop import Learner

ARRAYS = ("weights", "visible_bias", "hidden_bias", "order", "chains", "gram")


def checked(path) -> Path | None:
    if path is None:
        return None
    if not isinstance(path, (str, os.PathLike)) or Path(path).suffix != ".npz":
        raise ValueError(f"checkpoint is {path!r}: expected a path to an .npz, or None")
    checked_target(path, "checkpoint")
    return Path(path)


def save(path: Path, learner: Learner) -> None:
    arrays = {name: getattr(learner, name) for name in ARRAYS}
    arrays |= {f"velocity_{i}": velocity for i, velocity in enumerate(learner.averages)}
    settings = json.dumps(learner.settings, default=list)
    state = {
        "n_done": learner.n_done, "looks": learner.looks, "seconds": learner.seconds,
        "rng": learner.rng.bit_generator.state, "settings": settings,
    }  # fmt: skip
    write_npz(path, arrays | {"state": json.dumps(state)}, zipfile.ZIP_STORED)


def restore(path: Path, learner: Learner) -> None:
    """Put the learner where it was when the file, if there is one, was saved.

    The data must be the same; only the settings are compared.
    """
    if not path.is_file():
        return
    try:
        arrays = read_arrays(path)
        state = json.loads(str(arrays.pop("state")))
        same = state["settings"] == json.dumps(learner.settings, default=list)
        if same:
            for name in ARRAYS:
                setattr(learner, name, arrays[name])
            learner.averages = [arrays[f"velocity_{i}"] for i in range(len(learner.averages))]
            learner.rng.bit_generator.state = state["rng"]
            learner.n_done, learner.looks = state["n_done"], state["looks"]
            learner.started -= state["seconds"]
    except (KeyError, TypeError, ValueError) as error:
        raise ValueError(
            f"checkpoint is {str(path)!r}, which is damaged or no checkpoint ({error}): "
            "delete it to start again, or give the path of a new file"
        ) from None
    if not same:
        raise ValueError(
            f"checkpoint {path.name} is of a training with other settings: expected "
            "the same ones, or the path of a new file"
        )
