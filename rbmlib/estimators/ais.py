"""Annealed importance sampling (Neal 2001; Kiwaki 2015, Algorithm 1).

Each chain starts from the base and collects, while it is moved along the path (`sampling.anneal`),

    log w = log Z_0 + sum_k log p*_k(v_{k-1}) - log p*_{k-1}(v_{k-1}).

The mean of w is an unbiased estimate of Z; its logarithm, and the mean of log w, are at or below
log Z in expectation (Jensen).
"""

import numpy as np

from .. import checks
from ..numerics import ChainStream
from ..results import of_weights, summarise
from ..sampling import anneal
from . import estimator


@estimator
def ais(
    path, betas, n_chains=1000, rng=None, *, n_recorded=100, expectations=None, keep_chains=False
):
    """Estimate log Z of a path's target. ``expectations``: {name: f(visible)}, for the trace."""
    betas, n_chains = checks.schedule(betas), checks.count("n_chains", n_chains)
    stream = ChainStream(rng, n_chains)
    looks = np.rint(np.linspace(0, betas.size - 1, checks.count("n_recorded", n_recorded, 2)))
    record = Record(path, betas, expectations or {}, keep_chains)
    v, log_weights = annealed(path, betas, stream, record, np.unique(looks).astype(int))
    return of_weights(
        "ais",
        log_weights,
        path,
        v,
        n_sweeps=betas.size - 1,
        settings={"stream_seed": stream.seed},
        **record.columns(),
    )


def annealed(path, betas, stream, record, looks):
    """Chains from the base to the target, and their log-weights."""
    v = path.sample_base(stream.n_chains, stream)
    record(0, v, np.zeros(stream.n_chains))
    v, log_weights = anneal(path, v, betas, stream, set(looks[1:].tolist()), record)
    return v, log_weights + path.log_z_base


class Record:
    """On-the-fly quantities: chains with their weights so far are proper for p_beta_k."""

    def __init__(self, path, betas, expectations, keep_chains):
        self.path, self.betas, self.rows = path, betas, []
        self.expectations, self.keep_chains = expectations, keep_chains

    def __call__(self, k, v, log_weights):
        summary, w = summarise(log_weights), np.exp(log_weights - log_weights.max())
        w, slopes = w / w.sum(), self.path.log_density_slope(v, self.betas[k])
        mean = w @ slopes
        row = {
            "beta": self.betas[k],
            "log_z": summary.log_mean + self.path.log_z_base,
            "step": k,
            "ess": summary.ess,
            "slope_mean": mean,
            "slope_variance": w @ (slopes - mean) ** 2,
        }
        if self.keep_chains:
            row |= {"chain_log_weights": log_weights.copy(), "chain_slopes": slopes}
        visible = self.path.visible_of(v) if self.expectations else None
        row |= {name: w @ f(visible) for name, f in self.expectations.items()}
        self.rows.append(row)

    def columns(self):
        columns = {name: np.array([row[name] for row in self.rows]) for name in self.rows[0]}
        return {"betas": columns.pop("beta"), "log_z_path": columns.pop("log_z"), "trace": columns}
