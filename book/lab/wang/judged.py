"""Verdicts on the claims of the report, over every reading."""

from __future__ import annotations

from itertools import pairwise, product

import numpy as np
import pandas as pd

from rbmbook import judge
from rbmbook import measured as ms
from rbmbook.experiments.wang import CONSTANTS
from rbmbook.page import one, pick, pm, published
from rbmbook.tables import listed, number
from rbmbook.verdicts import Verdict, depends, together

from . import (
    MODELS,
    PRINTED_RUNS,
    over,
    printed,
    printed_correlations,
    printed_error,
    programs,
    truth,
)
from .programs import Stored, converged, rmse_of, rmse_over

THEIRS = "h10, h20, h100 and h500, the report's own models"
THREE = "h10, h20 and h100, the report's own models"
FEW = ("h10", "h20")
BASES = ("base rate", "counts + 5", "own biases", "zero")  # of AIS
RBM_A = ("counts + 5", "own visible", "own both", "zero")  # of SAMS
ROUNDS = (1000, 1500, 2000, 3000, 5000)
A_NAT = {"margin": 1.0, "unit": "nats", "reason": "smaller differences do not matter"}


IN_WORDS = {
    "round_sweeps": "N = {:,}", "threshold": "Tlimit = {:g}", "n_sweeps": "{:,} sweeps",
    "base": "AIS from {}",
}  # fmt: skip


def _named(base: str) -> str:
    return {"base rate": "the base rate", "zero": "zeros"}.get(base, base)


def grid(judged, models=MODELS, **settings) -> dict[str, dict[str, Verdict]]:
    """Verdicts ``judged(model, **setting)`` by name of the setting, then by model."""
    cases = {}
    for values in product(*settings.values()):
        where = dict(zip(settings, values, strict=True))
        said = where | {"base": _named(where["base"])} if "base" in where else where
        words = ", ".join(IN_WORDS.get(key, "{}").format(x) for key, x in said.items())
        cases[words] = {m: judged(m, **where) for m in models}
    return cases


LONG_RUN = {  # limits by quadrature; proposals are as wide as the marginals unless stated
    "drawn again": 0.2606, "counted again": 2 / 7,
    "drawn again, variances as standard deviations": 0.3227,
    "counted again, variances as standard deviations": 0.3468,
}  # fmt: skip


def mh_table(stored: pd.DataFrame) -> Verdict:
    """All printed results of the sampler, by treatment of a rejected proposal.

    ``stored`` has correlations of runs with all points and with a tenth of them.
    """
    name, correlation = "wang-mh-table", 0.5
    ten = {"margin": 1.5, "reason": "ten times the points divide a correct sampler's error by 3.2"}
    by = {key: x.to_numpy() for key, x in stored.groupby(["rule", "points"])["correlation"]}
    ran = list(stored["rule"].unique())

    def parts(how):
        limit = ms.exactly(LONG_RUN[how])
        error = ms.exactly(abs(limit.value - correlation))
        found = {"error at most 0.01": judge.bound(name, error, at_most=0.0101)}
        for line in printed_correlations().itertuples():
            n, variance = int(line.n_runs), line.variance
            text = f"{float(line.mean_correlation_as_printed) / 10:.4f}"
            given = {"printed_variance": float(variance), "printed_n": n, "unit": ""}
            found[f"mean of {n} runs, ours minus printed"] = judge.printed_value(
                name, limit, printed=text, **given
            )
            if how in ran:
                found[f"variance of {n} runs, ours over printed"] = judge.printed_variance(
                    name, by[how, 50_000], printed=variance, printed_n=n
                )
        if how not in ran:
            return found
        few, x = (by[how, n] for n in (5000, 50_000))
        ends = {"at_least": 0.484, "at_most": 0.497}
        found["mean in the printed range"] = judge.bound(name, ms.mean_of(x), **ends)
        gain = ms.rmse_ratio(few - correlation, of=x - correlation)
        return found | {"no closer with more points": judge.equivalence(name, gain, **ten)}

    what = "what follows a rejected proposal and how wide the proposals are"
    found = depends(what, {how: parts(how) for how in LONG_RUN})
    said = listed(f"{pm(ms.mean_of(by[how, 50_000]))} ({how})" for how in ran)
    wrong = "In every reading, the correlation is at least 0.15 below the true 0.5."
    models = "none (a Gaussian in two dimensions)"
    return found.said(f"The mean correlation is {said}.", wrong, models)


