"""Tables 1 to 3 of Li et al. (2016) beside ours: rows, what quadrature expects, verdicts."""

from __future__ import annotations

import numpy as np
import pandas as pd

from rbmlib.models.testsystems import orthogonal_leaky_rbm

from .. import judge, measured
from ..page import published
from ..verdicts import Verdict, depends, together, with_error
from .quadrature import UnitBias, annealed_bias, linear, linear_bias

N_VISIBLE, NORM, LEAKINESS = 3072, 0.9, 0.01  # of the models of Table 1
# Name in the paper: name of the path here, particles, steps.
METHODS = {"AIS-Leaky": ("leakiness", 10_000, 1000), "AIS-Energy": ("energy", 100_000, 100_000)}
CELL = ["path", "transition", "steps", "hidden units"]

UNITS = 5, 10, 20, 30

NAMES = {"gaussian": "Bernoulli-Gaussian RBM", "leaky": "Leaky-ReLU RBM"}
N_TEST = 10_000  # test images of CIFAR-10
CONSTANT = N_VISIBLE / 2 * np.log(2 * np.pi)  # log Z of N(0, I): what Table 3 lacks


def exact_log_z(n_hidden: int, norm: float = NORM) -> float:
    """Of the models of Table 1: orthogonal columns."""
    rbm = orthogonal_leaky_rbm(N_VISIBLE, n_hidden, norm=norm, leakiness=LEAKINESS)
    return rbm.exact_log_z()


def row(name: str, values) -> dict:
    """Of a table with a column for each number of hidden units."""
    return {"hidden units": name} | dict(zip(map(str, UNITS), values, strict=True))


def table_1(printed: pd.DataFrame) -> tuple[list[dict], Verdict]:
    """Rows of printed and own values, for lengths beside 0.9 too, and the verdict."""
    values = printed.set_index("n_hidden")["logz_exact"]
    ours = {s: [exact_log_z(j, s) for j in UNITS] for s in (NORM, 0.899, 0.901)}
    rows = [row("printed", values[list(UNITS)])]
    rows += [row(f"ours, s = {s:g}", found) for s, found in ours.items()]
    cells = {
        f"{j} units": judge.digits("li-table1", round(x, 4), printed=f"{values[j]:.2f}")
        for j, x in zip(UNITS, ours[NORM], strict=True)
    }
    said = ", ".join(f"{x:.2f}" for x in ours[NORM])
    return rows, together(cells).said(ours=said, words=f"nats, with columns of length {NORM}")


def joined(runs: pd.DataFrame) -> pd.Series:
    """Runs of one cell of the table as one: log of the mean of all their weights."""
    top = runs["log_z"].max()
    mass = runs["n_chains"] / runs["n_chains"].sum() * np.exp(runs["log_z"] - top)
    error = np.sqrt(((mass * runs["std_error"]) ** 2).sum()) / mass.sum()
    return pd.Series(
        {"particles": runs["n_chains"].sum(), "log_z": top + np.log(mass.sum()), "s.e.": error}
    )


def table_2(stored: pd.DataFrame) -> pd.DataFrame:
    """The sweep ``leaky_table2`` by path, transition, number of steps and of hidden units.

    "difference" is exact minus estimated log Z, as the paper prints it, and "predicted" what
    quadrature expects of it: 0 but for the published transition, "gibbs".
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
    return published("leaky_table2")


def found(table: pd.DataFrame, method: str, n_hidden: int) -> measured.Measured:
    """Our difference at the paper's setting: of AIS-Leaky by quadrature, which has no error."""
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


def std_error(method: str, n_hidden: int) -> float:
    """At the paper's particles and steps: the relative variance of a weight falls as 1 / steps."""
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
# Columns of the sweep ``leaky_single``: how the same log-weights are summed in float32.
SUMS = {
    "increments": "increments from 0",
    "increments_on": "increments on 2,823",
    "densities_on": "densities on 2,823",
    "one_sum": "whole densities",
}


