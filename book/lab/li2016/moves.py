"""Moves of leaky RBMs, ``move(model, v, rng)``, and a compiled loop of annealing by two of them.

`blockwise` makes the published move exact where the weights are diagonal, so that every direction
u_j moves on its own. Given h, the joint density of v is proportional to ``N(v; b + W h, I) prod_j
g(h_j; a_j(v))``, ``g(h; a) = exp(-h^2 / 2 a) / sqrt(a)``. So v'_j from the Gaussian is accepted
with probability ``min(1, g(h_j; a_j(v')) / g(h_j; a_j(v)))``.

The random numbers of the loop are those of `ChainStream`: of a step the normals of h, the normals
of the proposal and, for the exact kernel, the uniforms that decide on it. Sixteen chains go at a
time (`simd`), one a lane. Positions and slopes are float32, log-weights are summed in float64.
Importing this file enters the loop for both paths of leaky models.
"""

import numba
import numpy as np

from rbmlib import EnergyPath, LeakinessPath
from rbmlib._kernels import gibbs, threads
from rbmlib._kernels.random import bits31_lanes, draw_key, high, low
from rbmlib._kernels.simd import (
    LANES,
    _call,
    _function,
    bits_of,
    exchanged,
    floats,
    fma,
    inline,
    load,
    spread,
    store,
    to_floats,
    where,
)  # fmt: skip
from rbmlib.checks import one_of
from rbmlib.models.normal import has_orthogonal_columns
from rbmlib.paths import moves
from rbmlib.paths.moves import TINY
from rbmlib.sampling.compiled import LOOPS, Annealing

f32 = np.float32
u32 = np.uint32


def blockwise(model, v, rng):
    x = model.field(v)
    h = model.hidden.draw(x, rng)
    new = model.visible.draw(model.visible_field(h), rng)
    # of g(h; below) to g(h; above), which are one where the slopes are 0
    above, below = (np.maximum(s, TINY) for s in (model.hidden.above, model.hidden.below))
    log_ratio = h**2 * ((1 / above - 1 / below) / 2) - np.log(below / above) / 2
    turned = (model.field(new) <= 0).astype(float) - (x <= 0)
    return np.where(np.log(rng.random(v.shape)) < turned * log_ratio, new, v)


MOVES = {"gibbs": moves.gibbs, "blockwise": blockwise, "hmc": moves.leaky_hmc}


def move_of(name: str, rbm):
    """The move of that name, for this leaky RBM."""
    one_of("kernel", name, MOVES)
    if name == "blockwise" and not has_orthogonal_columns(rbm.weights):
        raise ValueError("kernel is 'blockwise': expected weights with orthogonal columns")
    return MOVES[name]


@_function(floats, floats)
def sqrt(builder, x):
    """Rounded as IEEE prescribes."""
    return _call(builder, "llvm.sqrt.v16f32", x)


@inline
def log_lanes(x):
    """log(x) of normal x > 0, error below 1e-7 (1 + |log x|): Cephes' logf.

    x = 2**e m with m in [sqrt(1/2), sqrt(2)), found by moving the bits of sqrt(1/2) to those of 1.
    """
    bits = exchanged(x) + u32(0x3F800000 - 0x3F3504F3)
    exponent = bits >> u32(23)
    m = exchanged((bits - (exponent << u32(23))) + u32(0x3F3504F3))
    f = m - f32(1.0)
    p = fma(f, f32(7.0376836292e-2), f32(-1.1514610310e-1))
    p = fma(p, f, f32(1.1676998740e-1))
    p = fma(p, f, f32(-1.2420140846e-1))
    p = fma(p, f, f32(1.4249322787e-1))
    p = fma(p, f, f32(-1.6668057665e-1))
    p = fma(p, f, f32(2.0000714765e-1))
    p = fma(p, f, f32(-2.4999993993e-1))
    p = fma(p, f, f32(3.3333331174e-1))
    square = f * f
    rest = fma(square, f32(-0.5), p * (square * f))
    return fma(to_floats(exponent) - f32(127.0), f32(0.6931471805599453), f + rest)


@inline
def normal_lanes(r):
    """The standard normal quantile of (r + 1/2) / 2**31, error below 3e-6 to |z| = 5, 2e-3 beyond.

    Giles (2010), erfinv in single precision, of the lesser of p and 1 - p: its digits are all
    there in the integer.
    """
    upper = r >> u32(30)
    folded = r ^ (upper * u32(0x7FFFFFFF))
    p = fma(to_floats(folded), f32(2.0**-31), f32(2.0**-32))
    q = fma(p, f32(-1.0), f32(1.0))
    w = log_lanes(f32(4.0) * p * q) * f32(-1.0)
    x = w - f32(2.5)
    z = fma(x, f32(2.81022636e-08), f32(3.43273939e-07))
    z = fma(z, x, f32(-3.5233877e-06))
    z = fma(z, x, f32(-4.39150654e-06))
    z = fma(z, x, f32(2.1858087e-04))
    z = fma(z, x, f32(-1.25372503e-03))
    z = fma(z, x, f32(-4.17768164e-03))
    z = fma(z, x, f32(2.46640727e-01))
    z = fma(z, x, f32(1.50140941))
    far = w > f32(5.0)
    if bits_of(far) != 0:
        x = sqrt(where(far, w, f32(9.0))) - f32(3.0)
        y = fma(x, f32(-2.00214257e-04), f32(1.00950558e-04))
        y = fma(y, x, f32(1.34934322e-03))
        y = fma(y, x, f32(-3.67342844e-03))
        y = fma(y, x, f32(5.73950773e-03))
        y = fma(y, x, f32(-7.6224613e-03))
        y = fma(y, x, f32(9.43887047e-03))
        y = fma(y, x, f32(1.00167406))
        y = fma(y, x, f32(2.83297682))
        z = where(far, y, z)
    sign = fma(to_floats(upper), f32(2.0), f32(-1.0))
    return z * sign * fma(p, f32(-2.0), f32(1.0)) * f32(1.4142135623730951)


