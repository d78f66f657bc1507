"""Wang's report: its programs for SAMS, RTS and TAP as printed, and a deliberate mistake.

For TAP, the report prints the undamped iteration (eqs. 15 and 16), but not how it starts or stops.
The author's program draws both layers uniformly from (0, 1). It ends a call at the first update
after which log Z has changed by no more than a tolerance, this change equals the previous change,
or a magnetisation is 0 or 1: its entropy is 0 log 0, and the value before this update is returned.
The second rule ends a call in a cycle of two values, and rounding decides which of them it returns.
"""

import math
import time
from collections import deque
from collections.abc import Callable
from dataclasses import replace

import numpy as np
from scipy.special import expit, xlogy

from rbmbook.sweeps.words import BASES, ESTIMATORS, PATHS, register
from rbmlib import datasets
from rbmlib.checks import number, one_of
from rbmlib.estimators.rts import updated
from rbmlib.estimators.sams import Groups, gain_sequence
from rbmlib.numerics import logit, softplus
from rbmlib.paths.named import GeometricPath
from rbmlib.results import Check, Estimate, finished
from rbmlib.sampling.compiled import LOOPS
from rbmlib.sampling.tempered import simulated_tempering

ADDED = 5  # "a small value such as 5", added to the count of each pixel (report, section IV.D)


class _BaseDropped(GeometricPath):
    """Deliberately wrong: beta is drawn without the factor p_A(x)**(1 - beta)."""

    def joint_transition(self, v, beta, rng):
        v, slope = super().joint_transition(v, beta, rng)
        return v, slope + v @ self.base_visible_bias


@register(PATHS, "base dropped")
def _base_dropped(rbm, *, base: str = "base rate"):
    return _BaseDropped(rbm, base=BASES[one_of("base", base, BASES)](rbm))


def counts_plus_five() -> np.ndarray:
    """Visible biases from the training pixels, with 5 added to the count of each."""
    train = datasets.load_mnist().train
    return logit((train.sum(axis=0, dtype=float) + ADDED) / len(train))


RBM_A = {
    "counts + 5": lambda rbm: counts_plus_five(),
    "own visible": lambda rbm: rbm.visible_bias,
    "own both": lambda rbm: rbm.visible_bias,
    "zero": lambda rbm: np.zeros(rbm.n_visible),
}  # visible biases; weights are 0, and so are hidden biases except for "own both"


class PrintedPath(GeometricPath):
    """The report's path (eq. 8), on which RBM A has its own hidden units.

    Because A has no weights, they multiply the density by a number that depends only on beta. They
    change only the meaning of equal guesses of log Z.
    """

    def __init__(self, rbm, visible_bias, hidden_bias):
        super().__init__(rbm, base=visible_bias)
        self.bias_of_hidden_a = hidden_bias

    def hidden_factor(self, betas) -> np.ndarray:
        """Log of the factor (K,) from A's hidden units at each beta."""
        return softplus((1 - betas)[:, None] * self.bias_of_hidden_a).sum(axis=1)


LOOPS[PrintedPath] = LOOPS[GeometricPath]


@register(PATHS, "printed")
def _printed(rbm, *, rbm_a: str):
    visible = RBM_A[one_of("rbm_a", rbm_a, RBM_A)](rbm)
    hidden = rbm.hidden_bias if rbm_a == "own both" else np.zeros(rbm.n_hidden)
    return PrintedPath(rbm, visible, hidden)


CONSTANTS = ("kept", "dropped")


def equal_guesses(path: PrintedPath, betas, constant: str) -> np.ndarray:
    """Guesses of log Z_k / Z_0 for our densities that equal the report's guesses, which are 0.

    The report's densities have the factor of A's hidden units. With ``constant`` "dropped", they
    are also divided by ``Z_A**(1 - beta)`` (section III.B).
    """
    ours = -path.hidden_factor(betas)
    if one_of("constant", constant, CONSTANTS) == "dropped":
        log_z_a = softplus(path.base_visible_bias).sum() + path.hidden_factor(np.zeros(1))
        ours = ours + (1 - betas) * log_z_a
    return ours - ours[0]


