"""Runs of RTS with different guesses of log Z, as one (Carlson et al. 2016, appendix A)."""

from __future__ import annotations

import numpy as np

from rbmlib import TemperedSample
from rbmlib.estimators.rts import updated
from rbmlib.numerics import logsumexp


def mixed_rts(samples, tolerance: float = 1e-10) -> np.ndarray:
    """log Z at the betas from runs with different Z^ (appendix A): (K,).

    Maximises the Rao-Blackwellised likelihood, which is concave in log Z, by Newton's method.
    One sample gives eq. (12) back.
    """
    samples = list(samples)
    if not samples or not all(isinstance(s, TemperedSample) for s in samples):
        raise ValueError("samples holds something else: expected TemperedSamples, one or more")
    if any(s.mixed is None or not np.array_equal(s.betas, samples[0].betas) for s in samples):
        raise ValueError(
            "samples differ in their betas: expected runs of rl.simulated_tempering "
            "over the same betas"
        )
    sizes = np.array([s.n_sweeps * s.n_chains for s in samples], float)
    sizes /= sizes.sum()
    c = np.array([s.mixed[:, :, 0].sum(axis=(0, 1)) / (s.n_sweeps * s.n_chains) for s in samples])
    offsets = np.array([np.log(s.prior) - s.log_z_path for s in samples])
    counts = sizes @ c

    def model(x):
        logits = offsets + x
        return np.exp(logits - logsumexp(logits, axis=1)[:, None])

    def value(x):
        return counts @ x - sizes @ logsumexp(offsets + x, axis=1)

    x = updated(samples[-1].log_z_path, samples[-1].prior, c[-1])
    for _ in range(100):
        q = model(x)
        gradient = counts - sizes @ q
        if np.abs(gradient).max() < tolerance:
            break
        curvature = np.diag(sizes @ q) - (q * sizes[:, None]).T @ q
        step = np.zeros(x.size)
        step[1:] = np.linalg.lstsq(curvature[1:, 1:], gradient[1:], rcond=None)[0]
        size = 1.0
        while value(x + size * step) < value(x) and size > 1e-6:
            size /= 2
        x = x + size * step
    return x - x[0] + samples[0].log_z_base
