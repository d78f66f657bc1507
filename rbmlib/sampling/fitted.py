"""Paths whose models are fitted by sampling."""

import numpy as np

from ..models.rbm import BernoulliRBM
from ..numerics import ChainStream
from ..paths import GeometricPath, Polyline
from .anneal import anneal, sweep


class MomentAveragingPath(Polyline):
    """Through RBMs whose moments are averages of the base's and the target's (Grosse et al. 2013).

    Fitted by stochastic approximation with persistent chains, from the target down.
    """

    def __init__(
        self, rbm, base, *, n_knots=9, n_chains=100, n_updates=500, learning_rate=0.1, rng=None
    ):
        line, stream = GeometricPath(rbm, base), ChainStream(rng, n_chains)
        v = line.sample_base(n_chains, stream)
        v, _ = anneal(line, v, np.linspace(0, 1, 1001), stream)
        v = sweep(line, v, 1.0, max(1, n_updates // 10), stream)
        low, seen = line.models[0], []
        for _ in range(max(2, n_updates // 10)):
            v = sweep(line, v, 1.0, 10, stream)
            seen.append(rbm.statistics(v))
        last = [sum(each) / len(seen) for each in zip(*seen)]
        means = [low.visible.mean(low.visible.bias), low.hidden.mean(low.hidden.bias)]
        first = [*means, np.outer(*means)]
        knots, fitted, model = np.linspace(0, 1, n_knots + 2), [], rbm
        for beta in knots[-2:0:-1]:
            wanted = [(1 - beta) * m + beta * n for m, n in zip(first, last)]
            model, v = _fit(model, wanted, v, stream, n_updates, learning_rate)
            fitted.append(model)
        super().__init__([low, *fitted[::-1], rbm], knots)


def _fit(rbm, wanted, v, stream, n_updates, learning_rate):
    """The RBM near ``rbm`` of the wanted moments: the mean of the second half of the updates."""
    parameters = [rbm.visible.bias.copy(), rbm.hidden.bias.copy(), rbm.weights.copy()]
    half, means = n_updates // 2, [np.zeros_like(x) for x in parameters]
    for update in range(n_updates):
        model = BernoulliRBM(parameters[2], *parameters[:2])
        v = model.gibbs(v.astype(float), stream)
        rate = learning_rate * 0.1 ** (update / n_updates)
        for x, mean, want, found in zip(parameters, means, wanted, model.statistics(v)):
            x += rate * (want - found)
            if update >= half:
                mean += x / (n_updates - half)
    return BernoulliRBM(means[2], *means[:2]), v