def rows(
    method: str, readings: pd.DataFrame, words: dict[str, str], price: str = ""
) -> list[Verdict]:
    """A verdict on each row of a printed table; ``price`` is what would decide an open one."""

    def judged(model):
        name = f"wang-{method.lower()}-{model}"
        found = programs.over_readings(name, method, pick(readings, model=model))
        return found.priced(price) if price else found

    return _by_model(judged, words)


def tap_rows(runs: Stored, words: dict[str, str]) -> list[Verdict]:
    return _by_model(lambda m: programs.row_judged(f"wang-tap-{m}", runs.tap, m), words)


def _by_model(judged, words: dict[str, str]) -> list[Verdict]:
    return [judged(m).said(words=words.get(m, ""), models=f"{m}, the report's own") for m in MODELS]


def ais_finer(runs: Stored) -> Verdict:
    """RMSE of single chains with 6 or 10 times as many temperatures over that with 10,000."""

    def finer(model, base):
        row = one(runs.coarse, model=model, base=base)
        few = {"model": model, "n": row["n_chains"], "log_z": row["mean_log_z"]}
        few["variance"] = row["n_chains"] * row["mean_std_error"] ** 2
        gain = rmse_over(equal_steps(runs, model, base), few)
        return judge.effect("wang-ais-finer", gain, direction=-1)

    def off(base):
        few = one(runs.coarse, model="h500", base=base)["mean_log_z"] - truth("h500")
        many = equal_steps(runs, "h500", base)["log_z"] - truth("h500")
        return f"{few:+.2f} and {many:+.2f} nats from {_named(base)}".replace("-", "−")

    both = ("base rate", "own biases")
    found = depends("the base", grid(finer, base=both))
    said = "With 10,000 and 60,000 temperatures, the mean errors on h500 are "
    said += f"{', and '.join(map(off, both))}."
    why = "With six or ten times as many temperatures, the error is smaller on every model."
    return found.said(said, why, THEIRS)


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
    parts = {
        "a constant error": {
            r: {f"{m}, {programs.ORDERS[k]}": constant(m, k, s) for m, k in both}
            for r, s in starts.items()
        },
        "falls with the order": {r: {m: falls(m, s) for m in MODELS} for r, s in starts.items()},
    }
    three, two = (printed(k)["variance"].astype(float)[list(MODELS)] for k in ("TAP3", "TAP2"))
    rises = [m for m in MODELS if three[m] > two[m]]
    why = f"the printed variance of TAP3 is larger than that of TAP2 on {listed(rises)}"
    in_print = judge.statement(name, judge.compare(three, "<", two), reason=why)
    what = "where a call starts and when it stops"
    found = {part: depends(what, cases) for part, cases in parts.items()}
    found["falls in the printed table"] = in_print._replace(ours="")
    said = f"On h10 to h500, the printed variances are {listed(map(number, two))} nats² for TAP2 "
    said += f"and {listed(map(number, three))} nats² for TAP3."
    words = "In our calls, the error is surely not constant only on h20 from solved fixed points. "
    words += "On h10, most cases are open."
    return together(found).said(said, words, THEIRS)


