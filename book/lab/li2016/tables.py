"""Tables 1 to 3 of Li et al. (2016) beside our values, values by quadrature, and verdicts."""

from functools import partial

import numpy as np
import pandas as pd

from rbmlib.models.testsystems import orthogonal_leaky_rbm

from .. import judge
from .. import measured as ms
from ..page import pick, published
from ..tables import listed, span
from ..verdicts import Verdict, depends, together, with_error
from .quadrature import linear, linear_bias

N_VISIBLE, NORM, LEAKINESS = 3072, 0.9, 0.01  # of the models of Table 1
UNITS = 5, 10, 20, 30
NAMES = {"gaussian": "Bernoulli-Gaussian RBM", "leaky": "Leaky-ReLU RBM"}
GAUSSIANS = {"principal gaussian": "fitted Gaussian", "standard normal": "N(0, I)"}
N_TEST = 10_000  # test images of CIFAR-10
CONSTANT = N_VISIBLE / 2 * np.log(2 * np.pi)  # log Z of N(0, I), missing in Table 3

# Name in the paper: path, particles, steps.
METHODS = {"AIS-Leaky": ("leakiness", 10_000, 1000), "AIS-Energy": ("energy", 100_000, 100_000)}


# Bias and variance from one column, with the published transition and 1,000 steps, by path.
unit_bias = partial(linear, NORM, LEAKINESS, 1000)


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
    off = max(abs(x - values[j]) for j, x in zip(UNITS, ours[NORM], strict=True))
    rows = [row("printed", values[list(UNITS)])]
    rows += [row(f"ours, s = {s:g}", found) for s, found in ours.items()]
    cells = {
        f"{j} units": judge.digits("li-table1", round(x, 4), printed=f"{values[j]:.2f}")
        for j, x in zip(UNITS, ours[NORM], strict=True)
    }
    return pd.DataFrame(rows), together(cells).said(
        f"The paper does not state the length of the columns. With {NORM}, and with no other "
        f"length, our values agree with the printed ones ({off:.3f} nats or less is rounding)."
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
        pairs = ((difference(path, steps, j, first), deviation(method, j, first)) for j in UNITS)
        return [with_error(*pair) for pair in pairs]

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
    "weight evaluated after the move": ("energy", False),
    "variance of h not annealed": (lambda b: (b**0.5, 1.0), True),
    "only the mean of v annealed": (lambda b: (b**0.5, b), True),
    "fields β η, as for Bernoulli units": (lambda b: b, True),
    "a new draw at every step": (lambda b: 0.0, True),
}
# Columns of the table ``leaky_single``: ways to sum the same log-weights in float32.
SUMS = {"increments": "increments added to 0", "increments_on": "increments added to 2,823"}
SUMS |= {"densities_on": "densities added to 2,823", "one_sum": "whole densities"}


