"""log Z of a whole training from one run, by exchange between its checkpoints.

The models of a training are a ladder from a base with a known log Z to the last checkpoint. Each
rung of a ladder is a model and holds one state. After some sweeps of every state at its rung,
neighbours exchange theirs with probability ``min(1, p_low(y) p_high(x) / (p_low(x) p_high(y)))``
for x on the lower and y on the higher rung, even pairs and odd in turn (parallel trajectory
tempering, Bereux et al. 2025). What the exchange asks for, ``log p*_high - log p*_low`` of both
states, is also what Bennett's equation asks for, which joins neighbours:

    log Z_m = log Z_base + sum_{k < m} log (Z_{k+1} / Z_k).

The terms of this sum share states, and states that wander from rung to rung, so their errors are
correlated. Each state moves each term by its influence; influences are added up, term after term,
within a ladder, and only then is the spread taken over ladders, which are independent.
"""

from typing import NamedTuple

import numpy as np

import rbmlib as rl
from rbmlib import results
from rbmlib.estimators import estimator
from rbmlib.estimators.bar import bennett
from rbmlib.estimators.rts import BLOCKS
from rbmlib.models.rbm import log_density
from rbmlib.numerics import ChainStream, expit, logmeanexp, softplus
from rbmlib.paths.bases import base_of
from rbmlib.results import Check, Estimate
from rbmlib.sampling import sweep
from rbmlib.sampling.temper import note_ends

from .rivals.neighbours import OVERLAP

PILOT_CHAINS, PILOT_SWEEPS = 100, 20
NEAR = 0.08  # how far above its target an acceptance may lie where a rung is put in between
LEAST_ACCEPTANCE = 0.05
MORE = "Use more sweeps, a higher acceptance (more rungs), or checkpoints from earlier on"


def trajectory(checkpoints, n_chains=20, n_sweeps=1000, rng=None, *, base="mean_field",
               acceptance=0.4, exchange_every=1) -> Estimate:  # fmt: skip
    """Estimate log Z of every checkpoint of a training, by exchange and BAR along the training.

    Parameters
    ----------
    checkpoints : list of RBM
        In the order of the training, the first from its beginning.
    n_chains, n_sweeps : int
        Ladders, and Gibbs sweeps at each rung, after a fifth as many that do not count.
    acceptance : float
        How often an exchange of neighbours shall be accepted, about: checkpoints that lie closer
        are left out of the ladder, and weighed between their neighbours; where they lie further
        apart, models in between are put in.
    exchange_every : int
        Sweeps from exchange to exchange, which can cost more than a sweep.

    Returns
    -------
    Estimate
        Of the last checkpoint; ``log_z_path`` is of all of them, with ``trace["std_error"]`` and
        the 95% intervals from ``trace["low"]`` to ``trace["high"]``. ``trace["chains"]``
        (n_checkpoints, n_chains) are the estimates of each ladder to first order. ``details`` has
        the "rungs" (in checkpoints; 0 is the base), the "acceptance" of each pair, and the
        "round_trips" of a ladder. A mode that no state has found is seen by no check.
    """
    path = rl.Polyline([base_of(checkpoints[0], base), *checkpoints])
    return _along(path, n_chains, n_sweeps, rng, acceptance, exchange_every)


