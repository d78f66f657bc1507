"""Z as the sum of what lies about mean-field modes, each annealed from a base of its own.

About mode c lies a product measure q_c with weight C_c. Their shares alpha_c = C_c q_c / sum C q
add up to 1 in every state, so that

    Z = sum_c E[w alpha_c(v)],

with w the weight of a chain annealed from any base, and v where it ends. From a base about mode c
few chains and steps will do. Nothing of a run enters: a sum that lies above its interval refutes
it. Modes that were not found make the sum low in most runs, so that it cannot confirm what they
hold.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from .. import checks
from ..models.conversion import as_rbm_of_bits
from ..models.layers import Bits
from ..models.rbm import RBM
from ..numerics import ChainStream, logit, logsumexp, smoothed, softplus
from ..paths import GeometricPath
from ..paths.bases import rounded
from ..sampling.anneal import anneal
from ..schedules import linear
from .modes import find_modes

CERTAIN = 1e-5  # least probability of a state of a unit in q_c
WIDTH = 0.02  # smoothing of the bases
MOST_MODES, WITHIN = 40, 8.0  # nats below the heaviest
SURE = 3.0  # standard errors


class LocalMasses(NamedTuple):
    """Their sum, an unbiased estimate of Z, and a value that it surely exceeds."""

    log_z: float
    std_error: float  # of `log_z`, nats
    log_lower: float  # three standard errors below, and without the largest weight
    n_modes: int


def local_masses(
    rbm: RBM, rng=0, *, n_modes: int = MOST_MODES, n_chains: int = 40, n_steps: int = 60
) -> LocalMasses:
    """The sum over the ``n_modes`` heaviest modes of a model of `Bits` (else TypeError).

    Examples
    --------
    >>> import rbmlib as rl
    >>> from rbmlib.search.local_masses import local_masses
    >>> rbm = rl.testsystems.random_rbm(100, 5, coupling=4.0, rng=0)
    >>> found = local_masses(rbm)
    >>> bool(abs(found.log_z - rl.exact(rbm).log_z) < 4 * found.std_error)
    True
    """
    rbm, rng = as_rbm_of_bits("rbm", rbm), checks.generator(rng)
    modes = find_modes(rbm, rng=rng)
    n = min(n_modes, int((modes.log_z > modes.log_z[0] - WITHIN).sum()))
    biases = logit(np.clip(modes.visible[:n], CERTAIN, 1 - CERTAIN))
    log_c, scale = modes.log_z[:n] - softplus(biases).sum(axis=1), modes.log_z[0]
    values = np.empty((n, n_chains))
    for c, mode in enumerate(modes.visible[:n]):
        path, stream = local_path(rbm, mode, WIDTH), ChainStream(rng, n_chains)
        start = path.sample_base(n_chains, stream)
        v, gains = anneal(path, start, linear(n_steps), stream)
        logs = v.astype(float) @ biases.T + log_c
        log_share = logs[:, c] - logsumexp(logs, axis=1)
        values[c] = np.exp(gains + path.log_z_base + log_share - scale)
    total = values.mean(axis=1).sum()
    error = float(np.sqrt(values.var(axis=1, ddof=1).sum() / n_chains))
    lower = min(total - SURE * error, total - values.max() / n_chains)
    log_z, log_lower = np.log(np.maximum([total, lower], np.finfo(float).tiny)) + scale
    return LocalMasses(float(log_z), error / total, float(log_lower), n)


def local_path(rbm: RBM, mode: np.ndarray, width: float) -> GeometricPath:
    """From the mean fields of a mode (n_visible,), none of them quite certain."""
    hidden = rbm.hidden.mean(rbm.field(mode[None]))[0]
    one, two = (Bits(rounded(smoothed(means, width))) for means in (mode, hidden))
    return GeometricPath(rbm, RBM(one, two, np.zeros(rbm.weights.shape)))
