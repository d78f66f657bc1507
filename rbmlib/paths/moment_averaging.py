"""The moment-averaging path of Grosse, Maddison & Salakhutdinov (2013), for Bernoulli RBMs.

On the geometric path natural parameters are averaged; here moments are: the model at beta has
``E[v], E[h], E[v h']`` equal to (1 - beta) times the base's and beta times the target's. Such a
model must be fitted, so it is at a few knots; between knots natural parameters are averaged.
Any knots make a valid path, on which AIS is unbiased: a poor fit costs accuracy, not validity.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from .._numerics import softplus
from .._progress import progress_bar
from .._streams import ChainStream
from .._validation import count, generator, number, point_of_path
from ..models.bernoulli import BernoulliRBM
from ..models.conversion import as_rbm
from .base import AnnealingPath, State
from .geometric import GeometricPath


class Moments(NamedTuple):
    """Means of the statistics of an RBM."""

    visible: np.ndarray  # (n_visible,)
    hidden: np.ndarray  # (n_hidden,)
    pairs: np.ndarray  # (n_visible, n_hidden)


class MomentAveragingPath(AnnealingPath):
    """A path through RBMs whose moments are averages of the base's and the target's.

    Parameters
    ----------
    rbm : BernoulliRBM
        The target.
    base : array (n_visible,), BernoulliRBM, "mean_field" or None
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
    knots : list of BernoulliRBM
        Base, fitted models, target.
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
        self, rbm: BernoulliRBM, base="mean_field", *, n_knots: int = 9, n_chains: int = 100,
        n_updates: int = 500, learning_rate: float = 0.1, rng=None, progress: bool | None = None,
    ):  # fmt: skip
        rbm = as_rbm("rbm", rbm)
        geometric = GeometricPath(rbm, base)
        self.rbm, self.base_name, self.log_z_base = rbm, geometric.base_name, geometric.log_z_base
        self._geometric = geometric
        seed = int(rng) if isinstance(rng, (int, np.integer)) else None
        self._options = f"{n_knots=}, {n_chains=}, {n_updates=}, {learning_rate=}, rng={seed}"
        n_knots, n_updates = count("n_knots", n_knots), count("n_updates", n_updates, 2)
        number("learning_rate", learning_rate, "a number above 0, such as 0.1", above=0)
        rng, n_chains = generator(rng), count("n_chains", n_chains, 2)
        self.beta_knots = np.linspace(0.0, 1.0, n_knots + 2)
        stream = ChainStream(rng, n_chains)
        first = _base_moments(geometric.at(0.0))
        state = geometric.sample_base(n_chains, stream)
        fitted, fits, model = [], [], rbm
        with progress_bar(n_knots * n_updates, "moment averaging", progress) as bar:
            state, _ = geometric.anneal(state, np.linspace(0, 1, 1001), stream)
            state, last = _target_moments(geometric, state, stream, n_updates)
            for beta in self.beta_knots[-2:0:-1]:  # from the target down: its chains are at hand
                wanted = _average(first, last, beta)
                model, state, fit = _fit(model, wanted, state, stream, n_updates, learning_rate)
                fitted.append(model)
                fits.append(fit)
                bar.update(n_updates)
        self.knots = [geometric.at(0.0), *fitted[::-1], rbm]
        self.fits = np.array(fits[::-1])

    def __repr__(self) -> str:
        return f"MomentAveragingPath({self.rbm!r}, base={self.base_name!r}, {self._options})"

    def _segment(self, beta) -> tuple[np.ndarray, np.ndarray]:
        """Index of the knot before beta, and how far on the way to the next."""
        j = np.clip(
            np.searchsorted(self.beta_knots, beta, side="right") - 1, 0, len(self.knots) - 2
        )
        return j, (beta - self.beta_knots[j]) / (self.beta_knots[j + 1] - self.beta_knots[j])

    def at(self, beta: float) -> BernoulliRBM:
        j, t = self._segment(point_of_path(beta))
        return _between(self.knots[j], self.knots[j + 1], t)

    def sample_base(self, n_chains: int, rng) -> State:
        return self._geometric.sample_base(n_chains, rng)

    def log_density(self, state: State, beta) -> np.ndarray:
        v = state.coordinates.astype(float)

        def at(b):
            model = self.at(b)
            fields = softplus(model.hidden_field(v)).sum(axis=1)
            return v @ model.visible_bias + fields + model.log_scale

        return at(beta) if np.ndim(beta) == 0 else np.stack([at(b) for b in beta], axis=1)

    def log_density_slope(self, state: State, beta) -> np.ndarray:
        j, t = self._segment(beta)
        here, there = self.knots[j], self.knots[j + 1]
        v = state.coordinates.astype(float)
        means = _between(here, there, t).hidden_mean(v)
        rise = v @ (there.visible_bias - here.visible_bias) + there.log_scale - here.log_scale
        rise += (means * (there.hidden_field(v) - here.hidden_field(v))).sum(axis=1)
        return rise / (self.beta_knots[j + 1] - self.beta_knots[j])

    def transition(self, state: State, beta, rng) -> State:
        v = state.coordinates.astype(float)
        if np.ndim(beta) == 0:
            model = self.at(beta)
            return State(model.sample_visible(model.sample_hidden(v, rng), rng).astype(np.float32))
        models = [self.at(b) for b in beta]
        u = rng.random((len(v), self.rbm.n_hidden))
        means = np.concatenate([m.hidden_mean(x[None]) for m, x in zip(models, v, strict=True)])
        h = (u < means).astype(float)
        u = rng.random(v.shape)
        means = np.concatenate([m.visible_mean(x[None]) for m, x in zip(models, h, strict=True)])
        return State((u < means).astype(np.float32))


