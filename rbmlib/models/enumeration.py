"""Exact log Z and exact draws by enumeration of the smaller countable layer.

Z = sum_s p*(s) over all states s of one layer; the other layer is summed analytically. For Binary
units ``log p*(h) = a h + sum_i softplus(b_i + (W h)_i)``. Each connected part of a model is
summed separately, and units without weights are summed in closed form.

Two layers of Binary or Spin need no exponential for each state: if h is split into two halves,
``exp(b_i + (W h)_i)`` is a product of two factors, one from a table for each half.
"""

from typing import NamedTuple

import numpy as np
from scipy.sparse import csgraph, csr_array

from .._kernels import float_sums, threads
from ..context import bar, settings
from ..numerics import softplus
from .gauges import in_bits

MOST_STATES = 2**30  # with 784 units in the other layer the sum takes minutes
MOST_IN_A_TABLE = 2**22  # sampling keeps a table of all states: 32 MB
BLOCK = 2**12  # states
LOW, HIGH = 10, 6  # units in each half of a block of products
MOST_NATS = 600.0  # bound on a field, and on the log of a product between two logarithms


def n_states(layer) -> float:
    """Return the number of states of a layer, a whole number, infinite for real units."""
    if layer.values is None:
        return np.inf
    n_values, width = layer.values.shape
    return n_values ** (len(layer) // width)


def fewest_states(rbm) -> float:
    """Return the number of states of the layer with fewer states."""
    return min(n_states(rbm.visible), n_states(rbm.hidden))


def can_enumerate(rbm, most: float = MOST_IN_A_TABLE) -> bool:
    """Return whether one of the layers has at most ``most`` states."""
    return fewest_states(rbm) <= most


def smaller_side(rbm, most: float, what: str, remedy: str):
    """Return the model, transposed if the visible layer has fewer states than the hidden layer."""
    if not can_enumerate(rbm, most):
        meaning = f"a layer of at most {most:,} states, {int(np.log2(most))} units of two values"
        raise ValueError(f"rbm is {rbm!r}: {what} {meaning}; {remedy}")
    return rbm.transposed() if n_states(rbm.visible) < n_states(rbm.hidden) else rbm


# connected parts ----------------------------------------------------------------------------


class Parts(NamedTuple):
    """The connected parts of a model; log Z is the sum of ``free`` and the log Z of each part."""

    models: list
    units: list  # for each part, boolean masks of its (visible, hidden) units
    free: float  # log Z of the units without weights, nats

    @property
    def n_states(self) -> float:
        """The number of terms in an exact sum."""
        return sum(fewest_states(model) for model in self.models)


def parts(rbm) -> Parts:
    """Return the connected parts of a model, in the order of their first visible units."""
    if rbm.weights.all():
        units = [tuple(np.ones(len(layer), bool) for layer in (rbm.visible, rbm.hidden))]
        return Parts([rbm.with_(log_scale=0.0)], units, rbm.log_scale)
    sides = [_unit_of_columns(layer) for layer in (rbm.visible, rbm.hidden)]
    n, (rows, columns) = sides[0][-1] + 1, np.nonzero(rbm.weights)
    size = n + sides[1][-1] + 1
    edges = np.ones(len(rows)), (sides[0][rows], n + sides[1][columns])
    _, labels = csgraph.connected_components(csr_array(edges, shape=(size, size)), False)
    of = labels[sides[0]], labels[n + sides[1]]
    joined = np.unique(of[0][rows])
    free = only(rbm, *(~np.isin(labels, joined) for labels in of))
    at = (layer.cumulant(layer.bias[None])[0] for layer in (free.visible, free.hidden))
    units = [tuple(label == part for label in of) for part in joined]
    return Parts([only(rbm, *one) for one in units], units, float(sum(at)) + rbm.log_scale)


def _unit_of_columns(layer):
    return np.arange(len(layer)) // (1 if layer.values is None else layer.values.shape[1])


def only(rbm, visible, hidden):
    """Return the model of the units chosen by two masks, with a `log_scale` of 0."""
    one, two = rbm.visible._only(visible), rbm.hidden._only(hidden)
    weights = rbm.weights[visible][:, hidden]
    return rbm.with_(visible=one, hidden=two, weights=weights, log_scale=0.0)


# the terms ----------------------------------------------------------------------------------


def blocks(rbm):
    """Return (task, n_blocks): task(block) gives log p* of the hidden states in a block.

    Bit i (or digit i) of the number of a state gives the state of unit i.
    """
    bits = in_bits(rbm.with_(log_scale=0.0))
    if bits is not None:
        # upper bounds on the softplus of the visible fields
        highest = softplus(bits.visible_bias + bits.weights.clip(0).sum(axis=1))
        if max(np.abs(bits.weights).sum(axis=1).max(), highest.max()) < MOST_NATS:
            return _products(bits, highest)
    n = int(n_states(rbm.hidden))

    def of_any(block):
        numbers = np.arange(block * BLOCK, min((block + 1) * BLOCK, n))
        return hidden_log_density(rbm, states(rbm.hidden, numbers))

    return of_any, -(-n // BLOCK)


def hidden_log_density(rbm, hidden):
    """Return log p* of hidden states, without `log_scale`."""
    return rbm.hidden.own(hidden) + rbm.visible.cumulant(rbm.visible_field(hidden))


def _products(rbm, highest):
    """Return `blocks` for bits: all states of `LOW` + `HIGH` units, the other units fixed."""
    every, own, bias = np.ascontiguousarray(rbm.weights.T), rbm.hidden_bias, rbm.visible_bias
    n_low = min(LOW, len(every))
    n = min(n_low + HIGH, len(every))
    groups = _groups(highest)
    rows = [every[:, group] for group in groups]
    pads = [(0, -len(group) % float_sums.QUAD) for group in groups]  # factors of 1
    exps = [np.exp(_sums(w[:n_low], np.zeros(w.shape[1]))).T for w in rows]
    low = [np.pad(x, (pad, (0, 0))) for x, pad in zip(exps, pads, strict=True)]
    high = [np.exp(_sums(w[n_low:n], bias[group])) for w, group in zip(rows, groups, strict=True)]
    own_low = _sums(own[:n_low], np.array(rbm.log_scale))
    own_high = _sums(own[n_low:n], np.array(0.0))[:, None]

    def task(block):
        on = n + np.flatnonzero(block >> np.arange(len(every) - n) & 1)
        out = own_low + (own_high + own[on].sum())
        product = np.empty_like(out)
        for one, two, w, pad in zip(low, high, rows, pads, strict=True):
            other = np.pad(two * np.exp(w[on].sum(axis=0)), ((0, 0), pad))
            float_sums.multiply(one, other, product)
            out += np.log(product, out=product)
        return out.ravel()

    return task, 2 ** (len(every) - n)


def _sums(rows, start):
    """Return start + h @ rows for all states h; the first unit varies fastest."""
    out = start[None]
    for row in rows:
        out = np.concatenate([out, out + row])
    return out


def _groups(highest):
    """Return groups of units; the product of the factors in a group is below exp(MOST_NATS)."""
    groups: list[list[int]] = [[]]
    nats = 0.0
    for unit, most in enumerate(highest):
        if nats + most > MOST_NATS:
            groups.append([])
            nats = 0.0
        groups[-1].append(unit)
        nats += most
    return groups


def states(layer, numbers):
    """Return the states (n, n_units) with these numbers."""
    n_values, width = layer.values.shape
    powers = n_values ** np.arange(len(layer) // width)
    return layer.values[numbers[:, None] // powers % n_values].reshape(len(numbers), -1)


def exact_log_z(rbm) -> float:
    """Return log Z: for each connected part, a sum over all states of its smaller layer."""
    models, _, log_z = parts(rbm)
    if rbm.visible.values is rbm.hidden.values is None:
        models = [rbm]  # the error below then names the whole model
    advice = "exact enumeration needs", "use rl.log_z, or rl.ais and rl.reverse_ais"
    sums = [blocks(smaller_side(model, MOST_STATES, *advice)) for model in models]
    with bar(sum(n_blocks for _, n_blocks in sums), "exact") as shown:
        for task, n_blocks in sums:
            how = n_blocks, settings.get().n_threads, shown.update
            logs = threads.run_all(lambda block, terms=task: _log_sum(terms(block)), *how)
            log_z += _log_sum(np.array(logs))
    return log_z


def _log_sum(logs) -> float:
    top = logs.max()
    if not np.isfinite(top):
        return float(top)
    return float(top + np.log(np.exp(logs - top).sum()))


def log_densities(rbm) -> np.ndarray:
    """Return log p* of all hidden states in the order of their numbers, without `log_scale`."""
    task, n_blocks = blocks(rbm)
    return np.concatenate(threads.run_all(task, n_blocks, settings.get().n_threads))


def exact_draws(rbm, n: int, rng) -> np.ndarray:
    """Return independent exact draws of the visible units (n, n_visible)."""
    small = smaller_side(rbm, MOST_IN_A_TABLE, "exact samples need", "run long chains instead")
    log_p = log_densities(small)
    below = np.cumsum(np.exp(log_p - log_p.max()))
    number = np.searchsorted(below, rng.random(n) * below[-1], side="right")
    h = states(small.hidden, np.minimum(number, log_p.size - 1))
    if small is not rbm:
        return h
    return small.visible.draw(small.visible_field(h), rng).astype(float)
