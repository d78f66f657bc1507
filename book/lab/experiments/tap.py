"""The estimator of a task that iterates the report's equations for TAP as they are printed.

The report (Wang, eqs. 15 and 16) prints the undamped iteration, not how it starts or stops. Its
author's program, which is public beside the models, draws both layers uniformly from (0, 1) and
ends a call at the first update after which

* log Z has changed by no more than a tolerance, or
* it has changed by exactly as much as the time before, to the last bit, or
* a magnetisation is exactly 0 or 1, so that its entropy is computed as 0 log 0, not a number:
  then the value before that update is returned.

The second rule (in some of its versions) ends a call that runs in a cycle of two values. Which of
the two is returned is decided by rounding: the same on one machine, not on all.
"""

from __future__ import annotations

import math
import time
from collections import deque
from typing import NamedTuple

import numpy as np
from scipy.special import expit, xlogy

from rbmbook.sweeps.words import ESTIMATORS, register
from rbmlib import __version__
from rbmlib.checks import number, one_of
from rbmlib.results import Estimate

ENDS = ("all updates were done", "tolerance", "the change repeats", "0 log 0")  # stored by number
LONGEST = 8  # cycle that is looked for
SAME = 1e-9  # nats: values of log Z that are one


class _Terms(NamedTuple):
    """W^n / n! and its transpose up to an order, and the biases (hidden, visible)."""

    powers: list
    biases: tuple

    @classmethod
    def of(cls, rbm, order: int) -> _Terms:
        powers = [rbm.weights**n / math.factorial(n) for n in range(1, order + 1)]
        return cls(powers, (rbm.hidden_bias, rbm.visible_bias))

    def updated(self, layer: int, own, other):
        """Right-hand side for the hidden (0) or the visible (1) magnetisations."""
        field = self.biases[layer].copy()
        for power, kappa, slope in zip(self.powers, _KAPPA, _SLOPE, strict=False):
            field += slope(own) * (kappa(other) @ (power.T if layer else power))
        return expit(field)

    def log_z(self, hidden, visible) -> float:
        """Minus Gamma of the report's eq. 14, with 0 log 0 = 0."""
        value = sum(float(m @ b) for m, b in zip((hidden, visible), self.biases, strict=True))
        for m in (hidden, visible):
            value -= float((xlogy(m, m) + xlogy(1 - m, 1 - m)).sum())
        for power, kappa in zip(self.powers, _KAPPA, strict=False):
            value += float(kappa(visible) @ power @ kappa(hidden))
        return value


_KAPPA = (lambda m: m, lambda m: m * (1 - m), lambda m: m * (1 - m) * (1 - 2 * m))
_SLOPE = (lambda m: 1.0, lambda m: 1 - 2 * m, lambda m: 1 - 6 * m * (1 - m))


def iterates(rbm, order: int, begin, update: str = "alternating"):
    """log Z after each undamped update of both layers, and whether a magnetisation is 0 or 1.

    ``begin`` holds hidden and visible magnetisations. "alternating", as printed, updates the
    visible layer from the new hidden one, "synchronous" both from the old.
    """
    terms = _Terms.of(rbm, order)
    hidden, visible = begin
    while True:
        new = terms.updated(0, hidden, visible)
        seen = new if update == "alternating" else hidden
        hidden, visible = new, terms.updated(1, visible, seen)
        saturated = any(m.min() == 0 or m.max() == 1 for m in (hidden, visible))
        yield terms.log_z(hidden, visible), saturated


def cycle_length(values) -> int:
    """Smallest period of the last values, 1 for a fixed point; 0: none is found yet."""
    values = np.asarray(values)
    for length in range(1, LONGEST + 1):
        window = values[-3 * length - 3 :]
        whole = len(window) == 3 * length + 3
        if whole and np.abs(window[length:] - window[:-length]).max() < SAME:
            return length
    return 0


def iterate(values, n_updates: int, tolerance: float) -> dict:
    """What one call returns, and where its iteration would go if nothing ended it.

    ``last`` after ``n_done`` updates, ended by ``ENDS[ended]``; ``cycle``, with its lowest and
    highest value, of the iteration that goes on (0: none within ``n_updates``); ``final`` after
    exactly ``n_updates``, which in a cycle is known beforehand.
    """
    last, n_done, ended = math.nan, 0, 0
    seen: deque[float] = deque(maxlen=3 * LONGEST + 3)
    length, n = 0, 0
    for n, (value, saturated) in zip(range(1, n_updates + 1), values, strict=False):
        seen.append(value)
        if not ended:
            ended = 3 if saturated else _ended(seen, tolerance)
            if ended != 3:
                last, n_done = value, n
        length = cycle_length(seen)
        if length and ended:
            break
    ring = list(seen)[-length:] if length else [math.nan]
    return {
        "last": last,
        "n_done": n_done,
        "ended": ended,
        "cycle": length,
        "cycle_low": min(ring),
        "cycle_high": max(ring),
        "final": ring[(n_updates - n - 1) % length] if length else seen[-1],
    }


def _ended(seen, tolerance: float) -> int:
    if len(seen) > 2 and abs(seen[-1] - seen[-2]) == abs(seen[-2] - seen[-3]):
        return 2
    return int(len(seen) > 1 and abs(seen[-1] - seen[-2]) <= tolerance)


def _uniform(rbm, rng):
    return rng.random(rbm.n_hidden), rng.random(rbm.n_visible)


def _visible_only(rbm, rng):
    visible = rng.random(rbm.n_visible)
    return expit(rbm.field(visible)), visible


BEGINS = {"uniform": _uniform, "visible": _visible_only}


@register(ESTIMATORS, "tap as printed")
def _tap_as_printed(
    rbm, seed, *, order: int, update: str = "alternating", begin: str = "uniform",
    n_updates: int = 1000, tolerance: float = 1e-3,
):  # fmt: skip
    """One call from one start: `iterate` of the report's equations."""
    started = time.perf_counter()
    one_of("update", update, ("alternating", "synchronous"))
    number("tolerance", tolerance, "0 or more", least=0)
    if order not in (1, 2, 3):
        raise ValueError(f"order is {order}: expected 1, 2 or 3")
    start = BEGINS[one_of("begin", begin, BEGINS)](rbm, np.random.default_rng(seed))
    found = iterate(iterates(rbm, order, start, update), n_updates, tolerance)
    last = found.pop("last")
    run = Estimate(
        method="TAP as printed",
        log_z=rbm.log_scale + last,
        std_error=math.nan,
        interval=(-math.inf, math.inf),
        n_chains=1,
        n_sweeps=found["n_done"],
        seconds=time.perf_counter() - started,
        verdict="consistent" if found["cycle"] == 1 else "inconclusive",
        settings={"version": __version__},
    )
    return run, found