def tap_quick(runs: Stored, within: int = 50) -> Verdict:
    """Figure 4: do half of the calls of TAP3 settle within 50 updates? By model and tolerance."""

    def quick(model, tolerance):
        found = programs.calls(runs.tap, model, 3, **programs.FIRST | {"tolerance": tolerance})
        settled = (found["ended"] == programs.STOPPED) & (found["n_done"] <= within)
        return judge.bound("wang-tap-fig4", ms.share_of(settled.to_numpy()), at_least=0.5)

    every = product(MODELS, (0.001, 0.1, 2.0))
    cases = {f"{m}, tolerance {t:g}": quick(m, t) for m, t in every}
    soon = [case for case, v in cases.items() if v.outcome == judge.REPRODUCED]
    such = f"{len(soon)} of {len(cases)} cases"
    said = f"In {such}, at least half of the calls stop at the tolerance within 50 updates."
    words = f"These cases are {'; '.join(soon)}. All calls on h500 and most on h10 break off at an "
    words += "entropy of 0 log 0. Figure 4 continues such calls."
    return depends("the model and the tolerance", cases).said(said, words, THEIRS)


def rts_base(runs: Stored) -> Verdict:
    """Shares of runs that converge (see `converged`) from zeros and from counts + 5."""
    name, what = "wang-rts-base", "N and Tlimit"
    where = {"round_sweeps": (1000, 3000), "threshold": (0.05, 0.01), "constant": CONSTANTS}

    def near(model, base, **where):
        return converged(runs, model=model, rbm_a=base, **where)[1]

    def fails(model, **where):
        return judge.bound(name, ms.share_of(near(model, "zero", **where)), at_most=0.5)

    def better(model, **where):
        gain = (ms.share_of(near(model, base, **where)) for base in ("counts + 5", "zero"))
        return judge.effect(name, ms.difference(*gain), direction=+1)

    def span(base):
        every = [near("h10", base, **dict(zip(where, x, strict=True))).mean()
                 for x in product(*where.values())]  # fmt: skip
        low, high = (f"{end:.0%}" for end in (min(every), max(every)))
        return f"{high if low == high else f'{low} to {high}'} from {_named(base)}"

    parts = {
        "zeros do not converge": depends(what, grid(fails, (*FEW, "h100"), **where)),
        "counts + 5 converge better": depends(what, grid(better, ["h10"], **where)),
    }
    both = f"{span('zero')} and {span('counts + 5')}"
    said = f"The share of runs that converge on h10 is {both}, depending on N and Tlimit."
    why = "From zeros, no run that stops ends near log Z."
    return together(parts, ours=said).said(words=why, models=THREE)


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
        sizes.append([rmse_of(row) for row in pair])
        return judge.effect(name, rmse_over(*pair), direction=-1)

    sizes: list[list[float]] = []  # with the division and without
    sooner = {m: sweeps_to_stop(runs, m) for m in FEW}
    of_sams = grid(divided, rbm_a=RBM_A) | grid(without, what=["the energy taken out"])
    of_rts = {m: judge.effect(name, x, **fifth) for m, x in sooner.items()}
    parts = {
        "RTS, sweeps until it stops": together(of_rts),
        "SAMS, error": depends("the base", of_sams),
    }
    said = listed(f"{np.exp(x.value):.2f} ({m})" for m, x in sooner.items())
    with_it, without_it = (f"{min(x):.1f} to {max(x):.1f} nats" for x in zip(*sizes, strict=True))
    why = f"The RMSE of SAMS after 7,000 sweeps is {with_it} with the division (by Z_A or by the "
    why += f"energy of RBM A) and {without_it} without."
    ours = f"With the division, RTS makes {said} times as many sweeps before it stops as without."
    found = together(parts, ours=ours)
    return found.said(words=why, models=THEIRS)


