"""What all RBMs share: two layers, weights between them, biases, and a constant of log p*."""

from __future__ import annotations

import numpy as np

from .._outermost import check_methods
from .._validation import (
    LARGEST,
    LARGEST_SCALE,
    finite_states,
    layer,
    parameter_array,
    source_of_random,
)
from .files import KINDS, save_model

OF_STATES = (
    "log_density", "free_energy", "hidden_field", "visible_field", "hidden_mean", "visible_mean",
    "gradient", "log_joint_density",
)  # fmt: skip
FINITE = {
    name: lambda model, value, others, name=name: finite_states(name, value)
    for name in ("visible", "hidden", "x")
}  # where a caller comes in


class _RBM:
    """An RBM of any units. A subclass has `log_density`, `hidden_mean` and `visible_mean`.

    It also says what is in its files (`rbmlib.models.files`): ``numbers`` beside weights and
    biases, ``flags`` that are true, and which of these is the ``mark`` that tells its kind.
    """

    mark: str
    numbers: tuple[str, ...] = ("log_scale",)
    flags: tuple[str, ...] = ()
    of_bits: tuple[str, ...] = ()  # methods that ask for zeros and ones themselves
    _limits = LARGEST, LARGEST_SCALE  # of parameters, and of log_scale

    def __init_subclass__(cls):
        check_methods(cls, tuple(n for n in OF_STATES if n not in cls.of_bits), FINITE)
        if "mark" in vars(cls):
            KINDS[cls.mark] = cls

    def __init__(self, weights, visible_bias, hidden_bias, *, log_scale: float = 0.0):
        shape = "(n_visible, n_hidden), one row a visible unit"
        self.weights = parameter_array(
            "weights", weights, (None, None), shape, largest=self._limits[0]
        )
        n_visible, n_hidden = self.weights.shape
        if not (n_visible and n_hidden):
            raise ValueError(
                f"weights has shape {self.weights.shape}: expected units in both layers"
            )
        self.visible_bias = self._bias("visible_bias", visible_bias, n_visible)
        self.hidden_bias = self._bias("hidden_bias", hidden_bias, n_hidden)
        scale = parameter_array("log_scale", log_scale, (), "one number", largest=self._limits[1])
        self.log_scale = float(scale)

    def _bias(self, name: str, value, n: int) -> np.ndarray:
        rows, columns = self.weights.shape
        meaning = f"({n},) (weights is {rows} x {columns}; is it transposed?)"
        return parameter_array(name, value, (n,), meaning, flatten=True, largest=self._limits[0])

    @property
    def n_visible(self) -> int:
        return self.weights.shape[0]

    @property
    def n_hidden(self) -> int:
        return self.weights.shape[1]

    def __repr__(self) -> str:
        return f"{type(self).__name__}(n_visible={self.n_visible}, n_hidden={self.n_hidden})"

    def log_density(self, visible) -> np.ndarray:
        raise NotImplementedError

    def free_energy(self, visible) -> np.ndarray:
        """F(v) = -log p*(v), shape (n_states,)."""
        return -self.log_density(visible)

    def hidden_field(self, visible) -> np.ndarray:
        """v W + a, shape (n_states, n_hidden)."""
        return layer("visible", visible, self.n_visible) @ self.weights + self.hidden_bias

    def hidden_mean(self, visible) -> np.ndarray:
        raise NotImplementedError

    def sample_hidden(self, visible, rng) -> np.ndarray:
        """A draw of h given v; ``rng`` is a seed, or needs only ``rng.random(shape)``."""
        mean = self.hidden_mean(layer("visible", visible, self.n_visible, finite=True))
        return (source_of_random(rng).random(mean.shape) < mean).astype(float)

    def visible_field(self, hidden) -> np.ndarray:
        """h W' + b, shape (n_states, n_visible)."""
        return layer("hidden", hidden, self.n_hidden) @ self.weights.T + self.visible_bias

    def save(self, path, dtype=np.float64) -> None:
        """Write an .npz of the parameters, which `load` and ``rl.load_rbm`` read.

        Raises ValueError if ``dtype`` cannot hold the parameters, or if they are no model once
        they are rounded to it.
        """
        save_model(self, path, dtype)


check_methods(_RBM, OF_STATES, FINITE)
