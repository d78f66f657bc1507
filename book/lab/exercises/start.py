"""Tasks of the lesson on why the partition function matters."""

import numpy as np

from rbmbook.wang import printed_error
from rbmlib.numerics import softplus

from . import line
from .checker import Own, function, letter, number

GIVEN = {"hills": lambda own: line.hills(own.number("tilt", 5, 12))}


@function("derivation", 2)
def no_weights(own: Own):
    """Without connections the units are independent, and each contributes one factor to Z."""
    b, a = own.base, own.rng("biases").normal(size=6)
    yield (b, a), softplus(b).sum() + softplus(a).sum(), {
        "include the hidden units": softplus(b).sum(),
        "each unit is 0 or 1, so its factor is 1 + exp(bias)": b.sum() + a.sum(),
    }  # fmt: skip
    yield (np.zeros(3), np.zeros(2)), 5 * np.log(2)


score = line.score._replace(kind="coding", points=3)
log_z = line.log_z._replace(kind="coding", points=3)


@number("experiment", 3, within=0.3)
def missed(own: Own):
    """All chains measured the first mode, and their standard error describes this mode alone."""
    _, exact = GIVEN["hills"](own)
    first = 100 * np.log(2)
    return exact - first, {
        "does your base cover the second mode? Use base=np.zeros(100)": 0.0,
        "this is the exact value: subtract the estimate from it": exact,
    }


@number("trap", 0, within=0.02)
def flattered(own: Own):
    """The same log Z is subtracted for every image, so every image has the same error."""
    return -printed_error("h20", "SAMS"), {}


@number("reading", 1, share=0.05)
def forty_units(own: Own):
    """Each unit of the smaller layer doubles the number of states in the sum."""
    return 2.0**20, {
        "the time doubles twenty times, so it does not become 20 times as long": 20.0,
        "this is the number of states of 40 units: divide it by that of 20 units": 2.0**40,
    }


spike = letter(
    "c", "Agreement shows that the chains measured the same part, not that they measured all of Z.",
    a="the chains agree with each other, but the exact value (dashed) is elsewhere",
    b="more chains of the same kind would only make the same spike higher",
    d="their ESS is 104 of 105, nearly the best possible",
)  # fmt: skip
