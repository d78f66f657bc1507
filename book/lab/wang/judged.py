"""Verdicts on the claims of the report, over every reading."""

from __future__ import annotations

from itertools import pairwise, product

import numpy as np
import pandas as pd

from rbmbook import judge
from rbmbook import measured as ms
from rbmbook.experiments.wang import CONSTANTS
from rbmbook.page import one, pick, pm, published
from rbmbook.tables import listed, span
from rbmbook.verdicts import Verdict, by_case, depends, effect_in_words, in_brackets, together

from . import MODELS, PRINTED_RUNS, over, printed, printed_error, programs, truth
from .programs import CLOSE, Stored, converged, rmse_of, rmse_over

THEIRS = "h10, h20, h100 and h500, the report's own models"
THREE = "h10, h20 and h100, the report's own models"
FEW = ("h10", "h20")
BASES = {  # of AIS, in words
    "base rate": "the base rate", "counts + 5": "counts + 5", "own biases": "own biases",
    "zero": "zeros",
}  # fmt: skip
RBM_A = ("counts + 5", "own visible", "own both", "zero")  # of SAMS
ROUNDS = (1000, 1500, 2000, 3000, 5000)
A_NAT = {"margin": 1.0, "unit": "nats", "reason": "Z changes by less than a factor of e"}
ZEROS = {"round_sweeps": (1000, 3000), "threshold": (0.05, 0.01), "constant": CONSTANTS}
IN_WORDS = {
    "round_sweeps": "N = {:,}", "threshold": "Tlimit = {:g}", "n_sweeps": "{:,} sweeps",
    "base": "AIS from {}", "tolerance": "tolerance {:g}",
}  # fmt: skip


def grid(judged, models=MODELS, **settings) -> dict[str, dict[str, Verdict]]:
    """Verdicts ``judged(model, **setting)`` by name of the setting, then by model."""
    cases = {}
    for values in product(*settings.values()):
        where = dict(zip(settings, values, strict=True))
        said = where | {"base": BASES[where["base"]]} if "base" in where else where
        words = ", ".join(IN_WORDS.get(key, "{}").format(x) for key, x in said.items())
        cases[words] = {m: judged(m, **where) for m in models}
    return cases


def each(cases) -> list[Verdict]:
    return [v for of_case in cases.values() for v in of_case.values()]


def smallest(cases) -> str:
    """The smallest effect of all cases, with its interval."""
    return effect_in_words(min(each(cases), key=lambda v: v.effect))


LONG_RUN = {  # limits by quadrature; proposals are as wide as the marginals unless stated
    "drawn again": 0.2606, "counted again": 2 / 7,
    "drawn again, variances as standard deviations": 0.3227,
    "counted again, variances as standard deviations": 0.3468,
}  # fmt: skip


def mh_table(stored: pd.DataFrame) -> Verdict:
    """Correlations (in truth 0.5) over 100 runs, by treatment of a rejected proposal.

    ``stored`` has correlations of runs with all points and with a tenth of them.
    """
    name, printed_range = "wang-mh-table", {"at_least": 0.484, "at_most": 0.497}
    ten = {"margin": 1.5, "reason": "ten times the points divide a correct sampler's error by 3.2"}
    by = {key: x.to_numpy() for key, x in stored.groupby(["rule", "points"])["correlation"]}
    line = one(published("report_mh_correlation"), n_runs=100)
    text = f"{line['mean_correlation_as_printed'] / 10:.4f}"
    given = {"printed_variance": line["variance"], "printed_n": 100, "unit": ""}
    spread = {"printed": f"{line['variance']:.2e}", "printed_n": 100}

    def parts(how):
        off = judge.printed_value(name, ms.exactly(LONG_RUN[how]), printed=text, **given)
        found = {"mean, ours minus printed": off}
        if (how, 50_000) not in by:
            return found
        few, x = (by[how, n] for n in (5000, 50_000))
        gain = ms.rmse_ratio(few - 0.5, of=x - 0.5)
        return found | {
            "mean in the printed range": judge.bound(name, ms.mean_of(x), **printed_range),
            "variance, ours over printed": judge.printed_variance(name, x, **spread),
            "no closer with more points": judge.equivalence(name, gain, **ten),
        }

    found = depends("the reading", {how: parts(how) for how in LONG_RUN})
    means = (ms.mean_of(by[how, 50_000]) for how in ("drawn again", "counted again"))
    again, counted = (f"{m.value:.4f} ± {m.std_error:.4f}" for m in means)
    said = f"The mean correlation of 100 runs is {again} if a new proposal follows a rejection, as "
    said += f"printed, and {counted} if the old point counts again."
    limits = listed(f"{x:.4f}" for how, x in LONG_RUN.items() if (how, 50_000) not in by)
    words = f"If proposals use the variances as standard deviations, long runs give {limits}."
    return found.said(said, words, "none (a Gaussian in two dimensions)")


