"""Leaky RBMs of a page: its model, and chains that are annealed, scored or followed."""

from __future__ import annotations

from itertools import groupby
from typing import NamedTuple

import numpy as np

import rbmlib as rl
from rbmlib.models.normal import gaussian_draws
from rbmlib.models.testsystems import orthogonal_leaky_rbm

from .. import page
from ..gaussian_base import GaussianBasePath
from ..parameters import noted_warnings, refused_parameter
from .moves import MOVES, blockwise, mean_distance, move_of
from .quadrature import annealed_leakiness


def begin(names: dict) -> rl.LeakyRBM:
    """`page.begin`, and the model with orthogonal columns that the parameters of the page describe.

    Parameters
    ----------
    names : dict
        ``globals()`` of the page, with ``n_visible``, ``n_hidden``, ``norm``, ``leakiness``,
        ``transition`` (a move of `moves`), ``n_chains``, ``n_temperatures``, and ``seed``.
    """
    sizes: dict = {"n_visible": 30, "n_hidden": 2, "n_chains": 200, "n_temperatures": 50}
    page.begin(names, leakiness=1e-4, norm=0.1, **sizes)  # type: ignore[arg-type]
    shape = {name: names[name] for name in ("norm", "leakiness")} | {"rng": names["seed"]}
    with refused_parameter("n_hidden", names["n_hidden"]):
        live = orthogonal_leaky_rbm(names["n_visible"], names["n_hidden"], **shape)
    with refused_parameter("transition", names["transition"]):
        move_of(names["transition"], live)
    return live


def on_the_way(rbm, n_chains: int, stops: tuple[float, ...], seed: int) -> dict[float, tuple]:
    """Visible states and log-weights by leakiness, while it falls from 1 to 0.01 in 100 steps."""
    route, span = rl.LeakinessPath(rbm, blockwise), rbm.reduced()[1].basis
    rng = np.random.default_rng(seed)
    u, log_w = route.sample_base(n_chains, rng), np.zeros(n_chains)
    seen, last = {1.0: (u @ span.T, log_w)}, 0.0
    for c in np.linspace(1, 0.01, 100)[1:]:
        beta = (1 - c) / 0.99
        log_w = log_w + route.log_density(u, beta) - route.log_density(u, last)
        u, last = route.transition(u, beta, rng), beta
        if np.isclose(c, stops).any():
            seen[round(c, 2)] = u @ span.T, log_w
    return seen


def held_out_log_likelihood(rbm, images, held_out, seed: int) -> dict:
    """Mean log p of held-out images, log Z by AIS from a Gaussian fitted to the model's chains.

    The chains begin at the first 200 of ``images`` and make 100 Gibbs sweeps.
    """
    (model, span), stream = rbm.reduced(), np.random.default_rng(seed)
    u = span.coordinates(images[:200])
    for _ in range(100):
        u = model.gibbs(u, stream)
    start = GaussianBasePath(rbm, span(u, stream))
    with noted_warnings():
        run = rl.ais(start, rl.schedules.linear(100), 50, seed)
    mean = rbm.log_density(held_out).mean()
    return {"log_likelihood": mean - run.log_z, "std_error": run.std_error, "ess": run.ess}


class Followed(NamedTuple):
    """Gibbs chains from images."""

    sizes: list[float]  # mean absolute value of a visible unit, before and after each sweep
    phase: float  # norm of v'h after the later of two sweeps, over that after the earlier


def follow(rbm, images, seeds, n_sweeps: int = 60, between: tuple[int, int] = (1, 20)) -> Followed:
    """How far Gibbs chains from images go, and what it does to the gradient's negative phase."""
    v, stream = images.astype(float), np.random.default_rng(seeds)
    sizes, phases = [np.abs(v).mean()], {}
    for sweep in range(1, n_sweeps + 1):
        v = rbm.gibbs(v, stream)
        sizes.append(np.abs(v).mean())
        if sweep in between:
            phases[sweep] = np.linalg.norm(v.T @ rbm.sample_hidden(v, stream))
    return Followed(sizes, float(phases[between[1]] / phases[between[0]]))


def distances(rbm, images, n_repeats: int, seed: int, n_sweeps: int = 20) -> dict[str, np.ndarray]:
    """How far chains of a trained model are from where they settle after ``n_sweeps``, by start.

    A distance is the mean over hidden units of the Kolmogorov-Smirnov distance between the fields
    of as many chains as there are images and those of chains that made 60 sweeps from the images.
    All moves are the published one. Starts: "gaussian" of leakiness 1, "normal", N(0, I), and one
    of the images, another in each repeat, from which all chains start at the model's leakiness
    ("cd") or while it falls from 1 ("mix").
    """
    (model, span), n, c = rbm.reduced(), len(images), rbm.leakiness
    data, zero = (span.coordinates(v) for v in (images.astype(float), np.zeros((1, rbm.n_visible))))
    steady, falling = np.full(n_sweeps, c), annealed_leakiness(c, n_sweeps)
    found: dict[str, list] = {name: [] for name in ("gaussian", "normal", "cd", "mix")}
    for i in range(n_repeats):
        rng, one = np.random.default_rng([seed, i]), data[[i % n]].repeat(n, axis=0)
        gaussian = gaussian_draws(model, n, rng), steady
        normal = zero + rng.standard_normal(data.shape), steady
        settled = _fields(model, data, np.full(60, c), rng)
        starts = gaussian, normal, (one, steady), (one, falling)
        for values, start in zip(found.values(), starts, strict=True):
            values.append(mean_distance(_fields(model, *start, rng), settled))
    return {name: np.array(values) for name, values in found.items()}


def _fields(model, u, leakinesses, rng) -> np.ndarray:
    """Of chains from u, after a sweep at each leakiness."""
    for c, sweeps in groupby(leakinesses):
        at = model.with_(hidden=model.hidden.with_(below=c))
        for _ in sweeps:
            u = MOVES["gibbs"](at, u, rng)
    return model.field(u)


def accuracy(rbm, subset, scale) -> float:
    """Share of test images that ridge regression on the hidden means classifies rightly."""
    fields = [rbm.field(scale(images)) for images in (subset.train, subset.test)]
    means = [np.maximum(f, rbm.leakiness * f) for f in fields]
    sizes = means[0].std(axis=0) + 1e-12
    x, y = (np.c_[m / sizes, np.ones(len(m))] for m in means)
    targets = x.T @ np.eye(10)[subset.train_labels]
    weights = np.linalg.solve(x.T @ x + np.eye(x.shape[1]), targets)
    return float((np.argmax(y @ weights, axis=1) == subset.test_labels).mean())
