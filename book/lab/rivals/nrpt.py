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
from dataclasses import replace

import numpy as np

import rbmlib as rl
from rbmlib.estimators import estimator
from rbmlib.numerics import cut
from rbmlib.results import MORE_SWEEPS, Estimate, quietly, warn
from rbmlib.sampling import parallel_tempering
from rbmlib.schedules import linear

from ..schedules import equal_rejection
from .neighbours import bar_of_sample

ROUNDS, FEWEST_SWEEPS = 3, 20  # tuning rounds, each of twice the sweeps of the one before
PILOT_CHAINS, PILOT_STEPS, FIRST_STEPS, ANNEAL_SWEEPS = 20, 500, 30, 3
PER_BARRIER, FEWEST_BETAS, MOST_BETAS = 2.0, 6, 1000  # steps of the ladder to a unit of the barrier
BURN_IN = 10  # one sweep in so many is not used


@estimator
def nrpt(
    path, betas=None, n_chains: int = 8, n_sweeps: int = 2000, rng=None, *, record_every: int = 1
) -> Estimate:
    """Estimate log Z by non-reversible parallel tempering of ``n_chains`` ladders.

    By default three tuning rounds of an eighth, a quarter and a half of the sweeps cut the ladder
    anew, each where the round before it rejected equally often, with two steps to a unit of the
    communication barrier; states of a round begin the next. A tenth of the last round is not used.

    ``details`` holds the "barrier" L; "rejection" (K - 1), of each pair; "round_trip_rate", a
    sweep and ladder; "ladder_rate", what the ladder would allow, and "best_rate", 1 / (2 + 2 L). A
    rate far below says that sweeps mix slowly at the betas: then more of them, not more betas, are
    needed.
    """
    source, start, tuned = np.random.default_rng(rng), "annealed", 0
    if betas is None:
        betas, start, tuned = _tuned(path, n_chains, n_sweeps, source)
    sample = _ladders(path, betas, n_chains, n_sweeps, source, start, record_every)
    with quietly():
        run = bar_of_sample(sample, skip=len(sample.delta) // BURN_IN)
    if failed := [str(check) for check in run.checks if not check.passed]:
        warn(f"nrpt: inconclusive: {'; '.join(failed)}. {MORE_SWEEPS}")
    details = run.details | rates(sample) | {"pilot_steps": tuned}
    return replace(run, method="nrpt", details=details)


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


def _tuned(path, n_chains, n_sweeps, source):
    """A ladder of equal rejection, states to begin it with, ladder by ladder, and its sweeps."""
    with quietly():
        pilot = rl.ais(
            path, linear(PILOT_STEPS), PILOT_CHAINS, source.spawn(1)[0], keep_chains=True
        )
    betas, start = equal_rejection(pilot, FIRST_STEPS), "annealed"
    rounds = [max(FEWEST_SWEEPS, n_sweeps // 2**i) for i in range(ROUNDS, 0, -1)]
    for few in rounds:
        sample = _ladders(path, betas, n_chains, few, source, start, n_sweeps)
        betas = _cut_anew(sample)
        start = carried(sample, betas)
    return betas, start, sum(rounds)


def _ladders(path, betas, n_chains, n_sweeps, rng, start, every):
    more = {"start": start, "anneal_sweeps": ANNEAL_SWEEPS, "record_every": every}
    return parallel_tempering(path, betas, n_chains, n_sweeps, rng, **more)


def _cut_anew(sample):
    rejected = 1 - sample.swap_rates
    n_steps = math.ceil(PER_BARRIER * rejected.sum())
    return cut(sample.betas, rejected, min(max(n_steps, FEWEST_BETAS), MOST_BETAS))


def carried(sample, betas):
    """For each ladder and new beta the state at the nearest old one, ladder by ladder."""
    k = sample.betas.size
    replica = np.empty((sample.n_chains, k), int)
    columns = np.arange(sample.index.size)
    replica[columns // k, sample.index] = columns
    nearest = np.abs(sample.betas[:, None] - np.asarray(betas)).argmin(axis=0)
    return sample.states[replica[:, nearest].ravel()]
