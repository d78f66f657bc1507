"""Preparation of `log_z` before its rounds: two bases, modes, and a sum over states."""

import math

import numpy as np

from ..models.enumeration import fewest_states
from ..models.gauges import in_bits
from ..models.rbm import RBM
from ..numerics import smoothed
from ..paths.bases import layers_lower_bound, mean_field_bias, mean_field_biases, rounded
from ..paths.named import GeometricPath
from ..paths.path import Path
from ..sampling.anneal import annealed
from ..search.local_masses import N_CHAINS, N_STEPS, local_masses, of_real_units
from ..search.modes import find_modes, n_held
from ..search.summed import grown
from .missed import OVERHEAD, Missed, missed

BROAD = 0.2  # smoothing of the second base
SMOOTHING = 0.05  # of a base from mean-field solutions
TEMPERATURE = 10.0  # nats: weights of modes in a base of all modes are exp(log Z / temperature)
FIRST_CHAINS, FIRST_STEPS = 64, 200  # of the pilots that choose the first base
BETTER, SURE = 2.0, 3.0  # nats and standard errors that a base of all modes must gain
SWEEP, OF_UNIT, OF_WEIGHT = 1e-6, 1e-8, 1e-10  # measured seconds of a sweep of a chain
SLOWER = 10.0  # factor without compiled loops
LOCAL, LOCAL_WORK = (4, 40), 2e9  # modes of real units; chains x steps x (weights + overhead)
SEARCH = 5e-3, 1e-7, 3e-10  # seconds of a search for modes; of each start per unit and weight


class Problem:
    """A model or a path, with everything that rounds share; ``seed`` fixes the random numbers.

    A path has one base and no search for modes; its second run uses even steps. Modes of Gaussian
    visible and binary hidden units give a lower bound only; other real units have no search.

    Attributes
    ----------
    first, second : Path
        Paths to the same model from two bases.
    one_base, sought, of_data : bool
        Whether the bases are equal, modes were searched for, and the first base uses the data.
    bound : float
        Lower bound on log Z: the higher of mean field and a sum over states.
    known : StateSum or None
        The sum over states.
    missed : Missed
        Modes that the first base misses.
    each, seconds : float
        Processor seconds of a sweep of a chain, and of the preparation, counted from sizes so that
        a budget gives the same rounds on every machine.
    """

    def __init__(self, target, data, base, seed):
        self.seed, self.one_base = seed, isinstance(target, Path)
        self.each, self.seconds = sweep_seconds(target), 0.0
        self.of_data = self.sought = False
        self.bound, self.known = -math.inf, None
        self.missed = Missed(np.zeros((1, 1)), np.zeros(1))
        if self.one_base:
            self.first = self.second = target
        elif in_bits(target) is None:
            self._begin(target, base)
        else:
            self._seek(target, data, base)

    def _begin(self, rbm, base):
        """Set two bases, mean-field bounds, and a sum over states if they can be counted."""
        self.of_data, fits = base is not None, [rbm.visible.bias]
        if rbm.visible.values is not None:
            fits = [mean_field_bias(rbm, smoothing=s) for s in (SMOOTHING, BROAD)]
        bases = fits if base is None else [base, *fits]
        paths = [GeometricPath(rbm, bias) for bias in bases[:2]]
        self.first, self.second, self.one_base = paths[0], paths[-1], len(paths) == 1
        self.bound = layers_lower_bound(rbm)
        if fewest_states(rbm) < math.inf:
            self.known = grown(rbm, None, np.random.default_rng([self.seed, 0, 1]))
            self.bound = max(self.bound, self.known.log_sum)
        model = self.first.models[-1]
        if of_real_units(model):
            self.sought, chains = True, N_CHAINS * N_STEPS
            work = chains * (model.weights.size + OVERHEAD)
            n_modes = int(np.clip(LOCAL_WORK / work, *LOCAL))
            masses = local_masses(model, np.random.default_rng([self.seed, 0, 2]), n_modes=n_modes)
            self.bound = max(self.bound, masses.log_lower)
            self.seconds = self.each * chains * masses.n_modes

    def _seek(self, rbm, data, base):
        """Set the bases, bounds, and the modes that the first base misses."""
        self.sought = True
        modes, rng = find_modes(rbm, data), np.random.default_rng([self.seed, 0])
        fitted, broad = mean_field_biases(rbm, (SMOOTHING, BROAD))
        first = first_base(rbm, [fitted] if base is None else [base, fitted], modes, rng)
        self.of_data = first is base
        other = fitted if self.of_data else broad  # as without data
        self.first, self.second = GeometricPath(rbm, first), GeometricPath(rbm, other)
        self.known = grown(rbm, modes, np.random.default_rng([self.seed, 0, 1]))
        self.bound = max(float(modes.lower_bound.max()), self.known.log_sum)
        self.missed = missed(rbm, self.first, modes, rng)
        self.seconds = search_seconds(rbm) + self.each * self.missed.n_sweeps


def first_base(rbm, candidates, modes, rng) -> np.ndarray:
    """Return visible biases: the best of the ``candidates``, or those of all modes if better.

    Heavier modes have more weight. The base with the highest mean log-weight of a short pilot wins,
    because for every base this mean is a lower bound on log Z in expectation. It does not need rare
    chains of large weight.
    """
    weights = np.exp((modes.log_z - modes.log_z[0]) / TEMPERATURE)
    of_modes = rounded(smoothed(weights @ modes.visible / weights.sum(), SMOOTHING))
    paths = [GeometricPath(rbm, bias) for bias in (*candidates, of_modes)]
    logs = np.array([annealed(path, FIRST_CHAINS, FIRST_STEPS, rng)[1] for path in paths])
    means, errors = logs.mean(axis=1), logs.std(axis=1, ddof=1) / math.sqrt(FIRST_CHAINS)
    best = int(np.argmax(means[:-1]))
    surely = SURE * math.hypot(errors[-1], errors[best])
    return of_modes if means[-1] - means[best] > max(BETTER, surely) else candidates[best]


def sweep_seconds(target: RBM | Path) -> float:
    """Return the seconds of a sweep of a chain."""
    model = target.at(1.0) if isinstance(target, Path) else target
    n, m = model.n_visible, getattr(model, "n_hidden", 1)
    slower = 1.0 if isinstance(model, RBM) and in_bits(model) is not None else SLOWER
    return slower * (SWEEP + OF_UNIT * (n + m) + OF_WEIGHT * n * m)


def search_seconds(rbm: RBM) -> float:
    """Return the seconds of a search for modes, with six starts for each unit held fixed."""
    fixed, of_unit, of_weight = SEARCH
    n_starts = 6 * (n_held(rbm.weights) + n_held(rbm.weights.T))
    return fixed + n_starts * (of_unit * sum(rbm.weights.shape) + of_weight * rbm.weights.size)
