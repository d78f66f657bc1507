"""A second opinion on an estimate of log Z, from sums that owe nothing to a sampler.

A run's own checks cannot see a mode that no chain has entered. A sum over distinct states of the
smaller layer (`beam`) is at or below Z whatever they are: where it lies above a run's interval, the
run missed something. Where the sum is far below, masses about mean-field modes (`local_masses`) may
tell. What neither finds, neither tells of.

Work is counted from sizes, in nanoseconds that were measured once: the same seed gives the same
verdict on every machine.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from .. import checks
from ..context import using
from ..estimate import Estimate
from ..models.enumeration import in_bits, parts
from ..models.mean_field import broad_lower_bound
from ..models.rbm import RBM
from ..paths.path import Path
from ..results import warn
from ..sampling.sample import TemperedSample
from .beam import BATCH, Beam, descents, likeliest
from .local_masses import MOST_MODES, SURE, local_masses

SHARE, FLOOR, ON_REQUEST = 0.1, 1e8, 8e9  # of a run's work; ns that any run, or a call, affords
SUM, MORE = 4, 2  # a sum takes one in 4; twice that again, where it lies above the value and grows
RUN = 100.0, 1.3, 0.01  # ns of a sweep of a run, of each unit and weight, where few units change
SWEEP, OF_SWEEP = 150.0, 0.15  # ns of a sweep about a mode, and of each weight in it
LOOK, OF_LOOK = 400.0, 1.2  # ns of a state of the sum, and of each unit of the other layer
SLOW = 10.0  # times that, of layers without a compiled loop
ENUMERATED = 1.0  # ns of each unit of the other layer, where all states are enumerated
HUNT, OF_HUNT = 1e7, 5e3  # ns of a hunt for modes, and of each weight in it
PATH, OF_PATH = 1e7, 400.0  # ns of the loops of a path about a mode, and of each weight in them
MASSES = (40, 60), (20, 30)  # chains and steps of a mode: the first that work allows
FEWEST_MODES = 2  # ... of so many
FIRST, MOST_STATES = 1024, 2_000_000  # states of the first look at the sum, and of the last
SEEDS = 1000  # states of the run, at most
SETTLED = 1e-4  # nats that a sum gains while it doubles, twice, before it ends
MARGIN, ROUNDING = 1e-6, 1e-12  # nats above an interval that refute it; and of each nat of log Z
NEAR = 1e-3  # nats that a sum may lie below the interval of a run with which it agrees
AGREES = 0.9  # share of Z that a sum, or lower end, holds
FEWEST = 30  # effective chains of a value that masses confirm: they are too low if modes are missed
REMEDY = "another base, more temperatures, or rl.log_z(rbm), which seeks modes"


class Opinion(NamedTuple):
    """What was found, in numbers: ``settings["second_opinion"]``."""

    verdict: str  # "refuted", "agrees", "cannot tell", "not checked"
    text: str
    log_sum: float = -math.inf
    n_states: int = 0
    complete: bool = False  # all states: the sum is Z
    log_local: float = math.nan  # sum of local masses
    log_local_lower: float = -math.inf
    n_modes: int = 0


def check(path: Path, estimate: Estimate, *, n_states: int | None = None, rng=0) -> Estimate:
    """The estimate, with a second opinion among its `Estimate.checks`.

    Every estimator asks for one that costs less than a tenth of the run, or some 50 ms. Here it
    may take seconds.

    Parameters
    ----------
    path : Path
        Whose target's log Z was estimated.
    estimate : Estimate
        Its states are among those from which the sum is grown; without them (of a file, say) it
        is grown from descents at zero temperature alone. One that was refuted is returned as it is.
    n_states : int, optional
        How many states are looked at; by default what takes some two seconds.
    rng : int, Generator or None
        Of the descents, and the chains about modes.

    Returns
    -------
    Estimate
        ``settings["second_opinion"]`` holds a verdict, and the numbers behind it:

        - "refuted": a sum over states, at or below Z, lies above the interval. ``converged`` is
          False, with a `ConvergenceWarning`; the interval begins at the sum and is open above, and
          `std_error` holds the difference. Or the sum is over all states, and the interval does
          not hold it.
        - "agrees": the sum holds 90% of this value or more, grows no more, and is not above it;
          or what lies about modes does, and 30 effective chains or more made the value.
        - "cannot tell", and how much of this value is accounted for.
        - "not checked": neither layer of the model can be counted.

    Examples
    --------
    >>> import rbmlib as rl
    >>> path = rl.GeometricPath(rl.testsystems.random_rbm(20, 12, rng=1))
    >>> run = rl.ais(path, rl.schedules.linear(500), rng=0)
    >>> rl.check(path, run).settings["second_opinion"]["verdict"]
    'agrees'
    """
    checks.instance("path", path, Path, checks.PATH_MEANING)
    checks.instance("estimate", estimate, Estimate, "what an estimator returned")
    if n_states is not None:
        n_states = checks.count("n_states", n_states)
    model, states = model_of(path), estimate.states
    if model is not None and isinstance(states, np.ndarray) and states.shape[1] != model.n_visible:
        raise ValueError(
            f"estimate holds states of {states.shape[1]} units: expected {model.n_visible}, as of "
            "a run on this path"
        )
    if estimate.settings.get("second_opinion", {}).get("verdict") == "refuted":
        return estimate
    return with_opinion(estimate, _opinion(path, estimate, ON_REQUEST, n_states, rng))


def checked(path: Path | None, estimate: Estimate) -> Estimate:
    """As `check`, where that costs little beside the run; else the estimate as it is."""
    model = model_of(path)
    if model is None or not estimate.std_error > 0:
        return estimate
    states, n_replicas = estimate.states, estimate.n_chains
    if isinstance(states, TemperedSample):
        n_replicas = states.index.size
    each = np.dot(RUN, [1, sum(model.weights.shape), model.weights.size])
    work = n_replicas * estimate.n_sweeps * each
    return with_opinion(estimate, _opinion(path, estimate, max(FLOOR, SHARE * work), None, 0))


def model_of(path) -> RBM | None:
    """The RBM of which the path's states are visible units, if a layer of it can be counted."""
    model = getattr(path, "models", [getattr(path, "model", None)])[-1]
    layers = (model.visible, model.hidden) if isinstance(model, RBM) else ()
    return model if any(layer.values is not None for layer in layers) else None


