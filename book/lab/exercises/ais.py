"""Tasks of the lesson on annealed importance sampling."""

from __future__ import annotations

import numpy as np

from rbmlib.models import testsystems
from rbmlib.numerics import logmeanexp

from . import line
from .checker import choice, near, numbers, require, same, task
from .own import Own
from .project import reference, report


def reverse_r(own: Own) -> np.ndarray:
    """The R of 200 reverse chains, normal with a spread of your own."""
    spread = own.number("spread", 1.0, 2.0)
    return own.log_z + spread**2 / 2 + spread * own.rng("r").normal(size=200)


def hills(own: Own):
    """Two hills that hold Z in the ratio 1 to exp(tilt): a model and its log Z."""
    return testsystems.two_mode_rbm(100, strength=4.0, tilt=own.number("tilt", 0.5, 2.5))


GIVEN = {"reverse_r": reverse_r, "hills": hills}


@task("derivation", 2)
def jensen_gap(answer, own: Own):
    """The mean weight is carried by chains above the mean of log w, the more the wider they are."""
    first = own.number("variance", 0.5, 6.0)
    for variance in (first, first + 1.7, 0.0):
        mistakes = {
            "the moment generating function of a normal has half the variance": variance,
            "the gap grows with the variance, not with the standard deviation":
                np.sqrt(variance) / 2,
            "log Z lies above the mean of log w": -variance / 2,
        }  # fmt: skip
        same(answer(variance), variance / 2, mistakes)


for _judge in (line.path_score, line.ais):
    task("coding", 3, lesson="ais")(_judge)


@task("experiment", 3)
def enclosed(answer, own: Own):
    """Chains from below lag behind on one side, chains from above on the other."""
    found = numbers(answer, (2,), "the pair")
    require(abs(found[1] - found[0]) > 1e-6, "both ends are the same number")
    require(found[0] < found[1], "give the lower end first")
    log_z = own.log_z
    require(found[0] < log_z + 0.02, "the lower end is above log Z: is it the mean of log w?")
    require(found[1] > log_z - 0.02, "the upper end is below log Z: do the reverse chains begin at "
            "exact samples, and is this the mean of R?")  # fmt: skip
    require(found[1] - found[0] < 0.2, "right, but wide: take more steps")


@task("experiment", 3)
def lost_hill(answer, own: Own):
    """No chain entered the second hill, so that the mean weight is that of the first alone."""
    _, log_z = hills(own)
    low = log_z - 100 * np.log(2)
    near(answer, low, 0.15, {
        "exact minus estimate": -low,
        "this is the exact value: take the estimate from it": log_z,
        "this is the estimate: take it from the exact value": log_z - low,
        "this is log 2; your two hills are not equal": float(np.log(2)),
        "the chains found both hills: begin at the uniform base, with 200 steps": 0.0,
    })  # fmt: skip


@task("trap", 3)
def from_above(answer, own: Own):
    """Going down multiplies by inverse ratios: exp(-R), not exp(R), is right on average."""
    r = reverse_r(own)
    mistakes = {
        "this is the published mistake: the mean of exp(R) does not estimate Z": logmeanexp(r),
        "this is the bound; the estimate averages exp(-R)": r.mean(),
        "the mean of exp(-R) estimates 1/Z: its logarithm has the other sign": logmeanexp(-r),
        "this is the sum of exp(-R): divide it by the number of values":
            -logmeanexp(-r) - np.log(len(r)),
    }  # fmt: skip
    same(answer(r), -logmeanexp(-r), mistakes)
    same(answer(r + 900), 900 - logmeanexp(-r))


@task("trap", 0)
def stable(answer, own: Own):
    """The spread of chains says how well they agree, and nothing of what they all lack."""
    off = report("AIS", "h500") - reference("h500")
    variance = report("AIS", "h500", "variance")
    error = np.sqrt(variance / 20)
    near(answer, off / error, 0.3, {
        "the error of a mean of 20 values is smaller than that of one by the root of 20":
            off / error / np.sqrt(20),
        "this is the distance in nats": off,
        "the variance is not the standard deviation: take its root": off / variance,
        "the error of the mean is the root of variance / 20": off / error**2,
        "divide by the root of variance / 20, not by variance over the root of 20":
            off / (error**2 * np.sqrt(20)),
        "the report's value minus the book's": -off / error,
    })  # fmt: skip


@task("reading", 1)
def two_bases(answer, own: Own):
    """A chain can only follow a mode that its base has a share in."""
    choice(answer, "b", {
        "a": "all of these chains have the same number of steps",
        "c": "the upper rows differ in where the steps are, and most of their chains are low",
        "d": "the chains of the lower rows are from the same model",
    })  # fmt: skip
