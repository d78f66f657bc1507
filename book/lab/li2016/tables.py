"""Tables 2 and 3 of Li et al. (2016) from the stored runs, and what quadrature expects of them."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

import numpy as np

from rbmlib import datasets
from rbmlib.models.testsystems import orthogonal_leaky_rbm

from .. import measured
from .quadrature import UnitBias, annealed_bias, linear, linear_bias

if TYPE_CHECKING:
    import pandas as pd

N_VISIBLE, NORM, LEAKINESS = 3072, 0.9, 0.01  # of the models of Table 1
# Name in the paper: name of the path here, particles, steps.
METHODS = {"AIS-Leaky": ("leakiness", 10_000, 1000), "AIS-Energy": ("energy", 100_000, 100_000)}
CELL = ["path", "transition", "steps", "hidden units"]

NAMES = {"gaussian": "Bernoulli-Gaussian RBM", "leaky": "Leaky-ReLU RBM"}
N_TEST = 10_000  # test images of CIFAR-10
CONSTANT = N_VISIBLE / 2 * np.log(2 * np.pi)  # log Z of N(0, I): what Table 3 lacks


def exact_log_z(n_hidden: int, norm: float = NORM) -> float:
    """Of the models of Table 1: orthogonal columns."""
    rbm = orthogonal_leaky_rbm(N_VISIBLE, n_hidden, norm=norm, leakiness=LEAKINESS)
    return rbm.exact_log_z()


# Table 2 -------------------------------------------------------------------------------------


def joined(runs: pd.DataFrame) -> pd.Series:
    """Runs of one cell of the table as one: log of the mean of all their weights."""
    import pandas as pd

    top = runs["log_z"].max()
    mass = runs["n_chains"] / runs["n_chains"].sum() * np.exp(runs["log_z"] - top)
    error = np.sqrt(((mass * runs["std_error"]) ** 2).sum()) / mass.sum()
    return pd.Series(
        {"particles": runs["n_chains"].sum(), "log_z": top + np.log(mass.sum()), "s.e.": error}
    )


def table_2(stored: pd.DataFrame) -> pd.DataFrame:
    """One row for each path, transition, number of steps and number of hidden units.

    Parameters
    ----------
    stored : pandas.DataFrame
        The table of the sweep ``leaky_table2``.

    Returns
    -------
    pandas.DataFrame
        Particles; "difference": exact minus estimated log Z, as the paper prints it; its standard
        error "s.e."; "predicted": the difference that quadrature expects of the published
        transition ("gibbs"), and 0 for the exact ones.
    """
    runs = stored.rename(columns={"kernel": "transition", "n_temperatures": "steps"})
    runs = runs.assign(**{"hidden units": runs["model"].str.split().str[1].astype(int)})
    table = runs.groupby(CELL)[["n_chains", "log_z", "std_error"]].apply(joined).reset_index()
    table["particles"] = table["particles"].astype(int)
    table["difference"] = table["hidden units"].map(exact_log_z) - table["log_z"]
    table["predicted"] = [
        -j * linear_bias(NORM, LEAKINESS, k, path) if transition == "gibbs" else 0.0
        for path, transition, k, j in table[CELL].itertuples(index=False)
    ]
    return table.drop(columns="log_z")


def published_2() -> pd.DataFrame:
    """The printed table: method, hidden units, difference ("bias"), standard deviation ("std")."""
    import pandas as pd

    return pd.read_csv(datasets.committed("published/leaky_table2.csv"))


def found(table: pd.DataFrame, method: str, n_hidden: int) -> measured.Measured:
    """Our difference at the paper's setting with its transition: exact minus estimated log Z.

    Of AIS-Leaky it is that of quadrature, which has no error: a run of as many particles as the
    paper's has the error of the paper's. Of AIS-Energy it is that of the stored runs.
    """
    path, _, steps = METHODS[method]
    if method == "AIS-Leaky":
        return measured.exactly(round(-n_hidden * unit(path).bias, 4))
    at = (table["path"] == path) & (table["transition"] == "gibbs") & (table["steps"] == steps)
    row = table[at & (table["hidden units"] == n_hidden)].iloc[0]
    return measured.measured(row["difference"], row["s.e."], row["particles"] - 1)


def unit(path: str) -> UnitBias:
    """Of one column, by the published transition in 1,000 steps."""
    return linear(NORM, LEAKINESS, 1000, path)


def expected(method: str, n_hidden: int) -> float:
    """The difference at the paper's steps with its transition, by quadrature."""
    path, _, steps = METHODS[method]
    return -n_hidden * linear_bias(NORM, LEAKINESS, steps, path)


def weighed_late() -> UnitBias:
    """AIS-Leaky of the paper's 1,000 steps, if a weight is read off the state after its move."""
    return annealed_bias(NORM, LEAKINESS, np.linspace(0, 1, 1001), weigh_first=False)


def std_error(method: str, n_hidden: int) -> float:
    """At the paper's particles and steps, by quadrature.

    The relative variance of a weight falls as 1 / steps: known to 1% from 1,000 of them.
    """
    path, particles, steps = METHODS[method]
    variance = unit(path).relative_variance * 1000 / steps
    return unit(path)._replace(relative_variance=variance).std_error(n_hidden, particles)


# What AIS-Energy may have been beside the path as derived: scales of the fields in the moves, or of
# their means and of the noise, and whether a weight is read off the state before its move.
READINGS: dict = {
    "√β η, as derived": ("energy", True),
    "√β η, weighed after the move": ("energy", False),
    "√β η, variance of h not annealed": (lambda b: (b**0.5, 1.0), True),
    "β η, as for Bernoulli units": (lambda b: b, True),
    "0 η, a fresh draw at every step": (lambda b: 0.0, True),
}


@cache
def reading_of_energy(name: str, n_steps: int) -> UnitBias:
    moves, first = READINGS[name]
    betas = np.linspace(0, 1, n_steps + 1)
    return annealed_bias(NORM, LEAKINESS, betas, moves, weigh_first=first)


# Table 3 -------------------------------------------------------------------------------------


def log_likelihoods(stored: pd.DataFrame) -> pd.DataFrame:
    """Of a test image, by model: "at least" and "at most", from the sweep ``leaky_table3``.

    log Z lies above the mean log-weight less 3 standard errors, and above log Z less log(20 n) for
    the n runs of a model: E[w] = Z, so all n are lower with a chance above 19/20 (Markov). It lies
    below the mean of reverse AIS plus 3 standard errors, if that is above the former.
    """
    import pandas as pd

    known = stored[stored["estimator"] == "known"].set_index("model")["log_likelihood"] / N_TEST
    rows = {model: (value, value) for model, value in known.items()}
    runs = stored[stored["estimator"] != "known"].sort_values("n_temperatures")
    for model, of_model in runs.groupby("model"):
        log_p = (of_model["log_likelihood"] / N_TEST + of_model["log_z"]).iloc[0]
        mean_low = of_model["mean_log_z"] - 3 * of_model["mean_std_error"]
        low = np.maximum(mean_low, of_model["log_z"] - np.log(20 * len(of_model))).max()
        best = of_model[of_model["n_leapfrog"] > 0].iloc[-1]
        high = best["reverse_mean"] + 3 * best["reverse_mean_error"]
        name = NAMES[str(model).split("_")[0]]
        rows[name] = (log_p - high if high > low else np.nan, log_p - low)
    return pd.DataFrame.from_dict(rows, orient="index", columns=["at least", "at most"])
