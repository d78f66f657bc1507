"""Training RBMs by contrastive divergence, persistent chains, and tempered samples."""

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np

from .. import checks
from .._kernels import learning
from ..models.conversion import as_rbm
from ..models.layers import Binary, one_hot
from ..models.named import BernoulliRBM
from ..models.rbm import RBM
from ..paths.bases import base_rate
from ..results import warn
from . import loop
from .cd import CompiledDivergence, ContrastiveDivergence, Tempered
from .loop import TrainingResult
from .tracking import LogZTracker

# by name; whoever has another enters it here
METHODS: dict[str, type[ContrastiveDivergence]] = {"cd": CompiledDivergence}
METHODS |= {"pcd": CompiledDivergence, "tempered": Tempered}


def train(
    data,
    n_hidden: int,
    *,
    method: str = "pcd",
    n_sweeps: int = 1,
    n_updates: int = 20_000,
    batch_size: int = 100,
    learning_rate: loop.Rate = 0.05,
    momentum: float = 0.0,
    weight_decay: float = 0.0,
    rng=None,
    start: RBM | None = None,
    tracker: LogZTracker | None = None,
    monitor_every: int | None = None,
    monitor: Callable[[RBM], dict[str, float] | None] | None = None,
    patience: int | None = None,
) -> TrainingResult[RBM]:
    """Train an RBM on data: by default a Bernoulli RBM on zeros and ones.

    Parameters
    ----------
    data : array (n_samples, n_visible), or generator of such arrays
        Zeros and ones; states of the visible layer of ``start`` where that is of another kind.
        A generator is asked for rows as they are needed, ``batch_size`` at a time whatever the size
        of its own. Their order is its own, so the same bits need the same order beside the same
        ``rng``. The first rows stand for the data where visible biases start, and in looks.
    n_hidden : int
    method : {"cd", "pcd", "tempered"}
        Where the negative phase starts: at the mini-batch, or where it ended last time; or the
        chains of ``tracker``, with its number of sweeps.
    n_sweeps : int
        Gibbs sweeps an update (the k of CD-k).
    n_updates, batch_size : int
        Mini-batches, drawn epoch by epoch without replacement; of at most 255 rows unless the
        method is "tempered".
    learning_rate : float or array (n_updates,)
        Constant, or one rate an update.
    momentum, weight_decay : float
        Decay acts on the weights, not on the biases.
    rng : int, Generator or None
    start : RBM, optional
        The model to go on from; small random weights by default. One whose layers are not both of
        bits is trained in NumPy, biases and weights alone.
    tracker : LogZTracker, optional
        Of tempered training. ``tracker.monitor(...)`` serves any method.
    monitor_every : int or None
        Updates between two looks at the model; None: ten looks, or fewer where sums over
        states of hidden units would take longer than training. Each records the reconstruction
        error of the first 1,000 rows, and with at most 20 hidden units the exact mean
        log-likelihood (nats) of the first 10,000. The line of progress shows the last one; with a
        monitor of ``tracker``, its "train" and "validation".
    monitor : function, optional
        ``monitor(rbm)`` -> dict of numbers, recorded at each look, or None: with ``kept = []``
        and ``monitor=kept.append`` the models of all looks are collected.
    patience : int, optional
        Early stopping: stop after so many looks in a row without a new maximum of "validation",
        which the monitor reports, and return the model of that maximum. (A tracker is then some
        looks further: log Z of the model returned is in the history.)

    Returns
    -------
    TrainingResult

    Examples
    --------
    >>> import numpy as np, rbmlib as rl
    >>> data = np.tile([[1, 1, 0, 0], [0, 0, 1, 1]], (50, 1))
    >>> result = rl.train(data, n_hidden=2, n_updates=500, rng=0)
    >>> bool(result.history["log_likelihood"][-1] > result.history["log_likelihood"][0])
    True
    """
    settings: dict[str, Any] = {"method": checks.one_of("method", method, METHODS)}
    settings |= loop.common_settings(
        rng, learning_rate, momentum, weight_decay, n_hidden=n_hidden, n_sweeps=n_sweeps,
        n_updates=n_updates, batch_size=batch_size,
    )  # fmt: skip
    settings |= _of_method(settings, tracker)
    if not (monitor is None or callable(monitor)):
        raise TypeError(f"monitor is {monitor!r}: expected a function, of the model, or None")
    start = None if start is None else as_rbm("start", start, "a BernoulliRBM, an RBM or None")
    if start is not None and not start.hidden.conditional:
        raise TypeError(f"start is {start!r}: expected hidden units with a conditional")
    batches = None
    if hasattr(data, "__iter__") and not hasattr(data, "__getitem__"):  # no array, frame or list
        layer = None if start is None else start.visible
        batches = loop.stream(data, settings["batch_size"], layer)
        data = next(batches)
        batches = itertools.chain([data, data], batches)  # where chains start, and a first batch
    if start is None:
        shape = checks.numeric("data", data, "(n_samples, n_visible)").shape
        if len(shape) != 2:
            raise ValueError(f"data has shape {shape}: expected (n_samples, n_visible)")
    visible = start.visible if start is not None else Binary(np.zeros(shape[1]))
    states = checks.states("data", data, visible)
    if start is None and (q := one_hot(states)):
        n = states.shape[1]
        remedy = f"start=rl.RBM(rl.Potts(np.zeros({n}), q={q}), rl.Binary(np.zeros({n_hidden})), W)"
        held = f"data are {n // q} groups of {q} with a single 1 in each, trained as bits"
        warn(f"{held}: for units of {q} states, {remedy}", UserWarning)
    learner = _learner(states, settings, start, checks.generator(rng), batches, tracker)
    every = loop.looks_every(monitor_every, settings["n_updates"], learner.apart)
    looks = loop.Looks(learner, monitor, patience)
    return loop.run(learner, looks, every)


def _of_method(settings: dict, tracker) -> dict[str, Any]:
    """What the tracker decides, if the method has one."""
    tempered = issubclass(METHODS[settings["method"]], Tempered)
    if not isinstance(tracker, LogZTracker if tempered else type(None)):
        meaning = "a LogZTracker with method='tempered', and None with others"
        raise ValueError(f"tracker is {tracker!r}: expected {meaning}")
    if tempered:
        return {name: getattr(tracker, name) for name in ("n_sweeps", "n_chains", "gain")}
    if settings["batch_size"] > learning.MAX_BATCH:
        meaning = f"at most {learning.MAX_BATCH}, up to which gradients are summed exactly"
        raise ValueError(f"batch_size is {settings['batch_size']}: expected {meaning}")
    return {}


def _learner(data, settings: dict, start: RBM | None, rng, batches, tracker):
    """The one that these layers and this method take."""
    shape, kind = (data.shape[1], settings["n_hidden"]), METHODS[settings["method"]]
    weights = rng.normal(scale=0.01, size=shape)
    if start is None:
        start = BernoulliRBM(weights, base_rate(data), np.zeros(shape[1]))
    elif start.weights.shape != shape or (start.log_scale and tracker):
        meaning = f"{shape[0]} visible units as in data, {shape[1]} hidden ones, no log_scale"
        raise ValueError(f"start is {start!r}: expected {meaning}")
    bits = type(start.visible) is type(start.hidden) is Binary and not start.log_scale
    if kind is CompiledDivergence and not bits:
        kind = ContrastiveDivergence
    return kind(start, data, settings, rng, batches, tracker)