def rts_threshold(runs: Stored) -> Verdict:
    """RMSE at Tlimit 0.05 over that at 0.01, and shares of loops from zeros that stop."""
    name = "wang-rts-threshold"

    def right(model, **where):
        where |= {"model": model, "n_temperatures": 99}
        pair = (one(runs.rts, threshold=t, **where) for t in (0.05, 0.01))
        return judge.effect(name, rmse_over(*pair), direction=+1)

    def goes_on(model, **where):
        stops = converged(runs, model=model, rbm_a="zero", threshold=0.01, **where)[0]
        return judge.bound(name, ms.share_of(stops), at_most=0.5)

    def every(judged, models, lengths):
        cases = grid(judged, models, round_sweeps=lengths, constant=CONSTANTS)
        return depends("N and the constant", cases)

    def span(t):
        of_h10 = pick(runs.rts, model="h10", n_temperatures=99, threshold=t).to_dict("records")
        sizes = [rmse_of(row) for row in of_h10]
        return f"{min(sizes):.2f} to {max(sizes):.2f}"

    parts = {
        "Tlimit decides the error": every(right, FEW, ROUNDS),
        "from zeros the loop goes on": every(goes_on, (*FEW, "h100"), (1000, 3000)),
    }
    said = f"The RMSE on h10 is {span(0.05)} nats at Tlimit = 0.05 and {span(0.01)} nats at 0.01."
    why = "The smaller Tlimit gives the right value. From zeros, hardly any loop ends."
    return together(parts, ours=said).said(words=why, models=THREE)


def rts_units(runs: Stored) -> Verdict:
    """Shares of runs that stop at one setting, with few and with many hidden units."""

    def fewer(pair, **where):
        where |= {"rbm_a": "counts + 5", "threshold": 0.05}
        stops = (ms.share_of(converged(runs, model=m, **where)[0]) for m in pair.split(" minus "))
        return judge.effect("wang-rts-units", ms.difference(*stops), direction=+1)

    pairs = ("h10 minus h100", "h10 minus h500", "h20 minus h500")
    cases = grid(fewer, pairs, round_sweeps=ROUNDS, constant=CONSTANTS)
    count = {m: pick(runs.rts, model=m, threshold=0.05, n_temperatures=99) for m in MODELS}
    said = listed(f"{x['n'].sum()} of {x['tried'].sum()} runs on {m}" for m, x in count.items())
    found = depends("N and the constant", cases)
    said = f"At Tlimit = 0.05, the loop stops in {said}."
    near = [converged(runs, model=m, rbm_a="counts + 5", threshold=0.01)[1] for m in FEW]
    near = listed(f"{x.sum()} of {len(x)} runs on {m}" for m, x in zip(FEW, near, strict=True))
    words = (
        f"At 0.01, {near} stop and end within {programs.CLOSE:g} nats of log Z. On h100 and h500, "
    )
    words += "loops stop only at larger thresholds, and not near log Z."
    return found.said(said, words, THEIRS)


def rts_accuracy(runs: Stored) -> Verdict:
    """RMSE of the stopped runs of RTS over that of AIS, by reading and base."""
    alike = {"margin": 1.5, "reason": "2.25 times as many sweeps reduce an error by this factor"}

    def as_accurate(model, reading, base):
        of_rts = one(runs.rts, model=model, reading=reading)
        ratio = rmse_over(of_rts, equal_steps(runs, model, base))
        return judge.equivalence("wang-rts-accuracy", ratio, **alike)

    def errors(model):
        of_ais = (f"{rmse_of(equal_steps(runs, model, b)):.2f} from {_named(b)}" for b in BASES)
        of_rts = rmse_of(programs.fitting(runs.rts, model))
        ais = listed(of_ais)
        of_rts = f"{of_rts:.2f} nats (N = 2,000, Tlimit 0.02)"
        return f"On {model}, the RMSE of RTS is {of_rts}, and that of AIS is {ais}."

    kept = runs.rts.query(f"n_temperatures == 99 and constant == 'kept' and n >= {programs.FEWEST}")
    both = kept.groupby("reading", sort=False)["model"].agg(set)
    readings = both.index[both.map(set(FEW).issubset)]
    cases = grid(as_accurate, FEW, reading=readings, base=BASES)
    said = " ".join(map(errors, FEW))
    found = over(cases, said, "N, Tlimit and the base of AIS")
    why = "At Tlimit = 0.01, some readings of RTS are as accurate as AIS from the base rate on h10."
    return found.said(words=why, models="h10 and h20, the report's own models")


