"""Tasks of the lesson on tempering of continuous densities."""

from __future__ import annotations

import numpy as np

from .checker import choice, drawn, mean_is, near, numbers, require, same, task
from .own import Own


def turns(own: Own) -> int:
    """A number of leapfrog steps."""
    return int(own.number("turns", 3, 9, 0))


def bold(own: Own) -> float:
    """A step size in ten dimensions."""
    return own.number("bold", 0.8, 1.4, 2)


GIVEN = {"turns": turns, "bold": bold}


@task("derivation", 2)
def angle(answer, own: Own):
    """The step keeps areas, so that its trace is twice the cosine of the angle."""
    for eps in (own.number("eps", 0.2, 1.8, 2), 1.0):
        mistakes = {
            "this is the angle in the limit of small steps": eps,
            "the sine of half the angle is eps / 2": np.arcsin(eps / 2),
            "in radians, please": np.degrees(2 * np.arcsin(eps / 2)),
        }
        same(answer(eps), 2 * np.arcsin(eps / 2), mistakes)


def _gradient(x):
    return -np.array([1.0, 4.0]) * x - 0.4 * x**3


def _leapfrog(x, p, gradient, eps, n):
    for _ in range(n):
        p = p + 0.5 * eps * gradient(x)
        x = x + eps * p
        p = p + 0.5 * eps * gradient(x)
    return x, p


@task("coding", 3)
def leapfrog(answer, own: Own):
    """Half a kick on either side makes the step the same when it is walked back."""
    rng = own.rng("leapfrog")
    x, p = rng.normal(size=(2, 6, 2))
    kept = x.copy(), p.copy()
    pair = answer(x, p, _gradient, 0.2, 7)
    require(isinstance(pair, tuple) and len(pair) == 2, "return the pair x, p")
    require(np.array_equal(x, kept[0]) and np.array_equal(p, kept[1]),
            "the arrays that were given were changed: copy them")  # fmt: skip
    right = np.array(_leapfrog(x, p, _gradient, 0.2, 7))
    euler = _euler(x, p, 0.2, 7)
    uphill = np.array(_leapfrog(x, p, lambda y: -_gradient(y), 0.2, 7))
    mistakes = {
        "this is Euler's rule: half a step of p, a step of x, half a step of p": euler,
        "the gradient of log p* pushes uphill: the sign": uphill,
        "one step fewer than asked": np.array(_leapfrog(x, p, _gradient, 0.2, 6)),
        "one step more than asked": np.array(_leapfrog(x, p, _gradient, 0.2, 8)),
    }
    same(np.array(pair), right, mistakes, what="x, p")
    back = answer(pair[0], -pair[1], _gradient, 0.2, 7)
    same(back[0], x, what="x after going there and back")


def _euler(x, p, eps, n):
    for _ in range(n):
        x, p = x + eps * p, p + eps * _gradient(x)
    return np.array([x, p])


def _log_p(x):
    return -0.5 * (x**2 * np.array([1.0, 4.0])).sum(axis=1)


def _slope(x):
    return -x * np.array([1.0, 4.0])


@task("coding", 3)
def hmc(answer, own: Own):
    """Areas are kept and the way back is the same, so that only the energy is judged."""
    n = 20_000
    x = own.rng("exact").normal(size=(n, 2)) / np.array([1.0, 2.0])
    new = numbers(drawn(answer, own, "hmc", x, _log_p, _slope, 0.7, 3), (n, 2), "the states")
    stayed = (new == x).all(axis=1)
    p = own.rng("p").normal(size=(n, 2))
    y, end = _leapfrog(x, p, _slope, 0.7, 3)
    energy = _log_p(y) - 0.5 * (end**2).sum(axis=1) - _log_p(x) + 0.5 * (p**2).sum(axis=1)
    rate = np.minimum(1, np.exp(energy))
    require(stayed.any(), "every proposal was taken: accept with min(1, exp(change of log p* "
            "less kinetic energy))")  # fmt: skip
    mean_is((~stayed).astype(float) - rate, 0.0, "the share of accepted proposals is wrong: the "
            "momentum belongs to the energy, and must be drawn anew, normal, for each")  # fmt: skip
    for i, variance in enumerate((1.0, 0.25)):
        mean_is(new[:, i], 0.0, "exact draws have another mean after the step")
        mean_is(new[:, i] ** 2, variance, "exact draws have another variance after the step")
    moved = np.where(own.rng("u").random(n) < rate, ((y - x) ** 2).sum(axis=1), 0.0)
    mean_is(((new - x) ** 2).sum(axis=1) - moved, 0.0, "chains move by another distance: are step "
            "size and number of steps used?")  # fmt: skip


@task("experiment", 3)
def accepted(answer, own: Own):
    """In ten dimensions errors of the energy add up: a step must be the shorter for it."""
    eps, n = bold(own), 40_000
    rng = own.rng("accepted")
    x, p = rng.normal(size=(2, n, 10))
    y, end = _leapfrog(x, p, lambda z: -z, eps, 1)
    energy = ((x**2 + p**2 - y**2 - end**2) / 2).sum(axis=1)
    rate = float(np.minimum(1, np.exp(energy)).mean())
    near(answer, rate, 0.02, {
        "this is the share of rejected proposals": 1 - rate,
        "in ten dimensions, please": float(
            np.minimum(1, np.exp((x**2 + p**2 - y**2 - end**2)[:, 0] / 2)).mean()
        ),
    })  # fmt: skip


@task("trap", 3)
def half_turn(answer, own: Own):
    """After half a turn the energy is exactly what it was, and so is the distance."""
    n = turns(own)
    near(answer, 2 * np.sin(np.pi / (2 * n)), 1e-3, {
        "this is the step in the limit of small steps": np.pi / n,
        "a half turn, not a full one": 2 * np.sin(np.pi / n),
        "a half turn, not a quarter": 2 * np.sin(np.pi / (4 * n)),
    })  # fmt: skip


@task("reading", 1)
def integral(answer, own: Own):
    """The rule steps over the climb near the base, and no number of states mends that."""
    choice(answer, "a", {
        "b": "more states bring the points closer to the curve, and the rule stays as it is",
        "c": "the mean of the slopes is steep near the base, at β = 0",
        "d": "on the square ladder trapezoids follow the curve",
    })  # fmt: skip
