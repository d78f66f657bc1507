"""Answers of programs on the bench: how far each may be believed, and on which families.

Answers are tables as `rbmbook.bench` reads them, ``data/bench/answers_NAME.csv``, with a column of
processor seconds if they have one.
"""

from __future__ import annotations

import math
from pathlib import Path

import matplotlib.pyplot as plt
import pandas as pd

from rbmlib import datasets

from . import bench
from .plots import RED
from .svg import PHONE
from .tables import number

COMMITTED = {
    "rl.log_z": "log_z", "rl.ais": "ais", "rl.rts": "rts", "rl.tap": "tap", "NumPy": "numpy",
    "scikit-learn": "scikit-learn", "rbms": "rbms",
}  # fmt: skip
HELD_OUT = {"rl.log_z": "held_out_log_z", "rl.ais": "held_out_ais"}


def tables_of(files: dict[str, str]) -> dict[str, Path]:
    """Of programs, the committed tables of their answers, as far as they have been run."""
    folder = datasets.committed("bench/index.csv").parent
    found = {name: folder / f"answers_{end}.csv" for name, end in files.items()}
    return {name: table for name, table in found.items() if table.is_file()}


def committed() -> tuple[dict[str, Path], dict]:
    """Tables by program, and the index of their models."""
    return tables_of(COMMITTED), bench.read_index()


def held_out() -> tuple[dict[str, Path], dict]:
    """The same of models by seed 1, on which nothing was tuned."""
    return tables_of(HELD_OUT), bench.read_index(datasets.committed("bench/held_out.csv"))


def scores(tables: dict[str, Path], models: dict) -> dict[str, dict[str, bench.Score]]:
    """By program and family."""
    return {name: bench.scores(bench.read_answers(t), models) for name, t in tables.items()}


def median_seconds(table: Path) -> float:
    """Of a model, over those that were answered; NaN without a column of seconds."""
    rows = pd.read_csv(table)
    if "seconds" not in rows:
        return float("nan")
    return float(rows["seconds"][rows["log_z"].notna()].median())


def row(name: str, score: bench.Score, seconds: float = float("nan")) -> dict[str, str]:
    """Of a table of programs; shares are of the trusted answers.

    Examples
    --------
    >>> row("NumPy", bench.Score(200, 200, 100, 3, 90, 1.5, 0.02), 0.5)["wrong (95% interval)"]
    '3 (0.62–8.5%)'
    """
    low, high = bench.share_interval(score.wrong, score.trusted) if score.trusted else (0.0, 1.0)
    some = score.trusted > 0
    with_bars = score.covered > 0 or not math.isnan(score.spread)
    return {
        "program": name,
        "trusted": f"{score.trusted} of {score.models}",
        "wrong (95% interval)": f"{score.wrong} ({100 * low:.2g}–{100 * high:.2g}%)"
        if some
        else "–",
        "covered": f"{score.covered / score.trusted:.0%}" if with_bars else "–",
        "spread": number(score.spread),
        "median error": number(score.median),
        "seconds": number(seconds),
    }


def programs(tables: dict[str, Path], models: dict) -> pd.DataFrame:
    """A row a program: all families together."""
    found = scores(tables, models)
    return pd.DataFrame([row(n, found[n]["all"], median_seconds(t)) for n, t in tables.items()])


def by_family(found: dict[str, dict[str, bench.Score]]):
    """A grid, family by program: trusted answers, and on red how many of them are wrong.

    Families on which most answers are wrong stand first.
    """
    families = [family for family in next(iter(found.values())) if family != "all"]
    families.sort(key=lambda f: -sum(of[f].wrong for of in found.values()))
    width = min(PHONE, 1.5 + 0.5 * len(found))  # on a phone, too, as high as its rows need
    _, ax = plt.subplots(figsize=(width, 1.0 + 0.26 * len(families)))
    for x, of in enumerate(found.values()):
        for y, family in enumerate(families):
            s = of[family]
            if s.wrong:
                ax.plot(x, y, "s", ms=17, color=RED)
            text = f"{s.wrong}/{s.trusted}" if s.wrong else str(s.trusted or "·")
            ax.text(x, y, text, color="white" if s.wrong else "0.35", ha="center", va="center",
                    fontsize=8.5)  # fmt: skip
    ax.set(xlim=(-0.6, len(found) - 0.4), ylim=(len(families) - 0.4, -0.6))
    ax.set_xticks(range(len(found)), list(found), rotation=60, ha="left", rotation_mode="anchor")
    ax.set_yticks(range(len(families)), families)
    ax.xaxis.tick_top()
    ax.grid(False)
    ax.tick_params(length=0)
    for spine in ax.spines.values():
        spine.set_visible(False)
    return ax
