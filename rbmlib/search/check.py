"""The independent check of an estimate, by bounds that do not depend on the run.

The checks of a run cannot detect a mode that no chain has entered. A sum over distinct states of
the smaller layer (`summed`) is a lower bound on Z, and so is a mean-field bound: an interval below
such a bound is wrong. `rl.check` sums over more states and anneals about mean-field modes
(`local_masses`). If the sum holds nearly all of the value, it also runs chains from a second,
broader base, because the remaining states may together hold more than the sum.

Work is counted in states, so the same seed gives the same verdict on every machine.
"""

import math
from dataclasses import replace

import numpy as np

from .. import checks
from .._kernels import threads
from ..context import using
from ..estimate import Check, Estimate
from ..models.conversion import described
from ..models.enumeration import parts
from ..models.gauges import in_bits
from ..models.layers import Gaussian
from ..models.mean_field import best_lower_bound
from ..models.rbm import RBM
from ..paths.bases import mean_field_bias
from ..paths.named import GeometricPath
from ..paths.path import Path
from ..results import needed_ess, summarise_log_weights, warn
from ..sampling.anneal import annealed
from ..sampling.sample import TemperedSample
from .local_masses import local_masses, of_real_units
from .summed import HELD, SURE, StateSum, Summed

IN_A_RUN, ON_REQUEST = 20_000, 2_000_000  # states to evaluate
UNCOMPILED, SMALL = 10, 2_000  # divisor without a compiled loop, used above this many weights
SEEDS = 1000  # most states of the run to start from
SECOND_CHAINS, SECOND_STEPS, BROAD = 200, 1000, 0.2  # run from the second base; its smoothing
WORTH_SAYING = 0.01  # share of Z in the sum from which the reason mentions it
WRONG = 4.0, 0.05  # error in standard errors and nats that contradicts a value, if Z is known
MARGIN, ROUNDING = 1e-6, 1e-12  # tolerance in nats, and relative to log Z
REMEDY, SEEKS = "another base, or more temperatures", "rl.log_z(rbm), which searches for modes"


def check(path: Path, estimate: Estimate) -> Estimate:
    """Check an estimate by a sum over 2,000,000 states and by modes; return it with its verdict.

    Every estimator ends with a similar check of 20,000 states. This check may take seconds.

    Parameters
    ----------
    path : Path
        The path to the target whose log Z was estimated.
    estimate : Estimate
        If it has states, the search starts from these and from descents at zero temperature,
        otherwise from the descents alone. A contradicted estimate is returned unchanged.

    Returns
    -------
    Estimate
        The estimate with `verdict` and `reason` updated:

        - "contradicted": a lower bound on log Z lies above the interval. The bound is a sum over
          states, a mean-field bound or the mass about modes. The new interval begins at the bound
          and is open above, `std_error` includes the difference, and a `ConvergenceWarning` is
          issued. An estimate is also contradicted if a sum over all states lies outside the
          interval. Both tests widen the interval by one half, because a correct 95% interval
          misses log Z once in twenty runs.
        - "inconclusive": such a bound lies above the interval, but not above the widened interval.
        - "verified": the sum holds at least 90% of the value, and 200 chains from a second,
          broader base agree; or the sum is over all states.

        ``details["independent_check"]`` holds the numbers. The verdict does not change if the
        states of neither layer can be counted.

    Examples
    --------
    >>> import rbmlib as rl
    >>> path = rl.GeometricPath(rl.testsystems.random_rbm(20, 18, rng=1))
    >>> run = rl.ais(path, rl.schedules.linear(500), rng=0)
    >>> run.verdict, rl.check(path, run).verdict
    ('consistent', 'verified')
    """
    checks.instance("path", path, Path, checks.PATH_MEANING)
    checks.instance("estimate", estimate, Estimate, "what an estimator returned")
    if "terms" in estimate.settings:
        meaning = "one of its terms, with the path to the target of this term"
        raise ValueError(f"estimate is {estimate.method}, a sum or difference: expected {meaning}")
    target, own = getattr(path, "rbm", None), estimate.settings.get("fingerprint")
    if isinstance(target, RBM) and own not in (None, described(target)["fingerprint"]):
        model = estimate.settings.get("model")
        came = f"of another model ({model}) than the path leads to ({described(target)['model']})"
        raise ValueError(f"estimate is {came}: expected one of the same weights and biases")
    checks.number("estimate.log_z", estimate.log_z, "a finite number")
    model, states = model_of(path), getattr(estimate.states, "states", estimate.states)
    if model is not None and isinstance(states, np.ndarray):
        checks.states("estimate.states", states, model.visible)
    if model is None or estimate.verdict in ("contradicted", "exact"):
        return estimate
    with threads.blas_threads(1):  # more threads are slower for products this small
        return _checked(model, estimate, ON_REQUEST)


