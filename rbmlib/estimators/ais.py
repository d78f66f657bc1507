"""Annealed importance sampling (Neal 2001; Kiwaki 2015, Algorithm 1).

Each chain starts from the base and moves along the path (`sampling.anneal`). Its log-weight is

    log w = log Z_0 + sum_k log p*_k(v_{k-1}) - log p*_{k-1}(v_{k-1}).

The expectation of w is Z. By Jensen's inequality, the logarithm of the mean of w and the mean of
log w are at or below log Z in expectation.
"""

import numpy as np

from .. import checks
from ..numerics import ChainStream
from ..paths.path import Path
from ..results import Estimate, of_weights, summarise_log_weights
from ..sampling.anneal import anneal
from . import estimator

MOST_RECORDED = 10_000_000


@estimator
def ais(
    path: Path,
    betas,
    n_chains: int = 1000,
    rng=None,
    *,
    n_recorded: int = 100,
    slopes: bool = False,
    keep_chains: bool = False,
) -> Estimate:
    """Estimate log Z of a path's target by annealed importance sampling.

    The mean weight of the chains is an *unbiased* estimate of Z for any number of steps. In
    expectation, its logarithm (`Estimate.log_z`) and the mean log-weight (`Estimate.mean_log_z`)
    are at or below log Z.

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
    n_recorded : int
        Number of recorded betas, evenly spaced by step and including both ends. `Estimate.betas`
        and `log_z_path` hold the records; `trace` adds "step" (the index of the beta) and "ess".
    slopes : bool
        Also record "slope_mean" and "slope_variance", the mean and variance of d/dbeta log p*.
        `rbmlib.schedules.varopt` makes a schedule from this variance (Kiwaki's g). Each record then
        takes about as long as a step in NumPy.
    keep_chains : bool
        Also record the log-weight (without log Z of the base) and the slope of every chain, as
        "chain_log_weights" and "chain_slopes" (n_recorded, n_chains) in `trace`.
        `rbmlib.schedules.friction` needs the log-weights.

    Returns
    -------
    Estimate
        It is inconclusive if the effective sample size is below 10, or below both 100 and half the
        number of chains, because its standard error is then unreliable. The interval is wider
        above, because runs can miss large weights (`rbmlib.results.log_mean_interval`).

    Examples
    --------
    >>> import rbmlib as rl
    >>> rbm = rl.testsystems.random_rbm(n_visible=12, n_hidden=6, rng=0)
    >>> estimate = rl.ais(rl.GeometricPath(rbm), rl.schedules.linear(500), n_chains=200, rng=0)
    >>> abs(estimate.log_z - rl.exact(rbm).log_z) < 5 * estimate.std_error
    True
    """
    betas, n_chains = checks.schedule(betas), checks.count("n_chains", n_chains)
    n_recorded = checks.count("n_recorded", n_recorded, 2, MOST_RECORDED)
    stream = ChainStream(rng, n_chains)
    v, n_steps = path.sample_base(n_chains, stream), betas.size - 1
    of_states = slopes or keep_chains
    rows: list[dict] = []

    def look(k, v, log_weights):
        rows.append(recorded(path, betas, k, v, log_weights, of_states, keep_chains))

    look(0, v, np.zeros(n_chains))
    looks = {*np.rint(np.linspace(0, n_steps, n_recorded)).astype(int).tolist()} - {0}
    v, gains = anneal(path, v, betas, stream, looks, look, of_states)
    settings = {"stream_seed": stream.seed, "n_temperatures": n_steps}
    trace = {name: np.array([row[name] for row in rows]) for name in rows[0]}
    more = {"betas": trace.pop("beta"), "log_z_path": trace.pop("log_z"), "trace": trace}
    more |= {"n_sweeps": n_steps, "settings": settings}
    return of_weights("ais", gains + path.log_z_base, path, v, **more)


def recorded(path, betas, k, v, log_weights, of_states: bool, keep_chains: bool) -> dict:
    """Return on-the-fly quantities (Algorithm 1): weighted means over chains at betas[k].

    After the transition at beta_k, the chains with their current weights are properly weighted
    for p_beta_k (Neal 2001).
    """
    summary = summarise_log_weights(log_weights)
    log_z = summary.log_mean + path.log_z_base
    row = {"beta": betas[k], "step": k, "log_z": log_z, "ess": summary.ess}
    if of_states:
        w = np.exp(log_weights - log_weights.max())
        w /= w.sum()
        slopes = path.log_density_slope(v, betas[k])
        mean = w @ slopes
        row |= {"slope_mean": mean, "slope_variance": w @ (slopes - mean) ** 2}
    if keep_chains:
        row |= {"chain_log_weights": log_weights.copy(), "chain_slopes": slopes}
    return row
