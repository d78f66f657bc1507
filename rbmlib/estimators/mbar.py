"""The multistate Bennett acceptance ratio (Shirts & Chodera 2008; Carlson et al. 2016, eq. 18).

On a geometric path, MBAR needs one number per sample, the slope Delta of its joint log-density:
``log p*_beta(v, h) = log p*_0(v, h) + beta Delta``. With N_k samples at beta_k, MBAR solves

    sum_n W_k(Delta_n) = N_k,    W_k(Delta) = N_k exp(beta_k Delta) / Z_k
                                              / sum_l N_l exp(beta_l Delta) / Z_l

for all k. The solution is unique up to a constant. It minimises a convex function of log Z, and
Newton's method finds it. MBAR ignores the order of the samples, and cannot detect that they are
correlated or have the wrong distribution, so `mbar` takes its error bar from the spread of chains.
"""

from typing import NamedTuple

import numpy as np
from scipy.linalg import eigh
from scipy.linalg.lapack import dposv

from .. import checks
from .._kernels import float_sums
from ..paths.path import Path
from ..results import Check, Estimate, of_chains
from ..sampling.sample import TemperedSample
from . import estimator
from .rts import BLOCKS, checked_sample, tempered

MAX_SAMPLES = 1_000_000  # slopes kept of a run (8 MB)
BURN_IN = 10  # one tenth of the states is discarded
MAX_NEWTON = 100
STEP = 1e-10  # nats; Newton's error is the square of its last step
ROUNDING = 1e-14  # smallest step, relative to the largest unknown


