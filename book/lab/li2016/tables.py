"""Tables 1 to 3 of Li et al. (2016) beside our values, values by quadrature, and verdicts."""

import numpy as np
import pandas as pd

from rbmlib.models.testsystems import orthogonal_leaky_rbm

from .. import judge
from .. import measured as ms
from ..page import pick, published
from ..tables import listed
from ..verdicts import Verdict, depends, together, with_error
from .quadrature import UnitBias, annealed_bias, linear, linear_bias

N_VISIBLE, NORM, LEAKINESS = 3072, 0.9, 0.01  # of the models of Table 1
UNITS = 5, 10, 20, 30
NAMES = {"gaussian": "Bernoulli-Gaussian RBM", "leaky": "Leaky-ReLU RBM"}
GAUSSIANS = {"principal gaussian": "fitted Gaussian", "standard normal": "N(0, I)"}
N_TEST = 10_000  # test images of CIFAR-10
CONSTANT = N_VISIBLE / 2 * np.log(2 * np.pi)  # log Z of N(0, I), missing in Table 3

# Name in the paper: path, particles, steps.
METHODS = {"AIS-Leaky": ("leakiness", 10_000, 1000), "AIS-Energy": ("energy", 100_000, 100_000)}


def unit_bias(path: str, weigh_first: bool = True) -> UnitBias:
    """Bias and variance from one column, with the published transition and 1,000 steps."""
    return linear(NORM, LEAKINESS, 1000, path, weigh_first)


def difference(path: str, steps: int, n_hidden: int, weigh_first: bool = True) -> float:
    """Exact minus estimated log Z with the published transition, by quadrature."""
    return -n_hidden * linear_bias(NORM, LEAKINESS, steps, path, weigh_first)


def deviation(method: str, n_hidden: int, weigh_first: bool = True) -> float:
    """Standard error at the paper's setting; the variance of a weight falls as 1 / steps."""
    path, particles, steps = METHODS[method]
    unit = unit_bias(path, weigh_first)
    fewer = unit._replace(relative_variance=unit.relative_variance * 1000 / steps)
    return fewer.std_error(n_hidden, particles)


def exact_log_z(n_hidden: int, norm: float = NORM) -> float:
    """log Z of a model of Table 1, with orthogonal columns."""
    rbm = orthogonal_leaky_rbm(N_VISIBLE, n_hidden, norm=norm, leakiness=LEAKINESS)
    return rbm.exact_log_z()


def row(name: str, values) -> dict:
    """A row of a table that has one column per number of hidden units."""
    return {"hidden units": name} | dict(zip(map(str, UNITS), values, strict=True))


def table_1(printed: pd.DataFrame) -> tuple[pd.DataFrame, Verdict]:
    """Printed values, our values at and near the length 0.9, and the verdict."""
    values = printed.set_index("n_hidden")["logz_exact"]
    ours = {s: [exact_log_z(j, s) for j in UNITS] for s in (NORM, 0.899, 0.901)}
    rows = [row("printed", values[list(UNITS)])]
    rows += [row(f"ours, s = {s:g}", found) for s, found in ours.items()]
    cells = {
        f"{j} units": judge.digits("li-table1", round(x, 4), printed=f"{values[j]:.2f}")
        for j, x in zip(UNITS, ours[NORM], strict=True)
    }
    said = listed(f"{x:.2f}" for x in ours[NORM])
    return pd.DataFrame(rows), together(cells).said(
        ours=f"With columns of length {NORM}, the exact log Z is {said} nats."
    )


def joined(runs: pd.DataFrame) -> pd.Series:
    """Pool the runs of one cell of the table: log of the mean of all their weights."""
    top = runs["log_z"].max()
    mass = runs["n_chains"] / runs["n_chains"].sum() * np.exp(runs["log_z"] - top)
    error = np.sqrt(((mass * runs["std_error"]) ** 2).sum()) / mass.sum()
    return pd.Series(
        {"particles": runs["n_chains"].sum(), "log_z": top + np.log(mass.sum()), "s.e.": error}
    )


