"""A second opinion on an estimate of log Z, from sums that owe nothing to a sampler.

A run's own checks cannot see a mode that no chain has entered. A sum over distinct states of the
smaller layer (`beam`) is at or below Z whatever they are: where it lies above a run's interval, the
run missed something. Where the sum is far below, masses about mean-field modes (`local_masses`) may
tell. What neither finds, neither tells of.

Work is counted from sizes and states, in nanoseconds that were measured once: the same seed gives
the same verdict on every machine.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from .. import checks
from ..context import using
from ..estimate import Check, Estimate
from ..models.conversion import described
from ..models.enumeration import parts
from ..models.gauges import in_bits
from ..models.layers import Gaussian
from ..models.mean_field import broad_lower_bound
from ..models.rbm import RBM
from ..paths.path import Path
from ..results import warn
from ..sampling.planning import LADDER_STEPS, LOG_Z_STEPS, N_CHAINS
from ..sampling.sample import TemperedSample
from .beam import SETTLED, Beam, descents
from .local_masses import MOST_MODES, SURE, local_masses, of_real_units

SHARE, FLOOR, ON_REQUEST = 0.1, 5e7, 4e9  # of a run's work; ns that any run, or a call, affords
DOUBTED = 5e8  # ns where a sum lies above the value, but not above its interval yet
SUM = 4  # a sum takes one in 4, and another where it is above the value and grows; masses the rest
SWEEP, OF_SWEEP = (100.0, 1.3), 0.008  # ns of a sweep of a run and of each unit; of each weight ...
CHANGED, EVEN = 4.0, 2.0  # ... more where many units change, and where weights are of one size
TEMPERED = 1000.0  # ns more of a sweep at changing temperatures
LOOK, OF_LOOK = 100.0, 1.0  # ns of a state of the sum, and of each unit of the other layer
SLOW = 10.0  # times that, of layers without a compiled loop
ENUMERATED = 0.5, 100.0  # ns of each unit of the other layer, where all states are enumerated; SLOW
HUNT, MODE, OF_MODE = 4e5, 2e6, 300.0  # ns of a hunt, of each unit; of a mode, and of each weight
REAL = 0.2, 4.0  # times these, of real visible units: few starts, and no compiled loop
MOST_STATES = 2_000_000  # that are looked at
SEEDS = 1000  # states of the run, at most
MARGIN, ROUNDING = 1e-6, 1e-12  # nats above an interval that refute it; and of each nat of log Z
NEAR = 1e-3  # nats that a sum may lie below the interval of a run with which it agrees
AGREES = 0.9  # share of Z that a sum, or lower end, holds
FEWEST = 30  # effective chains of a value that masses confirm: they are too low if modes are missed
REMEDY, HUNTS = "another base, or more temperatures", "rl.log_z(rbm), which seeks modes"


class Opinion(NamedTuple):
    """What was found, in numbers: ``details["second_opinion"]``."""

    verdict: str  # "refuted", "agrees", "cannot tell", "not checked"
    text: str
    log_sum: float = -math.inf
    n_states: int = 0
    complete: bool = False  # all states: the sum is Z
    log_local: float = math.nan  # sum of local masses
    log_local_lower: float = -math.inf
    n_modes: int = 0


def check(path: Path, estimate: Estimate) -> Estimate:
    """The estimate, with a second opinion among its `Estimate.checks`.

    Every estimator asks for one that costs less than a tenth of the run, or some 50 ms; half a
    second where a sum lies above the value, within its interval. Here it may take seconds.

    Parameters
    ----------
    path : Path
        Whose target's log Z was estimated.
    estimate : Estimate
        Its states are among those from which the sum is grown; without them (of a file, say) it
        is grown from descents at zero temperature alone. One that was refuted is returned as it is.

    Returns
    -------
    Estimate
        ``details["second_opinion"]`` holds a verdict, and the numbers behind it:

        - "refuted": a sum over states, at or below Z, lies above the interval. ``converged`` is
          False, with a `ConvergenceWarning`; the interval begins at the sum and is open above, and
          `std_error` holds the difference. Or the sum is over all states and not in the interval,
          whose lower half counts as longer: an honest one lies above log Z at times.
        - "agrees": the sum holds 90% of this value or more, grows no more, and is not above it;
          or what lies about modes does, and 30 effective chains or more made the value.
        - "cannot tell", and how much of this value is accounted for.
        - "not checked": neither layer of the model can be counted.

    Examples
    --------
    >>> import rbmlib as rl
    >>> path = rl.GeometricPath(rl.testsystems.random_rbm(20, 12, rng=1))
    >>> run = rl.ais(path, rl.schedules.linear(500), rng=0)
    >>> rl.check(path, run).details["second_opinion"]["verdict"]
    'agrees'
    """
    checks.instance("path", path, Path, checks.PATH_MEANING)
    checks.instance("estimate", estimate, Estimate, "what an estimator returned")
    if "terms" in estimate.settings:
        raise ValueError(
            f"estimate is {estimate.method}, a sum or difference: expected each of its terms with "
            "the path of its own target"
        )
    target, own = getattr(path, "rbm", None), estimate.settings.get("fingerprint")
    if isinstance(target, RBM) and own not in (None, described(target)["fingerprint"]):
        raise ValueError(
            f"estimate is of another model ({estimate.settings.get('model')}) than the path leads "
            f"to ({described(target)['model']}): expected one of the same weights and biases"
        )
    checks.number("estimate.log_z", estimate.log_z, "a finite number, of a run that gave one")
    model, states = model_of(path), getattr(estimate.states, "states", estimate.states)
    if model is not None and isinstance(states, np.ndarray):
        checks.states("estimate.states", states, model.visible)
    if estimate.details.get("second_opinion", {}).get("verdict") == "refuted":
        return estimate
    return with_opinion(estimate, _opinion(path, estimate, ON_REQUEST))


def checked(path: Path | RBM | None, estimate: Estimate) -> Estimate:
    """As `check`, where that costs little beside the run; else the estimate as it is."""
    model, compared = model_of(path), "orders" in estimate.details  # TAP, which knows no error
    if model is None or not (estimate.std_error > 0 or compared):
        return estimate
    work = max(FLOOR, SHARE * _work(model, estimate))
    opinion = _opinion(path, estimate, work)
    if opinion.verdict == "cannot tell" and opinion.log_sum > estimate.log_z and work < DOUBTED:
        opinion = _opinion(path, estimate, DOUBTED)  # is it refuted?
    return with_opinion(estimate, opinion)


def _work(model, estimate) -> float:
    """Of a run, in ns: fields are sums over the active units, or over those that are not."""
    states, n_replicas, of_betas = estimate.states, estimate.n_chains, 0.0
    if isinstance(states, TemperedSample):  # whose sweeps were at all betas
        n_replicas, of_betas, states = states.index.size, TEMPERED, states.states
    found = states[: 2 * SEEDS] if isinstance(states, np.ndarray) else np.zeros((1, 1))
    changed, size = np.mean(found != np.roll(found, 1, axis=0)), np.abs(model.weights)
    even = size.mean() / max(size.max(), 1e-300)  # 1 where all are of one size, and cut for sums
    each = np.dot(SWEEP, [1, sum(size.shape)])
    each += OF_SWEEP * size.size * (1 + CHANGED * changed) * (1 + EVEN * even)
    details = estimate.details
    planned, own = details.get("planned", {}), details.get("pilot_steps", 0)
    pilots = own * n_replicas + N_CHAINS * LADDER_STEPS * ("length" in planned)
    if "pilot_sweeps" in planned:
        pilots += N_CHAINS * (LOG_Z_STEPS + planned["pilot_sweeps"])
    return float(pilots * each + n_replicas * estimate.n_sweeps * (each + of_betas))


def model_of(path) -> RBM | None:
    """The RBM whose visible units a path's states are, if a layer can be counted.

    Of a model itself, that of its `GeometricPath`: of Gaussian units the model on their span.
    """
    model = getattr(path, "models", [getattr(path, "model", path)])[-1]
    if isinstance(path, RBM) and isinstance(path.visible, Gaussian):
        model = path.reduced()[0]
    layers = (model.visible, model.hidden) if isinstance(model, RBM) else ()
    return model if any(layer.values is not None for layer in layers) else None


def with_opinion(estimate: Estimate, opinion: Opinion) -> Estimate:
    """The estimate, flagged and opened where refuted; of unknown error, converged if it agrees."""
    numbers, text, refuted = opinion._asdict(), opinion.text, opinion.verdict == "refuted"
    before = estimate.details.get("second_opinion", {}).get("text")  # which this one replaces
    every = [check for check in estimate.checks if check.name != before]
    unknown, good = math.isnan(estimate.std_error), estimate.converged
    if opinion.verdict != "not checked":
        every.append(Check(text, opinion.verdict == "agrees" if unknown else not refuted))
        good = all(check.passed for check in every) if unknown else good
    found = estimate.details | {"second_opinion": numbers, "checks": every}
    estimate = replace(estimate, details=found, converged=good)
    if not refuted:
        return estimate
    own_hunt = estimate.method == "log_z"
    remedy = f"Use {REMEDY}" + ("" if own_hunt else f"; or use {HUNTS}")
    warn(f"{estimate.method}: this value is wrong: {text}. {f'Use {HUNTS}' if unknown else remedy}")
    if own_hunt:
        estimate.details["verdict"] = f"do not trust: {text}"
    by_sum = opinion.complete or _beyond(opinion.log_sum, estimate)
    low = (opinion.log_sum if by_sum else opinion.log_local_lower) - MARGIN
    gap = abs(low - estimate.log_z)
    estimate.details["disagreement"] = max(gap, estimate.details.get("disagreement", 0.0))
    error = gap if unknown else math.hypot(estimate.std_error, gap)
    return replace(estimate, converged=False, std_error=error, interval=(low, math.inf))


def _opinion(path, estimate, work) -> Opinion:
    """What at most so much ``work`` (ns) finds."""
    model = model_of(path)
    if model is None:
        return Opinion("not checked", "not checked: neither layer of the model can be counted")
    rng, bits = np.random.default_rng(0), in_bits(model)
    sums = _Sums(model, _states(estimate), work, rng)
    sought = model if of_real_units(model) else bits
    n_modes = 0 if sought is None else sums.affordable_modes(sought)
    if sums.growth > SETTLED:
        if not n_modes:  # what masses would have taken is of use to the sum alone
            sums.grow_more(SUM - 1)
        elif sums.log_sum > estimate.log_z:
            sums.grow_more(1)
            n_modes = sums.affordable_modes(sought)
    found = _of_sum(sums, estimate)
    if found.verdict == "agrees" and not found.complete and bits is not None:
        found = _of_bound(broad_lower_bound(bits), found, estimate)
    if found.verdict != "cannot tell" or not n_modes:
        return found
    with using(progress=False):
        return _of_masses(local_masses(sought, rng, n_modes=n_modes), found, estimate)


def _states(estimate):
    """States of the visible units that the run itself found at beta = 1: every second chain's."""
    states = estimate.states
    if isinstance(states, TemperedSample):
        states = states.states[states.index == states.betas.size - 1]
    if not isinstance(states, np.ndarray) or not len(states):  # none, or fixed points of TAP
        return None
    return np.atleast_2d(states)[: 2 * SEEDS : 2]


