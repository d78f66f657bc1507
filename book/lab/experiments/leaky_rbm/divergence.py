"""Chapter leaky_rbm: Gibbs chains of leaky RBMs trained with and without the projection.

Li et al. (2016), Figure 5 and appendix C: without it chains of the trained model diverge.
"""

from __future__ import annotations

import time

import numpy as np

from rbmbook.gaussian_training import train_gaussian
from rbmbook.sweeps.words import ESTIMATORS, register
from rbmlib import project_weights
from rbmlib.results import Estimate

from .training import subset

LOOKS = 1, 5, 10, 20, 40, 60  # sweeps after which the chains are looked at


@register(ESTIMATORS, "chains of a trained model")
def _chains_of_a_trained_model(
    rbm, seed, *, projected: bool, learning_rate: float, weight_decay: float, n_updates: int,
    n_sweeps: int = 1, n_chains: int = 1000,
):  # fmt: skip
    """Train on the 2,000 images, and move chains from as many of them by the published sweeps.

    Columns by the number of sweeps k: "mean_k" is the mean visible unit, "size_k" its mean
    absolute value, "gradient_k" the size of the chains' part of the gradient, of the weights on
    the span of them. Both kinds of training start at projected weights: at 500 units the others
    have singular values up to 6, and diverge at once.
    """
    started = time.thread_time()
    images = subset()["train"]
    rng = np.random.default_rng([seed, 1])
    start = project_weights(rng.uniform(0, 0.01, (images.shape[1], rbm.n_hidden)))
    run = train_gaussian(
        images, rbm.n_hidden, n_sweeps=n_sweeps, n_updates=n_updates, learning_rate=learning_rate,
        weight_decay=weight_decay, largest=0.9999 if projected else None, start_weights=start,
        rng=seed, monitor_every=n_updates,
    )  # fmt: skip
    model, span = run.rbm.reduced()
    first = images[:n_chains]
    more = {"mean_0": first.mean(dtype=float), "size_0": np.abs(first).mean(dtype=float)}
    u = span.coordinates(first.astype(float))
    for sweep in range(1, LOOKS[-1] + 1):
        u = model.gibbs(u, rng)
        if sweep in LOOKS:
            v = span(u, rng)
            more[f"mean_{sweep}"], more[f"size_{sweep}"] = v.mean(), np.abs(v).mean()
            moment = u.T @ model.hidden_mean(u) / len(u)
            more[f"gradient_{sweep}"] = np.linalg.norm(moment)
    more |= {name: run.history[name][-1] for name in list(run.history)[1:]}
    return Estimate(
        method="none", log_z=np.nan, std_error=np.nan, interval=(-np.inf, np.inf),
        seconds=time.thread_time() - started,
        verdict="consistent" if more["largest_singular_value"] < 1 else "inconclusive",
    ), more  # fmt: skip
