"""Random streams, one a chain: what every sampler of the library draws from."""

from __future__ import annotations

import numpy as np
from scipy.special import ndtri

from ._kernels import random as kernel_random
from ._validation import generator


class ChainStream:
    """Uniform random numbers of ``n_chains`` chains, each chain with a stream of its own.

    A number depends on (seed, chain, draw, unit) only, so results do not depend on the number
    of threads, chunks or workers. Quacks like a `numpy.random.Generator` as far as ``random``
    and ``standard_normal`` go. Compiled samplers read `seed`, `first_chain` and `draw`, and move
    `draw` on.
    """

    def __init__(self, rng, n_chains: int, first_chain: int = 0):
        self.seed = int(generator(rng).integers(2**64, dtype=np.uint64))
        self.n_chains = n_chains
        self.first_chain = first_chain
        self.draw = 0

    @classmethod
    def of_seed(cls, seed: int, n_chains: int, first_chain: int) -> ChainStream:
        """Further chains, from number ``first_chain`` on, of the stream with this `seed`."""
        stream = cls(0, n_chains, first_chain)
        stream.seed = int(seed)
        return stream

    def random(self, shape) -> np.ndarray:
        """Uniforms in (0, 1), shape (n_chains, n_units)."""
        out = np.empty(shape)
        kernel_random.fill_uniforms(np.uint64(self.seed), self.first_chain, self.draw, out)
        self.draw += 1
        return out

    def standard_normal(self, shape) -> np.ndarray:
        """Standard normals, shape (n_chains, n_units): one uniform each, inverted."""
        return ndtri(self.random(shape))
