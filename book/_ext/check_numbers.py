"""Numbers of the Check page: for people to read, and ours in the unit of the printed one."""

from __future__ import annotations

import csv
import math
import re
from typing import NamedTuple

from rbmbook.verdicts import Verdict
from rbmlib import datasets

CASE = re.compile(
    r"^(?P<name>.+?): (?P<value>[−-]?[\d.,]+) \[(?P<low>[−-]?[\d.,∞]+), (?P<high>[−-]?[\d.,∞]+)\]"
    r"(?: (?P<unit>.*))?$"
)
WITH_ERROR = re.compile(r"([-−]?[\d,]+\.?\d*) ± ([\d,]+\.?\d*)")


class Interval(NamedTuple):
    """A number of ours on one model, base or setting, with its interval."""

    name: str
    value: float
    low: float
    high: float
    unit: str = ""


def for_people(x: float) -> str:
    """Four digits, thousands separated, powers of ten for what is tiny.

    Examples
    --------
    >>> for_people(-13.88290), for_people(46038.1), for_people(0.000104), for_people(float("inf"))
    ('−13.88', '46,038', '1 × 10<sup>−4</sup>', '∞')
    """
    if not math.isfinite(x):
        return "∞" if x > 0 else "−∞"
    size = abs(x)
    if 0 < size < 1e-3:
        power = math.floor(math.log10(size))
        return f"{x / 10**power:.2g} × 10<sup>{power}</sup>".replace("-", "−")
    most = 4 if size < 0.01 else 3
    digits = 0 if size == 0 else min(most, max(0, 3 - math.floor(math.log10(size))))
    return f"{x:,.{digits}f}".replace("-", "−")


def printed(text: str) -> str:
    """A printed number, or words, as HTML: "5.49e-6" as a power of ten."""
    power = re.fullmatch(r"([\d.]+)e(-?\d+)", text)
    if power:
        return f"{power[1]} × 10<sup>{power[2].replace('-', '−')}</sup>"
    return re.sub(r"(?<![\w-])-(?=\d)", "−", text)


def with_two_digits(text: str) -> str:
    """Numbers with errors inside a text, with two digits of each error.

    Examples
    --------
    >>> with_two_digits("226.07561 ± 0.08804 nats")
    '226.076 ± 0.088 nats'
    """

    def shorter(match) -> str:
        value, error = (float(part.replace(",", "").replace("−", "-")) for part in match.groups())
        if not error > 0:
            return match[0]
        digits = min(7, max(0, 1 - math.floor(math.log10(error))))
        return f"{value:,.{digits}f} ± {error:,.{digits}f}".replace("-", "−")

    return WITH_ERROR.sub(shorter, text)


def without_powers(text: str) -> str:
    """Numbers as programs write them, inside a text, as HTML for people.

    Examples
    --------
    >>> without_powers("1.01e+03 ×/÷ 1.28"), without_powers("variance 1.7e-05")
    ('1,010 ×/÷ 1.28', 'variance 1.7 × 10<sup>−5</sup>')
    """
    return re.sub(r"[\d.]+e[+-]\d+", lambda match: for_people(float(match[0])), text)


def cases(verdict: Verdict) -> list[Interval]:
    """Effects of a claim that was judged on several models; none if it was judged once."""
    parts = [CASE.match(part) for part in verdict.ours.split("; ")]
    if not all(parts):
        return []
    return [
        Interval(m["name"], *(_float(m[key]) for key in ("value", "low", "high")), m["unit"] or "")
        for m in parts
    ]


def margin(verdict: Verdict) -> tuple[float, float] | None:
    """The effects that would count as no difference, from the note of a verdict."""
    if found := re.search(r"margin ±([\d.]+)", verdict.note):
        return -float(found[1]), float(found[1])
    if found := re.search(r"margin:? a factor of ([\d.]+)", verdict.note):
        return 1 / float(found[1]), float(found[1])
    return None


def is_ratio(verdict: Verdict) -> bool:
    """Ratios are drawn on a logarithmic axis, about 1."""
    by_a_factor = "×/÷" in verdict.ours or "factor" in verdict.note
    return verdict.name.endswith("-var") or (not verdict.unit and by_a_factor)


def printed_number(verdict: Verdict) -> float | None:
    """The printed number where it is one."""
    try:
        return float(verdict.paper)
    except ValueError:
        return None


def our_ess() -> dict[str, list[tuple[Interval, int]]]:
    """Our ESS of 1,000 chains by claim of Kiwaki's tables, a base each, and the chains that ran."""
    found: dict[str, list[tuple[Interval, int]]] = {}
    for table in ("varopt_20", "varopt_bases", "varopt_500"):
        with datasets.committed(f"results/{table}.csv").open(encoding="utf-8", newline="") as file:
            for row in csv.DictReader(file):
                if row["estimator"] == "two_way_ais" and row["schedule"] != "friction":
                    n_chains = int(row["n_chains"])
                    found.setdefault(_claim_of(row), []).append((_of_thousand(row), n_chains))
    return found


def _of_thousand(row: dict) -> Interval:
    ess = [float(row[key]) * 1000 / int(row["n_chains"]) for key in ("ess", "ess_low", "ess_high")]
    return Interval(row["base"], *ess)


def _claim_of(row: dict) -> str:
    method, units = row["model"].split("_")
    cap = float(row["max_step"]) if row["schedule"] == "varopt" else 1.0
    schedule = row["schedule"] + (f"{cap:g}" if cap < 1 else "")
    return f"kiwaki-t{1 if units == '20' else 2}-{method}{units}-{schedule}-ess"


def _float(text: str) -> float:
    return float(text.replace("−", "-").replace(",", "").replace("∞", "inf"))
