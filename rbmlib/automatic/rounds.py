"""Rounds of `log_z`, ever longer, until they agree or a budget is over."""

import math
import warnings

import numpy as np

from ..models.enumeration import fewest_states
from ..models.gauges import in_bits
from ..models.rbm import RBM
from ..paths import GeometricPath, Path
from ..paths.bases import layers_lower_bound, mean_field_bias, mean_field_biases
from ..results import ConvergenceWarning, needed_ess
from ..search.modes import find_modes, n_held
from .cover import Cover, cover, first_base, pilot_size
from .parts import Joint, joined, run_part, work
from .summed import Summed, grown
from .verdict import Round

CHAINS = 500, 100  # of a run; fewer where weights of the first would be uneven
N_CHAINS = CHAINS[0]
BROAD = 0.2  # smoothing of the second base
SMOOTHING = 0.05  # of the base that mean-field solutions make
MAX_STEPS = 10_000_000  # of a run: its schedule is held in memory
FIRST_STEPS = 250  # of the first round
GROWTH = 4  # of the steps from round to round
ENOUGH = 0.05  # nats, the standard error at which rounds end
LEAST_STEPS = 100  # of a round, however small the budget
SWEEP, OF_UNIT, OF_WEIGHT = 1e-6, 1e-8, 1e-10  # seconds of a sweep of a chain, as measured
SLOWER = 10.0  # times that, where no loop is compiled
HUNT = 5e-3, 1e-7, 3e-10  # seconds of a hunt for modes; of a start, for each unit and weight


class Runs:
    """Rounds of a model or a path: functions of the seed and the number of steps alone.

    A path has one base: its second run follows even steps, and no modes are sought. Neither are
    they of a model of units other than bits.
    """

    def __init__(self, target, data, base, seed):
        self.seed, self.one_base = seed, isinstance(target, Path)
        self.each, self.seconds = sweep_seconds(target), 0.0  # of a sweep, and of what begins
        self.of_data = self.sought = False  # whether chains begin at the base rate of data; modes
        if self.one_base:
            self.first, self.bound, self.beam = target, -math.inf, None
            self.cover = Cover.whole(target, target, N_CHAINS)
        elif in_bits(target) is None:
            self._begin(target, base)
        else:
            self._seek(target, data, base)

    def _begin(self, rbm, base):
        """Two bases, a sum over states if they can be counted, and mean-field bounds."""
        self.of_data, fits = base is not None, [rbm.visible.bias]
        if rbm.visible.values is not None:
            fits = [mean_field_bias(rbm, smoothing=s) for s in (SMOOTHING, BROAD)]
        first, *rest = fits if base is None else [base, *fits]
        self.first = GeometricPath(rbm, first)
        self.one_base = not rest
        second = GeometricPath(rbm, rest[0]) if rest else self.first
        source, self.bound = np.random.default_rng([self.seed, 0, 1]), layers_lower_bound(rbm)
        self.beam = grown(rbm, None, source) if np.isfinite(fewest_states(rbm)) else None
        if self.beam is not None:
            self.bound = max(self.bound, self.beam.log_sum)
        self.cover = Cover.whole(self.first, second, N_CHAINS)

    def _seek(self, rbm, data, base):
        """Bases, modes, and the parts that they make."""
        self.sought = True
        modes, source = find_modes(rbm, data), np.random.default_rng([self.seed, 0])
        fitted, broad = mean_field_biases(rbm, (SMOOTHING, BROAD))
        candidates = [fitted] if base is None else [base, fitted]
        first = first_base(rbm, candidates, modes, source)
        self.of_data = first is base
        other = fitted if self.of_data else broad  # where data are no better: as without them
        self.first, second = GeometricPath(rbm, first), GeometricPath(rbm, other)
        self.beam = grown(rbm, modes, np.random.default_rng([self.seed, 0, 1]))
        self.bound = max(float(modes.lower_bound.max()), self.beam.log_sum)
        self.cover = cover(rbm, self.first, second, modes, N_CHAINS, source)
        n_modes, n_chains, n_steps, n_forward = pilot_size(rbm, modes)
        pilots = (n_modes * n_chains + n_forward) * n_steps
        self.seconds = hunt_seconds(rbm) + self.each * pilots

    def __call__(self, n_steps, n_chains=N_CHAINS) -> Round:
        source, parts = np.random.default_rng([self.seed, n_steps]), self.cover.resized(n_chains)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)  # said once, of the last round
            runs = [run_part(self.cover, part, n_steps, source) for part in parts]
        *each, joints = zip(*runs, strict=True)
        forward, other, backward = (joined(run) for run in each)
        first = runs[0].forward.estimate
        unseen = self.cover.unseen(first.states, first.log_weights) if self.sought else 0.0
        summed = second = None
        if self.beam is not None:
            model = self.first.at(1.0)  # whose visible units the states of chains are
            summed, second = (Summed.of(self.beam, model, runs, source) for runs in each[:2])
        estimates = forward, other, backward, Joint.of(joints)
        about = len(runs), unseen, self.one_base, self.sought
        return Round(n_steps, n_chains, *estimates, self.bound, *about, summed, second)

    def work(self, n_steps, n_chains) -> float:
        """Sweeps of all chains of a round."""
        return work(self.cover.resized(n_chains), n_steps)


