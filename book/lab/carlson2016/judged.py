"""The verdicts on Carlson et al. (2016), one function a claim or two; data in, verdict out.

Margins are stated here, with their reasons. Each claim is judged over every reading of what the
paper leaves open; a reading that was not run leaves it open, with the price of the runs.
"""

from __future__ import annotations

import math
from functools import partial
from itertools import product

import numpy as np
import pandas as pd

from .. import judge
from .. import measured as ms
from ..errors import rmse
from ..judge import FEW, bound, compare, depends, effect, equivalence, statement, together
from ..measured import Measured
from ..page import log_variance, pick
from ..verdicts import REPRODUCED, Verdict
from . import small as sm
from .runs import (
    DRAWN,
    FEWEST,
    PILOT,
    PUBLIC,
    READINGS,
    errors_of,
    growth,
    not_run,
    priced,
    ratio_of,
    size_of_bias,
)

TWOFOLD = (2, math.inf)
START = "how the start is read: what beta is drawn given, and the sweeps of a round that are used"
QUARTER = {"margin": 1.25, "reason": "a quarter more error costs half more samples"}
A_THIRD = {"margin": 1.3, "reason": "a third more error is two thirds more sweeps"}
TENTH = {"at_least": 1 / 1.1}  # no gain: less than a tenth
RIVALS = {PUBLIC: ("AIS", "RAISE")} | dict.fromkeys(
    ("h100", "spectral_100"), ("AIS", "reverse AIS")
)


def rao_blackwell(small, many, first: pd.DataFrame) -> Verdict:
    """``many``: chains with the guesses of ``small``; ``first``: stored rounds of Figure 1."""
    name, q = "carlson-rao-blackwell", small.shares(small.guesses)
    sums = (x[1:, :, 0].sum(axis=0) for x in (many.mixed, many.visited))
    c, n = (x / x.sum(axis=-1, keepdims=True) for x in sums)
    close = {"margin": 0.02, "reason": "a fiftieth of q is a fiftieth of a nat in log Z"}
    cases = {
        f"mean of c over q, less 1, {end}": equivalence(name, c[:, k] / q[k] - 1, **close)
        for end, k in {"β = 0": 0, "β = 1": -1}.items()
    }
    groups = [x.reshape(-1, sm.GROUP, q.size).mean(axis=1)[:, -1] - q[-1] for x in (c, n)]
    cases["spread of c over that of counts, 30 × 12"] = effect(
        name, ms.rmse_ratio(*groups), direction=-1
    )
    for (model, begun), g in first.groupby(["model", "begun"]):
        ratio = ms.ratio(g["counted"], g["roughness_8"], paired=True)
        label = f"roughness of counts over that of c, {model}, given {begun}"
        cases[label] = effect(name, ratio, direction=+1, size=TWOFOLD)
    found = together(cases)
    noise, (spread,) = _effects(found, "roughness"), _effects(found, "spread")
    ours = f"log ĉ of counts is {_range(noise, '.0f')} times as rough in the first rounds"
    words = f"at equilibrium c_K varies {spread:.2f} times as much as counts do, and is unbiased"
    return found.said(ours, words, "30 × 12 units; h10, pcd_10")


def _range(values, form: str = ".2f") -> str:
    """The least and the largest of numbers, as text."""
    low, high = (format(x, form).replace("-", "−") for x in (min(values), max(values)))
    return low if low == high else f"{low} to {high}"


def _factors(ratios, form: str = ".2f") -> str:
    """`_range` of ratios on the scale "log"."""
    return _range([math.exp(r.value) for r in ratios], form)


def _times(ratio: Measured, form: str = ".2f") -> str:
    """A ratio on the scale "log", as text."""
    return format(math.exp(ratio.value), form)


def _effects(verdict: Verdict, words: str) -> list[float]:
    """Values of the parts whose name has these words, as the judge wrote them."""
    found = [part[1] for part in verdict.parts if words in part[0]]
    return [float(x.split(" ")[0].replace(",", "").replace("−", "-")) for x in found if x]


def same_estimator(routes: dict[str, float], derivative: float) -> Verdict:
    apart = max(routes.values()) - min(routes.values())
    holds = compare(apart, "<", 1e-6) & compare(derivative, "<", 1e-9)
    ours = f"log Z by the three routes within {1e-6:g} nats of each other"
    reason = "the likelihoods have their maximum where eq. (12) is"
    found = statement("carlson-same-estimator", holds, ours=ours, reason=reason)
    return found.said(models="30 × 12 units")


def counts_unstable(first: pd.DataFrame, curves) -> Verdict:
    name = "carlson-counts-unstable"
    cases = {
        f"share of empty bins, {model}, given {begun}": effect(name, g["empty"], direction=+1)
        for (model, begun), g in first.groupby(["model", "begun"])
    }
    for model, times in _last_over_100(curves, "ts").items():
        label = f"RMSE of TS, 3,001 temperatures over 100, {model}"
        cases[label] = effect(name, ratio_of(times, 1), direction=+1, size=TWOFOLD)
    found = together(cases)
    empty, grown = _effects(found, "empty"), _effects(found, "RMSE of TS")
    ours = f"{_range(np.multiply(100, empty), '.0f')}% of the bins are empty after eight rounds"
    words = f"the error of TS with 3,001 temperatures is {_range(grown, '.1f')} times that with 100"
    return found.said(ours, words, f"h10, pcd_10; {', '.join(curves)}")


