"""MBAR by stochastic approximation: eq. (19) of Carlson et al. (2016)."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from rbmlib.checks import array, count, generator, schedule
from rbmlib.numerics import logsumexp


class StochasticMBAR(NamedTuple):
    """What `stochastic_mbar` did; logarithms in nats."""

    log_z: np.ndarray  # (K,) log Z_k - log Z_1 at the end
    history: np.ndarray  # (n_epochs, K) after each pass over the samples
    n_updates: int


def stochastic_mbar(
    delta, counts, betas, *, start=None, batch_size: int = 100, n_epochs: int = 10, rng=None
) -> StochasticMBAR:
    """MBAR by stochastic approximation (Tan et al. 2016; Carlson et al. 2016, eq. 19).

    With r_k = N_k / N and c_k the mean over a batch of ``r_k exp(beta_k Delta) / Z_k``, normalised
    over k, update t is ``log Z_k += (c_k / r_k - c_1 / r_1) / t``. Its fixed point is `solve_mbar`,
    whose memory and time it saves where samples are too many to be seen twice. Steps of 1/t
    settle before they arrive unless they start near: c_k / r_k is at most K.

    Parameters
    ----------
    delta, counts, betas
        As in `rbmlib.solve_mbar`; every temperature must have samples.
    start : array (K,), optional
        log Z to begin from, up to a constant; 0 by default.
    batch_size, n_epochs : int
        Samples an update, drawn without replacement; passes over all samples.

    Returns
    -------
    StochasticMBAR
    """
    delta, counts, betas = _checked(delta, counts, betas)
    if not (counts > 0).all():
        raise ValueError(
            "counts hold 0: expected samples at every temperature; eq. (19) divides by their share"
        )
    start = np.zeros(betas.size) if start is None else start
    log_z = np.array(array("start", start, betas.shape, f"({betas.size},), log Z"))
    batch_size = min(count("batch_size", batch_size), delta.size)
    n_epochs, rng = count("n_epochs", n_epochs), generator(rng)
    share, history, update = counts / counts.sum(), [], 0
    for _ in range(n_epochs):
        order = rng.permutation(delta.size)
        for first in range(0, delta.size - batch_size + 1, batch_size):
            update += 1
            batch = delta[order[first : first + batch_size]]
            logits = np.log(share) - log_z + batch[:, None] * betas
            c = np.exp(logits - logsumexp(logits, axis=1)[:, None]).mean(axis=0)
            log_z += (c / share - c[0] / share[0]) / update
        history.append(log_z - log_z[0])
    return StochasticMBAR(log_z - log_z[0], np.array(history), update)


def _checked(delta, counts, betas) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    betas, meaning = schedule(betas), "one slope a sample"
    delta = array("delta", delta, (None,), meaning, flatten=True)
    n_samples = delta.size
    counts = array("counts", counts, betas.shape, f"({betas.size},), one count a beta")
    total = counts.sum()
    if not (counts >= 0).all() or not n_samples or not np.isclose(total, n_samples, rtol=1e-9):
        raise ValueError(
            f"counts run from {counts.min()} to {counts.max()} and sum to {total}: expected "
            f"counts of at least 0 that sum to the number of samples, {n_samples}"
        )
    return delta, counts, betas