def sams_local(runs: Stored) -> Verdict:
    """RMSE with local over that with global jumps after 30,000 sweeps, if one is near log Z."""

    def pair(base, model, n_sweeps=30_000):
        where = {"model": model, "rbm_a": base, "n_sweeps": n_sweeps, "schedule": "linear",
                 "n_temperatures": 99, "constant": "kept"}  # fmt: skip
        return [one(runs.sams, jump=j, **where) for j in ("local", "global")]

    def slower(base, model):
        ratio, least = rmse_over(*pair(base, model)), "the effect of a fifth more sweeps"
        return judge.effect("wang-sams-local", ratio, direction=+1, matters=1.1, reason=least)

    near = lambda b, m: min(map(rmse_of, pair(b, m))) < programs.CLOSE  # noqa: E731
    models = (*FEW, "h100")
    where = {b: [m for m in models if near(b, m)] for b in RBM_A}
    far = ((b, m) for b, m in product(RBM_A, models) if m not in where[b])
    other = [float(np.exp(rmse_over(*pair(*x)).value)) for x in far]
    cases = {b: {m: slower(b, m) for m in found} for b, found in where.items() if found}
    local, jumps = map(rmse_of, pair("counts + 5", "h10"))
    from_zeros = (rmse_over(*pair("zero", m, 200_000)) for m in models)
    times = listed(f"{np.exp(x.value):.2f} ({m})" for x, m in zip(from_zeros, models, strict=True))
    said = "After 30,000 sweeps from counts + 5, the RMSE on h10 is "
    said += f"{local:.1f} nats with local jumps and {jumps:.2f} nats with global jumps."
    why = f"We judge a pair of runs if one of them ends within {programs.CLOSE:g} nats of log Z. "
    why += f"On the other {len(other)} pairs, the RMSE with local jumps is {min(other):.2f} to "
    why += f"{max(other):.2f} times that with global jumps. From zeros, which are all among these, "
    why += f"the factor after 200,000 sweeps is {times}."
    return depends("the base", cases).said(said, why, THREE)


def common_walks(runs: Stored) -> list[str]:
    """Readings of SAMS with global jumps that were run on every model."""
    n = pick(runs.sams, jump="global", constant="kept").groupby("reading")["model"].nunique()
    return list(n.index[n == len(MODELS)])


def sams_units(runs: Stored) -> Verdict:
    """Printed distance from AIS, and error and variance on h500 over those on h10."""
    name = "wang-sams-units"

    def mean(method, model):
        x = printed(method).loc[model, ["logz", "variance"]].astype(float)
        return ms.measured(x["logz"], np.sqrt(x["variance"] / PRINTED_RUNS), PRINTED_RUNS - 1)

    def grow(reading):
        few, many = (one(runs.sams, model=m, reading=reading) for m in ("h10", "h500"))
        size = np.sqrt(2 / (few["n"] - 1) + 2 / (many["n"] - 1))
        freedom = min(few["n"], many["n"]) - 1
        variance = ms.measured(many["variance"] / few["variance"], size, freedom, "log")
        ratios = {"error": rmse_over(many, few), "variance": variance}
        return {which: judge.effect(name, r, direction=+1) for which, r in ratios.items()}

    apart = {m: ms.difference(mean("SAMS", m), mean("AIS", m)) for m in MODELS}
    grown = {r: grow(r) for r in common_walks(runs)}
    near = {m: judge.equivalence(name, x, **A_NAT) for m, x in apart.items()}
    parts = {
        "near AIS, as printed": together(near),
        "growth of error and variance": depends("the reading", grown),
    }
    differences = listed(f"{x.value:+.1f}" for x in apart.values()).replace("-", "−")
    said = f"On h10 to h500, the printed log Z of SAMS minus that of AIS is {differences} nats."
    why = "On three of four models, the two methods are 8 to 52 nats apart."
    return together(parts, ours=said).said(words=why, models=THEIRS)


