"""The verdicts on Carlson et al. (2016), one function a claim or two; data in, verdict out.

Margins are stated here, with their reasons. Each claim is judged over every reading of what the
paper leaves open; a reading that was not run leaves it open, with the price of the runs.
"""

from __future__ import annotations

import math
from itertools import product

import numpy as np
import pandas as pd

from .. import judge
from .. import measured as ms
from ..judge import FEW, bound, compare, depends, effect, equivalence, statement, together
from ..measured import Measured, rmse
from ..page import log_variance, pick
from ..verdicts import OPEN, REPRODUCED, Verdict
from . import small as sm
from .runs import FEWEST, PILOT, PUBLIC, READINGS, errors_of, growth, over_100, ratio_of

RISES = {"direction": +1}
TWOFOLD = {"direction": +1, "size": (2, math.inf)}
START = "how the start is read: what beta is drawn given, and the sweeps of a round that are used"
QUARTER = {"margin": 1.25, "reason": "a quarter more error costs half more samples"}
TENTH = {"at_least": 1 / 1.1}  # no gain: less than a tenth
A_NAT = 1.0  # models a nat apart are told apart
LENGTHS = (1000, 3000, 10_000)
REACHED = (300, *LENGTHS, 100_000)
RIVALS = {PUBLIC: ("AIS", "RAISE")} | dict.fromkeys(
    ("h100", "spectral_100"), ("AIS", "reverse AIS")
)


def each(judged, name: str, cases: dict, label: str = "{}", **how) -> dict[str, Verdict]:
    """Every case judged alike; ``label`` is written about its name."""
    return {label.format(case): judged(name, found, **how) for case, found in cases.items()}


def span(found, form: str = ".2f") -> str:
    """The least and the largest of numbers, or of the effects of verdicts, as text."""
    numbers = [v.effect if isinstance(v, Verdict) else v for v in found]
    low, high = (format(x, form).replace("-", "−") for x in (min(numbers), max(numbers)))
    return low if low == high else f"{low} to {high}"


def priced(verdict: Verdict, hours: float, sweep: str) -> Verdict:
    """The verdict; if it is open, with the price of the sweep that would decide it."""
    price = f"the sweep {sweep} would decide it ({hours:g} h, two cores)"
    note = f"{verdict.note}; {price}".strip("; ")
    return verdict._replace(note=note) if verdict.outcome == OPEN else verdict


# sections 2 and 3 ------------------------------------------------------------------------------


def rao_blackwell(small, many, first: pd.DataFrame) -> Verdict:
    """``many``: chains with the guesses of ``small``; ``first``: stored rounds of Figure 1."""
    name, q = "carlson-rao-blackwell", small.shares(small.guesses)
    sums = (x[1:, :, 0].sum(axis=0) for x in (many.mixed, many.visited))
    c, n = (x / x.sum(axis=-1, keepdims=True) for x in sums)
    close = {"margin": 0.02, "reason": "a fiftieth of q is a fiftieth of a nat in log Z"}
    ends = {"β = 0": c[:, 0] / q[0] - 1, "β = 1": c[:, -1] / q[-1] - 1}
    apart = (x[:, -1].reshape(-1, sm.GROUP).mean(axis=1) - q[-1] for x in (c, n))
    spread = effect(name, ms.rmse_ratio(*apart), direction=-1)
    rough = {
        f"{model}, given {begun}": ms.ratio(g["counted"], g["roughness_8"], paired=True)
        for (model, begun), g in first.groupby(["model", "begun"])
    }
    rough = each(effect, name, rough, "roughness of counts over that of c, {}", **TWOFOLD)
    cases = each(equivalence, name, ends, "mean of c over q, less 1, {}", **close)
    return together(cases | {"spread of c over that of counts, 30 × 12": spread} | rough).said(
        f"log ĉ of counts is {span(rough.values(), '.0f')} times as rough in the first rounds",
        f"at equilibrium c_K varies {spread.effect:.2f} times as much as counts, and is unbiased",
        "30 × 12 units; h10, pcd_10",
    )


def same_estimator(routes: dict[str, float], derivative: float) -> Verdict:
    holds = compare(np.ptp(list(routes.values())), "<", 1e-6) & compare(derivative, "<", 1e-9)
    ours = f"log Z by the three routes within {1e-6:g} nats of each other"
    reason = "the likelihoods have their maximum where eq. (12) is"
    found = statement("carlson-same-estimator", holds, ours=ours, reason=reason)
    return found.said(models="30 × 12 units")


