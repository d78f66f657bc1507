"""Bases of paths: models without weights, fitted to data or by mean field."""

import numpy as np

from .. import checks
from ..context import bar
from ..models.conversion import as_rbm
from ..models.layers import OF_SPINS, Binary, Layer, are_spins
from ..models.mean_field import best_cover, families
from ..models.rbm import RBM, limits
from ..numerics import expit, smoothed
from ..results import warn

N_STARTS, N_ITERATIONS, SMOOTHING = 400, 20, 0.05


def base_of(rbm: RBM, base) -> RBM:
    """Return the model without weights that ``base`` describes; see `GeometricPath`."""
    if not isinstance(base, RBM):
        visible = rbm.visible.with_(bias=_visible_bias(rbm, base))
        hidden = rbm.hidden.with_(bias=np.zeros(rbm.n_hidden))
        weights = np.zeros(rbm.weights.shape)
        return rbm.with_(visible=visible, hidden=hidden, weights=weights, log_scale=0.0)
    if np.any(base.weights):
        raise ValueError("base has nonzero weights: expected zeros, so that its log Z is known")
    if not rbm.like(base) or base.log_scale:
        meaning = f"the layers of the target, {rbm.weights.shape}, and no log_scale"
        raise ValueError(f"base is {base!r}: expected {meaning}")
    return base


def name_of(base) -> str:
    """Return the name of a base."""
    if base is None or isinstance(base, str):
        return base or "uniform"
    return "given RBM" if isinstance(base, RBM) else "given visible biases"


def _visible_bias(rbm, base):
    if base is None:
        remedy = "use base=rl.base_rate(data), or the default 'mean_field'"
        warn(f"the uniform base (base=None) loses modes of trained models; {remedy}", UserWarning)
        return np.zeros(rbm.n_visible)
    if not isinstance(base, str):
        meaning = f"visible biases ({rbm.n_visible},), such as rl.base_rate(data)"
        largest, _ = limits(rbm.visible, rbm.hidden)
        return checks.array("base", base, (rbm.n_visible,), meaning, largest=largest)
    if base != "mean_field":
        meaning = "visible biases such as rl.base_rate(data), an RBM with zero weights, or None"
        raise ValueError(f"base is {base!r}: expected 'mean_field', {meaning}")
    return rbm.visible.bias if rbm.visible.values is None else mean_field_bias(rbm)


def base_rate(data, smoothing: float = SMOOTHING, layer: Layer | None = None) -> np.ndarray:
    """Return the visible biases (n_visible,) of independent units fitted to the means of ``data``.

    ``data`` (n_samples, n_visible) are bits or intensities; values outside [0, 1] raise ValueError.
    The result is ``logit((p + s) / (1 + 2 s))`` with p the mean of each pixel; the smoothing s
    keeps probabilities away from 0 and 1 (Salakhutdinov & Murray 2008, section 4.1). For other
    units, pass their ``layer``, such as ``rbm.visible``. The result is ``log(p + s)`` for the
    frequencies p of `Potts` states, and the means for `Gaussian` units.

    Examples
    --------
    >>> import rbmlib as rl
    >>> rl.base_rate([[0, 1], [1, 1]]).round(3).tolist()
    [0.0, 3.045]
    """
    smoothing = checks.number("smoothing", smoothing, "1e-12 to 1e6", least=1e-12, most=1e6)
    if layer is not None:
        rows = checks.states("data", data, layer)
        return layer._bias_of(rows.mean(axis=0, dtype=float), smoothing)
    pixels = checks.numeric("data", data, "(n_samples, n_visible)")
    if pixels.ndim != 2 or not pixels.size:
        meaning = "(n_samples, n_visible), with at least one sample"
        raise ValueError(f"data has shape {pixels.shape}: expected {meaning}")
    if not (pixels.min() >= 0 and pixels.max() <= 1):
        checks.refuse_nan("data", pixels, "values in [0, 1]")
        if are_spins(pixels):
            raise ValueError(f"data holds {OF_SPINS}; or base_rate(data, layer=rbm.visible)")
        came = f"data runs from {pixels.min()} to {pixels.max()}"
        raise ValueError(f"{came}: expected values in [0, 1]; divide bytes by 255, or binarise")
    return smoothed(pixels.mean(axis=0, dtype=float), smoothing)


