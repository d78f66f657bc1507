"""The first base of `log_z` where there are no data: of two, the one whose chains weigh more."""

from __future__ import annotations

import math

import numpy as np

from .._numerics import logit
from .._streams import ChainStream
from ..models.bernoulli import BernoulliRBM
from ..models.modes import Modes
from ..paths.geometric import GeometricPath
from ..schedules import linear

TEMPERATURE = 10.0  # nats: modes weigh exp(log Z / temperature)
SMOOTHING = 0.05
PILOT_CHAINS, PILOT_STEPS = 64, 200
BETTER = 2.0  # nats of the mean log-weight that another base than the mean-field fit must gain
SURE = 3.0  # standard errors of the difference


def first_base(
    rbm: BernoulliRBM, mean_field: np.ndarray, modes: Modes, source: np.random.Generator,
    n_threads: int | None = None,
) -> np.ndarray:  # fmt: skip
    """Visible biases: the ``mean_field`` fit, or rates of the modes that were sought.

    The mean of the log-weights of a short pilot decides, a lower bound on log Z in expectation
    whatever the base, so that the higher is the better one. It needs no chain of great weight.
    """
    candidates = [mean_field, bias_of_modes(modes)]
    found = [_pilot(GeometricPath(rbm, bias), source, n_threads) for bias in candidates]
    (kept, kept_error), (other, other_error) = found
    gain = other - kept
    return candidates[int(gain > max(BETTER, SURE * math.hypot(kept_error, other_error)))]


def bias_of_modes(modes: Modes) -> np.ndarray:
    """Of rates that average over modes, the heavier with more weight."""
    weights = np.exp((modes.log_z - modes.log_z[0]) / TEMPERATURE)
    rates = weights @ modes.visible / weights.sum()
    # in single precision: the last digits of a double depend on the BLAS
    return logit((rates + SMOOTHING) / (1 + 2 * SMOOTHING)).astype(np.float32).astype(float)


def _pilot(path: GeometricPath, source, n_threads) -> tuple[float, float]:
    stream = ChainStream(source, PILOT_CHAINS)
    state = path.sample_base(PILOT_CHAINS, stream)
    gains = path.anneal(state, linear(PILOT_STEPS), stream, n_threads=n_threads)[1]
    return path.log_z_base + gains.mean(), gains.std(ddof=1) / math.sqrt(PILOT_CHAINS)
