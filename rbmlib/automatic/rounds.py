"""Rounds of `log_z`, ever longer, until they agree or a budget is over."""

import math

import numpy as np

from ..results import needed_ess
from .evidence import Evidence
from .problem import Problem
from .three_runs import three_runs, work

CHAINS = 500, 100  # of a run; fewer where weights of the first would be uneven
N_CHAINS = CHAINS[0]
MAX_STEPS = 10_000_000  # of a run: its schedule is held in memory
FIRST_STEPS = 250  # of the first round
GROWTH = 4  # of the steps from round to round
ENOUGH = 0.05  # nats, the standard error at which rounds end
LEAST_STEPS = 100  # of a round, however small the budget


def rounds(problem: Problem, budget: float) -> list[Evidence]:
    """Rounds, of which the last is the answer; `log_z` states the rule."""
    n_steps, passed, left = FIRST_STEPS, False, budget - problem.seconds
    ran: list[Evidence] = []
    while True:
        affordable = left / problem.each
        # before a check has passed, a round is worth its time only if a longer one can follow
        needed, n_chains = work(problem, n_steps, N_CHAINS), N_CHAINS
        if not passed:
            needed += work(problem, GROWTH * n_steps, N_CHAINS)
        if is_last := needed > affordable:
            n_steps, n_chains = _last_size(problem, ran, affordable)
            if ran and work(problem, n_steps, n_chains) <= work(problem, ran[-1].n_steps, N_CHAINS):
                return ran
        ran.append(three_runs(problem, n_steps, n_chains))
        left -= problem.each * work(problem, n_steps, n_chains)
        twice, passed = passed and ran[-1].passed, ran[-1].passed
        if is_last or (twice and ran[-1].std_error <= ENOUGH):
            return ran
        n_steps *= GROWTH


def _last_size(problem, ran, affordable) -> tuple[int, int]:
    """Steps and chains: of what is affordable, as many chains as leave the weights even.

    The variance of log-weights falls as 1 / steps; of normal ones n exp(-variance) is the effective
    sample size.
    """
    for n_chains in CHAINS:
        n_steps = _affordable_steps(problem, n_chains, affordable)
        if not ran and work(problem, n_steps, n_chains) <= affordable:
            break
        if not ran:
            continue
        spread = float(np.var(ran[-1].forward.log_weights)) * ran[-1].n_steps / n_steps
        if 0.8 * n_chains * math.exp(-spread) >= needed_ess(n_chains):
            break
    return n_steps, n_chains


def _affordable_steps(problem, n_chains, affordable) -> int:
    """Two digits and zeros, which are easy to repeat."""
    low, high = LEAST_STEPS, MAX_STEPS
    while high - low > 1 + low // 100:
        middle = (low + high) // 2
        enough = work(problem, middle, n_chains) <= affordable
        low, high = (middle, high) if enough else (low, middle)
    unit = 10 ** (len(str(low)) - 2)
    return low // unit * unit