def rows(method: str, readings: pd.DataFrame, words: dict[str, str], price=()) -> list[Verdict]:
    """A verdict on each row of a printed table; ``price[model]`` would decide an open one."""
    found = []
    for model in MODELS:
        name, of_model = f"wang-{method.lower()}-{model}", pick(readings, model=model)
        if method == "TAP":
            v = programs.row_judged(name, of_model)
        else:
            v = programs.over_readings(name, method, of_model)
        v = v.priced(price[model]) if model in price else v
        found.append(v.said(words=words[model], models=f"{model}, the report's own"))
    return found


def sams_rows(runs: Stored) -> list[Verdict]:
    """The rows of SAMS: readings that agree do not divide by Z_A ** (1 - beta)."""
    every = pick(runs.sams, jump="global")
    divided = pick(every, constant="dropped").groupby("model")["log_z"].agg(["size", "min", "max"])
    said = "All readings that agree keep Z_A^(1-beta), as the author's published program does. The "
    said += "{:.0f} that divide it out, as section III.B says, have means of {:.0f} to {:.0f} nats."
    words = {m: said.format(*divided.loc[m]).replace("of -", "of −") for m in MODELS}
    return rows("SAMS", every, words)


def ais_finer(runs: Stored) -> Verdict:
    """RMSE of single chains with 6 or 10 times as many temperatures over that with 10,000."""

    def finer(model, base):
        row = one(runs.coarse, model=model, base=base)
        few = {"model": model, "n": row["n_chains"], "log_z": row["mean_log_z"]}
        few["variance"] = row["n_chains"] * row["mean_std_error"] ** 2
        gain = rmse_over(equal_steps(runs, model, base), few)
        return judge.effect("wang-ais-finer", gain, direction=-1)

    cases = grid(finer, base=BASES)
    every = {f"{m}, {case}": v for case, of in cases.items() for m, v in of.items()}
    ends = (f(every, key=lambda x: every[x].effect) for f in (min, max))
    said = " to ".join(f"{effect_in_words(every[x])} ({x})" for x in ends)
    said = f"With 60,000 temperatures (100,000 on h10), the RMSE is {said} times that with 10,000."
    return depends("the base", cases).said(said, models=THEIRS)


def equal_steps(runs: Stored, model: str, base: str) -> pd.Series:
    return one(runs.ais, model=model, base=base, schedule="linear")


def deviations(runs: Stored, model: str, order: int, reading) -> tuple[ms.Measured, float]:
    """Mean distance of calls from their median, and distance of the median from log Z."""
    if reading == "densities":
        x = pick(runs.fixed_points, model=model, order=order, begin=reading)["log_z"].dropna()
    else:
        x = programs.calls(runs.tap, model, order, **reading)["log_z"]
    return programs.mean_of_calls(np.abs(x.to_numpy() - x.median())), abs(x.median() - truth(model))


