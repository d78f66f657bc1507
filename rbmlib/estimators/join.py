"""More chains for a run of AIS: the estimate is that of one run of them all."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Unpack

import numpy as np

from .. import checks
from ..context import Context
from ..numerics import ChainStream, logsumexp
from ..paths.path import Path
from ..results import Estimate, of_weights
from . import estimator
from .ais import OF_CHAINS, RECORDED, Record, annealed, identity, recorded_steps

EXPECTED = "expected a run of rl.ais on the same path, betas and expectations"


@estimator
def join(
    path: Path,
    run: Estimate,
    betas,
    n_chains: int = 1000,
    *,
    expectations: Mapping[str, Callable[[np.ndarray], np.ndarray]] | None = None,
    **context: Unpack[Context],
) -> Estimate:
    """``run`` of `ais` on the same path and betas, joined by ``n_chains`` further ones.

    Parameters
    ----------
    path, betas, expectations, n_threads, progress
        As ``run`` was made with. Its seed goes on, and what it kept is kept.
    run : Estimate
        Of `rbmlib.ais` or `join`, perhaps loaded from a file.
    n_chains : int
        Chains to add.

    Returns
    -------
    Estimate
        The log-weights, and what follows from them, are those of one run of all the chains.

    Raises
    ------
    ValueError
        If ``run`` was made along another path or other betas, or looked at otherwise.

    Examples
    --------
    >>> import rbmlib as rl
    >>> path = rl.GeometricPath(rl.testsystems.random_rbm(12, 6, rng=0))
    >>> betas = rl.schedules.linear(200)
    >>> more = rl.join(path, rl.ais(path, betas, 40, rng=0), betas, 60)
    >>> more.log_z == rl.ais(path, betas, 100, rng=0).log_z
    True
    """
    betas, n_chains = checks.schedule(betas), checks.count("n_chains", n_chains)
    checks.instance("run", run, Estimate, "an Estimate of rl.ais")
    if run.method != "ais" or "stream_seed" not in run.settings:
        raise ValueError(f"run is an estimate by {run.method!r}: {EXPECTED}")
    kept = set(OF_CHAINS) & set(run.trace)
    stream = ChainStream(None, n_chains, run.n_chains, seed=run.settings["stream_seed"])
    record = Record(path, betas, stream, expectations, keep_chains=bool(kept))
    _check_same(run, path, betas, {*RECORDED, *kept, *record.expectations} - {"beta", "log_z"})
    steps = recorded_steps(betas.size - 1, run.betas.size)
    v, log_weights = annealed(path, betas, stream, record, steps)
    joined = of_weights(
        "ais", np.concatenate([run.log_weights, log_weights]), path, v, n_sweeps=run.n_sweeps,
        settings=run.settings | identity(path, betas),
        **_records(run, record.columns(), (run.n_chains, n_chains)),
    )  # fmt: skip
    return replace(joined, states=None if run.states is None else np.concatenate([run.states, v]))


def _check_same(run, path, betas, names) -> None:
    """Refuse to join chains of different paths, schedules or expectations."""
    found = np.size(run.log_weights)
    if found != run.n_chains or not np.all(np.isfinite(run.log_weights)):
        raise ValueError(
            f"run holds {found} log_weights of {run.n_chains} chains, or some that are not "
            "finite: expected it as rl.ais returned it, with one finite number a chain"
        )
    steps = recorded_steps(betas.size - 1, run.betas.size)
    same = run.n_sweeps == betas.size - 1 and np.array_equal(run.betas, betas[steps])
    if not same or set(run.trace) != names:
        raise ValueError(f"run was annealed along other betas, or looked at otherwise: {EXPECTED}")
    here, there = identity(path, betas), run.settings
    if here["betas_sha256"] != there.get("betas_sha256"):
        raise ValueError(f"run was annealed along other betas: {EXPECTED}")
    if not np.allclose(here["log_densities"], there.get("log_densities", np.nan), rtol=1e-9):
        raise ValueError(f"run was annealed along another path: {EXPECTED}")


def _records(run, more, counts) -> dict:
    """Records of two sets of chains as those of their union (weighted means and variances).

    The sum of squared weights follows from the ESS, N / (1 + s^2).
    """
    ours, theirs, n = run.trace, more["trace"], sum(counts)
    paths = run.log_z_path, more["log_z_path"]
    total = np.stack([np.log(m) + r for m, r in zip(counts, paths, strict=True)])
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
    squares = [
        ((m - 1) * (m / t["ess"] - 1) + m) / m**2
        for m, t in zip(counts, (ours, theirs), strict=True)
    ]
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