def start_rounds(first: pd.DataFrame, frame: pd.DataFrame) -> Verdict:
    """10 units: max |r − c| K ≤ 0.5 after eight rounds; larger ones: 10 nats after 1,000 sweeps."""
    name, cases = "carlson-start-rounds", {}
    for reading in READINGS:
        own = {}
        for model, g in first[first["begun"] == reading].groupby("model"):
            own[model] = bound(name, g["distance_8"], at_most=0.5, unit="/K")
        for model in ("h100", "spectral_100", "cd25_500", PUBLIC):
            e = errors_of(frame, model=model, method="RTS", begun=reading, steps=1000)
            if len(e) >= FEWEST:
                own[model] = bound(name, np.abs(e), at_most=10, unit="nats")
        cases[reading] = own or {PUBLIC: not_run(name, "rts_public")}
    far = first[first["model"] == "h10"].groupby("begun")["distance_8"].mean()
    ours = f"max |r − c| K after eight rounds on h10: {_range(far)}, by the reading"
    words = "near in one reading (v alone, 10 left out); ten rounds leave larger models 8 to 560 "
    words += "nats off in the others"
    return depends(START, cases).said(ours, words, "h10, pcd_10; h100, spectral_100, cd25_500")


def simple_updates(ways: pd.DataFrame, counted: sm.Counted) -> Verdict:
    """``ways``: the sweep rts_ways. "As effective": no more than 1.5 times the error."""
    name, ratios = "carlson-simple-updates", _of_ways(ways, "likelihood", "log_z")
    cases: dict = {}
    for (begun, model), ratio in ratios.items():
        cases.setdefault(begun, {})[model] = bound(name, ratio, at_least=1 / 1.5)
    work = bound(name, ms.exactly(counted.over_updates), at_least=1, unit="times the operations")
    error = "error by the likelihood over that by the updates"
    errs = _factors(ratios.values())
    found = together({error: depends(START, cases), "one gradient over ten updates": work}).said(
        f"the likelihood of all rounds errs {errs} times as much as the updates",
        f"one gradient of it takes {counted.over_updates:.0f} times the operations of ten updates",
        "h10, pcd_10, 60 starts a reading",
    )
    return priced(found, 0.5, "rts_ways with 200 more seeds")


def _of_ways(ways: pd.DataFrame, of: str, to: str) -> dict[tuple, Measured]:
    """Error by one way of ten rounds over that by another, by reading and model."""
    return {
        key: ms.rmse_ratio(*((g[x] - g["exact"]).to_numpy() for x in (of, to)))
        for key, g in ways.groupby(["begun", "model"])
    }


def fresh_beta(ways: pd.DataFrame) -> Verdict:
    """Each other way must err more than the last x with fresh beta."""
    name, cases = "carlson-fresh-beta", {}
    others = {"betas kept": "same_betas", "new x": "from_base"}
    ratios = {words: _of_ways(ways, way, "log_z") for words, way in others.items()}
    for begun, model in ratios["new x"]:
        judged = {w: effect(name, r[begun, model], direction=+1) for w, r in ratios.items()}
        cases.setdefault(begun, {})[model] = together(judged)
    kept = {
        used: _of_ways(of, "same_betas", "log_z").values()
        for used, of in ways.groupby(ways["round_burn_in"] > 0)
    }
    ours = f"with beta kept the error is {_factors(kept[False])} times as large if all sweeps are "
    ours += f"used, {_factors(kept[True])} times if ten are left out"
    found = depends(START, cases).said(ours, models="h10, pcd_10, 60 starts a reading")
    return priced(found, 0.5, "rts_ways with 200 more seeds")


def bias_and_variance(small, many, biased: dict[float, sm.Biased]) -> Verdict:
    """``biased``: runs of four chains by the tilt of the guesses, −2 or +2 nats."""
    name, cases = "carlson-eq15-eq16", {}
    for tilt, end in ((-2.0, "β = 0"), (2.0, "β = 1")):
        found = biased[tilt]
        less = ms.difference(found.less_linear, ms.exactly(found.predicted))
        margin = {"margin": abs(found.predicted) / 2, "unit": "nats"}
        margin["reason"] = "half of the bias; terms of third order are left out"
        cases[f"bias less eq. (15), {end} seldom visited"] = equivalence(name, less, **margin)
        sign = {"direction": 1 if tilt < 0 else -1, "unit": "nats"}
        cases[f"bias, {end} seldom visited"] = effect(name, found.less_linear, **sign)
    c = many.occupation().mean(axis=0).reshape(-1, sm.GROUP, small.betas.size)
    log_z = np.log(c.mean(axis=1)[:, -1] / c.mean(axis=1)[:, 0])
    predicted = np.array([sm.relative_ends(g).var(ddof=1) / sm.GROUP for g in c])
    spread = ms.ratio(np.square(log_z - log_z.mean()), predicted)
    half = {"margin": 1.3, "reason": "an error bar off by a seventh does not matter"}
    cases["variance over eq. (16)"] = equivalence(name, spread, **half)
    biases = [ms.mean_of(found.less_linear).value for found in biased.values()]
    ours = f"bias {_range(biases, '+.3f')} nats; eq. (15) says "
    ours += _range([found.predicted for found in biased.values()], "+.3f")
    words = f"variance over that of eq. (16): {math.exp(spread.value):.2f}"
    return together(cases).said(ours, words, "30 × 12 units")


