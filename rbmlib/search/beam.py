"""Lower bounds on Z from sums over distinct states of the smaller layer.

    Z >= sum_s p*(s)    for any distinct states s of a layer, with the other layer summed out.

`models.enumeration` sums over all states. Here the search is best first: the states of the sum with
the largest p* are expanded, which adds all states that differ from them in one unit. If few states
hold most of Z, the sum approaches Z in milliseconds. The bound does not depend on a sampler.
"""

import numpy as np

from .. import checks
from .._kernels import beam as kernel
from .._kernels import threads
from ..models.enumeration import hidden_log_density, n_states
from ..models.gauges import in_bits
from ..models.rbm import RBM
from ..numerics import logsumexp
from .modes import heaviest, in_single

BATCH, SHARE = 16, 8  # expand this many states at once, or this share of the others if larger
BLOCK = 2**21  # fields in memory at once
DESCENT = 8  # sweeps at zero temperature
STARTS, WORK = (16, 128), 5e6  # fewest and most starts of each kind; weights times starts


class Beam:
    """A set of distinct states of the smaller layer of a model, and the sum of their p*.

    Parameters
    ----------
    rbm : RBM
        A model with a layer of `Binary`, `Spin` or `Potts` units.

    Attributes
    ----------
    small : RBM
        The model, transposed if necessary, so that its hidden layer has fewer states.
    layer : Layer
        The layer whose states are held, the hidden layer of ``small``.
    n_states, n_all : int
        Number of states in the sum, and number of all states.
    n_neighbours : int
        Number of states that differ from a given state in one unit.

    Examples
    --------
    >>> import rbmlib as rl
    >>> from rbmlib.search.beam import Beam, descents
    >>> rbm = rl.testsystems.random_rbm(20, 8, rng=1)
    >>> beam = Beam(rbm)
    >>> beam.add(descents(beam.small, rng=0))
    >>> bool(beam.log_sum < rl.exact(rbm).log_z)
    True
    >>> beam.grow(10_000)
    >>> beam.n_states, bool(abs(beam.log_sum - rl.exact(rbm).log_z) < 1e-9)
    (256, True)
    """

    def __init__(self, rbm: RBM):
        self.turned = n_states(rbm.visible) < n_states(rbm.hidden)
        self.small = rbm.transposed() if self.turned else rbm
        self.layer = self.small.hidden
        self._values = values = np.asarray(self.layer.values)
        self._digits = max(1, (len(values) - 1).bit_length())  # bits of a unit
        self._n_units = len(self.layer) // values.shape[1]
        self._n_words = -(-self._n_units * self._digits // 64)
        self.n_neighbours = self._n_units * (len(values) - 1)
        self.n_all = n_states(self.layer)
        self._tables = _tables(self.small)
        self.n_states, self._table = 0, np.full(2, -1, np.int32)
        self._keys, self._logs = np.empty((0, self._n_words), np.uint64), np.empty(0)
        self._expanded = np.empty(0, bool)

    @property
    def log_sum(self) -> float:
        """The log of the sum (nats), a lower bound on log Z up to rounding (1e-12)."""
        logs = self._logs[: self.n_states]
        return float(logsumexp(logs)) + self.small.log_scale if logs.size else -np.inf

    @property
    def complete(self) -> bool:
        """Whether the sum holds all states and so equals Z."""
        return self.n_states == self.n_all

    def add(self, states) -> None:
        """Add the states of the layer (n, n_units) that the sum does not hold yet."""
        states = np.asarray(states, float)
        self._insert(self._keys_of(self._indices(states)), hidden_log_density(self.small, states))

    def contains(self, states) -> np.ndarray:
        """Return whether the sum holds each of the states (n, n_units): (n,) bool."""
        keys = self._keys_of(self._indices(np.asarray(states, float)))
        found = np.empty(len(keys), bool)
        kernel.holds(keys, self._table, self._keys, found)
        return found

    def grow(self, n_states: int) -> None:
        """Evaluate up to ``n_states`` neighbours of the heaviest states, and add the new ones.

        The search ends early if all states in the sum have been expanded.
        """
        left = n_states // self.n_neighbours
        fields = len(self.small.visible) if self._tables is None else 1
        at_once = max(1, BLOCK // (self.n_neighbours * fields))
        while left > 0 and (waiting := np.flatnonzero(~self._expanded[: self.n_states])).size:
            n = min(left, max(BATCH, waiting.size // SHARE))
            chosen = waiting[np.argsort(-self._logs[waiting], kind="stable")[:n]]
            self._expanded[chosen] = True
            left -= chosen.size
            for part in np.array_split(chosen, -(-chosen.size // at_once)):
                self._insert(*self._neighbours(self._keys[part]))

    def of_visible(self, visible) -> np.ndarray:
        """Return the visible states if `turned`, otherwise the most probable hidden states."""
        if self.turned:
            return visible
        return likeliest(self.layer, self.small.field(visible.astype(float)))

    def _neighbours(self, keys):
        """Return the keys and log p* of all states that differ from a state in one unit."""
        if self._tables is not None:
            logs = np.empty((len(keys), self._n_units))
            kernel.neighbours(keys, *self._tables[:-1], logs)
            unit = np.arange(self._n_units)
            changed = np.repeat(keys[:, None], self._n_units, axis=1)
            changed[:, unit, unit // 64] ^= np.uint64(1) << (unit % 64).astype(np.uint64)
            return changed.reshape(-1, self._n_words), logs.ravel() + self._tables[-1]
        units, n_values = self._n_units, len(self._values)
        bits = np.unpackbits(keys.astype("<u8").view(np.uint8), axis=1, bitorder="little")
        digits = bits[:, : units * self._digits].reshape(-1, units, self._digits)
        indices = digits @ (1 << np.arange(self._digits))
        changed = np.repeat(indices[:, None], self.n_neighbours, axis=1)
        each, step = np.arange(self.n_neighbours), np.repeat(np.arange(1, n_values), units)
        changed[:, each, each % units] += step
        changed = (changed % n_values).reshape(-1, units)
        states = self._values[changed].reshape(len(changed), -1)
        return self._keys_of(changed), hidden_log_density(self.small, states)

    def _insert(self, keys, logs):
        needed = self.n_states + len(keys)
        if needed > len(self._keys):  # double the capacity
            more = 2 * needed - len(self._keys)
            self._keys = np.pad(self._keys, ((0, more), (0, 0)))
            self._logs = np.pad(self._logs, (0, more))
            self._expanded = np.pad(self._expanded, (0, more))
            self._table = np.full(1 << (4 * needed).bit_length(), -1, np.int32)
            held = self._keys[: self.n_states], self._logs[: self.n_states]
            kernel.insert(*held, self._table, self._keys, self._logs, 0)
        arrays = self._table, self._keys, self._logs
        self.n_states = kernel.insert(keys, logs, *arrays, self.n_states)

    def _indices(self, states):
        """Return the index of the value of each unit, (n, n_units), for states."""
        units = states.reshape(len(states), self._n_units, 1, self._values.shape[1])
        return (units == self._values).all(axis=-1).argmax(axis=-1)

    def _keys_of(self, indices):
        """Return the keys (n, n_words) of states from the indices of their values."""
        bits = (indices[:, :, None] >> np.arange(self._digits) & 1).reshape(len(indices), -1)
        packed = np.zeros((len(indices), 8 * self._n_words), np.uint8)
        found = np.packbits(bits.astype(np.uint8), axis=1, bitorder="little")
        packed[:, : found.shape[1]] = found
        return packed.view("<u8").astype(np.uint64)


def _tables(small):
    """Return the arguments of the compiled loop and a constant, or None if it cannot be used."""
    bits = in_bits(small)
    if bits is None or np.abs(bits.weights).max() > kernel.LARGEST:
        return None
    arrays = bits.weights.T, np.exp(bits.weights), bits.hidden_bias, bits.visible_bias
    copies = (np.array(x, order="C") for x in arrays)  # one type, so numba compiles once
    return *copies, bits.log_scale - small.log_scale


def descents(small: RBM, rng=None) -> np.ndarray:
    """Return hidden states (n, n_hidden) in which descents at zero temperature end.

    The descents start from random states of both layers, and from the most probable visible states
    given the weights of a hidden unit, or given their negatives.
    """
    rng, n = checks.generator(rng), int(np.clip(WORK / small.weights.size, *STARTS))
    single = in_single(small)
    patterns = single.weights.T[heaviest(small.weights.T)[:n]]
    favoured = [likeliest(small.visible, sign * patterns) for sign in (1, -1)]
    visible = np.concatenate([*favoured, _random(small.visible, n, rng)], dtype=np.float32)
    with threads.blas_threads(1):  # more threads are slower for products this small
        hidden = likeliest(small.hidden, single.field(visible))
        hidden = np.concatenate([hidden, _random(small.hidden, n, rng)], dtype=np.float32)
        for _ in range(DESCENT):
            before = hidden = np.unique(hidden, axis=0)
            visible = likeliest(small.visible, single.visible_field(hidden))
            hidden = likeliest(small.hidden, single.field(visible))
            if np.array_equal(before, hidden):
                break
    return hidden


def likeliest(layer, field):
    """Return the most probable state of each unit, given fields (n, n_units), in float32."""
    if layer.values is None:
        return layer.mean(field)
    values = layer.values.astype(np.float32)
    if values.size == 2:
        return np.where(field > 0, values[1], values[0])
    units = field.reshape(len(field), -1, values.shape[1])
    return values[(units @ values.T).argmax(axis=-1)].reshape(field.shape)


def _random(layer, n, rng):
    """Return random states (n, n_units), with random probabilities of the values in each row."""
    if layer.values is None:
        return layer.mean(rng.standard_normal((n, len(layer))))
    n_values, width = layer.values.shape
    below = np.cumsum(rng.random((n, 1, n_values)), axis=-1)
    u = rng.random((n, len(layer) // width, 1)) * below[..., -1:]
    return layer.values[(below[..., :-1] <= u).sum(axis=-1)].reshape(n, -1)
