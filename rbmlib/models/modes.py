"""The hunt for modes: mean-field solutions from many starts, each with its lower bound on log Z.

A pocket is a mode that no base leads into: a few units hold the others in a pattern that is rare
elsewhere. So the starts hold each unit of either layer in either state in turn, or begin in the
pattern of its weights; singular vectors of W with both signs serve ferromagnets, descents from
random states serve the rest. All starts follow an exchange of the states of any unit.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.linalg import eigh

from .._numerics import expit
from .._validation import count, generator, instance
from .bernoulli import BernoulliRBM
from .mean_field import _starts, lower_bounds

MOST_UNITS = 64  # of each layer, the largest weights first, that starts hold
N_DIRECTIONS = 12  # singular vectors
N_RANDOM = 40  # of each kind
N_ROWS = 60  # of data
DESCENT = 8  # sweeps at zero temperature
ROUGH, FINE = 6, 40  # mean-field sweeps before and after copies are left out
GENERATIONS = 4  # of modes that others are sought about
N_PARENTS, WORK = (2, 16), 2e5  # of a generation, fewest and most; weights times parents
WORTH_GOING_ON = 0.01  # what new modes hold, relative to the heaviest
APART = 0.3  # squared Hellinger distances, summed over visible units, of modes that differ
MOST_CORRECTION = 3.0  # nats that the local estimate may lie above its bound


class Modes(NamedTuple):
    """Mean-field solutions that differ, the heaviest first."""

    visible: np.ndarray  # (n_modes, n_visible) means
    hidden: np.ndarray  # (n_modes, n_hidden)
    lower_bound: np.ndarray  # (n_modes,) at or below log Z, rigorously
    log_z: np.ndarray  # (n_modes,) of the mode: its bound and the next term of the expansion


def find_modes(rbm: BernoulliRBM, data=None, rng=0, *, most: int = 200) -> Modes:
    """Modes of a model, from starts of many kinds.

    Parameters
    ----------
    rbm : BernoulliRBM
    data : array (n_samples, n_visible), optional
        Some of its rows are starts too.
    rng : int, Generator or None
        For the random starts.
    most : int
        Modes to return at most, the heaviest.

    Returns
    -------
    Modes
        ``visible`` and ``hidden`` means, ``lower_bound`` (each at or below log Z) and ``log_z``, an
        estimate of what the mode holds.

    Examples
    --------
    >>> import rbmlib as rl
    >>> rbm, log_z, _ = rl.testsystems.hard_rbm("ferromagnet", rng=0)
    >>> modes = rl.find_modes(rbm)
    >>> bool((modes.lower_bound <= log_z).all())
    True
    """
    instance("rbm", rbm, BernoulliRBM, "a BernoulliRBM")
    visible = _solutions(rbm, hunting_starts(rbm, data, generator(rng)))
    n_parents = int(np.clip(WORK / rbm.weights.size, *N_PARENTS))
    parents = visible[:n_parents]
    for _ in range(GENERATIONS):
        before = len(visible)
        visible = np.concatenate([visible, _solutions(rbm, _changed(rbm, parents))])
        bounds = lower_bounds(rbm, visible)
        kept = _distinct(visible, bounds, APART, first=before)
        new = kept[kept >= before]
        if np.exp(bounds[new] - bounds.max()).sum() < WORTH_GOING_ON:
            break
        parents, visible = visible[new[:n_parents]], visible[kept]
    visible = visible.astype(float)
    bounds = lower_bounds(rbm, visible)
    hidden = rbm.hidden_mean(visible)
    spread = ((visible * (1 - visible)) @ rbm.weights**2 * hidden * (1 - hidden)).sum(axis=1) / 2
    log_z = bounds + np.minimum(spread, MOST_CORRECTION)
    kept = _distinct(visible, log_z, APART)[: count("most", most)]
    return Modes(visible[kept], hidden[kept], bounds[kept], log_z[kept])


def hunting_starts(rbm: BernoulliRBM, data=None, rng=None) -> np.ndarray:
    """Visible means (n, n_visible) to begin at."""
    rng = generator(rng)
    hidden = [_starts(rbm), _held(rbm.weights.T)]
    visible = [_held(rbm.weights), *_directions(rbm)]
    for rows, n in ((visible, rbm.n_visible), (hidden, rbm.n_hidden)):
        rows += [_patterns(rbm.weights if rows is visible else rbm.weights.T)]
        rows += [(rng.random((N_RANDOM, n)) < 0.5).astype(float)]
        rows += [(rng.random((N_RANDOM, n)) < rng.random((N_RANDOM, 1))).astype(float)]
    if data is not None:
        data = np.asarray(data)
        rows = data[:: max(1, len(data) // N_ROWS)][:N_ROWS].astype(float)
        visible += [rows, 1 - rows]
    every = np.concatenate([*visible, rbm.visible_mean(np.concatenate(hidden))])
    descended = every[rng.permutation(len(every))[: len(every) // 2]]
    for _ in range(DESCENT):
        above = (rbm.hidden_field(descended) > 0).astype(float)
        descended = (rbm.visible_field(above) > 0).astype(float)
    return np.concatenate([every, descended])


def _held(weights: np.ndarray) -> np.ndarray:
    """Means of a layer with one unit, of those with the largest weights, in either state."""
    n = len(weights)
    units = np.argsort(-(weights**2).sum(axis=1), kind="stable")[:MOST_UNITS]
    means = np.full((2, units.size, n), 0.5)
    means[0, np.arange(units.size), units] = 1.0
    means[1, np.arange(units.size), units] = 0.0
    return means.reshape(-1, n)


def _patterns(weights: np.ndarray) -> np.ndarray:
    """States of a layer that the largest units of the other favour, and their opposites."""
    units = np.argsort(-(weights**2).sum(axis=0), kind="stable")[:MOST_UNITS]
    pattern = 0.5 + 0.5 * np.sign(weights[:, units].T)
    return np.concatenate([pattern, 1 - pattern])


def _directions(rbm: BernoulliRBM) -> list[np.ndarray]:
    """Signs of the singular vectors with the largest values, and their opposites."""
    n = min(N_DIRECTIONS, *rbm.weights.shape)
    gram = rbm.weights.T @ rbm.weights
    right = eigh(gram, subset_by_index=(rbm.n_hidden - n, rbm.n_hidden - 1))[1].T
    left = 0.5 + 0.5 * np.sign(right @ rbm.weights.T)
    return [left, 1 - left]


def _changed(rbm: BernoulliRBM, visible: np.ndarray) -> np.ndarray:
    """Visible means about modes, each with one unit of either layer in its other state.

    Where several pockets can be entered at once, each is entered from where others are.
    """
    starts = []
    for layer, weights in enumerate((rbm.weights, rbm.weights.T)):
        means = rbm.hidden_mean(visible) if layer else visible.astype(float)
        units = np.argsort(-(weights**2).sum(axis=1), kind="stable")[: MOST_UNITS // 2]
        changed = np.repeat(means[:, None], units.size, axis=1)
        each = np.arange(units.size)
        changed[:, each, units] = changed[:, each, units] < 0.5
        changed = changed.reshape(-1, means.shape[1])
        starts.append(rbm.visible_mean(changed) if layer else changed)
    return np.concatenate(starts)


def _solutions(rbm: BernoulliRBM, visible: np.ndarray) -> np.ndarray:
    """Mean-field solutions from these visible means, the highest bound first, without copies."""
    single = tuple(x.astype(np.float32) for x in (rbm.weights, rbm.visible_bias, rbm.hidden_bias))
    visible = _iterate(single, visible, ROUGH)
    visible = visible[_distinct(visible, lower_bounds(rbm, visible), APART / 3)]
    visible = _iterate(single, visible, FINE)
    return visible[_distinct(visible, lower_bounds(rbm, visible), APART)]


def _iterate(parameters, visible: np.ndarray, n_sweeps: int) -> np.ndarray:
    """Mean-field sweeps of both layers, in single precision."""
    weights, visible_bias, hidden_bias = parameters
    visible = visible.astype(np.float32)
    for _ in range(n_sweeps):
        hidden = expit(visible @ weights + hidden_bias)
        visible = expit(hidden @ weights.T + visible_bias)
    return visible


def _distinct(visible: np.ndarray, weight: np.ndarray, apart: float, first: int = 0) -> np.ndarray:
    """Rows that lie apart from every heavier one that is kept, the heaviest first.

    The ``first`` rows are apart already: those that are new give way to them.
    """
    order = np.argsort(-weight, kind="stable")
    means = np.clip(visible[order].astype(np.float32), 0, 1)
    roots = np.concatenate([np.sqrt(means), np.sqrt(1 - means)], axis=1)
    near = visible.shape[1] - roots @ roots.T < apart
    kept: list[int] = []
    covered = np.zeros(len(order), bool)
    old = order < first
    covered[~old] = near[:, old].any(axis=1)[~old]
    for i in range(len(order)):
        if not covered[i]:
            kept.append(i)
            covered |= near[i] & ~old
    return order[kept]