def update_dominates(looped: dict, near: tuple[float, float]) -> Verdict:
    """``looped[case]``: errors by (19) and by (12) after equal rounds; ``near``: differences of the
    two updates at a distance and at half of it, which falls fourfold where first orders agree."""
    name = "carlson-update-dominates"
    ratios = {used: ms.rmse_ratio(*errors, paired=False) for used, errors in looped.items()}
    cases = {u: effect(name, r, direction=+1, size=TWOFOLD) for u, r in ratios.items()}
    fourfold = near[0] / near[1]
    holds = compare(fourfold, ">", 3.9) & compare(fourfold, "<", 4.1)
    said = f"half the distance leaves 1/{fourfold:.2f} of the difference"
    same = statement(name, holds, ours=said, reason="the updates agree to first order")
    found = together({"far from the truth": depends(START, cases), "near the truth": same})
    ours = f"error by (19) over that by (12): {_factors(ratios.values())}"
    words = "twofold at least if ten sweeps of a round are left out; alike if all are used"
    return found.said(ours, words, "pcd_10, ten rounds from equal guesses")


def sandwich(frame: pd.DataFrame) -> Verdict:
    """Mean errors over annealings with 100, 300 and 1,000 temperatures, one number a seed."""
    cases, means = {}, {}
    public = frame[(frame["model"] == PUBLIC) & frame["steps"].isin((100, 300, 1000))]
    for sign, which in ((-1, {"method": "AIS"}), (+1, {"method": "RAISE", "n_images": 100})):
        own, method = pick(public, **which), which["method"]
        by_seed = own.pivot_table("error", "seed", "steps").dropna().mean(axis=1).to_numpy()
        judged = effect("carlson-sandwich", by_seed, direction=sign, unit="nats")
        cases[f"mean error of {method}"] = judged
        means[method] = own.groupby("steps")["error"].mean()
    ours = "; ".join(f"{m}: {_range(x, '+.2f')} nats" for m, x in means.items())
    return together(cases).said(ours, "AIS below, RAISE above", f"{PUBLIC}, 100 to 1,000")


def truth_variance(frame: pd.DataFrame) -> Verdict:
    """As a variance or a deviation, within a factor of two; of RTS, of AIS, of their average."""
    name, cases = "carlson-truth-variance", {}
    at = {"model": PUBLIC, "steps": 10_000}
    found = {"RTS": errors_of(frame, method="RTS", begun=PILOT, **at)}
    found["AIS"] = errors_of(frame, method="AIS", **at)
    if (n := min(map(len, found.values()))) >= 20:
        found["their average"] = (found["RTS"][:n] + found["AIS"][:n]) / 2
    for meant, power in (("the variance", 1), ("the deviation", 2)):
        ends = {"at_least": (0.006 / 2) ** power, "at_most": (0.006 * 2) ** power}
        for method, e in found.items():
            cases[f"0.006 is {meant} of {method}"] = (
                bound(name, log_variance(e), **ends, unit="is the variance")
                if len(e) >= 20
                else not_run(name, "rts_public")
            )
    own = frame[(frame["model"] == "cd25_500") & (frame["steps"] == 10_000)]
    rts, ais = (own[x]["log_z"].var() for x in (own["begun"] == PILOT, own["method"] == "AIS"))
    said = [f"variance of {m} {e.var(ddof=1):.4f}" for m, e in found.items() if len(e) > 4]
    said.append(f"on our training by the same recipe {rts:.4f} (RTS) and {ais:.4f} (AIS)")
    verdict = depends("what 0.006 is, and of which estimate", cases).said("; ".join(said))
    return priced(verdict, 2, "rts_public")


def of_start(name: str, frame, models, judged, sweep: str, hours: float) -> Verdict:
    """Over every reading of the start: ``judged(model, reading)``."""

    def of(model, reading):
        enough = len(_rts(frame, model, reading, 1000)) >= FEWEST
        return judged(model, reading) if enough else not_run(name, sweep)

    cases = {reading: {m: of(m, reading) for m in models} for reading in (*READINGS, PILOT)}
    found = depends("the start of RTS", cases)
    words = "; ".join(f"{case}: {text}" for case, text, *_ in found.parts if PILOT in case and text)
    return priced(found.said(_beside(frame, models), words, ", ".join(models)), hours, sweep)


def _beside(frame, models) -> str:
    """RMSE of RTS from a pilot with 1,000 sweeps, and of AIS with 1,000 and 10,000."""
    runs = [{"begun": PILOT, "steps": 1000}]
    runs += [{"method": "AIS", "steps": k} for k in (1000, 10_000)]
    said = []
    for model in models:
        own = [errors_of(frame, model=model, **which) for which in runs]
        rms = [f"{rmse(e):.2f} ({len(e)} runs)" if len(e) else "–" for e in own]
        said.append(f"{model}: RMSE of RTS from a pilot {rms[0]}, of AIS {rms[1]}, and with 10,000 "
                    f"temperatures {rms[2]}")  # fmt: skip
    return "; ".join(said)


