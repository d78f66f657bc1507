"""Rounds of `log_z` of increasing length, until two of them pass or the budget is spent."""

import math

import numpy as np

from ..results import needed_ess
from .evidence import Evidence
from .problem import Problem
from .three_runs import three_runs, work

CHAINS = 500, 100  # of a run; 100 if weights of 500 chains would be uneven
N_CHAINS = CHAINS[0]
MAX_STEPS = 10_000_000  # of a run: its schedule is held in memory
FIRST_STEPS = 250  # of the first round
GROWTH = 4  # factor of the steps from round to round
ENOUGH = 0.05  # nats, the standard error at which rounds end
LEAST_STEPS = 100  # of a round, however small the budget


def rounds(problem: Problem, budget: float) -> list[Evidence]:
    """Return the rounds, of which the last is the result; `log_z` states the rule."""
    n_steps, passed, left = FIRST_STEPS, False, budget - problem.seconds
    ran: list[Evidence] = []
    while True:
        affordable = left / problem.each
        # until a round passes every check, it is useful only if a longer round can follow
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
    """Return affordable numbers of steps and chains, with fewer chains if weights are uneven.

    The variance of log-weights falls as 1 / steps. If they are normal, the effective sample size is
    n exp(-variance).
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
    """Return the affordable steps to two significant digits, which are easy to repeat."""
    low, high = LEAST_STEPS, MAX_STEPS
    while high - low > 1 + low // 100:
        middle = (low + high) // 2
        enough = work(problem, middle, n_chains) <= affordable
        low, high = (middle, high) if enough else (low, middle)
    unit = 10 ** (len(str(low)) - 2)
    return low // unit * unit