def sweep_seconds(target: RBM | Path) -> float:
    """Of a chain: counted from sizes, so that a budget gives the same rounds on every machine."""
    model = target.at(1.0) if isinstance(target, Path) else target
    n, m = model.n_visible, getattr(model, "n_hidden", 1)
    slower = 1.0 if isinstance(model, RBM) and in_bits(model) is not None else SLOWER
    return slower * (SWEEP + OF_UNIT * (n + m) + OF_WEIGHT * n * m)


def hunt_seconds(rbm: RBM) -> float:
    """Of a search for modes, by its starts: four of each unit that they hold, half as many more."""
    fixed, of_unit, of_weight = HUNT
    n_starts = 6 * (n_held(rbm.weights) + n_held(rbm.weights.T))
    return fixed + n_starts * (of_unit * sum(rbm.weights.shape) + of_weight * rbm.weights.size)


def rounds(run, budget: float) -> list[Round]:
    """Rounds, of which the last is the answer; `log_z` states the rule."""
    n_steps, passed, left = FIRST_STEPS, False, budget - run.seconds
    ran: list[Round] = []
    while True:
        affordable = left / run.each
        # before a check has passed, a round is worth its time only if a longer one can follow
        needed, n_chains = run.work(n_steps, N_CHAINS), N_CHAINS
        if not passed:
            needed += run.work(GROWTH * n_steps, N_CHAINS)
        if is_last := needed > affordable:
            n_steps, n_chains = _last_size(run, ran, affordable)
            if ran and run.work(n_steps, n_chains) <= run.work(ran[-1].n_steps, N_CHAINS):
                return ran
        ran.append(run(n_steps, n_chains))
        left -= run.each * run.work(n_steps, n_chains)
        twice, passed = passed and ran[-1].passed, ran[-1].passed
        if is_last or (twice and ran[-1].std_error() <= ENOUGH):
            return ran
        n_steps *= GROWTH


def _last_size(run, ran, affordable) -> tuple[int, int]:
    """Steps and chains: of what is affordable, as many chains as leave the weights even.

    The variance of log-weights falls as 1 / steps; of normal ones n exp(-variance) is the effective
    sample size.
    """
    for n_chains in CHAINS:
        n_steps = _affordable_steps(run, n_chains, affordable)
        if not ran and run.work(n_steps, n_chains) <= affordable:
            break
        if not ran:
            continue
        spread = float(np.var(ran[-1].forward.log_weights)) * ran[-1].n_steps / n_steps
        if 0.8 * n_chains * math.exp(-spread) >= needed_ess(n_chains):
            break
    return n_steps, n_chains


def _affordable_steps(run, n_chains, affordable) -> int:
    """Two digits and zeros, which are easy to repeat."""
    low, high = LEAST_STEPS, MAX_STEPS
    while high - low > 1 + low // 100:
        middle = (low + high) // 2
        low, high = (middle, high) if run.work(middle, n_chains) <= affordable else (low, middle)
    unit = 10 ** (len(str(low)) - 2)
    return low // unit * unit
