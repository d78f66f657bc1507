"""What a chapter begins with: checked parameters, and the model of its live part with a base."""

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
from rbmlib.models import BernoulliRBM
from rbmlib.models.layers import OF_SPINS, are_spins
from rbmlib.paths.bases import base_rate, mean_field_bias

from .models import load_reference

# how to read a model's file: every chapter with a parameter `model` takes these without naming them
OF_A_MODEL = ("layout", "names", "units")
MNIST_PIXELS = 784
CHAIN_BYTES = 8 * 8 * (784 + 500)  # eight arrays of a chain of the largest model of a chapter
NO_THRESHOLD = -1.0  # of the parameter `threshold`: the data are zeros and ones already
FEW, MOST_VALIDATION, FEWEST = 100, 600, 40  # rows of a live training
_IPYTHON = {"In", "Out", "get_ipython", "exit", "quit", "open"}


def checked_parameters(namespace: dict, **minimum: int) -> None:
    """Check the parameters of a chapter, in place, before anything is computed.

    Every annotated name of the ``parameters`` cell must hold a value of its type, in papermill's
    forms too (``1e3`` for a whole number). A name that papermill injected but the chapter does not
    have is refused, except for `OF_A_MODEL`. ``namespace`` is ``globals()``, in the next cell;
    ``minimum`` has the smallest allowed values, of other whole numbers 1, and 0 of seed.
    """
    declared = namespace.get("__annotations__", {})
    found = {
        name
        for name, value in namespace.items()
        if not name.startswith("_")
        and name not in _IPYTHON
        and isinstance(value, (int, float, str, bool, list, dict, type(None)))
    }
    of_a_model = OF_A_MODEL if "model" in declared else ()
    for name in sorted(found - {*declared, *of_a_model}):
        hint = nearest(name, declared) or "."
        raise ValueError(f"unknown parameter {name}{hint} This chapter has: {', '.join(declared)}")
    for name, kind in declared.items():
        default = {int: 0 if name == "seed" else 1}.get(kind, -math.inf)
        least = minimum.get(name, default)
        namespace[name] = _converted(name, namespace[name], kind, least)
    in_memory("n_chains", namespace.get("n_chains", 1), CHAIN_BYTES)
    if address := namespace.get("scheduler", ""):  # or it would be found out after minutes
        check_scheduler(address)


def how_to_read(names: dict) -> dict:
    """What is given of `OF_A_MODEL`, for `rbmlib.load_rbm`."""
    return {word: names[word] for word in OF_A_MODEL if word in names}


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
    """Errors inside, from a value that turned out wrong, name the parameter it came from."""
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
    """Versions that a result depends on, in one line."""
    return (
        f"rbmlib {__version__}, Python {platform.python_version()}, NumPy {np.__version__}, "
        f"SciPy {scipy.__version__}, numba {numba.__version__}"
    )


class LiveModel(NamedTuple):
    """An RBM with what a chapter needs to know of it."""

    name: str  # the parameter `model`
    rbm: BernoulliRBM
    train: np.ndarray | None  # rows of zeros and ones
    base: np.ndarray  # visible biases: the base rate of the rows, or a mean-field fit to the model
    reference: Any  # row of `load_reference`, or None
    is_mnist: bool  # the rows are the images of MNIST

    def sentence(self) -> str:
        rbm = self.rbm
        units = f"{rbm.n_visible} visible and {rbm.n_hidden} hidden units"
        if self.reference is None:  # what the file of a reader does not say
            units += " of 0 and 1"
        start = "no data are given, so that annealing begins at a mean-field fit"
        if self.train is not None:
            kind = "images of MNIST" if self.is_mnist else "rows of data"
            start = f"annealing begins at the base rate of {len(self.train):,} {kind}"
        return f"{self.name}: {units}; {start}."


def live_model(
    model: str, data: str = "", threshold: float = NO_THRESHOLD, **how: str | dict
) -> LiveModel:
    """The model of the parameters ``model``, ``data`` and ``threshold``, checked.

    ``model`` is a registered name or a file, read with the settings ``how`` of `rbmlib.load_rbm`;
    ``data`` a file of `rbmlib.datasets.load_rows`, or "": MNIST where it fits, else none. Values of
    the data above the threshold become 1.
    """
    with refused_parameter("model", model):
        rbm = datasets.load_rbm(model, **how)
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
    """Zeros and ones of the reader's file; None if there is none."""
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
    """Rows of a live training that overfits: few to train, others for validation."""

    few: np.ndarray
    validation: np.ndarray
    words: str  # what the few are

    def sentence(self) -> str:
        return (
            f"The live training run is on {self.words} ({self.few.shape[1]} columns); "
            f"{len(self.validation)} other rows are for validation."
        )


def live_rows(data: str, threshold: float, seed: int) -> LiveRows:
    """The reader's rows, in an order by ``seed``: half of them, or 100, to train; "": DNA."""
    rows = _bits(data, threshold, fewest=FEWEST)
    if rows is None:
        dna = datasets.load_dna().train
        return LiveRows(dna[:FEW], dna[1400:], f"{FEW} rows of DNA")
    rows = np.random.default_rng(seed).permutation(rows)
    n = min(FEW, len(rows) // 2)
    return LiveRows(rows[:n], rows[n:][-MOST_VALIDATION:], f"{n} rows of {data}")
