"""Models of a training, kept on the way."""

from __future__ import annotations

from collections.abc import Callable

from .._validation import callback
from ..models.bernoulli import BernoulliRBM


class Checkpoints(list):
    """A list of models, filled by a training that it watches.

    Give it as ``monitor`` to `rbmlib.train`: it keeps the model of every look, the first and the
    last included. `rbmlib.trajectory` takes it as it is.

    Parameters
    ----------
    monitor : function, optional
        Another monitor, to be called too: what it reports goes into the history.

    Examples
    --------
    >>> import numpy as np, rbmlib as rl
    >>> data, kept = np.tile([[1, 1, 0, 0], [0, 0, 1, 1]], (50, 1)), rl.Checkpoints()
    >>> result = rl.train(data, 2, n_updates=100, monitor=kept, monitor_every=20, rng=0)
    >>> len(kept), bool((kept[-1].weights == result.rbm.weights).all())
    (6, True)
    """

    def __init__(self, monitor: Callable[[BernoulliRBM], dict[str, float]] | None = None):
        super().__init__()
        callback("monitor", monitor)
        self.monitor = monitor

    def __call__(self, rbm: BernoulliRBM) -> dict[str, float]:
        self.append(rbm)
        return self.monitor(rbm) if self.monitor else {}
