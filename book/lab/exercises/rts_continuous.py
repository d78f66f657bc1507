"""Tasks of the lesson on tempering of continuous densities."""

import numpy as np

from rbmlib.paths import hmc as library

from .checker import Own, function, letter, number

GIVEN = {
    "turns": lambda own: own.whole("turns", 3, 9),  # leapfrog steps
    "bold": lambda own: own.number("bold", 0.8, 1.4, 2),  # a step size in ten dimensions
}


@function("derivation", 2)
def angle(own: Own):
    """The step preserves areas, so the trace of its matrix is twice the cosine of the angle."""
    for eps in (own.number("eps", 0.2, 1.8, 2), 1.0):
        right = 2 * np.arcsin(eps / 2)
        yield (eps,), right, {
            "this is the angle in the limit of small steps": eps,
            "give the angle in radians": np.degrees(right),
        }  # fmt: skip


def _gradient(x):
    return -np.array([1.0, 4.0]) * x - 0.4 * x**3


def _euler(x, p, gradient, eps, n):
    for _ in range(n):
        x, p = x + eps * p, p + eps * gradient(x)
    return x, p


@function("coding", 3)
def leapfrog(own: Own):
    """With half a momentum step on each side, a step can be reversed exactly."""
    x, p = own.rng("leapfrog").normal(size=(2, 6, 2))
    given = x, p, _gradient, 0.2, 7
    yield given, library.leapfrog(_gradient, x, p, 0.2, 7), {
        "this is Euler's rule: update m by half a step before x and half a step after x":
            _euler(*given),
        "check the sign of the gradient":
            library.leapfrog(lambda y: -_gradient(y), x, p, 0.2, 7),
    }, "the pair x, m"  # fmt: skip


def _log_p(x):
    return -0.5 * (x**2 * np.array([1.0, 4.0])).sum(axis=1)


def _slope(x):
    return -x * np.array([1.0, 4.0])


def _hmc(x, log_p, gradient, eps, n, rng):
    return library.hmc(log_p, gradient, x, eps, n, rng).x


def _unchecked(x, log_p, gradient, eps, n, rng):
    return library.leapfrog(gradient, x, rng.normal(size=x.shape), eps, n)[0]


@function("coding", 3)
def hmc(own: Own):
    """The move preserves volume and can be reversed, so only the change of energy decides."""
    x = own.rng("exact").normal(size=(20_000, 2)) / np.array([1.0, 2.0])

    yield (x, _log_p, _slope, 0.7, 3), _hmc, {
        "every proposal was accepted: accept with probability min(1, exp(-increase of the energy))":
            _unchecked,
    }, (
        "the share of accepted moves or their distance is wrong: draw a normal momentum for each "
        "chain, make n steps of size eps, and accept with min(1, exp(-increase of the energy))"
    ), lambda new: np.column_stack([new, new - x, (new == x).all(axis=1)])  # fmt: skip


@number("experiment", 3, within=0.02)
def accepted(own: Own):
    """The energy errors of all dimensions add up, so more dimensions need shorter steps."""
    x, p = own.rng("accepted").normal(size=(2, 40_000, 10))
    y, end = library.leapfrog(np.negative, x, p, GIVEN["bold"](own), 1)
    energy = (x**2 + p**2 - y**2 - end**2) / 2

    def rate(change):
        return float(np.minimum(1, np.exp(change)).mean())

    right = rate(energy.sum(axis=1))
    return right, {
        "this is the share of rejected proposals": 1 - right,
        "this is for one dimension; there are ten": rate(energy[:, 0]),
    }


@number("trap", 3, within=1e-3)
def half_turn(own: Own):
    """After half a turn the energy and the distance from the mean are the same as before."""
    n = GIVEN["turns"](own)
    return 2 * np.sin(np.pi / (2 * n)), {
        "this is the step in the limit of small steps": np.pi / n,
    }


integral = letter(
    "a", "Rectangles miss the steep rise near the base, and more states do not correct this.",
    b="more states bring the points closer to the curve, but do not change the rule",
    c="the curve is steep near the base, at β = 0",
    d="if the β are squares of evenly spaced numbers, trapezoids follow the curve",
)  # fmt: skip
