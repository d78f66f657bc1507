"""Tasks of the lesson on self-adjusted mixture sampling."""

import numpy as np

from . import line
from .checker import Own, function, letter, number, numbers, require, task
from .project import standard_errors_off


def ten_groups(own: Own) -> np.ndarray:
    """Final guesses of ten groups of four chains; chains of a group share an error."""
    rng = own.rng("ten groups")
    shared = rng.normal(scale=0.3, size=(10, 1))
    return own.log_z + shared + rng.normal(scale=0.02, size=(10, 4))


GIVEN = {"ten_groups": ten_groups}


@function("derivation", 3, atol=1e-12)
def forgotten(own: Own):
    """Each sweep keeps a share of the remaining error, so the shares multiply."""
    for c, t in ((own.number("c", 0.2, 0.9), 50), (1.0, 7), (0.5, 1)):
        s = np.arange(1, t + 1)
        yield (c, t), np.prod(1 - c / s), {
            "each sweep keeps the share 1 - c/s: multiply the shares": 1 - (c / s).sum(),
        } if t == 50 else {}  # fmt: skip


gains = line.gains._replace(kind="coding", points=3)
update = line.update._replace(kind="coding", points=3)


@task("experiment", 4)
def from_nothing(answer, own: Own):
    """Each group has its own guesses, so the spread over groups gives a standard error."""
    value, error = numbers(answer, (2,), "the pair")
    require(error > 0, "give the value, then its standard error")
    require(error < 0.5, f"an error of {error:.2g} is large: take more sweeps or chains")
    off = (value - own.log_z) / error
    require(abs(value - own.log_z + own.path.log_z_base) > 0.3, "log Z of the base is missing")
    hint = "did the run converge, or did you count chains with shared guesses as independent?"
    require(abs(off) < 4.5, f"your value is {off:+.1f} of its standard errors off: {hint}")


@number("trap", 3, within=0.05)
def one_group(own: Own):
    """Chains that share their guesses share their error, so they count as one chain."""
    values = ten_groups(own)
    right = values.mean(axis=1).std(ddof=1) / values.std(ddof=1) * np.sqrt(4)
    return right, {
        "the wrong error is the standard deviation of all 40 values divided by √40": right / 2,
    }


@number("trap", 0, within=0.1)
def report_h100(own: Own):
    """The spread shows how far these chains are from each other, not from the right value."""
    return standard_errors_off("SAMS", "h100")


flood = letter(
    "b", "A chain that raises the guess at its temperature cannot stay there.",
    a="all guesses begin at 0, and those near β = 1 are far too low",
    c="there is no schedule: the chain goes where the guess is too low",
    d="after some 200 sweeps it visits all inverse temperatures",
)  # fmt: skip