def rows_of_table_2(table: pd.DataFrame, method: str):
    """Printed, by quadrature, and from stored runs with the published move and an exact one."""
    path, _, steps = METHODS[method]
    of_path = table[table["path"] == path].set_index(["transition", "steps", "hidden units"])

    def of_runs(move, k):
        found = of_path.loc[(move, k)].loc[list(UNITS), ["difference", "s.e."]]
        return [with_error(*pair) for pair in found.to_numpy()]

    printed = published_2().query("method == @method")
    pairs = zip(printed["bias"], printed["std"], strict=True)
    yield row(f"{method}, printed", [f"{bias:.2f} ± {std:.3f}" for bias, std in pairs])
    told = [(expected(method, j), std_error(method, j)) for j in UNITS]
    yield row("ours, by quadrature", [f"{x:.4f} ± {e:.2g}" for x, e in told])
    yield row("ours, a run with the published move", of_runs("gibbs", steps))
    yield row("ours, exact move (10,000 chains, 1,000 steps)", of_runs("blockwise", 1000))


def readings_of_energy(single: pd.DataFrame) -> dict[str, list[measured.Measured]]:
    """Exact minus estimated log Z by other readings of AIS-Energy; of ``leaky_single``."""
    betas, found = np.linspace(0, 1, 1001), {}
    for name, (moves, first) in READINGS.items():
        bias = annealed_bias(NORM, LEAKINESS, betas, moves, weigh_first=first).bias
        found[f"{name}, 1,000 steps"] = [measured.exactly(-j * bias) for j in UNITS]
    runs = single.set_index(single["model"].str.split().str[1].astype(int)).loc[list(UNITS)]
    for column, name in SUMS.items():
        found[f"float32, {name}, 10 chains"] = [
            measured.measured(exact_log_z(j) - x, error, 9)
            for j, x, error in runs[[column, f"{column}_error"]].itertuples()
        ]
    return found


def _against_print(claim: str, method: str, found, deviations: bool) -> Verdict:
    """Differences, and deviations at the paper's settings, against the printed ones."""
    cells = {}
    for r, ours in zip(published_2().query("method == @method").itertuples(), found, strict=True):
        printed = {"printed": f"{r.bias:.2f}", "printed_error": r.std}
        cells[f"{r.n_hidden} units"] = judge.printed_value(claim, ours, **printed)
        if deviations:
            error = float(f"{std_error(method, r.n_hidden):.3g}")
            digits = judge.digits(claim, error, printed=f"{r.std:.3f}")
            cells[f"{r.n_hidden} units, deviation"] = digits
    return together(cells)


def verdicts_of_table_2(table: pd.DataFrame, readings: dict) -> list[Verdict]:
    """Of either method, by every reading of what the paper leaves open."""
    of_energy, of_leaky = ([found(table, m, j) for j in UNITS] for m in ("AIS-Energy", "AIS-Leaky"))
    claim = "li-table2-energy"
    cases = {"as printed": _against_print(claim, "AIS-Energy", of_energy, True)}
    cases |= {x: _against_print(claim, "AIS-Energy", v, False) for x, v in readings.items()}
    energy = depends("the reading of AIS-Energy", cases).said(
        ours=", ".join(f"{x.value:.3f}" for x in of_energy),
        words="nats below exact with 5 to 30 units; no reading gives what is printed",
    )
    late = annealed_bias(NORM, LEAKINESS, np.linspace(0, 1, 1001), weigh_first=False).bias
    values = [measured.exactly(round(-j * late, 4)) for j in UNITS]
    by_weight = {"weighed before the move": of_leaky, "weighed after it": values}
    claim = "li-table2-leaky"
    cases = {x: _against_print(claim, "AIS-Leaky", v, True) for x, v in by_weight.items()}
    printed = published_2().query("method == 'AIS-Leaky'")["bias"].to_numpy()
    more = 100 * (np.array([x.value for x in of_leaky]) / printed - 1)
    leaky = depends("when a weight is read off", cases).said(
        ours=", ".join(f"{x.value:.4f}" for x in of_leaky),
        words=f"nats below exact, {more.min():.0f}% to {more.max():.0f}% more than printed; "
        "deviations to the printed digit",
    )
    rough = "no run decides: two printed decimals are too rough"
    return [energy, leaky._replace(note=rough) if leaky.outcome == "open" else leaky]