def checked(path: Path | RBM | None, estimate: Estimate) -> Estimate:
    """Run the short check at the end of an estimator, except `log_z`, which searches further."""
    model = model_of(path)
    of_tap = "orders" in estimate.details  # TAP has no error
    unknown = not (estimate.std_error > 0 or of_tap) or not math.isfinite(estimate.log_z)
    if model is None or unknown or estimate.method == "log_z":
        return estimate
    with threads.blas_threads(1):
        return _checked(model, estimate, IN_A_RUN)


def model_of(path) -> RBM | None:
    """Return the RBM whose visible states a path uses, or None if no layer can be counted.

    A model stands for its `GeometricPath`; with Gaussian units this is the model on the span.
    """
    model = getattr(path, "models", [getattr(path, "model", path)])[-1]
    if isinstance(path, RBM) and isinstance(path.visible, Gaussian):
        model = path.reduced()[0]
    layers = (model.visible, model.hidden) if isinstance(model, RBM) else ()
    return model if any(layer.values is not None for layer in layers) else None


def _checked(model, estimate, n_states) -> Estimate:
    """Check an estimate by ``n_states`` states and, on request, by modes and a second base."""
    rng, on_request = np.random.default_rng(0), n_states == ON_REQUEST
    log_sum, n_summed, known = _sum(model, estimate, n_states, rng)
    numbers = {"on_request": on_request, "log_sum": log_sum, "n_states": n_summed,
               "complete": known is None}  # fmt: skip
    passed = all(check.passed for check in _own(estimate))
    if known is None:
        return _of_all_states(estimate, log_sum, numbers, passed)
    what = f"a sum over {n_summed:,} states"
    bounds, bits = [(log_sum, what)], in_bits(model)
    if bits is not None:
        starts = np.tile([[0.0], [0.5], [1.0]], bits.n_hidden)
        bounds.append((best_lower_bound(bits, starts), "a mean-field bound"))
    sought = model if of_real_units(model) else bits
    if on_request and sought is not None and not _beyond(max(bounds)[0], estimate):
        with using(progress=False):
            masses = local_masses(sought, rng)
        numbers |= {"log_local": masses.log_z, "n_modes": masses.n_modes}
        bounds.append((masses.log_lower, f"the mass around {masses.n_modes} modes"))
    low, of = max(bounds)
    above = f"{of} lies above this value by"
    if _beyond(low, estimate):
        return _contradicted(estimate, low, above, numbers)
    gap = low - estimate.log_z
    if low > estimate.interval[1] + _margin(low):
        return _outside(estimate, Check(above, False, gap, unit="nats", disagreement=gap), numbers)
    share = math.exp(min(0.0, log_sum - estimate.log_z))
    found = [Check(f"{what} holds", True, share, unit="of this value")]
    if gap > 0 and not math.isnan(estimate.std_error):
        found = [Check(f"within its error, {above}", True, gap, unit="nats")]
    if not (on_request and passed and share >= HELD and model.visible.values is not None):
        return _with(estimate, found, numbers)
    second = _second_base(model, estimate, known, rng)
    if second.contradicts:
        low = estimate.log_z + second.disagreement
        return _contradicted(estimate, low, second.name.replace("differs", "is higher"), numbers)
    verdict = "verified" if second.passed else ""
    return _with(estimate, [*found, second._replace(passed=True)], numbers, verdict)


def _of_all_states(estimate, log_sum, numbers, passed) -> Estimate:
    low, high = _ends(estimate)
    gap, n = log_sum - estimate.log_z, numbers["n_states"]
    what = f"the sum over all {n:,} states" if n > 1 else "the exact value"
    outside = not low - _margin(log_sum) <= log_sum <= high + _margin(log_sum)
    if outside or abs(gap) > max(WRONG[0] * estimate.std_error, WRONG[1]):  # few chains: wide
        name = f"{what} lies {'above' if gap > 0 else 'below'} this value by"
        return _contradicted(estimate, log_sum, name, numbers, log_sum + _margin(log_sum))
    found = Check(f"{what} differs from this value by", True, abs(gap), unit="nats")
    return _with(estimate, [found], numbers, "verified" if passed else "")