@estimator
def mbar(
    path: Path, betas=None, n_chains: int = 100, n_sweeps: int | None = None, rng=None
) -> Estimate:
    """Estimate log Z by MBAR from states of simulated tempering, run as in `rbmlib.rts`.

    The first tenth of the sweeps is discarded. Of the others, at most a million evenly spaced
    states are used. The error bar is the spread over independent chains (or ladders), so it allows
    for correlated states. ``trace["std_error_independent"]`` is MBAR's standard error for
    independent samples; ``details["inefficiency"]`` states are worth one independent state.

    Parameters
    ----------
    path : Path
        Path from a base with known log Z to the target, such as ``rl.GeometricPath(rbm)``.
    betas : array (K,)
        Increasing from 0 to 1; by default, planned as in `rbmlib.rts`.
    n_chains : int
        Number of independent chains.
    n_sweeps : int
        Number of sweeps of each chain; by default, planned as in `rbmlib.rts`.
    rng : int, Generator or None
        The same seed gives the same bits on any number of threads.

    Returns
    -------
    Estimate
        Estimate of log Z (nats), with its error bar and checks.

    Examples
    --------
    >>> import rbmlib as rl
    >>> rbm = rl.testsystems.random_rbm(n_visible=12, n_hidden=6, rng=0)
    >>> estimate = rl.mbar(rl.GeometricPath(rbm), rng=0)
    >>> estimate.converged and abs(estimate.log_z - rl.exact(rbm).log_z) < 5 * estimate.std_error
    True
    """
    if not path.joint:
        came = f"a {type(path).__name__}, whose slope depends on beta"
        meaning = "a path such as rl.GeometricPath(rbm); or use rl.rts or rl.ais"
        raise ValueError(f"path is {came}: expected {meaning}")
    n_chains = checks.count("n_chains", n_chains, 2)
    sample, about = tempered(
        "mbar", path, betas, n_chains, n_sweeps, rng, lambda n: -(-n * n_chains // MAX_SAMPLES)
    )  # fmt: skip
    return _solved(sample, len(sample.delta) // BURN_IN, about)


@estimator
def mbar_of_sample(sample: TemperedSample, *, skip: int = 0) -> Estimate:
    """Estimate log Z by MBAR from a given tempered sample.

    Parameters
    ----------
    sample : TemperedSample
        From `rbmlib.simulated_tempering` or `rbmlib.parallel_tempering`, with two or more chains.
    skip : int
        Number of initial states of each chain that are discarded.

    Returns
    -------
    Estimate
        Estimate of log Z (nats), with its error bar and checks.

    Examples
    --------
    >>> import rbmlib as rl
    >>> path = rl.GeometricPath(rl.testsystems.random_rbm(n_visible=12, n_hidden=6, rng=0))
    >>> sample = rl.parallel_tempering(path, rl.schedules.linear(9), 10, 1000, rng=0)
    >>> estimate = rl.mbar_of_sample(sample, skip=100)
    >>> abs(estimate.log_z - rl.exact(path.rbm).log_z) < 4 * estimate.std_error
    True
    """
    return _solved(sample, skip, {})


def _solved(sample, skip, about) -> Estimate:
    delta, temperature, counts = kept_states(sample, skip)
    problem = Problem(delta.ravel(), counts.astype(float), sample.betas)
    solution = problem.solution()
    influences = problem.influences(temperature.ravel()).reshape(delta.shape)
    solved = f"the equations of MBAR are{' not' * (not solution.converged)} solved"
    found, details = Check(solved, solution.converged), {"n_iterations": solution.n_iterations}
    given = sample, solution.log_z, influences, [found]
    trace = {"std_error_independent": solution.std_error, "counts": counts}
    return of_influences("mbar", *given, details=about | details, trace=trace)


# states of a sample, and their influences ---------------------------------------------------


def kept_states(sample, skip):
    """Return slopes and indices of beta, (n_kept - skip, n_columns) each, and counts of betas."""
    checked_sample(sample, "a TemperedSample, of rl.simulated_tempering or rl.parallel_tempering")
    if sample.conditional != "joint":
        came = f"sample was drawn with conditional={sample.conditional!r}"
        raise ValueError(f"{came}: expected 'joint', where slopes do not depend on beta")
    n_kept, skip = len(sample.delta), checks.count("skip", skip, 0)
    if n_kept < 2:
        raise ValueError(f"sample keeps {n_kept} state per chain: expected 2; lower record_every")
    if n_kept - skip < 2:
        meaning = f"at most {n_kept - 2}, because {n_kept} states of each chain are kept"
        raise ValueError(f"skip is {skip}: expected {meaning}")
    temperature = sample.temperature[skip:].astype(int)
    counts = np.bincount(temperature.ravel(), minlength=sample.betas.size)
    return sample.delta[skip:], temperature, counts


def of_influences(
    method: str, sample, log_z_path, influences, found, *, details=None, **more
) -> Estimate:
    """Return the estimate, whose error comes from the influence of each state on log Z.

    MBAR and BAR are roots of equations that sum over states. The influences (n_kept, n_columns) are
    the first-order changes of the root by each state; they sum to 0. Their sums over independent
    chains (or ladders) are independent, so the spread of these sums is the standard error even if
    the states of a chain are correlated. ``log_z_path`` (K,) is relative to the base.
    """
    rows = np.array_split(influences, min(BLOCKS, len(influences)))
    blocks = np.stack([part.sum(axis=0) for part in rows])
    n_chains, size = sample.n_chains, influences.size
    blocks = n_chains * blocks.reshape(len(rows), n_chains, -1).sum(axis=2)  # ladders: all replicas
    variance = blocks.sum(axis=0).var(ddof=1) / n_chains
    inefficiency = float(variance / (influences.var() * size)) if variance > 0 else np.nan
    details = {"n_samples": size, "inefficiency": inefficiency} | (details or {})
    log_z_path = log_z_path + sample.log_z_base
    return of_chains(method, sample, log_z_path, blocks, found, details=details, **more)


# the equations ------------------------------------------------------------------------------


class MBARSolution(NamedTuple):
    """Solution of the equations of MBAR; logarithms in nats."""

    log_z: np.ndarray  # (K,) log Z_k - log Z_1
    covariance: np.ndarray  # (K, K) of log_z, for independent samples
    std_error: np.ndarray  # (K,) root of the diagonal of the covariance
    gradient: float  # largest |sum_n W_k - N_k| / N
    n_iterations: int
    converged: bool  # False: no solution, or temperatures that no samples connect


def solve_mbar(delta, counts, betas) -> MBARSolution:
    """Solve the equations of MBAR for samples of any origin, by Newton's method.

    Parameters
    ----------
    delta : array, any shape
        Slopes of the samples of all temperatures.
    counts : array (K,)
        Numbers N_k of samples at each temperature, which may be 0 or fractions. Their sum is the
        number of samples.
    betas : array (K,)
        Increasing from 0 to 1.

    Examples
    --------
    >>> import numpy as np, rbmlib as rl
    >>> rng = np.random.default_rng(0)
    >>> delta = rng.normal([[0.0], [1.0]], size=(2, 5000))  # log Z(beta) = beta**2 / 2
    >>> solution = rl.solve_mbar(delta, counts=[5000, 5000], betas=[0, 1])
    >>> bool(abs(solution.log_z[1] - 0.5) < 4 * solution.std_error[1])
    True
    """
    betas, meaning = checks.schedule(betas), "one slope a sample"
    delta = checks.array("delta", checks.numeric("delta", delta, meaning).ravel(), (None,), meaning)
    n_samples = delta.size
    counts = checks.array("counts", counts, betas.shape, f"({betas.size},), one count per beta")
    total = counts.sum()
    if not (counts >= 0).all() or not n_samples or not np.isclose(total, n_samples, rtol=1e-9):
        came = f"counts run from {counts.min()} to {counts.max()} and sum to {total}"
        raise ValueError(f"{came}: expected 0 or more each, and {n_samples} samples in all")
    return Problem(delta, counts, betas).solution()


class Problem:
    """The equations of MBAR for given samples; the unknowns are ``a_k = log N_k - log Z_k``.

    Temperatures without samples are not in the denominator; their a_k is -log Z_k.
    """

    def __init__(self, delta, counts, betas):
        self.delta, self.counts, self.betas = delta, counts, betas
        self.grid = float_sums.grid(delta, betas[-1] - betas[0])
        self.member = counts > 0
        self.log_counts = np.log(np.where(self.member, counts, 1))
        self.n_iterations, self.solved = 0, False
        self.a = self._start()
        self._newton()
        self._empty_states()
        _, first, self.products = self.moments(self.a)
        self.gradient = float(np.abs(first - counts)[self.member].max() / counts.sum())

    def moments(self, a, second=True, states=slice(None)):
        of, member = (self.grid.nodes, self.grid.weights), self.member[states]
        return float_sums.moments(*of, self.betas[states], a, member, second)

    def _start(self) -> np.ndarray:
        """Return a guess by the trapezoidal rule, as if slopes were sorted by temperature."""
        order = np.sort(self.delta)
        position = (np.cumsum(self.counts) - 0.5 * self.counts) / self.counts.sum()
        means = order[np.minimum((position * order.size).astype(int), order.size - 1)]
        log_z = np.cumsum(np.r_[0.0, np.diff(self.betas) * (means[1:] + means[:-1]) / 2])
        return self.log_counts - log_z

    def _newton(self) -> None:
        """Run Newton's method with the first unknown fixed, and halve steps that do not descend.

        If the Hessian is singular, take a self-consistent step, which always descends.
        """
        states = self.member
        a, wanted = self.a[states], self.counts[states]
        objective, first, products = self.moments(a, states=states)
        while self.n_iterations < MAX_NEWTON and not self.solved:
            self.n_iterations += 1
            step = _newton_step(first, products, wanted)
            if step is None or not np.isfinite(step).all():
                step = np.log(wanted) - np.log(np.maximum(first, 1e-300))
                step = np.clip(step - step[0], -10, 10)
            before, scale = objective - wanted @ a, 1.0
            while True:
                trial = a + scale * step
                objective, first, products = self.moments(trial, states=states)
                value = objective - wanted @ trial
                if value <= before + 1e-12 * abs(before) or scale < 1e-6:
                    break
                scale /= 2
            a = trial
            least = max(STEP, ROUNDING * np.abs(a).max())
            self.solved = bool(scale == 1 and np.abs(step).max() < least)
        self.a[states] = a

    def _empty_states(self) -> None:
        """Set the unknowns of temperatures without samples, by one exact step."""
        known = self.member
        log_z = self.log_counts - self.a
        self.a[~known] = -np.interp(self.betas[~known], self.betas[known], log_z[known])
        if not known.all():
            _, first, _ = self.moments(self.a, second=False)
            self.a[~known] -= np.log(first[~known])

    def covariance(self) -> np.ndarray | None:
        """Return Theta (Shirts & Chodera, eq. D6, with the root of W'W); None if not connected."""
        per_sample = self.products / np.outer(*2 * [np.exp(self.log_counts)])
        squares, vectors = eigh(per_sample)
        root = vectors * np.sqrt(np.maximum(squares, 0)) @ vectors.T
        gap, vectors = eigh(np.eye(len(root)) - root * self.counts @ root)
        if not np.isfinite(gap).all() or (gap.size > 1 and gap[1] < 1e-13):
            return None
        half = root @ vectors[:, 1:] / np.sqrt(gap[1:])  # the first gap is 0: the free constant
        theta = half @ half.T
        return theta - theta[:1] - theta[:, :1] + theta[0, 0]

    def influences(self, temperature) -> np.ndarray:
        """Return the first-order change of log Z_K - log Z_1 by each sample; their sum is 0.

        A sample at temperature l adds ``psi = W - e_l`` to the gradient and moves a by -H**-1 psi.
        With ``omega_k = exp(a_k + beta_k Delta) / D / N_k``, log Z_k = log sum_n omega_k(Delta_n)
        changes by omega_k itself and by -q_k da, where ``q_k = sum_n omega_k W``.
        """
        states, n_k = self.member, np.exp(self.log_counts)
        q = (self.products[-1] / n_k[-1] - self.products[0] / n_k[0])[states]
        hessian = (np.diag(self.counts) - self.products)[np.ix_(states, states)]
        pull = np.zeros(self.betas.size)
        pull[np.flatnonzero(states)[1:]] = np.linalg.lstsq(hessian[1:, 1:], q[1:], rcond=None)[0]
        coefficients = pull.copy()
        coefficients[-1] += 1 / n_k[-1]
        coefficients[0] -= 1 / n_k[0]
        known = self.grid.nodes, self.betas, self.a, self.member
        nodes = float_sums.combination(*known, coefficients)
        return float_sums.interpolate(nodes, self.grid) - pull[temperature]

    def solution(self) -> MBARSolution:
        found = self.covariance()
        covariance = np.full(2 * self.betas.shape, np.inf) if found is None else found
        std_error, log_z = np.sqrt(np.maximum(np.diag(covariance), 0)), self.log_counts - self.a
        how = self.gradient, self.n_iterations, bool(self.solved and found is not None)
        return MBARSolution(log_z - log_z[0], covariance, std_error, *how)


def _newton_step(first, products, wanted) -> np.ndarray | None:
    """Return -H**-1 gradient with the first entry fixed; None if H is not positive definite."""
    if first.size == 1:
        return np.zeros(1)
    hessian = np.diag(first) - products
    _, step, failed = dposv(hessian[1:, 1:], (first - wanted)[1:])
    return None if failed else np.r_[0.0, -step]
