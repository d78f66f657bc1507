"""Reverse annealed importance sampling: log Z from above.

From x_K ~ p_K, the transition at beta_{k-1} takes x_k to x_{k-1}, down to the base. Let

    R = log Z_0 + sum_k [log p*_{beta_k}(x_k) - log p*_{beta_{k-1}}(x_k)].

exp(-R) is an AIS weight of the reversed path, from the target to the base: E[exp(-R)] = 1 / Z. By
Jensen's inequality, E[R] >= log Z, and -log mean exp(-R) >= log Z in expectation. Both bounds need
exact samples of the target. (log mean exp(+R) is not a bound.)
"""

from collections.abc import Callable

import numpy as np

from .. import checks
from ..models.conversion import shown
from ..models.enumeration import MOST_IN_A_TABLE, can_enumerate
from ..models.rbm import RBM
from ..numerics import ChainStream
from ..paths.path import Path
from ..results import Estimate, enough, of_weights, summarise_log_weights
from ..sampling.anneal import anneal, sweep
from ..sampling.sample import given_states
from . import estimator

STARTS = ("auto", "exact", "chains")


@estimator
def reverse_ais(
    path: Path, betas, n_chains: int = 1000, rng=None, *, start="auto", n_burn_in: int = 1000
) -> Estimate:
    """Estimate log Z from above by annealing from the target back to the base.

    `mean_log_z` is the mean of R, and `log_z` is the tighter ``-log mean exp(-R)``, whose error bar
    needs a large ESS. Both are bounds only if the initial states are exact samples.

    Parameters
    ----------
    path : Path
        Path from a base with known log Z to the target, such as ``rl.GeometricPath(rbm)``.
    betas : array (K,)
        Increasing from 0 to 1, such as ``rl.schedules.linear(1000)``.
    n_chains : int
        Number of independent chains.
    rng : int, Generator or None
        The same seed gives the same bits on any number of threads.
    start : {"auto", "exact", "chains"} or array (n_chains, n_visible)
        Initial states. "exact" takes exact draws of the target, for example of models with at most
        22 units in one layer. "chains" anneals chains forward along ``betas``, resamples them by
        their weights, and moves them for ``n_burn_in`` sweeps at beta = 1; the estimate is
        inconclusive if the ESS of these weights is small. "auto" takes exact draws if possible,
        else "chains". An array holds your own states. ``settings["start"]`` records the choice.
    n_burn_in : int
        Number of sweeps at beta = 1 for the start "chains".

    Returns
    -------
    Estimate
        `states` holds the initial states of the chains.

    Examples
    --------
    >>> import rbmlib as rl
    >>> path = rl.GeometricPath(rl.testsystems.random_rbm(n_visible=12, n_hidden=6, rng=0))
    >>> betas = rl.schedules.linear(10)
    >>> low, high = (run(path, betas, n_chains=200, rng=0) for run in (rl.ais, rl.reverse_ais))
    >>> low.mean_log_z < rl.exact(path.rbm).log_z < high.mean_log_z
    True
    """
    betas, n_chains = checks.schedule(betas), checks.count("n_chains", n_chains)
    n_burn_in = checks.count("n_burn_in", n_burn_in, 0)
    start = checked_start(path, start, n_chains)
    source = checks.generator(rng).spawn(1)[0]  # independent of `ais` with the same seed
    stream = ChainStream(source, n_chains)

    def forward():
        chains = ChainStream(source, n_chains)
        return *anneal(path, path.sample_base(n_chains, chains), betas, chains), chains

    states, words, ancestors, ess = begin(path, start, n_chains, source, n_burn_in, forward)
    _, log_weights = anneal(path, states, betas[::-1], stream)
    settings = {"start": words, "stream_seed": stream.seed, "n_temperatures": betas.size - 1}
    more = {"sign": -1, "n_sweeps": betas.size - 1, "settings": settings}
    values = log_weights - path.log_z_base
    name = "effective sample size of the initial states"
    found = [] if ancestors is None else [enough(name, ess, n_chains)]
    return of_weights("reverse_ais", values, path, states, found, **more)


# where chains begin -------------------------------------------------------------------------


def checked_start(path, start, n_chains: int):
    """Check ``start``, and return the given states, "exact" or "chains"."""
    if isinstance(start, (np.ndarray, list)):
        return given_states(path, start, n_chains)
    if not (isinstance(start, str) and start in STARTS):
        meaning = f"one of {STARTS}, or states (n_chains, n_visible)"
        raise ValueError(f"start is {start!r:.60}: expected {meaning}")
    target = path.at(1.0)
    counted = isinstance(target, RBM) and can_enumerate(target)
    if start == "auto":
        return "exact" if counted else "chains"
    draws = counted or hasattr(target, "exact_samples")
    if isinstance(target, RBM) and not counted:
        draws = target.log_z is not None or not target.hidden.conditional
    if start == "exact" and not draws:
        most = f"a model with at most {MOST_IN_A_TABLE:,} states of one layer, or a LeakyRBM"
        held = f"start is 'exact', but the target is {shown(target)}"
        raise ValueError(f"{held}: expected {most}; use start='chains', or draws of your own")
    return start


def begin(path, start, n_chains: int, rng, n_burn_in: int, forward: Callable):
    """Return initial states at beta = 1, their origin in words, their ancestors, and an ESS.

    For "chains", ``forward()`` returns annealed states, their log-weights, and their stream. The
    ancestors are indices of these states, and the ESS is that of the weights that resample them.
    """
    if not isinstance(start, str):
        return start, "given", None, np.inf
    if start == "exact":
        return path.at(1.0).exact_samples(n_chains, rng), "exact samples", None, np.inf
    v, log_weights, stream = forward()
    ancestors = resampled(log_weights, rng)
    v = sweep(path, v[ancestors], 1.0, n_burn_in, stream)  # separate copies of the same chain
    words = f"chains annealed forward, resampled, {n_burn_in} sweeps at beta = 1"
    return v, words, ancestors, summarise_log_weights(log_weights).ess


def resampled(log_weights, rng, n: int | None = None) -> np.ndarray:
    """Return indices of ``n`` chains (default: all) from systematic resampling."""
    weights = np.exp(log_weights - log_weights.max())
    n = weights.size if n is None else n
    places = (np.arange(n) + rng.random()) / n
    found = np.searchsorted(np.cumsum(weights) / weights.sum(), places)
    return np.minimum(found, weights.size - 1)