class _Sums:
    """A sum over states of each connected part of a model, whose logarithms add up.

    The cheap ones are enumerated, the smallest first, so that what they leave of the work is for
    the others: beams, from descents and the ``states`` of the run.
    """

    def __init__(self, model, states, work, rng):
        split, fast = parts(model), in_bits(model) is not None
        self.known, self.n_known, self.growth, self.grown = split.free, 0, 0.0, []
        beams = [Beam(part) for part in split.models]
        self.of = f"states of {len(beams)} parts" if len(beams) > 1 else "hidden states"
        if [beam.turned for beam in beams] == [True]:
            self.of = "visible states"
        each = ENUMERATED[0 if fast else 1]
        prices = [beam.n_all * len(beam.small.visible) * each for beam in beams]
        for n_done, i in enumerate(sorted(range(len(beams)), key=prices.__getitem__)):
            beam, share = beams[i], work / (len(beams) - n_done)
            if prices[i] <= share:
                self.known += split.models[i].exact_log_z()
                self.n_known += int(beam.n_all)
                work -= prices[i]
                continue
            work -= share / SUM
            price = (1.0 if fast else SLOW) * (LOOK + OF_LOOK * len(beam.small.visible))
            limit = int(min(MOST_STATES, share / SUM / price))
            own = [] if states is None else [beam.of_visible(states[:, split.units[i][0]])]
            beam.add(np.concatenate([descents(beam.small, rng), *own]))
            self.growth += beam.grow_until_settled(limit)
            self.grown.append((beam, limit, limit * price))
        self.left = work

    def grow_more(self, times: int) -> None:
        """By so many times what it was allowed at first."""
        before = self.log_sum
        for beam, limit, price in self.grown:
            beam.grow(min(MOST_STATES, times * limit))
            self.left -= times * price
        self.growth = 0.0 if self.complete else self.log_sum - before

    def affordable_modes(self, model) -> int:
        """About how many modes chains may be run with what is left of the work: two or more."""
        hunt, mode = REAL if of_real_units(model) else (1.0, 1.0)
        left = self.left - hunt * HUNT * sum(model.weights.shape)
        n_modes = int(min(MOST_MODES, left / mode / (MODE + OF_MODE * model.weights.size)))
        return n_modes if n_modes > 1 else 0

    @property
    def log_sum(self) -> float:
        return self.known + sum(beam.log_sum for beam, *_ in self.grown)

    @property
    def n_states(self) -> int:
        return self.n_known + sum(beam.n_states for beam, *_ in self.grown)

    @property
    def complete(self) -> bool:
        return all(beam.complete for beam, *_ in self.grown)


