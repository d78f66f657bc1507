"""Moment averaging: a path whose models have averages of the moments of its two ends.

On the geometric path natural parameters are averaged; on that of Grosse, Maddison & Salakhutdinov
(2013) moments are: the model at beta has ``E[v], E[h], E[v h']`` equal to (1 - beta) times the
base's and beta times the target's. Such a model must be fitted, so it is at a few knots; between
knots natural parameters are averaged. Any knots make a valid path, on which AIS is unbiased: a
poor fit costs accuracy, not validity.
"""

import numpy as np

import rbmlib as rl
from rbmlib.numerics import ChainStream
from rbmlib.sampling import anneal, sweep

N_CHAINS = 100  # which estimate the moments of the target, and of the models that are fitted
RATE = 0.1  # of the first update of a knot, falling to a tenth


def moment_averaging_path(rbm, base, *, n_knots=9, n_updates=500, rng=None):
    """A `rbmlib.Polyline` through models of averaged moments, and how well each was fitted.

    ``base`` is as in `rbmlib.GeometricPath`; between the two ends there are ``n_knots`` models,
    evenly spaced in beta, each fitted by so many updates (stochastic approximation; the second
    half is averaged). Fits (n_knots,) are root mean square distances of the moments E[v h'] from
    those wanted, over the chains of the second half: the noise of the chains included.
    """
    line = rl.GeometricPath(rbm, base)
    stream, low = ChainStream(rng, N_CHAINS), line.models[0]
    v = line.sample_base(N_CHAINS, stream)
    v, _ = anneal(line, v, np.linspace(0, 1, 1001), stream)
    v, last = _target_moments(line, v, stream, n_updates)
    first, knots = _base_moments(low), np.linspace(0, 1, n_knots + 2)
    fitted, fits, model = [], [], rbm
    for beta in knots[-2:0:-1]:  # from the target down: its chains are at hand
        wanted = [(1 - beta) * m + beta * n for m, n in zip(first, last, strict=True)]
        model, v, fit = _fit(model, wanted, v, stream, n_updates)
        fitted.append(model)
        fits.append(fit)
    return rl.Polyline([low, *fitted[::-1], rbm], knots), np.array(fits[::-1])


def _base_moments(base):
    """E[v], E[h], E[v h'] of a model without weights."""
    visible, hidden = (x.mean(x.bias[None])[0] for x in (base.visible, base.hidden))
    return visible, hidden, np.outer(visible, hidden)


def _target_moments(line, v, stream, n_sweeps):
    """Averages over chains and ``n_sweeps`` sweeps at beta = 1, after a tenth as many."""
    looks, seen = max(2, n_sweeps // 10), []
    v = sweep(line, v, 1.0, max(1, n_sweeps // 10), stream)
    for _ in range(looks):
        v = sweep(line, v, 1.0, 10, stream)
        seen.append(line.rbm.statistics(v))
    return v, [sum(each) / looks for each in zip(*seen, strict=True)]


def _fit(rbm, wanted, v, stream, n_updates):
    """The RBM near ``rbm`` with the wanted moments: gradient ascent with persistent chains."""
    b, a, w = (x.copy() for x in (rbm.visible_bias, rbm.hidden_bias, rbm.weights))
    half, means, misfit = n_updates // 2, [np.zeros_like(x) for x in (b, a, w)], 0.0

    def model_of(b, a, w):
        visible, hidden = rbm.visible.with_(bias=b), rbm.hidden.with_(bias=a)
        return rbm.with_(visible=visible, hidden=hidden, weights=w, log_scale=0.0)

    for update in range(n_updates):
        model = model_of(b, a, w)
        v = model.gibbs(v.astype(float), stream)
        rate, found = RATE * 0.1 ** (update / n_updates), model.statistics(v)
        for x, want, have in zip((b, a, w), wanted, found, strict=True):
            x += rate * (want - have)
        if update >= half:
            for mean, x in zip(means, (b, a, w), strict=True):
                mean += x / (n_updates - half)
            misfit = misfit + (found[2] - wanted[2]) / (n_updates - half)
    return model_of(*means), v, float(np.sqrt(np.mean(misfit**2)))