def _rts(frame, model, reading, steps) -> np.ndarray:
    return errors_of(frame, model=model, method="RTS", begun=reading, steps=steps)


def _of(frame, model, method, steps) -> np.ndarray:
    own = frame if method != "RAISE" else frame[frame["n_images"] == 100]
    return errors_of(own, model=model, method=method, steps=steps)


def less_biased(name, frame, model, reading) -> Verdict:
    """The mean error after 1,000 sweeps, in size: RTS less each other."""
    rts = size_of_bias(_rts(frame, model, reading, 1000))
    others = {x: size_of_bias(_of(frame, model, x, 1000)) for x in RIVALS[model]}
    less = {f"bias less {x}": ms.difference(rts, other) for x, other in others.items()}
    return together({k: effect(name, x, direction=-1, unit="nats") for k, x in less.items()})


def needs_tenfold(name, frame, model, reading) -> Verdict:
    """RMSE of AIS with 10,000 temperatures over that of RTS with 1,000 sweeps."""
    ais, rts = _of(frame, model, "AIS", 10_000), _rts(frame, model, reading, 1000)
    if len(ais) < FEWEST:
        return judge.left_open(name, f"{len(ais)} runs of AIS with 10,000 temperatures")
    return effect(name, ms.rmse_ratio(ais, of=rts, paired=False), direction=+1)


def dominates(name, frame, model, reading) -> Verdict:
    of = {f"{x} over RTS": errs_more(name, frame, model, reading, x) for x in RIVALS[model]}
    return together(of)


def errs_more(name, frame, model, reading, method) -> Verdict:
    """RMSE of another method over that of RTS at equal sweeps, in the mean over lengths."""
    pairs = [
        (_of(frame, model, method, k), _rts(frame, model, reading, k)) for k in (1000, 3000, 10_000)
    ]
    others, rts = zip(*(pair for pair in pairs if min(map(len, pair)) >= FEWEST), strict=True)
    n = min(map(len, others))
    others = np.column_stack([e[:n] for e in others])
    return effect(name, mean_ratio(others, np.column_stack(rts)), direction=+1)


def mean_ratio(errors: np.ndarray, of: np.ndarray) -> Measured:
    """Geometric mean over columns of RMSE over RMSE, on the scale "log".

    Rows are seeds, which columns may share: the jackknife leaves out a row at a time on each side.
    """

    def half(squares):
        whole = np.log(squares.mean(axis=0)).mean() / 2
        n = len(squares)
        left = np.log((squares.sum(axis=0) - squares) / (n - 1)).mean(axis=1) / 2
        return whole, (n - 1) / n * ((left - left.mean()) ** 2).sum()

    (a, var_a), (b, var_b) = half(errors**2), half(of**2)
    freedom = min(len(errors), len(of)) - 1
    return ms.measured(math.exp(a - b), math.sqrt(var_a + var_b), freedom, "log")


def figure_3(frame: pd.DataFrame) -> list[Verdict]:
    """500 hidden units: bias, tenfold, domination; then 100 hidden units, all three of them."""
    parts = {"bias": less_biased, "tenfold": needs_tenfold, "dominates": dominates}
    verdicts = []
    for end, part in parts.items():
        name = f"carlson-fig3-500-{end}"
        judged = partial(part, name, frame)
        verdicts.append(of_start(name, frame, [PUBLIC], judged, "rts_public", 2))
    name, words = "carlson-fig3-100", ("bias", "tenfold", "equal sweeps")

    def all_three(model, reading):
        found = (part(name, frame, model, reading) for part in parts.values())
        return together(dict(zip(words, found, strict=True)))

    models = ["h100", "spectral_100"]
    return [*verdicts, of_start(name, frame, models, all_three, "rts_hundred", 1.5)]


def figure_2(by_ladder: dict[str, dict[str, np.ndarray]], hours: float) -> Verdict:
    """Errors of each estimator and of RTS on the same states, by the number of temperatures."""
    name = "carlson-fig2-alike"
    ratios = {
        ladder: {k: ms.rmse_ratio(e, of=errors["RTS"]) for k, e in errors.items() if k != "RTS"}
        for ladder, errors in by_ladder.items()
    }
    cases = {
        ladder: {k: equivalence(name, ratio, **QUARTER) for k, ratio in of.items()}
        for ladder, of in ratios.items()
    }
    found = depends("the number of temperatures", cases)
    riemann = ", ".join(f"{_times(of['TI Riemann'])} with {x}" for x, of in ratios.items())
    others = _effects(found._replace(parts=[p for p in found.parts if "Riemann" not in p[0]]), "")
    ours = f"error of the Riemann sum over that of RTS: {riemann}"
    return priced(found.said(ours, f"the others {_range(others)}"), hours, "rts_mixture")


def _last_over_100(curves, column: str) -> dict[str, float]:
    """RMSE with 3,001 temperatures over that with 100, by model."""
    return {m: float(c[column].iloc[-1] / c[column][100]) for m, c in curves.items()}


def flat(curves, n: int = DRAWN) -> Verdict:
    """From K = 100 on, at which chains mix, by a line through all points of the curve."""
    name = "carlson-fig4-flat"
    grown = {m: growth(c["rts"], n, 100) for m, c in curves.items()}
    cases = {m: equivalence(name, g, **QUARTER) for m, g in grown.items()}
    ours = f"grows {_range([math.exp(g.value) for g in grown.values()])} times from 100 to 3,001"
    found = together(cases).said(ours, models=", ".join(curves))
    return priced(found, 3, "rts_public_temperatures")