def tap_constant(runs: Stored) -> Verdict:
    """Constant error: on average, calls are within a third of the error of their median."""
    name = "wang-tap-constant"
    starts = {f"ends at {t:g}": programs.FIRST | {"tolerance": t} for t in (0.001, 0.1, 2.0)}
    starts |= {"visible": programs.FIRST | {"begin": "visible"}, "densities": "densities"}

    def constant(model, order, reading):
        spread, error = deviations(runs, model, order, reading)
        return judge.bound(name, spread, at_most=error / 3, unit="nats")

    def falls(model, reading):
        three, two = (deviations(runs, model, k, reading)[0] for k in (3, 2))
        if (three.value == 0) != (two.value == 0):  # all calls of one order end alike: certain
            reason = "all calls of one of the orders end alike"
            return judge.statement(name, judge.compare(three.value, "<", two.value), reason=reason)
        return judge.effect(name, ms.difference(three, two), direction=-1, unit="nats")

    both = list(product(MODELS, programs.ORDERS))
    three, two = (printed(k)["variance"] for k in ("TAP3", "TAP2"))
    rises = {m: f"{three[m]} against {two[m]}" for m in MODELS if float(three[m]) > float(two[m])}
    falls_in_print = judge.compare(three[list(MODELS)], "<", two[list(MODELS)])
    in_print = judge.statement(name, falls_in_print, reason="in the report's own table")
    what = "where a call starts and when it stops"
    parts = {
        "falls in the printed table": in_print._replace(ours=""),
        "a constant error": depends(what, {
            r: {f"{m}, {programs.ORDERS[k]}": constant(m, k, s) for m, k in both}
            for r, s in starts.items()
        }),
        "falls with the order": depends(
            what, {r: {m: falls(m, s) for m in MODELS} for r, s in starts.items()}
        ),
    }  # fmt: skip
    said = "The printed variance of TAP3 is larger than that of TAP2 on "
    said += f"{listed(f'{m} ({x} nats²)' for m, x in rises.items())}."
    words = "In our calls, both parts of the claim depend on where a call starts and when it stops."
    return together(parts).said(said, words, THEIRS)


def tap_quick(runs: Stored) -> Verdict:
    """Figure 4: do half of the calls of TAP3 settle within 50 updates? By model and tolerance."""

    def quick(model, tolerance):
        found = programs.calls(runs.tap, model, 3, **programs.FIRST | {"tolerance": tolerance})
        settled = (found["ended"] == programs.STOPPED) & (found["n_done"] <= 50)
        share = ms.share_of(settled.to_numpy())
        found = judge.bound("wang-tap-fig4", share, at_least=0.5, least=0.0)
        return found._replace(high=min(found.high, 1.0))

    cases = grid(quick, tolerance=(0.001, 0.1, 2.0))
    soon = {m: [case.split()[-1] for case, of in cases.items()
                if of[m].outcome == judge.REPRODUCED] for m in MODELS}  # fmt: skip
    said = "; ".join(f"{listed(x) or 'none'} ({m})" for m, x in soon.items())
    said = f"At least half of the calls stop within 50 updates at these tolerances: {said}."
    rings = {m: programs.calls(runs.tap, m, 3, **programs.FIRST)["cycle"].max() for m in MODELS}
    fixed = listed(m for m, n in rings.items() if n == 1)
    ring = listed(f"{n:.0f} values on {m}" for m, n in rings.items() if n > 1)
    updates = int(np.argmax(programs.changes(runs.tap, "h500") <= 0.001)) + 2
    words = "On h500, calls stop at an entropy of 0 log 0. Continued with 0 log 0 = 0, calls reach "
    words += f"a fixed point on {fixed} (on h500 in {updates} updates), and a cycle of {ring}."
    return depends("the model and the tolerance", cases).said(said, words, THEIRS)


