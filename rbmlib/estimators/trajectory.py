"""log Z of a whole training from one run, by exchange between its checkpoints.

The models of a training are a ladder from a base with a known log Z to the last checkpoint. Each
rung holds a state a ladder, neighbours exchange states (parallel trajectory tempering, Bereux et
al. 2025), and Bennett's acceptance ratio joins them:

    log Z_m = log Z_base + sum_{k < m} log (Z_{k+1} / Z_k).

The terms of this sum share states, and states that wander from rung to rung, so their errors are
correlated. Each state moves each term by its influence; influences are added up, term after term,
within a ladder, and only then is the spread taken over ladders, which are independent.
"""

from typing import NamedTuple, Unpack

import numpy as np

from .. import checks, results
from ..context import Context, using
from ..numerics import ChainStream, expit, logmeanexp, softplus
from ..paths import TrajectoryPath
from ..results import Check, Estimate
from ..sampling.exchange import Rungs, exchange, place_rungs
from . import estimator
from .bar import bennett
from .neighbours import BLOCKS, OVERLAP

PILOT_CHAINS, PILOT_SWEEPS = 100, 20
LEAST_ACCEPTANCE = 0.05
MORE = "more sweeps, a higher acceptance (more rungs), or checkpoints from earlier on"


@estimator
def trajectory(
    checkpoints,
    n_chains: int = 20,
    n_sweeps: int = 1000,
    rng=None,
    *,
    base="mean_field",
    acceptance: float = 0.4,
    exchange_every: int = 1,
    n_burn_in: int | None = None,
    **context: Unpack[Context],
) -> Estimate:
    """Estimate log Z of every checkpoint of a training, by exchange and BAR along the training.

    Parameters
    ----------
    checkpoints : list of RBM, or TrajectoryPath
        In the order of the training, two or more of one size: as `rbmlib.Checkpoints` collects
        them. The first should be from the beginning of the training, where a geometric path from
        the base is short.
    n_sweeps : int
        Gibbs sweeps at each rung that count, after ``n_burn_in`` (a fifth of them by default).
    base : array (n_visible,), RBM, "mean_field" or None
        As in `rbmlib.GeometricPath`, for the first checkpoint.
    acceptance : float
        How often an exchange of neighbours shall be accepted, about: rungs are chosen for that.
        Checkpoints that lie closer are left out of the ladder, and weighed between their
        neighbours; where they lie further apart, models in between are put in.
    exchange_every : int
        Sweeps from exchange to exchange. Where an exchange costs more than a sweep (large
        models), some sweeps more are cheap.

    Returns
    -------
    Estimate
        ``log_z``, ``std_error`` and ``interval`` are of the last checkpoint; ``log_z_path`` is of
        all of them, with ``trace["std_error"]`` and the 95% intervals from ``trace["low"]`` to
        ``trace["high"]``. ``trace["chains"]`` (n_checkpoints, n_chains) are the estimates of each
        ladder to first order: from their spread follows the error of any difference or mean of
        checkpoints. ``settings`` holds the "rungs" (in checkpoints; 0 is the base), the
        "acceptance" of each pair of neighbours, and "round_trips" of a ladder. ``states`` are
        states of the last checkpoint. A mode that no state has found is seen by no check;
        exchange makes that rarer, since a mode that splits off during the training can be
        entered before it does.

    Examples
    --------
    >>> import rbmlib as rl
    >>> rows = rl.exact_samples(rl.testsystems.random_rbm(8, 4, rng=0), 200, rng=1)
    >>> kept = rl.Checkpoints()
    >>> result = rl.train(rows, 4, n_updates=200, rng=3, monitor=kept)
    >>> estimate = rl.trajectory(kept, n_sweeps=200, rng=0)
    >>> abs(estimate.log_z - rl.exact(result.rbm).log_z) < 4 * estimate.std_error
    True
    """
    n_chains = checks.count("n_chains", n_chains, 2)
    n_sweeps = checks.count("n_sweeps", n_sweeps, 4)
    every = checks.count("exchange_every", exchange_every)
    n_burn_in = n_sweeps // 5 if n_burn_in is None else checks.count("n_burn_in", n_burn_in, 0)
    if n_sweeps < 4 * every:
        raise ValueError(
            f"n_sweeps is {n_sweeps}: expected four times exchange_every at least, which is {every}"
        )
    checks.number("acceptance", acceptance, "a number above 0 and below 0.9", above=0, below=0.9)
    given = isinstance(checkpoints, TrajectoryPath)
    path = checkpoints if given else TrajectoryPath(checkpoints, base)
    source = checks.generator(rng)
    pilot = ChainStream(source, max(n_chains, PILOT_CHAINS))
    with using(progress=False):
        rungs = place_rungs(path, acceptance, PILOT_SWEEPS, pilot)
    rungs = Rungs(rungs.betas, [start[:n_chains] for start in rungs.starts])
    run = exchange(path, rungs, n_sweeps // every, n_burn_in // every, every, source)
    about = {"path": repr(path), "stream_seed": pilot.seed}
    about |= {"rungs": (rungs.betas * (len(path.models) - 1)).tolist()}
    about |= {"acceptance": run.acceptance.tolist(), "round_trips": float(run.round_trips.mean())}
    about |= {"exchange_every": every, "n_burn_in": n_burn_in}
    return _estimate(path, run, _joined(path, rungs, run), about, n_sweeps + n_burn_in)


class Joined(NamedTuple):
    """log Z of each checkpoint, relative to the base, and what moves it."""

    log_z: np.ndarray  # (n_checkpoints,)
    blocks: np.ndarray  # influences (n_checkpoints, n_blocks, n_chains)
    overlap: float  # the least number of states between neighbours


def _joined(path, rungs, run):
    """Bennett's ratio of each pair of neighbours, added up to each checkpoint.

    The states at rungs k and k + 1 before an exchange give the work values, ``log p*_{k+1}(v) -
    log p*_k(v)``. A forward term s moves the root of the equation by s over its slope.
    """
    knots, n_blocks = path.knots[1:], min(BLOCKS, *(len(work) for work in run.work))
    total, moved, overlap = 0.0, np.zeros((n_blocks, run.round_trips.size)), np.inf
    log_z, blocks = np.zeros(knots.size), np.zeros((knots.size, *moved.shape))
    below = np.searchsorted(rungs.betas, knots - 1e-12) - 1
    for k, work in enumerate(run.work):
        root = bennett(work[..., 0].ravel(), work[..., 1].ravel())
        terms = (root.forward - root.reverse).reshape(work.shape[:2]) / root.slope
        overlap = min(overlap, 4 * root.slope)
        for i in np.flatnonzero(below == k).tolist():
            ratio, here = root.log_z, terms
            if i in run.between:
                ratio, own, per_step = _between(run.between[i], work, root.log_z)
                here = own + per_step * terms
            log_z[i], blocks[i] = total + ratio, moved + _in_blocks(here, n_blocks)
        total, moved = total + root.log_z, moved + _in_blocks(terms, n_blocks)
    return Joined(log_z, blocks, overlap)


def _between(ratios, work, step):
    """log (Z_m / Z_k) of a model between two rungs, from the states of both.

    ``Z_m / Z_k = 2 E[p*_m / (p*_k + p*_{k+1} Z_k / Z_{k+1})]`` over them: MBAR of three models, one
    without states. ``ratios`` (n_kept, n_chains, 2) are log p*_m - log p*_k, ``work`` the same of
    rung k + 1 and ``step`` is log (Z_{k+1} / Z_k). Returns influences (n_kept, n_chains), and the
    derivative by ``step`` too.
    """
    logs = ratios - softplus(work - step)
    mean = logmeanexp(logs.ravel())
    weights = np.exp(logs - mean) / logs.size
    per_step = float((weights * expit(work - step)).sum())
    return float(np.log(2) + mean), (weights - 1 / logs.size).sum(axis=2), per_step


def _in_blocks(terms, n_blocks):
    """Sums over blocks of time: (n_blocks, n_chains)."""
    return np.stack([part.sum(axis=0) for part in np.array_split(terms, n_blocks)])


def _estimate(path, run, joined, about, n_sweeps):
    """The estimate of all checkpoints, and whether to trust it."""
    log_z_path, (n_blocks, n_chains) = joined.log_z + path.log_z_base, joined.blocks.shape[1:]
    moved = n_chains * joined.blocks.sum(axis=1)
    errors, least = moved.std(axis=1, ddof=1) / np.sqrt(n_chains), float(run.acceptance.min())
    parts = n_blocks * n_chains * joined.blocks
    drifts = [[*results.halves(part), *results.blocks_of_time(part)] for part in parts]
    same = np.ptp(np.concatenate([work.ravel() for work in run.work])) == 0
    acceptance = f"least acceptance of neighbours {least:.2f}, {LEAST_ACCEPTANCE} or more"
    overlap = f"{joined.overlap:.0f} states where neighbours overlap, {OVERLAP} or more"
    found = [
        results.round_trips(run.round_trips.mean(), "a ladder", results.MINIMUM_LADDER_TRIPS),
        Check(acceptance, least >= LEAST_ACCEPTANCE),
        Check(overlap, bool(joined.overlap >= OVERLAP)),
        *drifts[-1],
        *results.some_spread(errors[-1], bool(same), "the work values differ"),
    ]
    final = errors
    if not all(check.passed for check in found):
        final = np.hypot(errors, [max(check.disagreement for check in drift) for drift in drifts])
    pairs = zip(log_z_path.tolist(), final.tolist(), strict=True)
    bounds = np.array([results.student_interval(*pair, n_chains) for pair in pairs])
    trace = {"std_error": final, "low": bounds[:, 0], "high": bounds[:, 1]}
    trace["chains"] = log_z_path[:, None] + moved
    return results.finished(
        "trajectory",
        log_z_path[-1],
        errors[-1],
        found,
        n_chains,
        interval=tuple(bounds[-1].tolist()),
        remedy=MORE,
        n_chains=n_chains,
        n_sweeps=n_sweeps,
        log_weights=trace["chains"][-1],
        log_z_path=log_z_path,
        trace=trace,
        settings=about,
        states=run.states,
    )