def _ends(estimate) -> tuple[float, float]:
    """Those of an interval, or what stands for it: of a value of unknown error a tenth of Z.

    Its lower half is made longer: an honest interval is above log Z once in forty runs.
    """
    (low, high), value = estimate.interval, estimate.log_z
    if math.isnan(estimate.std_error):
        return value + math.log(AGREES), value - math.log(AGREES)
    high = high if math.isfinite(high) else value + SURE * estimate.std_error
    return value - SURE / 1.96 * max(0.0, value - low), high


def _beyond(log_sum, estimate) -> bool:
    return bool(log_sum > _ends(estimate)[1] + _margin(log_sum))


def _margin(log_z) -> float:
    return MARGIN + ROUNDING * abs(log_z)


def _of_sum(sums, estimate) -> Opinion:
    """The opinion of a sum that may still grow, or of the exact one."""
    low, complete, growth = sums.log_sum, sums.complete, sums.growth
    gap, what = low - estimate.log_z, f"a sum over {sums.n_states:,} {sums.of}"
    numbers: dict[str, Any] = {"log_sum": low, "n_states": sums.n_states, "complete": complete}
    outside = complete and low < _ends(estimate)[0] - _margin(low)
    if _beyond(low, estimate) or outside:
        where = "below" if outside else "above"
        return Opinion("refuted", f"{what} lies {abs(gap):.2g} nats {where} this value", **numbers)
    known, share = estimate.std_error >= 0, math.exp(min(gap, 50.0))
    if complete:
        where = "in the interval, or near" if known else f"{share:.4g} of this value"
        return Opinion("agrees", f"{what}, all that there are, is {where}", **numbers)
    bound = estimate.details.get("best_lower_bound") == estimate.log_z and not estimate.converged
    close = known and not bound and low > estimate.interval[0] - NEAR  # a sum agrees with itself
    if close and math.log(AGREES) <= gap <= 0 and growth < SETTLED:  # or it may pass the value yet
        return Opinion("agrees", f"{what} holds {share:.1%} of this Z", **numbers)
    grows = "" if growth < SETTLED else ", and still grows"
    return Opinion("cannot tell", f"{what} is {share:.3g} of this Z{grows}", **numbers)


