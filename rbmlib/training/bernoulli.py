"""Training Bernoulli RBMs by contrastive divergence (CD-k), persistent CD, and tempered samples.

The gradient of the mean log-likelihood is ``E_data[v h] - E_model[v h]``. CD-k (Hinton 2002)
starts the chains of the second term at the mini-batch and moves them k sweeps; PCD (Tieleman
2008) goes on with the chains of the last update. Both use p(h | v) for h. The same seed gives
the same bits on any processor (`rbmlib._kernels.learning`), except after spectral steps.

With ``method="tempered"`` the second term is a mean over chains of simulated tempering, which a
`LogZTracker` keeps from update to update: each counts with its probability of beta = 1 (Carlson
et al. 2016, section 4.4). These sums are BLAS's, so their last bits depend on the processor.

Spectral steps (Carlson et al. 2015): log Z is bounded from above by its tangent plus a multiple
of the squared Schatten-infinity norm (largest singular value) of the change of the weights; the
step that does best by this bound is ``rate * X#``, where ``X# = |X|_S1 U V'`` for a gradient
``X = U S V'`` with nuclear norm ``|X|_S1``. All singular directions of a step are equally long, so
the small ones learn as fast as the large. For biases the norm is the largest entry, and
``x# = |x|_1 sign(x)``. RMSspectral measures lengths after division by the root of a running
root-mean-square gradient r, entry by entry: ``d = sqrt(floor + r)``, step ``(X / d)# / d``.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np

from .._kernels import learning
from .._kernels.layers import Run
from .._numerics import expit
from .._validation import (
    LARGEST,
    binary_states,
    callback,
    count,
    generator,
    instance,
    number,
    numeric,
    one_of,
    seen_by,
)
from ..estimators.exact import exact
from ..models.bernoulli import BernoulliRBM
from ..models.conversion import as_rbm
from ..paths.bases import base_rate
from .loop import (
    Learner,
    Looks,
    TrainingResult,
    check_rows,
    counts,
    looks_every,
    origin,
    run,
    step_settings,
)
from .tracking import LogZTracker

METHODS = ("cd", "pcd", "tempered")
OPTIMIZERS = ("sgd", "spectral")
RMS_FLOOR = 1e-5  # where a gradient has always been next to nothing, no step is made of noise
RANK = 1e-7  # singular values below this share of the largest get no step: their sides are noise
MAX_EXACT_UNITS = 20


def train(
    data,
    n_hidden: int,
    *,
    method: str = "pcd",
    optimizer: str = "sgd",
    n_sweeps: int = 1,
    n_updates: int = 20_000,
    batch_size: int = 100,
    learning_rate: float = 0.05,
    final_learning_rate: float | None = None,
    warm_up: int = 0,
    momentum: float = 0.0,
    weight_decay: float = 0.0,
    rms_decay: float = 0.99,
    rng=None,
    start: BernoulliRBM | None = None,
    tracker: LogZTracker | None = None,
    monitor_every: int | None = None,
    monitor: Callable[[BernoulliRBM], dict[str, float]] | None = None,
    patience: int | None = None,
    watch: str = "validation",
    n_threads: int | None = None,
    progress: bool | None = None,
) -> TrainingResult[BernoulliRBM]:
    """Train a Bernoulli RBM on binary data.

    Parameters
    ----------
    data : array (n_samples, n_visible)
        Zeros and ones.
    n_hidden : int
    method : {"cd", "pcd", "tempered"}
        Where the negative phase starts: at the mini-batch, or where it ended last time; or the
        chains of ``tracker``, with its number of sweeps.
    optimizer : {"sgd", "spectral"}
        Gradient steps, with ``momentum`` if asked for; or the steps of RMSspectral (Carlson et
        al. 2015), for which ``learning_rate`` must be much smaller (1e-5 to 1e-4). They take
        singular values from LAPACK, whose last bits differ from processor to processor.
    n_sweeps : int
        Gibbs sweeps an update (the k of CD-k).
    n_updates, batch_size : int
        Mini-batches, drawn epoch by epoch without replacement; of at most 255 rows unless the
        method is "tempered".
    learning_rate, final_learning_rate : float
        Constant, or changing linearly to the second.
    warm_up : int
        Updates over which the rate first rises from zero. Spectral steps need some: their mean
        square gradient begins at zero, so that the first steps are some ten times too long.
    momentum, weight_decay : float
        Decay acts on the weights, not on the biases; spectral steps have no momentum.
    rms_decay : float
        How much of the mean square gradient is kept at a spectral step, in [0, 1).
    rng : int, Generator or None
    start : BernoulliRBM, optional
        The model to go on from; small random weights by default.
    tracker : LogZTracker, optional
        Of tempered training. ``tracker.monitor(...)`` serves any method.
    monitor_every : int or None
        Updates between two looks at the model; None: ten looks. Each records the
        reconstruction error, and with at most 20 hidden units the exact mean log-likelihood
        (nats) of the first 10,000 rows of the data.
    monitor : function, optional
        ``monitor(rbm)`` -> dict of numbers, recorded at each look.
    patience : int, optional
        Early stopping: stop after so many looks in a row without a new maximum of the number
        ``watch`` that the monitor reports, and return the model of that maximum. (A tracker is
        then some looks further: log Z of the model returned is in the history.)

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
    settings = _checked_settings(
        method=method, optimizer=optimizer, n_hidden=n_hidden, n_sweeps=n_sweeps,
        n_updates=n_updates, batch_size=batch_size, learning_rate=learning_rate,
        final_learning_rate=final_learning_rate, warm_up=warm_up, momentum=momentum,
        weight_decay=weight_decay, rms_decay=rms_decay, rng=rng, tracker=tracker,
    )  # fmt: skip
    callback("monitor", monitor)
    instance("watch", watch, str, "the name of a number that the monitor reports")
    if start is not None:
        start = as_rbm("start", start, "a BernoulliRBM, or None")
    states = numeric("data", data, "(n_samples, n_visible)")
    if states.ndim != 2:
        raise ValueError(f"data has shape {states.shape}: expected (n_samples, n_visible)")
    states = binary_states("data", states, states.shape[1])
    check_rows(states, settings["batch_size"])
    started = time.perf_counter()
    learner = _Learner(states, settings, generator(rng), start, tracker)
    every = looks_every(monitor_every, settings["n_updates"])
    looks = Looks(learner, monitor, patience, watch)
    one_thread = optimizer == "spectral"  # the same bits on any number of them
    run(learner, looks, every, n_threads=1 if one_thread else n_threads, progress=progress)
    return TrainingResult(looks.model(), looks.history(), settings, time.perf_counter() - started)


