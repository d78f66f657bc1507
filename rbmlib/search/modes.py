"""Search for modes: mean-field solutions from many starts, each with a lower bound on log Z.

In an isolated mode, a few units hold the others in a pattern that is rare elsewhere, so no base
leads into it. The starts therefore fix each unit of either layer in each of its states, or use the
pattern of its weights. In models with a thousand units or more, they do so only for the units with
the largest weights. Singular vectors of W with both signs find the modes of ferromagnets; descents
from random states find other modes. The starts favour neither state of a unit.
"""

from typing import NamedTuple

import numpy as np

from .. import checks
from .._kernels import threads
from ..models.conversion import as_rbm_of_bits
from ..models.mean_field import lower_bounds, singular_vectors, starts
from ..models.rbm import RBM
from ..numerics import expit

UNITS, STARTS = 64, 2e9  # fewest units of each layer to fix; units times all units squared
CHANGED = 32  # units of each layer to change about a mode, by the size of their weights
N_DIRECTIONS = 12  # singular vectors
N_RANDOM = 40  # random starts of each kind
N_ROWS = 60  # rows of data
DESCENT = 8  # sweeps at zero temperature
ROUGH, FINE = (2, 4), (10, 16)  # mean-field sweeps before each removal of duplicates
TOGETHER = 512  # rows in a group that is compared first
AHEAD = 0.9  # extrapolation of the change of a field in a fine sweep
SETTLED = 1e-5  # a solution has converged if no mean changes by more in a sweep
GENERATIONS = 4  # of modes about which to search for others
N_PARENTS, WORK = (2, 16), 2e5  # fewest and most parents of a generation; weights times parents
WORTH_GOING_ON = 0.01  # least mass of new modes, relative to the heaviest
APART = 0.3  # squared Hellinger distance, summed over visible units, between distinct modes
MOST_CORRECTION = 3.0  # nats, most by which the local estimate exceeds the bound


class Modes(NamedTuple):
    """Distinct mean-field solutions, the heaviest first."""

    visible: np.ndarray  # (n_modes, n_visible) means
    hidden: np.ndarray  # (n_modes, n_hidden) means
    lower_bound: np.ndarray  # (n_modes,) rigorous lower bounds on log Z
    log_z: np.ndarray  # (n_modes,) mass of the mode: the bound plus the next term of the expansion


def find_modes(rbm: RBM, data=None, rng=0, *, most: int = 200) -> Modes:
    """Find up to ``most`` of the heaviest modes of a model of bits (for spins, ``rbm.to_bits()``).

    Some rows of ``data`` (n_samples, n_visible) are additional starts; ``rng`` draws the random
    starts. The result `Modes` holds the means of each mode, a lower bound on log Z, and the log of
    the mass of the mode, in nats. Raises TypeError for other models.

    Examples
    --------
    >>> import rbmlib as rl
    >>> rbm, log_z = rl.testsystems.two_mode_rbm(30, strength=4.0, tilt=1.0)
    >>> modes = rl.find_modes(rbm)
    >>> bool((modes.lower_bound <= log_z).all())
    True
    """
    rbm, rng, most = as_rbm_of_bits("rbm", rbm), checks.generator(rng), checks.count("most", most)
    with threads.blas_threads(1):  # more threads are slower for products this small
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
    """Return the model in single precision, which suffices for a search and is twice as fast."""
    w, b, a = (np.asarray(x, np.float32) for x in (rbm.weights, rbm.visible.bias, rbm.hidden.bias))
    layers = {"visible": rbm.visible.with_(bias=b), "hidden": rbm.hidden.with_(bias=a)}
    return rbm.with_(**layers, weights=w, log_scale=0.0)


# starts -------------------------------------------------------------------------------------


def hunting_starts(rbm, data=None, rng=None):
    """Return the visible means (n, n_visible) from which to start."""
    rng, single = checks.generator(rng), in_single(rbm)
    hidden = [starts(rbm), _held(rbm.weights.T)]
    right = singular_vectors(rbm.weights.T @ rbm.weights, min(N_DIRECTIONS, *rbm.weights.shape))
    left = 0.5 + 0.5 * np.sign(right @ rbm.weights.T)
    visible = [_held(rbm.weights), left, 1 - left]
    for rows, weights in ((visible, rbm.weights), (hidden, rbm.weights.T)):
        n, units = len(weights), heaviest(weights.T)[: n_held(weights.T)]
        pattern = 0.5 + 0.5 * np.sign(weights[:, units].T)  # favoured by a unit of the other layer
        rows += [pattern, 1 - pattern, (rng.random((N_RANDOM, n)) < 0.5).astype(float)]
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
    """Return the indices of the rows in order of decreasing norm."""
    return np.argsort(-(weights**2).sum(axis=1), kind="stable")


def n_held(weights) -> int:
    """Return the number of units of a layer to fix in starts, which is limited in large models."""
    return min(len(weights), max(UNITS, int(STARTS / sum(weights.shape) ** 2)))


def _held(weights):
    """Return means of a layer with one unit fixed in each of its states."""
    units = heaviest(weights)[: n_held(weights)]
    means = np.full((2, units.size, len(weights)), 0.5)
    means[:, np.arange(units.size), units] = [[1.0], [0.0]]
    return means.reshape(-1, len(weights))


def _changed(single, visible):
    """Return visible means about modes, each with one unit of either layer in its other state."""
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


# solutions ----------------------------------------------------------------------------------


def swept(single, visible, n_sweeps, ahead):
    """Return the means after sweeps of both layers, and the largest change in the last sweep.

    If ``ahead`` is true, all fields but the first and the last are extrapolated.
    """
    field = None
    for i in range(n_sweeps):
        now = single.visible_field(expit(single.field(visible)))
        last = i == n_sweeps - 1
        far = now if field is None or last or not ahead else now + AHEAD * (now - field)
        before, visible, field = visible, expit(far), far
    return visible, np.abs(visible - before).max(axis=1)


def _solutions(single, visible):
    """Return the distinct mean-field solutions from these visible means, highest bound first."""
    groups = np.array_split(visible, -(-len(visible) // TOGETHER))
    rough = np.concatenate([_settled(single, rows, ROUGH) for rows in groups])
    solved = _settled(single, rough, FINE)
    return solved[distinct(solved, lower_bounds(single, solved), APART)]


def _settled(single, visible, sweeps):
    """Return the distinct rows after both numbers of sweeps.

    Rows that have converged are not swept again; only their duplicates are removed.
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
    """Return the indices of rows that differ from every heavier row kept, the heaviest first.

    The ``first`` rows are distinct already and are all kept; new rows close to them are dropped.
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