def rts_base(runs: Stored) -> Verdict:
    """Shares of runs that converge (see `converged`) from zeros and from counts + 5."""
    name, what = "wang-rts-base", "N and Tlimit"

    def near(model, base, **where):
        return converged(runs, model=model, rbm_a=base, **where)[1]

    def fails(model, **where):
        return judge.bound(name, ms.share_of(near(model, "zero", **where)), at_most=0.5)

    def better(model, **where):
        gain = (ms.share_of(near(model, base, **where)) for base in ("counts + 5", "zero"))
        return judge.effect(name, ms.difference(*gain), direction=+1)

    def counted(**where):
        every = converged(runs, **where)[1]
        return f"{every.sum()} of {len(every)} runs"

    gains = grid(better, ["h10"], **ZEROS)
    parts = {
        "zeros do not converge": depends(what, grid(fails, (*FEW, "h100"), **ZEROS)),
        "counts + 5 converge better": depends(what, gains),
    }
    of_h10 = {"model": "h10", "rbm_a": "counts + 5", "round_sweeps": [1000, 3000]}
    strict, loose = (counted(**of_h10, threshold=t) for t in (0.01, 0.05))
    said = f"From zeros, {counted(rbm_a='zero')} converge. From counts + 5, {strict} on h10 do at "
    said += f"Tlimit = 0.01 and {loose} at 0.05. The smallest difference in shares is "
    said += f"{smallest(gains)}."
    return together(parts, ours=said).said(models=THREE)


def sweeps_to_stop(runs: Stored, model: str) -> ms.Measured:
    """Ratio of the sweeps with and without Z_A divided out, after scaling each N by its mean."""
    stopped = pick(runs.single, model=model, rbm_a="counts + 5", threshold=0.01, stopped=1,
                   round_sweeps=list(ROUNDS))  # fmt: skip
    unit = pick(stopped, constant="kept").groupby("round_sweeps")["mean_sweeps"].mean()
    share = stopped["mean_sweeps"] / stopped["round_sweeps"].map(unit)
    return ms.ratio(*(share[stopped["constant"] == c].to_numpy() for c in ("dropped", "kept")))


def base_term(runs: Stored) -> Verdict:
    """Sweeps until RTS stops and error of SAMS, with and without division by Z_A ** (1 - beta).

    For SAMS, the report says that the energy of RBM A is taken out, which is another reading.
    """
    name = "wang-base-term"
    fifth = {"direction": -1, "matters": 1.25, "reason": "or a fifth fewer sweeps"}

    def divided(model, rbm_a):
        where = {"model": model, "rbm_a": rbm_a, "jump": "global", "schedule": "linear",
                 "n_temperatures": 99, "n_sweeps": 7000}  # fmt: skip
        return less(*(one(runs.sams, constant=c, **where) for c in ("dropped", "kept")))

    def without(model, what):
        pair = (one(runs.energy, model=model, path=x) for x in ("base dropped", "geometric"))
        return less(*pair)

    def less(*pair):
        return judge.effect(name, rmse_over(*pair), direction=-1)

    of_sams = grid(divided, rbm_a=RBM_A)
    of_rts = {m: judge.effect(name, sweeps_to_stop(runs, m), **fifth) for m in FEW}
    parts = {
        "RTS, sweeps until it stops": together(of_rts),
        "SAMS, error": depends("the base", of_sams | grid(without, what=["the energy taken out"])),
    }
    ours = "The division changes the number of sweeps before RTS stops by a factor of "
    ours += f"{by_case(of_rts, '{} on {}')}."
    every = [v.outcome for v in each(of_sams)]
    worse, better = (every.count(x) for x in (judge.CONTRADICTED, judge.REPRODUCED))
    why = "The division only changes initial guesses. It raises the RMSE of SAMS after 7,000 "
    why += f"sweeps in {worse} of {len(every)} cases and lowers it in {better}."
    return together(parts, ours=ours).said(words=why, models=THEIRS)


