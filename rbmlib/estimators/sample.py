"""States of a model: exact where its states can be counted, else from tempered chains."""

import math
from typing import NamedTuple

import numpy as np

from .. import checks
from ..models.enumeration import can_enumerate
from ..models.normal import LeakyReLU
from ..models.rbm import RBM
from ..paths.named import GeometricPath
from ..results import Estimate
from ..sampling.tempered import simulated_tempering
from .exact import known
from .rts import rts

N_CHAINS = 100
AT_TOP = 0.5  # share of their time that chains spend at the model itself
PER_TRIP = 4  # times that chains are looked at while one goes from end to end and back
MOST_LOOKS = 100  # as many as are needed, times this


class Draws(NamedTuple):
    """States of a model, and where they come from."""

    states: np.ndarray  # (n_samples, n_visible)
    run: Estimate | None  # the tempered chains that went on to these states; None: exact draws

    @property
    def exact(self) -> bool:
        """Whether the states are independent and exactly of the model."""
        return self.run is None

    def __repr__(self) -> str:
        n, n_units = self.states.shape
        how = "exact"
        if self.run is not None:
            trips = self.run.details["round_trips"]
            how = f"from tempered chains, {trips:.1f} round trips per chain"
            how += "" if self.run.converged else f", {self.run.verdict}"
        return f"<{n:,} states of {n_units} units, {how}>"


def sample(rbm, n_samples: int, rng=None) -> Draws:
    """Draw states of the visible units.

    Where a layer has at most 2**22 states, where log Z is known, and of leaky models (see
    `RBM.exact_samples`) the states are independent and exact. Otherwise 100 chains of simulated
    tempering are run as by `rbmlib.rts`, and then looked at four times a round trip: the states of
    those that are at beta = 1 are taken. Neighbours in time are not independent.

    Parameters
    ----------
    rbm : RBM
        A fitted BernoulliRBM of scikit-learn is also accepted.
    n_samples : int
    rng : int, Generator or None

    Returns
    -------
    Draws
        ``states`` (n_samples, n_visible); ``exact``; ``run``, the `Estimate` of tempered chains,
        whose ``converged`` and checks say how well they mix, as a `ConvergenceWarning` does.

    Examples
    --------
    >>> import rbmlib as rl
    >>> rl.sample(rl.load_rbm("pcd_10"), 100, rng=0)
    <100 states of 784 units, exact>
    """
    model, n_samples = known(rbm), checks.count("n_samples", n_samples)
    countable = isinstance(model, RBM) and not isinstance(model.hidden, LeakyReLU)
    if countable and not can_enumerate(model) and model.log_z is None:
        return tempered(model, n_samples, checks.generator(rng))
    return Draws(model.exact_samples(n_samples, rng), None)


def tempered(model, n_samples: int, rng) -> Draws:
    """Draws from chains of simulated tempering, which are at the model half of their time."""
    path = GeometricPath(model)
    run = rts(path, n_chains=N_CHAINS, rng=rng)
    top = run.betas.size - 1
    prior = np.full(top + 1, (1 - AT_TOP) / top)
    prior[top] = AT_TOP
    gap = math.ceil(run.n_sweeps / max(run.details["round_trips"], 1.0) / PER_TRIP)
    chains, found = run.states, []
    for look in range(MOST_LOOKS * math.ceil(n_samples / N_CHAINS) + 1):
        chains = simulated_tempering(
            path, run.betas, run.log_z_path, N_CHAINS, gap, rng, prior=prior, start=chains,
            record_every=gap, n_blocks=1,
        )  # fmt: skip
        if look:  # before that they were at all temperatures alike
            found.append(chains.states[chains.index == top])
        if sum(map(len, found)) >= n_samples:
            states = np.concatenate(found)[:n_samples]
            return Draws(path.visible_of(states, rng).astype(float), run)
    drawn = f"{sum(map(len, found))} of {n_samples} states were drawn"
    remedy = "run rl.simulated_tempering with betas and a base of your own"
    raise RuntimeError(f"chains reach beta = 1 too rarely: {drawn}; {remedy}")