def few_temperatures(small_errors, curves) -> Verdict:
    name = "carlson-few-temperatures"
    close = {"margin": 0.02, "reason": "less than the error of the trapezoid rule here"}
    mean = equivalence(name, small_errors, unit="nats", **close)
    cases = {"mean error of RTS, 20 temperatures, 30 × 12": mean}
    for model, c in curves.items():
        worst = c.max() / c.min()
        for column, other in (("ti", "TI"), ("ti_rb", "TI-RB")):
            times, error = worst[column] / worst["rts"], np.sqrt(4 * 0.5 / DRAWN)
            ratio = ms.measured(times, error, DRAWN - 1, "log")
            label = f"largest over least RMSE, {other} over RTS, {model}"
            cases[label] = effect(name, ratio, direction=+1, size=TWOFOLD)
    spans = {c: [float(x[c].max() / x[c].min()) for x in curves.values()] for c in ("rts", "ti_rb")}
    ours = f"largest over least RMSE from K = 10 on: RTS {_range(spans['rts'], '.1f')}, "
    ours += f"TI-RB {_range(spans['ti_rb'], '.0f')}"
    words = f"mean error of RTS with 20 temperatures {_range([np.mean(small_errors)], '+.4f')} nats"
    return together(cases).said(ours, words, f"30 × 12 units; {', '.join(curves)}")


def tirb(curves, empty_share) -> Verdict:
    """Better at 3,001 temperatures for 10,000 states, where TI has bins without a state."""
    name = "carlson-tirb"
    cases = {
        f"TI over TI-RB, 3,001 temperatures, {m}": effect(
            name, ratio_of(c["ti"].iloc[-1], c["ti_rb"].iloc[-1]), direction=+1
        )
        for m, c in curves.items()
    }
    empty = bound(name, ms.share_of(empty_share), at_least=0.5, unit="of the samples")
    found = together(cases | {"a bin of TI is empty": empty})
    times, filled = _range(_effects(found, "TI over"), ".1f"), _last_over_100(curves, "ti")
    words = "without the printed interpolation it has no value there, as bins are empty; with it "
    words += f"its error is {_range(filled.values())} times that with 100"
    ours = f"TI errs {times} times as much with 3,001 temperatures"
    return found.said(ours, words, ", ".join(curves))


def tirb_limit(gaps: pd.Series, curves) -> Verdict:
    """``gaps``: TI-RB less RTS on the same states, by K."""
    name = "carlson-tirb-limit"
    scaled = (gaps * np.square(gaps.index.to_numpy(dtype=float))).iloc[-3:]
    falls = compare(scaled.max() / scaled.min(), "<", 1.3) & compare(abs(gaps.iloc[-1]), "<", 1e-3)
    first, last = gaps.index[[0, -1]]
    ours = f"{gaps[last]:.5f} nats at K = {last}"
    limit = statement(name, falls, ours=ours, reason="the gap falls as 1/K²")
    cases = {"gap times K², 30 × 12": limit}
    for m, c in curves.items():
        over = c["ti_rb"] / c["rts"]
        label = f"RMSE over that of RTS, 10 temperatures over 3,001, {m}"
        cases[label] = effect(name, ratio_of(over.iloc[0], over.iloc[-1]), direction=+1)
    ours = f"{abs(gaps[first]):.3f} nats apart at K = {first}, {abs(gaps[last]):.5f} at K = {last}"
    return together(cases).said(ours, "the difference falls as 1/K²", "30 × 12 units")


def beats_mbar(chains: tuple, drawn: tuple, curves) -> Verdict:
    """Errors of MBAR and of RTS from groups of chains; and from states drawn again."""
    name, by_chains = "carlson-beats-mbar", ms.rmse_ratio(chains[0], of=chains[1])
    again = {"30 × 12": ratio_of(*(np.std(x) for x in drawn), *map(len, drawn))}
    again |= {m: ratio_of(c["mbar"][100], c["rts"][100], 20, DRAWN) for m, c in curves.items()}
    ratios = {"states drawn again at random": again}
    ratios["states as chains give them"] = {"30 × 12": by_chains}
    cases = {
        which: {m: effect(name, r, direction=+1) for m, r in of.items()}
        for which, of in ratios.items()
    }
    return depends("which states are read", cases).said(
        f"error of MBAR over that of RTS: {_factors(again.values())}",
        f"on states drawn again; {_times(by_chains)} on states as chains give them",
        f"30 × 12; {', '.join(curves)}",
    )


def continuous_beta(curves) -> Verdict:
    """3,001 temperatures stand for a continuous beta, against 100."""
    name, more = "carlson-continuous-beta", _last_over_100(curves, "rts")
    cases = {m: effect(name, ratio_of(times, 1), direction=+1) for m, times in more.items()}
    ours = f"error with 3,001 temperatures over that with 100: {_range(more.values())}"
    return priced(together(cases).said(ours), 3, "rts_public_temperatures")


