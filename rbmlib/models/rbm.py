"""Models of two layers and the weights between them, with exact log Z where it is known.

    log p*(v, h) = v W h + visible.own(v) + hidden.own(h) + log_scale
    log p*(v)    = visible.own(v) + hidden.cumulant(v W + a) + log_scale

in nats. Binary units have own(v) = b v and cumulant(x) = sum_j softplus(x_j) (Salakhutdinov &
Murray 2008, eq. 3); Gaussian units have own(v) = b v - |v|^2 / 2. W is (n_visible, n_hidden).
"""

from __future__ import annotations

import numpy as np

from .. import checks
from ..files import write_npz
from . import enumeration, formats, gauges, normal
from .formats import Names
from .layers import OF_SPINS, Binary, Gaussian, Layer, LeakyReLU, are_spins

NAMED: dict[tuple[type[Layer], type[Layer]], type[RBM]] = {}  # classes by the kinds of their layers


class RBM:
    """A restricted Boltzmann machine with two layers of any kind.

    Parameters
    ----------
    visible, hidden : Layer
        `Binary`, `Spin`, `Potts`, `Gaussian` or `DoubleReLU` units with their biases; only the
        hidden units may be `LeakyReLU`.
    weights : array (n_visible, n_hidden)
    log_scale : float
        Constant added to every log p*. Conversion to other units sets it to preserve log Z.

    Raises
    ------
    ValueError
        If a shape does not fit, a value is not finite, or Z is not finite. In models whose states
        can be counted, also if a parameter exceeds 1e12 in magnitude (`log_scale` 1e7): float64
        would lose the digits of error bars.

    Examples
    --------
    >>> import numpy as np, rbmlib as rl
    >>> rbm = rl.RBM(rl.Spin([0.1, 0.2]), rl.Potts([0.0, 0.5, 1.0], q=3), np.ones((2, 3)))
    >>> rbm
    RBM(Spin(2), Potts(3, q=3))
    >>> round(rl.exact(rbm).log_z, 4)
    4.1722
    """

    layers: tuple[type[Layer], type[Layer]]  # set by named subclasses

    def __init_subclass__(cls):
        if "layers" in vars(cls):
            NAMED[cls.layers] = cls

    def __init__(self, visible: Layer, hidden: Layer, weights, *, log_scale: float = 0.0):
        for name, layer in (("visible", visible), ("hidden", hidden)):
            checks.instance(name, layer, Layer, "a layer, such as rl.Binary(bias)")
            if not len(layer):
                raise ValueError(f"{name} is {layer!r}: expected units in both layers")
        if isinstance(visible, LeakyReLU):
            raise ValueError("visible is LeakyReLU: expected other units; only hidden ones may be")
        largest, most = limits(visible, hidden)
        shape = len(visible), len(hidden)
        meaning = f"{shape}, one row per visible unit{visible.entries}"
        self.visible, self.hidden = visible, hidden
        self.weights = checks.array("weights", weights, shape, meaning, largest=largest)
        for name, layer in (("visible_bias", visible), ("hidden_bias", hidden)):
            checks.array(name, layer.bias, (None,), "", largest=largest)
        self.log_scale = float(checks.array("log_scale", log_scale, (), "a number", largest=most))
        self.refuse_improper()

    def refuse_improper(self) -> None:
        """Raise ValueError unless Z is finite. Paths and exact sums call it; `with_` does not."""
        growth = self.visible.growth, self.hidden.growth
        if np.any(growth[0]) and np.any(growth[1]):
            normal.refuse_improper(self.weights, *growth)

    def __repr__(self) -> str:
        if type(self) is RBM:
            return f"RBM({self.visible!r}, {self.hidden!r})"
        return f"{type(self).__name__}(n_visible={self.n_visible}, n_hidden={self.n_hidden})"

    def with_(self, **parts) -> RBM:
        """Return a copy with some parts replaced, unchecked; its layers determine its class."""
        if unknown := parts.keys() - self.__dict__.keys():
            raise TypeError(f"{sorted(unknown)} are not parts of a model: {[*self.__dict__]} are")
        parts = self.__dict__ | parts
        model = object.__new__(class_of(parts["visible"], parts["hidden"]))
        model.__dict__.update(parts)
        return model

    def like(self, other: RBM) -> bool:
        """Return whether the layers of another model have the same kinds and sizes."""
        return self.visible._like(other.visible) and self.hidden._like(other.hidden)

    @property
    def n_visible(self) -> int:
        return self.weights.shape[0]

    @property
    def n_hidden(self) -> int:
        return self.weights.shape[1]

    @property
    def visible_bias(self) -> np.ndarray:
        return self.visible.bias

    @property
    def hidden_bias(self) -> np.ndarray:
        return self.hidden.bias

    # densities ------------------------------------------------------------------------------

    def log_density(self, visible) -> np.ndarray:
        """Return log p*(v) of states (n_states, n_visible): (n_states,), nats."""
        return log_density(self, checks.states("visible", visible, self.visible))

    def free_energy(self, visible) -> np.ndarray:
        """Return F(v) = -log p*(v), (n_states,)."""
        return -self.log_density(visible)

    def gradient(self, visible) -> np.ndarray:
        """Return d/dv log p*(v) = b - v + E(h | v) W', (n_states, n_visible), for Gaussian v."""
        v = checks.states("visible", visible, self.visible).astype(float, copy=False)
        if not isinstance(self.visible, Gaussian):
            raise TypeError(f"{self!r} has no gradient: expected Gaussian visible units")
        return gradient(self, v)

    # conditional distributions --------------------------------------------------------------

    def field(self, visible) -> np.ndarray:
        """Return v W + a, the fields of the hidden units (n_states, n_hidden), without checks."""
        return visible @ self.weights + self.hidden.bias

    def visible_field(self, hidden) -> np.ndarray:
        """Return h W' + b, the fields of the visible units (n_states, n_visible)."""
        return hidden @ self.weights.T + self.visible.bias

    def hidden_mean(self, visible) -> np.ndarray:
        """Return E(h | v), (n_states, n_hidden), for states or means (n_states, n_visible)."""
        return self.hidden.mean(self.field(means("visible", visible, self.visible)))

    def visible_mean(self, hidden) -> np.ndarray:
        """Return E(v | h), (n_states, n_visible), for states or means (n_states, n_hidden)."""
        return self.visible.mean(self.visible_field(means("hidden", hidden, self.hidden)))

    def sample_hidden(self, visible, rng) -> np.ndarray:
        """Draw h given v; ``rng`` is a seed, a Generator, or has ``rng.random(shape)``."""
        x = self.field(means("visible", visible, self.visible))
        return self.hidden.draw(x, checks.source_of_random(rng)).astype(float, copy=False)

    def sample_visible(self, hidden, rng) -> np.ndarray:
        """Draw v given h."""
        x = self.visible_field(means("hidden", hidden, self.hidden))
        return self.visible.draw(x, checks.source_of_random(rng)).astype(float, copy=False)

    def gibbs(self, visible, rng) -> np.ndarray:
        """Draw h given v, then v given h; return v. For use in loops: the states are not checked.

        The sweep leaves the model invariant unless the hidden units are `LeakyReLU`. For these it
        is the approximate sampler of Li et al. (2016); see `LeakyRBM`.
        """
        rng = checks.source_of_random(rng)
        h = self.hidden.draw(self.field(visible), rng)
        return self.visible.draw(self.visible_field(h), rng)

    def statistics(self, visible) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return the means over states of v, of E(h | v), and of v E(h | v)."""
        v = visible.astype(float)
        h = self.hidden.mean(self.field(v))
        return v.mean(axis=0), h.mean(axis=0), v.T @ h / len(v)

    # exact results --------------------------------------------------------------------------

    @property
    def log_z(self) -> float | None:
        """The log Z of a model without weights or of a single Gaussian, otherwise None."""
        if not self.weights.any():
            at = (layer.cumulant(layer.bias[None])[0] for layer in (self.visible, self.hidden))
            return float(sum(at) + self.log_scale)
        return normal.gaussian(self)[2] if normal.is_gaussian(self) else None

    def draw(self, n: int, rng) -> np.ndarray:
        """Return independent draws of the visible units (n, n_visible) if `log_z` is known."""
        rng = checks.source_of_random(rng)
        if not self.weights.any():
            return self.visible.draw(self.visible.bias[None], rng, n)
        if not normal.is_gaussian(self):
            held = f"{self!r} has weights: its draws are not known in closed form"
            raise ValueError(f"{held}; rl.sample(model, n).states enumerates")
        return normal.gaussian_draws(self, n, rng)

    def exact_log_z(self) -> float:
        """Return log Z by enumeration, or in closed form.

        Enumeration needs a layer of at most 2**30 states in each connected part. A `LeakyRBM` with
        orthogonal columns and a model with a known `log_z` have closed forms. Raises ValueError for
        other models.
        """
        if isinstance(self.visible, Gaussian) and isinstance(self.hidden, LeakyReLU):
            return normal.exact_log_z(self)
        return enumeration.exact_log_z(self) if self.log_z is None else self.log_z

    def exact_samples(self, n_samples: int, rng=None) -> np.ndarray:
        """Return independent exact draws of the visible units, (n_samples, n_visible) float64.

        The model must have a layer of at most 2**22 states, orthogonal leaky columns, or a known
        `log_z`; otherwise ValueError is raised.
        """
        n_samples, rng = checks.count("n_samples", n_samples), checks.generator(rng)
        if isinstance(self.visible, Gaussian) and isinstance(self.hidden, LeakyReLU):
            return normal.exact_draws(self, n_samples, rng)
        if not enumeration.can_enumerate(self) and self.log_z is not None:
            return self.draw(n_samples, rng).astype(float)
        return enumeration.exact_draws(self, n_samples, rng)

    # other forms ----------------------------------------------------------------------------

    def transposed(self) -> RBM:
        """Return the model with its layers exchanged and the same log Z."""
        return self.with_(visible=self.hidden, hidden=self.visible, weights=self.weights.T)

    def reduced(self) -> tuple[RBM, normal.Span]:
        """Return the model on the span of its weights, with rank(W) visible units, and the Span."""
        return normal.reduced(self)

    def to_bits(self) -> RBM:
        """Return the model with `Binary` in place of `Spin` and the same log Z."""
        return gauges.to_bits(self)

    def save(self, path, dtype=np.float64) -> None:
        """Write an .npz file for `load` and ``rl.load_rbm``.

        ``dtype`` is the type of the stored weights and biases; np.float32 halves the file. Raises
        ValueError if the type cannot hold the values or the rounded values are not a valid model.
        """
        arrays = formats.arrays_of(self, dtype)
        try:
            made(formats.parts_of(arrays))
        except ValueError as error:
            rounded = f"rounded to it, {error}; or use dtype=np.float64"
            raise ValueError(f"dtype is {np.dtype(dtype)}: {rounded}") from None
        write_npz(path, arrays)

    @classmethod
    def load(
        cls, path, *, layout: str | None = None, names: Names = None, units: str | None = None
    ) -> RBM:
        """Read a file that `save` wrote, or an .npz, MATLAB .mat or HDF5 file of another program.

        Files of `save`, of `rbms` (the last update is read) and of RestrictedBoltzmannMachines.jl
        name the kinds of their layers. For files of other programs ``layout``, ``names`` and
        ``units`` are those of `rbmlib.from_state_dict`. Other formats (.pt, .pkl, ...) may execute
        code and are refused; the message shows how to convert them.

        Raises
        ------
        FileNotFoundError, ValueError
            If the file does not exist, is damaged, holds no RBM or another kind than this class, or
            does not determine the parameters or their layout.
        """
        model = formats.read_model(path, made, layout, names, units)
        if not isinstance(model, cls):
            held = f"{path} holds a {type(model).__name__}"
            raise ValueError(f"{held}: expected a {cls.__name__}; rl.load_rbm reads any kind")
        return model


def log_density(model: RBM, v) -> np.ndarray:
    """Return log p*(v) without checking the states."""
    v = v.astype(float, copy=False)
    return model.visible.own(v) + model.hidden.cumulant(model.field(v)) + model.log_scale


def gradient(model: RBM, v) -> np.ndarray:
    """Return the gradient of log p* for Gaussian visible units, (n_states, n_visible)."""
    return model.visible.bias - v + model.hidden.mean(model.field(v)) @ model.weights.T


def means(name: str, value, layer: Layer) -> np.ndarray:
    """Return checked states or means, (n_states, n_units) or (n_units,)."""
    meaning = f"(n_states, {len(layer)}), one column per unit of the model"
    found = checks.numeric(name, value, meaning)
    if found.ndim not in (1, 2) or found.shape[-1] != len(layer):
        raise ValueError(f"{name} has shape {found.shape}: expected {meaning}")
    if found.dtype.kind == "f" and not (np.abs(found) <= checks.LARGEST_STATE).all():
        expected = f"finite numbers, {checks.LARGEST_STATE:.0e} at most"
        checks.refuse_nan(name, found, expected)
        reached = np.abs(found).max()
        raise ValueError(f"{name} reaches {reached:.3g} in magnitude: expected {expected}")
    if isinstance(layer, Binary) and are_spins(found):
        raise ValueError(f"{name} holds {OF_SPINS}")
    return found


def made(parts) -> RBM:
    """Make a model from (visible, hidden, weights, log_scale) with all checks."""
    visible, hidden, weights, log_scale = parts
    return RBM(visible, hidden, weights, log_scale=log_scale).with_()


def limits(visible, hidden) -> tuple[float, float]:
    """Return the largest magnitudes of parameters and of log_scale."""
    countable = visible.values is not None and hidden.values is not None
    return (checks.LARGEST, checks.LARGEST_SCALE) if countable else (np.inf, np.inf)


def class_of(visible, hidden) -> type[RBM]:
    """Return the named class for these layers, or `RBM`."""
    above = getattr(hidden, "above", 1.0)  # always 1 in a LeakyRBM
    kind = NAMED.get((type(visible), type(hidden)), RBM)
    return kind if np.ndim(above) == 0 and above == 1 else RBM