def counts_unstable(first: pd.DataFrame, curves) -> Verdict:
    name, groups = "carlson-counts-unstable", first.groupby(["model", "begun"])
    shares = {f"{model}, given {begun}": g["empty"] for (model, begun), g in groups}
    empty = each(effect, name, shares, "share of empty bins, {}", **RISES)
    more = each(effect, name, over_100(curves, "ts"), "RMSE of TS, 3,001 over 100, {}", **TWOFOLD)
    percent = span([100 * v.effect for v in empty.values()], ".0f")
    return together(empty | more).said(
        f"{percent}% of the bins are empty after eight rounds",
        f"TS errs {span(more.values(), '.1f')} times as much with 3,001 temperatures as with 100",
        f"h10, pcd_10; {', '.join(curves)}",
    )


def start_rounds(first: pd.DataFrame, frame: pd.DataFrame) -> Verdict:
    """10 units: max |r − c| K ≤ 0.5 after eight rounds; larger ones: 10 nats after 1,000 sweeps."""
    name, cases, off = "carlson-start-rounds", {}, {}
    for reading in READINGS:
        distances = dict(list(first[first["begun"] == reading].groupby("model")["distance_8"]))
        large = {m: np.abs(_errors(frame, m, "RTS", 1000, reading)) for m in (*RIVALS, "cd25_500")}
        large = {model: e for model, e in large.items() if len(e) >= FEWEST}
        off[reading] = each(bound, name, large, at_most=10, unit="nats")
        cases[reading] = each(bound, name, distances, at_most=0.5, unit="/K") | off[reading]
    far = first[first["model"] == "h10"].groupby("begun")["distance_8"].mean()
    ours = f"max |r − c| K after eight rounds on h10: {span(far)}, by the reading"
    nats = span((v.effect for of in off.values() for v in of.values()), ".0f")
    words = f"after ten rounds RTS is {nats} nats off on larger models"
    return depends(START, cases).said(ours, words, "h10, pcd_10; 100 and 500 units")


def _of_ways(ways: pd.DataFrame, of: str) -> dict[tuple, Measured]:
    """Error by one way of ten rounds over that of the paper's, by reading and model."""
    return {
        key: ms.rmse_ratio(*((g[x] - g["exact"]).to_numpy() for x in (of, "log_z")))
        for key, g in ways.groupby(["begun", "model"])
    }


def simple_updates(ways: pd.DataFrame) -> Verdict:
    """``ways``: the table rts_ways. "As effective": no more than 1.5 times the error."""
    name, cases = "carlson-simple-updates", {}
    for (begun, model), ratio in _of_ways(ways, "likelihood").items():
        cases.setdefault(begun, {})[model] = bound(name, ratio, at_least=1 / 1.5)
    times = ms.ratio(ways["likelihood_seconds"], ways["updates_seconds"])
    work = bound(name, times, at_least=1, unit="times the seconds of the updates")
    error = depends(START, cases)
    ratios = span(v.effect for of in cases.values() for v in of.values())
    return together({"error over that by the updates": error, "work": work}).said(
        f"the likelihood of all rounds errs {ratios} times as much as the updates",
        f"it takes {work.effect:.0f} times the seconds of the ten updates",
        "h10, pcd_10",
    )


def fresh_beta(ways: pd.DataFrame) -> Verdict:
    """Each other way must err more than the last x with fresh beta."""
    name, cases, kept = "carlson-fresh-beta", {}, {"all": [], "out": []}
    new = _of_ways(ways, "from_base")
    for (begun, model), ratio in _of_ways(ways, "same_betas").items():
        both = each(effect, name, {"betas kept": ratio, "new x": new[begun, model]}, **RISES)
        cases.setdefault(begun, {})[model] = together(both)
        kept["all" if "all" in begun else "out"].append(both["betas kept"])
    ours = f"with beta kept the error is {span(kept['all'])} times as large if all sweeps are used"
    ours += f", {span(kept['out'])} times if ten are left out"
    return depends(START, cases).said(ours, models="h10, pcd_10")