def rounded(biases) -> np.ndarray:
    """Round to single precision: the last digits of a double depend on the BLAS."""
    return biases.astype(np.float32).astype(float)


def mean_field_bias(rbm: RBM, smoothing: float = SMOOTHING) -> np.ndarray:
    """Return the visible biases (n_visible,) of a base that needs no data, the same in every call.

    For bits the mean-field equations are ``m_h = sigmoid(m_v W + a)`` and
    ``m_v = sigmoid(m_h W' + b)``. A single solution describes one mode, but a base must cover all
    modes. The function therefore runs damped iterations from many starts, with few to all hidden
    units on, and averages and smooths the visible means as in `base_rate`. It does the same for
    starts about three patterns other than "all off", and uses one of these bases if the solutions
    with the highest lower bounds on log Z are more probable under it. For other kinds of units the
    starts are random draws. Raises TypeError if the states of the visible units cannot be counted.

    Examples
    --------
    >>> import rbmlib as rl
    >>> rbm = rl.load_rbm("pcd_10")
    >>> broad = rl.GeometricPath(rbm, base=rl.mean_field_bias(rbm, smoothing=0.2))
    """
    rbm = as_rbm("rbm", rbm)
    if isinstance(rbm.visible, Binary) and isinstance(rbm.hidden, Binary):
        return mean_field_biases(rbm, (smoothing,))[0]
    if rbm.visible.values is None or not rbm.hidden.conditional:
        raise TypeError(f"rbm is {rbm!r}: expected visible units of countable states")
    means = _solutions(rbm, _drawn_starts(rbm)).mean(axis=0)
    return rounded(rbm.visible._bias_of(means, smoothing))


def _drawn_starts(rbm):
    """Return hidden states drawn at random fields, small and large."""
    rng = np.random.default_rng(0)
    size = 10 ** rng.uniform(-1, 1, size=(N_STARTS, 1))
    fields = size * rng.standard_normal((N_STARTS, rbm.n_hidden))
    return rbm.hidden.draw(fields, rng).astype(float)


def layers_lower_bound(rbm: RBM) -> float:
    """Return a lower bound on log Z: the best of the mean-field solutions of any two layers."""
    return float(layers_solutions(rbm, _drawn_starts(rbm))[1].max())


def layers_solutions(rbm: RBM, hidden) -> tuple[np.ndarray, np.ndarray]:
    """Return mean-field visible means (n_starts, n_visible) and a lower bound on log Z for each.

    Independent visible units with fields x and means m satisfy
    ``(b - x) m + visible.cumulant(x) + hidden.cumulant(m W + a) <= log Z``. The bound is the mean
    of log p* plus the entropy, by Jensen's inequality for the convex cumulant.
    """
    x = rbm.visible_field(rbm.hidden_mean(_solutions(rbm, hidden)))
    m = rbm.visible.mean(x)
    bounds = ((rbm.visible.bias - x) * m).sum(axis=1) + rbm.visible.cumulant(x)
    return m, bounds + rbm.hidden.cumulant(rbm.field(m)) + rbm.log_scale


def mean_field_biases(rbm: RBM, smoothings) -> list[np.ndarray]:
    """Return `mean_field_bias` of bits for several smoothings of the same solutions."""
    starts = families(rbm, N_STARTS)
    with bar(len(starts) * N_ITERATIONS, "mean-field base") as shown:
        candidates = [_solutions(rbm, hidden, shown.update) for hidden in starts]
    every = [np.array([base_rate(means, s) for means in candidates]) for s in smoothings]
    chosen = [biases[best_cover(rbm, candidates, expit(biases))] for biases in every]
    return [rounded(biases) for biases in chosen]


def _solutions(rbm, hidden, on_progress=lambda: None):
    """Return the visible means (n_starts, n_visible) after damped mean-field updates."""
    for _ in range(N_ITERATIONS):
        hidden = 0.5 * (hidden + rbm.hidden_mean(rbm.visible_mean(hidden)))
        on_progress()
    return rbm.visible_mean(hidden)
