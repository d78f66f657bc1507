"""How often each verdict is wrong, and how often intervals contain log Z.

A run is *wrong* if its error exceeds `ERRORS` standard errors and `NATS`. A *false contradiction*
is a contradicted run whose value is right by its own error bar. A *cell* is an estimator on a path
to a model. Its blocks of runs are added up, and the numbers of intervals that contain log Z are
judged together by Holm's rule.
"""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from rbmlib.estimate import VERDICTS

from .bench import ERRORS, NATS, share_interval

LEVELS = (50, 80, 95)  # percent


def judged(runs: pd.DataFrame) -> pd.DataFrame:
    """The rows of a table of verdicts, with the verdict in words and whether the run is wrong."""
    off = (runs["log_z"] - runs["exact"]).abs()
    wrong = (off > ERRORS * runs["std_error"].fillna(0)) & (off > NATS)
    by_own = (off <= ERRORS * runs["own_error"].fillna(0)) | (off <= NATS)
    verdict = pd.Categorical.from_codes(runs["verdict"].astype(int), list(VERDICTS), ordered=True)
    return runs.assign(
        verdict=verdict, wrong=wrong, alarm=by_own & (verdict == "contradicted")
    ).sort_values("verdict", ascending=False, kind="stable")


def verdicts(runs: pd.DataFrame, by: list[str]) -> pd.DataFrame:
    """One row for each group of judged runs; ``false`` counts contradicted ones that were right."""
    groups = runs.groupby(by, sort=False, observed=True)
    found = groups.agg(runs=("wrong", "size"), wrong=("wrong", "sum"), false=("alarm", "sum"))
    low, high = share_interval(found["wrong"], found["runs"])
    shares = 100 * np.array([found["wrong"] / found["runs"], low, high])
    percents = [f"{share:.1f} ({a:.1f} to {b:.1f})" for share, a, b in shares.T]
    return found.assign(percent=percents).reset_index()


def cost(runs: pd.DataFrame) -> pd.DataFrame:
    long = runs[(runs["run_seconds"] >= 1) & ~runs["method"].str.startswith("log_z")]
    share = 100 * long["check_seconds"] / long["run_seconds"]
    groups = share.groupby(long["method"], sort=False)
    return groups.agg(runs="size", median="median", largest="max").reset_index()


def cells(blocks: pd.DataFrame) -> pd.DataFrame:
    counts_of = ["n_repeats", "n_converged", *(f"hold_{level}" for level in LEVELS), "all_95"]
    return blocks.groupby(["path", "model", "method"], sort=False)[counts_of].sum()


def cell_shares(counted: pd.DataFrame) -> pd.DataFrame:
    """Percentages of intervals that contain log Z, among converged runs and among all runs."""
    n = counted["n_converged"]
    found = counted.index.to_frame(index=False).rename(columns={"method": "estimator"})
    found["runs"] = counted["n_repeats"].astype(int).map("{:,}".format).to_numpy()
    found["converged"] = n.astype(int).map("{:,}".format).to_numpy()
    for level in LEVELS:
        found[f"{level}%"] = (100 * counted[f"hold_{level}"] / n).to_numpy()
    found["all, 95%"] = (100 * counted["all_95"] / counted["n_repeats"]).to_numpy()
    return found


def holm(p_values, level: float = 0.01) -> np.ndarray:
    """Tests that reject by Holm's rule; any rejection is false with probability ``level``."""
    flat = np.ravel(p_values)
    order = np.argsort(flat)
    held = np.cumsum(flat[order] > level / (flat.size - np.arange(flat.size))) > 0
    rejected = np.zeros(flat.size, bool)
    rejected[order] = ~held
    return rejected.reshape(np.shape(p_values))


def coverages(cells, rejected) -> None:
    """Draw shares of intervals that contain log Z; ``rejected`` is (n_cells, n_levels)."""
    labels = [f"{e} | {m.split()[-1]}, {path}" for path, m, e in cells.index]
    rows = {name: -i for i, name in enumerate(dict.fromkeys(labels))}
    figure, axes = plt.subplots(1, 2, figsize=(7.2, 8.4), sharey=True)
    for ax, coupling in zip(axes, ("weak", "strong"), strict=True):
        chosen = np.array([m.startswith(coupling) for _, m, _ in cells.index])
        at = np.array([rows[label] for label in labels])[chosen]
        for level, wrong in zip(LEVELS, rejected[chosen].T, strict=True):
            _panel(ax, at, cells[chosen], level, wrong)
        ax.set_title(f"{coupling}ly coupled", fontsize=9)
        ax.set_xticks(LEVELS)
        ax.set_xlim(35, 101)
        ax.grid(False, axis="y")
    axes[0].set_yticks(list(rows.values()), list(rows), fontsize=6.5)
    axes[0].set_ylim(-len(rows), 1)
    figure.supxlabel("intervals that contain log Z, in percent", fontsize=8)


def _panel(ax, at, cells, level, wrong) -> None:
    k, n = cells[f"hold_{level}"].to_numpy(), cells["n_converged"].to_numpy()
    low, high = share_interval(k, n)
    ax.axvspan(level - 3, level + 3, color="0.9", lw=0)
    for which, marker, color in ((~wrong, "o", "C0"), (wrong, "D", "C3")):
        ax.hlines(at[which], 100 * low[which], 100 * high[which], color=color, lw=1)
        ax.plot((100 * k / n)[which], at[which], marker, color=color, ms=3)