def rts_threshold(runs: Stored) -> Verdict:
    """RMSE at Tlimit 0.05 over that at 0.01, and shares of loops from zeros that stop."""
    name, loops = "wang-rts-threshold", pick(runs.rts, n_temperatures=99)

    def right(model, **where):
        pair = (one(loops, model=model, threshold=t, **where) for t in (0.05, 0.01))
        return judge.effect(name, rmse_over(*pair), direction=+1)

    def goes_on(model, **where):
        stops = converged(runs, model=model, rbm_a="zero", **where)[0]
        return judge.bound(name, ms.share_of(stops), at_most=0.5)

    def errors(model, t):
        rows = pick(loops, model=model, threshold=t).to_dict("records")
        return f"{span(map(rmse_of, rows), '{:.2f}'.format)} nats on {model}"

    ratios = grid(right, FEW, round_sweeps=ROUNDS, constant=CONSTANTS)
    zeros = depends("N and Tlimit", grid(goes_on, (*FEW, "h100"), **ZEROS))
    parts = {"Tlimit decides the error": depends("N", ratios), "from zeros the loop goes on": zeros}
    loose, strict = (listed(errors(m, t) for m in FEW) for t in (0.05, 0.01))
    every = pick(runs.single, rbm_a="zero")
    ends = every["log_z"].sub(every["model"].map(truth))[every["stopped"] == 1]
    said = f"The RMSE is {loose} at Tlimit = 0.05, and {strict} at 0.01."
    said += f" The smallest ratio is {smallest(ratios)}."
    why = f"From zeros, {len(ends)} of {len(every)} loops stop, {ends.min():.0f} or more nats off."
    return together(parts, ours=said).said(words=why, models=THREE)


def rts_units(runs: Stored) -> Verdict:
    """Shares of loops that end with few hidden units, minus those with many at Tlimit = 0.05."""

    def ends(models, threshold, n):
        where = {"rbm_a": "counts + 5", "threshold": threshold, "round_sweeps": n}
        return converged(runs, model=models, **where)[0]

    def fewer(model, round_sweeps, threshold):
        pair = ((model, threshold), (["h100", "h500"], 0.05))
        gain = ms.difference(*(ms.share_of(ends(*x, round_sweeps)) for x in pair))
        return judge.effect("wang-rts-units", gain, direction=+1)

    strict = [0.05, 0.02, 0.01]
    cases = grid(fewer, FEW, round_sweeps=ROUNDS, threshold=strict)
    few = {m: ends(m, strict, list(ROUNDS)) for m in FEW}
    many = ends(["h100", "h500"], 0.05, list(ROUNDS))
    said = listed(f"{x.sum()} of {len(x)} loops on {m}" for m, x in few.items())
    said = f"With Tlimit from 0.01 to 0.05, {said} end within 100,000 sweeps. On h100 and h500, "
    said += f"{many.sum()} of {len(many)} end at 0.05. The smallest difference in shares is "
    said += f"{smallest(cases)}."
    return depends("N and Tlimit", cases).said(said, models=THEIRS)


def rts_accuracy(runs: Stored) -> Verdict:
    """RMSE of the stopped runs of RTS over that of AIS, by reading and base."""

    def as_accurate(model, reading, base):
        of_rts = one(runs.rts, model=model, reading=reading)
        ratio = rmse_over(of_rts, equal_steps(runs, model, base))
        return judge.bound("wang-rts-accuracy", ratio, at_most=1.5)

    loops = runs.rts.query(f"n_temperatures == 99 and n >= {programs.FEWEST}")
    both = loops.groupby("reading", sort=False)["model"].agg(set)
    readings = both.index[both.map(set(FEW).issubset)]
    cases = grid(as_accurate, FEW, reading=readings, base=[*BASES][:3])  # AIS from zeros is far off
    of_base = [x for case, x in cases.items() if case.endswith("the base rate")]
    best = {m: min((x[m] for x in of_base), key=lambda v: v.effect) for m in FEW}
    said = "At best, the RMSE of RTS divided by that of AIS from the base rate is "
    said += f"{by_case(best, '{} on {}')}."
    found = over(cases, said, "the model, N, Tlimit and the base of AIS")
    both = [x for x, of in cases.items() if {v.outcome for v in of.values()} == {judge.REPRODUCED}]
    words = f"The claim holds on both models in {len(both)} of {len(cases)} settings, with "
    words += f"{listed(dict.fromkeys(x[x.index('AIS from') :] for x in both))}."
    return found.said(words=words, models="h10 and h20, the report's own models")


