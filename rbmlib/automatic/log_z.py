"""Estimate log Z of a trained model automatically, with independent checks.

A model with few states is enumerated. For others, a search finds states of the smaller layer, p* is
summed over these states, and chains estimate the rest. If the sum is nearly all of Z, the error bar
is tiny (`search.summed`).

A round has three runs of equal length, with schedules from short pilots (`three_runs`): AIS from
one base, AIS from a second, broader base, and reverse AIS along the first path from the particles
of both. Bennett's equation joins the two directions of the first path. If one base misses a mode,
the runs disagree, although their own error bars show nothing. Mean-field solutions from many
starts, each with a lower bound on log Z, find modes that both bases miss. Modes in which the chains
find too little get their own chains (`missed`).
"""

from dataclasses import replace

import numpy as np

from .. import checks
from ..estimators import estimator
from ..estimators.exact import exact
from ..models.conversion import as_rbm
from ..models.enumeration import fewest_states, parts
from ..models.gauges import in_bits
from ..models.layers import Binary, Spin
from ..models.rbm import RBM
from ..paths.bases import base_rate
from ..paths.path import Path
from ..results import Estimate, warn
from .evidence import Evidence, factor_needed, reason, rounded_up
from .problem import SLOWER, Problem
from .rounds import GROWTH, MAX_STEPS, N_CHAINS, rounds
from .three_runs import three_runs

EXACT_UNITS, MOST_EXACT_UNITS = 20, 26  # of an enumerated layer: always, and if the budget allows
STATE, OF_UNIT = 2e-8, 4e-10  # seconds per summed state, and per unit of the other layer
BUDGET_SECONDS = 10.0
MAX_SECONDS = 1e6  # 11 days
FEWEST = 20  # chains
RBM_MEANING = (
    "a BernoulliRBM, an RBM of other units, or a path, such as rl.LeakinessPath(model) of a "
    "LeakyRBM"
)


@estimator
def log_z(
    rbm: RBM | Path,
    *,
    data=None,
    budget_seconds: float | None = None,
    n_steps: int | None = None,
    n_chains: int | None = None,
    rng=None,
    enumerate_small: bool = True,
) -> Estimate:
    """Estimate log Z, and say what verifies or contradicts the value.

    Parameters
    ----------
    rbm : RBM or Path
        A fitted BernoulliRBM of scikit-learn is also accepted. The search for modes needs Binary or
        Spin units, or Gaussian visible and Binary hidden units. A path has one base and no search
        for modes, so its best verdict is "consistent".
    data : array (n_samples, n_visible), optional
        Training data in [0, 1] (for Spin in [-1, 1], for other units their states). For Binary and
        Spin units, a pilot chooses the base rates of the data or a mean-field fit as first base;
        other units take the base rates. ``settings["base"]`` records the choice. A path has its own
        base and accepts no data.
    budget_seconds : float, optional
        Processor seconds, 10 by default. They are counted from the sizes of the model, so the same
        seed gives the same rounds on every machine, and the real time may differ. Rounds of 250,
        1,000, 4,000 ... steps run, each with its own random numbers, until two consecutive rounds
        pass every check and the standard error is at most 0.05. The last round gives the result,
        because choosing a round that passed would bias it. If the budget ends first, the last round
        uses the rest, with fewer chains and more steps if weights would be uneven. A model is
        enumerated if one layer of each unconnected part has at most 20 units, or 26 if the budget
        allows.
    n_steps : int, optional
        Number of steps of each run in a single round, instead of a budget. The same seed, steps and
        chains give the same bits as in the last round of a run with a budget.
    n_chains : int, optional
        Number of chains of each run, 500 by default; only with ``n_steps``.
    rng : int or numpy.random.Generator, optional
        ``settings["rng"]`` records the seed, even if it was drawn.
    enumerate_small : bool
        Whether to enumerate small models instead of estimating log Z. Even if False, the search
        for modes may sum all states.

    Returns
    -------
    Estimate
        `verdict` is "exact", "verified", "consistent", "inconclusive" or "contradicted", and
        `reason` explains it. The last two verdicts come with a `ConvergenceWarning`.
        ``details["lower_bound"]`` and ``details["upper_bound"]`` hold (value, standard error) of
        bounds in expectation, ``details["best_lower_bound"]`` the highest bound from a sum over
        states and from mean fields, ``details["checks"]`` the checks, and ``details["steps"]`` the
        number of steps for an interval of about +- 0.05.

        If a check failed, `std_error` includes the largest disagreement. log Z is then above the
        lower end of `interval` with 97.5% confidence (by Markov's inequality or a lower bound). The
        upper end relies on the reverse run, and is infinite if the runs missed something. If the
        runs lie below the best lower bound, `log_z` is that bound.

    Raises
    ------
    TypeError, ValueError
        If ``rbm`` is neither an RBM nor a path, or has leaky units; if the data do not fit the
        model; if both a budget and a number of steps are given, or one of them is out of bounds.

    Examples
    --------
    >>> import rbmlib as rl
    >>> rbm = rl.testsystems.random_rbm(n_visible=30, n_hidden=10, rng=0)
    >>> rl.log_z(rbm).method
    'exact'
    >>> estimate = rl.log_z(rbm, n_steps=1000, rng=0, enumerate_small=False)
    >>> estimate.log_z == rl.log_z(rbm, n_steps=1000, rng=0, enumerate_small=False).log_z
    True
    """
    is_path = isinstance(rbm, Path)
    checks.instance("enumerate_small", enumerate_small, checks.BOOLS, "True or False")
    target = rbm if is_path else as_rbm("rbm", rbm, RBM_MEANING)
    budget, n_steps, n_chains = _length(budget_seconds, n_steps, n_chains)
    if not is_path:
        target, data = _in_bits(target, data)
    base, seed = None if data is None else _base(target, data), _seed(rng)
    if enumerate_small and not is_path and _is_small(target, budget or BUDGET_SECONDS):
        return exact(target)
    problem = Problem(target, data, base, seed)
    if n_steps is None:
        ran = rounds(problem, budget or BUDGET_SECONDS)
    else:
        ran = [three_runs(problem, n_steps, n_chains)]
    last = ran[-1]
    if not last.passed:
        _warn_of(last, budget, can_have_data=not is_path and data is None)
    base_words = "base rate of data" if problem.of_data else "mean field"
    settings = {"rng": seed, "base": "of the path" if is_path else base_words}
    settings |= {"budget_seconds": budget, "n_steps": last.n_steps, "n_chains": last.n_chains}
    estimate = last.estimate()
    details = estimate.details | {"earlier_rounds": [earlier.n_steps for earlier in ran[:-1]]}
    settings, states = estimate.settings | settings, estimate.states
    if not is_path and isinstance(rbm, RBM) and isinstance(rbm.visible, Spin):
        states = 2.0 * states - 1
    return replace(estimate, settings=settings, details=details, states=states)