def _between(here: BernoulliRBM, there: BernoulliRBM, t: float) -> BernoulliRBM:
    return BernoulliRBM(
        (1 - t) * here.weights + t * there.weights,
        (1 - t) * here.visible_bias + t * there.visible_bias,
        (1 - t) * here.hidden_bias + t * there.hidden_bias,
        log_scale=(1 - t) * here.log_scale + t * there.log_scale,
    )


def _average(one: Moments, other: Moments, t: float) -> Moments:
    return Moments(*((1 - t) * s + t * u for s, u in zip(one, other, strict=True)))


def _base_moments(base: BernoulliRBM) -> Moments:
    nothing = np.zeros((1, base.n_visible))
    hidden = base.hidden_mean(nothing)[0]
    visible = base.visible_mean(np.zeros((1, base.n_hidden)))[0]
    return Moments(visible, hidden, np.outer(visible, hidden))


def _moments(rbm: BernoulliRBM, v: np.ndarray) -> Moments:
    """Means over chains, with E[h | v] in the place of h."""
    h = rbm.hidden_mean(v)
    return Moments(v.mean(axis=0), h.mean(axis=0), v.T @ h / len(v))


def _target_moments(path: GeometricPath, state: State, stream, n_sweeps: int):
    """Averages over chains and ``n_sweeps`` sweeps at beta = 1, after a tenth as many."""
    looks, totals = max(2, n_sweeps // 10), None
    state = path.sweep(state, 1.0, max(1, n_sweeps // 10), stream)
    for _ in range(looks):
        state = path.sweep(state, 1.0, 10, stream)
        found = _moments(path.rbm, state.coordinates.astype(float))
        totals = found if totals is None else Moments(*map(np.add, totals, found))
    return state, Moments(*(total / looks for total in totals))


def _fit(rbm, wanted: Moments, state: State, stream, n_updates: int, learning_rate: float):
    """The RBM near ``rbm`` with the wanted moments: gradient ascent with persistent chains."""
    w, b, a = rbm.weights.copy(), rbm.visible_bias.copy(), rbm.hidden_bias.copy()
    v, half = state.coordinates.astype(float), n_updates // 2
    means, misfit = [np.zeros_like(x) for x in (w, b, a)], np.zeros_like(wanted.pairs)
    for update in range(n_updates):
        model = BernoulliRBM(w, b, a)
        v = model.sample_visible(model.sample_hidden(v, stream), stream)
        found = _moments(model, v)
        rate = learning_rate * 0.1 ** (update / n_updates)
        w += rate * (wanted.pairs - found.pairs)
        b += rate * (wanted.visible - found.visible)
        a += rate * (wanted.hidden - found.hidden)
        if update >= half:
            for mean, x in zip(means, (w, b, a), strict=True):
                mean += x / (n_updates - half)
            misfit += (found.pairs - wanted.pairs) / (n_updates - half)
    fitted = BernoulliRBM(*means, log_scale=0.0)
    return fitted, State(v.astype(np.float32)), float(np.sqrt(np.mean(misfit**2)))