def most_accurate(runs: Stored) -> Verdict:
    """Is AIS good with one chain, and more accurate than RTS and SAMS? By base and reading."""
    name, cases = "wang-ais-most-accurate", {}
    loops = runs.rts.query(f"n_temperatures == 99 and n >= {programs.FEWEST}")
    walks = pick(runs.sams, jump="global", constant="kept")
    for method, rivals in (("RTS", loops), ("SAMS", walks)):
        for row, base in product(rivals.to_dict("records"), BASES):
            ours, model = equal_steps(runs, row["model"], base), row["model"]
            good = judge.equivalence(name, programs.mean_error(ours), **A_NAT)
            better = judge.effect(name, rmse_over(ours, row), direction=-1)
            case = f"AIS from {_named(base)} against {method}, {row['reading']}"
            found = together({"mean error": good, f"RMSE over that of {method}": better})
            cases.setdefault(case, {})[model] = found
    off = {b: [equal_steps(runs, m, b)["log_z"] - truth(m) for m in MODELS] for b in BASES}
    errors = {b: listed(f"{x:+.2f}" for x in e) for b, e in off.items()}
    said = "; ".join(f"{text} from {_named(b)}" for b, text in errors.items())
    said = f"The mean errors of AIS on h10 to h500, in nats, are {said}.".replace("-", "−")
    at = {b: [v.outcome for x, of in cases.items() if f"from {_named(b)} " in x
              for v in of.values()] for b in BASES}  # fmt: skip
    against = listed(f"{x.count(judge.CONTRADICTED)} of {len(x)} from {_named(b)}"
                     for b, x in at.items())  # fmt: skip
    why = f"The cases that contradict the claim are {against}. In the printed table, RTS is nearer "
    why += "to log Z on h10 and h20, and TAP on h20, but within three standard errors."
    found = over(cases, said, "the base and the readings of RTS and SAMS")
    return found.said("", why, THEIRS)


def printed_errors() -> dict[str, np.ndarray]:
    """Distances of the printed values from log Z, by method."""
    return {
        k: np.array([abs(printed_error(m, k)) for m in MODELS])
        for k in ("AIS", "RTS", "SAMS", "TAP (")
    }


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
    by = {k: listed(f"{x:.2f}" for x in printed_errors()[k]) for k in ("TAP (", "SAMS")}
    said = "The printed errors on h10 to h500, in nats, are "
    said += f"{by['TAP (']} for TAP, and {by['SAMS']} for SAMS."
    off = printed_errors()
    tap, theirs = off.pop("TAP ("), np.array([*off.values()])
    larger_in_print = judge.compare(np.broadcast_to(tap, theirs.shape), ">", theirs)
    why = "the printed value of TAP is nearer to log Z than that of SAMS on three of four models"
    parts = {"in the printed table": judge.statement(name, larger_in_print, reason=why)}
    parts["by the printed programs"] = depends("the reading", others)
    return together(parts, ours=said).said(models=THEIRS)