def sams_local(runs: Stored) -> Verdict:
    """RMSE with local over that with global jumps, if one is near log Z."""

    def pair(base, model):
        n_sweeps = 200_000 if base == "zero" else 30_000  # no run from zeros is near after 30,000
        where = {"model": model, "rbm_a": base, "n_sweeps": n_sweeps, "schedule": "linear",
                 "n_temperatures": 99, "constant": "kept"}  # fmt: skip
        return [one(runs.sams, jump=j, **where) for j in ("local", "global")]

    def slower(base, model):
        ratio, least = rmse_over(*pair(base, model)), "the effect of a fifth more sweeps"
        return judge.effect("wang-sams-local", ratio, direction=+1, matters=1.1, reason=least)

    near = [x for x in product(RBM_A, (*FEW, "h100")) if min(map(rmse_of, pair(*x))) < CLOSE]
    cases = {b: {m: slower(base, m) for base, m in near if base == b} for b, _ in near}
    every = [v.effect for b in RBM_A[:-1] for v in cases.get(b, {}).values()]
    said = "After 30,000 sweeps, the RMSE with local jumps is "
    said += f"{span(every, '{:.1f}'.format)} times that with global jumps in the {len(every)} "
    said += f"cases up to h100 with an RMSE below {CLOSE:g} nats."
    later = by_case(cases.get("zero", {}), "{} times on {}")
    why = f"From zeros, it is {later} after 200,000 sweeps." if later else ""
    price = "4,000 more runs from zeros with each kind of jump, 0.7 hours"
    return depends("the base", cases).said(said, why, THREE).priced(price)


def common_walks(runs: Stored) -> list[str]:
    """Readings of SAMS with global jumps that were run on every model."""
    n = pick(runs.sams, jump="global", constant="kept").groupby("reading")["model"].nunique()
    return list(n.index[n == len(MODELS)])


def sams_units(runs: Stored) -> Verdict:
    """Printed distance from AIS, and error and variance on h500 over those on h10."""
    name = "wang-sams-units"

    def grow(reading):
        few, many = (one(runs.sams, model=m, reading=reading) for m in ("h10", "h500"))
        size = np.sqrt(2 / (few["n"] - 1) + 2 / (many["n"] - 1))
        freedom = min(few["n"], many["n"]) - 1
        variance = ms.measured(many["variance"] / few["variance"], size, freedom, "log")
        ratios = {"error": rmse_over(many, few), "variance": variance}
        return {which: judge.effect(name, r, direction=+1) for which, r in ratios.items()}

    means = {m: [programs.mean(in_table(k, m)) for k in ("SAMS", "AIS")] for m in MODELS}
    apart = {m: ms.difference(*x) for m, x in means.items()}
    grown = {r: grow(r) for r in common_walks(runs)}
    near = {m: judge.equivalence(name, x, **A_NAT) for m, x in apart.items()}
    parts = {
        "near AIS, as printed": together(near),
        "growth of error and variance": depends("the reading", grown),
    }
    said = listed(f"{in_brackets(*v[3:6])} ({m})" for m, v in near.items())
    said = f"The printed log Z of SAMS minus that of AIS is {said} nats."
    tap = {m: abs(float(printed("TAP (")["logz"][m]) - x[1].value) for m, x in means.items()}
    far = {m: f"{x:.1f}" for m, x in tap.items() if x < abs(apart[m].value)}
    why = f"On {listed(far)}, that is farther than TAP ({listed(far.values())} nats), which the "
    why += "report calls far off."
    return together(parts, ours=said).said(words=why, models=THEIRS)


def in_table(method: str, model: str) -> dict:
    """Printed mean and variance of 20 runs."""
    x = printed(method).loc[model, ["logz", "variance"]].astype(float)
    return {"model": model, "n": PRINTED_RUNS, "log_z": x["logz"], "variance": x["variance"]}