def _sum(model, estimate, n_states, rng):
    """Return the log of a sum over states, their number, and the `StateSum` (None if all)."""
    small = model.weights.size <= SMALL
    affordable = n_states if small or in_bits(model) is not None else n_states // UNCOMPILED
    if (n_all := parts(model).n_states) <= affordable:
        return model.exact_log_z(), max(1, int(n_all)), None  # one term without weights
    known = StateSum(model)
    known.descend(rng)
    states = estimate.states
    if isinstance(states, TemperedSample):
        states = states.states[states.index == states.betas.size - 1]
    if isinstance(states, np.ndarray) and len(states):  # every second chain, at beta = 1
        known.add(np.atleast_2d(states)[: 2 * SEEDS : 2])
    known.grow(affordable)
    return known.log_sum, known.n_states, known


def _second_base(model, estimate, known, rng) -> Check:
    """Run chains from a broad base; the check passes if they find the sum, and no more."""
    path = GeometricPath(model, mean_field_bias(model, smoothing=BROAD))
    states, log_weights = annealed(path, SECOND_CHAINS, SECOND_STEPS, rng)
    found = summarise_log_weights(log_weights)
    summed = Summed.of(known, model, [(log_weights, states)], rng)
    gap, error = found.log_mean - estimate.log_z, math.hypot(found.std_error, 1e-3)
    near = -math.log(HELD)  # tolerance for a value of unknown error
    if not math.isnan(estimate.std_error):
        error = math.hypot(error, estimate.std_error)
        near = SURE * error
    even = found.ess >= needed_ess(SECOND_CHAINS)
    finds = summed.surely_holds_z and summed.lost < 1 - HELD
    agrees, higher = bool(even and finds and gap <= near), bool(even and gap > near)
    name = f"a run from a second, broader base (ESS {found.ess:.0f} of {SECOND_CHAINS}) differs by"
    return Check(name, agrees, gap / error, SURE, "s.e.", gap, contradicts=higher)


# the consequences for an estimate -------------------------------------------------------------


def _ends(estimate) -> tuple[float, float]:
    """Return the ends of the extended interval; if the error is unknown, Z may be off by 10%."""
    (low, high), value, error = estimate.interval, estimate.log_z, estimate.std_error
    if math.isnan(error):
        return value + math.log(HELD), value - math.log(HELD)
    below, above = (x if math.isfinite(x) else 1.96 * error for x in (value - low, high - value))
    return value - SURE / 1.96 * max(0.0, below), value + SURE / 1.96 * max(0.0, above)


def _beyond(low, estimate) -> bool:
    return bool(low > _ends(estimate)[1] + _margin(low))


def _margin(log_z) -> float:
    return MARGIN + ROUNDING * abs(log_z)


def _own(estimate) -> list[Check]:
    """Return the checks of the run, without those of an earlier independent check."""
    earlier = estimate.details.get("independent_check", {}).get("names", ())
    return [check for check in estimate.checks if check.name not in earlier]


def _with(estimate, found, numbers, verdict="") -> Estimate:
    """Return the estimate with these checks, and with the verdict if one is given."""
    numbers = numbers | {"names": [check.name for check in found]}
    every, verdict = [*_own(estimate), *found], verdict or estimate.verdict
    details = estimate.details | {"independent_check": numbers, "checks": every}
    said = " and ".join(map(str, found))
    if verdict == "verified" or not all(check.passed for check in found):
        details["reason"] = said
    elif verdict == "consistent":
        worth = found[0].unit == "nats" or found[0].value >= WORTH_SAYING
        some = f"; {said}" if worth else ""
        details["reason"] = f"all checks passed{some}; nothing verifies the value"
    return replace(estimate, details=details, verdict=verdict)


def _outside(estimate, found, numbers) -> Estimate:
    """Return the estimate as inconclusive or contradicted, as ``found`` says, and warn."""
    verdict = "contradicted" if found.contradicts else "inconclusive"
    other_run = estimate.std_error >= 0 and estimate.method != "log_z"
    warn(f"{estimate.method}: {verdict}: {found}. Use {f'{REMEDY}; or ' * other_run}{SEEKS}")
    return _with(estimate, [found], numbers, verdict)


def _contradicted(estimate, low, name, numbers, high=math.inf) -> Estimate:
    """Return the estimate with an interval that begins at the bound, and warn."""
    gap = abs(low - estimate.log_z)
    found = Check(name, False, gap, unit="nats", disagreement=gap, contradicts=True)
    estimate = _outside(estimate, found, numbers)
    estimate.details["disagreement"] = max(gap, estimate.details.get("disagreement", 0.0))
    error = gap if math.isnan(estimate.std_error) else math.hypot(estimate.std_error, gap)
    return replace(estimate, std_error=error, interval=(low - _margin(low), high))
