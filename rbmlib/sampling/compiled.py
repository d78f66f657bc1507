"""Compiled loops: which paths have them, how accurate they are, and how to call them."""

from collections.abc import Callable

import numpy as np
from scipy.sparse import csr_array

from .._kernels import gibbs as kernels
from .._kernels.tempering import DRAWS, Tally
from ..context import bar, settings
from ..models.layers import Binary, Spin
from ..models.rbm import RBM
from ..numerics import by_rows, expit, softplus
from ..paths.named import GeometricPath
from ..paths.path import Path
from ..paths.polyline import Piece, Polyline

COARSEST = 1 / 128  # largest unit of fixed-point weights that an importance step can correct
COARSEST_SLOPES, UNCORRECTED = 0.1, 0.01  # nats


def compiled(path, corrected=False):
    """Return compiled loops that are equivalent to the methods of the path, or None.

    ``corrected`` is for `anneal`, whose importance steps correct small errors.
    """
    if "_loops" not in vars(path):
        make = LOOPS.get(type(path))
        path._loops = make(path) if make else None
    return path._loops if path._loops and path._loops.near(corrected) else None


class Loops:
    """Loops of a straight line from a base without weights to an RBM, both with Binary units.

    They use a fixed-point copy of the weights. Fields ``beta (v W + slope) + offset`` are exact
    integers, so all processors give the same bits. Importance steps at both ends of `anneal`
    correct the error of the copy.
    """

    def __init__(self, line):
        self.line, self.low, self.scale = line, line.low, line.scale
        of_hidden, of_visible = line.low.hidden.bias, line.low.visible.bias
        self.family = kernels.family(line.weights, line.hidden, of_hidden, line.visible, of_visible)
        self.errors = self._errors()

    def _errors(self):
        """Return typical errors (nats) of log-densities: weights, visible slopes, float32."""
        weights, slope = kernels.quantised_weights(self.family)
        v = np.maximum(expit(self.low.visible.bias), 0.05)
        h = np.maximum(expit(v @ self.line.weights + self.line.high.hidden.bias), 0.05)
        largest = max(self.family.largest, np.abs(self.line.visible).max())
        of_weights = np.sqrt(v @ (weights - self.line.weights) ** 2 @ h)
        of_slopes = np.sqrt(v @ (slope - self.line.visible) ** 2)
        return of_weights, of_slopes, largest * np.finfo(np.float32).epsneg

    def near(self, corrected):
        """Return whether the copy is accurate enough, for `anneal` after its correction."""
        weights, slopes, single = self.errors
        if self.family.fixed.scale > COARSEST or single > UNCORRECTED:
            return False
        return slopes <= COARSEST_SLOPES if corrected else np.hypot(weights, slopes) <= UNCORRECTED

    def own(self, v):
        """Return a copy of states for the kernels, which do not check it."""
        return np.array(v, np.float32, order="C")

    def given(self, v):
        """Return these states in the units of the model."""
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
                    seen.flags.writeable = False  # later steps change it
                    look(stop, seen, log_weights)
        for k, row in zip(kept, rows, strict=True):
            look(k, None, entry + row + (betas[k] - betas[0]) * self.scale)
        return self.given(v), log_weights + self.correction(v, betas[-1])

    def correction(self, v, beta):
        """Return log p*_beta of each state minus that of the model that the steps anneal."""
        if not beta:
            return 0.0
        a, rise = self.low.hidden.bias, self.line.hidden
        copy = kernels.quantised_weights(self.family)
        both = np.column_stack([self.line.weights, self.line.visible]), np.column_stack(copy)

        def of_states(v):
            # sparse: a BLAS product may round a row differently if the number of rows changes, so
            # chains that are added to a run later would not have the same bits
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
        """As `Path.joint_transition`: a sweep of each chain at its own beta, and its slope."""
        v, slopes = self.own(v), np.empty(len(v))
        kernels.sweep(self.family, v, betas, slopes, 1, stream, settings.get().n_threads)
        stream.draw += DRAWS - 1  # the caller draws beta
        return self.given(v), slopes + self.scale

    def temper(self, v, index, betas, offsets, n_sweeps, stream, tally, kept):
        shift = self.scale
        ours = np.zeros_like(tally.mixed), np.zeros_like(tally.visited)
        own = Tally(*ours, tally.passages, tally.last_end)
        given = index, betas, (offsets + betas * shift, kept, own)
        v = self._run(kernels.temper, "tempering", n_sweeps, DRAWS, stream, self.own(v), *given)
        kept.delta[...] += shift  # kernels compute the slope of the units only
        for part, total in zip(ours, tally[:2], strict=True):
            part[:, 2] += shift * (2 * part[:, 1] + shift * part[:, 0])
            part[:, 1] += shift * part[:, 0]
            total += part
        return v

    def adapt(self, v, index, betas, gains, rule, adjusted, stream):
        gains = np.ascontiguousarray(gains)
        given = index, betas, (betas * self.scale, gains, rule, adjusted)
        n_sweeps = gains.shape[1]
        return self._run(kernels.adapt, "adapting", n_sweeps, DRAWS, stream, self.own(v), *given)


class SpinLoops(Loops):
    """Loops for visible spins, s = 2 v - 1, which the kernels store as bits."""

    def own(self, v):
        return (super().own(v) + 1) / 2

    def given(self, v):
        return 2 * v - 1


def loops_of_line(path):
    """Return loops of a straight line with two-valued units and Gibbs sampling, or None."""
    kinds = type(path.rbm.visible), type(path.rbm.hidden)
    one_line = len(path.models) == 2 and path.move is RBM.gibbs and not path.models[0].weights.any()
    if not one_line or not {*kinds} <= {Binary, Spin}:
        return None
    line = Piece(*(model.to_bits() for model in path.models))
    return SpinLoops(line) if kinds[0] is Spin else Loops(line)


# by exact class: a subclass runs in NumPy unless it registers its own loops
LOOPS: dict[type[Path], Callable] = {GeometricPath: loops_of_line, Polyline: loops_of_line}
