"""The seam to the compiled loops: who has some, how near they come, what they are given."""

from collections.abc import Callable

import numpy as np
from scipy.sparse import csr_array

from .._kernels import gibbs as kernels
from .._kernels.adaptive import Adapting
from .._kernels.tempering import DRAWS, Tally, Tempering
from ..context import bar, settings
from ..models.layers import Binary, Spin
from ..numerics import by_rows, expit, softplus
from ..paths.moves import gibbs
from ..paths.named import GeometricPath
from ..paths.path import Path
from ..paths.polyline import Piece, Polyline

COARSEST = 1 / 128  # largest unit of fixed-point weights that an importance step puts right
COARSEST_SLOPES, UNCORRECTED = 0.1, 0.01  # nats


def compiled(path, corrected=False):
    """Compiled loops that do what the path's methods say, or None.

    ``corrected``: of `anneal`, whose importance steps mend small errors.
    """
    if "_loops" not in vars(path):
        make = LOOPS.get(type(path))
        path._loops = make(path) if make else None
    return path._loops if path._loops and path._loops.near(corrected) else None


class Loops:
    """The loops of one line from a base without weights to an RBM, both of Binary.

    They run on a fixed-point copy of the weights: field ``beta (v W + slope) + offset``, exact
    integers, the same bits everywhere. Importance steps at both ends of `anneal` put right what
    the copy changes.
    """

    def __init__(self, line):
        self.line, self.low, self.scale = line, line.low, line.scale
        of_hidden, of_visible = line.low.hidden.bias, line.low.visible.bias
        self.family = kernels.family(line.weights, line.hidden, of_hidden, line.visible, of_visible)
        self.errors = self._errors()

    def _errors(self):
        """Nats by which log-densities are off, typically: weights, visible slopes, float32."""
        weights, slope = kernels.quantised_weights(self.family)
        v = np.maximum(expit(self.low.visible.bias), 0.05)
        h = np.maximum(expit(v @ self.line.weights + self.line.high.hidden.bias), 0.05)
        largest = max(self.family.largest, np.abs(self.line.visible).max())
        of_weights = np.sqrt(v @ (weights - self.line.weights) ** 2 @ h)
        of_slopes = np.sqrt(v @ (slope - self.line.visible) ** 2)
        return of_weights, of_slopes, largest * np.finfo(np.float32).epsneg

    def near(self, corrected):
        """Whether the copy comes near enough to the model; of `anneal`, once ``corrected``."""
        weights, slopes, single = self.errors
        if self.family.fixed.scale > COARSEST or single > UNCORRECTED:
            return False
        return slopes <= COARSEST_SLOPES if corrected else np.hypot(weights, slopes) <= UNCORRECTED

    def own(self, v):
        """A copy for the kernels, which trust what it holds."""
        return np.array(v, np.float32, order="C")

    def given(self, v):
        """What the caller takes for these states."""
        return v

    def anneal(self, v, betas, stream, looks=(), look=None, of_states=True):
        betas, v, start = np.array(betas, float), self.own(v), 0
        entry, gains = -self.correction(v, betas[0]), np.zeros(len(v))
        looks = sorted(k for k in looks if 0 < k < len(betas))
        stops, kept = (looks, []) if of_states else ([], looks)
        with bar(len(betas) - 1, "annealing") as shown:
            for stop in sorted({*stops, len(betas) - 1}):
                how, way = (settings.get().n_threads, shown.update), betas[start : stop + 1]
                rows = kernels.anneal(self.family, v, gains, way, stream, *how, kept)
                stream.draw += 2 * (stop - start)
                log_weights, start = entry + gains + (betas[stop] - betas[0]) * self.scale, stop
                if stop in stops:
                    seen = self.given(v).view()
                    seen.flags.writeable = False  # it moves on
                    look(stop, seen, log_weights)
        for k, row in zip(kept, rows, strict=True):
            look(k, None, entry + row + (betas[k] - betas[0]) * self.scale)
        return self.given(v), log_weights + self.correction(v, betas[-1])

    def correction(self, v, beta):
        """log p*_beta less that of what the steps anneal, of each state."""
        if not beta:
            return 0.0
        a, rise = self.low.hidden.bias, self.line.hidden
        copy = kernels.quantised_weights(self.family)
        both = np.column_stack([self.line.weights, self.line.visible]), np.column_stack(copy)

        def of_states(v):
            # over active units in order: BLAS may round a row in other ways among other rows, and
            # chains that are added to a run are to have the digits of one larger run
            active = csr_array(v)
            ours, theirs = (active @ parameters for parameters in both)
            hidden = softplus(a + beta * (ours[:, :-1] + rise))
            hidden -= softplus(a + beta * (theirs[:, :-1] + rise))
            return beta * (ours[:, -1] - theirs[:, -1]) + hidden.sum(axis=1)

        return by_rows(of_states, v, sum(self.line.weights.shape))

    def _run(self, kernel, name, n_sweeps, draws, stream, v, *given):
        with bar(n_sweeps, name) as shown:
            how = settings.get().n_threads, shown.update
            kernel(self.family, v, *given, n_sweeps, stream, *how)
        stream.draw += draws * n_sweeps
        return self.given(v)

    def sweep(self, v, beta, n_sweeps, stream):
        v = self.own(v)
        betas = np.broadcast_to(np.asarray(beta, float), v.shape[:1])
        return self._run(kernels.sweep, "sweeps", n_sweeps, 2, stream, v, betas, np.empty(0))

    def joint_transition(self, v, betas, stream):
        """A sweep of each chain at its own beta, and its slope: of `Path.joint_transition`."""
        v, slopes = self.own(v), np.empty(len(v))
        kernels.sweep(self.family, v, betas, slopes, 1, stream, settings.get().n_threads)
        stream.draw += DRAWS - 1  # beta is the caller's to draw
        return self.given(v), slopes + self.scale

    def temper(self, v, index, betas, offsets, n_sweeps, stream, tally, kept):
        shift = self.scale
        ours = np.zeros_like(tally.mixed), np.zeros_like(tally.visited)
        own = Tally(*ours, tally.passages, tally.last_end)
        given = index, betas, Tempering(offsets + betas * shift, kept, own)
        v = self._run(kernels.temper, "tempering", n_sweeps, DRAWS, stream, self.own(v), *given)
        kept.delta[...] += shift  # the kernels know the units' part of a slope only
        for part, total in zip(ours, tally[:2], strict=True):
            part[:, 2] += shift * (2 * part[:, 1] + shift * part[:, 0])
            part[:, 1] += shift * part[:, 0]
            total += part
        return v

    def adapt(self, v, index, betas, gains, rule, adjusted, stream):
        gains = np.ascontiguousarray(gains)
        given = index, betas, Adapting(betas * self.scale, gains, rule, adjusted)
        n_sweeps = gains.shape[1]
        return self._run(kernels.adapt, "adapting", n_sweeps, DRAWS, stream, self.own(v), *given)


class SpinLoops(Loops):
    """Of visible spins, s = 2 v - 1, which are bits inside; hidden ones are seen by nobody."""

    def own(self, v):
        return (super().own(v) + 1) / 2

    def given(self, v):
        return 2 * v - 1


def loops_of_line(path):
    """Of a straight line between layers of two values, moved along by Gibbs sampling."""
    kinds = type(path.rbm.visible), type(path.rbm.hidden)
    one_line = len(path.models) == 2 and path.move is gibbs and not path.models[0].weights.any()
    if not one_line or not {*kinds} <= {Binary, Spin}:
        return None
    line = Piece(*(model.to_bits() for model in path.models))
    return SpinLoops(line) if kinds[0] is Spin else Loops(line)


# by exact class: a subclass runs in NumPy unless it enters loops of its own
LOOPS: dict[type[Path], Callable] = {GeometricPath: loops_of_line, Polyline: loops_of_line}
