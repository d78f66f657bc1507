"""Chapter leaky_rbm: Table 2 of Li et al. (2016) from the stored runs, and its verdicts.

The lesson shows the table and the audit page shows what the judge says of every number of it.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from rbmlib import datasets
from rbmlib.models.testsystems import orthogonal_leaky_rbm
from rbmlib.schedules import linear

from . import judge, leaky_bias, measured
from .verdicts import Verdict, together

if TYPE_CHECKING:
    import pandas as pd

N_VISIBLE, NORM, LEAKINESS = 3072, 0.9, 0.01  # of the models of Table 1
# Name in the paper: name of the path here, particles, steps.
METHODS = {"AIS-Leaky": ("leakiness", 10_000, 1000), "AIS-Energy": ("energy", 100_000, 100_000)}
CELL = ["path", "transition", "steps", "hidden units"]


def joined(runs: pd.DataFrame) -> pd.Series:
    """Runs of one cell of the table as one: log of the mean of all their weights."""
    import pandas as pd

    top = runs["log_z"].max()
    mass = runs["n_chains"] / runs["n_chains"].sum() * np.exp(runs["log_z"] - top)
    error = np.sqrt(((mass * runs["std_error"]) ** 2).sum()) / mass.sum()
    return pd.Series(
        {"particles": runs["n_chains"].sum(), "log_z": top + np.log(mass.sum()), "s.e.": error}
    )


def exact_log_z(n_hidden: int) -> float:
    """Of the models of Table 1: orthogonal columns."""
    rbm = orthogonal_leaky_rbm(N_VISIBLE, n_hidden, norm=NORM, leakiness=LEAKINESS)
    return rbm.exact_log_z()


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
        -j * leaky_bias.linear_bias(NORM, LEAKINESS, k, path) if transition == "gibbs" else 0.0
        for path, transition, k, j in table[CELL].itertuples(index=False)
    ]
    return table.drop(columns="log_z")


def published_2() -> pd.DataFrame:
    """The printed table: method, hidden units, difference ("bias"), standard deviation ("std")."""
    import pandas as pd

    return pd.read_csv(datasets.committed("published/leaky_table2.csv"))


def found(
    table: pd.DataFrame, method: str, n_hidden: int, simulated: bool = False
) -> measured.Measured:
    """Our difference at the paper's setting with its transition: exact minus estimated log Z.

    Of AIS-Leaky it is that of quadrature, which has no error: a run of as many particles as the
    paper's has the error of the paper's. Of AIS-Energy, whose steps are too many for that, it is
    that of the stored runs, as both are if ``simulated``.
    """
    path, _, steps = METHODS[method]
    at = (table["path"] == path) & (table["transition"] == "gibbs") & (table["steps"] == steps)
    row = table[at & (table["hidden units"] == n_hidden)].iloc[0]
    if method == "AIS-Leaky" and not simulated:
        return measured.exactly(round(row["predicted"], 4))
    return measured.measured(row["difference"], row["s.e."], row["particles"] - 1)


def differences(table: pd.DataFrame) -> dict[tuple[str, int], Verdict]:
    """What the judge says of the eight differences of Table 2, by method and hidden units."""
    return {
        (row.method, row.n_hidden): judge.printed_value(
            f"li-t2-{_short(row.method)}-{row.n_hidden}",
            found(table, row.method, row.n_hidden),
            printed_error=row.std,
        )
        for row in published_2().itertuples()
    }


def deviations() -> list[Verdict]:
    """And of the eight standard deviations, against the standard errors that quadrature expects."""
    verdicts = []
    for row in published_2().itertuples():
        path, particles, steps = METHODS[row.method]
        ours = _std_error(path, steps, row.n_hidden, particles)
        name = f"li-t2-{_short(row.method)}-{row.n_hidden}-std"
        verdicts.append(judge.digits(name, float(f"{ours:.3g}")))
    return verdicts


def comparisons(table: pd.DataFrame) -> list[Verdict]:
    """What section 4.1 and appendix D of the paper say of the two methods."""
    sizes = sorted(published_2()["n_hidden"].unique())
    leaky, energy = (
        {j: found(table, method, j) for j in sizes} for method in ("AIS-Leaky", "AIS-Energy")
    )
    better = {
        f"{j} units": judge.effect(
            "li-s41-better", measured.difference(energy[j], leaky[j]), direction=+1, unit="nats"
        )
        for j in sizes
    }
    cheaper = {}
    for j in sizes:
        off = [
            np.hypot(found(table, method, j).value, _std_error(path, steps, j, particles))
            for method, (path, particles, steps) in METHODS.items()
        ]
        ratio = measured.measured(off[1] / off[0], 0.0, scale="log")
        cheaper[f"{j} units"] = judge.effect("li-s41-cost", ratio, direction=+1)
    errors = [_std_error(path, steps, sizes[0], n) for path, n, steps in METHODS.values()]
    slow = -leaky_bias.slow_bias(NORM, LEAKINESS)
    more = _unit("energy").bias / _unit("leakiness").bias
    return [
        together(better),
        judge.statement(
            "li-s41-stable",
            errors[0] < errors[1],
            ours=f"s.e. {errors[0]:.2g} (AIS-Leaky), {errors[1]:.2g} (AIS-Energy), 5 units",
            reason="computed by quadrature for the paper's particles and steps",
        ),
        together(
            {
                method: judge.effect(
                    "li-s41-growth",
                    measured.difference(
                        found(table, method, sizes[-1], simulated=True),
                        found(table, method, sizes[0], simulated=True),
                    ),
                    direction=+1,
                    size=_printed_growth(method),
                    unit="nats",
                )
                for method in METHODS
            }
        ),
        together(cheaper),
        judge.statement(
            "li-t2-errors",
            bool(slow <= 0),
            ours=f"{slow:.5f} nats a hidden unit, however many steps",
            reason="the published transition follows another law: quadrature of its chain",
        ),
        judge.statement(
            "li-appD-bias",
            bool(more > 1),
            ours=f"{more:.2f} times the bias, both with the published transition",
            reason="computed by quadrature for 1,000 steps",
        ),
    ]


@lru_cache(maxsize=2)
def _unit(path: str) -> leaky_bias.UnitBias:
    """Of one column, by the published transition in 1,000 steps."""
    return leaky_bias.annealed_bias(NORM, LEAKINESS, linear(1000), path)


def _std_error(path: str, steps: int, n_hidden: int, particles: int) -> float:
    """The relative variance of a weight falls as 1 / steps: known to 1% from 1,000 of them."""
    unit = _unit(path)
    scaled = unit._replace(relative_variance=unit.relative_variance * 1000 / steps)
    return scaled.std_error(n_hidden, particles)


def _printed_growth(method: str) -> measured.Measured:
    """Of the printed difference, from the fewest hidden units to the most."""
    rows = published_2().query("method == @method").sort_values("n_hidden")
    change = rows["bias"].iloc[-1] - rows["bias"].iloc[0]
    return measured.measured(change, float(np.hypot(rows["std"].iloc[0], rows["std"].iloc[-1])))


def _short(method: str) -> str:
    return method.removeprefix("AIS-").lower()
