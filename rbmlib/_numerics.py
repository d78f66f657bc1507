"""Logarithms of sums and the logistic family, in one place."""

import numpy as np
from scipy.special import expit, logsumexp

__all__ = ["LOG_2PI", "expit", "logit", "logmeanexp", "logsumexp", "softplus"]

LOG_2PI = np.log(2 * np.pi)


def softplus(x):
    """log(1 + exp(x)), without overflow."""
    return np.maximum(x, 0) + np.log1p(np.exp(-np.abs(x)))


def logit(p):
    """log(p / (1 - p))."""
    return np.log(p) - np.log1p(-p)


def logmeanexp(log_values, axis=None):
    """log of the mean of exp(log_values)."""
    n = np.size(log_values) if axis is None else np.shape(log_values)[axis]
    return logsumexp(log_values, axis=axis) - np.log(n)