def cost(counted: sm.Counted, kept: tuple[int, int], times: pd.DataFrame) -> Verdict:
    """ "Prohibitive": the 200 estimates of a point of Figure 4 by MBAR would take over an hour."""
    name = "carlson-cost"
    share = counted.sums / (counted.sweep + counted.draw)
    more = compare(counted.mbar_many, ">", 3.5) & compare(counted.mbar_few, ">", 6)
    seconds = dict(list(times.groupby("n_temperatures")["mbar_seconds"]))
    few, many = seconds[999], seconds[3000]
    hours, error = DRAWN * many.mean() / 3600, few.std() / few.mean() / np.sqrt(len(many))
    needed = ms.measured(hours, error, len(few) - 1, "log")
    cases = {
        "operations that RTS adds": bound(name, ms.exactly(share), at_most=0.05),
        "numbers kept": statement(
            name, compare(kept[0], "<", kept[1]),
            ours=f"{kept[0]} by RTS, {kept[1]:,} by MBAR", reason="averages, or all states",
        ),
        "an iteration of MBAR, twice the temperatures": statement(
            name, more,
            ours=f"×{counted.mbar_many:.1f} with many states, ×{counted.mbar_few:.1f} with few",
            reason="some 4 or 8 times the operations: N K² + K³",
        ),
    }  # fmt: skip
    every = "200 estimates by MBAR, 3,001 temperatures"
    cases[every] = bound(name, needed, at_least=1, unit="h", alpha=FEW)
    found = together(cases)
    ours = f"RTS adds {100 * share:.1f}% of the operations of a sweep and keeps K numbers"
    words = f"200 estimates by our MBAR with 3,001 temperatures take {hours:.1f} h"
    return found.said(ours, words, "counted: 784 × 10 units, K = 100; timed: pcd_10")


def tracks(of_paper: dict, by_gain: dict[float, dict]) -> Verdict:
    """Within a nat at each look where AIS is sound: models a nat apart are told apart."""
    name, a_nat = "carlson-fig5-tracks", 1.0

    def within(found):
        return statement(
            name, compare(found["largest"], "<", a_nat),
            ours=f"{found['largest']:.2f} nats at most, {found['RMS difference']:.2f} RMS",
            reason="largest difference from AIS at looks where it is sound",
        )  # fmt: skip

    cases = {"2,000 chains, α = 0.2": within(of_paper)}
    for gain, found in by_gain.items():
        cases[f"400 chains, α = {gain}"] = judged = within(found)
        if gain == 0.05 and judged.outcome != REPRODUCED:
            why = "its lag goes with the learning rate, and ours is four times the paper's"
            cases[f"400 chains, α = {gain}"] = judge.left_open(name, why, ours=judged.ours)
    ours = f"{of_paper['RMS difference']:.2f} nats RMS from AIS, {of_paper['largest']:.2f} at most"
    largest = ", ".join(f"{f['largest']:.2f} for α = {g}" for g, f in by_gain.items())
    words = f"with 400 chains at most {largest}"
    return priced(together(cases).said(ours, words, "dna, 500 units"), 2, "tracking_gains")


def tracking_cost(share) -> Verdict:
    name = "carlson-tracking-cost"
    ours, reason = (
        "100 chains × 10,000 temperatures",
        "one sample at each temperature of each chain",
    )
    samples = statement(name, compare(100 * 10_000, "==", 1e6), ours=ours, reason=reason)
    little = bound(name, share, at_most=0.2, unit="of the training's time", alpha=FEW)
    found = together({"tracking, a look in a hundred updates": little, "samples of AIS": samples})
    ours = f"{100 * np.mean(share):.1f}% of the time of training"
    return found.said(ours, "an AIS run has 10⁶ samples", "dna, 500 units, 2,000 chains")


def early_stopping(found: dict) -> Verdict:
    ours = f"best look at update {found['best update, tracked']} tracked, "
    ours += f"{found['by AIS']} by AIS, whose ESS there is {found['ESS there']:.0f} of 100"
    why = "a training of 2,000 chains followed until its validation likelihood turns, three times"
    return judge.left_open("carlson-early-stopping", why, hours=6, ours=ours)


def prior_gradient(risen, uniform) -> Verdict:
    found = effect("carlson-prior-gradient", ms.ratio(risen, uniform), direction=-1)
    return found.said(models="12 × 6 units, 400 exact draws a gradient")


def uniform_prior(of_small: dict, of_pcd: dict) -> Verdict:
    """Errors by prior. That no prior is better consistently needs one model on which none is."""
    name, uniform = "carlson-uniform-prior", of_small["uniform"]
    others = {prior: e for prior, e in of_small.items() if prior != "uniform"}
    ratios = {prior: ms.rmse_ratio(e, uniform, paired=False) for prior, e in others.items()}
    cases = {f"{p} over uniform, 30 × 12": bound(name, r, **TENTH) for p, r in ratios.items()}
    on_pcd = ms.rmse_ratio(of_pcd["rising"], of=of_pcd["uniform"], paired=False)
    both = pooled(ratios["rising"], on_pcd)
    cases["exp(2β) over uniform, both models"] = effect(name, both, direction=+1)
    said = ", ".join(f"{p} {_times(r)}" for p, r in ratios.items())
    ours = f"error over that of the uniform prior: {said}"
    return together(cases).said(ours, models="30 × 12 units; pcd_10")