def bias_and_variance(small, many, biased: dict[float, sm.Biased]) -> Verdict:
    """``biased``: runs of four chains by the tilt of the guesses, −2 or +2 nats."""
    name, cases = "carlson-eq15-eq16", {}
    for tilt, found in biased.items():
        end = "β = 0" if tilt < 0 else "β = 1"
        less = ms.difference(found.less_linear, ms.exactly(found.predicted))
        half = {"margin": abs(found.predicted) / 2, "unit": "nats"}
        half["reason"] = "half of the bias; terms of third order are left out"
        cases[f"bias less eq. (15), {end} seldom visited"] = equivalence(name, less, **half)
        sign = {"direction": 1 if tilt < 0 else -1, "unit": "nats"}
        cases[f"bias, {end} seldom visited"] = effect(name, found.less_linear, **sign)
    c = many.occupation().mean(axis=0).reshape(-1, sm.GROUP, small.betas.size)
    log_z = np.log(c.mean(axis=1)[:, -1] / c.mean(axis=1)[:, 0])
    predicted = np.array([sm.relative_ends(g).var(ddof=1) / sm.GROUP for g in c])
    spread = ms.ratio(np.square(log_z - log_z.mean()), predicted)
    margin = {"margin": 1.3, "reason": "an error bar off by a seventh does not matter"}
    cases["variance over eq. (16)"] = ratio = equivalence(name, spread, **margin)
    ours = f"bias {span([b.less_linear.mean() for b in biased.values()], '+.3f')} nats; "
    ours += f"eq. (15) says {span([b.predicted for b in biased.values()], '+.3f')}"
    words = f"variance over that of eq. (16): {ratio.effect:.2f}"
    return together(cases).said(ours, words, "30 × 12 units")


def update_dominates(looped: dict, near: tuple[float, float]) -> Verdict:
    """``looped[case]``: errors by (19) and by (12) after equal rounds; ``near``: differences of the
    two updates at a distance and at half of it, which falls fourfold where first orders agree."""
    name, fourfold = "carlson-update-dominates", near[0] / near[1]
    ratios = {used: ms.rmse_ratio(*errors, paired=False) for used, errors in looped.items()}
    far = each(effect, name, ratios, **TWOFOLD)
    holds = compare(fourfold, ">", 3.9) & compare(fourfold, "<", 4.1)
    said = f"half the distance leaves 1/{fourfold:.2f} of the difference"
    same = statement(name, holds, ours=said, reason="the updates agree to first order")
    return together({"far from the truth": depends(START, far), "near the truth": same}).said(
        f"error by (19) over that by (12): {span(far.values())}",
        "twofold at least if ten sweeps of a round are left out; alike if all are used",
        "pcd_10, ten rounds from equal guesses",
    )


# Figures 2 and 3 -------------------------------------------------------------------------------


def figure_2(by_ladder: dict[str, dict[str, np.ndarray]], hours: float) -> Verdict:
    """Errors of each estimator and of RTS on the same states, by the number of temperatures."""
    cases, riemann, others = {}, [], []
    for ladder, of in by_ladder.items():
        ratios = {k: ms.rmse_ratio(e, of=of["RTS"]) for k, e in of.items() if k != "RTS"}
        cases[ladder] = each(equivalence, "carlson-fig2-alike", ratios, **QUARTER)
        riemann.append(f"{cases[ladder]['TI Riemann'].effect:.2f} with {ladder}")
        others += [v for k, v in cases[ladder].items() if k != "TI Riemann"]
    ours = f"error of the Riemann sum over that of RTS: {', '.join(riemann)}"
    found = depends("the number of temperatures", cases).said(ours, f"the others {span(others)}")
    return priced(found, hours, "rts_mixture")


def sandwich(frame: pd.DataFrame) -> Verdict:
    """Mean errors over annealings with 100, 300 and 1,000 temperatures, one number a seed."""
    cases = {}
    public = frame[(frame["model"] == PUBLIC) & frame["steps"].isin((100, 300, 1000))]
    for sign, which in ((-1, {"method": "AIS"}), (+1, {"method": "RAISE", "n_images": 100})):
        by_seed = pick(public, **which).pivot_table("error", "seed", "steps").dropna().mean(axis=1)
        judged = effect("carlson-sandwich", by_seed.to_numpy(), direction=sign, unit="nats")
        cases[f"mean error of {which['method']}"] = judged
    return together(cases).said("", "AIS below, RAISE above", f"{PUBLIC}, 100 to 1,000 steps")


def truth_variance(frame: pd.DataFrame) -> Verdict:
    """As a variance or a deviation, within a factor of two; of RTS, of AIS, of their average."""
    name, cases = "carlson-truth-variance", {}
    rts, ais = (_errors(frame, PUBLIC, method, 10_000, PILOT) for method in ("RTS", "AIS"))
    n = min(len(rts), len(ais))
    of = {"RTS": rts, "AIS": ais, "their average": (rts[:n] + ais[:n]) / 2}
    variances = {method: log_variance(e) for method, e in of.items()}
    for meant, power in (("variance", 1), ("deviation", 2)):
        how = {"at_least": (0.006 / 2) ** power, "at_most": (0.006 * 2) ** power}
        how |= {"label": f"0.006 is the {meant} of {{}}", "unit": "is the variance"}
        cases |= each(bound, name, variances, **how)
    ours = "; ".join(f"variance of {method} {e.var(ddof=1):.4f}" for method, e in of.items())
    rts, ais = (_errors(frame, "cd25_500", m, 10_000, PILOT).var(ddof=1) for m in ("RTS", "AIS"))
    words = f"on our training by the same recipe {rts:.4f} (RTS) and {ais:.4f} (AIS)"
    verdict = depends("what 0.006 is, and of which estimate", cases).said(ours, words)
    return priced(verdict, 1, "rts_public")