def most_accurate(runs: Stored) -> Verdict:
    """Is AIS good with one chain, and more accurate than RTS and SAMS, in print and in our runs?"""
    name, cases = "wang-ais-most-accurate", {}
    loops = runs.rts.query(f"n_temperatures == 99 and n >= {programs.FEWEST}")
    walks = pick(runs.sams, jump="global", constant="kept")
    for method, rivals in (("RTS", loops), ("SAMS", walks)):
        for row, base in product(rivals.to_dict("records"), BASES):
            ours, model = equal_steps(runs, row["model"], base), row["model"]
            good = judge.equivalence(name, programs.mean_error(ours), **A_NAT)
            better = judge.effect(name, rmse_over(ours, row), direction=-1)
            case = f"AIS from {BASES[base]} against {method}, {row['reading']}"
            found = together({"mean error": good, f"RMSE over that of {method}": better})
            cases.setdefault(case, {})[model] = found
    at = {b: {x: of for x, of in cases.items() if f"from {BASES[b]} " in x} for b in BASES}
    against = {b: [v.outcome for v in each(of)].count(judge.CONTRADICTED) for b, of in at.items()}
    in_print = {}
    for m, k in product(MODELS, ("RTS", "SAMS")):
        ratio = rmse_over(in_table("AIS", m), in_table(k, m))
        in_print[f"in print on {m}, over {k}"] = judge.effect(name, ratio, direction=-1)
    worst = in_print["in print on h20, over RTS"]
    said = f"In print, the RMSE of AIS on h20 is {effect_in_words(worst)} times that of RTS."
    words = listed(f"{n} from {BASES[b]}" for b, n in against.items())
    words = f"Of our {len(each(at['zero']))} cases for each base, those contradicted are {words}."
    ours = over(cases, "", "the base and the readings of RTS and SAMS")
    found = together(in_print | {"in our runs": ours}, ours=said)
    return found._replace(note="in the report's own table").said(words=words, models=THEIRS)


def tap_largest(runs: Stored) -> Verdict:
    """Error of TAP3 minus those of AIS and SAMS, and the printed errors."""
    name = "wang-tap-largest-error"

    def larger(model, other):
        x = programs.first_calls(runs.tap, model).to_numpy() - truth(model)
        theirs = programs.mean_error(other)
        theirs = theirs._replace(value=abs(theirs.value))
        gain = ms.difference(programs.mean_of_calls(np.abs(x)), theirs)
        return judge.effect(name, gain, direction=+1, unit="nats")

    others = {f"AIS, {b}": {m: larger(m, equal_steps(runs, m, b)) for m in MODELS} for b in BASES}
    others |= {
        f"SAMS, {r}": {m: larger(m, one(runs.sams, model=m, reading=r)) for m in MODELS}
        for r in common_walks(runs)
    }
    tap, sams = (np.array([abs(printed_error(m, k)) for m in MODELS]) for k in ("TAP (", "SAMS"))
    nearer = f"in print, TAP is nearer to log Z than SAMS on {(tap < sams).sum()} of 4 models"
    in_print = judge.statement(name, judge.compare(tap, ">", sams), reason=nearer)
    parts = {
        "SAMS more accurate in print": in_print._replace(ours=""),
        "by the printed programs": depends("the reading", others),
    }
    errors = [programs.mean(in_table("SAMS", m)).std_error for m in MODELS]
    errors = listed(map(pm, sams, errors))
    said = "The printed errors on h10 to h500, in nats, are "
    said += f"{listed(f'{x:.2f}' for x in tap)} for TAP, and {errors} for SAMS."
    return together(parts, ours=said).said(models=THEIRS)