def _of_bound(bound, found, estimate) -> Opinion:
    """The opinion of a sum that agrees, beside mean field: a sum may be of one mode alone."""
    if bound <= found.log_sum + NEAR:
        return found
    gap = bound - estimate.log_z
    if _beyond(bound, estimate):
        text = f"a mean-field bound lies {gap:.2g} nats above this value"
        return found._replace(verdict="refuted", text=text, log_local_lower=bound)
    text = f"{found.text}, but a mean-field bound is higher than the sum"
    return found._replace(verdict="cannot tell", text=text)


def _of_masses(masses, found, estimate) -> Opinion:
    """The opinion of a sum that cannot tell, with that of local masses."""
    numbers = {
        "log_local": masses.log_z, "log_local_lower": masses.log_lower, "n_modes": masses.n_modes
    }  # fmt: skip
    gap = masses.log_lower - estimate.log_z
    share, what = math.exp(min(gap, 50.0)), f"what lies about {masses.n_modes} mode"
    what += "s" * (masses.n_modes > 1)
    verdict, text = found.verdict, f"{found.text}; {what} at least {share:.2g}"
    if _beyond(masses.log_lower, estimate):
        verdict, text = "refuted", f"{what} is at least {share:.2g} times this value"
    elif gap >= math.log(AGREES) and found.log_sum <= estimate.log_z and estimate.std_error > 0:
        doubtful = _beyond(masses.log_z, estimate) or _effective(estimate) < FEWEST
        verdict = "cannot tell" if doubtful else "agrees"
    return found._replace(verdict=verdict, text=text, **numbers)


def _effective(estimate) -> float:
    """Independent values behind an estimate: families, round trips, effective chains, or chains."""
    if isinstance(estimate.states, TemperedSample):
        return float(estimate.states.round_trips.sum())
    known = estimate.details.get("families", estimate.ess)
    return float(estimate.n_chains if math.isnan(known) else known)
