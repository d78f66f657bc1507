"""Training, its tracker, continuous models, leaky recursions: errors name the wrong argument."""

import numpy as np
import pytest
from helpers_refusals import DATA, RBM, A, B, W, assert_refused, changed, named, train

import rbmlib as rl
from rbmbook.step_sizes import tune_step_size
from rbmlib import GeometricPath

TRAINING = {
    "no tracker": (train(DATA, 3, tracker=5), "tracker is 5: expected a LogZTracker with"),
    "counts": (train(DATA * 2, 3), "data holds values"),
    "grey": (train(DATA * 0.5, 3), "data holds values"),
    "3-d": (train(DATA[None], 3), "data has shape (1, 120, 4)"),
    "one row": (train(DATA[0], 3), "data has shape (4,)"),
    "name of data": (train("mnist", 3), "data is not an array"),
    "number": (train(3, 3), "data has shape ()"),
    "few rows": (train(DATA[:5], 3), "data has 5 rows"),
    "no hidden": (train(DATA, 0), "n_hidden is 0"),
    "word": (train(DATA, "ten"), "n_hidden is 'ten'"),
    "method": (train(DATA, 3, method="sgd"), "method is 'sgd'"),
    "batch": (train(DATA, 3, batch_size=256), "batch_size is 256"),
    "sweeps": (train(DATA, 3, n_sweeps=0), "n_sweeps is 0"),
    "updates": (train(DATA, 3, n_updates=0), "n_updates is 0"),
    "rate": (train(DATA, 3, learning_rate=-1), "learning_rate is -1"),
    "NaN rate": (train(DATA, 3, learning_rate=np.nan), "learning_rate is nan"),
    "word as rate": (train(DATA, 3, learning_rate="low"), "learning_rate is 'low'"),
    "no momentum": (train(DATA, 3, momentum=None), "momentum is None"),
    "decay": (train(DATA, 3, weight_decay=1j), "weight_decay is 1j"),
    "seed": (train(DATA, 3, rng=-1), "rng is -1"),
    "looks": (train(DATA, 3, monitor_every=-1), "monitor_every is -1"),
    "no looks": (train(DATA, 3, monitor_every=0), "monitor_every is 0"),
    "no descent": (train(DATA, 3, momentum=1), "momentum is 1"),
    "no function": (train(DATA, 3, monitor=3), "monitor is 3"),
    "no dict": (train(DATA, 3, monitor=lambda _: 5), "monitor gave 5"),
    "word seen": (
        train(DATA, 3, monitor=lambda _: {"a": "x"}),
        "monitor gave {'a': 'x'}: expected a dict of numbers",
    ),
    "NaN to stop by": (
        train(DATA, 3, monitor=lambda _: {"validation": np.nan}, patience=1),
        "monitor gives validation = nan",
    ),
    "nothing to stop by": (
        train(DATA, 3, n_updates=1, patience=1),
        "patience is 1, but 'validation' is not among update, reconstruction_error, "
        "log_likelihood: expected a monitor that gives it, such as tracker.monitor(",
    ),
}


class Density:
    """A standard Gaussian, with one method replaced."""

    n_visible = 2

    def __init__(self, **methods):
        self.__dict__.update(methods)

    def log_density(self, x):
        return -(x**2).sum(axis=1) / 2

    def gradient(self, x):
        return -x


def along(**methods):
    return lambda: rl.DensityPath(Density(**methods), 4.0)


CONTINUOUS = {
    "one number": (along(log_density=lambda x: -1.0), "target.log_density gave shape ()"),
    "column": (
        along(log_density=lambda x: np.zeros((len(x), 1))),
        "target.log_density gave shape (10, 1)",
    ),
    "NaN density": (
        along(log_density=lambda x: x[:, 0] * np.nan),
        "target.log_density gave shape (10,), 10 NaN",
    ),
    "flat gradient": (along(gradient=lambda x: x[:, 0]), "target.gradient gave shape (10,)"),
    "NaN gradient": (
        along(gradient=lambda x: x * np.nan),
        "target.gradient gave shape (10, 2), 20 NaN",
    ),
    "sure": (
        lambda: tune_step_size(lambda x, step: None, np.zeros((5, 1)), target=2),
        "target is 2: expected a probability above 0 and below 1",
    ),
    "never": (
        lambda: tune_step_size(lambda x, step: None, np.zeros((5, 1)), target=0),
        "target is 0: expected a probability",
    ),
    "no size": (lambda: rl.DensityPath(Density(n_visible="2"), 1.0), "target.n_visible is '2'"),
    "leaky": (lambda: GeometricPath(rl.LeakyRBM(W / 9)), "rbm is a LeakyRBM"),
}


def tracker(**settings):
    return lambda: rl.LogZTracker(**{"base": B, "n_chains": 10, "rng": 0} | settings)


TRACKER = {
    "NaN base": (tracker(base=changed(B, np.nan)), "base holds 1 NaN"),
    "data as base": (tracker(base=DATA), "base has shape (120, 4)"),
    "columns": (lambda: tracker()().monitor(train=DATA[:, :3]), "train has shape (120, 3)"),
    "bytes": (lambda: tracker()().monitor(validation=DATA * 255), "validation holds values"),
    "size": (lambda: tracker(base=A)().update(RBM), "rbm has 4 visible units"),
}


@pytest.mark.parametrize(**named(training=TRAINING, continuous=CONTINUOUS, tracker=TRACKER))
def test_wrong_argument_is_named(call, name):
    assert_refused(call, name)