@register(ESTIMATORS, "sams printed")
def _sams_printed(
    path, betas, seed, *, n_runs: int = 20, n_sweeps: int, first_stage: float = 0.3,
    exponent: float = 0.7, jump: str = "global", conditional: str = "joint",
    constant: str = "kept",
):  # fmt: skip
    """Runs of one chain each, from the base and equal guesses of log Z."""
    started, t_0 = time.perf_counter(), round(first_stage * n_sweeps)
    groups = Groups(
        path, betas, n_runs, np.random.default_rng(seed), n_groups=n_runs, conditional=conditional,
        start="plain", jump=jump,
    )  # fmt: skip
    groups.log_z += equal_guesses(path, betas, constant)
    gains = np.tile(gain_sequence(n_sweeps, t_0, exponent), (n_runs, 1))
    middle = n_sweeps // 2
    for part, sweeps in ((gains[:, :middle], middle), (gains[:, middle:], n_sweeps)):
        groups.advance(np.ascontiguousarray(part))
        groups.note(sweeps, middle)
    run = groups.estimate("sams", None, {"t_0": t_0, "exponent": exponent, "jump": jump})
    run = replace(run, seconds=time.perf_counter() - started)
    return run, {"round_trips": run.details["round_trips"]} | _spread(run.log_weights)


def _spread(values) -> dict[str, float]:
    """Spread of log Z over independent runs."""
    ends = {"lowest": float(values.min()), "highest": float(values.max())}
    return {"variance": float(values.var(ddof=1))} | ends


def _of_rounds(anew: bool):
    def estimator(
        path, betas, seed, *, n_runs: int = 20, n_sweeps: int, round_sweeps: int,
        threshold: float = 0.05, constant: str = "kept",
    ):  # fmt: skip
        """Runs of one chain in rounds from equal guesses, until they stop or reach ``n_sweeps``."""
        started, source = time.perf_counter(), np.random.default_rng(seed)
        begin, most = equal_guesses(path, betas, constant), n_sweeps // round_sweeps
        runs = [
            rounds(path, betas, begin, source, most, round_sweeps, threshold, anew)
            for _ in range(n_runs)
        ]
        log_z, n_rounds, stopped = (np.array(column) for column in zip(*runs, strict=True))
        values, sweeps = log_z + path.log_z_base, n_rounds * round_sweeps
        result = finished(
            "rts", float(values.mean()), float(values.std(ddof=1) / np.sqrt(n_runs)),
            [Check("runs that stopped", bool(stopped.all()), int(stopped.sum()), n_runs)], n_runs,
            seconds=time.perf_counter() - started, n_chains=n_runs, n_sweeps=int(sweeps.max()),
            log_weights=values, betas=betas,
        )  # fmt: skip
        more = {"stopped": int(stopped.sum()), "mean_sweeps": float(sweeps.mean())}
        return result, _spread(values) | more

    return estimator


# In the author's stored program, each round begins from v = 0 at a random temperature.
ESTIMATORS |= {"rts printed": _of_rounds(False), "rts printed, rounds anew": _of_rounds(True)}


def rounds(path, betas, log_z, source, most: int, n_sweeps: int, threshold: float, anew=False):
    """log Z - log Z_0 of one chain, its number of rounds, and whether the rule stopped it.

    This is the report's table III, but its c_k are reset in each round, and the first round is run,
    although c_k = 0 is below any threshold. A c_k that underflows becomes the smallest double.
    """
    prior = np.full(betas.size, 1 / betas.size)
    v, index = path.sample_base(1, source), np.zeros(1, int)
    for done in range(1, most + 1):
        if anew:
            v, index = np.zeros_like(v), source.integers(betas.size, size=1)
        sample = simulated_tempering(
            path, betas, log_z, 1, n_sweeps, source, prior=prior, conditional="joint",
            start=v, index=index, record_every=n_sweeps, n_blocks=1,
        )  # fmt: skip
        c = np.maximum(sample.occupation()[0].mean(axis=0), np.finfo(float).tiny)
        log_z, v, index = updated(log_z, prior, c), sample.states, sample.index
        if (c - prior).max() <= threshold:
            return log_z[-1], done, True
    return log_z[-1], most, False


