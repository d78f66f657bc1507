"""Layers: what kinds of units there are. This file is the only one that knows.

Given a field x, the units of a layer are independent, with p(s | x) ~ m(s) exp(s x). A kind says

    cumulant(x)   log of the sum (or integral) of m(s) exp(s x), summed over units
    mean(x)       its derivative, E[s | x]
    draw(x, rng)  a draw of s, with uniforms or normals of `shape_of(x, n)`

and, if a unit has finitely many states, `values`. A new kind is one class: models of it can be
annealed, tempered, enumerated, saved and loaded at once.
"""

import numpy as np

from .. import checks
from ..numerics import LOG_2PI, expit, logsumexp, softplus

KINDS = {}  # by name, for files


class Layer:
    """Units with a bias each; ``parameters`` are linear in beta on a path, ``constants`` fixed."""

    parameters, constants = ("bias",), ()
    values = None  # (n_values, width): the states of a unit, if they can be counted
    conditional = True  # whether `draw` is p(h | v) of a joint density ~ exp(v W h)

    def __init_subclass__(cls):
        KINDS[cls.__name__] = cls

    def __init__(self, bias):
        self.bias = checks.array("bias", bias, (None,), "(n_units,)")
        self.size = self.bias.size

    def __len__(self):
        return self.size

    def with_(self, **parameters):
        """The same units but for some parameters, which are known to be valid."""
        layer = object.__new__(type(self))
        layer.__dict__.update(self.__dict__, **parameters)
        return layer

    def own(self, s):
        """log m(s) + bias s of each state (n_states,)."""
        return s @ self.bias

    def holds(self, s):
        """Whether ``s`` are states of this layer."""
        return bool(np.isfinite(s).all() if self.values is None else np.isin(s, self.values).all())

    def foreign(self, s):
        """In words, what `holds` refuses and what to do."""
        expected = "finite numbers" if self.values is None else f"states of {type(self).__name__}"
        return f"values from {s.min()} to {s.max()}: expected {expected}"

    def slope(self, x, rise, high, low):
        """Derivative of the cumulant between two layers: ``rise`` is that of the field."""
        return (self.mean(x) * rise).sum(axis=1)

    def between(self, high, t):
        """The layer at t from this one (0) to another (1); t may be one a chain, (n, 1)."""
        pairs = ((name, getattr(self, name), getattr(high, name)) for name in self.parameters)
        return self.with_(**{n: low + t * (top - low) for n, low, top in pairs if top is not low})


def shape_of(x, n):
    """Of what is drawn: one state a field, or n states of a single field (1, n_units)."""
    return x.shape if n is None else (n, x.shape[1])


class Bits(Layer):
    """Units in {0, 1}."""

    values = np.array([[0.0], [1.0]])

    def cumulant(self, x):
        return softplus(x).sum(axis=1)

    def mean(self, x):
        return expit(x)

    def draw(self, x, rng, n=None):
        return (rng.random(shape_of(x, n)) < expit(x)).astype(np.float32)


class Spins(Layer):
    """Units in {-1, +1}."""

    values = np.array([[-1.0], [1.0]])

    def cumulant(self, x):
        return (np.abs(x) + np.log1p(np.exp(-2 * np.abs(x)))).sum(axis=1)

    def mean(self, x):
        return np.tanh(x)

    def draw(self, x, rng, n=None):
        return np.where(rng.random(shape_of(x, n)) < expit(2 * x), 1.0, -1.0)


class Categories(Layer):
    """Potts units of q states each, written as q zeros and ones of which one is 1."""

    constants = ("q",)

    def __init__(self, bias, q):
        super().__init__(bias)
        self.q = checks.count("q", q, 2)
        if len(self) % self.q:
            raise ValueError(f"bias has {len(self)} entries: expected q = {self.q} for each unit")

    @property
    def values(self):
        return np.eye(self.q)

    def _units(self, x):
        return np.broadcast_to(x, (*x.shape[:-1], len(self))).reshape(len(x), -1, self.q)

    def holds(self, s):
        units = self._units(np.asarray(s, float))
        return bool(((units == 0) | (units == 1)).all() and (units.sum(axis=2) == 1).all())

    def cumulant(self, x):
        return logsumexp(self._units(x), axis=2).sum(axis=1)

    def mean(self, x):
        units = self._units(x)
        return np.exp(units - logsumexp(units, axis=2)[..., None]).reshape(len(x), -1)

    def draw(self, x, rng, n=None):
        below = np.cumsum(self._units(self.mean(x)), axis=2)
        u = rng.random(shape_of(below[..., 0], n))[..., None] * below[..., -1:]
        return np.eye(self.q)[(below <= u).sum(axis=2)].reshape(len(u), -1)


class Normal(Layer):
    """Real units, N(x, 1) given their field."""

    def own(self, s):
        return s @ self.bias - np.einsum("ni,ni->n", s, s) / 2

    def cumulant(self, x):
        return (np.einsum("ni,ni->n", x, x) + x.shape[1] * LOG_2PI) / 2

    def mean(self, x):
        return x

    def draw(self, x, rng, n=None):
        return x + rng.standard_normal(shape_of(x, n))


class Leaky(Layer):
    """Hidden units that are summed over: their cumulant is ``a x^2 / 2``, a = ``above`` where
    x > 0 and ``below`` elsewhere (Li et al. 2016; above = 1, below the leakiness).

    ``draw`` is the paper's N(a x, a), which is no conditional of one joint density: models with
    this layer are moved by `moves.elliptical_slice`.
    """

    parameters = ("bias", "above", "below")
    conditional = False

    def __init__(self, bias, above=1.0, below=0.01):
        super().__init__(bias)
        self.above, self.below = float(above), float(below)

    def cumulant(self, x):
        return (np.where(x > 0, self.above, self.below) * x**2).sum(axis=1) / 2

    def mean(self, x):
        return np.where(x > 0, self.above, self.below) * x

    def draw(self, x, rng, n=None):
        a = np.where(x > 0, self.above, self.below)
        return a * x + np.sqrt(a) * rng.standard_normal(shape_of(x, n))

    def slope(self, x, rise, high, low):
        change = np.where(x > 0, high.above - low.above, high.below - low.below)
        return super().slope(x, rise, high, low) + (change * x**2).sum(axis=1) / 2
