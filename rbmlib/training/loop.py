"""The loop of training, of any model: settings, mini-batches, steps, looks at the model."""

from __future__ import annotations

import numbers
import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Generic, NamedTuple, TypeVar

import numpy as np

from .. import checks, context
from ..models.layers import Bits

FINITE = float(np.finfo(np.float32).max)
WATCHED = "validation"  # of what a monitor gives: a training with patience stops by it
Rate = float | Sequence[float] | np.ndarray | Callable[[int], float]

# settings -----------------------------------------------------------------------------------


def common_settings(
    rng, learning_rate, final_learning_rate, momentum, weight_decay, **counts
) -> dict[str, Any]:
    """What every training is told, checked; with the version of the library."""
    settings: dict[str, Any] = {name: checks.count(name, value) for name, value in counts.items()}
    checks.number("momentum", momentum, "a number of at least 0 and below 1", below=1)
    meaning = f"a number of at least 0, {FINITE:.1e} at most"  # they are float32 in the loops
    given = {"momentum": momentum, "weight_decay": weight_decay}
    if callable(learning_rate):
        learning_rate = [learning_rate(update) for update in range(settings["n_updates"])]
    if isinstance(learning_rate, (list, tuple)) or getattr(learning_rate, "ndim", False):
        if final_learning_rate is not None or len(learning_rate) != settings["n_updates"]:
            raise ValueError(
                f"learning_rate has {len(learning_rate)} values, and final_learning_rate is "
                f"{final_learning_rate!r}: expected one value an update, which are "
                f"{settings['n_updates']}, without a final one; or a number"
            )
        each = {f"learning_rate[{i}]": rate for i, rate in enumerate(learning_rate)}
        settings["learning_rate"] = np.array([  # which prints its ends, where it is long
            checks.number(name, rate, meaning, least=0, most=FINITE) for name, rate in each.items()
        ])  # fmt: skip
    else:
        last = learning_rate if final_learning_rate is None else final_learning_rate
        given |= {"learning_rate": learning_rate, "final_learning_rate": last}
    for name, value in given.items():
        settings[name] = checks.number(name, value, meaning, least=0, most=FINITE)
    return settings | {"rng": checks.seed_of(rng), "version": context.__version__}


def stream(batches, size: int, layer) -> Iterator[np.ndarray]:
    """Rows of batches of any size, ``size`` at a time; from the beginning again at their end."""
    kept, n_before, n_rows = None, -1, 0
    while n_rows > n_before:
        n_before = n_rows
        for batch in batches:
            rows = np.atleast_2d(checks.numeric("a batch of data", batch, "rows of numbers"))
            layer = layer or Bits(np.zeros(rows.shape[-1]))
            rows = checks.states("a batch of data", rows, layer)
            kept = rows if kept is None else np.concatenate([kept, rows])
            n_rows += len(rows)
            while len(kept) >= size:
                yield kept[:size]
                kept = kept[size:]
    raise ValueError(
        f"data has ended after {n_rows} rows: expected n_updates * batch_size of them, or batches "
        "that can be gone through again, such as a loader of them"
    )


# results ------------------------------------------------------------------------------------

Model = TypeVar("Model")


class TrainingResult(NamedTuple, Generic[Model]):
    """A trained model, what was seen on the way, and how it was made."""

    rbm: Model
    history: dict[str, np.ndarray]  # "update", "reconstruction_error", ...: one value a look
    settings: dict[str, Any]
    seconds: float


def seen_by(monitor, rbm) -> dict[str, float]:
    """What ``monitor`` says of the model: a dict of numbers, or None."""
    seen = None if monitor is None else monitor(rbm)
    if seen is None:
        return {}
    if not isinstance(seen, dict):
        raise TypeError(f"monitor gave {seen!r}: expected a dict of numbers")
    for name, value in seen.items():
        if not isinstance(value, numbers.Real):
            raise TypeError(f"monitor gave {name} = {value!r}: expected a number")
    return seen


# a model in training ------------------------------------------------------------------------