ENDS = ("all updates were done", "tolerance", "the change repeats", "0 log 0")  # stored by number
LONGEST = 8  # longest detected cycle
SAME = 1e-9  # nats; closer values of log Z count as equal


_KAPPA = (lambda m: m, lambda m: m * (1 - m), lambda m: m * (1 - m) * (1 - 2 * m))
_SLOPE = (lambda m: 1.0, lambda m: 1 - 2 * m, lambda m: 1 - 6 * m * (1 - m))


def iterates(rbm, order: int, begin, update: str = "alternating"):
    """log Z after each undamped update of both layers, and whether a magnetisation is 0 or 1.

    ``begin`` has hidden and visible magnetisations. "alternating", as printed, updates the visible
    layer from the new hidden layer; "synchronous" updates both from the old layers.
    """
    powers = [rbm.weights**n / math.factorial(n) for n in range(1, order + 1)]
    biases = rbm.hidden_bias, rbm.visible_bias

    def updated(layer: int, own, other):
        """Right-hand side for the hidden (0) or the visible (1) magnetisations."""
        field = biases[layer].copy()
        for power, kappa, slope in zip(powers, _KAPPA, _SLOPE, strict=False):
            field += slope(own) * (kappa(other) @ (power.T if layer else power))
        return expit(field)

    def log_z() -> float:
        """Minus Gamma (the report's eq. 14), with 0 log 0 = 0."""
        value = sum(float(m @ b) for m, b in zip((hidden, visible), biases, strict=True))
        for m in (hidden, visible):
            value -= float((xlogy(m, m) + xlogy(1 - m, 1 - m)).sum())
        for power, kappa in zip(powers, _KAPPA, strict=False):
            value += float(kappa(visible) @ power @ kappa(hidden))
        return value

    hidden, visible = begin
    while True:
        new = updated(0, hidden, visible)
        seen = new if update == "alternating" else hidden
        hidden, visible = new, updated(1, visible, seen)
        saturated = any(m.min() == 0 or m.max() == 1 for m in (hidden, visible))
        yield log_z(), saturated


def cycle_length(values) -> int:
    """Smallest period of the last values: 1 for a fixed point, 0 if none is found yet."""
    values = np.asarray(values)
    for length in range(1, LONGEST + 1):
        window = values[-3 * length - 3 :]
        whole = len(window) == 3 * length + 3
        if whole and np.abs(window[length:] - window[:-length]).max() < SAME:
            return length
    return 0


def iterate(values, n_updates: int, tolerance: float) -> dict:
    """The result of one call, and the course of its iteration without a stop.

    The call returns ``last`` after ``n_done`` updates and ends by ``ENDS[ended]``. ``cycle`` is the
    period of the continued iteration (0 if none is found within ``n_updates``), with its lowest and
    highest value. ``final`` is the value after exactly ``n_updates``.
    """
    last, n_done, ended, length, n = math.nan, 0, 0, 0, 0
    seen: deque[float] = deque(maxlen=3 * LONGEST + 3)
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
        "last": last, "n_done": n_done, "ended": ended,
        "cycle": length, "cycle_low": min(ring), "cycle_high": max(ring),
        "final": ring[(n_updates - n - 1) % length] if length else seen[-1],
    }  # fmt: skip


def _ended(seen, tolerance: float) -> int:
    if len(seen) > 2 and abs(seen[-1] - seen[-2]) == abs(seen[-2] - seen[-3]):
        return 2
    return int(len(seen) > 1 and abs(seen[-1] - seen[-2]) <= tolerance)


def _visible_only(rbm, rng):
    visible = rng.random(rbm.n_visible)
    return expit(rbm.field(visible)), visible


BEGINS: dict[str, Callable] = {
    "uniform": lambda rbm, rng: (rng.random(rbm.n_hidden), rng.random(rbm.n_visible)),
    "visible": _visible_only,
}


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
        method="TAP as printed", log_z=rbm.log_scale + last, std_error=math.nan,
        interval=(-math.inf, math.inf), n_chains=1, n_sweeps=found["n_done"],
        seconds=time.perf_counter() - started,
        verdict="consistent" if found["cycle"] == 1 else "inconclusive",
    )  # fmt: skip
    return run, found
