"""The seam to the compiled loops: who has some, how near they come, what they are given.

They take lines from a base without weights to an RBM, both of Bits, and run on a fixed-point copy
of the weights: field ``beta (v W + slope) + offset``, exact integers, the same bits everywhere.
Importance steps at both ends of `anneal` put right what the copy changes.
"""

import numpy as np

from .._kernels import gibbs as kernels
from .._kernels.adaptive import Adapting
from .._kernels.float_sums import fields
from .._kernels.tempering import DRAWS, Kept, Tally, Tempering, no_draws
from ..context import bar, settings
from ..models.layers import Bits
from ..numerics import expit, softplus
from ..paths.moves import gibbs
from ..paths.polyline import Polyline
from .diagonal import DiagonalLoops, is_diagonal

COARSEST = 1 / 128  # largest unit of fixed-point weights that an importance step puts right
OWN = ("at", "log_density", "transition", "joint_transition")  # what the loops stand for
COARSEST_SLOPES, UNCORRECTED = 0.1, 0.01  # nats


def compiled(path, corrected=False):
    """The compiled loops of a path, or None; ``corrected``: of `anneal`, which mends errors."""
    if not getattr(path, "compiled", False):
        return None
    if "_loops" not in vars(path):
        path._loops = loops_of(path)
    return path._loops if path._loops and path._loops.near(corrected) else None


def loops_of(path):
    if is_diagonal(path):
        return DiagonalLoops(path)
    low, high = path.models[0], path.models[-1]
    bits = type(high.visible) is Bits and type(high.hidden) is Bits
    if any(getattr(type(path), name) is not getattr(Polyline, name) for name in OWN):
        return None  # a subclass that moves or weighs in its own way
    one_line = bits and len(path.models) == 2 and path.move is gibbs and not low.weights.any()
    return Loops(path.pieces[0]) if one_line else None


class Loops:
    """The loops of `sampling` for one line, on fixed-point weights."""

    def __init__(self, line):
        self.line, self.low, self.scale = line, line.low, line.scale
        self.family = kernels.family(line.weights, line.hidden, line.low.hidden.bias,
                                   line.visible, line.low.visible.bias)  # fmt: skip
        self.errors = self._errors()

    def _errors(self):
        """Nats by which log-densities are off, typically: weights, visible slopes, float32."""
        weights, slope = kernels.quantised_weights(self.family)
        v = np.maximum(expit(self.low.visible.bias), 0.05)
        h = np.maximum(expit(v @ self.line.weights + self.line.high.hidden.bias), 0.05)
        largest = max(kernels.largest_slopes(self.family), np.abs(self.line.visible).max())
        return (np.sqrt(v @ (weights - self.line.weights) ** 2 @ h),
                np.sqrt(v @ (slope - self.line.visible) ** 2),
                largest * np.finfo(np.float32).epsneg)  # fmt: skip

    def near(self, corrected):
        """Whether the copy comes near enough to the model; of `anneal`, once ``corrected``."""
        weights, slopes, single = self.errors
        near = self.family.scale <= COARSEST and single <= UNCORRECTED
        return near and (slopes <= COARSEST_SLOPES if corrected
                         else np.hypot(weights, slopes) <= UNCORRECTED)  # fmt: skip

    def correction(self, v, beta):
        """log p*_beta less that of the copy, of each state."""
        a, rise = self.low.hidden.bias, self.line.hidden
        ours, theirs = (
            fields(v, np.column_stack(parameters))
            for parameters in (
                (self.line.weights, self.line.visible),
                kernels.quantised_weights(self.family),
            )
        )
        hidden = softplus(a + beta * (ours[:, :-1] + rise))
        hidden -= softplus(a + beta * (theirs[:, :-1] + rise))
        return beta * (ours[:, -1] - theirs[:, -1]) + hidden.sum(axis=1)

    def anneal(self, v, betas, stream, looks=(), look=None):
        betas, v = np.array(betas, float), own_bits(v)
        entry = -self.correction(v, betas[0]) if betas[0] else 0.0
        gains, start = np.zeros(len(v)), 0
        with bar(len(betas) - 1, "annealing") as shown:
            for stop in sorted({k for k in looks if 0 < k < len(betas)} | {len(betas) - 1}):
                kernels.anneal(self.family, v, gains, betas[start : stop + 1], stream,
                             settings.get().n_threads, shown.update)  # fmt: skip
                stream.draw += 2 * (stop - start)
                start = stop
                log_weights = entry + gains + (betas[stop] - betas[0]) * self.scale
                if stop in looks:
                    look(stop, v, log_weights)
        return v, log_weights + (self.correction(v, betas[-1]) if betas[-1] else 0.0)

    def sweep(self, v, beta, n_sweeps, stream):
        v = own_bits(v)
        betas = np.broadcast_to(np.asarray(beta, float), v.shape[:1])
        with bar(n_sweeps, "sweeps") as shown:
            kernels.sweep(
                self.family, v, betas, n_sweeps, stream, settings.get().n_threads, shown.update
            )
        stream.draw += 2 * n_sweeps
        return v

    def temper(self, v, index, betas, offsets, n_sweeps, stream, sums, kept):
        v, shift = own_bits(v), self.scale
        ours = np.zeros_like(sums.mixed), np.zeros_like(sums.visited)
        tally = Tally(*ours, sums.passages, sums.last_end)
        tempering = Tempering(offsets + betas * shift, kept, tally)
        with bar(n_sweeps, "tempering") as shown:
            kernels.temper(self.family, v, index, betas, tempering, n_sweeps, stream,
                         settings.get().n_threads, shown.update)  # fmt: skip
        stream.draw += DRAWS * n_sweeps
        kept.delta[...] += shift  # the kernels know the units' part of a slope only
        for part, total in zip(ours, sums[:2], strict=True):
            part[:, 2] += shift * (2 * part[:, 1] + shift * part[:, 0])
            part[:, 1] += shift * part[:, 0]
            total += part
        return v

    def joint_transition(self, v, betas, stream):
        """A sweep of each chain at its own beta, and its slope: of `Path.joint_transition`."""
        v, slopes = own_bits(v), np.zeros((1, len(v)))
        kept = Kept(slopes, np.zeros(slopes.shape, np.int16), every=1, phase=0)
        kernels.temper(self.family, v, np.arange(len(v)), betas, no_draws(len(v), kept), 1, stream,
                     settings.get().n_threads)  # fmt: skip
        stream.draw += DRAWS - 1  # beta is the caller's to draw
        return v, slopes[0] + self.scale

    def adapt(self, v, index, betas, gains, rule, adjusted, stream):
        v = own_bits(v)
        adapting = Adapting(betas * self.scale, np.ascontiguousarray(gains), rule, adjusted)
        with bar(gains.shape[1], "adapting") as shown:
            kernels.adapt(self.family, v, index, betas, adapting, stream, settings.get().n_threads,
                        shown.update)  # fmt: skip
        stream.draw += DRAWS * gains.shape[1]
        return v


def own_bits(v):
    """A copy for the kernels, which trust its width and that it holds bits."""
    return np.array(v, dtype=np.float32, order="C")
