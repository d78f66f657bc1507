"""The hunt for modes: mean-field solutions from many starts, each with its lower bound on log Z.

A pocket is a mode that no base leads into: a few units hold the others in a pattern that is rare
elsewhere. So the starts hold each unit of either layer in either state in turn, or begin in the
pattern of its weights (in models of a thousand units or more, those of the largest weights);
singular vectors of W with both signs serve ferromagnets, descents from random states serve the
rest. All starts follow an exchange of the states of any unit.
"""

from typing import NamedTuple

import numpy as np

from .. import checks
from .._kernels import threads
from ..models.conversion import as_rbm_of_bits
from ..models.mean_field import lower_bounds, singular_vectors, starts
from ..models.rbm import RBM
from ..numerics import expit

UNITS, STARTS = 64, 2e9  # of each layer that starts hold, at least; times all units squared
CHANGED = 32  # units of each layer, the largest weights first, that are changed about modes
N_DIRECTIONS = 12  # singular vectors
N_RANDOM = 40  # of each kind
N_ROWS = 60  # of data
DESCENT = 8  # sweeps at zero temperature
ROUGH, FINE = (2, 4), (10, 16)  # mean-field sweeps, between which copies are left out
TOGETHER = 512  # rows that are compared before all are
AHEAD = 0.9  # of the change of a field by a fine sweep, by which it goes further
SETTLED = 1e-5  # change of a mean by one sweep, from which a solution is swept no more
GENERATIONS = 4  # of modes that others are sought about
N_PARENTS, WORK = (2, 16), 2e5  # of a generation, fewest and most; weights times parents
WORTH_GOING_ON = 0.01  # what new modes hold, relative to the heaviest
APART = 0.3  # squared Hellinger distances, summed over visible units, of modes that differ
MOST_CORRECTION = 3.0  # nats that the local estimate may lie above its bound


class Modes(NamedTuple):
    """Distinct mean-field solutions, the heaviest first."""

    visible: np.ndarray  # (n_modes, n_visible) means
    hidden: np.ndarray  # (n_modes, n_hidden)
    lower_bound: np.ndarray  # (n_modes,) at or below log Z, rigorously
    log_z: np.ndarray  # (n_modes,) of the mode: its bound and the next term of the expansion


def find_modes(rbm: RBM, data=None, rng=0, *, most: int = 200) -> Modes:
    """Find up to ``most`` of the heaviest modes of a model of bits (of spins: ``rbm.to_bits()``).

    Some rows of ``data`` (n_samples, n_visible) are starts too; ``rng`` is for the random starts.
    `Modes` holds the means of each mode, a lower bound on log Z, and its own log Z, in nats.
    Raises TypeError for other models.

    Examples
    --------
    >>> import rbmlib as rl
    >>> rbm, log_z = rl.testsystems.two_mode_rbm(30, strength=4.0, tilt=1.0)
    >>> modes = rl.find_modes(rbm)
    >>> bool((modes.lower_bound <= log_z).all())
    True
    """
    rbm, rng, most = as_rbm_of_bits("rbm", rbm), checks.generator(rng), checks.count("most", most)
    with threads.blas_threads(1):  # of products this small more threads wait for each other
        return _found(rbm, data, rng, most)


def _found(rbm, data, rng, most):
    single = in_single(rbm)
    visible = _solutions(single, hunting_starts(rbm, data, rng))
    n_parents = int(np.clip(WORK / rbm.weights.size, *N_PARENTS))
    parents = visible[:n_parents]
    for _ in range(GENERATIONS):
        before = len(visible)
        visible = np.concatenate([visible, _solutions(single, _changed(single, parents))])
        bounds = lower_bounds(rbm, visible)
        kept = distinct(visible, bounds, APART, first=before)
        new = kept[kept >= before]
        if np.exp(bounds[new] - bounds.max()).sum() < WORTH_GOING_ON:
            break
        parents, visible = visible[new[:n_parents]], visible[kept]
    visible = visible.astype(float)
    bounds, hidden = lower_bounds(rbm, visible), rbm.hidden.mean(rbm.field(visible))
    spread = ((visible * (1 - visible)) @ rbm.weights**2 * hidden * (1 - hidden)).sum(axis=1) / 2
    log_z = bounds + np.minimum(spread, MOST_CORRECTION)
    kept = distinct(visible, log_z, APART)[:most]
    return Modes(visible[kept], hidden[kept], bounds[kept], log_z[kept])


def in_single(rbm) -> RBM:
    """The model in single precision, which is enough to seek in, and twice as quick."""
    w, b, a = (np.asarray(x, np.float32) for x in (rbm.weights, rbm.visible.bias, rbm.hidden.bias))
    layers = {"visible": rbm.visible.with_(bias=b), "hidden": rbm.hidden.with_(bias=a)}
    return rbm.with_(**layers, weights=w, log_scale=0.0)


# where it begins ----------------------------------------------------------------------------