class Learner:
    """A model in training. A subclass has `update`, `rbm` and `look`, and calls `begin`."""

    dtype: type = np.float32
    batches: Iterator[np.ndarray] | None = None  # in an order of their own
    weights: np.ndarray
    visible_bias: np.ndarray
    hidden_bias: np.ndarray

    def __init__(self, data: np.ndarray, settings: dict, rng: np.random.Generator):
        if len(data) < (size := settings["batch_size"]):
            raise ValueError(
                f"data has {len(data)} rows: expected at least batch_size, which is {size}; give "
                f"batch_size={len(data)} or less"
            )
        self.data, self.settings, self.rng = data, settings, rng
        self.order = np.empty(0, int)
        self.n_done, self.started = 0, time.perf_counter()
        self.looks: list[dict[str, float]] = []

    def begin(self, *parameters) -> None:
        """From copies of weights, visible and hidden biases."""
        self.weights, self.visible_bias, self.hidden_bias = (
            np.array(p, self.dtype) for p in parameters
        )
        # running ones, one a parameter: of gradients (momentum), or what a step of its own keeps
        self.averages = [np.zeros_like(p) for p in self.parameters]

    @property
    def parameters(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        return self.weights, self.visible_bias, self.hidden_bias

    @property
    def seconds(self) -> float:
        return time.perf_counter() - self.started

    def update(self, rate: float) -> None:
        raise NotImplementedError

    def rbm(self):
        raise NotImplementedError

    def look(self, monitor) -> dict[str, float]:
        """What is recorded of the model now."""
        raise NotImplementedError

    def next_rows(self) -> np.ndarray:
        """Numbers of rows of the data, epoch by epoch without replacement."""
        size = self.settings["batch_size"]
        if self.order.size < size:
            self.order = self.rng.permutation(len(self.data))
        rows, self.order = self.order[:size], self.order[size:]
        return rows

    def next_batch(self) -> np.ndarray:
        rows = next(self.batches) if self.batches else self.data[self.next_rows()]
        return rows.astype(np.float32, copy=False)

    def momentum_step(self, rate: float, gradients) -> None:
        """As the compiled step of CD and PCD does it (`_kernels.learning`): change both."""
        kept = np.float32(self.settings["momentum"])
        for parameter, speed, gradient in zip(
            self.parameters, self.averages, gradients, strict=True
        ):
            speed *= kept
            speed += np.float32(rate) * gradient
            parameter += speed

    def check_finite(self, *arrays, largest: float = FINITE) -> None:
        if not all((np.abs(array) <= largest).all() for array in arrays):  # nor is NaN
            raise FloatingPointError(
                "training diverged: parameters are no longer finite, or too large for a model; "
                f"lower learning_rate (now {np.max(self.settings['learning_rate'])}) or momentum"
            )


class Looks:
    """What was seen of the model on the way, and when to stop."""

    def __init__(self, learner: Learner, monitor, patience: int | None = None):
        self.learner, self.monitor = learner, monitor
        self.patience = None if patience is None else checks.count("patience", patience)
        self.best: tuple[int, Any] | None = None
        self.seen = learner.looks
        if not self.seen:
            self.add()
        if self.patience is not None and WATCHED not in self.seen[0]:
            raise ValueError(
                f"patience is {self.patience}, but {WATCHED!r} is not among "
                f"{', '.join(self.seen[0])}: expected a monitor that gives it, such as "
                "tracker.monitor(validation=...)"
            )

    def add(self) -> bool:
        """One more look; whether it is time to stop."""
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
        """What the line of progress says of the last look: log-likelihoods, if there are any."""
        names = ("log_likelihood", "train", WATCHED), ("reconstruction_error",)
        found = ({n: self.seen[-1][n] for n in some if n in self.seen[-1]} for some in names)
        return next(found) or next(found)

    def result(self) -> TrainingResult:
        rbm = self.best[1] if self.best else self.learner.rbm()
        names = {name: None for look in self.seen for name in look}  # a monitor may skip some
        history = {n: np.array([look.get(n, np.nan) for look in self.seen]) for n in names}
        return TrainingResult(rbm, history, self.learner.settings, self.learner.seconds)


def looks_every(monitor_every: int | None, n_updates: int, least: int = 1) -> int:
    """Updates between two looks: by default a tenth of all, and no fewer than some."""
    tenth = max(least, -(-n_updates // 10))
    return checks.count("monitor_every", tenth if monitor_every is None else monitor_every)


def run(
    learner: Learner, looks: Looks, every: int, on_look: Callable[[], None] = lambda: None
) -> TrainingResult:
    """Update after update, from where the learner is; a look at the model after every so many."""
    settings = learner.settings
    n_updates = settings["n_updates"]
    rates = np.array(settings["learning_rate"], float)
    if not rates.ndim:
        rates = np.linspace(rates, settings["final_learning_rate"], n_updates)
    rates *= np.minimum(1, np.arange(1, n_updates + 1) / max(1, settings.get("warm_up", 0)))
    with context.bar(n_updates, f"{settings['method']}-{settings['n_sweeps']}") as shown:
        shown.update(learner.n_done)
        while learner.n_done < n_updates:
            learner.update(rates[learner.n_done])
            shown.update(1)
            if learner.n_done % every == 0 or learner.n_done == n_updates:
                stop = looks.add()
                shown.set_postfix(looks.told(), refresh=False)
                on_look()
                if stop:
                    break
    return looks.result()
