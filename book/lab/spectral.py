"""Spectral steps: ``rl.train(..., method="spectral")`` by PCD, or ``method="spectral tempered"``.

Both words are there wherever `rbmbook` is imported.

Carlson et al. (2015): log Z is bounded from above by its tangent plus a multiple of the squared
Schatten-infinity norm (largest singular value) of the change of the weights; the step that does
best by this bound is ``rate * X#``, where ``X# = |X|_S1 U V'`` for a gradient ``X = U S V'`` with
nuclear norm ``|X|_S1``. All singular directions of a step are equally long, so the small ones learn
as fast as the large. For biases the norm is the largest entry, and ``x# = |x|_1 sign(x)``.
RMSspectral measures lengths after division by the root of a running root-mean-square gradient r,
entry by entry: ``d = sqrt(floor + r)``, step ``(X / d)# / d``.

The rate must be much smaller than that of gradients (1e-5 to 1e-4), and rise over the first updates
(`rates`): r begins at zero, so that the first steps are some ten times too long. Singular
values are LAPACK's, whose last bits differ from processor to processor.
"""

from __future__ import annotations

import numpy as np

from rbmlib._kernels import learning, threads
from rbmlib.training.cd import CompiledDivergence, Tempered
from rbmlib.training.train import METHODS

RMS_DECAY = 0.99  # how much of the mean square gradient is kept at a step
RMS_FLOOR = 1e-5  # where a gradient has always been next to nothing, no step is made of noise
RANK = 1e-7  # singular values below this share of the largest get no step: their sides are noise


def rates(first: float, last: float, n_updates: int, warm_up: int) -> np.ndarray:
    """Rates from the first to the last, times one that rises from zero in so many updates."""
    rising = np.minimum(1, np.arange(1, n_updates + 1) / max(1, warm_up))
    return np.linspace(first, last, n_updates) * rising


def step(learner, rate: float, gradients) -> None:
    """A step of RMSspectral; the averages are the mean squares of the gradients."""
    kept = np.float32(RMS_DECAY)
    for parameter, square, gradient in zip(
        learner.parameters, learner.averages, gradients, strict=True
    ):
        square *= kept
        square += (1 - kept) * gradient**2
        scale = np.sqrt(RMS_FLOOR + np.sqrt(square))
        with threads.blas_threads(1):  # the same bits on any number of threads
            parameter += (rate * sharp(gradient / scale) / scale).astype(np.float32)


class Spectral(CompiledDivergence):
    step = step

    def update(self, rate: float) -> None:
        phases, sweeps = self.both_phases()
        found = learning.both_phases(*phases, sweeps)
        size, n_hidden = np.float32(self.settings["batch_size"]), self.hidden_bias.size
        decay, unit = np.float32(self.settings["weight_decay"]), learning.GRID * size
        active = zip(found.rows, found.n_active, strict=True)
        products = np.stack([found.counts[rows[:n]].sum(axis=0) for rows, n in active])
        weights = products[:, :n_hidden] / unit - decay * self.weights
        self.step(rate, (weights, found.visible / size, found.hidden[:n_hidden] / unit))
        self.rounded = False


class SpectralTempered(Tempered):
    step = step


METHODS |= {"spectral": Spectral, "spectral tempered": SpectralTempered}


def sharp(x: np.ndarray) -> np.ndarray:
    """The step ``x#`` that gains most for its length: the maximum of <x, s> - |s|**2 / 2 over s.

    |s| is the largest singular value of a matrix, the largest entry of a vector. For
    ``x = U S V'``, ``x# = trace(S) U V'``, computed from the eigenvectors of the smaller of
    ``x'x`` and ``x x'``.
    """
    x = x.astype(float)
    if x.ndim == 1:
        return np.abs(x).sum() * np.sign(x)
    if x.shape[0] < x.shape[1]:
        return sharp(x.T).T
    squares, right = np.linalg.eigh(x.T @ x)
    singular = np.sqrt(np.maximum(squares, 0))
    kept = singular > RANK * singular[-1]
    right = right[:, kept]
    return singular.sum() * (x @ (right / singular[kept])) @ right.T
