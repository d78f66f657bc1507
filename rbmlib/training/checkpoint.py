"""The state of a training in a file, from which it goes on to the same bits."""

from __future__ import annotations

import json
import os
import zipfile
from pathlib import Path

from ..checks import PARAMETERS
from ..files import checked_target, read_npz, write_npz
from .loop import Learner


class Checkpoint:
    """The state of a training in one file, for the same data; only the settings are compared."""

    def __init__(self, path, settings: dict):
        if not isinstance(path, (str, os.PathLike, type(None))):
            raise TypeError(f"checkpoint is {path!r}: expected a path to an .npz, or None")
        self.path = None if path is None else Path(path)
        if self.path is not None and self.path.suffix != ".npz":
            raise ValueError(f"checkpoint is {str(path)!r}: expected a path to an .npz")
        if self.path is not None and not self.path.parent.is_dir():
            raise FileNotFoundError(
                f"checkpoint is {str(path)!r}: there is no folder {str(self.path.parent)!r}"
            )
        if self.path is not None:
            checked_target(self.path, "checkpoint")
        self.settings = json.dumps(settings)

    def save(self, learner: Learner, seconds: float) -> None:
        if self.path is None:
            return
        arrays = dict(zip(PARAMETERS, learner.parameters, strict=True))
        arrays |= {f"velocity_{n}": v for n, v in zip(PARAMETERS, learner.averages, strict=True)}
        state = {
            "n_done": learner.n_done, "looks": learner.looks, "seconds": seconds,
            "rng": learner.rng.bit_generator.state, "settings": self.settings,
        }  # fmt: skip
        arrays |= {"order": learner.order, "chains": learner.chains, "gram": learner.gram}
        write_npz(self.path, arrays | {"state": json.dumps(state)}, zipfile.ZIP_STORED)

    def load(self, learner: Learner) -> float:
        """Seconds spent before."""
        if self.path is None or not self.path.is_file():
            return 0.0
        try:
            arrays = read_npz(self.path)
            state = json.loads(str(arrays["state"]))
            same = state["settings"] == self.settings
            if same:
                self._restore(learner, arrays, state)
        except (KeyError, TypeError, ValueError) as error:
            raise ValueError(
                f"checkpoint is {str(self.path)!r}, which is damaged or no checkpoint ({error}): "
                "delete it to start again, or give the path of a new file"
            ) from None
        if not same:
            raise ValueError(
                f"checkpoint {self.path.name} is of a training with other settings: expected "
                "the same ones, or the path of a new file"
            )
        return state["seconds"]

    @staticmethod
    def _restore(learner: Learner, arrays: dict, state: dict) -> None:
        for name, velocity in zip(PARAMETERS, learner.averages, strict=True):
            getattr(learner, name)[:] = arrays[name]
            velocity[:] = arrays[f"velocity_{name}"]
        learner.order, learner.chains = arrays["order"], arrays["chains"]
        learner.gram = arrays["gram"]
        learner.rng.bit_generator.state = state["rng"]
        learner.n_done, learner.looks = state["n_done"], state["looks"]