def _errors(frame, model: str, method: str, steps: int, reading: str = "") -> np.ndarray:
    """Errors of runs; of RTS from a start, of RAISE with a chain an image."""
    more = {"RTS": {"begun": reading}, "RAISE": {"n_images": 100}}.get(method, {})
    return errors_of(frame, model=model, method=method, steps=steps, **more)


def size_of_bias(errors) -> Measured:
    mean = ms.mean_of(errors)
    return mean._replace(value=abs(mean.value))


def less_biased(name, frame, model, reading) -> Verdict:
    """The mean error after 1,000 sweeps, in size: RTS less each other."""
    rts = size_of_bias(_errors(frame, model, "RTS", 1000, reading))
    others = {x: size_of_bias(_errors(frame, model, x, 1000)) for x in RIVALS[model]}
    less = {f"bias less {x}": ms.difference(rts, other) for x, other in others.items()}
    return together(each(effect, name, less, direction=-1, unit="nats"))


def needs_tenfold(name, frame, model, reading) -> Verdict:
    """RMSE of AIS with 10,000 temperatures over that of RTS with 1,000 sweeps."""
    ais, rts = _errors(frame, model, "AIS", 10_000), _errors(frame, model, "RTS", 1000, reading)
    return effect(name, ms.rmse_ratio(ais, of=rts, paired=False), direction=+1)


def dominates(name, frame, model, reading) -> Verdict:
    """RMSE of each other over that of RTS at equal sweeps, in the mean over lengths."""
    ratios = {}
    for other in RIVALS[model]:
        pairs = ((_errors(frame, model, m, k, reading) for m in (other, "RTS")) for k in LENGTHS)
        long = [(e, rts) for e, rts in pairs if min(len(e), len(rts)) >= FEWEST]
        sides = ([x[: min(map(len, of))] for x in of] for of in zip(*long, strict=True))
        ratios[f"{other} over RTS"] = mean_ratio(*map(np.column_stack, sides))
    return together(each(effect, name, ratios, **RISES))


def mean_ratio(errors: np.ndarray, of: np.ndarray) -> Measured:
    """Geometric mean over columns of RMSE over RMSE, on the scale "log".

    Rows are seeds, which columns may share: the jackknife leaves out a row at a time on each side.
    """

    def half(squares):
        n = len(squares)
        left = np.log((squares.sum(axis=0) - squares) / (n - 1)).mean(axis=1) / 2
        return np.log(squares.mean(axis=0)).mean() / 2, (n - 1) * left.var()

    (a, var_a), (b, var_b) = half(errors**2), half(of**2)
    freedom = min(len(errors), len(of)) - 1
    return ms.measured(math.exp(a - b), math.sqrt(var_a + var_b), freedom, "log")


def of_start(name: str, frame, models, judged, sweep: str, hours: float) -> Verdict:
    """Over every reading of the start: ``judged(name, frame, model, reading)``."""

    def of(model, reading):
        if len(_errors(frame, model, "RTS", 1000, reading)) < FEWEST:
            return judge.left_open(name, f"not run: sweep {sweep}")
        return judged(name, frame, model, reading)

    cases = {reading: {m: of(m, reading) for m in models} for reading in (*READINGS, PILOT)}
    found = depends("the start of RTS", cases)
    pilot = "; ".join(f"{case}: {said}" for case, said, *_ in found.parts if PILOT in case)
    return priced(found.said(pilot, models=", ".join(models)), hours, sweep)


def figure_3(frame: pd.DataFrame) -> list[Verdict]:
    """500 hidden units: bias, tenfold, domination; then 100 hidden units, all three of them."""
    parts = {"bias": less_biased, "tenfold": needs_tenfold, "dominates": dominates}

    def all_three(*of):
        return together({words: part(*of) for words, part in parts.items()})

    return [
        of_start(f"carlson-fig3-500-{end}", frame, [PUBLIC], part, "rts_public", 3)
        for end, part in parts.items()
    ] + [
        of_start("carlson-fig3-100", frame, ["h100", "spectral_100"], all_three, "rts_hundred", 1.5)
    ]


