"""Chapter sams: SAMS in plain NumPy, as the lesson builds it up, with two readings of its report.

The report drops "the base term" from the draw of beta. What the two readings of this do is seen on
a small model whose log Z is known.
"""

from __future__ import annotations

import numpy as np


def _sigmoid(x):
    return 1 / (1 + np.exp(-x))


def _bits(field, rng):
    return (rng.random(field.shape) < _sigmoid(field)).astype(float)


def plain_sams(rbm, base, betas, gains, n_chains, rng, start=0.0, drop_base=False):
    """Guesses of log Z_k - log Z_0 after the run, one row a chain, each with guesses of its own.

    Parameters
    ----------
    rbm : BernoulliRBM
    base : ndarray (n_visible,)
        Visible biases of the base.
    betas : ndarray (n_betas,)
        Inverse temperatures, all with the same share of time.
    gains : iterable of float
        One a sweep.
    n_chains : int
    rng : numpy.random.Generator
    start : float or ndarray (n_betas,)
        First guesses.
    drop_base : bool
        Leave the density of the base out of the draw of beta: a wrong conditional.
    """
    W, b, a = rbm.weights, rbm.visible_bias, rbm.hidden_bias
    v = _bits(np.tile(base, (n_chains, 1)), rng)
    k, log_z = np.zeros(n_chains, int), np.zeros((n_chains, betas.size)) + start
    kept = 0.0 if drop_base else base
    for gain in gains:
        beta = betas[k][:, None]
        h = _bits(beta * (v @ W + a), rng)
        v = _bits((1 - beta) * base + beta * (h @ W.T + b), rng)
        delta = v @ (b - kept) + h @ a + ((v @ W) * h).sum(axis=1)
        logits = delta[:, None] * betas - log_z
        q = np.exp(logits - logits.max(axis=1)[:, None])
        q /= q.sum(axis=1)[:, None]
        k = (q.cumsum(axis=1) < rng.random((n_chains, 1))).sum(axis=1)
        k = np.minimum(k, betas.size - 1)
        log_z = log_z + min(gain * betas.size, 1) * q
        log_z -= log_z[:, :1]
    return log_z
