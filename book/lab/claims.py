"""The claims of the four sources that the book judges: one row each of ``published/claims.csv``."""

from __future__ import annotations

import csv
import difflib
from functools import cache
from typing import NamedTuple

from rbmlib import datasets


class Claim(NamedTuple):
    """A number of a table, or a sentence that can be put to the test."""

    name: str  # short, unique: verdicts refer to it
    source: str  # Kiwaki, Carlson, Li or Wang
    place: str  # table, figure, section
    chapter: str  # that judges it
    claim: str  # in words
    printed: str  # the number as it is printed, or the words
    effect: str = ""  # what was measured of it: what a ratio is a ratio of
    outcome: str = ""  # of the verdict that the reason was written for
    reason: str = ""  # of the verdict, in a sentence


@cache
def claims() -> dict[str, Claim]:
    """Every claim by its name, in the order of the sources."""
    with datasets.committed("published/claims.csv").open(encoding="utf-8", newline="") as file:
        rows = [Claim(**row) for row in csv.DictReader(file)]
    by_name = {row.name: row for row in rows}
    if len(by_name) != len(rows):
        raise ValueError("published/claims.csv names a claim twice")
    return by_name


def claim(name: str) -> Claim:
    """The claim of this name.

    Raises
    ------
    ValueError
        If there is none, with the names that come close.
    """
    if name not in claims():
        close = ", ".join(difflib.get_close_matches(str(name), claims(), n=3)) or "none is close"
        raise ValueError(f"name is {name!r}: expected one of data/published/claims.csv ({close})")
    return claims()[name]


def printed_number(name: str) -> tuple[float, float]:
    """The printed number of a claim, and half a unit of its last digit.

    Raises
    ------
    ValueError
        If the claim prints no single number.
    """
    text = claim(name).printed
    try:
        value = float(text)
    except ValueError:
        raise ValueError(
            f"printed is {text!r} for {name}: expected a number; judge words by another function"
        ) from None
    digits, _, power = text.lower().partition("e")
    decimals = len(digits.partition(".")[2]) - int(power or 0)
    return value, 0.5 * 10.0**-decimals
