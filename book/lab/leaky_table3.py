"""Chapter leaky_rbm: Table 3 of Li et al. (2016), from trainings and runs of our own.

Which rate is best for 300 updates, and between which ends log Z of the trained models lies.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    import pandas as pd

NAMES = {"gaussian": "Bernoulli-Gaussian RBM", "leaky": "Leaky-ReLU RBM"}
N_TEST = 10_000  # test images of CIFAR-10
LOG_Z_OF_BASE = 3072 / 2 * np.log(2 * np.pi)  # of N(0, I): what Table 3 lacks
STANDARD_NORMAL = -3072 / 2 - LOG_Z_OF_BASE  # mean log p of N(0, I) on its training images


def tuning(stored: pd.DataFrame) -> pd.DataFrame:
    """The trainings of the sweep ``leaky_tuning``, largest rates first, with what became of each.

    "outcome" is "best" where both ends of the likelihood lie above the others' of that model.
    """
    kind = stored["model"].str.split().str[0]
    found = stored.assign(model=kind.map(NAMES)).rename(
        columns={
            "learning_rate": "rate", "validation_low": "at least", "validation_high": "at most",
            "ess": "ESS of 50", "reverse_ess": "reverse",
            "train_minus_validation": "training minus validation",
            "reconstruction_error": "reconstruction error",
        }
    )  # fmt: skip
    found = found.sort_values(["model", "rate"], ascending=[True, False], ignore_index=True)
    found["outcome"] = np.select(
        [found["at least"].isna(), found["at most"] < STANDARD_NORMAL],
        ["diverged", "worse than N(0, I)"],
        "",
    )
    for _, group in found.groupby("model"):
        best = group["at least"].idxmax()
        clear = group["at least"][best] > group["at most"].drop(best).max()
        words = "best" if clear else "best, by less than the brackets' widths"
        found.loc[best, "outcome"] = words
    return found


def best_rates(tuned: pd.DataFrame) -> dict[str, float]:
    """By model, of the table that `tuning` gives."""
    best = tuned[tuned["outcome"].str.startswith("best")]
    return dict(zip(best["model"], best["rate"], strict=True))


def bounds(stored: pd.DataFrame) -> pd.DataFrame:
    """Runs of the sweep ``leaky_table3`` from either side, by model and path.

    "from below" is the mean log-weight less 3 standard errors, or log Z less log(20 n) for the n
    runs of a model: E[w] = Z, so all n are lower with a chance above 19/20 (Markov).
    """
    runs = stored[stored["estimator"].isin(["both sides", "ais"])].copy()
    runs["model"] = runs["model"].str.split("_").str[0].map(NAMES)
    runs["log p*"] = runs["log_likelihood"] / N_TEST + runs["log_z"]  # of a test image
    luck = np.log(20 * runs.groupby("model")["model"].transform("size"))
    mean_low = runs["mean_log_z"] - 3 * runs["mean_std_error"]
    runs["from below"] = np.maximum(mean_low, runs["log_z"] - luck)
    runs["from above"] = runs["reverse_mean"] + 3 * runs["reverse_mean_error"]
    runs["path"] = np.select(
        [runs["estimator"] == "ais", runs["n_leapfrog"] > 0],
        ["from N(b, I)", "own moments"],
        "own moments, slices only",
    )
    runs = runs.sort_values(
        ["model", "path", "n_temperatures"], ascending=[True, False, True], ignore_index=True
    )
    runs["reading"] = _reading(runs)
    names = {
        "n_temperatures": "steps", "n_chains": "chains", "log_z": "AIS",
        "reverse_log_z": "reverse AIS", "ess": "ESS", "reverse_ess": "ESS, reverse",
    }  # fmt: skip
    return runs.rename(columns=names).astype({"steps": int, "chains": int})


def _reading(runs) -> np.ndarray:
    floor = runs.groupby("model")["from below"].transform("max")
    low = runs[["ess", "reverse_ess"]].min(axis=1) < runs["n_chains"] / 2
    return np.select(
        [runs["from above"] < floor, low],
        ["no bound: another run finds more", "low ESS: read the ends"],
        "ESS at least half",
    )


def bracket(runs: pd.DataFrame, model: str) -> tuple[float, float]:
    """The ends of log Z, from the table that `bounds` gives; nan where no run bounds from above."""
    found = runs[runs["model"] == model]
    below = found["from below"].max()
    above = found.loc[found["path"] == "own moments", "from above"].iloc[-1]
    return below, above if above > below else np.nan
