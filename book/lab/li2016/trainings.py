"""Several trainings of leaky and Bernoulli-Gaussian RBMs: which of them count, and who is ahead.

A claim about training is one about other trainings too: what counts are log-likelihoods of test
images from trainings with seeds of their own, by both ends of log Z. The rate of each kind of
training is the one with the highest log-likelihood of other images, by a seed that does not count.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from rbmlib import datasets

from .. import judge, tables
from .. import measured as ms
from ..verdicts import Verdict, together

if TYPE_CHECKING:
    import pandas as pd

METHODS = {"cd": "CD", "mix": "Mix", "leaky": "Leaky", "pcd": "PCD"}
CD, MIX, LEAKY = "leaky, CD", "leaky, Mix", "leaky, Leaky"
GB = "Bernoulli-Gaussian, CD"
FALLING = ", falling rate"
ORDER = [*(f"leaky, {name}" for name in METHODS.values()), CD + FALLING, GB, GB + FALLING]
ORDER += [f"{GB}-{k}" for k in (1, 40, 100)]
ENDS = "high", "low"


def if_run(name: str) -> pd.DataFrame | None:
    """The table of a sweep of ``book/scales/not_run``, once it has been computed."""
    import pandas as pd

    file = datasets.committed("published/claims.csv").parents[1] / "results" / f"{name}.csv"
    return pd.read_csv(file) if file.exists() else None


class Trainings:
    """Scored trainings of both models with one number of hidden units, by model and method.

    Parameters
    ----------
    stored : pandas.DataFrame
        Rows of "trained for epochs", "trained at size" or "trained on all images".

    Attributes
    ----------
    rates : pandas.Series
        By model and method: the rate of the highest log-likelihood of the images for tuning, with
        seed 0. The trainings with other seeds, at that rate, are those that count.
    """

    def __init__(self, stored: pd.DataFrame):
        tuning = stored[["tuning_low", "tuning_high"]].mean(axis=1)
        self.table = stored.assign(name=_names(stored), tuning=tuning)
        first = self.table[self.table["seed"] == 0]
        by_rate = first.pivot(index="name", columns="learning_rate", values="tuning")
        given = self.table.groupby("name")["learning_rate"].first()  # of kinds without a tuning
        self.rates = by_rate.idxmax(axis=1).reindex(given.index).fillna(given)

    def of(self, name: str, end: str = "high") -> np.ndarray:
        """Test log-likelihoods of the trainings that count, by the "high" or "low" end of log Z."""
        rows = self.table[(self.table["name"] == name) & (self.table["seed"] > 0)]
        rows = rows[rows["learning_rate"] == self.rates.get(name)].sort_values("seed")
        return rows[f"test_{end}"].to_numpy()

    def ahead(self, one: str, other: str, end: str = "high") -> ms.Measured:
        """Mean log-likelihood of one kind of training minus that of another."""
        return ms.difference(self.of(one, end), self.of(other, end))

    def verdict(self, claim: str, one: str, other: str, **size) -> Verdict:
        """Is the first kind ahead, by either end of log Z? One that broke down leaves it open."""
        counts = [self.of(name, end) for name in (one, other) for end in ENDS]
        if min(map(len, counts)) < 2 or not np.isfinite(np.concatenate(counts)).all():
            return judge.left_open(claim, "fewer than two whole trainings of a kind")
        n = min(map(len, counts))
        told = {"direction": +1, "unit": "nats", "n_trainings": n, "alpha": judge.FEW} | size
        ends = {
            f"{end} end": judge.effect(claim, self.ahead(one, other, end), **told) for end in ENDS
        }
        both = together(ends)
        return both._replace(**{k: getattr(ends["high end"], k) for k in ("effect", "low", "high")})

    def summary(self) -> pd.DataFrame:
        """By model and method: rate, trainings, log-likelihood, and its distance from leaky, CD."""
        import pandas as pd

        rows = {}
        for name in [n for n in ORDER if n in self.rates.index and len(self.of(n)) > 1]:
            behind = self.ahead(name, CD)
            mean = ms.mean_of(self.of(name))
            rows[name] = {
                "rate": f"{self.rates[name]:g}",
                "trainings": len(self.of(name)),
                "log-likelihood": tables.with_error(mean.value, mean.std_error),
                "minus leaky, CD": "" if name == CD
                else tables.with_error(behind.value, behind.std_error),
            }  # fmt: skip
        return pd.DataFrame.from_dict(rows, orient="index")


def _names(stored: pd.DataFrame) -> pd.Series:
    name = "leaky, " + stored["method"].map(METHODS)
    name[stored["model"].str.startswith("gaussian")] = GB
    other = stored["n_sweeps"] != 20
    name[other] += "-" + stored["n_sweeps"][other].astype(str)
    name[stored["falling"]] += FALLING
    return name
