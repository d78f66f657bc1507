"""The start of a chapter: checked parameters, and the model of its live part with a base."""

import math
import platform
import typing
import warnings
from contextlib import contextmanager
from typing import Any, NamedTuple

import numba
import numpy as np
import scipy

from rbmbook.sweeps.declare import nearest
from rbmbook.sweeps.engine import check_scheduler
from rbmlib import __version__, datasets
from rbmlib.checks import in_memory
from rbmlib.models.layers import OF_SPINS, are_spins
from rbmlib.models.named import BernoulliRBM
from rbmlib.paths.bases import base_rate, mean_field_bias

from .models import load_reference

MNIST_PIXELS = 784
CHAIN_BYTES = 8 * 8 * (784 + 500)  # eight arrays per chain of the largest model in a chapter
NO_THRESHOLD = -1.0  # for the parameter `threshold`: the data are already zeros and ones
FEW, MOST_VALIDATION, FEWEST = 100, 600, 40  # rows for a live training run
_IPYTHON = {"In", "Out", "get_ipython", "exit", "quit", "open"}


def checked_parameters(namespace: dict, **minimum: int) -> None:
    """Check the parameters of a chapter, in place, before anything is computed.

    Every annotated name of the ``parameters`` cell must hold a value of its type. Papermill's forms
    of a value are accepted (``1e3`` for a whole number). An injected name that the chapter does not
    have is refused. ``namespace`` is ``globals()`` in the next cell; ``minimum`` has the smallest
    allowed values, by default 1 for whole numbers, 0 for seed.
    """
    declared = namespace.get("__annotations__", {})
    found = {
        name
        for name, value in namespace.items()
        if not name.startswith("_")
        and name not in _IPYTHON
        and isinstance(value, (int, float, str, bool, list, dict, type(None)))
    }
    for name in sorted(found - {*declared}):
        hint = nearest(name, declared) or "."
        raise ValueError(f"unknown parameter {name}{hint} This chapter has: {', '.join(declared)}")
    for name, kind in declared.items():
        default = {int: 0 if name == "seed" else 1}.get(kind, -math.inf)
        least = minimum.get(name, default)
        namespace[name] = _converted(name, namespace[name], kind, least)
    in_memory("n_chains", namespace.get("n_chains", 1), CHAIN_BYTES)
    if address := namespace.get("scheduler", ""):  # otherwise, it would fail only after minutes
        check_scheduler(address)


def _converted(name: str, value, kind, least: float):
    if typing.get_origin(kind) is list:
        (item,) = typing.get_args(kind)
        if not isinstance(value, list) or not value:
            raise ValueError(
                f"{name} is {value!r}: expected a list, in YAML: -y '{name}: [...]' or -f FILE"
            )
        return [_converted(name, one, item, least) for one in value]
    if kind is int and isinstance(value, float) and value.is_integer():
        value = int(value)
    if kind is float and type(value) is int:
        value = float(value)
    if type(value) is not kind:
        wanted = {int: "a whole number", float: "a number", str: "a word", bool: "true or false"}
        raise ValueError(
            f"{name} is {value!r}: expected {wanted[kind]}, for example -p {name} 1000"
        )
    if kind is float and not math.isfinite(value):
        raise ValueError(f"{name} is {value!r}: expected a finite number")
    if kind in (int, float) and value < least:
        raise ValueError(f"{name} is {value!r}: expected {least} or more")
    return value


@contextmanager
def refused_parameter(name: str, value):
    """Add the name and value of a parameter to errors raised inside the context."""
    try:
        yield
    except (ValueError, OSError, RuntimeError) as error:
        raise ValueError(f"{name} is {value!r}: {error}") from None


@contextmanager
def noted_warnings():
    """Collect warnings in a list of texts instead of writing them to stderr."""
    notes: list[str] = []
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        yield notes
    notes.extend(str(one.message) for one in caught)


def colophon() -> str:
    """One line with the versions on which a result depends."""
    return (
        f"rbmlib {__version__}, Python {platform.python_version()}, NumPy {np.__version__}, "
        f"SciPy {scipy.__version__}, numba {numba.__version__}"
    )


