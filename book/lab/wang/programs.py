"""Tables of readings from the stored runs of the report's programs, and verdicts on them.

A row is one reading on one model. It has "n" independent runs of one chain each, with mean "log_z"
and "variance". For RTS, "n" counts the runs that met the stopping rule, and "tried" counts all. A
reading of TAP sets the start of a call, the change of log Z at which the call ends, the order
behind the printed log Z, and whether this is one call or the mean of 20.
"""

from __future__ import annotations

from itertools import product
from typing import NamedTuple

import numpy as np
import pandas as pd

from rbmbook import judge
from rbmbook import measured as ms
from rbmbook.page import pick, stored
from rbmbook.tables import listed, number, span, with_error
from rbmbook.verdicts import REPRODUCED, Verdict, together

from . import PRINTED_RUNS, over, printed, reference, truth

FEWEST = 10  # with fewer runs, mean and variance are not judged
STEPS = {"linear": "equal steps", "random": "random steps", "sm08": "SM08 steps"}  # of AIS
ON = {"AIS": "the base", "RTS": "N and Tlimit", "SAMS": "the settings"}  # what a row depends on
RUNS_OF = {"mean of 20 runs": PRINTED_RUNS, "one run": 1}  # what a printed log Z may be
# The reading of RTS that gives the report's numbers.
FIT = {"n_temperatures": 99, "round_sweeps": 2000, "threshold": 0.02, "constant": "kept"}


def pooled(rows: pd.DataFrame) -> dict:
    """Number, mean and variance of the runs behind rows of "n_runs" runs each."""
    n, means = rows["n_runs"].to_numpy(), rows["log_z"].to_numpy()
    mean, total = float(np.average(means, weights=n)), int(n.sum())
    squares = (n - 1) @ rows["variance"].fillna(0.0).to_numpy() + n @ (means - mean) ** 2
    return {"n": total, "log_z": mean, "variance": float(squares / max(total - 1, 1))}


def of_ais(*stored: pd.DataFrame) -> pd.DataFrame:
    """Readings of AIS: base and schedule."""
    runs = pd.concat(stored, ignore_index=True).assign(n_runs=1, variance=np.nan)
    runs["base"] = runs["base"].fillna(runs["rbm_a"])
    return _readings(runs, ["base", "schedule"], lambda s: f"{s['base']}, {STEPS[s['schedule']]}")


def of_rts(runs: pd.DataFrame) -> pd.DataFrame:
    """Readings of the loop of RTS: round length, threshold, constant and number of temperatures."""
    keys = ["n_temperatures", "round_sweeps", "threshold", "constant", "estimator"]

    def words(s) -> str:
        few = "" if s["n_temperatures"] == 99 else f", K = {s['n_temperatures'] + 1}"
        anew = ", each round afresh" if s["estimator"].endswith("anew") else ""
        return f"N = {s['round_sweeps']:,}, Tlimit {s['threshold']:g}, {s['constant']}{few}{anew}"

    if mixed := int(((runs["stopped"] > 0) & (runs["stopped"] < runs["n_runs"])).sum()):
        raise ValueError(f"{mixed} rows mix runs that stopped with others: expected none")
    return _readings(runs, keys, words)


def of_sams(stored: pd.DataFrame) -> pd.DataFrame:
    """Readings of SAMS: base, betas, jump, constant, gain and sweeps."""
    keys = ["rbm_a", "schedule", "n_temperatures", "jump", "constant", "exponent", "n_sweeps"]

    def words(s) -> str:
        more = {
            "random ladders": s["schedule"] == "random",
            f"K = {s['n_temperatures'] + 1}": s["n_temperatures"] != 99,
            f"exponent {s['exponent']:g}": s["exponent"] != 0.7,
            "local jumps": s["jump"] == "local",
            "dropped": s["constant"] != "kept",
            f"{s['n_sweeps']:,} sweeps": True,
        }
        return ", ".join([s["rbm_a"], *(said for said, holds in more.items() if holds)])

    return _readings(stored, keys, words)


