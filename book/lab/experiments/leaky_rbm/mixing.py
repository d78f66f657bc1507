"""Chapter leaky_rbm: Algorithm 2 of Li et al. (2016) as a sampler.

How far its chains are from exact draws of the model after n sweeps, and those of CD: by quadrature
for orthogonal columns, by exact draws where columns are not orthogonal and there are biases.
"""

from __future__ import annotations

import time
from dataclasses import replace
from functools import partial

import numpy as np

from rbmbook.li2016.moves import MOVES, exact_draws, mean_distance
from rbmbook.li2016.quadrature import ALGORITHMS, annealed_leakiness, distances
from rbmbook.sweeps.words import ESTIMATORS, MODELS, register
from rbmlib import exact
from rbmlib.checks import one_of
from rbmlib.models import LeakyRBM
from rbmlib.models.normal import gaussian
from rbmlib.models.testsystems import orthogonal_leaky_rbm
from rbmlib.numerics import ChainStream
from rbmlib.results import Estimate

UNITS = 5
MODELS |= {"one column": partial(orthogonal_leaky_rbm, 1, 1)}


@register(ESTIMATORS, "distance by quadrature")
def _distance_by_quadrature(
    rbm, *, norm: float, leakiness: float, kernel: str = "gibbs", n_sweeps: int
):
    """Total variation ("tv"), Kullback-Leibler divergence ("kl") and excess of the slope.

    Of one column; columns are named by algorithm and by the start of its chains.
    """
    started = time.thread_time()
    more = {}
    for (name, start), found in distances(norm, leakiness, n_sweeps, kernel).items():
        label = name if start == "gaussian" else f"{name}_{start}"
        more[f"tv_{label}"], more[f"kl_{label}"] = found.total_variation, found.divergence
    run = exact(orthogonal_leaky_rbm(1, 1, norm=norm, leakiness=leakiness))
    return replace(run, seconds=time.thread_time() - started), more


def slanted(norm: float, leakiness: float, seed: int) -> LeakyRBM:
    """Five hidden units, columns in any directions of five dimensions, biases on both sides."""
    rng = np.random.default_rng(seed)
    weights = rng.normal(size=(UNITS, UNITS))
    weights *= norm / np.linalg.norm(weights, 2)
    return LeakyRBM(
        weights, 0.5 * rng.normal(size=UNITS), 0.5 * rng.normal(size=UNITS), leakiness=leakiness
    )


@register(ESTIMATORS, "distance from exact draws")
def _distance_from_exact_draws(
    rbm, seed, *, norm: float, leakiness: float, kernel: str = "gibbs", n_sweeps: int,
    n_draws: int = 20_000,
):  # fmt: skip
    """Kolmogorov-Smirnov distance of a field from that of exact draws, mean over five units.

    The columns "ks" as in `distance by quadrature`; "floor" is that of two samples of exact draws
    ("exact"), and "slope" the excess of the slope.
    """
    one_of("kernel", kernel, MOVES)
    started = time.thread_time()
    model = slanted(norm, leakiness, seed)
    rng = np.random.default_rng([seed, n_sweeps])
    truth, again = (exact_draws(model, n_draws, rng) for _ in range(2))
    mean, precision, _ = gaussian(model)
    root = np.linalg.cholesky(np.linalg.inv(precision))
    starts = {
        "normal": rng.standard_normal(truth.shape),
        "model": again,
        "gaussian": mean + rng.standard_normal(truth.shape) @ root.T,
    }
    reduced, span = model.reduced()
    fields = model.field(truth)
    more: dict[str, float] = {}
    slope = negative_squares(fields).mean()
    for name, (where, falls) in ALGORITHMS.items():
        for start in ("gaussian",) if where == "gaussian" else ("normal", "model"):
            u = starts[start] @ span.basis
            stream = ChainStream(np.random.default_rng([seed, n_sweeps, len(more)]), n_draws)
            ladder = annealed_leakiness(leakiness, n_sweeps)
            for c in ladder if falls else np.full(n_sweeps, leakiness):
                at = reduced.with_(hidden=reduced.hidden.with_(below=c))
                u = MOVES[kernel](at, u, stream)
            eta = reduced.field(u)
            label = name if start == "gaussian" else f"{name}_{start}"
            more[f"ks_{label}"] = mean_distance(eta, fields)
            more[f"slope_{label}"] = negative_squares(eta).mean() - slope
    more["ks_exact"] = mean_distance(model.field(again), fields)
    return _none(time.thread_time() - started), more


def negative_squares(eta) -> np.ndarray:
    """Sum of eta_j^2 / 2 over eta_j <= 0: (n_chains,)."""
    low = np.minimum(eta, 0.0)
    return np.einsum("nj,nj->n", low, low) / 2


def _none(seconds: float) -> Estimate:
    """No estimate of log Z is asked for."""
    return Estimate(
        method="none", log_z=np.nan, std_error=np.nan, interval=(-np.inf, np.inf),
        seconds=seconds,
    )  # fmt: skip