def readings_of_energy(single: pd.DataFrame) -> dict[str, list[ms.Measured]]:
    """Exact minus estimated log Z by other readings of AIS-Energy; ``single``: leaky_single."""
    found = {}
    for name, (moves, first) in READINGS.items():
        bias = linear_bias(NORM, LEAKINESS, METHODS["AIS-Energy"][2], moves, first)
        found[name] = [ms.exactly(-j * bias) for j in UNITS]
    runs = single.set_index(single["model"].str.split().str[1].astype(int)).loc[list(UNITS)]
    for column, name in SUMS.items():
        found[f"float32, {name}"] = [
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
    differences = listed(f"{x.value:.2f}".replace("-", "−") for x in found)
    return together(cells, f"{differences} nats")


def verdicts_of_table_2(table: pd.DataFrame, readings: dict) -> list[Verdict]:
    """Verdicts on both methods over every reading of what the paper leaves open."""
    claim, paper = "li-table2-energy", beside_print(table, "AIS-Energy")
    cases = {"the paper's settings": _against_print(claim, paper, paper["ours"])}
    cases |= {x: _against_print(claim, paper, v, False) for x, v in readings.items()}
    times = [p / x.value for p, x in zip(paper["bias"], paper["ours"], strict=True)]
    single = [x.value for n, v in readings.items() if n.endswith("to 2,823") for x in v]
    energy = depends("the reading of AIS-Energy", cases).said(
        "With 5, 10, 20 and 30 hidden units, our estimates at the paper's settings are "
        f"{listed(f'{x.value:.3f}' for x in paper['ours'])} nats below the exact log Z. The "
        f"printed differences are {min(times):.0f} to {max(times):.0f} times as large.",
        f"Sums in single precision can give {span(single, '{:.1f}'.format)} nats, but none of our "
        f"{len(readings)} other readings gives the printed values.",
    )
    claim, paper = "li-table2-leaky", beside_print(table, "AIS-Leaky")
    after = [ms.exactly(round(difference("leakiness", 1000, j, False), 4)) for j in UNITS]
    moments = {"before the move": [*paper["ours"]], "after the move": after}
    cases = {f"weight evaluated {x}": _against_print(claim, paper, v) for x, v in moments.items()}
    values = [np.array([x.value for x in found]) for found in moments.values()]
    off = [(np.abs(x - paper["bias"]) - 0.005) / paper["std"] for x in values]
    before, after = (listed(f"{x:.4f}" for x in found) for found in values)
    leaky = depends("when a weight is evaluated", cases).said(
        f"With 5, 10, 20 and 30 hidden units, the differences are {before} nats, or {after} nats "
        "if weights are evaluated after the move.",
        f"Beyond rounding, they deviate by up to {off[0].max():.1f} and {off[1].max():.1f} printed "
        f"standard deviations ({ms.quantile(1 - ms.ALPHA / 2, np.inf):.1f} would contradict). The "
        "standard deviations agree.",
    )
    rough = "more printed digits and the number of runs behind the means, which are not available"
    return [energy, leaky.if_open(f"needed to decide: {rough}")]


def comparisons(table: pd.DataFrame) -> list[Verdict]:
    """Is AIS-Leaky better and cheaper, as section 4.1 says? (`sections` judges stability.)"""
    energy, leaky = (beside_print(table, name) for name in ("AIS-Energy", "AIS-Leaky"))
    claim, cases = "li-leaky-better", {}
    pairs = list(zip(energy["ours"], leaky["ours"], strict=True))
    for j, (e, x) in zip(UNITS, pairs, strict=True):
        ratio = ms.measured(e.value / x.value, e.std_error / e.value, e.freedom, "log")
        cases[f"{j} units"] = judge.effect(claim, ratio, direction=+1, size=(10, np.inf))
    ratios = [*cases.values()]
    first, last = (ms.difference(*pair) for pair in (pairs[0], pairs[-1]))
    grown = ms.difference(last, first)
    cases["growth of the difference"] = judge.effect(claim, grown, direction=+1, unit="nats")
    times = energy["bias"] / leaky["bias"]
    better = together(cases).said(
        f"The error of AIS-Energy is {min(v.low for v in ratios):.2f} to "
        f"{max(v.high for v in ratios):.2f} times that of AIS-Leaky (in the paper, it is "
        f"{times.min():.0f} to {times.max():.0f} times as large).",
        "From 5 to 30 hidden units, the difference of the two errors grows from "
        f"{first.value:.3f} to {last.value:.3f} nats.",
    )
    better = better._replace(note=ratios[0].note.partition(";")[0])  # the size differs
    errors = (np.hypot([x.value for x in p["ours"]], p["deviation"]) for p in (energy, leaky))
    claim = "li-leaky-cheaper"
    cases = {
        f"{j} units": judge.effect(claim, ms.measured(e / x, 0.0, scale="log"), direction=+1)
        for j, e, x in zip(UNITS, *errors, strict=True)
    }
    at = pick(table, transition="blockwise", steps=1000).sort_values("hidden units")
    above, below = (pick(at, path=p)["s.e."].to_numpy() ** 2 for p in ("energy", "leakiness"))
    times, more = span(above / below, "{:.2f}".format), judge.compare(above, ">", below)
    work = judge.statement(claim, more, reason="on all four models", ours=times)
    cheaper = together(cases | {"work for an equal error, exact moves": work}).said(
        "With the paper's numbers of particles and steps, AIS-Energy takes 1,000 times the work of "
        f"AIS-Leaky, but its error is {cases['30 units'].effect:.1f} times as large.",
        f"With exact moves, it needs {times} times the work for an equal error.",
    )
    return [better, cheaper]


def table_3(stored, printed, noise: float, reached: ms.Measured) -> tuple[pd.DataFrame, Verdict]:
    """Printed and our log-likelihoods of a test image, with two Gaussians, and the verdict.

    A Gaussian with 100 free directions and ``noise`` has the log-likelihood ``reached``. Lower
    limits of log Z are the mean log-weight minus 3 standard errors and, with probability 19/20 by
    Markov's inequality, each of n estimates minus log(20 n). The upper limit is the mean of reverse
    AIS plus 3 standard errors, if that exceeds the lower limit.
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
    claim, why = "li-table3", "all printed values exceed the upper limit"
    low = judge.statement(claim, judge.compare(values.to_numpy(), "<=", -CONSTANT), reason=why)
    cases = {"variance 1": low, "trained variances": judge.left_open(claim, "not tested")}
    price = "training runs with other variances, 50 minutes for each variance; SVHN is missing"
    return table.rename_axis("model").reset_index(), depends("the variances", cases).said(
        "With visible units of variance 1, as in the formulas, no log-likelihood can exceed "
        f"−{CONSTANT:,.1f} nats, so the printed values are impossible.",
        "If variances were trained, the upper limit does not exclude these values. On CIFAR-10, a "
        f"Gaussian with 100 free directions and noise of standard deviation {noise:.2f} reaches "
        f"−{with_error(-reached.value, reached.std_error)} nats.",
    ).if_open(f"whether variances were trained; needed to decide: {price}")
