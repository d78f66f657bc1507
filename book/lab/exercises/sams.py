"""Tasks of the lesson on self-adjusted mixture sampling."""

from __future__ import annotations

import numpy as np

from . import line
from .checker import choice, near, numbers, require, same, task
from .own import Own
from .project import reference, report


def ten_groups(own: Own) -> np.ndarray:
    """Final guesses of ten groups of four chains: chains of a group share an error."""
    rng = own.rng("ten groups")
    shared = rng.normal(scale=0.3, size=(10, 1))
    return own.log_z + shared + rng.normal(scale=0.02, size=(10, 4))


GIVEN = {"ten_groups": ten_groups}


@task("derivation", 3)
def forgotten(answer, own: Own):
    """Each sweep keeps a share of the error that is left, and shares multiply."""
    for c, t in ((own.number("c", 0.2, 0.9), 50), (1.0, 7), (0.5, 1)):
        s = np.arange(1, t + 1)
        mistakes = {
            "each sweep leaves the share 1 - c/s of what was there: multiply":
                1 - (c / s).sum(),
            "sweeps are counted from 1 to t": float(np.prod(1 - c / (s + 1))),
            "with gains c/s: s is the sweep, not the length of the run": (1 - c / t) ** t,
        }  # fmt: skip
        same(answer(c, t), float(np.prod(1 - c / s)), mistakes, atol=1e-12)


for _judge in (line.gains, line.update):
    task("coding", 3, lesson="sams")(_judge)


@task("experiment", 4)
def from_nothing(answer, own: Own):
    """Groups have guesses of their own, so that their spread is an error bar."""
    found = numbers(answer, (2,), "the pair")
    value, error = found
    require(error > 0, "give the value, then its standard error")
    require(error < 0.5, f"an error of {error:.2g} is large: more sweeps or chains")
    off = (value - own.log_z) / error
    require(abs(value - own.log_z + own.path.log_z_base) > 0.3, "log Z of the base is missing")
    require(abs(off) < 4.5, f"it is {off:+.1f} of its own standard errors off: was the run "
            "flagged, or are chains that share their guesses counted as independent?")  # fmt: skip


@task("trap", 3)
def one_group(answer, own: Own):
    """Chains that share their guesses share their error: they count once."""
    values = ten_groups(own)
    right = values.mean(axis=1).std(ddof=1) / values.std(ddof=1) * np.sqrt(4)
    near(answer, right, 0.05, {
        "divide the right error by the wrong one": 1 / right,
        "the wrong error divides the spread of all 40 by the root of 40": right / np.sqrt(4),
        "near, but compute both errors from the values, each with ddof=1": 2.0,
    })  # fmt: skip


@task("trap", 0)
def report_h100(answer, own: Own):
    """The spread of chains that have not arrived says how far apart they are, not how far away."""
    off = report("SAMS", "h100") - reference("h100")
    error = np.sqrt(report("SAMS", "h100", "variance") / 20)
    near(answer, off / error, 0.1, {
        "the sign: the report is too low": -off / error,
        "the standard error of a mean of 20 values": off / error / np.sqrt(20),
        "this is the distance in nats": off,
        "divide by the root of variance / 20, not by variance / 20": off / error**2,
    })  # fmt: skip


@task("reading", 1)
def flood(answer, own: Own):
    """A chain that raises the ground under itself cannot stay anywhere."""
    choice(answer, "b", {
        "a": "all guesses begin at 0: those near β = 1 are the ones that are furthest too low",
        "c": "the chain has no schedule: it goes where its guess is too low",
        "d": "after some 200 sweeps it wanders over the whole ladder",
    })  # fmt: skip