def table_2(stored: pd.DataFrame) -> pd.DataFrame:
    """The sweep ``leaky_table2`` by path, transition, number of steps and number of hidden units.

    "difference" is exact minus estimated log Z, as in the paper, and "predicted" its value by
    quadrature, which is 0 except for the published transition, "gibbs".
    """
    cell = ["path", "transition", "steps", "hidden units"]
    runs = stored.rename(columns={"kernel": "transition", "n_temperatures": "steps"})
    runs = runs.assign(**{"hidden units": runs["model"].str.split().str[1].astype(int)})
    table = runs.groupby(cell)[["n_chains", "log_z", "std_error"]].apply(joined).reset_index()
    table["difference"] = table["hidden units"].map(exact_log_z) - table["log_z"]
    table["predicted"] = [
        difference(path, k, j) if transition == "gibbs" else 0.0
        for path, transition, k, j in table[cell].itertuples(index=False)
    ]
    return table


def beside_print(table: pd.DataFrame, method: str) -> pd.DataFrame:
    """Printed rows of a method with our deviations and differences (AIS-Leaky by quadrature)."""
    path, _, steps = METHODS[method]
    rows = published("leaky_table2", method=method).set_index("n_hidden").loc[list(UNITS)]
    rows["deviation"] = [deviation(method, j) for j in UNITS]
    if method == "AIS-Leaky":
        rows["ours"] = [ms.exactly(round(difference(path, steps, j), 4)) for j in UNITS]
    else:
        runs = pick(table, path=path, transition="gibbs", steps=steps).set_index("hidden units")
        runs["freedom"] = runs["particles"] - 1
        columns = ["difference", "s.e.", "freedom"]
        rows["ours"] = [ms.measured(*runs.loc[j, columns]) for j in UNITS]
    return rows


def rows_of_table_2(table: pd.DataFrame, method: str) -> list[dict]:
    """Printed values, quadrature with weights before or after the move, and stored runs by move."""
    (path, _, steps), paper = METHODS[method], published("leaky_table2", method=method)

    def of_runs(transition, steps):
        runs = pick(table, path=path, transition=transition, steps=steps)
        runs = runs.set_index("hidden units").loc[list(UNITS), ["difference", "s.e."]]
        return [with_error(*pair) for pair in runs.to_numpy()]

    def expected(first):
        return [
            with_error(difference(path, steps, j, first), deviation(method, j, first))
            for j in UNITS
        ]

    return [
        row(f"{method}, printed", [f"{r.bias:.2f} ± {r.std:.3f}" for r in paper.itertuples()]),
        row("ours, by quadrature, weight before the move", expected(True)),
        row("ours, by quadrature, weight after the move", expected(False)),
        row("ours, one run with the published move", of_runs("gibbs", steps)),
        row("ours, an exact move (10,000 chains, 1,000 steps)", of_runs("blockwise", 1000)),
    ]


# Readings of AIS-Energy: scale of the fields in the moves, or scales of their means and of the
# noise; and whether a weight is evaluated before its move.
READINGS: dict = {
    "fields √β η, as derived": ("energy", True),
    "weight evaluated after the move": ("energy", False),
    "variance of h not annealed": (lambda b: (b**0.5, 1.0), True),
    "fields β η, as for Bernoulli units": (lambda b: b, True),
    "a new draw at every step": (lambda b: 0.0, True),
}
# Columns of the table ``leaky_single``: ways to sum the same log-weights in float32.
SUMS = {"increments": "increments added to 0", "increments_on": "increments added to 2,823"}
SUMS |= {"densities_on": "densities added to 2,823", "one_sum": "whole densities"}


