"""Draws from a model: exact if its states can be enumerated, else from tempered chains."""

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
AT_TOP = 0.5  # share of time that chains spend at beta = 1
PER_TRIP = 4  # draws of states in each round trip of a chain
MOST_LOOKS = 100  # limit of draws, relative to the number needed


class Draws(NamedTuple):
    """States of a model, and the run that drew them."""

    states: np.ndarray  # (n_samples, n_visible)
    run: Estimate | None  # of the tempered chains; None for exact draws

    @property
    def exact(self) -> bool:
        """Whether the states are independent and exact draws."""
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

    The states are independent and exact if a layer has at most 2**22 states, if log Z is known, or
    if the model is leaky (see `RBM.exact_samples`). Otherwise, 100 chains of simulated tempering
    run as in `rbmlib.rts`, and the states of the chains at beta = 1 are taken four times in each
    round trip. Successive states of a chain are correlated.

    Parameters
    ----------
    rbm : RBM
        A fitted BernoulliRBM of scikit-learn is also accepted.
    n_samples : int
    rng : int, Generator or None

    Returns
    -------
    Draws
        ``states`` (n_samples, n_visible); ``exact``; and ``run``, the `Estimate` of the tempered
        chains. Its checks show how well the chains mix; a `ConvergenceWarning` names failed checks.

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
    """Draw from chains of simulated tempering that spend half of their time at beta = 1."""
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
        if look:  # at first, chains are at all betas alike
            found.append(chains.states[chains.index == top])
        if sum(map(len, found)) >= n_samples:
            states = np.concatenate(found)[:n_samples]
            return Draws(path.visible_of(states, rng).astype(float), run)
    drawn = f"{sum(map(len, found))} of {n_samples} states were drawn"
    remedy = "run rl.simulated_tempering with betas and a base of your own"
    raise RuntimeError(f"chains reach beta = 1 too rarely: {drawn}; {remedy}")
