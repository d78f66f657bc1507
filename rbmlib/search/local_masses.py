"""Z as a sum of the masses about mean-field modes, each annealed from its own base.

Let q_c be a product measure about mode c with weight C_c. The shares alpha_c = C_c q_c / sum C q
add up to 1 in every state, so

    Z = sum_c E[w alpha_c(v)],

where w is the weight of a chain annealed from any base, and v its last state. From a base about
mode c, a few chains and steps suffice. The sum is independent of any run of an estimator, so it
refutes an interval that lies below it. If a mode was not found, the sum is too low in most runs, so
it cannot confirm an estimate.
"""

from typing import NamedTuple

import numpy as np

from .. import checks
from ..models.layers import Binary, Gaussian
from ..models.rbm import RBM
from ..numerics import logit, logsumexp, smoothed
from ..paths.bases import layers_solutions, rounded
from ..paths.named import GeometricPath
from ..paths.polyline import Polyline
from ..sampling.anneal import annealed
from .modes import find_modes, heaviest

CERTAIN = 1e-5  # least probability of a state of a unit in q_c
WIDTH = 0.02  # smoothing of the bases
MOST_MODES, WITHIN = 40, 8.0  # number of modes; nats below the heaviest
N_CHAINS, N_STEPS = 40, 60  # about each mode
UNITS = 16  # hidden units that are on in the starts for real visible units
SURE = 3.0  # standard errors


class LocalMasses(NamedTuple):
    """The sum of local masses, an unbiased estimate of Z, and a lower bound."""

    log_z: float
    std_error: float  # of `log_z`, nats
    log_lower: float  # three standard errors below, or without the largest weight if lower
    n_modes: int


def local_masses(rbm: RBM, rng=0, *, n_modes: int = MOST_MODES) -> LocalMasses:
    """Return the sum over the ``n_modes`` heaviest modes of a model of `Binary` units.

    Visible units may be `Gaussian`, on the span of the weights. Raises TypeError for other models.

    Examples
    --------
    >>> import rbmlib as rl
    >>> from rbmlib.search.local_masses import local_masses
    >>> rbm = rl.testsystems.random_rbm(100, 5, coupling=4.0, rng=0)
    >>> found = local_masses(rbm)
    >>> bool(abs(found.log_z - rl.exact(rbm).log_z) < 4 * found.std_error)
    True
    """
    rng = checks.generator(rng)
    if of_real_units(rbm):
        means, log_z = _modes_of_units(rbm)
    else:
        means, _, _, log_z = find_modes(rbm, rng=rng)
    n = min(n_modes, int((log_z > log_z[0] - WITHIN).sum()))
    means = means[:n]
    biases = means if of_real_units(rbm) else logit(np.clip(means, CERTAIN, 1 - CERTAIN))
    log_c, scale = log_z[:n] - rbm.visible.cumulant(biases), log_z[0]
    values = np.empty((n, N_CHAINS))
    for c, mode in enumerate(means):
        v, log_weights = annealed(local_path(rbm, mode, WIDTH), N_CHAINS, N_STEPS, rng)
        logs = v.astype(float) @ biases.T + log_c
        log_share = logs[:, c] - logsumexp(logs, axis=1)
        values[c] = np.exp(log_weights + log_share - scale)
    total = values.mean(axis=1).sum()
    error = float(np.sqrt(values.var(axis=1, ddof=1).sum() / N_CHAINS))
    lower = min(total - SURE * error, total - values.max() / N_CHAINS)
    log_z, log_lower = np.log(np.maximum([total, lower], np.finfo(float).tiny)) + scale
    return LocalMasses(float(log_z), error / total, float(log_lower), n)


def local_path(rbm: RBM, mode: np.ndarray, width: float) -> Polyline:
    """Return the path from a base about a mode, given its visible means (n_visible,)."""
    hidden = Binary(rounded(smoothed(rbm.hidden.mean(rbm.field(mode[None]))[0], width)))
    if of_real_units(rbm):
        return Polyline([RBM(Gaussian(mode), hidden, np.zeros(rbm.weights.shape)), rbm])
    base = RBM(Binary(rounded(smoothed(mode, width))), hidden, np.zeros(rbm.weights.shape))
    return GeometricPath(rbm, base)


def of_real_units(rbm: RBM) -> bool:
    return isinstance(rbm.visible, Gaussian) and isinstance(rbm.hidden, Binary)


def _modes_of_units(rbm: RBM) -> tuple[np.ndarray, np.ndarray]:
    """Return the mean-field solutions and their bounds for a model with real visible units.

    In the starts, none, one or two of the hidden units with the largest weights are on: such a unit
    may shift the Gaussian N(b + W_j, I) further than chains move.
    """
    one = np.eye(rbm.n_hidden)[heaviest(rbm.weights.T)[:UNITS]]
    two = np.maximum(one[:, None], one).reshape(-1, rbm.n_hidden)
    visible, bounds = layers_solutions(rbm, np.concatenate([0 * one[:1], two]))
    _, first = np.unique(rbm.field(visible) > 0, axis=0, return_index=True)
    order = first[np.argsort(-bounds[first], kind="stable")]
    return rounded(visible[order]), bounds[order]
