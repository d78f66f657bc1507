"""The live models of the pages on leaky RBMs: begun, scored while they train, and followed."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

import rbmlib as rl
from rbmlib.checks import count
from rbmlib.models.testsystems import orthogonal_leaky_rbm

from . import leaky_bias, page
from .gaussian_base import GaussianBasePath
from .leaky_kernels import blockwise, move_of
from .parameters import noted_warnings, refused_parameter


def begin(names: dict, **least: int) -> rl.LeakyRBM:
    """`page.begin`, and the model with orthogonal columns that the parameters of the page describe.

    Parameters
    ----------
    names : dict
        ``globals()`` of the page, with ``n_visible``, ``n_hidden``, ``norm``, ``leakiness``,
        ``transition`` (a move of `leaky_kernels`), ``n_chains``, ``n_temperatures``, and
        ``seed``.
    **least : int
        Smallest allowed values of further parameters.
    """
    sizes: dict = {"n_visible": 30, "n_hidden": 2, "n_chains": 200, "n_temperatures": 50}
    page.begin(names, leakiness=1e-4, norm=0.1, **sizes, **least)  # type: ignore[arg-type]
    norm, leakiness = names["norm"], names["leakiness"]
    leaky_bias.unit_log_z(norm, leakiness)  # refuses what is no norm and no leakiness
    with refused_parameter("n_hidden", names["n_hidden"]):
        live = orthogonal_leaky_rbm(
            names["n_visible"], names["n_hidden"], norm=norm, leakiness=leakiness, rng=names["seed"]
        )
    with refused_parameter("transition", names["transition"]):
        move_of(names["transition"], live)
    return live


def held_out_log_likelihood(rbm, images, held_out, seed: int, n_fitted: int = 200) -> dict:
    """Mean log p of held-out images, log Z by AIS from a Gaussian fitted to the model's chains.

    Parameters
    ----------
    images : array
        The first ``n_fitted`` are where the chains begin, which make 100 Gibbs sweeps.
    """
    (model, span), stream = rbm.reduced(), np.random.default_rng(seed)
    u = span.coordinates(images[:n_fitted])
    for _ in range(100):
        u = model.gibbs(u, stream)
    start = GaussianBasePath(rbm, span(u, stream))
    with noted_warnings():
        run = rl.ais(start, rl.schedules.linear(100), 50, seed)
    mean = rbm.log_density(held_out).mean()
    return {"log_likelihood": mean - run.log_z, "std_error": run.std_error, "ess": run.ess}


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


class Followed(NamedTuple):
    """Gibbs chains from images."""

    sizes: list[float]  # mean absolute value of a visible unit, before and after each sweep
    phase: float  # norm of v'h after the later of two sweeps, over that after the earlier


def follow(rbm, images, seeds, n_sweeps: int = 60, between: tuple[int, int] = (1, 20)) -> Followed:
    """How far Gibbs chains from images go, and what it does to the gradient's negative phase."""
    if not 0 < between[0] < between[1] <= count("n_sweeps", n_sweeps):
        raise ValueError(f"between is {between}: expected two rising sweeps of {n_sweeps}")
    v, stream = images.astype(float), np.random.default_rng(seeds)
    sizes, phases = [np.abs(v).mean()], {}
    for sweep in range(1, n_sweeps + 1):
        v = rbm.gibbs(v, stream)
        sizes.append(np.abs(v).mean())
        if sweep in between:
            phases[sweep] = np.linalg.norm(v.T @ rbm.sample_hidden(v, stream))
    return Followed(sizes, float(phases[between[1]] / phases[between[0]]))
