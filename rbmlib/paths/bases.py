"""Bases of paths: rates of training data, a mean-field fit, an RBM of no weights."""

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
    """The model of no weights that ``base`` says: see `GeometricPath`."""
    if not isinstance(base, RBM):
        visible = rbm.visible.with_(bias=_visible_bias(rbm, base))
        hidden = rbm.hidden.with_(bias=np.zeros(rbm.n_hidden))
        weights = np.zeros(rbm.weights.shape)
        return rbm.with_(visible=visible, hidden=hidden, weights=weights, log_scale=0.0)
    if np.any(base.weights):
        raise ValueError("base has weights that are not zero: its log Z would not be known")
    if not rbm.like(base) or base.log_scale:
        meaning = f"the layers of the target, {rbm.weights.shape}, and no log_scale"
        raise ValueError(f"base is {base!r}: expected {meaning}")
    return base


def name_of(base) -> str:
    """What to call a base."""
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
    """Visible biases of the independent model that fits the mean of ``data``.

    ``logit((p + s) / (1 + 2 s))``, (n_visible,), with p the mean of each pixel and s the smoothing,
    so that no pixel is certain (Salakhutdinov & Murray 2008, section 4.1).
    ``data`` (n_samples, n_visible) are bits or intensities; ValueError outside [0, 1]. Of other
    units give the ``layer``, such as ``rbm.visible``, of which the data are states: of q
    `Potts` it is ``log(p + s)``, p their frequencies; of `Gaussian` units their means.

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
        raise ValueError(f"data has shape {pixels.shape}: expected (n_samples, n_visible)")
    if not (pixels.min() >= 0 and pixels.max() <= 1):
        checks.refuse_nan("data", pixels, "values in [0, 1]")
        if are_spins(pixels):
            raise ValueError(f"data holds {OF_SPINS}; or base_rate(data, layer=rbm.visible)")
        came = f"data runs from {pixels.min()} to {pixels.max()}"
        raise ValueError(f"{came}: expected values in [0, 1]; divide bytes by 255, or binarise")
    return smoothed(pixels.mean(axis=0, dtype=float), smoothing)


def rounded(biases) -> np.ndarray:
    """To single precision: the last digits of a double depend on the BLAS."""
    return biases.astype(np.float32).astype(float)


def mean_field_bias(rbm: RBM, smoothing: float = SMOOTHING) -> np.ndarray:
    """Visible biases (n_visible,) of a base that needs no data, the same in every call.

    One solution of the mean-field equations, of bits ``m_h = sigmoid(m_v W + a)`` and
    ``m_v = sigmoid(m_h W' + b)``, sits in one mode; a base must cover all. So the visible means
    that damped iterations reach from many starts, with few to all hidden units on, are averaged
    and smoothed as in `base_rate`. The same is done about other patterns than "all off"; theirs
    is taken where the solutions with the highest lower bounds on log Z find it likelier. Units of
    other kinds start from draws. TypeError if visible units are not of countable states.

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
    """States of the hidden units at random fields, small and large."""
    rng = np.random.default_rng(0)
    size = 10 ** rng.uniform(-1, 1, size=(N_STARTS, 1))
    fields = size * rng.standard_normal((N_STARTS, rbm.n_hidden))
    return rbm.hidden.draw(fields, rng).astype(float)


def layers_lower_bound(rbm: RBM) -> float:
    """A number at or below log Z: the best of mean-field solutions of any two layers."""
    return float(layers_solutions(rbm, _drawn_starts(rbm))[1].max())


def layers_solutions(rbm: RBM, hidden) -> tuple[np.ndarray, np.ndarray]:
    """Visible means (n_starts, n_visible) that mean field reaches, each with its bound on log Z.

    Of independent visible units with fields x, whose means are m,
    ``(b - x) m + visible.cumulant(x) + hidden.cumulant(m W + a) <= log Z``: the mean of log p* and
    their entropy, by Jensen's inequality, as the cumulant is convex.
    """
    x = rbm.visible_field(rbm.hidden_mean(_solutions(rbm, hidden)))
    m = rbm.visible.mean(x)
    bounds = ((rbm.visible.bias - x) * m).sum(axis=1) + rbm.visible.cumulant(x)
    return m, bounds + rbm.hidden.cumulant(rbm.field(m)) + rbm.log_scale


def mean_field_biases(rbm: RBM, smoothings) -> list[np.ndarray]:
    """`mean_field_bias` of bits for several smoothings, of the same solutions."""
    starts = families(rbm, N_STARTS)
    with bar(len(starts) * N_ITERATIONS, "mean-field base") as shown:
        candidates = [_solutions(rbm, hidden, shown.update) for hidden in starts]
    every = [np.array([base_rate(means, s) for means in candidates]) for s in smoothings]
    chosen = [biases[best_cover(rbm, candidates, expit(biases))] for biases in every]
    return [rounded(biases) for biases in chosen]


def _solutions(rbm, hidden, on_progress=lambda: None):
    """Visible means (n_starts, n_visible) that damped mean-field updates reach."""
    for _ in range(N_ITERATIONS):
        hidden = 0.5 * (hidden + rbm.hidden_mean(rbm.visible_mean(hidden)))
        on_progress()
    return rbm.visible_mean(hidden)