def pooled(*found: Measured) -> Measured:
    """Mean of independent numbers on one scale, weighted by their errors."""
    weights = np.array([1 / m.std_error**2 for m in found])
    value = float(weights @ [m.value for m in found] / weights.sum())
    error = float(weights.sum() ** -0.5)
    freedom = min(m.freedom for m in found)
    return found[0]._replace(value=value, std_error=error, freedom=freedom, n=freedom + 1)


def bias_subtraction(of_small, less_small, of_pcd, less_pcd) -> Verdict:
    small = {"margin": 1.05, "reason": "a twentieth of the error is a tenth of the sweeps"}
    pairs = {"30 × 12": (less_small, of_small), "pcd_10": (less_pcd, of_pcd)}
    ratios = {m: ms.rmse_ratio(*pair) for m, pair in pairs.items()}
    ours = ", ".join(f"{_times(r, '.3f')} on {m}" for m, r in ratios.items())
    cases = {m: equivalence("carlson-bias-subtraction", r, **small) for m, r in ratios.items()}
    return together(cases).said(f"error with the bias subtracted over that without: {ours}")


def control_variates(explained: dict[str, dict[str, list[float]]]) -> Verdict:
    """Adjusted shares of the variance that each set of variates explains, by set and model."""
    little = {"at_most": 0.05, "unit": "of the variance"}
    cases = {
        variates: {m: bound("carlson-control-variates", x, **little) for m, x in of.items()}
        for variates, of in explained.items()
    }
    said = [f"{words} {_range([100 * np.mean(x) for x in of.values()], '.0f')}%"
            for words, of in explained.items()]  # fmt: skip
    ours = f"share of the variance that they explain: {'; '.join(said)}"
    return depends("the control variates", cases).said(ours, models="30 × 12 units; pcd_10")


def appendix_a(joined: dict, curvatures, counted: sm.Counted) -> Verdict:
    name = "carlson-appendix-a"
    late = ms.rmse_ratio(joined["others"], of=joined["the same"])
    concave = statement(
        name, compare(curvatures, "<", 1e-9), ours="no positive curvature at 20 places",
        reason="minus a sum of covariance matrices",
    )  # fmt: skip
    twice = {"at_most": 2.1, "unit": "times the operations"}
    cases = {
        "concave": concave,
        "a gradient, twice the temperatures": bound(name, ms.exactly(counted.gradient), **twice),
        "error, other guesses late over the same": equivalence(name, late, **A_THIRD),
    }
    return together(cases).said(
        f"error with other guesses late over the same: {_times(late)}",
        f"a gradient takes {counted.gradient:.2f} times the operations with twice the temperatures",
        "30 × 12 units",
    )


def autocorrelation(by_case: dict[str, dict[str, np.ndarray]], cuts) -> Verdict:
    """RMS error of the variance of c by each cut of the sum, over that by the spread of chains."""
    name = "carlson-autocorrelation"
    over = {
        cut: {c: ms.rmse_ratio(f[cut] - 1, f["spread of chains"] - 1) for c, f in by_case.items()}
        for cut in cuts
    }
    cases = {
        f"sum cut: {cut}": {case: effect(name, r, direction=+1) for case, r in ratios.items()}
        for cut, ratios in over.items()
    }
    said = ", ".join(f"{_factors(ratios.values())} ({cut})" for cut, ratios in over.items())
    ours = f"error by autocorrelations over that by the spread of chains: {said}"
    return depends("where the sum is cut, and the length of chains", cases).said(ours)


def adaptive(trips: dict, errors: dict, walk: Measured) -> Verdict:
    name = "carlson-fig6-adaptive"
    means = {step: ms.mean_of(x) for step, x in trips.items()}
    relative = [m.std_error / m.value for m in means.values()]
    ratio = means["adapted"].value / means["fixed"].value
    freedom = means["adapted"].freedom
    faster = ms.measured(ratio, float(np.hypot(*relative)), freedom, scale="log")
    nearer = ms.rmse_ratio(errors["fixed"], of=errors["adapted"], paired=False)
    ratios = {
        "round trips, adapted over fixed": faster,
        "RMSE, fixed over adapted": nearer,
        "round trips of a random walk, adapted over fixed": walk,
    }
    found = together({label: effect(name, r, direction=+1) for label, r in ratios.items()})
    ours = f"{ratio:.1f} times the round trips, 1/{_times(nearer, '.1f')} of the error"
    words = f"a random walk {_times(walk)} times the round trips"
    return found.said(ours, words, "the mixture, 41 temperatures")


def gain_of(pair: pd.DataFrame) -> Measured:
    """Round trips of a stored pair of kernels, adaptive over fixed."""
    of = pair.set_index("steps")
    errors = of["round_trips_error"] / of["round_trips"]
    ratio = of["round_trips"]["adaptive"] / of["round_trips"]["fixed"]
    freedom = of["n_chains"]["adaptive"] - 1
    return ms.measured(ratio, float(np.hypot(*errors)), freedom, "log")


