"""Chapter leaky_rbm: several trainings of leaky and Gaussian-Bernoulli RBMs, and their verdicts.

A claim about training is one about other trainings too: what counts are log-likelihoods of test
images from trainings with seeds of their own, by both ends of log Z. The rate of each kind of
training is the one with the highest log-likelihood of other images, by a seed that does not count.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from . import judge, tables
from . import measured as ms
from .verdicts import Verdict, depends, together

if TYPE_CHECKING:
    import pandas as pd

METHODS = {"cd": "CD", "mix": "Mix", "leaky": "Leaky", "pcd": "PCD"}
CD, GB = "leaky, CD", "Gaussian-Bernoulli, CD"
ORDER = [f"leaky, {name}" for name in METHODS.values()]
ORDER += [f"{CD}, below 0.9", f"{CD}, falling", GB, f"{GB}, falling", f"{GB}-1"]
BOUND = 0.9999  # of singular values, unless a training says otherwise

# The better one, by what the paper says, and the other; of one claim a pair for each kind of rate.
PAIRS = {
    "li-f4-leaky-cifar10": {"": ("leaky, Leaky", CD)},
    "li-f4-mix-cifar10": {"": ("leaky, Mix", CD)},
    "li-f4-order-cifar10": {"": ("leaky, Leaky", "leaky, Mix")},
    "li-s42-outperforms-cifar10": {
        "constant rates": (CD, GB),
        "falling rates": (f"{CD}, falling", f"{GB}, falling"),
    },
    "li-s42-decay": {"": (f"{GB}, falling", GB)},
    "li-s42-steps": {"": (GB, f"{GB}-1")},
}
FIGURE_4 = [claim for claim in PAIRS if claim.startswith("li-f4")]
# Sizes that words claim (nats): "slight" is less than what a falling rate brings, some 50.
SIZES = {"li-s42-steps": (0.0, 50.0)}


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
        self.rates = self.at_rates().idxmax(axis=1)

    def at_rates(self) -> pd.DataFrame:
        """Log-likelihood of the images for tuning, seed 0, by model and method, and by rate."""
        first = self.table[self.table["seed"] == 0]
        by_rate = first.pivot(index="name", columns="learning_rate", values="tuning")
        return by_rate.reindex([name for name in ORDER if name in by_rate.index])

    def _counted(self, name: str) -> pd.DataFrame:
        """By rising seed; ``is_whole`` where both ends are finite."""
        rows = self.table[(self.table["name"] == name) & (self.table["seed"] > 0)]
        found = rows[rows["learning_rate"] == self.rates[name]].sort_values("seed", kind="stable")
        if len(rows) and not len(found):
            raise ValueError(
                f"{name} has its trainings that count at rates "
                f"{sorted(set(rows['learning_rate'].tolist()))}, but the best one is "
                f"{self.rates[name]:g}: train them at that one"
            )
        return found.assign(is_whole=np.isfinite(found[["test_low", "test_high"]]).all(axis=1))

    def of(self, name: str, end: str = "high") -> np.ndarray:
        """Test log-likelihoods of the trainings that count, by the "high" or "low" end of log Z.

        Without those that broke down.
        """
        found = self._counted(name)
        return found.loc[found["is_whole"], f"test_{end}"].to_numpy()

    def n_broke_down(self, name: str) -> int:
        """Number of the trainings that count which ended in no finite numbers."""
        return int((~self._counted(name)["is_whole"]).sum())

    def summary(self) -> pd.DataFrame:
        """By model and method: rate, trainings, log-likelihood and its distance from leaky, CD.

        With the standard error between trainings, where there are two or more. Trainings that
        broke down are counted, and are in no mean.
        """
        import pandas as pd

        rows, base = {}, self.of(CD)
        for name in self.rates.index:
            values, broken = self.of(name), self.n_broke_down(name)
            if not len(values):
                continue
            mean, minus = f"{values.mean():,.1f}", ""
            if len(values) > 1:
                mean = tables.with_error(values.mean(), values.std(ddof=1) / np.sqrt(len(values)))
            if name != CD and not broken and min(len(values), len(base)) > 1:
                behind = ms.difference(values, base)
                minus = tables.with_error(behind.value, behind.std_error)
            rows[name] = {
                "rate": f"{self.rates[name]:g}",
                "trainings": len(values) if not broken
                else f"{len(values) + broken}, {broken} broke down",
                "log-likelihood": mean,
                "minus leaky, CD": minus,
            }  # fmt: skip
        return pd.DataFrame.from_dict(rows, orient="index")

    def cases(self, claim: str) -> dict[str, Verdict]:
        """Verdicts by pair: each must hold by either end of log Z. None where none can be judged.

        A pair is judged if there are two trainings of each kind at least, and none of the claim's
        if one of them broke down, since its kind has no mean then.
        """
        pairs = {
            words: pair for words, pair in PAIRS[claim].items()
            if all(name in self.rates.index and len(self._counted(name)) > 1 for name in pair)
        }  # fmt: skip
        if any(self.n_broke_down(name) for pair in pairs.values() for name in pair):
            return {}
        return {words: self._verdict(claim, pair) for words, pair in pairs.items()}

    def _verdict(self, claim: str, pair: tuple[str, str]) -> Verdict:
        ends = {}
        for end in ("high", "low"):
            one, other = (self.of(name, end) for name in pair)
            ends[f"{end} end"] = judge.effect(
                claim, ms.difference(one, other), direction=+1, size=SIZES.get(claim), unit="nats",
                n_trainings=min(len(one), len(other)),
            )  # fmt: skip
        return together(ends)


def verdicts(settings: dict[str, Trainings]) -> dict[str, Verdict]:
    """Of the claims of `PAIRS`: each must hold in every setting.

    Where it does with one kind of rate and not with the other, it depends on that.

    Parameters
    ----------
    settings : dict
        Trainings by the name of their setting. A claim is judged by those in which it can be.
    """
    found = {}
    for claim in PAIRS:
        cases: dict[str, dict[str, Verdict]] = {}
        for setting, trainings in settings.items():
            for words, verdict in trainings.cases(claim).items():
                cases.setdefault(words, {})[setting] = verdict
        if len(cases) > 1:
            found[claim] = depends("whether the rate falls", cases)
        elif cases:
            found[claim] = together(*cases.values())
    return found


def over_bounds(by_bound: dict[str, dict[str, Trainings]]) -> dict[str, Verdict]:
    """Of the claims on Figure 4, by the bound of the singular values, which the paper leaves open.

    Parameters
    ----------
    by_bound : dict
        By the bound, trainings by the name of their setting.
    """
    found = {}
    for claim in FIGURE_4:
        cases = {
            bound: {name: v for name, some in settings.items() for v in some.cases(claim).values()}
            for bound, settings in by_bound.items()
        }
        if all(cases.values()):
            found[claim] = depends("the bound of the singular values", cases)
    return found


def _names(stored: pd.DataFrame) -> pd.Series:
    bernoulli = stored["model"].str.startswith("gaussian")
    name = "leaky, " + stored["method"].map(METHODS)
    if "largest" in stored:
        name[stored["largest"] < BOUND] += ", below 0.9"
    name[bernoulli] = GB
    name[stored["n_sweeps"] == 1] += "-1"
    name[stored["falling"]] += ", falling"
    return name
