"""Hamiltonian Monte Carlo for densities on R^d: many chains at once, a step size for each.

A momentum p ~ N(0, I) is drawn, ``x' = p, p' = grad log p*(x)`` is followed by ``n_leapfrog``
leapfrog steps, and the end is accepted with probability min(1, exp(-energy error)), the energy
being ``H = |p|^2 / 2 - log p*(x)`` (Neal 2011). Leapfrog is reversible and keeps volume, so the
chain is exact whatever the step size, whose error only costs acceptance. What can go wrong is a
resonance: on a Gaussian of unit variance three steps of 1 lead from x to -x, and a chain never
leaves its sphere. Step sizes that are drawn anew each time cure it.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from .. import checks

MOST_LEAPFROG = 1_000_000  # steps of a trajectory


class Transition(NamedTuple):
    """What a step did to each chain."""

    x: np.ndarray  # (n_chains, d) where the chains are now
    accepted: np.ndarray  # (n_chains,) bool
    energy_error: np.ndarray  # (n_chains,) H(end) - H(start), nats; inf where it overflowed

    @property
    def probability(self) -> np.ndarray:
        """Probability with which each proposal was accepted (n_chains,)."""
        return np.exp(-np.maximum(self.energy_error, 0.0))


def hmc(log_density, gradient, x, step_size, n_leapfrog: int, rng=None) -> Transition:
    """One step of Hamiltonian Monte Carlo of each chain, which leaves its density invariant.

    Parameters
    ----------
    log_density, gradient : callable
        Of states (n_chains, d): (n_chains,) nats, up to a constant, and its derivative
        (n_chains, d). Row i may have a density of its own (its own beta).
    x : array (n_chains, d)
    step_size : float or array (n_chains,)
        Positive. It may depend on a chain's beta, not on its x.
    n_leapfrog : int
        Leapfrog steps; ``n_leapfrog + 1`` gradients are computed.
    rng : int, Generator or ChainStream

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
    checks.function("gradient", gradient, "of states (n_chains, d), as many numbers")
    n_leapfrog = checks.count("n_leapfrog", n_leapfrog, most=MOST_LEAPFROG)
    x, step_size, rng = _checked(log_density, x, step_size, rng)
    return moved(log_density, gradient, x, step_size, n_leapfrog, rng)


def random_walk(log_density, x, step_size, rng=None) -> Transition:
    """One step of random-walk Metropolis: propose ``x + step_size z``, z standard normal.

    Arguments and errors are those of `hmc`; the energy error is ``log p*(x) - log p*(proposal)``.
    """
    return walked(log_density, *_checked(log_density, x, step_size, rng))


def _checked(log_density, x, step_size, rng):
    checks.function("log_density", log_density, "of states (n_chains, d), (n_chains,) numbers")
    x = checks.array("x", x, (None, None), "(n_chains, d), one row a chain")
    if not x.size:
        raise ValueError(f"x has shape {x.shape}: expected (n_chains, d), one row a chain")
    meaning = f"a positive number, or ({len(x)},), one a chain"
    sizes = checks.numeric("step_size", step_size, meaning).astype(float)
    if sizes.shape not in ((), (len(x),)) or not ((sizes > 0) & (sizes < np.inf)).all():
        raise ValueError(
            f"step_size has shape {sizes.shape} or a value that is not positive and finite: "
            f"expected {meaning}"
        )
    return x, np.broadcast_to(sizes, len(x))[:, None], checks.source_of_random(rng)


# of what is known to be valid; a step size is a number or (n_chains, 1) -----------------------


def moved(log_density, gradient, x, step_size, n_leapfrog: int, rng) -> Transition:
    momentum = rng.standard_normal(x.shape)
    end, error = trajectory(log_density, gradient, x, momentum, step_size, n_leapfrog)
    return _accept(x, end, error, rng)


def walked(log_density, x, step_size, rng) -> Transition:
    end = x + step_size * rng.standard_normal(x.shape)
    with np.errstate(over="ignore", invalid="ignore"):
        error = _values(log_density, x) - _values(log_density, end)
    return _accept(x, end, error, rng)


def trajectory(log_density, gradient, x, momentum, step_size, n_leapfrog: int):
    """Where `leapfrog` leads, and the energy error (n_chains,), NaN or inf where it diverged."""
    with np.errstate(over="ignore", invalid="ignore"):  # what diverged is rejected
        end, last = leapfrog(gradient, x, momentum, step_size, n_leapfrog)
        kinetic = ((last**2).sum(axis=1) - (momentum**2).sum(axis=1)) / 2
        return end, kinetic - (_values(log_density, end) - _values(log_density, x))


def leapfrog(gradient, x, momentum, step_size, n_leapfrog: int) -> tuple[np.ndarray, np.ndarray]:
    """The new x and momentum; with the momentum turned round, the same steps lead back."""
    momentum = momentum + step_size / 2 * gradient(x)
    for _ in range(n_leapfrog - 1):
        x = x + step_size * momentum
        momentum = momentum + step_size * gradient(x)
    x = x + step_size * momentum
    return x, momentum + step_size / 2 * gradient(x)


def _accept(x, end, energy_error, rng) -> Transition:
    """Each chain goes to its end with probability ``min(1, exp(-energy_error))``, or stays."""
    error = np.where(np.isnan(energy_error), np.inf, energy_error)
    accepted = np.log(rng.random((len(x), 1))[:, 0]) < -error
    return Transition(np.where(accepted[:, None], end, x), accepted, error)


def _values(log_density, x) -> np.ndarray:
    """log p* of states (n_chains, d): (n_chains,)."""
    values, shape = np.asarray(log_density(x), float), x.shape[:1]
    if values.shape != shape:
        raise ValueError(f"log_density gives shape {values.shape}: expected {shape}")
    return values
