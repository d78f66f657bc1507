"""log Z of a trained model, checked from several sides: for those who just want the number.

Small models are enumerated. Elsewhere a round is three runs of one length, with steps that a short
pilot chose: AIS from one base, AIS from a second, broader base, and reverse AIS along the first
path from the particles of both. Both directions of the first path are joined by Bennett's
equation. A mode that one base loses shows as a disagreement, which no run's own error bar would
show. Modes that both lose are sought by mean-field solutions from many starts, each with a lower
bound on log Z. A pilot from a base about each says which of them the runs would miss: these get
runs of their own, and Z is the sum of what all find, each in its part (`cover`).
"""

from __future__ import annotations

import time
from dataclasses import replace

import numpy as np
from numba.core import event

from .. import __version__
from .._diagnosis import warn
from .._kernels import threads
from .._progress import one_run
from .._validation import count, generator, number
from ..estimators.exact import can_enumerate, exact
from ..models.bernoulli import BernoulliRBM
from ..models.conversion import as_rbm
from ..paths.base import AnnealingPath
from ..paths.bases import base_rate
from ..results import Estimate
from .checks import Round
from .rounds import MAX_STEPS, N_CHAINS, Runs, compiled, rounds
from .verdict import verdict

EXACT_UNITS = 20
BUDGET_SECONDS = 10.0
MAX_SECONDS = 1e6  # 11 days
FEWEST = 20  # chains
RBM_MEANING = "a BernoulliRBM, or a path to any model, such as rl.LeakinessPath(model)"


