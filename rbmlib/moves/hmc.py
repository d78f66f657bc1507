"""Hamiltonian Monte Carlo for densities on R^d: many chains at once, a step size for each.

A momentum p ~ N(0, I) is drawn, ``x' = p, p' = grad log p*(x)`` is followed by ``n_leapfrog``
leapfrog steps, and the end is accepted with probability min(1, exp(-energy error)), the energy
being ``H = |p|^2 / 2 - log p*(x)`` (Neal 2011). Leapfrog is reversible and keeps volume, so the
accept step alone makes the chain exact, whatever the step size; its error, O(step_size^2) over a
trajectory of fixed length, only costs acceptance. What can go wrong is a resonance: on a Gaussian
of unit variance a step turns (x, p) by about 2 arcsin(step_size / 2), so that three steps of 1 lead
from x to -x, and a chain never leaves its sphere. Step sizes that are drawn anew each time cure it.
"""

from __future__ import annotations

import numpy as np

from .._outermost import trusted
from .._streams import ChainStream
from .._validation import count, finite_array, function, generator, numeric
from .acceptance import Transition, accept, values_of
from .step_sizes import (
    TARGET,
    TARGET_RANDOM_WALK,
    AcceptanceModel,
    covariance_root,
    fit_acceptance,
    scaled_root,
    tune_step_size,
)

__all__ = [
    "TARGET",
    "TARGET_RANDOM_WALK",
    "AcceptanceModel",
    "Transition",
    "covariance_root",
    "fit_acceptance",
    "hmc",
    "leapfrog",
    "random_walk",
    "scaled_root",
    "tune_step_size",
]


MOST_LEAPFROG = 1_000_000  # steps of a trajectory
MOST_STEP = 1e6  # standard deviations, where one leaves every mode


def hmc(log_density, gradient, x, step_size, n_leapfrog: int, rng=None) -> Transition:
    """One step of Hamiltonian Monte Carlo of each chain, which leaves its density invariant.

    Parameters
    ----------
    log_density : callable
        ``log_density(x)`` -> (n_chains,), nats, up to a constant; row i may have a density of
        its own (its own beta).
    gradient : callable
        ``gradient(x)`` -> (n_chains, d), of ``log_density``.
    x : array (n_chains, d)
    step_size : float or array (n_chains,)
        Positive. It may depend on a chain's beta, not on its x.
    n_leapfrog : int
        Leapfrog steps; ``n_leapfrog + 1`` gradients are computed.
    rng : int, Generator or ChainStream

    Returns
    -------
    Transition
        ``x, accepted, energy_error``.

    Raises
    ------
    ValueError
        If a shape does not fit, or a step size is not positive.

    Examples
    --------
    >>> import numpy as np
    >>> rng, x = np.random.default_rng(0), np.zeros((1000, 2))
    >>> for _ in range(20):
    ...     x, accepted, error = hmc(lambda x: -(x**2).sum(1) / 2, lambda x: -x, x, 0.5, 3, rng)
    >>> bool(abs(x.var() - 1) < 0.1)
    True
    """
    x, step_size, rng = _checked(log_density, x, step_size, rng)
    function("gradient", gradient, "of states (n_chains, d), as many numbers")
    n_leapfrog = count("n_leapfrog", n_leapfrog, most=MOST_LEAPFROG)
    momentum = rng.standard_normal(x.shape)
    end, error = trajectory(log_density, gradient, x, momentum, step_size, n_leapfrog)
    return _accept(x, end, error, rng)


def trajectory(
    log_density, gradient, x, momentum, step_size, n_leapfrog: int
) -> tuple[np.ndarray, np.ndarray]:
    """Where `leapfrog` leads, and the energy error (n_chains,), NaN or inf where it diverged."""
    with np.errstate(over="ignore", invalid="ignore"), trusted():  # what diverged is rejected
        end, last = _leapfrog(gradient, x, momentum, step_size, n_leapfrog)
        kinetic = ((last**2).sum(axis=1) - (momentum**2).sum(axis=1)) / 2
        return end, kinetic - (values_of(log_density, end) - values_of(log_density, x))


