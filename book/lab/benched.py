"""The bench on the page: answers of programs on models of known log Z, judged by `rbmlib.bench`."""

from __future__ import annotations

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from rbmlib import bench, datasets

from . import plots

PROGRAMS = {  # stored answers, by what the page calls them
    "rl.log_z": "log_z", "rl.ais": "ais", "rl.rts": "rts", "rl.bar": "bar", "rl.tap": "tap",
    "NumPy AIS": "numpy",
}  # fmt: skip


def judged() -> dict[str, dict[str, bench.Score]]:
    """Scores by program and family, of the programs whose answers are stored."""
    index, found = bench.read_index(), {}
    for program, name in PROGRAMS.items():
        try:
            file = datasets.committed(f"bench/answers_{name}.csv")
        except datasets.DataCorrupt:
            continue
        found[program] = bench.scores(bench.read_answers(file), index)
    return found


def seconds(program: str) -> float:
    """Of all answers of a program together."""
    file = datasets.committed(f"bench/answers_{PROGRAMS[program]}.csv")
    return float(pd.read_csv(file)["seconds"].sum())


def row(program: str, scores: dict[str, bench.Score]) -> dict:
    """What a program's answers on all models are worth."""
    score = scores["all"]
    low, high = bench.share_interval(score.wrong, score.trusted)
    return {
        "program": program,
        "trusted": score.trusted,
        "of these wrong": score.wrong,
        "95% of that share": f"{low:.1%} to {high:.1%}",
        "within 1.96 s.e.": f"{score.covered / score.trusted:.0%}",
        "median error": score.median,
        "seconds": round(seconds(program)),
    }


def by_family(found: dict[str, dict[str, bench.Score]]) -> pd.DataFrame:
    """Wrong of trusted answers, a row a family and a column a program."""
    families = [family for family in next(iter(found.values())) if family != "all"]
    cells = {
        program: [f"{scores[f].wrong} of {scores[f].trusted}" for f in families]
        for program, scores in found.items()
    }
    return pd.DataFrame({"family": families} | cells)


def contents() -> pd.DataFrame:
    """What the families are, with the sizes of their models."""
    index = pd.read_csv(datasets.committed("bench/index.csv"))
    families = pd.read_csv(datasets.committed("bench/families.csv"))
    sizes = index.groupby("family")[["n_visible", "n_hidden"]].agg(["min", "max"])
    of = [
        " x ".join(f"{s[n]['min']} to {s[n]['max']}" for n in ("n_visible", "n_hidden"))
        for s in (sizes.loc[family] for family in families["family"])
    ]
    known = index.groupby("family")["known_by"].first()
    return families.assign(sizes=of, known=[known[f] for f in families["family"]]).rename(
        columns={"known": "log Z by"}
    )


def picture(found: dict[str, dict[str, bench.Score]]):
    """A row a program, a column a family: height of the trusted share, its wrong part in red."""
    families = [family for family in next(iter(found.values())) if family != "all"]
    size = (9.6, 1.2 + 0.75 * len(found))
    _, axes = plt.subplots(len(found), 1, figsize=size, sharex=True, squeeze=False)
    x = np.arange(len(families))
    for ax, (program, scores) in zip(axes[:, 0], found.items(), strict=True):
        n = np.array([scores[f].models for f in families])
        right, wrong = (
            np.array([getattr(scores[f], name) for f in families]) / n
            for name in ("trusted", "wrong")
        )
        ax.bar(x, right - wrong, color=plots.BLUE, label="trusted and right")
        ax.bar(x, wrong, bottom=right - wrong, color=plots.RED, hatch="///", label="trusted, wrong")
        ax.set(ylim=(0, 1), yticks=[0, 1], yticklabels=["0", "all"], ylabel=program)
        ax.yaxis.label.set(rotation=0, ha="right", va="center")
    axes[-1, 0].set_xticks(x, families, rotation=60, ha="right")
    axes[0, 0].legend(loc="lower left", bbox_to_anchor=(0, 1), ncols=2)
    return axes[:, 0]
