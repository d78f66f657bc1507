"""Where 100 chains in an RBM begin, in groups, and a typical state of each group.

Test images of MNIST, ten of each digit, where the model is of them; else rows of the data, or draws
of the base, each of which is a group of its own.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from rbmlib import datasets

from .live import LiveModel

N_CHAINS = 100


class Starts(NamedTuple):
    """States, the group of each, and what the groups are."""

    states: np.ndarray  # (N_CHAINS, n_visible), zeros and ones
    group: np.ndarray  # number of the group of each state
    typical: np.ndarray  # (n_groups, n_visible): mean training image, or the state itself
    where: str  # "test images of MNIST"
    what: str  # a group is: "digit"

    def nearest(self, states) -> np.ndarray:
        """Number of the group whose typical state is nearest to each of some states."""
        squares = (self.typical**2).sum(axis=1)
        return (squares - 2 * np.asarray(states) @ self.typical.T).argmin(axis=1)


def starts_of(live: LiveModel, seed: int) -> Starts:
    """Starts that suit a chapter's live model."""
    if live.is_mnist:
        mnist = datasets.load_mnist()
        chosen = [np.flatnonzero(mnist.test_labels == digit)[:10] for digit in range(10)]
        means = [mnist.train[mnist.train_labels == digit].mean(axis=0) for digit in range(10)]
        states = mnist.test[np.concatenate(chosen)].astype(float)
        group = np.repeat(np.arange(10), 10)
        return Starts(states, group, np.stack(means), "test images of MNIST", "digit")
    chooser = np.random.default_rng(seed)
    if live.train is None:
        probability = 1 / (1 + np.exp(-live.base))
        states = (chooser.random((N_CHAINS, len(live.base))) < probability).astype(float)
        where = f"draws of the {live.base_name} base"
    else:
        rows = chooser.integers(len(live.train), size=N_CHAINS)
        states, where = live.train[rows].astype(float), "rows of the data"
    typical, group = np.unique(states, axis=0, return_inverse=True)
    return Starts(states, group.ravel(), typical, where, "start")
