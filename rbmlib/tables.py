"""Comparison tables: paper | ours | s.e. | exact | verdict.

A verdict is a statistical statement: a difference in (combined) standard errors. Nothing here
has a tolerance to be widened.
"""

from __future__ import annotations

import math

import pandas as pd
from scipy.special import fdtr, fdtrc

LIMIT = 3.0  # standard errors up to which two numbers are said to agree


def z_score(value, std_error, reference, reference_error=0.0) -> float:
    """(value - reference) in combined standard errors."""
    scale = math.hypot(std_error, reference_error)
    if not scale > 0:
        raise ValueError(
            f"standard errors are {std_error} and {reference_error}: expected one above 0"
        )
    return (value - reference) / scale


def verdict(value, std_error, reference, reference_error=0.0) -> str:
    """In words: do the two numbers agree within 3 combined standard errors?

    Examples
    --------
    >>> verdict(10.1, 0.1, 10.0)
    'agrees (+1.0 s.e.)'
    >>> verdict(8.0, 0.1, 10.0)
    'too low by 2.00 (-20.0 s.e.)'
    """
    if not all(map(math.isfinite, (value, reference))):
        return "no reference"
    z = z_score(value, std_error, reference, reference_error)
    if abs(z) <= LIMIT:
        return f"agrees ({z:+.1f} s.e.)"
    difference = value - reference
    return f"too {'high' if z > 0 else 'low'} by {abs(difference):.2f} ({z:+.1f} s.e.)"


def variance_verdict(variance, n, reference, reference_n) -> str:
    """In words: do two sample variances of n and reference_n normal values agree (F test, 1%)?

    Examples
    --------
    >>> variance_verdict(1.2, 20, 1.0, 20)
    'agrees (p = 0.7)'
    >>> variance_verdict(0.1, 20, 1.0, 20)
    'smaller by a factor of 10.0 (p = 6e-06)'
    """
    ratio = variance / reference
    freedom = (n - 1, reference_n - 1)
    p = 2 * float(min(fdtr(*freedom, ratio), fdtrc(*freedom, ratio)))
    if p >= 0.01:
        return f"agrees (p = {p:.1g})"
    if ratio < 1:
        return f"smaller by a factor of {1 / ratio:.1f} (p = {p:.0e})"
    return f"larger by a factor of {ratio:.1f} (p = {p:.0e})"


def ratio_interval(value, low, high, reference, reference_low, reference_high):
    """Ratio of two independent positive numbers with 95% intervals: (ratio, low, high).

    Widths add in squares on the scale of logarithms.

    Examples
    --------
    >>> [round(x, 2) for x in ratio_interval(2.0, 1.6, 2.5, 1.0, 0.8, 1.25)]
    [2.0, 1.46, 2.74]
    """
    ratio = value / reference
    half = math.hypot(math.log(high / low), math.log(reference_high / reference_low)) / 2
    return ratio, ratio * math.exp(-half), ratio * math.exp(half)


def gain_verdict(published, low, high) -> str:
    """In words: does our 95% interval of a ratio hold the published one, or its sign?

    Examples
    --------
    >>> gain_verdict(1.4, 1.2, 1.5)
    'reproduced'
    >>> gain_verdict(2.2, 1.2, 1.5)
    'same sign: smaller than published'
    >>> gain_verdict(2.2, 0.9, 1.1)
    'NOT REPRODUCED: no gain either way'
    """
    if not math.isfinite(published):
        return "not in the paper"
    if low <= published <= high:
        return "reproduced"
    if (published > 1) == (low > 1) and (published < 1) == (high < 1):
        closer_to_one = abs(math.log(published)) > abs(math.log(low * high)) / 2
        return f"same sign: {'smaller' if closer_to_one else 'larger'} than published"
    return f"NOT REPRODUCED: {'no gain either way' if low <= 1 <= high else 'the opposite'}"


def replicate_summary(values) -> dict[str, float]:
    """Mean, variance and standard error of the mean of repeated runs."""
    series = pd.Series(values, dtype=float)
    return {
        "mean": float(series.mean()),
        "variance": float(series.var(ddof=1)),
        "std_error": float(series.sem(ddof=1)),
    }


def show(frame: pd.DataFrame, caption: str, decimals: int | dict = 3):
    """A styled table for the book: numbers aligned, gaps as a dash, a caption on top."""
    digits = decimals if isinstance(decimals, dict) else {}
    default = decimals if isinstance(decimals, int) else 3
    formats = {
        name: f"{{:,.{digits.get(name, default)}f}}"
        for name in frame.columns
        if pd.api.types.is_float_dtype(frame[name])
    }
    identifier = "".join(c if c.isalnum() else "-" for c in caption.lower())[:40]
    return (
        frame.style.set_uuid(identifier)
        .hide(axis="index")
        .format(formats, na_rep="–")
        .set_caption(caption)
    )