def rts_worst(runs: Stored) -> Verdict:
    """RMSE of the loop of RTS over that of SAMS after equally many sweeps of one chain."""

    def pair(model, **where):
        rows = pick(runs.sweeps, model=model, rbm_a="counts + 5", **where)
        rows = rows.rename(columns={"n_runs": "n"})
        return [one(rows, estimator=f"{k} printed") for k in ("rts", "sams")]

    def worse(model, **where):
        return judge.effect("wang-rts-worst", rmse_over(*pair(model, **where)), direction=+1)

    cases = grid(worse, n_sweeps=(10_000, 40_000, 100_000), constant=CONSTANTS)
    at = {m: map(rmse_of, pair(m, n_sweeps=40_000, constant="kept")) for m in MODELS}
    said = "; ".join(f"{a:.1f} and {b:.1f} nats on {m}" for m, (a, b) in at.items())
    said = f"After 40,000 sweeps with the constant kept, the RMSEs of RTS and SAMS are {said}."
    why = "With the constant dropped, SAMS is worse than RTS on h10 and h20. We compare only these "
    why += "two methods, because AIS and TAP do not update guesses of log Z."
    found = depends("the number of sweeps and the constant", cases)
    return found.said(said, why, THEIRS)


def speed_order(stored: pd.DataFrame) -> Verdict:
    """The order of the times of one run of each program; for AIS, also per temperature."""
    name = "wang-speed-order"
    spent = {key: x.to_numpy() for key, x in stored.groupby(["units", "program"])["seconds"]}
    units, every = list(stored["units"].unique()), list(stored["program"].unique())
    sweeps = "the number of sweeps of SAMS"
    of_ais = published("report_seconds", method="AIS").set_index("model")
    share = 30 / float(of_ais["seconds"]["h500"])  # of the printed time of AIS on h500
    loops, walks = ([k for k in every if k.startswith(x)] for x in ("RTS", "SAMS"))

    def less(a, b):
        return judge.effect(name, ms.ratio(a, b), direction=-1, alpha=ms.FEW)

    def quicker(a, b):
        return {f"{n} units": less(spent[n, a], spent[n, b]) for n in units}

    def by_temperature(n):
        return spent[n, "AIS"] / of_ais["n_temperatures"][f"h{n}"]

    def within(seconds, n, program):
        return judge.bound(name, spent[n, program], at_most=seconds, unit="s", alpha=ms.FEW)

    def short(program):
        ratio = ms.ratio(spent[max(units), program], spent[max(units), "AIS"])
        return judge.bound(name, ratio, at_most=share, alpha=ms.FEW)

    def span(*programs):
        low, *_, high = sorted(spent[n, k].mean() for n, k in product(units, programs))
        return f"{number(low, 1)} to {number(high)} s"

    faster = {k: quicker(k, "AIS") for k in walks}
    times = (f"{k}, {n}: {v.effect:.2f} times" for k in walks for n, v in faster[k].items())
    grows = {f"{a} to {b} units": less(*map(by_temperature, (a, b))) for a, b in pairwise(units)}
    parts = {
        "AIS slower with more units, per temperature": together(grows),
        "SAMS faster than AIS": depends(sweeps, faster)._replace(ours="; ".join(times)),
        "SAMS within 30/264 of AIS on h500": depends(sweeps, {k: short(k) for k in walks}),
        "TAP within 1 s": together({f"{n} units": within(1, n, "TAP3") for n in units}),
    }
    for rival in ("AIS", loops[0], walks[0]):
        parts[f"TAP faster than {rival}"] = together(quicker("TAP3", rival))
    n_sweeps = int(walks[-1].split()[1].replace(",", ""))
    slope = spent[max(units), walks[-1]].mean() / spent[max(units), "AIS"].mean() / n_sweeps
    said = f"The processor time of a run is {span('TAP3')} for TAP3, {span('AIS')} for AIS, "
    said += f"{span(*loops)} for RTS and {span(*walks)} for SAMS."
    why = "TAP is the fastest if SAMS makes 5,000 sweeps or more. One temperature of AIS takes "
    why += "longer with more units. Whether SAMS "
    why += "is faster than AIS depends on the number of its sweeps, which the report does not "
    why += "print. Relative to AIS, the printed times on h500 (30 s and 264 s) allow "
    why += f"{share / slope:,.0f} of our sweeps."
    models = "pcd_10, pcd_20, spectral_100 and pcd_500, as large as the report's models"
    return together(parts).said(said, why, models)
