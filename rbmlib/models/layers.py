"""Layers: the kinds of units.

Given a field x, the units of a layer are independent with p(s | x) ~ m(s) exp(s x). A kind defines

    cumulant(x)   log of the sum (or integral) of m(s) exp(s x), summed over units
    mean(x)       E[s | x], the derivative of the cumulant
    draw(x, rng)  a draw of s, with uniforms or normals of `shape_of(x, n)`

and `values` if a unit has finitely many states. A new kind needs only one class. Fields have shape
(n_states, n_units).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import checks
from .._kernels import units as kernels
from ..numerics import LOG_2PI, expit, log_half_gaussian, smoothed, softplus

KINDS: dict[str, type[Layer]] = {}  # by name, for files

ZERO_ONE, SIGNS = np.array([[0.0], [1.0]]), np.array([[-1.0], [1.0]])


class Layer:
    """Base class of layers. Each unit has a bias, (n_units,); a subclass is a kind of unit.

    Attributes
    ----------
    parameters, constants : tuple of str
        Names of the constructor's arguments. Parameters are linear in beta on a path; constants
        are fixed.
    values : array (n_values, width) or None
        The states of a unit; None for real units.
    conditional : bool
        Whether `draw` samples p(h | v) of a joint density ~ exp(v W h).
    growth : float or array (n_units,)
        The cumulant grows at most as ``growth x^2 / 2``; 0 for bounded states.
    """

    parameters: tuple[str, ...] = ("bias",)
    constants: tuple[str, ...] = ()
    values: Any = None
    conditional = True
    growth: Any = 0.0
    entries = ""  # what the columns of a layer are, for errors

    def __init_subclass__(cls):
        """Register the kind by its name, for files."""
        KINDS[cls.__name__] = cls

    def __init__(self, bias):
        name = f"bias of {type(self).__name__}"  # visible or hidden is not known yet
        self.bias = checks.array(name, bias, (None,), "(n_units,)", flatten=True)

    def __len__(self):
        return self.bias.shape[-1]

    def __repr__(self):
        constants = {name: getattr(self, name) for name in self.constants}
        said = (f", {name}={value!r}" for name, value in constants.items() if np.ndim(value) == 0)
        return f"{type(self).__name__}({len(self)}{''.join(said)})"

    def with_(self, **parameters):
        """Return a copy with some parameters replaced; they are not checked."""
        layer = object.__new__(type(self))
        layer.__dict__.update(self.__dict__, **parameters)
        return layer

    def _like(self, other) -> bool:
        """Return whether ``other`` has the same kind, size and constants."""
        if type(self) is not type(other) or len(self) != len(other):
            return False
        return all(np.array_equal(getattr(self, n), getattr(other, n)) for n in self.constants)

    def _only(self, chosen) -> Layer:
        """Return the layer of the columns that a mask (n_columns,) selects."""
        values = {name: getattr(self, name) for name in (*self.parameters, *self.constants)}
        return self.with_(**{n: value[chosen] for n, value in values.items() if np.ndim(value)})

    def own(self, s):
        """Return log m(s) + bias s for each state (n_states,)."""
        return s @ self.bias

    def cumulant(self, x):
        raise NotImplementedError

    def mean(self, x):
        raise NotImplementedError

    def draw(self, x, rng, n=None):
        raise NotImplementedError

    def _bias_of(self, means, smoothing):
        """Return the biases that give independent units these means, smoothed."""
        if self.values is not None and self.values.shape == (2, 1):
            low, high = self.values.ravel()
            return smoothed((means - low) / (high - low), smoothing) / (high - low)
        from scipy.optimize import minimize  # a tenth of a second to import

        wanted = means  # for bounded states, shrunk towards the means at zero field
        if self.values is not None:
            free = self.mean(np.zeros((1, len(self))))[0]
            wanted = (means + 2 * smoothing * free) / (1 + 2 * smoothing)

        def off(x):  # convex in x, with its minimum at the wanted means
            return self.cumulant(x[None])[0] - wanted @ x, self.mean(x[None])[0] - wanted

        return minimize(off, np.zeros(len(self)), jac=True, method="BFGS", tol=1e-9).x

    def holds(self, s) -> bool:
        """Return whether all rows of ``s`` (n_states, n_units) are states of this layer."""
        if self.values is None:
            return bool((np.abs(s) <= checks.LARGEST_STATE).all())
        return bool(np.logical_or.reduce([s == value for value in self.values[:, 0]]).all())

    @property
    def _meaning(self) -> str:
        """The states that `holds` accepts, in words."""
        if self.values is None:
            return f"finite numbers, {checks.LARGEST_STATE:.0e} at most in magnitude"
        return "one of " + ", ".join(f"{value:g}" for value in self.values[:, 0])

    def _refusal(self, s) -> str:
        """Return words for states that `holds` refuses."""
        return f"values from {s.min()} to {s.max()}: expected {self._meaning}"

    def _slope(self, x, rise, high, low):
        """Return the slope of the cumulant from ``low`` to ``high``; x has the slope ``rise``."""
        return (self.mean(x) * rise).sum(axis=1)

    def _between(self, high, t):
        """Interpolate from this layer (t = 0) to ``high`` (t = 1); t is a number or (n, 1)."""
        pairs = ((name, getattr(self, name), getattr(high, name)) for name in self.parameters)
        return self.with_(**{n: low + t * (top - low) for n, low, top in pairs if top is not low})


def shape_of(x, n):
    """Return the shape of a draw: one state for each field, or n states for one field."""
    return x.shape if n is None else (n, x.shape[1])


class Binary(Layer):
    """Units in {0, 1}.

    Examples
    --------
    >>> import rbmlib as rl
    >>> rbm = rl.RBM(rl.Binary([0.0, 0.0]), rl.Binary([0.0]), [[1.0], [1.0]])
    >>> round(rl.exact(rbm).log_z, 4)  # log(4 + (1 + e)^2)
    2.8806
    """

    values = property(lambda self: ZERO_ONE)  # ``help`` would print an array

    def _refusal(self, s):
        remedy = "; binarise it first, for example data > 127 for bytes or data > 0.5 for [0, 1]"
        return OF_SPINS if are_spins(s) else super()._refusal(s) + remedy

    def cumulant(self, x):
        return softplus(x).sum(axis=1)

    def mean(self, x):
        return expit(x)

    def draw(self, x, rng, n=None):
        return (rng.random(shape_of(x, n)) < expit(x)).astype(np.float32)


class Spin(Layer):
    """Units in {-1, +1}.

    Examples
    --------
    >>> import rbmlib as rl
    >>> rbm = rl.RBM(rl.Spin([0.0, 0.0]), rl.Spin([0.0]), [[1.0], [1.0]])
    >>> round(rl.exact(rbm).log_z, 4)  # log(2 (2 cosh 1)^2)
    2.947
    """

    values = property(lambda self: SIGNS)

    def cumulant(self, x):
        return (np.abs(x) + np.log1p(np.exp(-2 * np.abs(x)))).sum(axis=1)

    def mean(self, x):
        return np.tanh(x)

    def draw(self, x, rng, n=None):
        return np.where(rng.random(shape_of(x, n)) < expit(2 * x), 1.0, -1.0)


UNITS: dict[str, type[Layer]] = {"bits": Binary, "spins": Spin}
OF_SPINS = (  # message about spins in the data of a Binary model
    "-1 and +1 alone, the states of Spin, but the units here are 0 and 1: expected "
    "rl.RBM(rl.Spin(visible_bias), rl.Spin(hidden_bias), weights), rl.from_state_dict(state, "
    "units='spins') or rl.load_rbm(path, units='spins'); on the command line, --units spins"
)


def one_hot(rows) -> int | None:
    """Return q if the rows are states of at least two `Potts` units with q >= 3, else None."""
    counts = rows.sum(axis=1)
    n_units = int(counts[0]) if len(counts) and (counts == counts[0]).all() else 0
    if n_units < 2 or rows.shape[1] % n_units or (q := rows.shape[1] // n_units) < 3:
        return None
    return q if Potts(np.zeros(rows.shape[1]), q).holds(rows) else None


def are_spins(rows) -> bool:
    """Return whether the rows hold both -1 and +1 and no other value."""
    return bool(rows.size and rows.min() == -1 and rows.max() == 1 and (np.abs(rows) == 1).all())


class Potts(Layer):
    """Potts units of q states in one-hot form: q columns for each unit.

    Examples
    --------
    >>> import rbmlib as rl
    >>> two_sites = rl.Potts([0.0] * 6, q=3)
    >>> rbm = rl.RBM(two_sites, rl.Binary([0.0]), [[1.0]] * 6)
    >>> round(rl.exact(rbm).log_z, 4)  # log(9 (1 + e^2))
    4.3242
    """

    constants = ("q",)
    _meaning = "zeros and ones, a single 1 in the columns of each unit"
    entries = ", one per state of the unit: (n_units, q) flattened, such as np.eye(q)[numbers]"

    def __init__(self, bias, q):
        super().__init__(bias)
        self.q = checks.count("q", q, 2)
        shape = np.shape(bias)
        if len(self) % self.q or (len(shape) > 1 and 1 not in shape and shape[-1] != self.q):
            raise ValueError(f"bias has shape {shape}: expected q = {self.q} entries for each unit")
        self.values = np.eye(self.q)

    def _units(self, x):
        return x.reshape(*x.shape[:-1], x.shape[-1] // self.q, self.q)

    def holds(self, s):
        units = self._units(np.asarray(s, float))
        return bool(((units == 0) | (units == 1)).all() and (units.sum(axis=-1) == 1).all())

    def _bias_of(self, means, smoothing):
        return np.log(np.maximum(means, 0) + smoothing)

    def _relative(self, x):
        """Return the largest field of each unit, and exp(field - largest) of each state."""
        units = self._units(x)
        top = units.max(axis=-1, keepdims=True)
        return top, np.exp(units - top)

    def cumulant(self, x):
        top, shares = self._relative(x)
        return (top[..., 0] + np.log(shares.sum(axis=-1))).sum(axis=1)

    def mean(self, x):
        _, shares = self._relative(x)
        return (shares / shares.sum(axis=-1, keepdims=True)).reshape(x.shape)

    def draw(self, x, rng, n=None):
        u = rng.random(shape_of(x[:, :: self.q], n))
        out = np.zeros((len(u), x.shape[1]))
        kernels.draw_colours(np.ascontiguousarray(x, float), u, self.q, out)
        return out


class Gaussian(Layer):
    """Real units, N(x, 1) given their field x; for N(x / a, 1 / a) use `DoubleReLU` (bias, a, a).

    Examples
    --------
    >>> import rbmlib as rl
    >>> rbm = rl.RBM(rl.Gaussian([0.0, 0.0]), rl.Binary([0.0]), [[1.0], [1.0]])
    >>> round(rl.exact(rbm).log_z, 4)  # log(2 pi (1 + e))
    3.1511
    """

    growth = 1.0

    def own(self, s):
        return s @ self.bias - np.einsum("ni,ni->n", s, s) / 2

    def _bias_of(self, means, smoothing):
        return means

    def cumulant(self, x):
        return (np.einsum("ni,ni->n", x, x) + x.shape[1] * LOG_2PI) / 2

    def mean(self, x):
        return x

    def draw(self, x, rng, n=None):
        return x + rng.standard_normal(shape_of(x, n))


class LeakyReLU(Layer):
    """Leaky rectified linear hidden units with the cumulant ``a x^2 / 2`` (Li et al. 2016).

    The slope a is ``above`` for x > 0 and ``below`` otherwise; in the paper, above = 1 and below is
    the leakiness. ``draw`` samples the paper's N(a x, a), which is not the conditional of a joint
    density; `rbmlib.paths.moves` has exact transitions.
    """

    parameters = ("bias", "above", "below")
    conditional = False

    def __init__(self, bias, above=1.0, below=0.01):
        super().__init__(bias)
        self.above = checks.number("above", above, "a slope, 0 or more", least=0)
        self.below = checks.number("below", below, "a slope, 0 or more", least=0)

    @property
    def growth(self):
        return np.maximum(self.above, self.below)

    def own(self, s):
        raise TypeError("LeakyReLU units are summed over: they have no states with a density")

    def cumulant(self, x):
        low, above = np.minimum(x, 0.0), np.reshape(self.above, -1)  # slopes may differ by state
        whole, left = np.einsum("nj,nj->n", x, x) / 2, np.einsum("nj,nj->n", low, low) / 2
        return above * whole - (above - np.reshape(self.below, -1)) * left

    def mean(self, x):
        return np.where(x > 0, self.above * x, self.below * x)

    def draw(self, x, rng, n=None):
        a = np.where(x > 0, self.above, self.below)
        return a * x + np.sqrt(a) * rng.standard_normal(shape_of(x, n))

    def _slope(self, x, rise, high, low):
        change = np.where(x > 0, high.above - low.above, high.below - low.below)
        return super()._slope(x, rise, high, low) + (change * x**2).sum(axis=1) / 2


class DoubleReLU(Layer):
    """Double rectified linear units: real units with half a Gaussian on each side of 0.

    ``m(h) = exp(-a_plus h^2 / 2 - theta_plus h)`` for h > 0, and
    ``m(h) = exp(-a_minus h^2 / 2 + theta_minus h)`` for h < 0 (Tubiana, Cocco & Monasson 2019). The
    default parameters give `Gaussian` units.

    Parameters
    ----------
    bias : array (n_units,)
        Added to the field; equivalent to opposite changes of the two thresholds.
    a_plus, a_minus : float or array (n_units,)
        Positive precisions of the two sides. With a very large a_minus, h is almost never negative.
    theta_plus, theta_minus : float or array (n_units,)
        Thresholds: at field x the positive side has the field x - theta_plus, the negative side
        -(x + theta_minus).

    Examples
    --------
    >>> import numpy as np, rbmlib as rl
    >>> units = rl.DoubleReLU([0.0], a_plus=1.0, a_minus=4.0, theta_plus=1.0)
    >>> units.mean(np.array([[-8.0], [0.0], [8.0]])).round(3).tolist()
    [[-2.0], [0.074], [7.0]]
    """

    constants = ("a_plus", "a_minus", "theta_plus", "theta_minus")
    a_plus = a_minus = theta_plus = theta_minus = np.ones(0)

    def __init__(self, bias, a_plus=1.0, a_minus=1.0, theta_plus=0.0, theta_minus=0.0):
        super().__init__(bias)
        values = a_plus, a_minus, theta_plus, theta_minus
        meaning = f"a number, or one per unit, ({len(self)},)"
        for name, value in zip(self.constants, values, strict=True):
            value = checks.numeric(name, value, meaning)
            value = value if value.ndim else np.full(len(self), value)
            value = checks.array(name, value, (len(self),), meaning)
            if name.startswith("a_") and not (value > 0).all():
                raise ValueError(f"{name} goes down to {value.min()}: expected numbers above 0")
            setattr(self, name, value)

    @property
    def growth(self):
        return 1 / np.minimum(self.a_plus, self.a_minus)

    def own(self, s):
        above, below = np.maximum(s, 0.0), np.maximum(-s, 0.0)
        quadratic = above**2 @ self.a_plus + below**2 @ self.a_minus
        return s @ self.bias - quadratic / 2 - above @ self.theta_plus - below @ self.theta_minus

    def cumulant(self, x):
        out = np.zeros(len(x))
        kernels.sum_halves(np.ascontiguousarray(x, float), self._units(), out)
        return out

    def mean(self, x):
        sd, sd_, theta, theta_ = self._units()
        z, z_ = (x - theta) * sd, (-x - theta_) * sd_  # mean / sd of the Gaussians on both sides
        above, below = np.log(sd) + log_half_gaussian(z), np.log(sd_) + log_half_gaussian(z_)
        share = expit(above - below)
        # each side has the mean sd (z + phi(z) / Phi(z)), with phi / Phi = sd exp(-log mass)
        positive, negative = sd * z + sd**2 * np.exp(-above), sd_ * z_ + sd_**2 * np.exp(-below)
        return share * positive - (1 - share) * negative

    def draw(self, x, rng, n=None):
        out = rng.random(shape_of(x, n))
        kernels.draw_halves(np.ascontiguousarray(x, float), self._units(), out)
        return out

    def _units(self):
        a = np.stack([self.a_plus, self.a_minus]) ** -0.5
        return np.stack([*a, self.theta_plus, self.theta_minus])