# Figure 4 --------------------------------------------------------------------------------------


def flat(curves) -> Verdict:
    """From K = 100 on, at which chains mix, by a line through all points of the curve."""
    grown = {model: growth(curve, 100) for model, curve in curves.items()}
    cases = each(equivalence, "carlson-fig4-flat", grown, "from 100 to 3,001, {}", **QUARTER)
    found = together(cases).said(models=", ".join(curves))
    return priced(found, 3, "rts_public_temperatures")


def few_temperatures(small_errors, curves) -> Verdict:
    name, ratios = "carlson-few-temperatures", {}
    close = {"margin": 0.02, "reason": "less than the error of the trapezoid rule here"}
    mean = equivalence(name, small_errors, unit="nats", **close)
    worst = {model: curve.max() / curve.min() for model, curve in curves.items()}
    for (model, w), (column, other) in product(worst.items(), (("ti", "TI"), ("ti_rb", "TI-RB"))):
        n = curves[model]["n"].min() / 2  # of two points, each
        ratios[f"{other} over RTS, {model}"] = ratio_of(w[column], w["rts"], n, n)
    cases = {"mean error of RTS, 20 temperatures, 30 × 12": mean}
    cases |= each(effect, name, ratios, "largest over least RMSE, {}", **TWOFOLD)
    rts, ti_rb = ([w[column] for w in worst.values()] for column in ("rts", "ti_rb"))
    spans = f"RTS {span(rts, '.1f')}, TI-RB {span(ti_rb, '.0f')}"
    return together(cases).said(
        f"largest over least RMSE from K = 10 on: {spans}",
        f"mean error of RTS with 20 temperatures {span([np.mean(small_errors)], '+.4f')} nats",
        f"30 × 12 units; {', '.join(curves)}",
    )


def tirb(curves, n_states: int = 10_000) -> Verdict:
    """TI has no value where a bin is empty; with the paper's remedy its error should double."""
    name, k = "carlson-tirb", 3001
    over = {m: ratio_of(*c.loc[k, ["ti", "ti_rb", "n", "n"]]) for m, c in curves.items()}
    over = each(effect, name, over, "TI over TI-RB, 3,001 temperatures, {}", **RISES)
    empty = k * (1 - 1 / k) ** n_states
    said = f"{empty:.0f} of {k:,} bins are empty on average"
    none = statement(name, compare(empty, ">", 1), ours=said, reason="TI has no value there")
    grown = each(effect, name, over_100(curves, "ti"), **TWOFOLD)
    fills = {"empty bins left": dict.fromkeys(curves, none), "empty bins interpolated": grown}
    unstable = depends("what is put into empty bins: nothing, or their neighbours' line", fills)
    before = [c["ti"][100] / c["ti_rb"][100] for c in curves.values()]
    ours = f"TI errs {span(over.values(), '.1f')} times as much as TI-RB with 3,001 temperatures"
    ours += f", and {span(before, '.1f')} times with 100"
    words = "empty bins leave TI without a value; interpolated, as the paper does, they leave its "
    words += f"error with 3,001 at {span(grown.values())} times that with 100"
    return together(over | {"TI is unstable": unstable}).said(ours, words, ", ".join(curves))


def tirb_limit(gaps: pd.Series, curves) -> Verdict:
    """``gaps``: TI-RB less RTS on the same states, by K."""
    name, over = "carlson-tirb-limit", {}
    scaled = (gaps * np.square(gaps.index.to_numpy(dtype=float))).iloc[-3:]
    falls = compare(scaled.max() / scaled.min(), "<", 1.3) & compare(abs(gaps.iloc[-1]), "<", 1e-3)
    first, last = gaps.index[[0, -1]]
    said = f"{abs(gaps[first]):.3f} nats apart at K = {first}, {abs(gaps[last]):.5f} at K = {last}"
    limit = statement(name, falls, ours=said, reason="the gap falls as 1/K²")
    for model, c in curves.items():
        ends = c["ti_rb"] / c["rts"], c["n"]
        over[model] = ratio_of(*(x.iloc[i] for x in ends for i in (0, -1)))
    over = each(effect, name, over, "RMSE over that of RTS, K = 10 over 3,001, {}", **RISES)
    found = together({"gap, 30 × 12": limit} | over)
    return found.said(said, "the difference falls as 1/K²", "30 × 12 units")


