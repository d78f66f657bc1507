"""Tables and figures of the notebook on the report: printed values with ours below them."""

from __future__ import annotations

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from rbmbook import measured as ms
from rbmbook import plots
from rbmbook.page import each, one, pick, pm, published
from rbmbook.tables import number
from rbmbook.verdicts import shown as in_words
from rbmlib import datasets

from . import MODELS, PRINTED_RUNS, printed, printed_error, programs, truth
from .programs import Stored


def correlations(stored: pd.DataFrame) -> pd.DataFrame:
    """Means and variances over the first runs, by treatment of a rejected proposal."""
    ours = dict(list(pick(stored, points=50_000).groupby("rule", sort=False)["correlation"]))

    def row(line):
        n, tenfold = int(line["n_runs"]), line["mean_correlation_as_printed"]
        found = {how: x[:n] for how, x in ours.items()}
        return {
            "runs": n,
            "printed mean, and a tenth of it": f"{tenfold}, {float(tenfold) / 10:.4f}",
            **{f"mean, {how}": pm(ms.mean_of(x)) for how, x in found.items()},
            "printed variance": line["variance"],
            **{
                f"variance × 10⁵, {how}": spread_of({"variance": 1e5 * x.var(), "n": n})
                for how, x in found.items()
            },
        }

    in_print = datasets.committed("published/report_mh_correlation.csv")
    return each(pd.read_csv(in_print, dtype=str), row)


def spread_of(row) -> str:
    """A variance with its standard error for normal values."""
    return pm(row["variance"], row["variance"] * np.sqrt(2 / (row["n"] - 1)))


def below(method: str, readings: pd.DataFrame) -> pd.DataFrame:
    """Each printed row, with our readings on its model below it."""
    rows = []
    for model in MODELS:
        spread = printed(method).loc[model]
        row = {"model": model, "": "printed", "runs": PRINTED_RUNS, "log Z": spread["logz"]}
        error = f"{printed_error(model, method):+.2f}"
        rows.append(row | {"variance": spread["variance"], "error": error})
        for ours in readings[readings["model"] == model].to_dict("records"):
            row = {"model": "", "": f"ours, {ours['reading']}", "runs": f"{ours['n']:.0f}"}
            if ours["n"] < programs.FEWEST:
                rows.append(row | {"log Z": f"{ours['n']} of {ours['tried']} runs stop"})
                continue
            row |= {"log Z": pm(programs.mean(ours)), "variance": spread_of(ours)}
            rows.append(row | {"error": f"{ours['log_z'] - truth(model):+.2f}"})
    return pd.DataFrame(rows).fillna("")


def tap_rows(runs: Stored) -> pd.DataFrame:
    """Printed rows, which do not state the order, above TAP2 and TAP3 by the first reading."""
    rows = []
    for model in MODELS:
        theirs, ours = {"model": model, "": "printed"}, {"model": "", "": "ours"}
        logz = {2: "order not stated", 3: printed("TAP (").loc[model, "logz"]}
        for order, label in programs.ORDERS.items():
            x, variance = programs.first_calls(runs.tap, model, order), f"{label} variance"
            theirs |= {label: logz[order], variance: printed(label).loc[model, "variance"]}
            mean, spread = in_words(programs.mean_of_calls(x)), number(programs.spread(x))
            ours |= {label: f"{mean} ({len(x)} calls)", variance: spread}
        theirs["error of TAP3"] = f"{printed_error(model, 'TAP ('):+.2f}"
        rows += [theirs, ours | {"error of TAP3": f"{x.mean() - truth(model):+.2f}"}]
    return pd.DataFrame(rows)


