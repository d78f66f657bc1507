"""Arguments to be refused, and what a refusal says: the argument's name and a remedy."""

import traceback
import warnings
from pathlib import Path

import numpy as np
import pytest

import rbmlib as rl
from rbmlib import BernoulliRBM, GeometricPath

PACKAGE = Path(rl.__file__).parent
BOOK = PACKAGE.parent / "book" / "lab"
W, B, A = np.ones((4, 3)), np.zeros(4), np.zeros(3)
RBM = BernoulliRBM(W, B, A)
PATH = GeometricPath(RBM)
BETAS = rl.schedules.linear(5)
DATA = np.tile([[1, 0, 1, 0], [0, 1, 1, 0]], (60, 1))
RAGGED = [[1.0, 2.0], [3.0]]


def changed(array, value):
    array = np.array(array, float)
    array.flat[0] = value
    return array


def assert_own(error):
    """Raised by a line of rbmlib or its book, not by one of NumPy or Python's library below."""
    innermost = Path(traceback.extract_tb(error.__traceback__)[-1].filename)
    own = innermost.is_relative_to(PACKAGE) or innermost.is_relative_to(BOOK)
    assert own, f"raised in {innermost}: {error}"


def assert_refused(call, name: str):
    """The message begins with the argument; nothing below rbmlib is in the traceback."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # nor is a warning let through on the way
        with pytest.raises((ValueError, TypeError)) as caught:
            call()
    message = str(caught.value)
    assert_own(caught.value)
    assert message.startswith(name), message
    remedies = ("expected", "needs", "saved as", "binarise")
    assert any(word in message for word in remedies), message
    assert "\n" not in message
    assert caught.value.__cause__ is None


def named(**groups):
    """The cases of several groups, for parametrize, called by group and case."""
    cases = {f"{group}: {x}": case for group, cases in groups.items() for x, case in cases.items()}
    return {"argnames": ("call", "name"), "argvalues": cases.values(), "ids": cases.keys()}


def train(*arguments, **options):
    return lambda: rl.train(*arguments, **{"n_updates": 2, "rng": 0} | options)
