"""log Z of a trained model, checked from several sides: for those who just want the number.

A model with few states is enumerated. Of others states of the smaller layer are sought, and their
p* is summed: what chains find outside is added to the sum, and where it holds nearly all of Z the
answer has hardly an error bar (`search.summed`).

A round is three runs of one length, with steps that a short pilot chose (`three_runs`): AIS from
one base, AIS from a second, broader base, and reverse AIS along the first path from the particles
of both. Both directions of the first path are joined by Bennett's equation. A mode that one base
loses shows as a disagreement, which no run's own error bar would show. Modes that both lose are
sought by mean-field solutions from many starts, each with a lower bound on log Z; those of which
chains find too few get chains of their own (`missed`).
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
from .evidence import Evidence, factor_needed, rounded_up
from .problem import SLOWER, Problem
from .rounds import GROWTH, MAX_STEPS, N_CHAINS, rounds
from .three_runs import three_runs

EXACT_UNITS, MOST_EXACT_UNITS = 20, 26  # of a layer: enumerated, and if the budget allows
STATE, OF_UNIT = 2e-8, 4e-10  # seconds of a state of a sum, and of each unit of the other layer
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
        A fitted BernoulliRBM of scikit-learn is also accepted. Modes are sought if all units are
        Binary or Spin, or if Gaussian units are visible and Binary ones hidden. For a path no modes
        are sought, and it has one base, so that its best verdict is "consistent".
    data : array (n_samples, n_visible), optional
        Training data in [0, 1] (of Spin in [-1, 1], of other units their states): their base rate
        is one base to begin at, a mean-field fit another; a pilot chooses for Binary and Spin
        units, and others begin at the base rate (settings["base"]). A path brings its own base.
    budget_seconds : float, optional
        Processor seconds, 10 by default: of work that is counted from sizes, so that the same
        seed gives the same rounds on every machine; aimed at, not guaranteed. Rounds of 250, 1,000,
        4,000 ... steps are run, each with random numbers of its own, until two in a row pass every
        check and the standard error is at most 0.05. The last is the answer: one before it was
        chosen because it passed. If the budget ends before, the last round takes what is left, with
        fewer chains of more steps where weights would be uneven. A model is enumerated where one
        layer, of each part that no weight connects to the others, has up to 20 units, or up to 26
        if the budget allows.
    n_steps : int, optional
        Temperatures of each run, instead of a budget: one round. The same seed then gives the
        same bits, and those of a run with a budget whose settings say the same steps and chains.
    n_chains : int, optional
        Of each run, 500 by default; with ``n_steps`` only.
    rng : int or numpy.random.Generator, optional
        ``settings["rng"]`` holds the seed, also where it had to be drawn.
    enumerate_small : bool
        False: estimate even where enumeration is possible.

    Returns
    -------
    Estimate
        `verdict` is "exact", "verified", "consistent", "inconclusive" or "contradicted", and
        `reason` a sentence that says why; a `ConvergenceWarning` comes with the last two.
        ``details["lower_bound"]`` and ``details["upper_bound"]`` hold (value, standard error) of
        bounds in expectation, ``details["best_lower_bound"]`` the highest of a sum over states and
        of mean fields, ``details["checks"]`` what was checked, and ``details["steps"]`` how many
        steps an interval of about +- 0.05 takes. Where a check failed `std_error` holds the largest
        disagreement, and `interval` is what remains: log Z is above its lower end (97.5%, by
        Markov's inequality or a lower bound), and below its upper end as far as the reverse run
        knows, which is infinite where something was missed. `log_z` is then the best lower bound,
        if the runs lie below it.

    Raises
    ------
    TypeError, ValueError
        If ``rbm`` is no RBM and no path, or has leaky units; if the data are not of the model, both
        a budget and a number of steps are given, or one of them is out of bounds.

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
    """The model, and data of it, with Binary for Spin."""
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
    """Whether the sums over states of all its parts take less than the budget, by their sizes."""
    models = parts(rbm).models
    sizes = [(fewest_states(model), max(model.weights.shape)) for model in models]
    if any(n_states > 2**MOST_EXACT_UNITS for n_states, _ in sizes):
        return False
    seconds = sum(n_states * (STATE + OF_UNIT * others) for n_states, others in sizes)
    if in_bits(rbm) is None:
        return SLOWER * seconds <= budget
    return seconds <= budget or all(n_states <= 2**EXACT_UNITS for n_states, _ in sizes)


def _length(budget_seconds, n_steps, n_chains) -> tuple[float | None, int | None, int]:
    """The budget or the number of steps, of which one is None, and how many chains."""
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
    """Visible biases by the data."""
    if isinstance(target, Path):
        raise ValueError("data is given with a path, which has its own base: expected one of them")
    if np.shape(data)[-1:] != (target.n_visible,):
        meaning = f"(n_samples, {target.n_visible}), one column per visible unit of the model"
        came = f"data has shape {np.shape(data)}"
        raise ValueError(f"{came}: expected {meaning}{target.visible.entries}")
    if isinstance(target.visible, Binary):
        return base_rate(data)  # which refuses what is no data
    return base_rate(data, layer=target.visible)


def _seed(rng) -> int:
    """The seed that was given, or one that is drawn from what was."""
    source = checks.generator(rng)  # which refuses what is no seed
    return int(source.integers(2**63)) if rng is None or source is rng else int(rng)


def _warn_of(last: Evidence, budget: float | None, can_have_data: bool) -> None:
    """What failed, and what may help: nothing that was given already, or would be refused."""
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
    failed = "; ".join(str(check) for check in last.checks() if not check.passed)
    bound = ". The value is only a lower bound" if last.is_bound else ""
    warn(f"log_z: {last.verdict}: {failed}{bound}. Try {remedy}")
