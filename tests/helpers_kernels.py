"""Small models for the compiled cores, and draws that float64 code compares as they do."""

import copy

import numpy as np

from rbmlib import BernoulliRBM, GeometricPath
from rbmlib._kernels import gibbs, random
from rbmlib.numerics import ChainStream

f32 = np.float32


def build_family(n_visible, n_hidden, seed=0, spread=1.0, small=None) -> gibbs.Family:
    """A family of random parameters; ``small=False`` asks for the wide kernel at any size."""
    rng = np.random.default_rng(seed)
    weights = rng.normal(scale=spread, size=(n_visible, n_hidden))
    vectors = [rng.normal(size=n) for n in (n_hidden, n_hidden, n_visible, n_visible)]
    return gibbs.family(weights, *vectors, small=small)


def stream_at(seed, first_chain, draw) -> ChainStream:
    stream = ChainStream(None, 0, first_chain, seed=seed)
    stream.draw = draw
    return stream


def generic(path):
    """The same path without its compiled loops."""
    out = copy.copy(path)
    out._loops = None
    return out


def uniforms(seed, draw, shape=(1000, 784), first_chain=0):
    out = np.empty(shape)
    random.fill_uniforms(np.uint64(seed), first_chain, draw, out)
    return out


class Mirrored:
    """Uniforms that are compared as the kernels do: from the end at which the rarer bit lies.

    A unit of probability p is 1 if u < p for p <= 1/2, and if 1 - u <= p above.
    """

    def __init__(self, u):
        self.u = u

    def __lt__(self, p):
        return np.where(p > 0.5, 1 - self.u <= p, self.u < p)


class MirroredStream:
    def __init__(self, stream):
        self.stream = stream

    def random(self, shape):
        return Mirrored(self.stream.random(shape))


def quantised_path(n_visible, n_hidden, coupling) -> GeometricPath:
    """A path whose parameters the kernels hold exactly: float64 and fixed point agree."""
    rng = np.random.default_rng(2)
    made = build_family(n_visible, n_hidden, spread=coupling / n_visible**0.5)
    weights, slope = gibbs.quantised_weights(made)
    slope = np.round(slope * 64) / 64
    visible, hidden, base = (
        np.round(rng.normal(size=n) * 64) / 64 for n in (n_visible, n_hidden, n_hidden)
    )
    target = BernoulliRBM(weights, visible + slope, hidden, log_scale=0.5)
    return GeometricPath(target, base=BernoulliRBM(0 * weights, visible, base))