def _checked_settings(
    *, method, optimizer, n_hidden, n_sweeps, n_updates, batch_size, learning_rate,
    final_learning_rate, warm_up, momentum, weight_decay, rms_decay, rng, tracker,
) -> dict[str, Any]:  # fmt: skip
    """The settings of `train`, validated, as they go beside the result."""
    settings: dict[str, Any] = {
        "method": one_of("method", method, METHODS),
        "optimizer": one_of("optimizer", optimizer, OPTIMIZERS),
    }
    settings |= counts(
        n_hidden=n_hidden, n_sweeps=n_sweeps, n_updates=n_updates, batch_size=batch_size
    )
    settings["warm_up"] = count("warm_up", warm_up, 0)
    tempered = method == "tempered"
    if not isinstance(tracker, LogZTracker if tempered else type(None)):
        raise ValueError(
            f"tracker is {tracker!r}: expected a LogZTracker with method='tempered', "
            "and None with others"
        )
    if tempered:
        settings |= {name: getattr(tracker, name) for name in ("n_sweeps", "n_chains", "gain")}
    elif settings["batch_size"] > learning.MAX_BATCH:
        raise ValueError(
            f"batch_size is {settings['batch_size']}: expected at most {learning.MAX_BATCH}, "
            "up to which gradients are summed exactly"
        )
    settings |= step_settings(learning_rate, final_learning_rate, momentum, weight_decay)
    fraction = "a number of at least 0 and below 1"
    decay = number("rms_decay", rms_decay, fraction, least=0, below=1)
    if optimizer == "spectral":
        if settings["momentum"]:
            raise ValueError(
                f"momentum is {settings['momentum']}: expected 0 with optimizer='spectral'"
            )
        settings["rms_decay"] = decay
    return settings | origin(rng)


def sharp(x: np.ndarray) -> np.ndarray:
    """The step ``x#`` that gains most for its length: the maximum of <x, s> - |s|**2 / 2 over s.

    |s| is the largest singular value of a matrix, the largest entry of a vector. For
    ``x = U S V'``, ``x# = trace(S) U V'``, computed from the eigenvectors of the smaller of
    ``x'x`` and ``x x'``.
    """
    x = x.astype(float)
    if x.ndim == 1:
        return np.abs(x).sum() * np.sign(x)
    if x.shape[0] < x.shape[1]:
        return sharp(x.T).T
    squares, right = np.linalg.eigh(x.T @ x)
    singular = np.sqrt(np.maximum(squares, 0))
    kept = singular > RANK * singular[-1]
    right = right[:, kept]
    return singular.sum() * (x @ (right / singular[kept])) @ right.T


