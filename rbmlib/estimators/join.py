"""More chains for a run of AIS: the estimate is that of one run of them all."""

import numpy as np

from .. import checks
from ..numerics import ChainStream, logsumexp
from ..results import of_weights
from . import estimator
from .ais import Record, annealed

OF_CHAINS = ("chain_log_weights", "chain_slopes")


@estimator
def more_chains(path, run, betas, n_chains, *, expectations=None):
    """``run`` of `ais` on the same path and betas, joined by ``n_chains`` further ones."""
    betas, expectations = checks.schedule(betas), expectations or {}
    steps = run.trace.get("step")
    same = run.method == "ais" and steps is not None and run.n_sweeps == betas.size - 1
    if not (same and np.array_equal(run.betas, betas[steps])):
        raise ValueError(
            "run was annealed along other betas, or is no run of ais: expected one of "
            "ais on the same path and betas"
        )
    if not np.isclose(run.log_z_path[0], path.log_z_base):
        raise ValueError("run was annealed from another base: expected one of ais on the same path")
    record = Record(path, betas, expectations, set(OF_CHAINS) <= set(run.trace))
    stream = ChainStream(None, n_chains, run.n_chains, seed=run.settings["stream_seed"])
    v, log_weights = annealed(path, betas, stream, record, steps)
    columns = joined(run, record.columns(), (run.n_chains, n_chains))
    if run.states is not None:
        v = np.concatenate([run.states, v])
    return of_weights(
        "ais",
        np.concatenate([run.log_weights, log_weights]),
        path,
        v,
        n_sweeps=run.n_sweeps,
        settings=dict(run.settings),
        **columns,
    )


def joined(run, more, counts):
    """Weighted means and variances over the union of two sets of chains."""
    ours, theirs, n = run.trace, more["trace"], sum(counts)
    total = np.stack([np.log(m) + r for m, r in zip(counts, (run.log_z_path, more["log_z_path"]))])
    log_z_path = logsumexp(total, axis=0) - np.log(n)
    share = np.exp(total - logsumexp(total, axis=0))  # of each set in the sum of the weights

    def mean(a, b):
        s = share.reshape(2, -1, *[1] * (np.ndim(a) - 1))
        return s[0] * a + s[1] * b

    trace = {
        name: np.concatenate([ours[name], theirs[name]], axis=1)
        if name in OF_CHAINS
        else mean(ours[name], theirs[name])
        for name in ours
    }
    squares = [((m - 1) * (m / t["ess"] - 1) + m) / m**2 for m, t in zip(counts, (ours, theirs))]
    relative = n**2 * (share[0] ** 2 * squares[0] + share[1] ** 2 * squares[1])
    spread = [
        t["slope_variance"] + (t["slope_mean"] - trace["slope_mean"]) ** 2 for t in (ours, theirs)
    ]
    trace |= {
        "step": theirs["step"],
        "ess": n / (1 + (relative - n) / (n - 1)),
        "slope_variance": mean(*spread),
    }
    return {"betas": run.betas, "log_z_path": log_z_path, "trace": trace}