@one_run
def log_z(
    rbm: BernoulliRBM | AnnealingPath,
    *,
    data=None,
    budget_seconds: float | None = None,
    n_steps: int | None = None,
    n_chains: int | None = None,
    rng=None,
    enumerate_small: bool = True,
    n_threads: int | None = None,
    progress: bool | None = None,
) -> Estimate:
    """Estimate log Z, and say whether to trust it.

    Parameters
    ----------
    rbm : BernoulliRBM or AnnealingPath
        A fitted BernoulliRBM of scikit-learn is taken too. Other models are given by a path to
        them: there is one base then, no modes are sought, and the best verdict is "wider than it
        looks".
    data : array (n_samples, n_visible), optional
        Training data in [0, 1] for the base; without it a mean-field fit serves. A path brings its
        own base.
    budget_seconds : float, optional
        Aimed at, not guaranteed; 10 by default. Rounds of 250, 1,000, 4,000 ... steps are run,
        each with random numbers of its own, until two in a row pass every check and the standard
        error is at most 0.05. The last is the answer: one before it was chosen because it passed.
        If the budget ends before, the last round takes what is left of it, with fewer chains of
        more steps where the weights would otherwise be uneven. Compilation, once after an
        installation, is not counted (a line on standard error tells of it); nor does enumeration
        (up to 20 units in a layer) look at the budget.
    n_steps : int, optional
        Temperatures of each run, instead of a budget: one round. The same seed then gives the
        same bits, and those of a run with a budget whose ``settings["n_steps"]`` and
        ``settings["n_chains"]`` were these.
    n_chains : int, optional
        Of each run, 500 by default; with ``n_steps`` only.
    rng : int or numpy.random.Generator, optional
        ``settings["rng"]`` holds the seed, also where it had to be drawn.
    enumerate_small : bool
        False: estimate even where enumeration is possible.

    Returns
    -------
    Estimate
        ``settings["verdict"]`` is a sentence that begins with "trust", "wider than it looks" or "do
        not trust", says why, and what it would take. ``settings["lower_bound"]`` and
        ``settings["upper_bound"]`` hold (value, standard error) of bounds in expectation,
        ``settings["checks"]`` what was checked, ``settings["n_parts"]`` the bases that it took;
        `converged` is True if every check passed. Otherwise a `ConvergenceWarning` says which did
        not, `std_error` holds the largest disagreement, and `interval` is what remains: log Z is
        above its lower end (97.5%, by Markov's inequality or a mean-field bound, even above
        `log_z`), and below its upper end as far as the reverse run knows, which is infinite where
        something was missed.

    Raises
    ------
    TypeError
        If ``rbm`` is no BernoulliRBM and no path.
    ValueError
        If the data are not of the model, both a budget and a number of steps are given, or one of
        them is out of bounds.

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
    is_path = isinstance(rbm, AnnealingPath)
    if not is_path:
        rbm = as_rbm("rbm", rbm, RBM_MEANING)
    budget, n_steps, n_chains = _length(budget_seconds, n_steps, n_chains)
    threads.resolve(n_threads)  # which refuses what is no number, before anything is compiled
    if is_path and data is not None:
        raise ValueError("data is given with a path, which brings its base: expected one of them")
    if data is not None and np.shape(data)[-1:] != (rbm.n_visible,):
        raise ValueError(
            f"data has shape {np.shape(data)}: expected (n_samples, {rbm.n_visible}), "
            "one column a visible unit of the model"
        )
    base = None if data is None else base_rate(data)  # which refuses what is no data
    started = time.perf_counter()
    with event.install_listener("numba:compile", event.TimingListener()) as compilation:
        if enumerate_small and not is_path and can_enumerate(rbm, EXACT_UNITS):
            estimate = exact(rbm, n_threads=n_threads, progress=progress)
            known = {
                "lower_bound": (estimate.log_z, 0.0),
                "upper_bound": (estimate.log_z, 0.0),
                "checks": {},
                "verdict": "trust: exact, by enumeration",
            }
            return replace(estimate, settings=estimate.settings | known)
        seed = _seed(rng)
        runs = Runs(rbm, data, base, seed, {"n_threads": n_threads, "progress": progress})
        if n_steps is None:
            ran = rounds(runs, budget, started, compilation)
        else:
            ran = [runs(n_steps, n_chains)]
    last = ran[-1]
    if not last.passed:
        _warn_of(last, budget, can_have_data=not is_path and data is None)
    forward, backward = last.forward, last.backward
    return replace(
        forward,
        method="log_z",
        log_z=last.log_z,
        std_error=last.std_error(),
        interval=last.interval(),
        seconds=time.perf_counter() - started,
        converged=last.passed,
        settings=forward.settings
        | {
            "rng": seed,
            "n_steps": last.n_steps,
            "n_chains": last.n_chains,
            "base": _base(is_path, data),
            "budget_seconds": budget,
            "earlier_rounds": [earlier.n_steps for earlier in ran[:-1]],
            "compile_seconds": compiled(compilation),
            "lower_bound": (forward.mean_log_z, forward.mean_std_error),
            "upper_bound": (backward.mean_log_z, backward.mean_std_error),
            "mean_field_bound": last.bound,
            "both_directions": (last.joint.log_z, last.joint.std_error),
            "first_base": (forward.log_z, forward.std_error),
            "second_base": (last.other.log_z, last.other.std_error),
            "reverse": (backward.log_z, backward.std_error),
            "upper_bound_from": "resampled AIS particles: as good a bound as they are samples",
            "checks": last.checks(),
            "verdict": verdict(last, data is not None),
            "missing": last.unseen,
            "n_parts": len(runs.cover.parts),
            "version": __version__,
        },
    )


def _length(budget_seconds, n_steps, n_chains) -> tuple[float | None, int | None, int]:
    """The budget or the number of steps, of which one is None, and how many chains."""
    if n_steps is not None:
        if budget_seconds is not None:
            raise ValueError(
                f"budget_seconds is {budget_seconds!r} and n_steps is {n_steps!r}: expected one "
                "of them; n_steps alone fixes the result"
            )
        n_steps = count("n_steps", n_steps)
        if n_steps > MAX_STEPS:
            raise ValueError(f"n_steps is {n_steps:,}: expected {MAX_STEPS:,} at most")
        return None, n_steps, N_CHAINS if n_chains is None else count("n_chains", n_chains, FEWEST)
    if n_chains is not None:
        raise ValueError(
            f"n_chains is {n_chains!r} without n_steps: expected both or neither; a budget chooses "
            "its chains"
        )
    meaning = f"a number above 0, {MAX_SECONDS:,.0f} at most"
    budget = BUDGET_SECONDS if budget_seconds is None else budget_seconds
    budget = number("budget_seconds", budget, meaning, above=0)
    if budget > MAX_SECONDS:
        raise ValueError(f"budget_seconds is {budget:g}: expected {meaning}")
    return budget, None, N_CHAINS


def _base(is_path: bool, data) -> str:
    if is_path:
        return "of the path"
    return "mean field" if data is None else "base rate of data"


def _seed(rng) -> int:
    """The seed that was given, or one that is drawn from what was."""
    if rng is None or isinstance(rng, np.random.Generator):
        return int(generator(rng).integers(2**63))
    generator(rng)  # which refuses what is no seed
    return int(rng)


def _warn_of(last: Round, budget: float | None, can_have_data: bool) -> None:
    """What failed, and what may help: nothing that was given already."""
    failed = [text for text, passed in last.checks().items() if not passed]
    remedies = [
        f"more steps than {last.n_steps:,} (n_steps; --steps)"
        if budget is None
        else f"more time than {budget:g} s (budget_seconds; --budget)"
    ]
    if can_have_data:
        remedies.append("training data (data; --data)")
    warn(
        f"log_z: do not trust this value: failed: {'; '.join(failed)}. Give it "
        + ", or ".join(remedies)
    )