def readings_of_energy(single: pd.DataFrame) -> dict[str, list[ms.Measured]]:
    """Exact minus estimated log Z by other readings of AIS-Energy; ``single``: leaky_single."""
    betas, found = np.linspace(0, 1, 1001), {}
    for name, (moves, first) in READINGS.items():
        bias = annealed_bias(NORM, LEAKINESS, betas, moves, weigh_first=first).bias
        found[f"{name}, 1,000 steps"] = [ms.exactly(-j * bias) for j in UNITS]
    runs = single.set_index(single["model"].str.split().str[1].astype(int)).loc[list(UNITS)]
    for column, name in SUMS.items():
        found[f"float32, {name}, 10 chains"] = [
            ms.measured(exact_log_z(j) - x, error, 9)
            for j, x, error in runs[[column, f"{column}_error"]].itertuples()
        ]
    return found


def _against_print(claim: str, paper: pd.DataFrame, found, deviations: bool = True) -> Verdict:
    """Differences, and deviations at the paper's settings, against the printed values."""
    cells = {}
    for j, x in zip(UNITS, found, strict=True):
        r = paper.loc[j]
        printed = {"printed": f"{r['bias']:.2f}", "printed_error": r["std"]}
        cells[f"{j} units"] = judge.printed_value(claim, x, **printed)
        if deviations:
            error, printed = float(f"{r['deviation']:.3g}"), f"{r['std']:.3f}"
            cells[f"{j} units, deviation"] = judge.digits(claim, error, printed)
    return together(cells)


def verdicts_of_table_2(table: pd.DataFrame, readings: dict) -> list[Verdict]:
    """Verdicts on both methods over every reading of what the paper leaves open."""
    claim, paper = "li-table2-energy", beside_print(table, "AIS-Energy")
    cases = {"the paper's settings": _against_print(claim, paper, paper["ours"])}
    cases |= {x: _against_print(claim, paper, v, False) for x, v in readings.items()}
    energy = depends("the reading of AIS-Energy", cases).said(
        ours="With 5, 10, 20 and 30 hidden units, estimates by AIS-Energy are "
        f"{listed(f'{x.value:.3f}' for x in paper['ours'])} nats below the exact log Z.",
        words="No reading gives the printed values.",
    )
    claim, paper = "li-table2-leaky", beside_print(table, "AIS-Leaky")
    after = [ms.exactly(round(difference("leakiness", 1000, j, False), 4)) for j in UNITS]
    by_weight = {
        "weight evaluated before the move": paper["ours"],
        "weight evaluated after it": after,
    }
    values = [x.value for x in paper["ours"]]
    alike = [
        sum(f"{x.value:.2f}" == f"{p:.2f}" for x, p in zip(found, paper["bias"], strict=True))
        for found in by_weight.values()
    ]
    leaky = depends(
        "when a weight is evaluated",
        {x: _against_print(claim, paper, v) for x, v in by_weight.items()},
    ).said(
        ours="With 5, 10, 20 and 30 hidden units, estimates by AIS-Leaky are "
        f"{listed(f'{x:.4f}' for x in values)} nats below the exact log Z.",
        words="If a weight is evaluated after its move, they are "
        f"{listed(f'{x.value:.4f}' for x in after)} nats below. Rounded, {alike[0]} and {alike[1]} "
        f"of {len(UNITS)} values are the printed ones. The standard deviations agree to the "
        "printed digit.",
    )
    rough = "needed to decide: how many runs are behind the printed means, which is not available"
    return [energy, leaky.if_open(rough)]