class LiveModel(NamedTuple):
    """An RBM with what a chapter needs to know about it."""

    name: str  # the parameter `model`
    rbm: BernoulliRBM
    train: np.ndarray | None  # rows of zeros and ones
    base: np.ndarray  # visible biases by the base rate of the rows or a mean-field fit to the model
    reference: Any  # row of `load_reference`, or None
    is_mnist: bool  # whether the rows are the images of MNIST

    def sentence(self) -> str:
        rbm = self.rbm
        units = f"{rbm.n_visible} visible and {rbm.n_hidden} hidden units"
        if self.reference is None:  # a reader's file does not say this
            units += " of 0 and 1"
        start = "no data are given, so that annealing begins at a mean-field fit"
        if self.train is not None:
            kind = "images of MNIST" if self.is_mnist else "rows of data"
            start = f"annealing begins at the base rate of {len(self.train):,} {kind}"
        return f"{self.name}: {units}; {start}."


def live_model(model: str, data: str = "", threshold: float = NO_THRESHOLD) -> LiveModel:
    """The model of the parameters ``model``, ``data`` and ``threshold``, checked.

    ``model`` is a registered name or a file for `rbmlib.load_rbm`. ``data`` is a file for
    `rbmlib.datasets.load_rows`, or "" for MNIST if it fits and no data otherwise. Data above the
    threshold become 1.
    """
    with refused_parameter("model", model):
        rbm = datasets.load_rbm(model)
        if not isinstance(rbm, BernoulliRBM):
            raise ValueError(
                f"{rbm!r}: expected, in this chapter, a BernoulliRBM (binary visible units, 0 and "
                "1); for other models run rl.log_z, or python -m rbmlib logz"
            )
    train = _bits(data, threshold, rbm.n_visible)
    is_mnist = train is None and rbm.n_visible == MNIST_PIXELS
    if is_mnist:
        train = datasets.load_mnist().train
    base = mean_field_bias(rbm) if train is None else base_rate(train)
    return LiveModel(model, rbm, train, base, load_reference().get(model), is_mnist)


def _bits(data: str, threshold: float, n_visible: int | None = None, fewest: int = 1):
    """Zeros and ones from the reader's file; None without a file."""
    given = None if threshold == NO_THRESHOLD else threshold
    if not data:
        if given is not None:
            raise ValueError(f"threshold is {threshold!r}, but no data are given: -p data FILE")
        return None
    with refused_parameter("data", data):
        rows = datasets.load_rows(data, n_visible, threshold=given)
        if are_spins(rows):
            raise ValueError(f"it holds {OF_SPINS}; chapters take units of 0 and 1 alone")
        if rows.dtype != np.uint8:
            raise ValueError(
                "it holds intensities between 0 and 1: expected zeros and ones, or a threshold, "
                "for example -p threshold 0.5"
            )
        if len(rows) < fewest:
            raise ValueError(f"it has {len(rows)} rows: expected {fewest} or more")
    return rows


class LiveRows(NamedTuple):
    """Rows for a live training run that overfits: few for training, others for validation."""

    few: np.ndarray
    validation: np.ndarray
    words: str  # description of the few

    def sentence(self) -> str:
        return (
            f"The live training run is on {self.words} ({self.few.shape[1]} columns); "
            f"{len(self.validation)} other rows are for validation."
        )


def live_rows(data: str, threshold: float, seed: int) -> LiveRows:
    """Rows of the reader, or of DNA, in random order: half of them, at most 100, for training."""
    rows = _bits(data, threshold, fewest=FEWEST)
    if rows is None:
        dna = datasets.load_dna().train
        return LiveRows(dna[:FEW], dna[1400:], f"{FEW} rows of DNA")
    rows = np.random.default_rng(seed).permutation(rows)
    n = min(FEW, len(rows) // 2)
    return LiveRows(rows[:n], rows[n:][-MOST_VALIDATION:], f"{n} rows of {data}")