def comparisons(table: pd.DataFrame) -> list[Verdict]:
    """What section 4.1 says of the two methods: better, more stable, cheaper."""
    energy, leaky = ([found(table, m, j) for j in UNITS] for m in ("AIS-Energy", "AIS-Leaky"))
    claim, better = "li-leaky-better", {}
    for j, e, one in zip(UNITS, energy, leaky, strict=True):
        error = e.std_error / e.value
        ratio = measured.measured(e.value / one.value, error, e.freedom, "log")
        better[f"{j} units"] = judge.effect(claim, ratio, direction=+1, size=(10, np.inf))
    gaps = [measured.difference(*pair) for pair in zip(energy, leaky, strict=True)]
    grown = measured.difference(gaps[-1], gaps[0])
    better["growth of the gap"] = judge.effect(claim, grown, direction=+1, unit="nats")
    said = [x.value / y.value for x, y in zip(energy, leaky, strict=True)]
    more = unit("energy").relative_variance / unit("leakiness").relative_variance
    deviations = [[std_error(m, j) for j in UNITS] for m in ("AIS-Leaky", "AIS-Energy")]
    stable = judge.compare(deviations[0], "<", deviations[1])
    by_quadrature = "by quadrature, for the paper's particles and steps"
    return [
        together(better).said(
            ours=f"{np.mean(said):.1f} times the error (paper: 74 to 99 times)",
            words="AIS-Energy over AIS-Leaky on the toys; the gap grows with the units",
        ),
        judge.statement("li-leaky-stable", stable, reason=by_quadrature).said(
            words="standard deviations of AIS-Leaky and AIS-Energy; at equal particles and steps "
            f"the variance of AIS-Energy is {more:.2f} times that of AIS-Leaky"
        ),
        _cheaper(table),
    ]


def _cheaper(table: pd.DataFrame) -> Verdict:
    """At the paper's settings by the published move, and at equal work by an exact one."""
    claim, cases = "li-leaky-cheaper", {}
    methods = ("AIS-Energy", "AIS-Leaky")
    for j in UNITS:
        errors = [np.hypot(found(table, m, j).value, std_error(m, j)) for m in methods]
        ratio = measured.measured(errors[0] / errors[1], 0.0, scale="log")
        name = f"error over error, {j} units, with a thousandth of the work"
        cases[name] = judge.effect(claim, ratio, direction=+1)
    at = table[(table["transition"] == "blockwise") & (table["steps"] == 1000)]
    by_path = {p: x.sort_values("hidden units")["s.e."].to_numpy() for p, x in at.groupby("path")}
    work = measured.ratio(by_path["energy"] ** 2, by_path["leakiness"] ** 2, paired=True)
    cases["work for an equal error, exact moves"] = judge.effect(claim, work, direction=+1)
    return together(cases).said(
        ours=f"AIS-Energy needs {np.exp(work.value):.2f} times the work with exact moves",
        words="for an equal error; with the published move 1,000 times the work leaves more error",
    )


def log_likelihoods(stored: pd.DataFrame) -> pd.DataFrame:
    """Of a test image, by model: "at least" and "at most", from the sweep ``leaky_table3``.

    log Z lies above the mean log-weight less 3 standard errors, and above log Z less log(20 n) of n
    runs (Markov, 19/20); below the mean of reverse AIS plus 3 standard errors, if that is higher.
    """
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


def table_3(stored: pd.DataFrame, printed: pd.DataFrame) -> tuple[pd.DataFrame, Verdict]:
    """Printed and own log-likelihoods, those of two Gaussians beside them, and the verdict."""
    ours = log_likelihoods(stored)
    values = printed.pivot(index="model", columns="data", values="log_likelihood")
    ours = ours.rename({"principal gaussian": "a Gaussian, fitted", "standard normal": "N(0, I)"})
    names = [*NAMES.values(), "a Gaussian, fitted", "N(0, I)"]
    table = pd.DataFrame({"CIFAR-10, printed": values["CIFAR-10"]}).reindex(names)
    table["less 2,823.0"] = table["CIFAR-10, printed"] - CONSTANT
    table["ours, at least"], table["ours, at most"] = ours.loc[names].to_numpy().T
    table["SVHN, printed"] = values["SVHN"]
    ceiling = judge.compare(values.to_numpy(), "<=", -CONSTANT)
    why = "above what any such density can have; probably a constant was left out"
    low, high = ours.loc[list(NAMES.values())].to_numpy().T
    return table.rename_axis("model").reset_index(), judge.statement(
        "li-table3", ceiling, reason=why
    ).said(
        ours=f"at most −{CONSTANT:,.1f} nats is possible; ours: −{-low[0]:,.0f} to "
        f"−{-high[0]:,.0f} and −{-low[1]:,.0f}",
        words="Bernoulli-Gaussian and leaky RBM, CIFAR-10",
    )
