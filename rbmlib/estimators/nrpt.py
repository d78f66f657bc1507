"""Non-reversible parallel tempering with a ladder that is tuned to equal rejection.

Syed, Bouchard-Cote, Deligiannidis & Doucet (2022). Swaps of even and of odd pairs in turn, as
`rbmlib.parallel_tempering` makes them, carry replicas along the ladder in one direction until a
swap is rejected. If the states at each beta were independent, a ladder whose pairs reject with
probabilities r_k had

    1 / (2 + 2 sum_k r_k / (1 - r_k))

round trips a sweep, all its replicas together. With ever more betas that rises to 1 / (2 + 2 L),
where L = sum_k r_k, the communication barrier, hardly depends on how the path is cut. So
equal rejection is best, and the measured rate says how much the moves between swaps lose.
"""

import math
from collections.abc import Callable
from dataclasses import replace
from typing import Unpack

import numpy as np

from .. import checks
from ..context import Context, using
from ..numerics import cut
from ..results import MORE_SWEEPS, Estimate, quietly, warn
from ..sampling import parallel_tempering
from ..sampling.sample import needs_joint_slope
from ..schedules import equal_rejection, linear
from . import estimator
from .ais import ais
from .mbar import mbar_of_sample
from .neighbours import bar_of_sample, stepping_stone_of_sample

READ_OFF: dict[str, Callable[..., Estimate]] = {
    "bar": bar_of_sample,
    "mbar": mbar_of_sample,
    "stepping stones": stepping_stone_of_sample,
}
ROUNDS, FEWEST_SWEEPS = 3, 20  # tuning rounds, each of twice the sweeps of the one before
PILOT_CHAINS, PILOT_STEPS, FIRST_BETAS, ANNEAL_SWEEPS = 20, 500, 30, 3
PER_BARRIER, FEWEST_BETAS, MOST_BETAS = 2.0, 6, 1000  # steps of the ladder to a unit of the barrier
BURN_IN = 10  # one sweep in so many is not used


@estimator
def nrpt(
    path,
    betas=None,
    n_chains: int = 8,
    n_sweeps: int = 2000,
    rng=None,
    *,
    n_betas: int | None = None,
    read_off: str = "bar",
    record_every: int = 1,
    **context: Unpack[Context],
) -> Estimate:
    """Estimate log Z by non-reversible parallel tempering with a tuned ladder.

    Parameters
    ----------
    betas : array (K,), optional
        A ladder that is taken as it is. By default three tuning rounds of an eighth, a quarter
        and a half of the sweeps cut it anew, each where the round before it rejected equally
        often; states of a round begin the next.
    n_sweeps : int
        Of the last round; a tenth is not used.
    n_betas : int, optional
        K of the tuned ladder; by default two steps to a unit of the communication barrier, so
        that about half of the swaps are rejected, and never fewer than 7 betas.
    read_off : {"bar", "mbar", "stepping stones"}
        How log Z is read off the states.

    Returns
    -------
    Estimate
        As of `rbmlib.bar_of_sample`. ``settings`` also holds "barrier", the communication barrier
        L; "rejection" (K - 1), of each pair; "round_trip_rate", a sweep and ladder; "ladder_rate",
        what the ladder would allow, and "best_rate", 1 / (2 + 2 L). A rate far below says that
        sweeps mix slowly at the betas: then more of them, not more betas, are needed.

    Examples
    --------
    >>> import rbmlib as rl
    >>> rbm = rl.testsystems.random_rbm(n_visible=12, n_hidden=6, rng=0)
    >>> estimate = rl.nrpt(rl.GeometricPath(rbm), n_sweeps=1000, rng=0)
    >>> abs(estimate.log_z - rl.exact(rbm).log_z) < 5 * estimate.std_error
    True
    >>> estimate.settings["round_trip_rate"] < 1.1 * estimate.settings["best_rate"]
    True
    """
    needs_joint_slope(path)
    read = READ_OFF[checks.one_of("read_off", read_off, READ_OFF)]
    n_chains = checks.count("n_chains", n_chains, 2)
    n_sweeps = checks.count("n_sweeps", n_sweeps, BURN_IN)
    if n_betas is not None:
        if betas is not None:
            raise ValueError(f"n_betas is {n_betas}: expected None with betas, which are as many")
        n_betas = checks.count("n_betas", n_betas, 2)
    every = checks.count("record_every", record_every, 1, n_sweeps // 2)  # two states are kept
    source, start, tuned = checks.generator(rng), "annealed", 0
    if betas is None:
        with using(progress=False):
            betas, start, tuned = _tuned(path, n_chains, n_sweeps, n_betas, source)
    sample = _ladders(path, betas, n_chains, n_sweeps, source, start, every)
    with quietly():
        run = read(sample, skip=len(sample.delta) // BURN_IN)
    if failed := [text for text, passed in run.settings["checks"].items() if not passed]:
        why = f"do not trust the standard error: failed: {'; '.join(failed)}"
        warn(f"nrpt: {why}. Give it {MORE_SWEEPS}")
    settings = run.settings | rates(sample) | {"read_off": read_off, "pilot_steps": tuned}
    return replace(run, method="nrpt", settings=settings)


def rates(sample):
    """Barrier and rejection of a ladder; its round trips a sweep, and those it would allow."""
    rejected = 1 - sample.swap_rates
    barrier = float(rejected.sum())
    with np.errstate(divide="ignore"):
        odds = float((rejected / sample.swap_rates).sum())
    return {
        "barrier": barrier,
        "rejection": rejected.tolist(),
        "round_trip_rate": float(sample.round_trips.sum() / sample.n_chains / sample.n_sweeps),
        "ladder_rate": 1 / (2 + 2 * odds),
        "best_rate": 1 / (2 + 2 * barrier),
    }


def _tuned(path, n_chains, n_sweeps, n_betas, source):
    """A ladder of equal rejection, states to begin it with, ladder by ladder, and its sweeps."""
    with quietly():
        pilot = ais(path, linear(PILOT_STEPS), PILOT_CHAINS, source.spawn(1)[0], keep_chains=True)
    betas = equal_rejection(pilot, (n_betas or FIRST_BETAS + 1) - 1)
    start = "annealed"
    rounds = [max(FEWEST_SWEEPS, n_sweeps // 2**i) for i in range(ROUNDS, 0, -1)]
    for few in rounds:
        sample = _ladders(path, betas, n_chains, few, source, start, n_sweeps)
        betas = _cut_anew(sample, n_betas)
        start = carried(sample, betas)
    return betas, start, sum(rounds)


def _ladders(path, betas, n_chains, n_sweeps, rng, start, every):
    more = {"start": start, "anneal_sweeps": ANNEAL_SWEEPS, "record_every": every}
    return parallel_tempering(path, betas, n_chains, n_sweeps, rng, **more)


def _cut_anew(sample, n_betas):
    rejected = 1 - sample.swap_rates
    n_steps = math.ceil(PER_BARRIER * rejected.sum())
    n_steps = min(max(n_steps, FEWEST_BETAS), MOST_BETAS) if n_betas is None else n_betas - 1
    return cut(sample.betas, rejected, n_steps)


def carried(sample, betas):
    """For each ladder and new beta the state at the nearest old one, ladder by ladder."""
    k = sample.betas.size
    replica = np.empty((sample.n_chains, k), int)
    columns = np.arange(sample.index.size)
    replica[columns // k, sample.index] = columns
    nearest = np.abs(sample.betas[:, None] - np.asarray(betas)).argmin(axis=0)
    return sample.states[replica[:, nearest].ravel()]