@estimator
def _along(path, n_chains, n_sweeps, rng, acceptance, every) -> Estimate:
    source, n_burn_in = np.random.default_rng(rng), n_sweeps // 5
    with rl.using(progress=False):
        pilot = ChainStream(source, max(n_chains, PILOT_CHAINS))
        rungs = place_rungs(path, acceptance, PILOT_SWEEPS, pilot)
    rungs = Rungs(rungs.betas, [start[:n_chains] for start in rungs.starts])
    run = exchange(path, rungs, n_sweeps // every, n_burn_in // every, every, source)
    about = {"rungs": (rungs.betas * (len(path.models) - 1)).tolist()}
    about |= {"acceptance": run.acceptance.tolist(), "round_trips": float(run.round_trips.mean())}
    return _estimate(path, run, _joined(path, rungs, run), about, n_sweeps + n_burn_in)


# ladders ------------------------------------------------------------------------------------


class Rungs(NamedTuple):
    """Where a ladder has its models, and states near equilibrium there."""

    betas: np.ndarray  # (K,), from 0 to 1
    starts: list  # K arrays (n_chains, n_visible)


class Exchanged(NamedTuple):
    """What exchanges saw; a pair of neighbours is looked at in every second exchange."""

    work: list  # of each pair (n_kept, n_chains, 2): of the lower state, the higher
    between: dict  # the same from the lower rung to a checkpoint in between, by its number
    acceptance: np.ndarray  # (K - 1,)
    round_trips: np.ndarray  # (n_chains,), of all states of a ladder
    states: np.ndarray  # of the highest rung


def ending_at(model):
    """A path that ends at ``model``, whose sweeps at beta = 1 are compiled where they can be."""
    return rl.Polyline([base_of(model, model.visible.bias), model])


def place_rungs(path, acceptance, n_sweeps, stream):
    """Rungs between which an exchange is accepted about as often as asked for.

    Chains are annealed along the path, ``n_sweeps`` at each rung. The next rung is the furthest
    checkpoint with an acceptance that is large enough; if none is, a model on the way to the next.
    """
    n, place, v = len(path.models) - 1, 0.0, path.sample_base(stream.n_chains, stream)
    places, starts = [place], [v]
    while place < n:
        here = log_density(path.at(place / n), v)

        def accepted(other, here=here, v=v):
            return acceptance_between(log_density(path.at(other / n), v) - here)

        place = furthest(place, n, accepted, acceptance)
        v = sweep(ending_at(path.at(place / n)), v, 1.0, n_sweeps, stream)
        places.append(place)
        starts.append(v)
    return Rungs(np.array(places) / n, starts)


def acceptance_between(log_ratios):
    """Expected acceptance of an exchange of two models, from draws of the one.

    ``log_ratios`` (n,): log p*_other - log p* of each draw. With ``w = exp(log_ratios)`` it is
    ``E[min(w, w')] / E[w]`` over independent pairs.
    """
    w = np.sort(log_ratios)
    w = np.exp(w - w[-1])
    pairs = 2 * np.arange(w.size - 1, -1, -1) / (w.size - 1)
    return float((w * pairs).mean() / w.mean())


def furthest(place, n, accepted, least):
    """Where the next rung is: a whole number for a checkpoint."""
    next_one = int(place) + 1
    if accepted(next_one) < least:
        low, high = place, float(next_one)
        for _ in range(30):
            middle = (low + high) / 2
            found = accepted(middle)
            low, high = (middle, high) if found >= least else (low, middle)
            if least <= found <= least + NEAR:
                break
        return low if low > place else high
    step = 1
    while next_one + step <= n and accepted(next_one + step) >= least:
        next_one, step = next_one + step, 2 * step
    while step := step // 2:
        if next_one + step <= n and accepted(next_one + step) >= least:
            next_one += step
    return next_one


def exchange(path, rungs, n_exchanges, n_burn_in, sweeps_each, rng):
    """Sweeps of all states at their rungs, and exchanges of neighbours, even pairs and odd."""
    ladders = Ladders(path, rungs, rng)
    k, n = ladders.k, ladders.n
    place = np.tile(np.arange(k), (n, 1)).T  # of the state that began at each rung
    owner = place.copy()  # where the state that is at each rung began
    passages, last_end = np.zeros(place.shape, np.int64), np.full(place.shape, -1)
    accepted, proposed = np.zeros((2, k - 1))
    seen: list[list] = [[] for _ in range(k - 1)]
    with rl.using(n_threads=1, progress=False):
        for t in range(n_burn_in + n_exchanges):
            for rung in range(k):
                ladders.sweep(rung, sweeps_each)
            pairs = range(t % 2, k - 1, 2)
            looked = [ladders.log_ratios(low) for low in pairs]
            u = np.log(ladders.uniforms.random((n, k)))
            for low, values in zip(pairs, looked, strict=True):
                yes = u[:, low] < values[0, :, 0] - values[0, :, 1]
                for held in (ladders.states, owner):
                    held[low][yes], held[low + 1][yes] = held[low + 1][yes], held[low][yes]
                if t >= n_burn_in:
                    seen[low].append(values)
                    accepted[low] += yes.sum()
                    proposed[low] += n
            np.put_along_axis(place, owner, np.arange(k)[:, None], axis=0)
            if t >= n_burn_in:
                note_ends(place, k, passages, last_end)
    arrays = [np.array(values) for values in seen]
    between = {
        i: values[:, 1 + column]
        for values, inside in zip(arrays, ladders.between, strict=True)
        for column, i in enumerate(inside)
    }
    work, trips = [values[:, 0] for values in arrays], passages.sum(axis=0) / 2
    return Exchanged(work, between, accepted / np.maximum(proposed, 1), trips, ladders.states[-1])


class Ladders:
    """Independent ladders in motion: ``states`` of each rung, (n_chains, n_visible)."""

    def __init__(self, path, rungs, rng):
        self.k, self.n = rungs.betas.size, len(rungs.starts[0])
        self.states = [np.array(start) for start in rungs.starts]
        self.models = [path.at(beta) for beta in rungs.betas]
        self.ends = [ending_at(model) for model in self.models]
        self.uniforms = ChainStream(rng, self.n)
        self.streams = [
            ChainStream(None, self.n, (rung + 1) * self.n, seed=self.uniforms.seed)
            for rung in range(self.k)
        ]
        self.checkpoints, knots = path.models[1:], path.knots[1:]
        self.between: list[list[int]] = [[] for _ in range(self.k - 1)]  # inside each pair
        for i, rung in enumerate(np.searchsorted(rungs.betas, knots - 1e-12)):
            if rungs.betas[rung] > knots[i] + 1e-12:
                self.between[rung - 1].append(i)

    def sweep(self, rung, n_sweeps):
        path, v, stream = self.ends[rung], self.states[rung], self.streams[rung]
        self.states[rung] = sweep(path, v, 1.0, n_sweeps, stream)

    def log_ratios(self, low):
        """To the lower rung of a pair, (1 + checkpoints between, n_chains, 2)."""
        both = np.concatenate(self.states[low : low + 2])
        base = log_density(self.models[low], both)
        others = [self.models[low + 1], *(self.checkpoints[i] for i in self.between[low])]
        ratios = np.array([log_density(model, both) - base for model in others])
        return ratios.reshape(len(others), 2, self.n).transpose(0, 2, 1)


# log Z of the checkpoints, and what moves it ---------------------------------------------------


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
    enough = bool(joined.overlap >= OVERLAP)
    found = [
        results.round_trips(run.round_trips.mean(), "a ladder", results.MINIMUM_LADDER_TRIPS),
        Check("least acceptance of neighbours", least >= LEAST_ACCEPTANCE, least, LEAST_ACCEPTANCE),
        Check("states where neighbours overlap", enough, joined.overlap, OVERLAP),
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
    more = {"interval": tuple(bounds[-1].tolist()), "n_chains": n_chains, "n_sweeps": n_sweeps}
    more |= {"log_weights": trace["chains"][-1], "log_z_path": log_z_path, "trace": trace}
    more |= {"details": about, "states": run.states, "remedy": MORE}
    return results.finished("trajectory", log_z_path[-1], errors[-1], found, n_chains, **more)