def leapfrog(gradient, x, momentum, step_size, n_leapfrog: int) -> tuple[np.ndarray, np.ndarray]:
    """``n_leapfrog`` steps of size ``step_size`` (n_chains, 1): the new x and momentum.

    With the momentum turned round, the same steps lead back.
    """
    function("gradient", gradient, "of states (n_chains, d), as many numbers")
    n_leapfrog = count("n_leapfrog", n_leapfrog, most=MOST_LEAPFROG)
    x = finite_array("x", x, (None, None), "(n_chains, d), one row a chain")
    momentum = finite_array("momentum", momentum, x.shape, f"{x.shape}, as x")
    meaning = f"a number, or ({len(x)}, 1), one a chain"
    step_size = numeric("step_size", step_size, meaning).astype(float)
    if step_size.shape not in ((), (len(x), 1)) or not (abs(step_size) <= MOST_STEP).all():
        raise ValueError(f"step_size has shape {step_size.shape} or is beyond {MOST_STEP:g}: "
                         f"expected {meaning}")  # fmt: skip
    with trusted():
        return _leapfrog(gradient, x, momentum, step_size, n_leapfrog)


def _leapfrog(gradient, x, momentum, step_size, n_leapfrog: int) -> tuple[np.ndarray, np.ndarray]:
    momentum = momentum + step_size / 2 * gradient(x)
    for _ in range(n_leapfrog - 1):
        x = x + step_size * momentum
        momentum = momentum + step_size * gradient(x)
    x = x + step_size * momentum
    return x, momentum + step_size / 2 * gradient(x)


def random_walk(log_density, x, step_size, rng=None, *, root=None) -> Transition:
    """One step of random-walk Metropolis: propose ``x + step_size * root z``, z standard normal.

    Parameters
    ----------
    log_density, x, step_size, rng
        As in `hmc`.
    root : array (d, d) or (n_chains, d, d), optional
        A root of the covariance of proposals, see `covariance_root`; the identity by default.
        One a chain may depend on its beta, not on its x.

    Returns
    -------
    Transition
        ``energy_error`` is ``log p*(x) - log p*(proposal)``.
    """
    x, step_size, rng = _checked(log_density, x, step_size, rng)
    step = rng.standard_normal(x.shape)
    if root is not None:
        step = np.einsum("...ij,...j->...i", _checked_root(root, *x.shape), step)
    end = x + step_size * step
    with np.errstate(over="ignore", invalid="ignore"):
        error = values_of(log_density, x) - values_of(log_density, end)
    return _accept(x, end, error, rng)


def _checked(log_density, x, step_size, rng):
    function("log_density", log_density, "of states (n_chains, d), (n_chains,) numbers")
    x = finite_array("x", x, (None, None), "(n_chains, d), one row a chain")
    if not x.size:
        raise ValueError(f"x has shape {x.shape}: expected (n_chains, d), one row a chain")
    meaning = f"a positive number, or ({len(x)},), one a chain"
    step_size = numeric("step_size", step_size, meaning).astype(float)
    sizes = (step_size > 0) & (step_size < np.inf)
    if step_size.shape not in ((), (len(x),)) or not sizes.all():
        raise ValueError(
            f"step_size has shape {step_size.shape} or a value that is not positive and finite: "
            f"expected {meaning}"
        )
    step_size = np.broadcast_to(step_size, len(x))[:, None]
    return x, step_size, rng if isinstance(rng, ChainStream) else generator(rng)


def _checked_root(root, n: int, d: int) -> np.ndarray:
    shape = (n, d, d) if np.ndim(root) == 3 else (d, d)
    meaning = f"({d}, {d}), as of covariance_root, or ({n}, {d}, {d}), one a chain"
    return finite_array("root", root, shape, meaning)


def _accept(x, end, energy_error, rng) -> Transition:
    return accept(x, end, energy_error, np.log(rng.random((len(x), 1))[:, 0]))