def rts_worst(runs: Stored) -> Verdict:
    """RMSE of the loop of RTS over that of SAMS after equally many sweeps of one chain."""

    def worse(model, n_sweeps, constant):
        rows = pick(runs.sweeps, model=model, rbm_a="counts + 5", n_sweeps=n_sweeps)
        rows = rows.rename(columns={"n_runs": "n"})
        how = (constant,) * 2 if constant in CONSTANTS else CONSTANTS[::-1]
        pair = zip(("rts printed", "sams printed"), how, strict=True)
        ratio = rmse_over(*(one(rows, estimator=k, constant=c) for k, c in pair))
        return judge.effect("wang-rts-worst", ratio, direction=+1)

    ways = (*CONSTANTS, "RTS dropped, SAMS kept")
    cases = grid(worse, n_sweeps=(10_000, 40_000, 100_000), constant=ways)
    at = {c: [*cases[f"40,000 sweeps, {c}"].values()] for c in ways}
    kept, dropped, _ = (effect_in_words(x[0]) for x in at.values())
    published = span((v.effect for v in at[ways[2]]), "{:.1f}".format)
    said = f"After 40,000 sweeps on h10, the RMSE of RTS is {kept} times that of SAMS if both keep "
    said += f"Z_A^(1-beta), and {dropped} times if both divide it out, as section III.B says. "
    said += "In the author's published programs, RTS divides and SAMS does not, and the factors on "
    said += f"all models are {published}."
    found = over(cases, said, "whether the programs divide by Z_A^(1-beta)")
    return found.said(models=THEIRS)


def speed_order(stored: pd.DataFrame) -> Verdict:
    """The order of the times of one run of each program; for AIS, also per temperature."""
    name = "wang-speed-order"
    spent = {key: x.to_numpy() for key, x in stored.groupby(["units", "program"])["seconds"]}
    units, every = list(stored["units"].unique()), list(stored["program"].unique())
    most = max(units)
    what = "the number of sweeps of SAMS and the tolerance of TAP"
    of_ais = published("report_seconds", method="AIS").set_index("model")
    loops, walks, taps = ([k for k in every if k.startswith(x)] for x in ("RTS", "SAMS", "TAP3"))

    def less(a, b):
        return judge.effect(name, ms.ratio(a, b), direction=-1, alpha=ms.FEW)

    def quicker(a, b):
        return {f"h{n}": less(spent[n, a], spent[n, b]) for n in units}

    def within(limit, x, unit=""):
        return judge.bound(name, x, at_most=limit, unit=unit, alpha=ms.FEW)

    faster = {k: quicker(k, "AIS") for k in walks}
    times = (f"{k}, {n}: {effect_in_words(v)}" for k in walks for n, v in faster[k].items())
    per_step = {n: spent[n, "AIS"] / of_ais["n_temperatures"][f"h{n}"] for n in units}
    grows = {f"h{a} over h{b}": less(per_step[a], per_step[b]) for a, b in pairwise(units)}
    of_500 = {k: within(30, spent[most, k], "s") for k in walks}
    soon = {f"{k}, h{n}": within(1, spent[n, k], "s") for k in taps for n in units}
    quick = {r: {k: quicker(k, r) for k in taps} for r in ("AIS", loops[0], walks[0])}
    parts = {
        "AIS slower with more units, per temperature": together(grows),
        "SAMS within 30 s on h500": together(of_500),
        "SAMS faster than AIS": depends(what, faster)._replace(ours="; ".join(times)),
        "TAP within 1 s": together(soon),
    }
    parts |= {f"TAP faster than {rival}": depends(what, of) for rival, of in quick.items()}
    ratios = listed(f"{span((v.effect for v in x.values()), '{:.2f}'.format)} times as long with "
                    f"{k.partition(', ')[2]}" for k, x in faster.items())  # fmt: skip
    at_500 = listed(f"{v.effect:.2f}" for v in of_500.values())
    said = f"Compared with AIS, SAMS takes {ratios} (h500: {at_500} s)."
    slower = [f"{m} with {k[6:]} ({v.effect:.1f} times as long)" for k, x in
              quick[walks[0]].items() for m, v in x.items() if v.effect > 1]  # fmt: skip
    tap = span((spent[n, k].mean() for n in units for k in taps), "{:.3f}".format)
    words = f"TAP3 ({tap} s a call) is faster than SAMS with 5,000 sweeps"
    words += f", except on {listed(slower)}." if slower else "."
    factors = span((1 / v.effect for v in grows.values()), "{:.1f}".format)
    words += f" From one model to the next, the time of AIS per temperature grows {factors} times."
    return together(parts).said(said, words, THEIRS)
