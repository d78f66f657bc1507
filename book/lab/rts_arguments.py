"""Claims on RTS that need no statistics: proofs, identities and counts, each with its reason."""

from __future__ import annotations

from . import judge
from .verdicts import Verdict

# Claim: what stands here for a number of ours, and why.
ARGUMENTS = {
    "carlson-eq9-unbiased": (
        "an identity", "the mean over x of the law of k given x is the law of k",
    ),
    "carlson-eq14": ("derivative 0 to rounding", "computed at the estimate of RTS"),
    "carlson-s33-taylor": (
        "log x = x − 1 + …", "the first term of the series of the logarithm",
    ),
    "carlson-appD-mbar": ("derivative 0 to rounding", "computed at the estimate of RTS"),
    "carlson-s33-cost": (
        "rl.mbar_of_sample keeps each Δ, RTS K + 1 sums", "counted in the code",
    ),
    "carlson-s34-equivalent": (
        "the gap falls as 1/K²", "the derivative of RTS along β is the slope of TI-RB",
    ),
    "carlson-s34-unbiased": (
        "identities", "the mean of Δ is the integral; the mean weight of AIS is Z/Z_0",
    ),
    "carlson-appA-concave": (
        "derived above; the curvature is nowhere positive",
        "log-sum-exp is convex; one maximum from 20 places",
    ),
    "carlson-appA-cost": (
        "a gradient is one pass over K + 1 sums a guess",
        "counted; rl's Newton steps, fewer, solve K equations",
    ),
    "carlson-s24-cheaper": (
        "one division for each temperature",
        "the likelihood of all rounds is maximised in several such passes",
    ),
    "carlson-overhead": (
        "100 exponentials beside 15,680 products, with 10 hidden units",
        "counted for a sweep of 784 visible units over 100 temperatures",
    ),
}  # fmt: skip


def argued(claim: str, holds: bool = True) -> Verdict:
    """The verdict on a claim of `ARGUMENTS`; ``holds`` is given where it was computed.

    Examples
    --------
    >>> argued("carlson-s33-taylor").outcome, argued("carlson-eq14", False).outcome
    ('reproduced', 'contradicted')
    """
    if claim not in ARGUMENTS:
        raise ValueError(f"no argument for {claim!r}: expected one of {', '.join(ARGUMENTS)}")
    ours, reason = ARGUMENTS[claim]
    return judge.statement(claim, bool(holds), ours=ours, reason=reason)
