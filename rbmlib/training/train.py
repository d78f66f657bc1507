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

# by name; a new method is entered here
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
        Zeros and ones, or states of the visible layer of ``start``. The rows of a generator are
        used in the given order, ``batch_size`` at a time, whatever the size of its arrays. The
        first batch then determines the visible biases at the start and is used in evaluations.
    n_hidden : int
        Number of hidden units.
    method : {"cd", "pcd", "tempered"}
        Where the chains of the negative phase start: "cd" at the mini-batch, "pcd" where the last
        update ended. "tempered" uses the chains of ``tracker`` and its number of sweeps.
    n_sweeps : int
        Gibbs sweeps for each update (the k of CD-k).
    n_updates, batch_size : int
        Number and size of the mini-batches, which are drawn epoch by epoch without replacement. A
        batch has at most 255 rows unless the method is "tempered".
    learning_rate : float or array (n_updates,)
        A constant, or one rate for each update.
    momentum, weight_decay : float
        Weight decay does not act on the biases.
    rng : int, Generator or None
    start : RBM, optional
        The initial model. By default, it has small random weights. A model without two layers of
        bits is trained in NumPy; training changes only its weights and biases.
    tracker : LogZTracker, optional
        Required by tempered training; ``tracker.monitor(...)`` serves any method.
    monitor_every : int or None
        Updates between two evaluations. By default there are ten evaluations, or fewer if exact
        sums over hidden states would take longer than training. An evaluation records the
        reconstruction error of the first 1,000 rows and, with at most 20 hidden units, the exact
        mean log-likelihood (nats) of the first 10,000 rows. The progress bar shows the last values.
    monitor : function, optional
        ``monitor(rbm)`` returns a dict of numbers to record at each evaluation, or None. For
        example, ``monitor=kept.append`` with a list ``kept`` collects the models.
    patience : int, optional
        Early stopping: stop after this many consecutive evaluations without a new maximum of
        "validation", which the monitor must report, and return the model of the maximum. The
        history holds log Z of this model; the tracker has moved on.

    Returns
    -------
    TrainingResult
        The trained ``rbm``, its ``history``, ``settings`` and ``seconds``.

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
        batches = itertools.chain([data, data], batches)  # for the chains, then the first update
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
    return loop.run(learner, loop.Looks(learner, monitor, patience), every)


def _of_method(settings: dict, tracker) -> dict[str, Any]:
    """Return the settings that the tracker determines; check tracker and batch size."""
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
    """Return the learner for these layers and this method."""
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