def _readings(runs: pd.DataFrame, keys: list[str], words) -> pd.DataFrame:
    rows = []
    for values, group in runs.groupby(["model", *keys], sort=False):
        setting = dict(zip(["model", *keys], values, strict=True))
        setting |= {"reading": words(setting), "tried": group["n_runs"].sum()}
        if "stopped" in group:
            group = group[group["stopped"] > 0]
        found = pooled(group) if len(group) else {"n": 0}
        if setting.get("schedule") == "random" and len(group) > 1 and group["n_runs"].max() > 1:
            # runs of a row share random betas, so there are only as many independent values as rows
            few, x = group["n_runs"].iloc[0], group["log_z"]
            variance = x.var(ddof=1) + group["variance"].mean() * (1 - 1 / few)
            found = {"n": len(group), "log_z": float(x.mean()), "variance": float(variance)}
        rows.append(setting | found)
    table = pd.DataFrame(rows)
    if twice := table.loc[table.duplicated(["model", "reading"]), "reading"].tolist():
        raise ValueError(f"two settings are called {twice[0]!r}: expected a name each")
    return table


def mean(row) -> ms.Measured:
    return ms.measured(row["log_z"], np.sqrt(row["variance"] / row["n"]), row["n"] - 1)


def judged(name: str, method: str, row) -> dict[str, Verdict]:
    """Verdicts on a printed log Z, a mean of 20 runs or one run, and variance, by one reading."""
    spread = printed(method).loc[row["model"]]
    offs = {x: _off(name, mean(row), spread, n) for x, n in RUNS_OF.items()}
    variance = judge.printed_variance(
        name, row["variance"], n=row["n"], printed=spread["variance"], printed_n=PRINTED_RUNS
    )
    by = (v.note.partition("margin ")[2].partition(":")[0] for v in (*offs.values(), variance))
    note = "margin {} nats (mean), {} nats (one run) and {} (variance): ".format(*by)
    note += f"the smallest differences that {PRINTED_RUNS} runs against {PRINTED_RUNS} would show"
    cases = {x: {"log Z": off, "variance": variance} for x, off in offs.items()}
    return {x: together(v, ours=said(row))._replace(note=note) for x, v in cases.items()}


def _off(name: str, ours: ms.Measured, spread, n: int) -> Verdict:
    """Ours minus a printed log Z, a mean of ``n`` runs."""
    of_20 = PRINTED_RUNS / n * float(spread["variance"])  # gives a mean of 20 this error
    given = {"printed_variance": of_20, "printed_n": PRINTED_RUNS}
    return judge.printed_value(name, ours, printed=spread["logz"], **given)


def said(row) -> str:
    return f"{with_error(*mean(row)[:2])} with variance {number(row['variance'])}"


def over_readings(name: str, method: str, readings: pd.DataFrame) -> Verdict:
    """One verdict on a row of a printed table over all readings of one model."""
    cases: dict[str, Verdict] = {}
    given: list[str] = []
    for row in readings.to_dict("records"):
        reading = row["reading"]
        if row["n"] >= FEWEST:
            if method == "RTS" and row["n"] < row["tried"]:
                reading += f" ({row['n']} of {row['tried']} stopped)"
            found = judged(name, method, row)
            cases |= {f"{reading}, {x}": v for x, v in found.items()}
            given += [row["reading"]] * (REPRODUCED in {v.outcome for v in found.values()})
        elif not row["n"]:
            cases[reading] = judge.left_open(name, f"none of {row['tried']} runs stopped")
    stopped, never = readings[readings["n"] > 0], readings[readings["n"] == 0]
    if len(never) and not given:
        ends = stopped.sort_values("log_z").iloc[[0, -1]].to_dict("records")
        off = (f"{x['log_z'] - truth(x['model']):.0f} ± {mean(x).std_error:.0f}" for x in ends)
        ours = f"With Tlimit up to {never['threshold'].max():g}, none of {never['tried'].sum()} "
        ours += f"runs stops. With {span(stopped['threshold'], '{:g}'.format)}, the means are "
        return over(cases, f"{ours}{' to '.join(off)} nats above log Z.", ON[method])
    among = stopped[stopped["reading"].isin(given or stopped["reading"])].query(f"n >= {FEWEST}")
    nearest, margin = nearest_reading(method, among), found["one run"].note.split()[1]
    ours = f"The nearest reading ({nearest['reading']}) gives {said(nearest)}. "
    return over(cases, f"{ours}The margin for the mean is {margin} nats.", ON[method])


