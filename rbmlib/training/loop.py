"""The training loop for any model: settings, mini-batches, steps and evaluations."""

import numbers
import time
from collections.abc import Iterator, Sequence
from typing import Any, Generic, NamedTuple, TypeVar

import numpy as np

from .. import checks, context
from ..models.layers import Binary

FINITE = float(np.finfo(np.float32).max)
WATCHED = "validation"  # the result of a monitor that decides when to stop
Rate = float | Sequence[float] | np.ndarray

# settings -----------------------------------------------------------------------------------


def common_settings(rng, learning_rate, momentum, weight_decay, **counts) -> dict[str, Any]:
    """Return the checked settings of any training run, and the version of the library."""
    settings: dict[str, Any] = {name: checks.count(name, value) for name, value in counts.items()}
    checks.number("momentum", momentum, "a number of at least 0 and below 1", below=1)
    given, n = {"momentum": [momentum], "weight_decay": [weight_decay]}, settings["n_updates"]
    rates, ends = learning_rate, [learning_rate]
    if isinstance(rates, (list, tuple)) or getattr(rates, "ndim", False):
        rates = checks.array("learning_rate", rates, (n,), f"a number, or ({n},), one an update")
        ends = [float(rates.min()), float(rates.max())]
    meaning = f"a number of at least 0, {FINITE:.1e} at most"  # the loops use float32
    for name, values in (given | {"learning_rate": ends}).items():
        for value in values:
            settings[name] = checks.number(name, value, meaning, least=0, most=FINITE)
    if rates is not learning_rate:
        settings["learning_rate"] = rates
    return settings | {"rng": checks.seed_of(rng), "version": context.__version__}


def stream(batches, size: int, layer) -> Iterator[np.ndarray]:
    """Yield the rows of batches of any size, ``size`` at a time."""
    kept, n_rows = None, 0
    for batch in batches:
        rows = np.atleast_2d(checks.numeric("a batch of data", batch, "rows of numbers"))
        layer = layer or Binary(np.zeros(rows.shape[-1]))
        rows = checks.states("a batch of data", rows, layer)
        kept = rows if kept is None else np.concatenate([kept, rows])
        n_rows += len(rows)
        while len(kept) >= size:
            yield kept[:size]
            kept = kept[size:]
    raise ValueError(f"data ended after {n_rows} rows: expected n_updates * batch_size rows")


# results ------------------------------------------------------------------------------------

Model = TypeVar("Model")


class TrainingResult(NamedTuple, Generic[Model]):
    """A trained model, the record of its training, and the settings."""

    rbm: Model
    history: dict[str, np.ndarray]  # "update", "reconstruction_error", ... at each evaluation
    settings: dict[str, Any]
    seconds: float


def seen_by(monitor, rbm) -> dict[str, float]:
    """Return the numbers that ``monitor`` gives for the model."""
    seen = None if monitor is None else monitor(rbm)
    if seen is None:
        return {}
    if not isinstance(seen, dict) or not all(isinstance(x, numbers.Real) for x in seen.values()):
        raise TypeError(f"monitor gave {seen!r}: expected a dict of numbers, or None")
    return seen


# a model in training ------------------------------------------------------------------------