def with_opinion(estimate: Estimate, opinion: Opinion) -> Estimate:
    """The estimate, flagged and its interval opened where it is refuted."""
    numbers, text, refuted = opinion._asdict(), opinion.text, opinion.verdict == "refuted"
    before = estimate.settings.get("second_opinion", {}).get("text")  # which this one replaces
    own = {check: passed for check, passed in estimate.checks.items() if check != before}
    found = {"second_opinion": numbers}
    if opinion.verdict != "not checked":
        found["checks"] = own | {text: not refuted}
    estimate = replace(estimate, settings=estimate.settings | found)
    if not refuted:
        return estimate
    warn(f"{estimate.method}: do not trust it: {text}. Give it {REMEDY}")
    by_sum = opinion.complete or _beyond(opinion.log_sum, estimate)
    low = (opinion.log_sum if by_sum else opinion.log_local_lower) - MARGIN
    gap = abs(low - estimate.log_z)
    estimate.settings["disagreement"] = max(gap, estimate.settings.get("disagreement", 0.0))
    error = math.hypot(estimate.std_error, gap)
    return replace(estimate, converged=False, std_error=error, interval=(low, math.inf))


def _opinion(path, estimate, work, n_states, rng) -> Opinion:
    """What at most so much ``work`` (ns) finds, or so many states."""
    model = model_of(path)
    if model is None:
        return Opinion("not checked", "not checked: neither layer of the model can be counted")
    rng, bits, work = checks.generator(rng), in_bits(model), work / SUM
    sums = _Sums(model, _states(estimate), work, n_states, rng)
    if n_states is None and sums.growth > SETTLED and sums.log_sum > estimate.log_z:
        sums.grow_more()
    found = _of_sum(sums, estimate)
    if found.verdict == "agrees" and not found.complete and bits is not None:
        found = _of_bound(broad_lower_bound(bits), found, estimate)
    if found.verdict != "cannot tell" or bits is None:
        return found
    size, left = bits.weights.size, work - HUNT - OF_HUNT * bits.weights.size
    for n_chains, n_steps in MASSES:
        price = PATH + OF_PATH * size + n_chains * n_steps * (SWEEP + OF_SWEEP * size)
        if (n_modes := int(min(MOST_MODES, left / price))) >= FEWEST_MODES:
            with using(progress=False):
                masses = local_masses(
                    bits, rng, n_modes=n_modes, n_chains=n_chains, n_steps=n_steps
                )
            return _of_masses(masses, found, estimate)
    return found


def _states(estimate):
    """States of the visible units that the run itself found at beta = 1: every second chain's."""
    states = estimate.states
    if isinstance(states, TemperedSample):
        states = states.states[states.index == states.betas.size - 1]
    if not isinstance(states, np.ndarray) or not len(states):  # none, or fixed points of TAP
        return None
    return np.asarray(states)[: 2 * SEEDS : 2]