def nearest_reading(method: str, readings: pd.DataFrame) -> pd.Series:
    """The reading with mean and variance nearest to the printed ones, in units of their errors."""
    model = readings["model"].iloc[0]
    value, variance = (float(printed(method).loc[model, c]) for c in ("logz", "variance"))
    of_mean = (readings["log_z"] - value) ** 2 / ((variance + readings["variance"]) / PRINTED_RUNS)
    of_variance = np.log(readings["variance"] / variance) ** 2 * PRINTED_RUNS / 4
    return readings.loc[(of_mean + of_variance).idxmin()]


def rmse(row) -> ms.Measured:
    """Root mean squared error of single runs of a reading, with its error, on the scale "log"."""
    n, variance = row["n"], row["variance"]
    error = row["log_z"] - truth(row["model"])
    square = error**2 + variance
    of_square = 4 * error**2 * variance / n + 2 * variance**2 / (n - 1)
    return ms.measured(np.sqrt(square), np.sqrt(of_square) / square / 2, n - 1, "log")


def rmse_of(row) -> float:
    return float(np.exp(rmse(row).value))


def rmse_over(top, bottom) -> ms.Measured:
    return ms.minus(rmse(top), rmse(bottom))


def mean_error(row) -> ms.Measured:
    """Mean error of the runs of a reading; its error includes that of the reference value."""
    ours, known = mean(row), reference()[row["model"]]
    error = float(np.hypot(ours.std_error, known.std_error))
    return ours._replace(value=ours.value - known.log_z, std_error=error)


ORDERS = {2: "TAP2", 3: "TAP3"}
FIRST = {"update": "alternating", "begin": "uniform", "tolerance": 0.001}  # reading
STOPPED = 1  # code of "ended" at a change below the tolerance
SETS = 2  # least number of sets of 20 calls, for a range to compare with a printed variance
FAR = 10.0  # factor beyond this range at which a printed variance contradicts a reading


def calls(runs: pd.DataFrame, model: str, order: int, **reading) -> pd.DataFrame:
    """Calls of at most 1,000 updates in a reading, by seed."""
    return pick(runs, model=model, order=order, n_updates=1000, **reading).sort_values("seed")


def first_calls(runs: pd.DataFrame, model: str, order: int = 3) -> pd.Series:
    return calls(runs, model, order, **FIRST)["log_z"]


def changes(runs: pd.DataFrame, model: str) -> np.ndarray:
    """Changes of log Z between successive updates in one call of TAP3, if 0 log 0 = 0."""
    steps = pick(runs, model=model, order=3, seed=2014, **FIRST).query("n_updates < 1000")
    return np.abs(np.diff(steps.sort_values("n_updates")["final"]))


def mean_of_calls(values) -> ms.Measured:
    """Mean of calls, exact if all end alike."""
    x = np.asarray(values)
    return ms.mean_of(x) if np.ptp(x) > 0 else ms.exactly(x[0])


def spread(values) -> float:
    """Variance of values that may be almost equal; subtracting the first avoids rounding errors."""
    x = np.asarray(values)
    return float((x - x[0]).var(ddof=1))