# what is asked for --------------------------------------------------------------------------


def _in_bits(rbm, data):
    """Return the model and its data with Binary units in place of Spin."""
    if not rbm.hidden.conditional:
        raise TypeError(f"rbm is {rbm!r}: expected {RBM_MEANING}")
    if data is not None and isinstance(rbm.visible, Spin):
        rows = checks.numeric("data", data, "(n_samples, n_visible)").astype(float)
        if rows.size and not (rows.min() < 0 and np.abs(rows).max() <= 1):
            came = f"data runs from {rows.min():g} to {rows.max():g}"
            raise ValueError(f"{came}: expected -1 and 1 (Spin); for bits, use 2.0 * data - 1")
        data = (rows + 1) / 2
    return rbm.to_bits(), data


def _is_small(rbm, budget: float) -> bool:
    """Return whether the sums over the states of all parts fit into the budget."""
    sizes = [(fewest_states(model), max(model.weights.shape)) for model in parts(rbm).models]
    if any(n_states > 2**MOST_EXACT_UNITS for n_states, _ in sizes):
        return False
    seconds = sum(n_states * (STATE + OF_UNIT * others) for n_states, others in sizes)
    if in_bits(rbm) is None:
        return SLOWER * seconds <= budget
    return seconds <= budget or all(n_states <= 2**EXACT_UNITS for n_states, _ in sizes)


def _length(budget_seconds, n_steps, n_chains) -> tuple[float | None, int | None, int]:
    """Return the budget, the number of steps (one of these is None), and the number of chains."""
    if n_steps is not None:
        if budget_seconds is not None:
            came = f"budget_seconds is {budget_seconds!r} and n_steps is {n_steps!r}"
            raise ValueError(f"{came}: expected one of them; n_steps alone fixes the result")
        n_steps = checks.count("n_steps", n_steps, most=MAX_STEPS)
        n_chains = N_CHAINS if n_chains is None else checks.count("n_chains", n_chains, FEWEST)
        return None, n_steps, n_chains
    if n_chains is not None:
        came = f"n_chains is {n_chains!r} without n_steps"
        raise ValueError(f"{came}: expected both or neither; a budget decides n_chains")
    meaning = f"a number above 0, {MAX_SECONDS:,.0f} at most"
    budget = BUDGET_SECONDS if budget_seconds is None else budget_seconds
    budget = checks.number("budget_seconds", budget, meaning, above=0, most=MAX_SECONDS)
    return budget, None, N_CHAINS


def _base(target, data):
    """Return the visible biases of the base rates of the data."""
    if isinstance(target, Path):
        raise ValueError("data is given with a path, which has its own base: expected one of them")
    if np.shape(data)[-1:] != (target.n_visible,):
        meaning = f"(n_samples, {target.n_visible}), one column per visible unit of the model"
        came = f"data is {data!r}" if isinstance(data, str) else f"data has shape {np.shape(data)}"
        raise ValueError(f"{came}: expected {meaning}{target.visible.entries}")
    layer = None if isinstance(target.visible, Binary) else target.visible
    return base_rate(data, layer=layer)  # rejects other values


def _seed(rng) -> int:
    """Return the given seed, or a seed that is drawn from ``rng``."""
    source = checks.generator(rng)  # rejects other values
    return int(source.integers(2**63)) if rng is None or source is rng else int(rng)


def _warn_of(last: Evidence, budget: float | None, can_have_data: bool) -> None:
    """Warn of the failed checks, and suggest remedies that are not in use yet."""
    factor, helps = max(float(GROWTH), factor_needed(last)), []
    name, option, value, most = "n_steps", "--steps", float(last.n_steps), float(MAX_STEPS)
    if budget is not None:
        name, option, value, most = "budget_seconds", "--budget", budget, MAX_SECONDS
    if factor * value <= most:
        more = min(most, rounded_up(factor * value))
        helps.append(f"{name}={more:.10g} ({option} {more:.10g})")
    if can_have_data:
        helps.append("training data: data=... (--data)")
    if last.one_base:
        helps.append("a path from another base")
    remedy = ", or ".join(helps) or "another base: rl.GeometricPath(rbm, base)"
    bound = ". The value is only a lower bound" if last.is_bound else ""
    warn(f"log_z: {last.verdict}: {reason(last)}{bound}. Try {remedy}")