def beats_mbar(chains: tuple, drawn: tuple, curves) -> Verdict:
    """Errors of MBAR and of RTS from groups of chains; and from states drawn again."""
    name = "carlson-beats-mbar"
    given = {"30 × 12": ms.rmse_ratio(chains[0], of=chains[1])}
    again = {"30 × 12": ratio_of(*map(np.std, drawn), *map(len, drawn))}
    again |= {m: ratio_of(*c.loc[100, ["mbar", "rts", "n_mbar", "n"]]) for m, c in curves.items()}
    given, again = (each(effect, name, of, **RISES) for of in (given, again))
    cases = {"states drawn again at random": again, "states as chains give them": given}
    return depends("which states are read", cases).said(
        f"error of MBAR over that of RTS: {span(again.values())}",
        f"on states drawn again; {span(given.values())} on states as chains give them",
        f"30 × 12; {', '.join(curves)}",
    )


def continuous_beta(curves) -> Verdict:
    """3,001 temperatures stand for a continuous beta, against 100."""
    more = over_100(curves, "rts")
    found = together(each(effect, "carlson-continuous-beta", more, "3,001 over 100, {}", **RISES))
    return priced(found, 3, "rts_public_temperatures")


def cost(times: pd.DataFrame, v: int = 784, h: int = 10, k: int = 100) -> Verdict:
    """ "Prohibitive": the 200 estimates of a point of Figure 4 by MBAR would take over an hour.

    Operations of a sweep of v × h units, and of the draw of beta, which tempering needs anyway;
    RTS adds a sum for each of k temperatures.
    """
    name, share = "carlson-cost", k / (4 * v * h + 8 * v + 6 * h + 7 * k - 2)
    few, many = (times["mbar_seconds"][times["n_temperatures"] == n] for n in (999, 3000))
    hours, error = 200 * many.mean() / 3600, few.std() / few.mean() / math.sqrt(len(many))
    needed = ms.measured(hours, error, len(few) - 1, "log")
    added = bound(name, ms.exactly(share), at_most=0.05, unit="of a sweep's operations")
    long = bound(name, needed, at_least=1, unit="h", alpha=FEW)
    cases = {"RTS adds": added, "200 estimates by MBAR, 3,001 temperatures": long}
    models = "operations: 784 × 10 units, K = 100; our MBAR on pcd_10"
    return together(cases).said("", "RTS keeps K numbers, MBAR all states", models)


# Figure 5 --------------------------------------------------------------------------------------


def tracks(trainings: dict[str, dict]) -> Verdict:
    """Within a nat at each look where AIS is sound."""
    name, cases = "carlson-fig5-tracks", {}
    why = "its lag goes with the learning rate, and ours is four times the paper's"
    for case, found in trainings.items():
        ours = f"{found['largest']:.2f} nats at most, {found['RMS difference']:.2f} RMS"
        reason = "largest difference from AIS at looks where it is sound"
        judged = statement(name, compare(found["largest"], "<", A_NAT), ours=ours, reason=reason)
        slow = "α = 0.05" in case and judged.outcome != REPRODUCED
        cases[case] = judge.left_open(name, why, ours=ours) if slow else judged
    off = (f"{found['largest']:.2f} nats with {case}" for case, found in trainings.items())
    found = together(cases).said(f"off by at most {', '.join(off)}", "", "dna, 500 units")
    return priced(found, 2, "tracking_gains")


def tracking_cost(share) -> Verdict:
    """With a look in a hundred updates."""
    how = {"at_most": 0.2, "unit": "of the time of training", "alpha": FEW}
    words = "a run of AIS, 100 chains and 10,000 temperatures, has 10⁶ samples"
    found = bound("carlson-tracking-cost", share, **how)
    return found.said(
        f"{100 * np.mean(share):.1f}% of the time of training", words, "dna, 500 units"
    )


def early_stopping(trainings: dict[str, dict]) -> Verdict:
    """The validation likelihood, by AIS, at its best look less that at the best tracked look."""
    few = [found for case, found in trainings.items() if case.startswith("400")]
    lost = [found["lost"] for found in few]
    how = {"at_most": A_NAT, "unit": "nats lost", "n_trainings": len(few), "alpha": FEW}
    stops = (f"{f['best update, tracked']:,} and {f['by AIS']:,}" for f in few)
    found = bound("carlson-early-stopping", lost, **how).said(
        f"stopping by the tracker loses {span(lost)} nats",
        f"best update, tracked and by AIS: {', '.join(stops)}; the loss is that by AIS, whose ESS "
        f"is {span([f['ESS at it'] for f in few], '.0f')} there. With 2,000 chains, as in the "
        "paper, the likelihood does not turn",
        "dna, 500 units, 400 chains",
    )
    return priced(found, 2, "tracking_gains")


