"""Looks along the stored trainings on DNA: the tracker against AIS."""

from __future__ import annotations

import pandas as pd

from ..measured import rmse

SOUND_ESS = 50  # of AIS with 100 chains, from which on it is trusted


def trainings(stored: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """The looks of each training, that of the paper's 2,000 chains first."""
    looks = stored[stored["n_annealed"] == 100].sort_values("look", ignore_index=True)
    looks["update"] = looks["look"] * looks["n_updates"] // looks["n_looks"]
    found = {}
    for (n, gain, rate), run in looks.groupby([-looks["n_chains"], "gain", "learning_rate"]):
        name = f"{-n:,} chains, α = {gain}, step {rate:g}"
        found[name] = run.reset_index()
    return found


def against_ais(run: pd.DataFrame) -> dict:
    """How far the tracked log Z is from AIS along a training, and where each would stop."""
    off, sound = (run["tracked"] - run["log_z"]).abs(), run["ess"] >= SOUND_ESS
    checked = run["validation"] + run["tracked"] - run["log_z"]
    best, best_ais = run["validation"].argmax(), checked.argmax()
    return {
        "looks": len(run),
        "least ESS": run["ess"].min(),
        "sound looks": int(sound.sum()),
        "RMS difference": rmse(off[sound]),
        "largest": off[sound].max(),
        "best update, tracked": run["update"][best],
        "ESS at it": run["ess"][best],
        "by AIS": run["update"][best_ais],
        "lost": checked[best_ais] - checked[best],
        "ESS there": run["ess"][best_ais],
    }