class Learner:
    """A model in training. A subclass calls `begin` and has three methods.

    ``update(rate)`` makes an update of the parameters, ``rbm()`` returns the current model, and
    ``look(monitor)`` returns the numbers to record for it.
    """

    dtype: type = np.float32
    batches: Iterator[np.ndarray] | None = None  # if the data come from a generator
    n_done = 0  # updates
    weights: np.ndarray
    visible_bias: np.ndarray
    hidden_bias: np.ndarray

    def __init__(self, data: np.ndarray, settings: dict, rng: np.random.Generator):
        n, size = len(data), settings["batch_size"]
        if n < size:
            meaning = f"at least batch_size, which is {size}; give batch_size={n} or less"
            raise ValueError(f"data has {n} rows: expected {meaning}")
        self.data, self.settings, self.rng = data, settings, rng
        self.order = np.empty(0, int)

    def begin(self, *given) -> None:
        """Start from copies of weights, visible biases and hidden biases."""
        self.weights, self.visible_bias, self.hidden_bias = (np.array(p, self.dtype) for p in given)
        # velocities of the parameters, or the running averages of another kind of step
        self.averages = [np.zeros_like(p) for p in self.parameters]

    @property
    def parameters(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        return self.weights, self.visible_bias, self.hidden_bias

    def next_rows(self) -> np.ndarray:
        """Return the indices of the next rows, drawn epoch by epoch without replacement."""
        size = self.settings["batch_size"]
        if self.order.size < size:
            self.order = self.rng.permutation(len(self.data))
        rows, self.order = self.order[:size], self.order[size:]
        return rows

    def next_batch(self) -> np.ndarray:
        rows = next(self.batches) if self.batches else self.data[self.next_rows()]
        return rows.astype(np.float32, copy=False)

    def step(self, rate: float, gradients) -> None:
        """Make a step with momentum, as the compiled step (`_kernels.learning`) does."""
        kept = np.float32(self.settings["momentum"])
        for p, speed, gradient in zip(self.parameters, self.averages, gradients, strict=True):
            speed *= kept
            speed += np.float32(rate) * gradient
            p += speed

    def check_finite(self, *arrays, largest: float = FINITE) -> None:
        if not all((np.abs(array) <= largest).all() for array in arrays):  # nor is NaN
            now = f"learning_rate (now {np.max(self.settings['learning_rate'])}) or momentum"
            raise FloatingPointError(f"training diverged: parameters are too large; lower {now}")


class Looks:
    """The evaluations of a model during training, and the rule for early stopping."""

    def __init__(self, learner: Any, monitor, patience: int | None = None):
        self.learner, self.monitor, self.started = learner, monitor, time.perf_counter()
        self.patience = None if patience is None else checks.count("patience", patience)
        self.best: tuple[int, Any] | None = None
        self.seen: list[dict[str, float]] = []
        self.add()
        if self.patience is not None and WATCHED not in self.seen[0]:
            held = f"{WATCHED!r} is not among {', '.join(self.seen[0])}"
            meaning = "a monitor that gives it, such as tracker.monitor(validation=...)"
            raise ValueError(f"patience is {self.patience}, but {held}: expected {meaning}")

    def add(self) -> bool:
        """Evaluate the model; return whether training should stop."""
        with context.using(progress=False):
            self.seen.append(self.learner.look(self.monitor))
        if self.patience is None or WATCHED not in self.seen[-1]:
            return False
        values = [look.get(WATCHED, -np.inf) for look in self.seen]
        if np.isnan(values[-1]):
            raise ValueError(f"monitor gives {WATCHED} = nan: expected a number to stop by")
        if self.best is None or values[-1] > values[self.best[0]]:
            self.best = len(values) - 1, self.learner.rbm()
        return len(values) - 1 - self.best[0] >= self.patience

    def told(self) -> dict[str, float]:
        """Return the numbers for the progress bar: log-likelihoods, if there are any."""
        names = ("log_likelihood", "train", WATCHED), ("reconstruction_error",)
        found = ({n: self.seen[-1][n] for n in some if n in self.seen[-1]} for some in names)
        return next(found) or next(found)

    def result(self) -> TrainingResult:
        rbm = self.best[1] if self.best else self.learner.rbm()
        names = {name: None for look in self.seen for name in look}  # they may differ
        history = {n: np.array([look.get(n, np.nan) for look in self.seen]) for n in names}
        seconds = time.perf_counter() - self.started
        return TrainingResult(rbm, history, self.learner.settings, seconds)


def looks_every(monitor_every: int | None, n_updates: int, least: int = 1) -> int:
    """Return the updates between two evaluations, by default a tenth of all or ``least``."""
    tenth = max(least, -(-n_updates // 10))
    return checks.count("monitor_every", tenth if monitor_every is None else monitor_every)


def run(learner: Any, looks: Looks, every: int) -> TrainingResult:
    """Run all updates; evaluate the model after every ``every`` updates."""
    settings, n_updates = learner.settings, learner.settings["n_updates"]
    rates = np.broadcast_to(np.array(settings["learning_rate"], float), n_updates)
    with context.bar(n_updates, f"{settings['method']}-{settings['n_sweeps']}") as shown:
        for learner.n_done, rate in enumerate(rates, 1):
            learner.update(rate)
            shown.update(1)
            if learner.n_done % every == 0 or learner.n_done == n_updates:
                stop = looks.add()
                shown.set_postfix(looks.told(), refresh=False)
                if stop:
                    break
    return looks.result()
