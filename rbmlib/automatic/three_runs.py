"""A round of `log_z`: AIS from two bases, and reverse AIS from the particles of both.

Bennett's equation joins the forward and reverse chains of the first path. Modes that the first base
misses (`missed`) have their own chains, and the three runs estimate the rest of Z. If alpha is the
share of the rest in the state at beta = 1, then w alpha of a forward chain and R alpha of a reverse
chain that starts from p alpha are work values of opposite processes.
"""

import math
from dataclasses import replace

import numpy as np

from ..estimators.ais import ais
from ..estimators.bar import bennett, bennett_error
from ..estimators.reverse_ais import resampled, reverse_ais
from ..numerics import ChainStream, cut, logmeanexp, logsumexp
from ..results import Estimate, needed_ess, quietly, skewed_interval, summarise_log_weights
from ..sampling.anneal import sweep
from ..schedules import linear
from ..schedules.pilots import friction_coefficient
from ..search.summed import Summed
from .evidence import Evidence, Joint
from .problem import Problem

BURN_IN = 200
LOOKS = 50  # records of the first run, for its trace
ROUNDING = 1e-9  # nats: no spread
PILOT_CHAINS, PILOT_SHORTER, PILOT_STEPS = 64, 4, (100, 10_000)  # of a schedule
PILOT_LOOKS = 101
EVEN = 0.25  # share of steps spread evenly, because a pilot may miss friction of a longer run


def three_runs(problem: Problem, n_steps: int, n_chains: int) -> Evidence:
    """Run a round; the result depends only on the problem, the steps and the chains."""
    rng, missed = np.random.default_rng([problem.seed, n_steps]), problem.missed
    first, second = problem.first, problem.second
    with quietly():  # `log_z` warns of the last round
        betas = schedule(first, n_steps, rng)
        others = linear(n_steps) if first is second else schedule(second, n_steps, rng)
        forward = ais(first, betas, n_chains, rng, n_recorded=LOOKS)
        other = ais(second, others, n_chains, rng, n_recorded=2)
        up = [run.log_weights + missed.log_rest(run.states) for run in (forward, other)]
        start, ancestors = _start(problem, (forward, other), up, n_chains, rng)
        backward = reverse_ais(first, betas, n_chains, rng, start=start)
    # For chains that start in the rest, E[exp(-R)] = E[alpha of the end of a forward chain] / Z
    reached = float(logmeanexp(missed.log_rest(forward.states)))
    joint = _joint(up[0], backward.log_weights + missed.log_rest(start), ancestors)
    unseen = missed.unseen(forward.states, forward.log_weights) if missed.log_c.size > 1 else 0.0
    modes = missed.runs(n_steps, rng)
    values = [*up, backward.log_weights + reached]
    if modes:
        means = [summarise_log_weights(logs) for logs, _ in modes]
        mass = _added(*((m.log_mean, m.std_error) for m in means))
        runs = zip((forward, other, backward), values, strict=True)
        forward, other, backward = (_with(run, logs, mass) for run, logs in runs)
        joint = Joint(*_added(joint[:2], mass), joint.families)
    summed = second_sum = None
    if problem.known is not None:
        model = first.at(1.0)  # chains hold its visible units
        summed, second_sum = (
            Summed.of(problem.known, model, [(logs, run.states), *modes], rng)
            for logs, run in zip(up, (forward, other), strict=True)
        )
    return Evidence(
        n_steps, n_chains, forward, other, backward, joint, problem.bound, summed, second_sum,
        unseen, missed.tail, len(modes), problem.one_base, problem.sought,
    )  # fmt: skip


def schedule(path, n_steps: int, rng) -> np.ndarray:
    """Return betas (n_steps + 1,) by the friction of a short pilot, with a share of even steps."""
    length = linear(pilot_steps(n_steps))
    run = ais(path, length, PILOT_CHAINS, rng, n_recorded=PILOT_LOOKS, keep_chains=True)
    increments = np.diff(run.trace["chain_log_weights"], axis=0)
    if not np.ptp(increments, axis=1).all():  # a flat stretch has no friction
        return linear(n_steps)
    lengths = np.sqrt(friction_coefficient(run, smoothing=2.0)[1]) * np.diff(run.betas)
    even = EVEN * np.diff(run.betas)
    return cut(run.betas, (1 - EVEN) * lengths / lengths.sum() + even, n_steps)


def pilot_steps(n_steps: int) -> int:
    return int(np.clip(n_steps // PILOT_SHORTER, *PILOT_STEPS))


def work(problem: Problem, n_steps: int, n_chains: int) -> int:
    """Return the sweeps of all chains of a round, including pilots of schedules."""
    runs = n_chains * (3 * n_steps + BURN_IN) + 2 * PILOT_CHAINS * pilot_steps(n_steps)
    return runs + problem.missed.work(n_steps)


def _start(problem, runs, values, n_chains, rng):
    """Resample particles of both runs, move them at beta = 1, and return them with ancestors.

    The moves leave p invariant, and accepting them with the ratio of shares leaves the rest
    invariant. Ancestors are indices of the particles of the first and then the second run.
    """
    chosen = rng.permutation(resampled(np.concatenate(values), rng, n_chains))
    before = np.concatenate([run.states for run in runs])[chosen]
    moved = sweep(problem.first, before, 1.0, BURN_IN, ChainStream(rng, n_chains))
    if not problem.missed.paths:
        return moved, chosen
    gain = problem.missed.log_rest(moved) - problem.missed.log_rest(before)
    accepted = np.log(rng.random(n_chains)) < gain
    return np.where(accepted[:, None], moved, before), chosen


def _joint(forward, reverse, ancestors):
    """Join the first run and the reverse chains, which descend from both forward runs."""
    if np.ptp(np.concatenate([forward, reverse])) < ROUNDING:  # base equals target
        return Joint(float(forward.mean()), 0.0, float(forward.size))
    root = bennett(forward, reverse)
    return Joint(root.log_z, *bennett_error(root, ancestors, 2 * forward.size))


def _added(*terms) -> tuple[float, float]:
    """Return the log of a sum of independent terms (log, error), and its standard error."""
    logs, errors = np.array(terms).T
    log_z = float(logsumexp(logs))
    return log_z, math.hypot(*np.exp(logs - log_z) * errors)


def _with(run: Estimate, values, mass) -> Estimate:
    """Add the mass of the missed modes to a run of the rest, which remains a bound."""
    sign = -1 if run.bound == "upper" else 1
    rest = summarise_log_weights(sign * values)
    log_z, error = _added((sign * rest.log_mean, rest.std_error), mass)
    weights, n = np.logaddexp(values, mass[0]), values.size
    ess = n / (1 + n * error**2)
    low, high = skewed_interval(sign * log_z, error, n, error)
    return replace(
        run,
        log_z=log_z,
        std_error=error,
        interval=(low, high) if sign > 0 else (-high, -low),
        mean_log_z=float(weights.mean()),
        mean_std_error=float(weights.std(ddof=1) / math.sqrt(n)),
        ess=ess,
        verdict="consistent" if ess >= needed_ess(n) else "inconclusive",
        log_weights=weights,
    )
