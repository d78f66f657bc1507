"""Other ways than plain gradients: spectral steps, and a negative phase of tempered chains.

Spectral steps (Carlson et al. 2015): log Z is bounded from above by its tangent plus a multiple
of the squared Schatten-infinity norm (largest singular value) of the change of the weights; the
step that does best by this bound is ``rate * X#``, where ``X# = |X|_S1 U V'`` for a gradient
``X = U S V'`` with nuclear norm ``|X|_S1``. All singular directions of a step are equally long, so
the small ones learn as fast as the large. For biases the norm is the largest entry, and
``x# = |x|_1 sign(x)``. RMSspectral measures lengths after division by the root of a running
root-mean-square gradient r, entry by entry: ``d = sqrt(floor + r)``, step ``(X / d)# / d``.

With ``method="tempered"`` the second term of the gradient is a mean over chains of simulated
tempering, which a `LogZTracker` keeps from update to update: each counts with its probability of
beta = 1 (Carlson et al. 2016, section 4.4). These sums are BLAS's: last bits depend on the
processor.
"""

from __future__ import annotations

import numpy as np

from .._kernels import learning
from ..numerics import expit
from .cd import CompiledDivergence

RMS_FLOOR = 1e-5  # where a gradient has always been next to nothing, no step is made of noise
RANK = 1e-7  # singular values below this share of the largest get no step: their sides are noise


class SpectralDivergence(CompiledDivergence):
    """CD and PCD by steps of RMSspectral."""

    def update(self, rate: float) -> None:
        self.n_done += 1
        phases, sweeps = self.both_phases()
        self._step(rate, self._gradients(learning.both_phases(*phases, sweeps)))

    def _gradients(self, phases: learning.Phases) -> tuple:
        size, n_hidden = np.float32(self.settings["batch_size"]), self.hidden_bias.size
        decay = np.float32(self.settings["weight_decay"])
        return (
            learning.gradient(phases, n_hidden) / (learning.GRID * size) - decay * self.weights,
            phases.visible / size,
            phases.hidden[:n_hidden] / (learning.GRID * size),
        )

    def _step(self, rate: float, gradients) -> None:
        kept = np.float32(self.settings["rms_decay"])
        for parameter, square, gradient in zip(
            self.parameters, self.averages, gradients, strict=True
        ):
            square *= kept
            square += (1 - kept) * gradient**2
            scale = np.sqrt(RMS_FLOOR + np.sqrt(square))
            parameter += (rate * sharp(gradient / scale) / scale).astype(np.float32)


class Tempered(SpectralDivergence):
    """The negative phase from the chains of a tracker, by either kind of step."""

    def __init__(self, start, data, settings, rng, tracker):
        super().__init__(start, data, settings, rng)
        self.tracker = tracker
        tracker.update(self.rbm())

    def update(self, rate: float) -> None:
        self.n_done += 1
        batch = self.next_batch()
        means = expit(batch @ self.weights + self.hidden_bias)
        size = np.float32(len(batch))
        positive = batch.T @ means / size, batch.mean(axis=0), means.mean(axis=0)
        negative = self.tracker.negative_phase()
        gradients = [p - n for p, n in zip(positive, negative, strict=True)]
        gradients[0] -= np.float32(self.settings["weight_decay"]) * self.weights
        step = self._step if self.settings["optimizer"] == "spectral" else self.momentum_step
        step(rate, gradients)
        self.tracker.update(self.rbm())


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
