"""log Z from both sides of models with Gaussian visible units that were trained on images.

Chains of the model's own, begun at images, give the moments of the Gaussian base of a
`GaussianBasePath`, and, moved further by its exact transitions, the states from which annealing
runs back. So both ends rest on the same chains: mass of the model that none of them has seen is
missing from both, and then the bracket is too low as a whole, and likelihoods from it too high.
"""

from __future__ import annotations

import numpy as np

from rbmlib import Estimate, GaussianRBM, LeakyRBM, ais, reverse_ais
from rbmlib.checks import generator
from rbmlib.numerics import ChainStream
from rbmlib.sampling import sweep
from rbmlib.schedules import linear

from .gaussian_base import GaussianBasePath, SinglePrecisionBasePath

KEPT = 10  # of these sweeps of the second half one is kept, for the moments


def bracket_log_z(
    rbm: LeakyRBM | GaussianRBM,
    images,
    *,
    n_chains: int = 50,
    n_temperatures: int = 300,
    n_sweeps: int = 300,
    n_burn_in: int = 50,
    n_leapfrog: int = 0,
    single_precision: bool = False,
    rng=None,
) -> tuple[Estimate, Estimate]:
    """Anneal from the Gaussian of the model's own chains to the model, and back.

    AIS bounds log Z from below, reverse AIS from above, in expectation.

    Chains begin at ``images``, at least ``n_chains`` rows, all of which are used; every tenth state
    of the second half of ``n_sweeps`` counts for the moments. ``n_burn_in`` exact transitions at
    beta = 1 follow before annealing back: `gibbs` of a leaky RBM has another law. Slices alone mix
    so slowly in 500 dimensions that both ends can lie too low: hence ``n_leapfrog``.

    Examples
    --------
    >>> import rbmlib as rl
    >>> rbm = rl.LeakyRBM([[0.9, 0.0], [0.0, 0.9], [0.0, 0.0]])
    >>> below, above = bracket_log_z(rbm, rbm.exact_samples(100, rng=1), n_chains=100, rng=0)
    >>> below.mean_log_z - 0.1 < rbm.exact_log_z() < above.mean_log_z + 0.1
    True
    """
    rng = generator(rng)
    (model, span), seen = rbm.reduced(), []
    u = span.coordinates(np.asarray(images, float))
    if len(u) < n_chains:
        raise ValueError(f"images has {len(u)} rows: expected at least n_chains, {n_chains}")
    for done in range(1, n_sweeps + 1):
        u = model.gibbs(u, rng)
        if 2 * done > n_sweeps and done % KEPT == 0:
            seen.append(u)
    kind = SinglePrecisionBasePath if single_precision else GaussianBasePath
    states = span(np.concatenate(seen or [u]), rng)
    path = kind(rbm, states, n_leapfrog, reduced=(model, span))
    start = path.state_of(span(u[:n_chains], rng))
    if n_burn_in:
        start = sweep(path, start, 1.0, n_burn_in, ChainStream(rng, n_chains))
    betas = linear(n_temperatures)
    return ais(path, betas, n_chains, rng), reverse_ais(path, betas, n_chains, rng, start=start)
