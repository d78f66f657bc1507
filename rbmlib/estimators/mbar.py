"""The multistate Bennett acceptance ratio (Shirts & Chodera 2008; Carlson et al. 2016, eq. 18).

With N_k samples at beta_k and one slope Delta a sample, log Z solves for all k

    sum_n W_k(Delta_n) = N_k,    W_k(Delta) = N_k exp(beta_k Delta) / Z_k
                                              / sum_l N_l exp(beta_l Delta) / Z_l:

the minimum of a convex function of ``a_k = log N_k - log Z_k``, found by Newton's method. Sums over
samples are taken on a grid of Delta (`_kernels.multistate`).
"""

import numpy as np
from scipy.linalg import LinAlgError, cho_factor, cho_solve

from .._kernels import multistate
from ..results import Check, of_chains
from . import estimator
from .bar import in_blocks
from .rts import tempered

MAX_NEWTON, STEP = 100, 1e-10


@estimator
def mbar(path, betas, n_chains=100, n_sweeps=2000, rng=None):
    """Estimate log Z by MBAR on states of simulated tempering, started as `rts` starts."""
    sample = tempered(path, betas, n_chains, n_sweeps, rng, conditional="joint", n_blocks=10)
    return mbar_of_sample(sample, skip=len(sample.delta) // 10)


def mbar_of_sample(sample, skip=0):
    delta, index = sample.delta[skip:], sample.index[skip:].astype(int)
    counts = np.bincount(index.ravel(), minlength=sample.betas.size).astype(float)
    problem = Problem(delta.ravel(), counts, sample.betas)
    a, solved = problem.solve()
    log_z = problem.log_counts - a
    influences = problem.influences(a, index.ravel()).reshape(delta.shape)
    return of_chains(
        "mbar",
        sample,
        log_z - log_z[0] + sample.log_z_base,
        in_blocks(influences, sample.n_ladders),
        [Check("solved", solved)],
        trace={"counts": counts},
    )


class Problem:
    """Samples, counts and betas. Betas without samples are in no denominator."""

    def __init__(self, delta, counts, betas):
        self.delta, self.counts, self.betas = delta, counts, betas
        self.grid = multistate.grid(delta, betas[-1] - betas[0])
        self.member = counts > 0
        self.log_counts = np.log(np.where(self.member, counts, 1))

    def moments(self, a, second=True, states=slice(None)):
        """The convex function's sum, ``sum_n W_k`` and ``sum_n W_k W_l``."""
        return multistate.moments(
            self.grid.nodes, self.grid.weights, self.betas[states], a, self.member[states], second
        )

    def start(self):
        """log Z by the trapezoidal rule, as if samples lay evenly ordered in beta."""
        order = np.sort(self.delta)
        place = (np.cumsum(self.counts) - 0.5 * self.counts) / self.counts.sum()
        means = order[np.minimum((place * order.size).astype(int), order.size - 1)]
        log_z = np.cumsum(np.r_[0.0, np.diff(self.betas) * (means[1:] + means[:-1]) / 2])
        return self.log_counts - log_z

    def solve(self):
        """Newton's method, steps halved until they descend; the first entry is fixed."""
        full, used, solved = self.start(), self.member, False
        a, wanted = full[used], self.counts[used]
        value, first, products = self.moments(a, states=used)
        for _ in range(MAX_NEWTON):
            step, before, size = newton_step(first, products, wanted), value - wanted @ a, 1.0
            while True:
                trial = a + size * step
                value, first, products = self.moments(trial, states=used)
                if value - wanted @ trial <= before + 1e-12 * abs(before) or size < 1e-6:
                    break
                size /= 2
            a = trial
            if solved := bool(size == 1 and np.abs(step).max() < STEP):
                break
        full[used] = a
        if not used.all():
            log_z = (self.log_counts - full)[used]
            full[~used] = -np.interp(self.betas[~used], self.betas[used], log_z)
            full[~used] -= np.log(self.moments(full, second=False)[1][~used])
        return full, solved

    def influences(self, a, temperature):
        """How much each sample moves log Z_K - log Z_1, to first order; they sum to 0."""
        used, n_k = self.member, np.exp(self.log_counts)
        products = self.moments(a)[2]
        q = (products[-1] / n_k[-1] - products[0] / n_k[0])[used]
        hessian = (np.diag(self.counts) - products)[np.ix_(used, used)]
        pull = np.zeros(self.betas.size)
        pull[np.flatnonzero(used)[1:]] = np.linalg.lstsq(hessian[1:, 1:], q[1:], rcond=None)[0]
        ends = pull.copy()
        ends[-1] += 1 / n_k[-1]
        ends[0] -= 1 / n_k[0]
        nodes = multistate.combination(self.grid.nodes, self.betas, a, used, ends)
        return multistate.interpolate(nodes, self.grid) - pull[temperature]


def newton_step(first, products, wanted):
    """-H**-1 gradient with the first entry fixed; self-consistent where H is singular."""
    try:
        factor = cho_factor((np.diag(first) - products)[1:, 1:])
        return np.r_[0.0, -cho_solve(factor, (first - wanted)[1:])]
    except LinAlgError:
        step = np.log(wanted) - np.log(np.maximum(first, 1e-300))
        return np.clip(step - step[0], -10, 10)