def prior_gradient(risen, uniform) -> Verdict:
    found = effect("carlson-prior-gradient", ms.ratio(risen, uniform), direction=-1)
    return found.said(models="12 × 6 units, 400 exact draws a gradient")


# section 5 and the appendices ------------------------------------------------------------------


def uniform_prior(errors: dict) -> Verdict:
    """Errors by prior. That no prior is better consistently needs one model on which none is."""
    name, uniform = "carlson-uniform-prior", errors["uniform"]
    ratios = {p: ms.rmse_ratio(e, uniform, paired=False) for p, e in errors.items()}
    cases = each(bound, name, {p: r for p, r in ratios.items() if p != "uniform"}, **TENTH)
    said = ", ".join(f"{prior} {v.effect:.2f}" for prior, v in cases.items())
    cases["rising errs more"] = effect(name, ratios["rising"], **RISES)
    ours = f"error over that of the uniform prior: {said}"
    return together(cases).said(ours, models="30 × 12 units")


def bias_subtraction(of_small, less_small, of_pcd, less_pcd) -> Verdict:
    margin = {"margin": 1.05, "reason": "a twentieth of the error is a tenth of the sweeps"}
    pairs = {"30 × 12": (less_small, of_small), "pcd_10": (less_pcd, of_pcd)}
    ratios = {model: ms.rmse_ratio(*pair) for model, pair in pairs.items()}
    label = "error with the bias subtracted over that without, {}"
    return together(each(equivalence, "carlson-bias-subtraction", ratios, label, **margin))


def control_variates(explained: dict[str, dict[str, list[float]]]) -> Verdict:
    """Adjusted shares of the variance that each set of variates explains, by set and model."""
    how = {"at_most": 0.05, "unit": "of the variance"}
    cases = {k: each(bound, "carlson-control-variates", of, **how) for k, of in explained.items()}
    said = (f"{k} {span([100 * v.effect for v in of.values()], '.0f')}%" for k, of in cases.items())
    ours = f"share of the variance that they explain: {'; '.join(said)}"
    return depends("the control variates", cases).said(ours, models="30 × 12 units; pcd_10")


def appendix_a(joined: dict, curvatures) -> Verdict:
    name = "carlson-appendix-a"
    late = ms.rmse_ratio(joined["others"], of=joined["the same"])
    margin = {"margin": 1.3, "reason": "a third more error is two thirds more sweeps"}
    ours, reason = "no positive curvature at 20 places", "minus a sum of covariance matrices"
    concave = statement(name, compare(curvatures, "<", 1e-9), ours=ours, reason=reason)
    same = equivalence(name, late, **margin)
    found = together({"concave": concave, "error, other guesses late over the same": same})
    return found.said("", "a gradient is ten softmaxes of K numbers", "30 × 12 units")


def autocorrelation(by_case: dict[str, dict[str, np.ndarray]], cuts) -> Verdict:
    """RMS error of the variance of c by each cut of the sum, over that by the spread of chains."""
    name, cases = "carlson-autocorrelation", {}
    for cut in cuts:
        pairs = {case: (of[cut] - 1, of["spread of chains"] - 1) for case, of in by_case.items()}
        ratios = {case: ms.rmse_ratio(*pair) for case, pair in pairs.items()}
        cases[f"sum cut: {cut}"] = each(effect, name, ratios, **RISES)
    said = (f"{span(of.values())} ({cut})" for cut, of in zip(cuts, cases.values(), strict=True))
    ours = f"error by autocorrelations over that by the spread of chains: {', '.join(said)}"
    return depends("where the sum is cut, and the length of chains", cases).said(ours)


# Figures 6 to 8 --------------------------------------------------------------------------------


def adaptive(trips: dict, errors: dict, walks: pd.DataFrame) -> Verdict:
    """``walks``: the stored random walks, adapted and fixed."""
    of = walks.set_index("steps").rename({"adaptive": "adapted"})
    means = {step: ms.mean_of(x) for step, x in trips.items()}
    live = pd.DataFrame({k: [m.value, m.std_error, m.n] for k, m in means.items()}).T
    stored = of[["round_trips", "round_trips_error", "n_chains"]].set_axis(live.columns, axis=1)
    ratios = {"round trips": live, "round trips of a random walk": stored}
    for case, x in ratios.items():
        error = float(np.hypot(*(x[1] / x[0])))
        gain = x[0]["adapted"] / x[0]["fixed"]
        ratios[case] = ms.measured(gain, error, x[2]["adapted"] - 1, "log")
    ratios["1 / RMSE"] = ms.rmse_ratio(errors["fixed"], of=errors["adapted"], paired=False)
    cases = each(effect, "carlson-fig6-adaptive", ratios, "{}, adapted over fixed", **RISES)
    return together(cases).said(models="the mixture, 41 temperatures")


