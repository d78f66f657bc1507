"""Moment averaging: a path whose models have averages of the moments of its two ends.

On the geometric path natural parameters are averaged; on that of Grosse, Maddison & Salakhutdinov
(2013) moments are: the model at beta has ``E[v], E[h], E[v h']`` equal to (1 - beta) times the
base's and beta times the target's. Such a model must be fitted, so it is at a few knots; between
knots natural parameters are averaged. Any knots make a valid path, on which AIS is unbiased: a
poor fit costs accuracy, not validity.
"""

import numpy as np

from .. import checks
from ..context import bar
from ..models.conversion import as_rbm
from ..models.rbm import RBM
from ..numerics import ChainStream
from ..paths import GeometricPath, Polyline
from .anneal import anneal, sweep


class MomentAveragingPath(Polyline):
    """A path through RBMs whose moments are averages of the base's and the target's.

    Parameters
    ----------
    rbm : RBM
        The target; its visible units have countable states.
    base : array (n_visible,), RBM, "mean_field" or None
        As in `GeometricPath`.
    n_knots : int
        Knots between the two ends, evenly spaced in beta.
    n_chains, n_updates : int
        Chains that estimate the target's moments and those of the models that are fitted, and
        updates of each fit (stochastic approximation; the second half is averaged).
    learning_rate : float
        Of the first update of a knot, falling to a tenth.
    rng : int, Generator or None

    Attributes
    ----------
    models : list of RBM
        Base, fitted models, target.
    knots : ndarray (n_knots + 2,)
        Their betas.
    fits : ndarray (n_knots,)
        Root mean square distance of the moments E[v h'] of each fitted model from those wanted,
        over the chains of the second half: the noise of ``n_chains`` included.

    Examples
    --------
    >>> import rbmlib as rl
    >>> rbm = rl.testsystems.random_rbm(n_visible=10, n_hidden=4, coupling=3, rng=0)
    >>> path = rl.MomentAveragingPath(rbm, n_knots=3, rng=0)
    >>> bool(abs(path.at(1.0).weights - rbm.weights).max() < 1e-12)
    True
    """

    def __init__(
        self,
        rbm: RBM,
        base="mean_field",
        *,
        n_knots: int = 9,
        n_chains: int = 100,
        n_updates: int = 500,
        learning_rate: float = 0.1,
        rng=None,
    ):
        rbm, seed = as_rbm("rbm", rbm), checks.seed_of(rng)
        self._options = f"{n_knots=}, {n_chains=}, {n_updates=}, {learning_rate=}, rng={seed}"
        if rbm.visible.values is None:
            raise TypeError(f"rbm is {rbm!r}: expected a BernoulliRBM, or other countable units")
        line = GeometricPath(rbm, base)
        n_knots = checks.count("n_knots", n_knots)
        n_updates = checks.count("n_updates", n_updates, 2)
        meaning = "a number above 0, such as 0.1"
        learning_rate = checks.number("learning_rate", learning_rate, meaning, above=0)
        rng, n_chains = checks.generator(rng), checks.count("n_chains", n_chains, 2)
        stream, low = ChainStream(rng, n_chains), line.models[0]
        v = line.sample_base(n_chains, stream)
        knots, fitted, fits, model = np.linspace(0, 1, n_knots + 2), [], [], rbm
        with bar(n_knots * n_updates, "moment averaging") as shown:
            v, _ = anneal(line, v, np.linspace(0, 1, 1001), stream)
            v, last = _target_moments(line, v, stream, n_updates)
            first = _base_moments(low)
            for beta in knots[-2:0:-1]:  # from the target down: its chains are at hand
                wanted = [(1 - beta) * m + beta * n for m, n in zip(first, last, strict=True)]
                model, v, fit = _fit(model, wanted, v, stream, n_updates, learning_rate)
                fitted.append(model)
                fits.append(fit)
                shown.update(n_updates)
        super().__init__([low, *fitted[::-1], rbm], knots)
        self.base_name, self.fits = line.base_name, np.array(fits[::-1])

    def __repr__(self) -> str:
        return f"MomentAveragingPath({self.rbm!r}, base={self.base_name!r}, {self._options})"


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


def _fit(rbm, wanted, v, stream, n_updates, learning_rate):
    """The RBM near ``rbm`` with the wanted moments: gradient ascent with persistent chains."""
    b, a, w = (x.copy() for x in (rbm.visible_bias, rbm.hidden_bias, rbm.weights))
    half, means, misfit = n_updates // 2, [np.zeros_like(x) for x in (b, a, w)], 0.0

    def model_of(b, a, w):
        visible, hidden = rbm.visible.with_(bias=b), rbm.hidden.with_(bias=a)
        return rbm.with_(visible=visible, hidden=hidden, weights=w, log_scale=0.0)

    for update in range(n_updates):
        model = model_of(b, a, w)
        v = model.gibbs(v.astype(float), stream)
        rate, found = learning_rate * 0.1 ** (update / n_updates), model.statistics(v)
        for x, want, have in zip((b, a, w), wanted, found, strict=True):
            x += rate * (want - have)
        if update >= half:
            for mean, x in zip(means, (b, a, w), strict=True):
                mean += x / (n_updates - half)
            misfit = misfit + (found[2] - wanted[2]) / (n_updates - half)
    return model_of(*means), v, float(np.sqrt(np.mean(misfit**2)))
