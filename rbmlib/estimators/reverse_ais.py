"""Reverse annealed importance sampling: log Z from above.

From x_K ~ p_K the path is run backwards; exp(-R), R = log Z_0 + sum_k log p*_k - log p*_{k-1}, is an
AIS weight from the target to the base, E[exp(-R)] = 1 / Z. So E[R] >= log Z for exact draws of the
target; from anything else the bound is only as good as they are.
"""

import numpy as np

from .. import checks
from ..models.enumeration import MOST_STATES, exact_draws, n_states
from ..models.rbm import RBM
from ..numerics import ChainStream
from ..results import of_weights
from ..sampling import anneal, sweep
from . import estimator


@estimator
def reverse_ais(path, betas, n_chains=1000, rng=None, *, start="auto", n_burn_in=1000):
    """``start``: "exact" draws, "chains" annealed forward and resampled, or states of your own."""
    betas, n_chains = checks.schedule(betas), checks.count("n_chains", n_chains)
    source = checks.generator(rng).spawn(1)[0]  # independent of `ais` with the same seed
    stream = ChainStream(source, n_chains)

    def forward():
        chains = ChainStream(source, n_chains)
        return *anneal(path, path.sample_base(n_chains, chains), betas, chains), chains

    v, words, _ = begun(path, start, n_chains, source, n_burn_in, forward)
    v, log_weights = anneal(path, v, betas[::-1], stream)
    return of_weights(
        "reverse_ais",
        log_weights - path.log_z_base,
        path,
        v,
        sign=-1,
        n_sweeps=betas.size - 1,
        settings={"start": words},
    )


def begun(path, start, n_chains, rng, n_burn_in, forward):
    """States at beta = 1, in words where they come from, and whose descendants they are."""
    target = path.at(1.0)
    if not isinstance(start, str):
        return checks.states("start", start, target.visible), "given", None
    checks.one_of("start", start, ("auto", "exact", "chains"))
    few = (
        isinstance(target, RBM)
        and target.hidden.conditional
        and 2**22 >= min(n_states(target.visible), n_states(target.hidden), MOST_STATES)
    )
    if start == "exact" or (start == "auto" and few):
        return exact_draws(target, n_chains, rng), "exact samples", None
    v, log_weights, stream = forward()
    chosen = resampled(log_weights, rng)
    v = sweep(path, v[chosen], 1.0, n_burn_in, stream)
    return v, f"chains annealed forward, resampled, {n_burn_in} sweeps at beta = 1", chosen


def resampled(log_weights, rng):
    """Indices of chains drawn in proportion to their weights, systematic."""
    weights = np.exp(log_weights - log_weights.max())
    places = (np.arange(weights.size) + rng.random()) / weights.size
    found = np.searchsorted(np.cumsum(weights) / weights.sum(), places)
    return np.minimum(found, weights.size - 1)
