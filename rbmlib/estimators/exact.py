"""Exact log Z and exact samples of Bernoulli RBMs with few units in one layer.

Z = sum_s p*(s) over the 2**n states of the smaller layer, the other layer summed analytically:
``log p*(h) = a h + sum_i softplus(b_i + (W h)_i)``. States are visited in Gray-code order, one
weight row a step.

A model says itself what is known of it. One with `exact_log_z()` and `exact_samples(n, rng)` is
asked for them; one with `n_enumerated`, the units of its smaller layer, is summed over as above.
"""

from __future__ import annotations

import time

import numpy as np

from .. import __version__
from .._kernels import enumeration, threads
from .._numerics import expit, logsumexp
from .._progress import progress_bar
from .._validation import count, generator
from ..models import BernoulliRBM, LeakyRBM
from ..models.conversion import as_model, as_rbm
from ..results import Estimate

MAX_UNITS = 30  # 2**30 states of 784 units take the better part of an hour
MAX_TABLE_UNITS = 22  # a table of all states is kept for sampling: 32 MB


def can_enumerate(rbm: BernoulliRBM, max_units: int = MAX_TABLE_UNITS) -> bool:
    """Whether the smaller layer has at most ``max_units`` units."""
    if not hasattr(rbm, "n_enumerated"):
        rbm = as_rbm("rbm", rbm)
    return rbm.n_enumerated <= max_units


def _blocks(rbm: BernoulliRBM):
    """(task, n_blocks): task(block) is log p* of the block's states of the hidden layer."""
    bits = min(rbm.n_hidden, enumeration.BLOCK_BITS)
    rows = np.ascontiguousarray(rbm.weights.T)

    def task(block):
        out = np.empty(2**bits)
        enumeration.log_density_block(rows, rbm.hidden_bias, rbm.visible_bias, block, out)
        return out

    return task, 2 ** (rbm.n_hidden - bits)


def exact(
    rbm: BernoulliRBM | LeakyRBM, *, n_threads: int | None = None, progress: bool | None = None
) -> Estimate:  # fmt: skip
    """Exact log Z by enumeration of the smaller layer.

    Parameters
    ----------
    rbm : BernoulliRBM or LeakyRBM
        With at most 30 units in one of the layers; each further unit doubles the time (784 x 20
        takes seconds). Or a `LeakyRBM` with orthogonal columns of weights, or another model
        with `exact_log_z()`. A fitted BernoulliRBM of scikit-learn is taken too.

    Returns
    -------
    Estimate
        With ``std_error = 0``.

    Raises
    ------
    ValueError
        If both layers are too large.

    Examples
    --------
    >>> import rbmlib as rl
    >>> rbm = rl.BernoulliRBM(weights=[[1.0]], visible_bias=[0.0], hidden_bias=[0.0])
    >>> round(rl.exact(rbm).log_z, 6)  # log(3 + e)
    1.743668
    """
    started = time.perf_counter()
    rbm = as_model("rbm", rbm)
    if hasattr(rbm, "exact_log_z"):
        return _known(rbm.exact_log_z(), started)
    if not can_enumerate(rbm, MAX_UNITS):
        raise ValueError(
            f"rbm has {rbm.n_visible} visible and {rbm.n_hidden} hidden units: exact enumeration "
            f"needs at most {MAX_UNITS} units in one layer; use rl.ais and rl.reverse_ais"
        )
    small = rbm if rbm.n_hidden <= rbm.n_visible else rbm.transposed()
    task, n_blocks = _blocks(small)
    with progress_bar(n_blocks, "exact", progress) as bar:
        logs = threads.run_all(lambda b: logsumexp(task(b)), n_blocks, n_threads, bar.update)
    log_z = float(logsumexp(logs)) + rbm.log_scale
    return _known(log_z, started, n_states=2**small.n_hidden)


def _known(log_z: float, started: float, **settings) -> Estimate:
    return Estimate(
        method="exact",
        log_z=log_z,
        std_error=0.0,
        interval=(log_z, log_z),
        seconds=time.perf_counter() - started,
        settings=settings | {"version": __version__},
    )


def check_exact_start(path) -> None:
    """Refuse ``start="exact"`` where the target of ``path`` has no exact draws."""
    target = path.at(1.0)
    layers = hasattr(target, "n_enumerated")
    if hasattr(target, "exact_samples") or (layers and can_enumerate(target)):
        return
    came = f"a {type(target).__name__}"
    if layers:
        came += f" of {target.n_visible} visible and {target.n_hidden} hidden units"
    raise ValueError(
        f"start is 'exact', but the target is {came}: expected a BernoulliRBM with at most "
        f"{MAX_TABLE_UNITS} units in one layer, or a LeakyRBM; use start='chains', or a State "
        "of your own draws"
    )


def exact_samples(rbm: BernoulliRBM | LeakyRBM, n_samples: int, rng=None) -> np.ndarray:
    """Independent exact draws of the visible units, (n_samples, n_visible) float64.

    For models with at most 22 units in one layer (a table of all its states is built); and see
    `LeakyRBM.exact_samples`.
    """
    n_samples = count("n_samples", n_samples)
    rbm = as_model("rbm", rbm)
    if hasattr(rbm, "exact_samples"):
        return rbm.exact_samples(n_samples, rng)
    if not can_enumerate(rbm):
        raise ValueError(
            f"rbm has {rbm.n_visible} visible and {rbm.n_hidden} hidden units: exact samples need "
            f"at most {MAX_TABLE_UNITS} units in one layer; run long chains instead"
        )
    rng = generator(rng)
    small = rbm if rbm.n_hidden <= rbm.n_visible else rbm.transposed()
    task, n_blocks = _blocks(small)
    log_p = np.concatenate(threads.run_all(task, n_blocks))
    cumulative = np.cumsum(np.exp(log_p - log_p.max()))
    states = np.searchsorted(cumulative, rng.random(n_samples) * cumulative[-1], side="right")
    states = np.minimum(states, log_p.size - 1)
    hidden = (states[:, None] >> np.arange(small.n_hidden)) & 1
    if small is not rbm:
        return hidden.astype(float)
    mean = expit(rbm.visible_field(hidden.astype(float)))
    return (rng.random(mean.shape) < mean).astype(float)