def uniform_worse(rate: pd.DataFrame, uniform: pd.DataFrame, models) -> Verdict:
    """RMSE along the uniform base over that along the base rate, and the error of the start."""
    name, rivals, start = "carlson-fig7-worse", {}, {}

    def both(*where):
        found = [_errors(frame, *where) for frame in (uniform, rate)]
        return found if min(map(len, found)) >= FEWEST else None

    for model, method in product(models, ("RTS", "AIS", "RAISE", "reverse AIS")):
        for steps in (1000, 3000):
            if pair := both(model, method, steps, PILOT):
                case = f"{method}, {steps:,} sweeps, {model}"
                rivals[case] = ms.rmse_ratio(*pair, paired=False)
    for model, reading in product(models, READINGS):
        if pair := both(model, "RTS", 1000, reading):
            start[f"given {reading}, {model}"] = ms.difference(*map(np.abs, pair))
    rivals = each(effect, name, rivals, **RISES)
    start = each(effect, name, start, "error after ten rounds, {}", unit="nats more", **RISES)
    return together(rivals | start).said(
        f"errors along the uniform base are {span(rivals.values(), '.1f')} times those along the "
        "base rate",
        f"ten rounds end {span(start.values(), '.0f')} nats further off",
        ", ".join(models),
    )


def uniform_similar(uniform: pd.DataFrame, model: str) -> Verdict:
    """Bias of RTS less that of AIS at first; RMSE of the two at the most sweeps that were run."""
    name = "carlson-fig7-similar"
    of = {(m, k): _errors(uniform, model, m, k, PILOT) for m in ("RTS", "AIS") for k in REACHED}
    counts = {"start not counted, AIS of 300": 300, "counted, AIS of 3,000": 3000}
    rts = size_of_bias(of["RTS", 300])
    less = {case: ms.difference(rts, size_of_bias(of["AIS", k])) for case, k in counts.items()}
    first = depends("whether the start counts", each(effect, name, less, direction=-1, unit="nats"))
    many = min(len(of[m, 100_000]) for m in ("RTS", "AIS")) >= FEWEST
    last = REACHED[-1 if many else -2]
    ratio = ms.rmse_ratio(of["RTS", last], of=of["AIS", last], paired=False)
    margin = {"margin": 1.5, "reason": "a factor of 1.5 in error is one of 2.25 in sweeps"}
    alike = equivalence(name, ratio, **margin)
    if not many:
        ours = f"{alike.effect:.2f} at 10,000 sweeps"
        alike = judge.left_open(name, "10⁵ sweeps were not run", ours=ours)
    found = together({"bias of RTS less AIS at first": first, "RMSE, RTS over AIS": alike})
    return priced(found.said(models=model), 3, "rts_public_uniform")


def knot(narrowest: dict[str, list[float]], trips: dict[str, np.ndarray]) -> Verdict:
    """Least conductance of 10 units; round trips of 500, uniform base over base rate."""
    of = {"least conductance, pcd_10": narrowest, "round trips, cd25_500": trips}
    ratios = {case: ms.ratio(x["uniform"], x["base rate"]) for case, x in of.items()}
    how = {"direction": -1, "size": (0, 0.5)}
    cases = each(effect, "carlson-fig7-knot", ratios, "{}, uniform base over base rate", **how)
    return together(cases).said(models="pcd_10 live; cd25_500")


def gains_a_tenth(errors: dict) -> Verdict:
    """10 units, over trainings: a reduction by 5 to 20 percent. The text names RSD."""
    ten = [e for model, e in errors.items() if model != "pcd_200"]
    rms = {kind: [rmse(e[kind]) for e in ten] for kind in ("rts", "rsd", "sd")}
    kinds = {"rsd": "RSD (text)", "sd": "SD (caption)"}
    ratios = {words: ms.ratio(rms[k], rms["rts"], paired=True) for k, words in kinds.items()}
    how = {"direction": -1, "size": (0.8, 0.95), "n_trainings": len(ten)}
    found = depends("which of the two it is", each(effect, "carlson-fig8-10", ratios, **how))
    return priced(found.said(models=f"{len(ten)} trainings"), 2, "rts_moves_trainings")


def gains_nothing(errors: dict) -> Verdict:
    own = errors["pcd_200"]
    ratios = {kind.upper(): ms.rmse_ratio(own[kind], of=own["rts"]) for kind in ("sd", "rsd")}
    return together(each(bound, "carlson-fig8-200", ratios, **TENTH)).said(models="pcd_200")
