"""What belongs to one student: random numbers and small models that follow from a name."""

from __future__ import annotations

import hashlib
from functools import cached_property
from itertools import product

import numpy as np

from rbmlib.estimators.exact import exact
from rbmlib.models import BernoulliRBM, testsystems
from rbmlib.paths import GeometricPath

N_VISIBLE, N_HIDDEN = 8, 5


def states(n: int) -> np.ndarray:
    """All 2ⁿ states of n units, one a row."""
    return np.array(list(product([0.0, 1.0], repeat=n)))


class Own:
    """Models, bases and random numbers of a student; the same name has the same ones for ever."""

    def __init__(self, name: str):
        if not isinstance(name, str) or not name.strip():
            raise ValueError('give your name, for example exercises.begin("ais", "ada")')
        self.name = name.strip()

    def rng(self, purpose: str) -> np.random.Generator:
        """A generator of its own for each purpose."""
        text = f"{self.name.casefold()}/{purpose}".encode()
        return np.random.default_rng(int.from_bytes(hashlib.sha256(text).digest()[:8], "big"))

    @cached_property
    def model(self) -> BernoulliRBM:
        """Eight visible and five hidden units."""
        return testsystems.random_rbm(N_VISIBLE, N_HIDDEN, coupling=4.0, rng=self.rng("model"))

    @cached_property
    def base(self) -> np.ndarray:
        """Visible biases of a base of independent units."""
        return self.rng("base").normal(scale=0.6, size=N_VISIBLE)

    @cached_property
    def path(self) -> GeometricPath:
        return GeometricPath(self.model, base=self.base)

    @cached_property
    def log_z(self) -> float:
        return exact(self.model).log_z

    def log_z_at(self, betas) -> np.ndarray:
        """Exact log Z at each beta of the path."""
        return np.array([exact(self.path.at(b)).log_z for b in np.atleast_1d(betas)])

    def some_states(self, n: int, purpose: str = "states", units: int = N_VISIBLE) -> np.ndarray:
        """Random rows of zeros and ones."""
        return self.rng(purpose).integers(0, 2, (n, units)).astype(float)

    def number(self, purpose: str, low: float, high: float, digits: int = 1) -> float:
        """A number of this student's between two others."""
        return round(float(self.rng(purpose).uniform(low, high)), digits)

    def whole(self, purpose: str, low: int, high: int) -> int:
        return int(self.number(purpose, low, high, 0))