def uniform_worse(rate: pd.DataFrame, uniform: pd.DataFrame, models) -> Verdict:
    """RMSE along the uniform base over that along the base rate, and the error of the start."""
    name, cases = "carlson-fig7-worse", {}

    def both(**where):
        found = [errors_of(frame, **where) for frame in (uniform, rate)]
        return found if min(map(len, found)) >= FEWEST else None

    for model in models:
        for method, steps in product(("RTS", "AIS", "RAISE", "reverse AIS"), (1000, 3000)):
            begun = {"begun": PILOT} if method == "RTS" else {}
            if pair := both(model=model, method=method, steps=steps, **begun):
                ratio = ms.rmse_ratio(*pair, paired=False)
                label = f"{method}, {steps:,} sweeps, {model}"
                cases[label] = effect(name, ratio, direction=+1)
        for reading in READINGS:
            if pair := both(model=model, method="RTS", begun=reading, steps=1000):
                more = ms.difference(*map(np.abs, pair))
                label = f"error after ten rounds, given {reading}, {model}"
                cases[label] = effect(name, more, direction=+1, unit="nats more")
    found = together(cases)
    every = {m: _effects(found, m + ", ") for m in ("RTS", "AIS", "RAISE", "reverse AIS")}
    said = "; ".join(f"{m} {_range(x, '.1f')}" for m, x in every.items() if x)
    start = _effects(found, "error after ten rounds")
    return found.said(
        f"error along the uniform base over the base rate: {said}",
        f"ten rounds end {_range(start, '.0f')} nats further off",
        ", ".join(models),
    )


def uniform_similar(uniform: pd.DataFrame, model: str) -> Verdict:
    """Bias of RTS less that of AIS at first; RMSE of the two at the most sweeps that were run."""
    name = "carlson-fig7-similar"
    of_rts = {"model": model, "method": "RTS", "begun": PILOT}
    rts, ais = pick(uniform, **of_rts), pick(uniform, model=model, method="AIS")

    def ahead(k):
        sizes = (size_of_bias(errors_of(x, steps=n)) for x, n in ((rts, 300), (ais, k)))
        return effect(name, ms.difference(*sizes), direction=-1, unit="nats")

    counts = {"start not counted, AIS of 300": ahead(300), "counted, AIS of 3,000": ahead(3000)}
    a, b = (errors_of(x, steps=100_000) for x in (rts, ais))
    many = min(len(a), len(b)) >= FEWEST
    a, b = (a, b) if many else (errors_of(x, steps=10_000) for x in (rts, ais))
    ratio = ms.rmse_ratio(a, of=b, paired=False)
    last = equivalence(
        name, ratio, margin=1.5, reason="a factor of 1.5 in error is one of 2.25 in sweeps"
    )
    if not many:
        ours = f"RTS over AIS {_times(ratio)} at 10,000 sweeps"
        last = judge.left_open(name, "10⁵ sweeps were not run", ours=ours)
    first = depends("whether the start counts", counts)
    at_300 = [float(np.mean(errors_of(x, steps=300))) for x in (rts, ais)]
    found = together({"bias at first": first, "RMSE, RTS over AIS": last}).said(
        f"mean error at 300 sweeps: RTS {at_300[0]:.2f}, AIS {at_300[1]:.2f} nats",
        f"if the 4,000 sweeps of the start count, AIS is ahead; {last.ours}",
        model,
    )
    return priced(found, 3, "rts_public_uniform")


def knot(narrowest: dict[str, list[float]], trips: dict[str, np.ndarray]) -> Verdict:
    """Least conductance of 10 units; round trips of 500, uniform base over base rate."""
    least, fewer = (ms.ratio(x["uniform"], x["base rate"]) for x in (narrowest, trips))
    ratios = {"least conductance, pcd_10": least, "round trips, cd25_500": fewer}
    half = {"direction": -1, "size": (0, 0.5)}
    return together({x: effect("carlson-fig7-knot", r, **half) for x, r in ratios.items()}).said(
        f"least conductance {_times(least)} of that along the base rate",
        f"round trips {_times(fewer)} times as many",
        "pcd_10 live; cd25_500",
    )


def gains_a_tenth(errors: dict) -> Verdict:
    """10 units, over trainings: a reduction by 5 to 20 percent. The text names RSD."""
    name = "carlson-fig8-10"
    ten = {m: e for m, e in errors.items() if m != "pcd_200"}

    def over_trainings(kind):
        rms = [[np.sqrt(np.mean(e[k] ** 2)) for e in ten.values()] for k in (kind, "rts")]
        ratio = ms.ratio(*rms, paired=True)
        return effect(name, ratio, direction=-1, size=(0.8, 0.95), n_trainings=len(ten))

    cases = {"RSD (text)": over_trainings("rsd"), "SD (caption)": over_trainings("sd")}
    ours = ", ".join(f"{k} {v.effect:.3f}" for k, v in cases.items())
    found = depends("which of the two it is", cases)
    found = found.said(f"error over that of RTS: {ours}", models=f"{len(ten)} trainings")
    return priced(found, 2, "rts_moves_trainings")


def gains_nothing(errors: dict) -> Verdict:
    own = errors["pcd_200"]
    ratios = {kind.upper(): ms.rmse_ratio(own[kind], of=own["rts"]) for kind in ("sd", "rsd")}
    found = together({k: bound("carlson-fig8-200", ratio, **TENTH) for k, ratio in ratios.items()})
    ours = ", ".join(f"{kind} {_times(r, '.3f')}" for kind, r in ratios.items())
    return found.said(f"error over that of RTS: {ours}", models="pcd_200")
