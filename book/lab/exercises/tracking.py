"""Tasks of the lesson on log Z during training."""

from __future__ import annotations

import numpy as np

from rbmlib.estimators.exact import exact
from rbmlib.models import BernoulliRBM
from rbmlib.numerics import logmeanexp

from .checker import choice, near, same, task
from .own import Own


def update(own: Own) -> tuple[BernoulliRBM, BernoulliRBM]:
    """Your model before and after an update of its weights."""
    m, rng = own.model, own.rng("update")
    step = 0.25 * rng.normal(size=m.weights.shape)
    bias = 0.1 * rng.normal(size=m.n_visible)
    return m, BernoulliRBM(m.weights + step, m.visible_bias + bias, m.hidden_bias + 0.2)


def filter_of(own: Own) -> tuple[float, float]:
    """Nats that log Z rises in an update, and the gain of the filter."""
    return own.number("rise", 0.05, 0.3, 2), own.number("gain", 0.02, 0.3, 2)


GIVEN = {"update": update, "filter": filter_of}


@task("derivation", 2)
def lag(answer, own: Own):
    """What a move takes off the distance is what the next rise adds to it."""
    for rise, gain in (filter_of(own), (0.2, 1.0)):
        mistakes = {
            "the filter sees the new value before it is compared: one step less": rise / gain,
            "a smaller gain is further behind": rise * gain,
            "this is what is left after one update": rise * (1 - gain),
            "the guess is below: give the distance as a positive number":
                -rise * (1 - gain) / gain,
        }  # fmt: skip
        same(answer(rise, gain), rise * (1 - gain) / gain, mistakes, atol=1e-10)


@task("coding", 3)
def log_ratio(answer, own: Own):
    """Under the old model the mean of new over old is the ratio of the sums."""
    old, new = update(own)
    v = own.some_states(40)
    change = new.log_density(v) - old.log_density(v)
    mistakes = {
        "this is a lower bound: average the ratios, not their logarithms": change.mean(),
        "new over old, because the states are from the old model": logmeanexp(-change),
        "divide by the number of states": logmeanexp(change) + np.log(40),
        "the sign": -logmeanexp(change),
    }
    same(answer(old, new, v), logmeanexp(change), mistakes)
    shifted = BernoulliRBM(old.weights, old.visible_bias + 800.0, old.hidden_bias)
    right = logmeanexp(shifted.log_density(v) - old.log_density(v))
    same(answer(old, shifted, v), right, what="log of the ratio where scores differ by thousands")


@task("coding", 3)
def follow(answer, own: Own):
    """Each value counts less by one factor with every update that comes after it."""
    observed = own.rng("observed").normal(size=30).cumsum() + 5
    _, gain = filter_of(own)
    right, wrong, late = [observed[0]], [observed[0]], [observed[0]]
    for x in observed[1:]:
        right.append(right[-1] + gain * (x - right[-1]))
        wrong.append(gain * wrong[-1] + (1 - gain) * x)
    for x in observed[:-1]:
        late.append(late[-1] + gain * (x - late[-1]))
    zero = [gain * observed[0]]
    for x in observed[1:]:
        zero.append(zero[-1] + gain * (x - zero[-1]))
    mistakes = {
        "gain is the share of the new value, not of the old one": wrong,
        "the new value counts at once": late,
        "begin at the first value, not at 0": zero,
        "these are the values as observed": observed,
        "a running mean forgets nothing": observed.cumsum() / np.arange(1, 31),
    }
    same(answer(observed, gain), right, mistakes)
    same(answer(observed, 1.0), observed)


@task("experiment", 3)
def one_update(answer, own: Own):
    """A small update has ratios near one, and their mean is easy to measure."""
    _, new = update(own)
    truth = exact(new).log_z - own.log_z
    near(answer, truth, 0.06, {
        "log Z of the new model less that of the old one": -truth,
        "this is log Z of the new model: take the old one away": truth + own.log_z,
    })  # fmt: skip


@task("trap", 2)
def flattered(answer, own: Own):
    """Log Z comes too late and too low, and is subtracted: the model looks too good."""
    rise, gain = filter_of(own)
    right = rise * (1 - gain) / gain
    near(answer, right, 0.005, {
        "log p(v) is log p*(v) less log Z: what is too low makes the model look better": -right,
        "this is the rise of one update": rise,
    })  # fmt: skip


@task("reading", 1)
def small_gain(answer, own: Own):
    """An average over many updates has little noise and is late."""
    choice(answer, "b", {
        "a": "the large gain follows each noisy dot",
        "c": "it lies on the other side: log Z rises, and the guess comes after",
        "d": "noise falls with the gain, lag grows",
    })  # fmt: skip
