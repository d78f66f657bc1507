"""Tasks of the lesson on annealed importance sampling."""

import numpy as np

from rbmlib.numerics import logmeanexp

from . import line
from .checker import Own, function, letter, number, numbers, require, task
from .project import standard_errors_off


def reverse_r(own: Own) -> np.ndarray:
    """The R of 200 reverse chains, normal with your own standard deviation."""
    spread = own.number("spread", 1.0, 2.0)
    return own.log_z + spread**2 / 2 + spread * own.rng("r").normal(size=200)


GIVEN = {
    "reverse_r": reverse_r,
    "hills": lambda own: line.hills(own.number("tilt", 0.5, 2.5)),
}


@function("derivation", 2)
def jensen_gap(own: Own):
    """The more log w varies, the more the mean weight depends on a few large weights."""
    first = own.number("variance", 0.5, 6.0)
    for variance in (first, first + 1.7, 0.0):
        yield (variance,), variance / 2, {
            "the moment generating function of a normal contains half the variance": variance,
            "the gap grows with the variance, not with the standard deviation": variance**0.5 / 2,
        } if variance else {}  # fmt: skip


path_score = line.path_score._replace(kind="coding", points=3)
ais = line.ais._replace(kind="coding", points=3)


@task("experiment", 3)
def enclosed(answer, own: Own):
    """Forward chains are too low on average, and reverse chains are too high."""
    low, high = numbers(answer, (2,), "the pair")
    require(low < high, "give the lower end first")
    require(low < own.log_z + 0.02, "the lower end is above log Z: is it the mean of log w?")
    require(high > own.log_z - 0.02, "the upper end is below log Z: do the reverse chains begin at "
            "exact samples, and is the upper end the mean of R?")  # fmt: skip
    require(high - low < 0.2, "the gap is too large: take more steps")


@number("experiment", 3, within=0.15)
def lost_hill(own: Own):
    """No chain entered the second mode, so the mean weight estimates the first mode alone."""
    _, log_z = GIVEN["hills"](own)
    off = log_z - 100 * np.log(2)
    return off, {
        "this is the exact value: subtract the estimate from it": log_z,
        "the chains found both modes: use the uniform base and 200 steps": 0.0,
    }


@function("trap", 3)
def from_above(own: Own):
    """The mean of exp(-R) estimates 1/Z without bias, but that of exp(R) does not estimate Z."""
    r = reverse_r(own)
    yield (r,), -logmeanexp(-r), {
        "this is the published mistake: the mean of exp(R) does not estimate Z": logmeanexp(r),
        "this is the upper bound: the estimate averages exp(-R)": r.mean(),
    }  # fmt: skip
    yield (r + 900,), 900 - logmeanexp(-r)


@number("trap", 0, within=0.3)
def stable(own: Own):
    """The spread of the chains shows how well they agree, but not what they all miss."""
    return standard_errors_off("AIS", "h500")


two_bases = letter(
    "b", "Chains seldom find a mode to which their base gives almost no probability.",
    a="all of these chains have the same number of steps",
    c="the three upper rows have three schedules, and most of their chains are too low",
    d="all six rows show the same model",
)  # fmt: skip