def comparisons(table: pd.DataFrame) -> list[Verdict]:
    """Is AIS-Leaky better and cheaper, as section 4.1 says? (`sections` judges stability.)"""
    energy, leaky = (beside_print(table, name) for name in ("AIS-Energy", "AIS-Leaky"))
    claim, cases = "li-leaky-better", {}
    pairs = list(zip(energy["ours"], leaky["ours"], strict=True))
    for j, (e, x) in zip(UNITS, pairs, strict=True):
        ratio = ms.measured(e.value / x.value, e.std_error / e.value, e.freedom, "log")
        cases[f"{j} units"] = judge.effect(claim, ratio, direction=+1, size=(10, np.inf))
    grown = ms.difference(*(ms.difference(*pair) for pair in (pairs[-1], pairs[0])))
    cases["growth of the difference"] = judge.effect(claim, grown, direction=+1, unit="nats")
    better = together(cases).said(
        ours="On the toy models, the error of AIS-Energy is "
        f"{np.mean([e.value / x.value for e, x in pairs]):.1f} times that of AIS-Leaky (in "
        "the paper, it is 74 to 99 times as large).",
        words="The difference between the errors grows with the number of hidden units.",
    )
    errors = (
        np.hypot([x.value for x in paper["ours"]], paper["deviation"]) for paper in (energy, leaky)
    )
    claim = "li-leaky-cheaper"
    cases = {
        f"ratio of errors, {j} units, AIS-Leaky with a thousandth of the work": judge.effect(
            claim, ms.measured(e / x, 0.0, scale="log"), direction=+1
        )
        for j, e, x in zip(UNITS, *errors, strict=True)
    }
    at = pick(table, transition="blockwise", steps=1000).sort_values("hidden units")
    squares = (pick(at, path=p)["s.e."].to_numpy() ** 2 for p in ("energy", "leakiness"))
    work = ms.ratio(*squares, paired=True)
    cases["work for an equal error, exact moves"] = judge.effect(claim, work, direction=+1)
    cheaper = together(cases).said(
        ours=f"With exact moves, AIS-Energy needs {np.exp(work.value):.2f} times the work of "
        "AIS-Leaky for an equal error.",
        words="With the published move, the error of AIS-Energy is the larger one even after 1,000 "
        "times the work.",
    )
    return [better, cheaper]


def table_3(stored: pd.DataFrame, printed: pd.DataFrame) -> tuple[pd.DataFrame, Verdict]:
    """Printed and our log-likelihoods of a test image, with two Gaussians, and the verdict.

    Lower limits of log Z are the mean log-weight minus 3 standard errors and, with probability
    19/20 by Markov's inequality, each of n estimates minus log(20 n). The upper limit is the mean
    of reverse AIS plus 3 standard errors, if that exceeds the lower limit.
    """
    known = pick(stored, estimator="known").set_index("model")["log_likelihood"] / N_TEST
    rows = {GAUSSIANS[str(model)]: (value, value) for model, value in known.items()}
    runs = stored[stored["estimator"] != "known"].sort_values("n_temperatures")
    for model, of_model in runs.groupby("model"):
        log_p = (of_model["log_likelihood"] / N_TEST + of_model["log_z"]).iloc[0]
        mean_low = of_model["mean_log_z"] - 3 * of_model["mean_std_error"]
        low = np.maximum(mean_low, of_model["log_z"] - np.log(20 * len(of_model))).max()
        best = of_model[of_model["n_leapfrog"] > 0].iloc[-1]
        high = best["reverse_mean"] + 3 * best["reverse_mean_error"]
        name = NAMES[str(model).split("_")[0]]
        rows[name] = (log_p - high if high > low else np.nan, log_p - low)
    values = printed.pivot(index="model", columns="data", values="log_likelihood")
    names = [*NAMES.values(), *GAUSSIANS.values()]
    table = pd.DataFrame({"CIFAR-10, printed": values["CIFAR-10"]}).reindex(names)
    table["printed minus 2,823.0"] = table["CIFAR-10, printed"] - CONSTANT
    table["ours, at least"], table["ours, at most"] = zip(*map(rows.get, names), strict=True)
    table["SVHN, printed"] = values["SVHN"]
    why = "the printed values exceed the upper limit; the authors probably left out a constant"
    (low, high), (other, _) = (rows[name] for name in NAMES.values())
    ceiling = judge.compare(values.to_numpy(), "<=", -CONSTANT)
    return table.rename_axis("model").reset_index(), judge.statement(
        "li-table3", ceiling, reason=why
    ).said(
        ours=f"No log-likelihood can exceed −{CONSTANT:,.1f} nats. On CIFAR-10, our "
        f"Bernoulli-Gaussian RBM has −{-low:,.0f} to −{-high:,.0f} nats, and our leaky RBM has "
        f"−{-other:,.0f} nats.",
    )
