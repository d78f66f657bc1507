"""Tasks of the lesson on leaky RBMs."""

from __future__ import annotations

import numpy as np
from scipy.integrate import quad

from .checker import choice, near, numbers, require, same, task
from .own import Own


def unit(own: Own) -> tuple[float, float, float]:
    """Weight, bias and leakiness of a model of one visible and one hidden unit."""
    return (
        own.number("w", 0.5, 0.9, 2),
        own.number("b", -0.8, 0.8, 2),
        own.number("c", 0.05, 0.5, 2),
    )


def layers(own: Own) -> tuple[int, int]:
    """Numbers of visible and of hidden units."""
    n = int(own.number("visible", 100, 3000, 0))
    return n, int(own.number("hidden", 5, 60, 0))


GIVEN = {"unit": unit, "layers": layers}


def _log_z(n, j, c, s):
    return n / 2 * np.log(2 * np.pi) + j * np.log(((1 - s**2) ** -0.5 + (1 - c * s**2) ** -0.5) / 2)


@task("derivation", 3)
def orthogonal(answer, own: Own):
    """Each hidden unit has a direction of its own, so that the integral is a product."""
    for n, j, c, s in ((*layers(own), 0.01, 0.9), (4, 2, 1.0, 0.5), (3, 3, 0.3, 0.0)):
        right = _log_z(n, j, c, s)
        mistakes = {
            "this is the printed sign of log 2π": right - n * np.log(2 * np.pi),
            "a visible direction without a hidden unit is a standard normal: n/2 log 2π in all":
                right - (n - j) / 2 * np.log(2 * np.pi),
            "each half is half a Gaussian: the factor 1/2": right + j * np.log(2),
            "the leakiness multiplies s², not s": n / 2 * np.log(2 * np.pi) + j * np.log(
                ((1 - s**2) ** -0.5 + (1 - c**2 * s**2) ** -0.5) / 2
            ),
        }  # fmt: skip
        same(answer(n, j, c, s), right, mistakes)


def _score(v, weights, bias, c):
    field = v @ weights + bias
    return -0.5 * (v**2).sum(axis=1) + 0.5 * np.where(field > 0, field**2, c * field**2).sum(axis=1)


@task("coding", 3)
def score(answer, own: Own):
    """A negative field counts as a part c of its square, so halves have widths of their own."""
    rng = own.rng("score")
    v, weights, bias, c = rng.normal(size=(10, 6)), 0.3 * rng.normal(size=(6, 4)), rng.normal(
        size=4
    ), 0.2  # fmt: skip
    field = v @ weights + bias
    mistakes = {
        "a negative field counts c times its square, not c² times":
            _score(v, weights, bias, c**2),
        "the biases of the hidden units are missing": _score(v, weights, 0 * bias, c),
        "the normal factor of the visible units is missing":
            _score(v, weights, bias, c) + 0.5 * (v**2).sum(axis=1),
        "negative fields count, too": _score(v, weights, bias, 0.0),
        "without leakiness this is a Gaussian": _score(v, weights, bias, 1.0),
        "half of the square of a field": _score(v, weights, bias, c)
            + 0.5 * np.where(field > 0, field**2, c * field**2).sum(axis=1),
    }  # fmt: skip
    same(answer(v, weights, bias, c), _score(v, weights, bias, c), mistakes)


@task("coding", 3)
def project(answer, own: Own):
    """Only directions that are stretched by too much make the density grow without end."""
    weights = own.rng("project").normal(size=(7, 4)) * 0.6
    left, sizes, right = np.linalg.svd(weights, full_matrices=False)
    largest = float(np.sort(sizes)[1:3].mean())
    wanted = left @ np.diag(np.minimum(sizes, largest)) @ right
    mistakes = {
        "cut each singular value by itself; this shrinks all of them":
            weights * largest / sizes.max(),
        "cut the singular values, not the entries": np.clip(weights, -largest, largest),
        "nothing was cut": weights,
        "the columns have other lengths than the singular values":
            weights * np.minimum(1, largest / np.linalg.norm(weights, axis=0)),
    }  # fmt: skip
    found = numbers(answer(weights, largest), weights.shape, "the weights")
    same(found, wanted, mistakes, atol=1e-7)
    require(np.allclose(answer(0.01 * weights, largest), 0.01 * weights),
            "weights that need no cut must stay as they are")  # fmt: skip


@task("experiment", 4)
def one_unit(answer, own: Own):
    """In one dimension a sum over a fine grid is the integral."""
    w, b, c = unit(own)

    def density(v):
        field = w * v + b
        return np.exp(-0.5 * v**2 + 0.5 * (field**2 if field > 0 else c * field**2))

    truth = np.log(quad(density, -40, 40, points=[-b / w], limit=200)[0])
    near(answer, truth, 1e-3, {
        "this is Z: its logarithm is wanted": float(np.exp(truth)),
        "log √(2π) belongs to Z": float(truth - 0.5 * np.log(2 * np.pi)),
    })  # fmt: skip


@task("trap", 0)
def printed_sign(answer, own: Own):
    """Each visible unit has a factor of root two pi, which was turned upside down."""
    n, _ = layers(own)
    near(answer, n * np.log(2 * np.pi), 0.05, {
        "from -n/2 to +n/2 is the whole of n": n / 2 * np.log(2 * np.pi),
        "the printed value is too low: give the distance as a positive number":
            -n * np.log(2 * np.pi),
    })  # fmt: skip


@task("reading", 1)
def more_steps(answer, own: Own):
    """More steps only follow the wrong distribution more closely."""
    choice(answer, "c", {
        "a": "the error of the published move is the same at 1,000 and at 10,000 steps",
        "b": "the error bars are two standard errors, and the published move is far below them",
        "d": "the exact move has the same path, and no bias",
    })  # fmt: skip