class _Learner(Learner):
    """Parameters, their fixed-point copies, and the chains."""

    def __init__(
        self, data, settings: dict, rng: np.random.Generator, start: BernoulliRBM | None,
        tracker: LogZTracker | None,
    ):  # fmt: skip
        super().__init__(data, settings, rng)
        self.tracker = tracker
        shape = data.shape[1], settings["n_hidden"]
        self.weights = rng.normal(scale=0.01, size=shape).astype(np.float32)
        self.visible_bias = base_rate(data).astype(np.float32)
        self.hidden_bias = np.zeros(shape[1], np.float32)
        if start is not None:
            self._go_on_from(start)
        # of gradients (momentum), or of their squares (spectral steps)
        self.averages = [np.zeros_like(x) for x in self.parameters]
        # weights that are all zero say nothing of the scale on which they will be rounded
        likely = self.weights if self.weights.any() else np.full_like(self.weights, 0.01)
        self.integers = learning.integers_of(likely)
        self.seed = np.uint64(rng.integers(2**64, dtype=np.uint64))
        self.draw = 0
        self.chains = self.next_batch()
        if tracker is not None:
            tracker.update(self.rbm())

    def _go_on_from(self, rbm: BernoulliRBM) -> None:
        if rbm.weights.shape != self.weights.shape or rbm.log_scale:
            raise ValueError(
                f"start is {rbm!r}: expected {self.weights.shape[0]} visible units as in data, "
                f"n_hidden, which is {self.weights.shape[1]}, hidden ones, and no log_scale"
            )
        self.weights[:], self.visible_bias[:] = rbm.weights, rbm.visible_bias
        self.hidden_bias[:] = rbm.hidden_bias

    def _requantise(self) -> None:
        while not learning.requantise(self.weights, self.integers):
            self.check_finite(*self.parameters, largest=LARGEST)
            self.integers = self.integers._replace(scale=2 * self.integers.scale)

    def update(self, rate: float) -> None:
        self.n_done += 1
        if self.tracker is not None:
            self._tempered_update(rate, self.next_batch())
            return
        self._requantise()
        batch = self.next_batch()
        if self.settings["method"] == "cd":
            self.chains = batch.copy()
        n_sweeps = self.settings["n_sweeps"]
        parameters = learning.Parameters(*self.parameters)
        phases = batch, self.chains, self.integers, parameters
        sweeps = Run(self.seed, 0, self.draw, 0, n_sweeps)
        if self.settings["optimizer"] == "spectral":
            self._spectral_step(rate, self._gradients(learning.both_phases(*phases, sweeps)))
        else:
            velocities = learning.Parameters(*self.averages)
            numbers = rate, self.settings["momentum"], self.settings["weight_decay"]
            step = learning.Momentum(*map(np.float32, numbers))
            learning.contrastive_divergence(*phases, velocities, step, sweeps)
        self.draw += 2 * n_sweeps

    def _tempered_update(self, rate: float, batch) -> None:
        means = expit(batch @ self.weights + self.hidden_bias)
        size = np.float32(len(batch))
        negative = self.tracker.negative_phase()
        positive = batch.T @ means / size, batch.mean(axis=0), means.mean(axis=0)
        gradients = [p - n for p, n in zip(positive, negative, strict=True)]
        gradients[0] -= np.float32(self.settings["weight_decay"]) * self.weights
        if self.settings["optimizer"] == "spectral":
            self._spectral_step(rate, gradients)
        else:
            self.momentum_step(rate, gradients)
        self.check_finite(*self.parameters, largest=LARGEST)
        self.tracker.update(self.rbm())

    def _gradients(self, phases: learning.Phases) -> tuple:
        size, n_hidden = np.float32(self.settings["batch_size"]), self.hidden_bias.size
        decay = np.float32(self.settings["weight_decay"])
        return (
            learning.gradient(phases, n_hidden) / (learning.GRID * size) - decay * self.weights,
            phases.visible / size,
            phases.hidden[:n_hidden] / (learning.GRID * size),
        )

    def _spectral_step(self, rate: float, gradients) -> None:
        kept = np.float32(self.settings["rms_decay"])
        for parameter, square, gradient in zip(
            self.parameters, self.averages, gradients, strict=True
        ):
            square *= kept
            square += (1 - kept) * gradient**2
            scale = np.sqrt(RMS_FLOOR + np.sqrt(square))
            parameter += (rate * sharp(gradient / scale) / scale).astype(np.float32)

    def rbm(self) -> BernoulliRBM:
        return BernoulliRBM(self.weights, self.visible_bias, self.hidden_bias)

    def look(self, monitor) -> dict[str, float]:
        self.check_finite(*self.parameters, largest=LARGEST)
        rbm = self.rbm()
        sample = self.data[:10_000].astype(float)
        reconstruction = rbm.visible_mean(rbm.hidden_mean(sample))
        seen = {
            "update": self.n_done,
            "reconstruction_error": float(np.abs(reconstruction - sample).sum(axis=1).mean()),
        }
        if rbm.n_hidden <= MAX_EXACT_UNITS:
            log_z = exact(rbm, progress=False).log_z
            seen["log_likelihood"] = float(rbm.log_density(sample).mean() - log_z)
        return seen | seen_by(monitor, rbm)
