"""A geometric path whose log-density at every beta is quick, to draw beta given v alone.

With h summed out, ``log p*_k(v)`` takes a sum over hidden units at each of K betas. On an even
ladder ``exp(-beta_k |x|)`` is a power of ``exp(-|x| / (K - 1))``, so that all betas of a unit cost
one exponential, and their softplus one logarithm for all units.
"""

from __future__ import annotations

import numba
import numpy as np

import rbmlib as rl
from rbmlib.sampling.compiled import compiled


class GivenVisible(rl.Polyline):
    """As the geometric path that it is made of, for `rbmlib.simulated_tempering` given v.

    Its base has no hidden biases, betas are even, and there are at most 900 hidden units: 2^900
    times a field is still a number.

    Examples
    --------
    >>> path = rl.GeometricPath(rl.testsystems.random_rbm(8, 4, coupling=3.0, rng=0))
    >>> v, betas = path.sample_base(2, np.random.default_rng(0)), rl.schedules.linear(9)
    >>> off = GivenVisible(path).log_density(v, betas) - path.log_density(v, betas)
    >>> bool(np.abs(off).max() < 1e-12)
    True
    """

    def __init__(self, path: rl.GeometricPath):
        super().__init__(path.models)
        self._given, self._last = path, (None, None, None)

    def transition(self, v, beta, rng):
        loops = compiled(self._given)
        return (loops or self._given).joint_transition(v, beta, rng)[0]

    def log_density(self, v, beta):
        return self._at(v, beta)[0] if np.ndim(beta) else super().log_density(v, beta)

    def log_density_slope(self, v, beta):
        return self._at(v, beta)[1] if np.ndim(beta) else super().log_density_slope(v, beta)

    def _at(self, v, betas):
        """Log-densities and slopes of states at all betas, (n_chains, K); kept for the same v."""
        if self._last[0] is not v:
            piece, states = self.pieces[0], v.astype(float)
            x = states @ piece.weights + piece.hidden
            logs, slopes = _of_fields(np.ascontiguousarray(x.T), len(betas))
            rise = (states @ piece.visible + piece.scale)[:, None]
            own = piece.low.visible.own(states) + piece.low.log_scale
            self._last = v, own[:, None] + rise * betas + logs, rise + slopes
        return self._last[1:]


@numba.njit(cache=True)
def _of_fields(x, n_betas):
    """Sums over hidden units of softplus(beta x), and slopes; x (n_hidden, n_chains)."""
    n_hidden, n = x.shape
    product, below = np.ones((n_betas, n)), np.zeros((n_betas, n))
    above = np.zeros(n)
    for j in range(n_hidden):
        size = np.abs(x[j])
        above += np.maximum(x[j], 0.0)
        step, power = np.exp(-size / (n_betas - 1)), np.ones(n)
        for k in range(n_betas):
            for i in range(n):  # of chains, so that they share instructions
                more = 1.0 + power[i]
                below[k, i] = below[k, i] * more + size[i] * power[i] * product[k, i]
                product[k, i] *= more
                power[i] *= step[i]
    betas = np.arange(n_betas) / (n_betas - 1)
    logs = np.outer(betas, above) + np.log(product)
    return logs.T, (above - below / product).T
