"""Layers: what kinds of units there are. This file is the only one that knows.

Given a field x, the units of a layer are independent, with p(s | x) ~ m(s) exp(s x). A kind says

    cumulant(x)   log of the sum (or integral) of m(s) exp(s x), summed over units
    mean(x)       its derivative, E[s | x]
    draw(x, rng)  a draw of s, with uniforms or normals of `shape_of(x, n)`

and, if a unit has finitely many states, `values`. A new kind is one class: models of it can be
annealed, tempered, enumerated, saved and loaded at once. Fields are (n_states, n_units).
"""

from __future__ import annotations

import numpy as np

from .. import checks
from ..numerics import LOG_2PI, expit, logsumexp, softplus

KINDS: dict[str, type[Layer]] = {}  # by name, for files


class Layer:
    """Units with a bias each, (n_units,); a subclass is a kind of unit.

    Attributes
    ----------
    parameters, constants : tuple of str
        What its constructor takes: the first are linear in beta on a path, the others fixed.
    values : array (n_values, width) or None
        The states of a unit, if they can be counted.
    conditional : bool
        Whether `draw` is p(h | v) of a joint density ~ exp(v W h).
    """

    parameters: tuple[str, ...] = ("bias",)
    constants: tuple[str, ...] = ()
    values: np.ndarray | None = None
    conditional = True
    meaning = "finite numbers"  # of states, for errors

    def __init_subclass__(cls):
        KINDS[cls.__name__] = cls

    def __init__(self, bias):
        self.bias = checks.array("bias", bias, (None,), "(n_units,)", flatten=True)

    def __len__(self):
        return self.bias.shape[-1]

    def __repr__(self):
        constants = "".join(f", {name}={getattr(self, name)!r}" for name in self.constants)
        return f"{type(self).__name__}({len(self)}{constants})"

    def with_(self, **parameters):
        """The same units but for some parameters, which are known to be valid."""
        layer = object.__new__(type(self))
        layer.__dict__.update(self.__dict__, **parameters)
        return layer

    def like(self, other) -> bool:
        """Whether ``other`` is a layer of this kind and size, its constants too."""
        return (
            type(self) is type(other)
            and len(self) == len(other)
            and all(getattr(self, name) == getattr(other, name) for name in self.constants)
        )

    def own(self, s):
        """log m(s) + bias s of each state (n_states,)."""
        return s @ self.bias

    def cumulant(self, x):
        raise NotImplementedError

    def mean(self, x):
        raise NotImplementedError

    def draw(self, x, rng, n=None):
        raise NotImplementedError

    def holds(self, s) -> bool:
        """Whether ``s`` (n_states, n_units) are states of this layer."""
        if self.values is None:
            return bool((np.abs(s) <= checks.LARGEST_STATE).all())
        return bool(np.logical_or.reduce([s == value for value in self.values[:, 0]]).all())

    def foreign(self, s) -> str:
        """In words, what `holds` refuses and what to do."""
        if self.values is None:
            if not np.isfinite(s).all():
                return f"infinite values: expected {self.meaning}"
            return (
                f"{np.abs(s).max():.3g}: expected magnitudes of {checks.LARGEST_STATE:.0e} at most"
            )
        return f"values from {s.min()} to {s.max()}: expected {self.meaning}"

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
    meaning = "zeros and ones"

    def foreign(self, s):
        return (
            f"values other than 0 and 1 (from {s.min()} to {s.max()}): binarise it first, for "
            "example data > 127 for bytes or data > 0.5 for [0, 1]; units in {-1, +1} need "
            "(data + 1) / 2"
        )

    def cumulant(self, x):
        return softplus(x).sum(axis=1)

    def mean(self, x):
        return expit(x)

    def draw(self, x, rng, n=None):
        return (rng.random(shape_of(x, n)) < expit(x)).astype(np.float32)


class Spins(Layer):
    """Units in {-1, +1}."""

    values = np.array([[-1.0], [1.0]])
    meaning = "spins of -1 and +1"

    def cumulant(self, x):
        return (np.abs(x) + np.log1p(np.exp(-2 * np.abs(x)))).sum(axis=1)

    def mean(self, x):
        return np.tanh(x)

    def draw(self, x, rng, n=None):
        return np.where(rng.random(shape_of(x, n)) < expit(2 * x), 1.0, -1.0)


class Categories(Layer):
    """Potts units of q states each, written as q zeros and ones of which one is 1."""

    constants = ("q",)
    meaning = "zeros and ones, a single 1 in the columns of each unit"

    def __init__(self, bias, q):
        super().__init__(bias)
        self.q = checks.count("q", q, 2)
        if len(self) % self.q:
            raise ValueError(f"bias has {len(self)} entries: expected q = {self.q} for each unit")
        self.values = np.eye(self.q)

    def _units(self, x):
        return x.reshape(*x.shape[:-1], -1, self.q)

    def holds(self, s):
        units = self._units(np.asarray(s, float))
        return bool(((units == 0) | (units == 1)).all() and (units.sum(axis=-1) == 1).all())

    def cumulant(self, x):
        return logsumexp(self._units(x), axis=-1).sum(axis=1)

    def mean(self, x):
        units = self._units(x)
        return np.exp(units - logsumexp(units, axis=-1)[..., None]).reshape(x.shape)

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
    this layer are moved by others (`rbmlib.paths.moves`).
    """

    parameters = ("bias", "above", "below")
    conditional = False

    def __init__(self, bias, above=1.0, below=0.01):
        super().__init__(bias)
        self.above = checks.number("above", above, "a slope, 0 or more", least=0)
        self.below = checks.number("below", below, "a slope, 0 or more", least=0)

    def own(self, s):
        raise TypeError("Leaky units are summed over: they have no states with a density")

    def cumulant(self, x):
        low, above = np.minimum(x, 0.0), np.reshape(self.above, -1)  # slopes may be one a state
        whole, left = np.einsum("nj,nj->n", x, x) / 2, np.einsum("nj,nj->n", low, low) / 2
        return above * whole - (above - np.reshape(self.below, -1)) * left

    def mean(self, x):
        return np.where(x > 0, self.above * x, self.below * x)

    def draw(self, x, rng, n=None):
        a = np.where(x > 0, self.above, self.below)
        return a * x + np.sqrt(a) * rng.standard_normal(shape_of(x, n))

    def slope(self, x, rise, high, low):
        change = np.where(x > 0, high.above - low.above, high.below - low.below)
        return super().slope(x, rise, high, low) + (change * x**2).sum(axis=1) / 2