@inline
def _set_keys(seed, first_chain, draw, keys):
    """Keys of sixteen chains, as `bits31_lanes` takes them."""
    for i in range(LANES):
        key = draw_key(seed, first_chain + i, draw)
        k0 = high(key)
        keys[i], keys[LANES + i] = u32(k0 ^ u32(k0 >> u32(16))), low(key)


@inline
def _bits(unit, keys):
    x = u32(u32(unit) * u32(0x9E3779B9))
    x = spread(u32(x ^ u32(x >> u32(16))))
    return bits31_lanes(x, load(keys, 0), load(keys, LANES))


@numba.njit(nogil=True, error_model="numpy")  # not cached: it calls kernels of other files
def anneal_diagonal(u, gains, model, points, slopes, exact, run):
    """Steps of AIS in place: each weighs by the slope, then moves at the next point.

    ``model``: (3, n) scales, hidden and visible biases. ``points``: (n_steps, 3) increments of
    beta, and leakiness and scale of the fields after them. ``slopes``: factors of eta^2 / 2
    in the slope where eta <= 0 and where eta > 0, of fields that are not scaled.
    """
    draws = 3 if exact else 2
    n_units = u.shape[1]
    x = np.zeros((n_units, LANES), np.float32)
    keys = np.zeros((3, 2 * LANES), np.uint32)
    of_h, of_v, of_a = keys[0], keys[1], keys[2]
    slope, one, zero = np.zeros(LANES, np.float32), f32(1.0), f32(0.0)
    down, above = f32(slopes[0]), f32(slopes[1])
    for first in range(0, u.shape[0], LANES):
        n_here = min(LANES, u.shape[0] - first)
        for i in range(n_here):
            for j in range(n_units):
                x[j, i] = u[first + i, j]
        for k in range(run.start, run.stop):
            step, c, t = points[k, 0], f32(points[k, 1]), f32(points[k, 2])
            draw = run.first_draw + draws * k
            _set_keys(run.seed, run.first_chain + first, draw, of_h)
            _set_keys(run.seed, run.first_chain + first, draw + 1, of_v)
            if exact:
                _set_keys(run.seed, run.first_chain + first, draw + 2, of_a)
            root, factor = f32(np.sqrt(points[k, 1])), f32((1 - 1 / points[k, 1]) / 2)
            constant = f32(-np.log(points[k, 1]) / 2)
            total = spread(zero)
            for j in range(n_units):
                s, a, b = f32(model[0, j]), f32(model[1, j]), f32(model[2, j])
                old = load(x, j * LANES)
                eta = fma(old, s, spread(a))
                up = eta > zero
                total = fma(eta * eta, where(up, spread(above), spread(down)), total)
                spread_h = where(up, spread(one), spread(root))
                mean = eta * where(up, spread(t), spread(c * t))
                h = fma(spread_h, normal_lanes(_bits(j, of_h)), mean)
                new = fma(h, t * s, normal_lanes(_bits(j, of_v)) + b)
                if exact:  # log g(h; c) - log g(h; 1), less where up, more where not
                    gain = fma(h * h, factor, constant) * where(up, spread(one), spread(-one))
                    log_u = log_lanes(fma(to_floats(_bits(j, of_a)), f32(2.0**-31), f32(2.0**-32)))
                    turned = (fma(new, s, spread(a)) > zero) != up
                    new = where(turned, where(log_u < gain, new, old), new)
                store(x, j * LANES, new)
            store(slope, 0, total)
            for i in range(n_here):
                gains[first + i] += step * np.float64(slope[i]) / 2
        for i in range(n_here):
            for j in range(n_units):
                u[first + i, j] = x[j, i]


class DiagonalLoops(Annealing):
    """Of a leaky model with orthogonal columns: directions move on their own."""

    def __init__(self, path):
        model, self.exact = path.models[1], path.move is blockwise
        self.low, self.high = low, high = [end.hidden for end in path.models]
        self.parameters = np.stack([np.diag(model.weights), model.hidden_bias, model.visible_bias])
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

    def steps(self, v, gains, betas, stream, n_threads, on_progress, looks):
        points, parts = self.points(betas), threads.chunks(len(v), threads.CHUNK)

        def loop(part, run):
            anneal_diagonal(
                v[part], gains[part], self.parameters, points, self.slopes, self.exact, run
            )

        gibbs.in_parts(loop, parts, len(points), stream, n_threads, on_progress)
        stream.draw += (2 + self.exact) * len(points)


def diagonal_loops(path):
    known = path.move in (moves.gibbs, blockwise) and path.models[1].hidden.above
    return DiagonalLoops(path) if known and has_orthogonal_columns(path.models[1].weights) else None


LOOPS |= {LeakinessPath: diagonal_loops, EnergyPath: diagonal_loops}
