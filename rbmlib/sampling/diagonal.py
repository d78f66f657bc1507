"""The compiled annealing of leaky models with orthogonal columns: directions move on their own."""

import numpy as np

from .._kernels import leaky as kernels
from .._kernels import threads
from ..context import bar, settings
from ..models.normal import has_orthogonal_columns
from ..paths import LeakinessPath
from ..paths.moves import blockwise, gibbs


def is_diagonal(path):
    """Whether `DiagonalLoops` has the path's transitions."""
    if not isinstance(path, LeakinessPath) or path.move not in (gibbs, blockwise):
        return False
    low, high = path.slopes
    known = low.above == high.above or low.above == low.below == 0
    return bool(known and has_orthogonal_columns(path.models[1].weights))


class DiagonalLoops:
    """Of `anneal` alone; positions are float32, log-weights are summed in float64."""

    def __init__(self, path):
        model, (low, high) = path.models[1], path.slopes
        self.parameters = np.stack([np.diag(model.weights), model.hidden_bias, model.visible_bias])
        self.low, self.high, self.exact = low, high, path.move is blockwise
        self.slopes = float(high.below - low.below), float(high.above - low.above)

    def near(self, corrected):
        return corrected

    def points(self, betas):
        """Steps of beta; the leakiness, and the scale of the fields, after each."""
        low, high = self.low, self.high
        if low.above == high.above:
            leakiness = (low.below + betas[1:] * (high.below - low.below)) / high.above
            scale = np.sqrt(high.above)
        else:
            leakiness = high.below / high.above
            scale = np.sqrt(np.maximum(betas[1:], 0) * high.above)
        return np.column_stack(np.broadcast_arrays(np.diff(betas), leakiness, scale))

    def anneal(self, v, betas, stream, looks=(), look=None):
        betas, v = np.asarray(betas, float), np.array(v, float)
        points, gains, start, draws = self.points(betas), np.zeros(len(v)), 0, 2 + self.exact
        chunks, n_threads = threads.chunks(len(v), threads.CHUNK), settings.get().n_threads
        with bar(len(betas) - 1, "annealing") as shown:
            for stop in sorted({k for k in looks if 0 < k < len(betas)} | {len(betas) - 1}):

                def run(chunk, first, last, start=start):
                    rows, draw = chunks[chunk], stream.draw + draws * first
                    kernels.anneal_diagonal(
                        v[rows],
                        gains[rows],
                        self.parameters,
                        points[start + first : start + last],
                        self.slopes,
                        self.exact,
                        np.uint64(stream.seed),
                        stream.first_chain + rows.start,
                        draw,
                    )

                threads.run_blocks(run, len(chunks), stop - start, n_threads, shown.update)
                stream.draw += draws * (stop - start)
                start = stop
                if stop in looks:
                    look(stop, v.copy(), gains)
        return v, gains
