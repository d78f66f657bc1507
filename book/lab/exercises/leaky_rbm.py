"""Tasks of the lesson on leaky RBMs."""

import numpy as np

import rbmlib as rl

from .checker import Own, function, letter, number

GIVEN = {
    "unit": lambda own: (  # weight, bias and leakiness of one visible and one hidden unit
        own.number("w", 0.5, 0.9, 2), own.number("b", -0.8, 0.8, 2), own.number("c", 0.05, 0.5, 2)
    ),
    "layers": lambda own: (own.whole("visible", 100, 3000), own.whole("hidden", 5, 60)),
}  # fmt: skip


def _log_z(n, j, c, s):
    return n / 2 * np.log(2 * np.pi) + j * np.log(((1 - s**2) ** -0.5 + (1 - c * s**2) ** -0.5) / 2)


@function("derivation", 3)
def orthogonal(own: Own):
    """Each hidden unit has its own direction, so the integral is a product."""
    n, j = GIVEN["layers"](own)
    right = _log_z(n, j, 0.01, 0.9)
    yield (n, j, 0.01, 0.9), right, {
        "log 2π has the wrong sign, as in the paper": right - n * np.log(2 * np.pi),
        "the leakiness multiplies s², not s": _log_z(n, j, 0.01**2, 0.9),
    }  # fmt: skip
    for given in ((4, 2, 1.0, 0.5), (3, 3, 0.3, 0.0)):
        yield given, _log_z(*given)


def _score(v, weights, bias, c):
    field = v @ weights + bias
    return -0.5 * (v**2).sum(axis=1) + 0.5 * np.where(field > 0, field**2, c * field**2).sum(axis=1)


@function("coding", 3)
def score(own: Own):
    """The square of a negative field counts c times, so the two halves have different widths."""
    rng = own.rng("score")
    v, weights = rng.normal(size=(10, 6)), 0.3 * rng.normal(size=(6, 4))
    bias, c = rng.normal(size=4), 0.2
    right = _score(v, weights, bias, c)
    yield (v, weights, bias, c), right, {
        "a negative field counts c times its square, not c² times": _score(v, weights, bias, c**2),
        "the biases of the hidden units are missing": _score(v, weights, 0 * bias, c),
    }  # fmt: skip


@function("coding", 3, atol=1e-7)
def project(own: Own):
    """If every singular value is below 1, the density can be normalised."""
    weights = own.rng("project").normal(size=(7, 4)) * 0.6
    left, sizes, right = np.linalg.svd(weights, full_matrices=False)
    largest = float(np.sort(sizes)[1:3].mean())
    yield (weights, largest), left @ np.diag(np.minimum(sizes, largest)) @ right, {
        "limit each singular value by itself": weights * largest / sizes.max(),
        "limit the singular values, not the entries": np.clip(weights, -largest, largest),
    }, "the weights"  # fmt: skip
    yield (0.01 * weights, largest), 0.01 * weights, {}, "the matrix that needs no cut"


@number("experiment", 4, within=1e-3)
def one_unit(own: Own):
    """In one dimension a sum over a fine grid is the integral."""
    w, b, c = GIVEN["unit"](own)
    log_z = rl.LeakyRBM([[w]], hidden_bias=[b], leakiness=c).exact_log_z()
    return log_z, {"log √(2π) belongs to Z": log_z - np.log(2 * np.pi) / 2}


@number("trap", 0, within=0.05)
def printed_sign(own: Own):
    """Each visible unit contributes a factor √(2π), which was printed as its inverse."""
    return GIVEN["layers"](own)[0] * np.log(2 * np.pi), {}


more_steps = letter(
    "c", "With more steps the chains only follow the wrong distribution more closely.",
    a="the error of the published move is the same at 1,000 and at 10,000 steps",
    b="error bars are two standard errors, and the exact value lies far outside them",
    d="the exact move follows the same path without a bias",
)  # fmt: skip
