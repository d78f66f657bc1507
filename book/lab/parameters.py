"""What every chapter needs: checked parameters, quiet warnings, a colophon."""

from __future__ import annotations

import difflib
import math
import platform
import typing
import warnings
from contextlib import contextmanager

from rbmbook.sweeps.engine import check_scheduler
from rbmlib import __version__
from rbmlib.checks import in_memory as check_memory

# how to read a model's file: every chapter with a parameter `model` takes these without naming them
OF_A_MODEL = ("layout", "names", "units")
MNIST_UNITS = {"n_visible": 784, "n_hidden": 500}  # of the largest model that a chapter begins with
CHAIN_ARRAYS = 8  # of all chains, that a chapter's own loops hold at a time
_IPYTHON = {"In", "Out", "get_ipython", "exit", "quit", "open"}


def checked_parameters(namespace: dict, **minimum: int) -> None:
    """Check the parameters of a chapter, in place, before anything is computed.

    Every annotated name of the ``parameters`` cell must hold a value of its type; papermill's
    forms of a value are understood (``1e3`` for a whole number). A name that papermill injected
    but the chapter does not have is refused, except for `OF_A_MODEL`: papermill only logs it.

    ``namespace`` is ``globals()``, in the cell after the parameters; ``minimum`` has the smallest
    allowed values; whole numbers that are not named: 1, and 0 for seed.
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
        close = difflib.get_close_matches(name, declared, n=1)
        hint = f", did you mean {close[0]}?" if close else "."
        raise ValueError(f"unknown parameter {name}{hint} This chapter has: {', '.join(declared)}")
    for name, kind in declared.items():
        default = {int: 0 if name == "seed" else 1}.get(kind, -math.inf)
        least = minimum.get(name, default)
        namespace[name] = _converted(name, namespace[name], kind, least)
    units = (namespace.get(name, n) for name, n in MNIST_UNITS.items())
    refuse_more_than_memory(namespace, sum(units))
    if address := namespace.get("scheduler", ""):  # or it would be found out after minutes
        check_scheduler(address)


def how_to_read(names: dict) -> dict:
    """What is given of `OF_A_MODEL`, for `rbmlib.load_rbm`."""
    return {word: names[word] for word in OF_A_MODEL if word in names}


def refuse_more_than_memory(namespace: dict, n_units: int) -> None:
    """ValueError, if ``n_chains`` states of so many units are more than the memory holds."""
    check_memory("n_chains", namespace.get("n_chains", 1), CHAIN_ARRAYS * 8 * n_units)


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
    if kind is float and isinstance(value, int) and not isinstance(value, bool):
        value = float(value)
    if not isinstance(value, kind) or (kind is int and isinstance(value, bool)):
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
    import numba
    import numpy
    import scipy

    return (
        f"rbmlib {__version__}, Python {platform.python_version()}, NumPy {numpy.__version__}, "
        f"SciPy {scipy.__version__}, numba {numba.__version__}"
    )