def program_errors(runs: Stored) -> pd.DataFrame:
    """Printed and our errors of the four programs; ours also with the RMSE of single runs."""
    rows, columns = [], {"AIS": "AIS", "RTS": "RTS", "SAMS": "SAMS", "TAP": "TAP ("}
    stop = runs.rts.query(f"n >= {programs.FEWEST}")
    rts = pick(stop, **programs.FIT).set_index("model", drop=False)
    for model in MODELS:
        theirs = {k: f"{printed_error(model, name):+.2f}" for k, name in columns.items()}
        found = {
            "AIS": one(runs.ais, model=model, base="counts + 5", schedule="linear"),
            "RTS": rts.loc[model] if model in rts.index else None,
            "SAMS": one(runs.sams, model=model, reading="counts + 5, 7,000 sweeps"),
        }
        ours = {
            method: "does not stop" if row is None
            else f"{row['log_z'] - truth(model):+.2f} ({programs.rmse_of(row):.2f})"
            for method, row in found.items()
        }  # fmt: skip
        calls = programs.first_calls(runs.tap, model)
        ours["TAP"] = f"{calls.mean() - truth(model):+.2f} (TAP3)"
        rows += [{"model": model, "": "printed"} | theirs, {"model": "", "": "ours (RMSE)"} | ours]
    return pd.DataFrame(rows)


def seconds(stored: pd.DataFrame) -> pd.DataFrame:
    """Mean processor seconds of each program by hidden units, beside the printed seconds."""
    ours = stored.groupby(["units", "program"], sort=False)["seconds"].mean().unstack()
    theirs = published("report_seconds").pivot(index="model", columns="method", values="seconds")
    theirs = theirs.loc[[f"h{units}" for units in ours.index]].set_index(ours.index).fillna("–")
    theirs = theirs.rename(columns="{}, printed (s)".format)
    both = pd.concat([theirs, ours.map(number).rename(columns="{} (s)".format)], axis=1)
    return both.rename_axis("hidden units").reset_index()


def _panels(items, draw, height: float, xlabel: str, ylabel: str) -> None:
    """Draw panels, two per row, by ``draw(ax, item)``."""
    _, axes = plt.subplots(len(items) // 2, 2, figsize=(6.6, height), squeeze=False)
    for ax, item in zip(axes.flat, items, strict=True):
        ax.set_title(item)
        draw(ax, item)
    plt.setp(axes[-1], xlabel=xlabel)
    plt.setp(axes[:, 0], ylabel=ylabel)


def figure_3(runs: Stored) -> None:
    """log Z of successive calls of TAP3, at most 50."""

    def draw(ax, model):
        x = programs.first_calls(runs.tap, model).to_numpy()[:50]
        ax.plot(np.arange(1, len(x) + 1), x, ".", color=plots.METHOD_COLOURS["TAP3"])
        value = float(printed("TAP (").loc[model, "logz"])
        ax.axhline(value, label="printed", color=plots.GREY, ls=":")
        ax.axhline(truth(model), label="log Z", color="black", ls="--", lw=1)
        ax.legend(fontsize=8)

    _panels(MODELS, draw, 4.6, "call", "log Z (nats)")


def figure_4(runs: Stored) -> None:
    """Changes of log Z between successive updates in one call of TAP3."""

    def draw(ax, model):
        x = np.maximum(programs.changes(runs.tap, model)[:60], 1e-12)
        ax.semilogy(np.arange(2, len(x) + 2), x, color=plots.METHOD_COLOURS["TAP3"])
        for tolerance in (0.001, 0.1, 2.0):
            ax.axhline(tolerance, color=plots.GREY, ls=":", lw=1)

    _panels(MODELS, draw, 4.6, "update", "|change| (nats)")


def figure_5(runs: Stored) -> None:
    """log Z of h10 against sweeps by RTS from two bases: mean and range of 20 runs."""

    def draw(ax, base):
        rows = pick(runs.sweeps, model="h10", rbm_a=base, estimator="rts printed", constant="kept")
        rows, exact = rows.sort_values("n_sweeps"), truth("h10")
        x, ends = rows["n_sweeps"], (rows["lowest"] - exact, rows["highest"] - exact)
        ax.fill_between(x, *ends, color=plots.METHOD_COLOURS["RTS"], alpha=0.2, lw=0)
        ax.plot(x, rows["log_z"] - exact, **plots.method("RTS"))
        ax.axhline(printed_error("h10", "RTS"), color=plots.GREY, ls=":")
        ax.set(xscale="log", title=f"base: {base}")

    _panels(["zero", "counts + 5"], draw, 3.0, "sweeps", "log Z − exact (nats)")