def sets(values) -> list[float]:
    """Variances of sets of twenty calls."""
    return [spread(x) for x in np.split(np.asarray(values), len(values) // PRINTED_RUNS)]


def in_cycle(found: pd.DataFrame) -> bool:
    """Does every call end at one of the two values of a cycle?"""
    x, ends = found["log_z"].to_numpy(), found[["cycle_low", "cycle_high"]].to_numpy()
    at_an_end = (np.abs(ends - x[:, None]) < 1e-4).any(axis=1).all()
    return bool(at_an_end and np.ptp(ends, axis=0).max() < 1e-4 and np.ptp(x) > 1e-4)


def split_nearest(found: pd.DataFrame, value: float) -> tuple[int, float, float]:
    """Twenty calls in a cycle with the mean nearest to ``value``.

    Rounding decides at which end a call stops. Returns the number at the upper end, mean, variance.
    """
    low, high = found["cycle_low"].mean(), found["cycle_high"].mean()
    upper = int(np.clip(round(PRINTED_RUNS * (value - low) / (high - low)), 0, PRINTED_RUNS))
    x = np.repeat([low, high], [PRINTED_RUNS - upper, upper])
    return upper, float(x.mean()), float(x.var(ddof=1))


def variance_judged(name: str, found: pd.DataFrame, text: str, value: float) -> Verdict:
    """Verdict on a printed variance of twenty calls, by calls of one reading."""
    x = found["log_z"]
    if in_cycle(found) or np.ptp(x) < 1e-6:  # two values, or one
        certain = split_nearest(found, value)[2] if in_cycle(found) else 0.0
        said = f"{number(certain)} nats², printed {text}"
        return judge.digits(name, certain, text)._replace(ours=said, effect=np.nan)
    if len(x) < SETS * PRINTED_RUNS:
        found = judge.printed_variance(name, x, printed=text, printed_n=PRINTED_RUNS)
        return found._replace(unit="times the printed one")
    # values are not normal: a few distant ones dominate the variance
    low, high, wanted = min(sets(x)), max(sets(x)), float(text)
    said = f"{number(low)} to {number(high)}"
    inside = judge.compare(low, "<=", wanted) & judge.compare(wanted, "<=", high)
    if not inside.holds and low / FAR <= wanted <= high * FAR:
        return judge.left_open(name, "printed just outside this range", ours=said)
    reason = "printed " + ("within" if inside.holds else "far outside") + " this range"
    return judge.statement(name, inside, reason=reason, ours=said)


def value_judged(name: str, found: pd.DataFrame, text: str, variance: str, n: int) -> Verdict:
    """Verdict on a printed log Z, a mean of ``n`` calls of a printed variance, by one reading."""
    if in_cycle(found):
        ends = found[["cycle_low", "cycle_high"]].mean()
        nearest = ends[(ends - float(text)).abs().idxmin()]
        return judge.digits(name, nearest if n == 1 else split_nearest(found, float(text))[1], text)
    spread = {"logz": text, "variance": variance}
    return _off(name, mean_of_calls(found["log_z"]), spread, n)


def row_judged(name: str, runs: pd.DataFrame) -> Verdict:
    """One verdict on a row of the table of TAP, over all readings with runs of both orders."""
    model = runs["model"].iloc[0]
    row = {label: printed(label).loc[model, "variance"] for label in ORDERS.values()}
    text, cases = printed("TAP (").loc[model, "logz"], {}
    ran = pick(runs, n_updates=1000, update="alternating")
    both = ran.groupby(["begin", "tolerance"], sort=False)["order"].nunique() == len(ORDERS)
    means: dict[str, list] = {label: [] for label in row}
    spreads: dict[str, list] = {label: [] for label in row}  # of 20 calls each
    for begin, tolerance in both.index[both]:
        reading = FIRST | {"begin": begin, "tolerance": tolerance}
        of = {label: calls(runs, model, order, **reading) for order, label in ORDERS.items()}
        variances = {}
        for label, found in of.items():
            by_calls = variance_judged(name, found, row[label], float(text))
            variances[f"variance of {label}"] = by_calls
            means[label].append(found["log_z"].mean())
            spreads[label] += sets(found["log_z"])
        for (label, found), n in product(of.items(), (PRINTED_RUNS, 1)):
            off = value_judged(name, found, text, row[label], n)
            parts = {"log Z, ours minus printed": off} | variances
            calls_of = ("one call" if n == 1 else "mean of 20 calls") + f" of {label}"
            cases[f"{begin}, tolerance {tolerance:g}, {calls_of}"] = together(parts)
    ours = listed(
        f"{span(means[label], '{:.2f}'.format)} with variances of {span(spreads[label], number)} "
        f"({label})"
        for label in row
    )
    on = "the start, the tolerance, and which log Z is printed"
    return over(cases, f"From uniform starts, the mean log Z is {ours}.", on)


SWEEPS = (
    "ais_report ais_printed ais_bounds ais_coarse rts_loop rts_loop_fresh rts_loop_loose "
    "rts_loop_sweeps sams_printed sams_lengths sams_claims tap_printed tap_readings tap_report"
)
CLOSE = 5.0  # nats: three standard deviations of the report's runs of RTS on h20


class Stored(NamedTuple):
    """Readings of AIS, RTS and SAMS, calls of TAP, and single runs of the loop of RTS."""

    ais: pd.DataFrame
    coarse: pd.DataFrame  # AIS with 10,000 temperatures
    rts: pd.DataFrame  # from the base of counts + 5
    single: pd.DataFrame  # runs of RTS with K = 100 from both bases
    sweeps: pd.DataFrame  # RTS without a stop, and SAMS, after given numbers of sweeps
    sams: pd.DataFrame
    energy: pd.DataFrame  # SAMS with and without the energy of the base in the draw of beta
    tap: pd.DataFrame
    fixed_points: pd.DataFrame  # of TAP, solved to convergence


def load(scheduler: str = "") -> Stored:
    """Load all tables; each sweep prints a line on its origin."""
    found = dict(zip(SWEEPS.split(), stored(SWEEPS, scheduler), strict=True))
    loops = pd.concat([found["rts_loop"], found["rts_loop_loose"]])
    every = pd.concat([loops, found["rts_loop_fresh"]])
    calls = pd.concat([found["tap_printed"], found["tap_readings"]])
    coarse = pd.concat([found["ais_bounds"], found["ais_coarse"]], ignore_index=True)
    coarse = pick(coarse, estimator="ais", n_temperatures=10_000)
    energy = pick(found["sams_claims"], n_chains=20, n_sweeps=7000).assign(n=20)
    return Stored(
        ais=of_ais(found["ais_report"], found["ais_printed"]),
        coarse=coarse.assign(base=coarse["base"].fillna(coarse["rbm_a"])),
        rts=of_rts(pick(every, rbm_a="counts + 5")),
        single=pick(loops, n_temperatures=99),
        sweeps=found["rts_loop_sweeps"],
        sams=of_sams(pd.concat([found["sams_printed"], found["sams_lengths"]])),
        energy=energy.assign(variance=20 * energy["std_error"] ** 2),
        tap=calls.drop_duplicates([*FIRST, "model", "order", "n_updates", "seed"]),
        fixed_points=pick(found["tap_report"], n_starts=1, solver="minimise"),
    )


def converged(runs: Stored, **where) -> tuple[np.ndarray, np.ndarray]:
    """For each single run of RTS: did it stop, and did it converge?

    A run *converges* if it stops within 100,000 sweeps, less than `CLOSE` from log Z.
    """
    found = pick(runs.single, **where)
    stops = found["stopped"].to_numpy() == 1
    return stops, stops & (np.abs(found["log_z"] - found["model"].map(truth)) < CLOSE).to_numpy()