def hunting_starts(rbm, data=None, rng=None):
    """Visible means (n, n_visible) to begin at."""
    rng, single = checks.generator(rng), in_single(rbm)
    hidden = [starts(rbm), _held(rbm.weights.T)]
    visible = [_held(rbm.weights), *_directions(rbm.weights)]
    for rows, weights in ((visible, rbm.weights), (hidden, rbm.weights.T)):
        n = len(weights)
        rows += [_patterns(weights)]
        rows += [(rng.random((N_RANDOM, n)) < 0.5).astype(float)]
        rows += [(rng.random((N_RANDOM, n)) < rng.random((N_RANDOM, 1))).astype(float)]
    if data is not None:
        data = np.asarray(data)
        rows = data[:: max(1, len(data) // N_ROWS)][:N_ROWS].astype(float)
        visible += [rows, 1 - rows]
    begun = np.concatenate(hidden).astype(np.float32)
    every = np.concatenate([*visible, expit(single.visible_field(begun))], dtype=np.float32)
    descended = every[rng.permutation(len(every))[: len(every) // 2]]
    for _ in range(DESCENT):
        above = (single.field(descended) > 0).astype(np.float32)
        descended = (single.visible_field(above) > 0).astype(np.float32)
    return np.concatenate([every, descended])


def heaviest(weights):
    """Rows, those of the largest weights first."""
    return np.argsort(-(weights**2).sum(axis=1), kind="stable")


def n_held(weights) -> int:
    """Units of a layer that starts hold: all, but of large models those of the largest weights."""
    return min(len(weights), max(UNITS, int(STARTS / sum(weights.shape) ** 2)))


def _held(weights):
    """Means of a layer with one unit in either state."""
    units = heaviest(weights)[: n_held(weights)]
    means = np.full((2, units.size, len(weights)), 0.5)
    means[:, np.arange(units.size), units] = [[1.0], [0.0]]
    return means.reshape(-1, len(weights))


def _patterns(weights):
    """States of a layer that units of the other favour, and their opposites."""
    units = heaviest(weights.T)[: n_held(weights.T)]
    pattern = 0.5 + 0.5 * np.sign(weights[:, units].T)
    return np.concatenate([pattern, 1 - pattern])


def _directions(weights):
    """Signs of the singular vectors with the largest values, and their opposites."""
    right = singular_vectors(weights.T @ weights, min(N_DIRECTIONS, *weights.shape))
    left = 0.5 + 0.5 * np.sign(right @ weights.T)
    return [left, 1 - left]


def _changed(single, visible):
    """Visible means about modes, each with one unit of either layer in its other state.

    Where several pockets can be entered at once, each is entered from where others are.
    """
    found = []
    for layer, weights in enumerate((single.weights, single.weights.T)):
        means = expit(single.field(visible)) if layer else visible
        units = heaviest(weights)[:CHANGED]
        changed = np.repeat(means[:, None], units.size, axis=1)
        each = np.arange(units.size)
        changed[:, each, units] = changed[:, each, units] < 0.5
        changed = changed.reshape(-1, means.shape[1])
        found.append(expit(single.visible_field(changed)) if layer else changed)
    return np.concatenate(found)


# where it ends ------------------------------------------------------------------------------


def swept(single, visible, n_sweeps, ahead):
    """Means after sweeps of both layers, and the largest change by the last.

    Fields that are not the first nor the last go further ``ahead`` than the sweep says.
    """
    field = None
    for i in range(n_sweeps):
        now = single.visible_field(expit(single.field(visible)))
        last = i == n_sweeps - 1
        far = now if field is None or last or not ahead else now + AHEAD * (now - field)
        before, visible, field = visible, expit(far), far
    return visible, np.abs(visible - before).max(axis=1)


def _solutions(single, visible):
    """Mean-field solutions from these visible means, the highest bound first, without copies.

    Copies are left out of some hundreds of rows at a time before all are compared.
    """
    groups = np.array_split(visible, -(-len(visible) // TOGETHER))
    rough = np.concatenate([_settled(single, rows, ROUGH) for rows in groups])
    solved = _settled(single, rough, FINE)
    return solved[distinct(solved, lower_bounds(single, solved), APART)]


def _settled(single, visible, sweeps):
    """Rows after so many sweeps, twice, without copies.

    Those that have settled wait for the others: only their copies are still left out.
    """
    moving = np.ones(len(visible), bool)
    for n_sweeps in sweeps:
        visible[moving], change = swept(single, visible[moving], n_sweeps, n_sweeps > max(ROUGH))
        moving[moving] = change > SETTLED
        kept = distinct(visible, lower_bounds(single, visible), APART / 3)
        visible, moving = visible[kept], moving[kept]
        if not moving.any():
            break
    return visible


def distinct(visible, weight, apart, first=0):
    """Rows that lie apart from every heavier one that is kept, the heaviest first.

    The ``first`` rows are apart already: those that are new give way to them.
    """
    order = np.argsort(-weight, kind="stable")
    means = np.clip(visible[order].astype(np.float32), 0, 1)
    roots = np.concatenate([np.sqrt(means), np.sqrt(1 - means)], axis=1)
    near = visible.shape[1] - roots @ roots.T < apart
    kept: list[int] = []
    covered, old = np.zeros(len(order), bool), order < first
    covered[~old] = near[:, old].any(axis=1)[~old]
    for i in range(len(order)):
        if not covered[i]:
            kept.append(i)
            covered |= near[i] & ~old
    return order[kept]
