"""Rounds of `log_z`, ever longer, until they agree or a budget is over."""

from __future__ import annotations

import math
import time
import warnings

import numpy as np
from numba.core.event import TimingListener

from .._numerics import expit
from .._streams import ChainStream
from ..estimators._weights import has_converged
from ..models.bernoulli import BernoulliRBM
from ..models.mean_field import best_lower_bound
from ..models.modes import find_modes
from ..paths.base import AnnealingPath
from ..paths.bases import mean_field_biases
from ..paths.geometric import GeometricPath
from ..results import ConvergenceWarning
from . import pilot
from .checks import Round
from .cover import Cover, cover
from .first_base import first_base
from .parts import BURN_IN, Joint, joined, run_part, steps_of

CHAINS = 500, 100  # of a run; fewer where weights of the first would be uneven
N_CHAINS = CHAINS[0]
BROAD = 0.2  # smoothing of the second base
SMOOTHING = 0.05  # of the base that mean-field solutions make
MAX_STEPS = 10_000_000  # of a run: its schedule is held in memory
FIRST_STEPS = 250  # of the first round
GROWTH = 4  # of the steps from round to round
ENOUGH = 0.05  # nats, the standard error at which rounds end
LEAST_STEPS = 100  # of a round, however small the budget
N_ROWS = 20  # of data, where mean-field solutions begin


class Runs:
    """Rounds of a model or a path: functions of the seed and the number of steps alone.

    A path has one base: its second run follows even steps, and no modes are sought.
    """

    def __init__(self, target: BernoulliRBM | AnnealingPath, data, base, seed: int, options: dict):
        self.seed, self.options, self.one_base = seed, options, isinstance(target, AnnealingPath)
        if isinstance(target, AnnealingPath):
            self.first, self.bound = target, -math.inf
            self.cover = Cover.whole(target, target, N_CHAINS)
        else:
            self._seek(target, data, base)

    def _seek(self, rbm: BernoulliRBM, data, base) -> None:
        """Bases, modes, and the parts that they make."""
        modes = find_modes(rbm, data)
        source, n_threads = np.random.default_rng([self.seed, 0]), self.options["n_threads"]
        if base is None:
            fitted, broad = mean_field_biases(rbm, (SMOOTHING, BROAD))
            first = first_base(rbm, fitted, modes, source, n_threads)
        else:
            first, (broad,) = base, mean_field_biases(rbm, (SMOOTHING,))
        self.first, second = GeometricPath(rbm, first), GeometricPath(rbm, broad)
        bound = best_lower_bound(rbm, _means_to_start_from(data, self.first, second))
        self.bound = max(bound, float(modes.lower_bound.max()))
        self.cover = cover(rbm, self.first, second, modes, N_CHAINS, source, n_threads)

    def __call__(self, n_steps: int, n_chains: int = N_CHAINS) -> Round:
        source, parts = np.random.default_rng([self.seed, n_steps]), self.cover.resized(n_chains)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)  # said once, of the last round
            runs = [run_part(self.cover, part, n_steps, source, self.options) for part in parts]
        *each, joints = zip(*runs, strict=True)
        forward, other, backward = (joined(run) for run in each)
        first = runs[0].forward
        unseen = 0.0
        if not self.one_base:
            states = first.estimate.states.coordinates
            unseen = self.cover.unseen(states, first.estimate.log_weights)
        return Round(n_steps, n_chains, forward, other, backward, Joint.of(joints), self.bound,
                     len(runs), unseen, self.one_base)  # fmt: skip

    def work(self, n_steps: int, n_chains: int) -> float:
        """Sweeps of all chains of a round."""
        parts = self.cover.resized(n_chains)
        runs = sum(part.n_chains * (3 * steps_of(part, n_steps) + BURN_IN) for part in parts)
        return runs + 2 * pilot.work(n_steps)

    def sweep_seconds(self) -> float:
        """Of a chain, by trial; the first steps compile or load the loops."""
        n_threads = self.options["n_threads"]
        for n_steps in (2, 20):
            stream = ChainStream(0, N_CHAINS)
            state = self.first.sample_base(N_CHAINS, stream)
            self.first.sweep(state, 1.0, 1, stream, n_threads=n_threads)
            began = time.perf_counter()
            self.first.anneal(state, np.linspace(0, 1e-3, n_steps + 1), stream, n_threads=n_threads)
        return (time.perf_counter() - began) / n_steps / N_CHAINS


def compiled(timing: TimingListener) -> float:
    """Seconds of compilation until now."""
    return timing.duration if timing.done else 0.0


def rounds(run: Runs, budget: float, started: float, compilation: TimingListener) -> list[Round]:
    """Rounds, of which the last is the answer; `log_z` states the rule."""

    def clock() -> float:
        return time.perf_counter() - started - compiled(compilation)

    each = run.sweep_seconds()
    ran: list[Round] = []
    n_steps = FIRST_STEPS
    while True:
        affordable = 0.95 * (budget - clock()) / each
        # before a check has passed, a round is worth its time only if a longer one can follow
        needed = run.work(n_steps, N_CHAINS)
        passed = bool(ran) and ran[-1].passed
        if not passed:
            needed += run.work(GROWTH * n_steps, N_CHAINS)
        if is_last := needed > affordable:
            n_steps, n_chains = _last_size(run, ran, affordable)
            if ran and run.work(n_steps, n_chains) <= run.work(ran[-1].n_steps, N_CHAINS):
                return ran
        else:
            n_chains = N_CHAINS
        began = clock()
        ran.append(run(n_steps, n_chains))
        each = (clock() - began) / run.work(n_steps, n_chains)
        done = passed and ran[-1].passed and ran[-1].std_error() <= ENOUGH
        if is_last or done:
            return ran
        n_steps *= GROWTH


def _last_size(run: Runs, ran: list[Round], affordable: float) -> tuple[int, int]:
    """Steps and chains: of what is affordable, as many chains as leave the weights even.

    The variance of log-weights falls as 1 / steps; of normal ones n exp(-variance) is the effective
    sample size.
    """
    for n_chains in CHAINS:
        n_steps = _affordable_steps(run, n_chains, affordable)
        if not ran:
            break
        spread = float(np.var(ran[-1].forward.log_weights)) * ran[-1].n_steps / n_steps
        if has_converged(0.8 * n_chains * math.exp(-spread), n_chains):
            break
    return n_steps, n_chains


def _affordable_steps(run: Runs, n_chains: int, affordable: float) -> int:
    low, high = LEAST_STEPS, MAX_STEPS
    while high - low > 1 + low // 100:
        middle = (low + high) // 2
        low, high = (middle, high) if run.work(middle, n_chains) <= affordable else (low, middle)
    return _two_digits(low)


def _two_digits(n_steps: int) -> int:
    """A number of steps that is easy to repeat: two digits and zeros, within bounds."""
    n_steps = min(max(LEAST_STEPS, n_steps), MAX_STEPS)
    unit = 10 ** (len(str(n_steps)) - 2)
    return n_steps // unit * unit


def _means_to_start_from(data, first: GeometricPath, second: GeometricPath) -> np.ndarray:
    """Of mean-field solutions: both bases, and a few rows of data."""
    bases = expit([first.base_visible_bias, second.base_visible_bias])
    some = (
        [] if data is None else [np.asarray(data[:: max(1, len(data) // N_ROWS)][:N_ROWS], float)]
    )
    return np.concatenate([bases, *some])
