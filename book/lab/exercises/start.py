"""Tasks of the lesson on why the partition function matters."""

from __future__ import annotations

import numpy as np

from rbmlib.models import testsystems
from rbmlib.numerics import softplus

from . import line
from .checker import choice, near, numbers, require, same, task
from .own import Own
from .project import reference, report


def hills(own: Own):
    """A model of 100 units whose second hill holds exp(tilt) times as much as the first."""
    tilt = own.number("tilt", 5, 12)
    return testsystems.two_mode_rbm(100, strength=4.0, tilt=tilt)


def picture(own: Own):
    """A picture, as a row."""
    return own.some_states(1, "picture")[0]


GIVEN = {"hills": hills, "picture": picture}


@task("derivation", 2)
def no_weights(answer, own: Own):
    """Without connections all units are independent: each is one factor of the sum."""
    b, a = own.base, own.rng("biases").normal(size=6)
    mistakes = {
        "this is Z: its logarithm is wanted": np.prod(1 + np.exp(b)) * np.prod(1 + np.exp(a)),
        "the hidden units count, too": softplus(b).sum(),
        "each unit is 0 or 1, so its factor is 1 + exp(bias)": b.sum() + a.sum(),
        "a hidden unit has a bias, so its factor is not 2": softplus(b).sum() + 6 * np.log(2),
    }
    same(answer(b, a), softplus(b).sum() + softplus(a).sum(), mistakes)
    same(answer(np.zeros(3), np.zeros(2)), 5 * np.log(2))


for _judge in (line.score, line.log_z):
    task("coding", 3, lesson="start")(_judge)


@task("experiment", 3)
def missed(answer, own: Own):
    """All chains measured the hill where the base put them; their error bar knows no other."""
    _, log_z = hills(own)
    first = 100 * np.log(2)
    near(answer, log_z - first, 0.3, {
        "exact minus estimate, not the other way round": first - log_z,
        "did you begin at a base that knows the second hill? take base=np.zeros(100)": 0.0,
        "this is the exact value": log_z,
        "this is the estimate": first,
    })  # fmt: skip


@task("trap", 0)
def flattered(answer, own: Own):
    """The same log Z is taken from every picture, so each is given what it lacks."""
    printed, right = report("SAMS", "h20"), reference("h20")
    near(answer, right - printed, 0.02, {
        "log p(v) is log p*(v) minus log Z: a log Z that is too low flatters": printed - right,
        "this is a factor of the probability; nats are wanted": float(np.exp(right - printed)),
        "this is what the 105 chains of AIS miss; the printed value is another one": 13.89,
    })  # fmt: skip


@task("reading", 1)
def forty_units(answer, own: Own):
    """Each unit of the smaller layer doubles the states that are added up."""
    found = float(numbers(answer, ()))
    if abs(found / 2.0**20 - 1) < 0.05:
        return
    require(abs(found - 2) > 0.1, "the time doubles with each unit, not once for all twenty")
    require(abs(found - 20) > 0.1, "the time doubles twenty times: that is not 20 times as long")
    require(abs(found - 40) > 0.1, "doubling twenty times is more than 20 times 2")
    require(
        abs(found / 2.0**40 - 1) > 0.05, "these are all states of 40 units: divide by those of 20"
    )
    near(answer, 2.0**20, 1.0)


@task("reading", 1)
def spike(answer, own: Own):
    """Agreement says that they measured the same thing, not that it is the whole."""
    choice(answer, "c", {
        "a": "the chains agree with each other; the dashed line is elsewhere",
        "b": "more chains of the same kind would make the same spike higher",
        "d": "their ESS is 104 of 105, nearly the best possible",
    })  # fmt: skip