class _Sums:
    """A sum over states of each connected part of a model, whose logarithms add up.

    The cheap ones are enumerated, the smallest first, so that what they leave of the work is for
    the others: beams, from descents and the ``states`` of the run.
    """

    def __init__(self, model, states, work, n_states, rng):
        split, fast = parts(model), in_bits(model) is not None
        self.known, self.n_known, self.growth, self.grown = split.free, 0, 0.0, []
        beams = [Beam(part) for part in split.models]
        turned = len(beams) == 1 and beams[0].turned
        self.of = "visible states" if turned else "hidden states"
        if len(beams) > 1:
            self.of = f"states of {len(beams)} parts"
        terms = [beam.n_all * len(beam.small.visible) for beam in beams]
        for n_done, i in enumerate(sorted(range(len(beams)), key=terms.__getitem__)):
            beam, share = beams[i], work / (len(beams) - n_done)
            if fast and n_states is None and terms[i] * ENUMERATED <= share:
                self.known += split.models[i].exact_log_z()
                self.n_known += int(beam.n_all)
                work -= terms[i] * ENUMERATED
                continue
            work -= share
            price = (1.0 if fast else SLOW) * (LOOK + OF_LOOK * len(beam.small.visible))
            limit = min(MOST_STATES, share / price) if n_states is None else n_states / len(beams)
            own = [] if states is None else [_of_layer(beam, states[:, split.units[i][0]])]
            beam.add(np.concatenate([descents(beam.small, rng), *own]))
            self.growth += _grown(beam, int(limit))
            self.grown.append((beam, int(limit)))

    def grow_more(self) -> None:
        before = self.log_sum
        for beam, limit in self.grown:
            beam.grow(min(MOST_STATES, MORE * limit))
        self.growth = 0.0 if self.complete else self.log_sum - before

    @property
    def log_sum(self) -> float:
        return self.known + sum(beam.log_sum for beam, _ in self.grown)

    @property
    def n_states(self) -> int:
        return self.n_known + sum(beam.n_states for beam, _ in self.grown)

    @property
    def complete(self) -> bool:
        return all(beam.complete for beam, _ in self.grown)


def _of_layer(beam, visible):
    """States of the layer that a beam holds, of visible states."""
    if beam.turned:
        return visible
    return likeliest(beam.layer, beam.small.field(visible.astype(float)))


def _grown(beam, limit) -> float:
    """Nats that a sum of ``limit`` states more, at most, gained while it last doubled."""
    first = max(FIRST, BATCH * beam.n_neighbours)
    if beam.n_all * beam.n_neighbours <= limit or limit < first:  # all states, or too few to tell
        beam.grow(limit)
        return 0.0 if beam.complete else math.inf
    step, looked, calm, growth = limit >> ((limit // first).bit_length() - 1), 0, 0, 0.0
    while calm < 2 and looked + step <= limit and not beam.complete:
        before = beam.log_sum
        beam.grow(step)
        growth = beam.log_sum - before
        calm = calm + 1 if growth < SETTLED else 0
        looked += step
        step = looked
    return 0.0 if beam.complete else growth


def _beyond(log_sum, estimate) -> bool:
    """Whether a value that log Z exceeds lies above the interval, or what stands for one."""
    high = estimate.interval[1]
    if not math.isfinite(high):
        high = estimate.log_z + SURE * estimate.std_error
    return bool(log_sum > high + _margin(log_sum))


def _below(log_z, estimate) -> bool:
    """Whether log Z itself lies far below: an honest interval is above it once in forty runs."""
    half = estimate.log_z - estimate.interval[0]
    return bool(log_z < estimate.log_z - SURE / 1.96 * half - _margin(log_z))


def _margin(log_z) -> float:
    return MARGIN + ROUNDING * abs(log_z)


def _of_sum(sums, estimate) -> Opinion:
    """The opinion of a sum that may still grow, or of the exact one."""
    low, complete, growth = sums.log_sum, sums.complete, sums.growth
    gap, what = low - estimate.log_z, f"a sum over {sums.n_states:,} {sums.of}"
    numbers: dict[str, Any] = {"log_sum": low, "n_states": sums.n_states, "complete": complete}
    outside = complete and _below(low, estimate)
    if _beyond(low, estimate) or outside:
        where = "below" if outside else "above"
        return Opinion("refuted", f"{what} lies {abs(gap):.2g} nats {where} this value", **numbers)
    known = estimate.std_error >= 0  # NaN: of an unknown error no number is a proof
    share = math.exp(min(gap, 50.0))
    if complete:
        what += ", all that there are,"
        if known:
            return Opinion("agrees", f"{what} is in the interval, or near", **numbers)
        return Opinion("cannot tell", f"{what} is {share:.4g} of this value", **numbers)
    close = known and low > estimate.interval[0] - NEAR
    if close and math.log(AGREES) <= gap <= 0 and growth < SETTLED:  # or it may pass the value yet
        return Opinion("agrees", f"{what} holds {share:.1%} of this value", **numbers)
    grows = "" if growth < SETTLED else ", and still grows"
    return Opinion("cannot tell", f"{what} is {share:.3g} of this value{grows}", **numbers)


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
    share, what = math.exp(min(gap, 50.0)), f"what lies about {masses.n_modes} modes"
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
    known = estimate.settings.get("families", estimate.ess)
    return float(estimate.n_chains if math.isnan(known) else known)
