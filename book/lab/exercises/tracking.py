"""Tasks of the lesson on log Z during training."""

import numpy as np
import pandas as pd

import rbmlib as rl
from rbmlib.numerics import logmeanexp

from .checker import Own, function, letter, number


def update(own: Own) -> tuple[rl.BernoulliRBM, rl.BernoulliRBM]:
    """Your model before and after an update of its weights."""
    m, rng = own.model, own.rng("update")
    step = 0.25 * rng.normal(size=m.weights.shape)
    bias = 0.1 * rng.normal(size=m.n_visible)
    return m, rl.BernoulliRBM(m.weights + step, m.visible_bias + bias, m.hidden_bias + 0.2)


GIVEN = {
    "update": update,
    "filter": lambda own: (own.number("rise", 0.05, 0.3, 2), own.number("gain", 0.02, 0.3, 2)),
}


@function("derivation", 2, atol=1e-10)
def lag(own: Own):
    """In the long run each move removes as much of the distance as each rise adds."""
    rise, gain = GIVEN["filter"](own)
    right = rise * (1 - gain) / gain
    yield (rise, gain), right, {"this is the distance before the estimate moves": rise / gain}
    yield (0.2, 1.0), 0.0


@function("coding", 3)
def log_ratio(own: Own):
    """Under the old model, the mean of p*_new / p*_old is Z_new / Z_old."""
    old, new = update(own)
    v = own.some_states(40)
    change = new.log_density(v) - old.log_density(v)
    yield (old, new, v), logmeanexp(change), {
        "this is a lower bound: average the ratios, not their logarithms": change.mean(),
        "divide new by old, because the states are from the old model": logmeanexp(-change),
    }  # fmt: skip
    far = rl.BernoulliRBM(old.weights, old.visible_bias + 800.0, old.hidden_bias)
    right = logmeanexp(far.log_density(v) - old.log_density(v))
    yield (old, far, v), right, {}, "your answer where scores differ by thousands"


def _followed(observed, gain):
    return pd.Series(observed).ewm(alpha=gain, adjust=False).mean().to_numpy()


@function("coding", 3)
def follow(own: Own):
    """With every later update the weight of a value shrinks by the factor 1 - gain."""
    observed = own.rng("observed").normal(size=30).cumsum() + 5
    _, gain = GIVEN["filter"](own)
    late = np.append(observed[0], observed[:-1])
    hints = {"each estimate must already include the new value": _followed(late, gain)}
    yield (observed, gain), _followed(observed, gain), hints
    yield (observed, 1.0), observed


@number("experiment", 3, within=0.06)
def one_update(own: Own):
    """After a small update the ratios are close to 1, so their mean is easy to estimate."""
    log_z = rl.exact(update(own)[1]).log_z
    hints = {"this is log Z of the new model: subtract log Z of the old one": log_z}
    return log_z - own.log_z, hints


@number("trap", 2, within=0.005)
def flattered(own: Own):
    """The tracked log Z is too low, and subtracting it makes the model look too good."""
    rise, gain = GIVEN["filter"](own)
    right = rise * (1 - gain) / gain
    return right, {
        "log p(v) is log p*(v) minus log Z: a log Z too low makes the model look better": -right,
    }


small_gain = letter(
    "b", "An average over many updates has little noise, but it lags behind.",
    a="the curve of the large step size follows each noisy dot",
    c="log Z rises, and the estimate follows later",
    d="with a smaller step size the noise falls, but the lag grows",
)  # fmt: skip
