"""Bases of the geometric path: rates of training data, a mean-field fit, an RBM of no weights."""

from __future__ import annotations

import numpy as np

from .._diagnosis import warn
from .._numerics import expit, logit
from .._progress import progress_bar
from .._validation import number, numeric, parameter_array, refuse_nan
from ..models.bernoulli import BernoulliRBM
from ..models.conversion import as_rbm
from ..models.mean_field import best_cover, families


def base_biases(rbm: BernoulliRBM, base) -> tuple[np.ndarray, np.ndarray, str]:
    """Visible and hidden biases of the base, and what to call it."""
    no_bias = np.zeros(rbm.n_hidden)
    if base is None:
        warn(
            "the uniform base (base=None) loses modes of trained models, which a "
            "small run does not notice; use base=rl.base_rate(data), or the default 'mean_field'",
            UserWarning,
        )
        return np.zeros(rbm.n_visible), no_bias, "uniform"
    if isinstance(base, str):
        if base != "mean_field":
            raise ValueError(
                f"base is {base!r}: expected 'mean_field', visible biases such as "
                "rl.base_rate(data), an RBM with zero weights, or None"
            )
        return mean_field_bias(rbm), no_bias, "mean_field"
    if isinstance(base, BernoulliRBM):
        if np.any(base.weights):
            raise ValueError("base has weights that are not zero: its log Z would not be known")
        if base.weights.shape != rbm.weights.shape or base.log_scale:
            raise ValueError(
                f"base is {base!r}: expected the layers of the target, {rbm.weights.shape}, "
                "and no log_scale"
            )
        return base.visible_bias, base.hidden_bias, "given RBM"
    meaning = f"visible biases ({rbm.n_visible},), such as rl.base_rate(data)"
    return parameter_array("base", base, (rbm.n_visible,), meaning), no_bias, "given visible biases"


def base_rate(data, smoothing: float = 0.05) -> np.ndarray:
    """Visible biases of the independent model that fits the mean of ``data``.

    ``logit((p + s) / (1 + 2 s))`` with p the mean of each pixel and s the smoothing, so that no
    pixel is certain (Salakhutdinov & Murray 2008, section 4.1, choose such a base).

    Parameters
    ----------
    data : array (n_samples, n_visible)
        Bits, or intensities in [0, 1].
    smoothing : float
        Positive.

    Returns
    -------
    ndarray (n_visible,)
    """
    pixels = numeric("data", data, "(n_samples, n_visible)")
    if pixels.ndim != 2 or not pixels.size:
        raise ValueError(f"data has shape {pixels.shape}: expected (n_samples, n_visible)")
    if not (pixels.min() >= 0 and pixels.max() <= 1):
        refuse_nan("data", pixels, "values in [0, 1]")
        raise ValueError(
            f"data runs from {pixels.min()} to {pixels.max()}: expected values in [0, 1]; "
            "divide by the largest value that they can take (255 for bytes), or binarise them"
        )
    smoothing = number(
        "smoothing", smoothing, "above 0 and up to 1e6, such as 0.05", above=0, most=1e6
    )
    p = pixels.mean(axis=0, dtype=float)
    return logit((p + smoothing) / (1 + 2 * smoothing))


def mean_field_bias(
    rbm: BernoulliRBM, n_starts: int = 400, n_iterations: int = 20, smoothing: float = 0.05
) -> np.ndarray:
    """Visible biases of a base that needs no data: an average over many mean-field solutions.

    One solution of the mean-field equations ``m_h = sigmoid(m_v W + a)``,
    ``m_v = sigmoid(m_h W' + b)`` sits in one mode; a base must cover all. So the equations are
    iterated, damped, from hidden states with anything from one unit in a hundred to all units
    on (the few-units starts reach the modes of large sparse models, the many-units starts
    those of small ones), and the visible means that are reached are averaged and smoothed as
    in `base_rate`. "Few units on" is another start where a unit's states are exchanged: so the
    same is done about other patterns, and their average is taken where the solutions with the
    highest lower bounds on log Z find it likelier. Deterministic.
    """
    return mean_field_biases(as_rbm("rbm", rbm), (smoothing,), n_starts, n_iterations)[0]


def mean_field_biases(
    rbm: BernoulliRBM, smoothings, n_starts: int = 400, n_iterations: int = 20
) -> list[np.ndarray]:
    """`mean_field_bias` for several smoothings, of the same solutions."""
    candidates = []
    starts = families(rbm, n_starts)
    with progress_bar(len(starts) * n_iterations, "mean-field base") as bar:
        for hidden in starts:
            for _ in range(n_iterations):
                hidden = 0.5 * (hidden + rbm.hidden_mean(rbm.visible_mean(hidden)))
                bar.update()
            candidates.append(rbm.visible_mean(hidden))
    every = [np.array([base_rate(means, s) for means in candidates]) for s in smoothings]
    chosen = [biases[best_cover(rbm, candidates, expit(biases))] for biases in every]
    # in single precision: the last digits of a double depend on the BLAS
    return [biases.astype(np.float32).astype(float) for biases in chosen]
