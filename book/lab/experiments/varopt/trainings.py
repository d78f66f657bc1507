"""Models trained with other settings, where Kiwaki (2015) leaves them open.

Of his models with 500 hidden units he draws the number of epochs, the learning rate and the
strength of the L2 penalty, and prints neither the ranges nor what was drawn (section 7.2). Of those
with 20 hidden units he keeps the rate fixed, and does not print it (section 7.1).
"""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

import numpy as np

from rbmbook.sweeps.words import MODELS
from rbmlib import datasets
from rbmlib.models import BernoulliRBM
from rbmlib.training import train

N_DRAWN, N_AGAIN = 3, 3
UPDATES_AN_EPOCH = 600  # 60,000 images, 100 an update
RATES = (0.002,)  # of PCD(20); that of pcd_20 is 0.02
RATES_AGAIN = (0.003, 0.005, 0.01)  # between the two, of all three kinds with 20 hidden units
KINDS = {"pcd_20": ("pcd", 1), "cd1_20": ("cd", 1), "cd25_20": ("cd", 25)}


def drawn_settings(draw: int) -> dict:
    """Settings of the training number ``draw``: 4 to 20 epochs, rates and penalties that are
    uniform on a logarithmic scale.

    Examples
    --------
    >>> drawn_settings(1)["n_updates"] % UPDATES_AN_EPOCH
    0
    """
    rng = np.random.default_rng([500, draw])
    return {
        "n_updates": UPDATES_AN_EPOCH * int(rng.integers(4, 21)),
        "learning_rate": float(f"{0.05 * 10 ** -rng.random():.2g}"),
        "weight_decay": float(f"{1e-3 * 100 ** -rng.random():.2g}"),
    }


class Training(NamedTuple):
    """Settings of a training on MNIST, 100 images an update; called, it trains, in minutes."""

    n_hidden: int
    n_updates: int
    learning_rate: float
    weight_decay: float
    rng: int
    method: str = "pcd"
    n_sweeps: int = 1

    @property
    def size(self) -> tuple[int, int]:
        return datasets.load_mnist().train.shape[1], self.n_hidden

    def __call__(self) -> BernoulliRBM:
        return _trained(self)


@lru_cache(maxsize=1)
def _trained(training: Training) -> BernoulliRBM:
    """Kept: all tasks on a model follow each other."""
    images = datasets.load_mnist().train
    settings = training._asdict() | {"monitor_every": training.n_updates}
    return train(images, **settings).rbm


MODELS |= {
    f"pcd_500, training {k}": Training(500, **drawn_settings(k), rng=k)
    for k in range(1, N_DRAWN + 1)
}
MODELS |= {f"pcd_20, rate {x}": Training(20, 250_000, x, 0.0, 0) for x in RATES}
MODELS |= {
    f"{name}, rate {rate}, training {k}": Training(20, 250_000, rate, 0.0, k, *kind)
    for name, kind in KINDS.items()
    for rate in RATES_AGAIN
    for k in range(1, N_AGAIN + 1)
}
