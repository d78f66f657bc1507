"""The verdicts on the claims of Carlson et al. (2016).

Each function returns the verdict on one claim, or on a few. Each claim is judged over every
reading of what the paper leaves open. A reading that was not run leaves the claim open. The table
``rts_small`` has measurements on small models, with the regions that the claims allow.
"""

from __future__ import annotations

import math
from itertools import product

import numpy as np
import pandas as pd

from .. import judge
from .. import measured as ms
from ..judge import bound, compare, each, effect, equivalence, statement
from ..measured import FEW, Measured
from ..page import pick
from ..stored import kept_verdict, kept_verdicts
from ..tables import listed, span
from ..verdicts import CONTRADICTED, OUTCOMES, Verdict, by_case, depends, effect_in_words, together
from . import runs
from .runs import FEWEST, LENGTHS, PILOT, PUBLIC, READINGS, SOUND_ESS, growth, ratio_of, ratios
from .small import GROUP

RISES = {"direction": +1}
START = "which variables β is conditioned on and which sweeps of a round are used"
QUARTER = {"margin": 1.25, "reason": "about 50% more samples reduce an error by this factor"}
HALF = {"margin": 1.5, "reason": "small beside the growth of TS in the same figure"}
A_NAT = 1.0  # the largest difference from AIS that counts as agreement
COUNTED, PILOT_SWEEPS = "a pilot whose sweeps count", 4000
SPACED = f"a pilot, and {runs.SPACED_AIS}"
HUNDRED = ("h100", "spectral_100")  # in place of the paper's model
RIVALS = ("AIS", "RAISE")


def within(found) -> str:
    """The range of the effects of verdicts, and the range of their intervals, as text."""
    ends = span([x for v in found for x in (v.low, v.high)])
    return f"{span([v.effect for v in found])} (intervals within {ends})"


def kept(claim: str) -> Verdict:
    """The verdict of rts_small, with effects and intervals for "[0]", "[1]" in its sentence."""
    found = kept_verdict("rts_small", claim)
    for i, v in enumerate(kept_verdicts("rts_small", claim).values()):
        found = found.said(found.ours.replace(f"[{i}]", effect_in_words(v)))
    return found


# sections 2 and 3 ------------------------------------------------------------------------------


def rao_blackwell(small, many, first: pd.DataFrame) -> Verdict:
    """``many`` has chains with the guesses of ``small``; ``first`` has rounds of Figure 1."""
    name, q = "carlson-rao-blackwell", small.shares(small.guesses)
    sums = (x[1:, :, 0].sum(axis=0) for x in (many.mixed, many.visited))
    c, n = (x / x.sum(axis=-1, keepdims=True) for x in sums)
    close = {"margin": 0.02, "reason": "an error of 2% in q changes log Z by 0.02 nats"}
    ends = {"β = 0": c[:, 0] / q[0] - 1, "β = 1": c[:, -1] / q[-1] - 1}
    bias = each(equivalence, name, ends, **close)
    apart = (x[:, -1].reshape(-1, GROUP).mean(axis=1) - q[-1] for x in (c, n))
    spread = effect(name, ms.rmse_ratio(*apart), direction=-1)
    rough = {
        f"roughness, {model}, {begun}": ms.ratio(g["counted"], g["roughness_8"], paired=True)
        for (model, begun), g in first.groupby(["model", "begun"])
    }
    rough = each(bound, name, rough, at_least=2)
    cases = {f"mean of ĉ/q − 1, {end}": v for end, v in bias.items()}
    return together(cases | {"error of ĉ_K": spread} | rough).said(
        f"After eight rounds, log ĉ from counts is {within(rough.values())} times as rough as that "
        "from averages.",
        f"At equilibrium, the mean of ĉ/q − 1 is {by_case(bias)}, and the error of ĉ_K is "
        f"{effect_in_words(spread)} times that of counts.",
        "30 × 12 units at equilibrium; h10 and pcd_10 after eight rounds",
    )


def same_estimator(routes: dict[str, float], derivative: float) -> Verdict:
    holds = compare(np.ptp(list(routes.values())), "<", 1e-6) & compare(derivative, "<", 1e-9)
    ours = "On the same samples of 30 × 12 units, eq. (12) and the maxima of both likelihoods "
    ours += "differ by less than 10⁻⁶ nats in log Z."
    reason = "the slopes of both likelihoods at the solution of eq. (12) are below 10⁻⁹"
    return statement("carlson-same-estimator", holds, ours=ours, reason=reason)


def counts_unstable(first: pd.DataFrame, curves) -> Verdict:
    name, groups = "carlson-counts-unstable", first.groupby(["model", "begun"])
    shares = {f"empty bins, {model}, {begun}": g["empty"] for (model, begun), g in groups}
    empty = each(effect, name, shares, **RISES)
    more = ratios(curves, ("ts", 3001), ("ts", 100))
    more = each(bound, name, more, "RMSE, {}", at_least=2)
    return together(empty | more).said(
        f"After eight rounds with counts, a share of {within(empty.values())} of the bins is "
        "empty. Without the added 0.1, their updates would be infinite.",
        f"The RMSE of TS with 3,001 temperatures is {within(more.values())} times that with 100.",
    )


def start_rounds(first: pd.DataFrame, frame: pd.DataFrame) -> Verdict:
    """Limits: max |r − c| K ≤ 0.5 after eight rounds (10 units), or 10 nats after 1,000 sweeps."""
    name, cases = "carlson-start-rounds", {}
    for reading in READINGS:
        near = dict(list(first[first["begun"] == reading].groupby("model")["distance_8"]))
        off = np.abs(_errors(frame, PUBLIC, "RTS", 1000, reading))
        cases[reading] = each(bound, name, near, at_most=0.5, unit="× 1/K", least=0)
        cases[reading][PUBLIC] = bound(name, off, at_most=10, unit="nats", least=0)
    shown = "v, 10 left out", "v and h, all sweeps"
    best, worst = (effect_in_words(cases[x]["h10"]) for x in shown)
    public = [of[PUBLIC] for of in cases.values()]
    far = [v.effect for v in public if v.outcome == CONTRADICTED]
    return depends(f"{START}, and on the model; open with 500 units", cases).said(
        f"On h10, max |r − ĉ| after eight rounds is {best} if β is given v and 10 sweeps are left "
        f"out, but {worst} if β is given v and h and all sweeps are used.",
        "With the paper's 500 units, the mean absolute error of RTS after ten rounds exceeds ten "
        f"nats in {len(far)} of {len(public)} readings ({span(far)}).",
    )


def _of_ways(judged, name: str, ways: pd.DataFrame, of: str, **how) -> dict[str, dict]:
    """Verdicts by reading and model: error of a variant of ten rounds over that of the paper's."""
    found: dict[str, dict[str, Verdict]] = {}
    for (begun, model), g in ways.groupby(["begun", "model"]):
        errors = ((g[x] - g["exact"]).to_numpy() for x in (of, "log_z"))
        found.setdefault(begun, {})[model] = judged(name, ms.rmse_ratio(*errors), **how)
    return found


def simple_updates(ways: pd.DataFrame) -> Verdict:
    """``ways`` is the table rts_ways. The updates may have 1.5 times the error."""
    name = "carlson-simple-updates"
    cases = _of_ways(bound, name, ways, "likelihood", at_least=1 / 1.5)
    times = bound(name, ms.ratio(ways["likelihood_seconds"], ways["updates_seconds"]), at_least=1)
    off = within([v for of in cases.values() for v in of.values()])
    error = depends(START, cases).said(off)
    return together({"error": error, "time": times}).said(
        f"Maximising the likelihood of all ten rounds gives {off} times the error of the updates "
        f"and, without the sampling, takes {effect_in_words(times)} times as long.",
        models="h10, pcd_10",
    )


def fresh_beta(ways: pd.DataFrame) -> Verdict:
    """Each variant must have a larger error than the last x with a fresh beta."""
    name, cases = "carlson-fresh-beta", {}
    kept, new = (_of_ways(effect, name, ways, of, **RISES) for of in ("same_betas", "from_base"))
    for begun, of in kept.items():
        cases[begun] = {m: together({"β kept": v, "new x": new[begun][m]}) for m, v in of.items()}
    best = [of["v, 10 left out"][m] for m in ("h10", "pcd_10") for of in (kept, new)]
    worst = within([v for begun, of in kept.items() if "all" in begun for v in of.values()])
    return depends("which sweeps of a round are used, and on the model", cases).said(
        "If β is given v and 10 sweeps are left out, keeping β gives {} times the RMSE of the "
        "paper's rounds on h10, and a new x gives {} times. On pcd_10, the factors are {} and "
        "{}.".format(*map(effect_in_words, best)),
        f"With all sweeps, keeping β gives {worst} times.",
    )


# Figures 2 and 3 -------------------------------------------------------------------------------


def figure_2(errors: dict[str, np.ndarray], fine: dict[str, np.ndarray]) -> Verdict:
    """Errors of each estimator on the same states, with 41 and with 601 temperatures."""
    cases = {}
    for case, of in (("K = 41", errors), ("K = 601", fine)):
        over = {k: ms.rmse_ratio(e, of=of["RTS"]) for k, e in of.items() if k != "RTS"}
        cases[case] = each(equivalence, "carlson-fig2-alike", over, **QUARTER)
    few, many = cases.values()
    others = within([v for k, v in few.items() if k != "TI Riemann"])
    return depends("the number of temperatures", cases).said(
        f"With K = 41, the RMSE of the Riemann sum is {effect_in_words(few['TI Riemann'])} times "
        f"that of RTS, and those of the others are {others} times.",
        f"With K = 601, all factors are {within(many.values())}.",
    )


def sandwich(frame: pd.DataFrame) -> Verdict:
    """Mean errors over runs with 100, 300 and 1,000 temperatures, one number per seed."""
    cases = {}
    public = frame[(frame["model"] == PUBLIC) & frame["steps"].isin((100, 300, 1000))]
    for sign, which in ((-1, {"method": "AIS"}), (+1, {"method": "RAISE", "n_images": 100})):
        by_seed = pick(public, **which).pivot_table("error", "seed", "steps").dropna().mean(axis=1)
        judged = effect("carlson-sandwich", by_seed.to_numpy(), direction=sign, unit="nats")
        cases[which["method"]] = judged
    return together(cases).said(f"The mean error is {by_case(cases)}.", models=PUBLIC)


def truth_variance(frame: pd.DataFrame) -> Verdict:
    """Is 0.006 right within a factor of two, as the variance of RTS, AIS or their average?"""
    cases = {}
    for model, way in [*product((PUBLIC, *HUNDRED), [PILOT]), (PUBLIC, SPACED)]:
        rts = _errors(frame, model, "RTS", 10_000, PILOT)
        ais = _errors(frame, model, "AIS", 10_000, way)
        n = min(len(rts), len(ais))
        of = {"RTS": rts[:n], "AIS": ais[:n], "average": (rts[:n] + ais[:n]) / 2}
        if way == SPACED:
            of = {f"{x} (spaced as by Salakhutdinov & Murray)": of[x] for x in ("AIS", "average")}
        for method, e in of.items():
            found = ms.measured(np.var(e, ddof=1), np.sqrt(2 / (n - 1)), n - 1, "log")
            limits = {"at_least": 0.006 / 2, "at_most": 0.006 * 2}
            cases[f"{method}, {model}, {n} runs"] = bound("carlson-truth-variance", found, **limits)
    public, *own = ([v for k, v in cases.items() if m in k] for m in (PUBLIC, *HUNDRED))
    return depends("the estimate and the model to which 0.006 belongs", cases).said(
        f"On the paper's model with 500 units, the variances of RTS, AIS and their average are "
        f"{within(public)}.",
        "In place of its model with 100 units, which is not public, they are "
        f"{listed(f'{v.effect:.4f}' for v in own[0])} on h100, and "
        f"{listed(f'{v.effect:.4f}' for v in own[1])} on spectral_100, trained as in the paper.",
    )


def _errors(*of) -> np.ndarray:
    return _by_seed(*of).to_numpy()


def _by_seed(frame, model: str, method: str, steps: int, reading: str = "") -> pd.Series:
    """Errors of runs; ``reading`` is the start of RTS. RAISE has one chain per image.

    If the sweeps of the pilot count, other methods get as many additional sweeps.
    """
    if reading == COUNTED:
        steps, reading = steps + PILOT_SWEEPS * (method != "RTS"), PILOT
    if reading == SPACED:
        method, reading = runs.SPACED_AIS if method == "AIS" else method, PILOT
    more = {"RTS": {"begun": reading}, "RAISE": {"n_images": 100}}.get(method, {})
    return runs.by_seed(frame, model=model, method=method, steps=steps, **more)


def _columns(frame, model, reading, lengths) -> dict[str, list[np.ndarray]]:
    """Errors of RTS and of each other method: a column per length that both have, a row per seed.

    A length without a run from a seed has NaN.
    """
    found = {}
    for other in RIVALS:
        pairs = ([_by_seed(frame, model, x, k, reading) for x in ("RTS", other)] for k in lengths)
        sides = zip(*(pair for pair in pairs if min(map(len, pair)) >= FEWEST), strict=True)
        found[other] = [pd.concat(of, axis=1).to_numpy() for of in sides]
    return found


def size_of_bias(errors: np.ndarray) -> Measured:
    """Absolute mean error, averaged over columns, which may share seeds (rows)."""
    mean, n = np.nanmean(errors, axis=0), (~np.isnan(errors)).sum(axis=0)
    parts = (np.nan_to_num(errors - mean) * np.sign(mean) / n).mean(axis=1)  # of each seed
    variance = (parts**2).sum() * n.min() / (n.min() - 1)
    return ms.measured(np.abs(mean).mean(), math.sqrt(variance), n.min() - 1)


def less_biased(name, frame, model, reading, lengths=LENGTHS) -> dict[str, Verdict]:
    """Absolute bias of RTS minus that of each other method, averaged over the lengths."""
    sides = _columns(frame, model, reading, lengths)
    less = {other: ms.difference(*map(size_of_bias, of)) for other, of in sides.items()}
    return each(effect, name, less, direction=-1, unit="nats")


def needs_tenfold(name, frame, model, reading) -> dict[str, Verdict]:
    """RMSE of AIS with ten times the sweeps, divided by that of RTS with 1,000 sweeps."""
    sweeps = 10 * (1000 + PILOT_SWEEPS * (reading == COUNTED))
    ais = _errors(frame, model, "AIS", sweeps, reading if reading == SPACED else "")
    rts = _errors(frame, model, "RTS", 1000, reading)
    return {"AIS": effect(name, ms.rmse_ratio(ais, of=rts, paired=False), **RISES)}


def dominates(name, frame, model, reading) -> dict[str, Verdict]:
    """RMSE of each other method divided by that of RTS, averaged over 1,000 sweeps and more."""
    sides = _columns(frame, model, reading, LENGTHS[2:])
    over = {other: mean_ratio(errors, of=rts) for other, (rts, errors) in sides.items()}
    return each(effect, name, over, **RISES)


def mean_ratio(errors: np.ndarray, of: np.ndarray) -> Measured:
    """Geometric mean over columns of the ratio of two RMSEs, on the scale "log".

    Columns may share seeds, and the jackknife leaves out one row (seed) at a time on each side.
    """

    def half(errors):
        squares, ran = np.nan_to_num(errors**2), ~np.isnan(errors)
        total, n = squares.sum(axis=0), ran.sum(axis=0)
        left = np.log((total - squares) / (n - ran)).mean(axis=1) / 2
        return np.log(total / n).mean() / 2, (len(errors) - 1) * left.var(), n.min()

    (a, var_a, n_a), (b, var_b, n_b) = half(errors), half(of)
    freedom = min(n_a, n_b) - 1
    return ms.measured(math.exp(a - b), math.sqrt(var_a + var_b), freedom, "log")


PARTS = {  # of the claims on Figure 3, with the names of the measured quantities
    "bias": ("absolute bias of RTS minus that of the other method", less_biased),
    "tenfold": ("RMSE at 10,000 sweeps divided by that of RTS at 1,000 sweeps", needs_tenfold),
    "dominates": ("RMSE divided by that of RTS at equal sweeps", dominates),
}


def of_start(name: str, frame, models, parts) -> Verdict:
    """Some values of `PARTS` over all readings of the start; of several, "tenfold" is shown."""
    shown, _ = PARTS["tenfold"] if len(parts) > 1 else parts[0]
    found: dict[tuple[str, str], dict[str, Verdict]] = {}  # what the card shows

    def of(model, reading):
        if any(len(_errors(frame, model, x, 1000, reading)) < FEWEST for x in ("RTS", "AIS")):
            return judge.left_open(name, "not run")
        every = {words: judged(name, frame, model, reading) for words, judged in parts}
        found[reading, model] = every[shown]
        every = {words: together(v, by_case(v)) for words, v in every.items()}
        if len(parts) == 1:
            return every[shown]
        return together(every, "" if reading == PILOT else every[shown].ours)

    more = {runs.PILOT_GIVEN_V: "β is given v", SPACED: runs.SPACED_AIS}
    more |= {COUNTED: "the pilot counts"} if PUBLIC in models else {}
    label = {m: m if len(models) > 1 else "" for m in models}
    cases = {x: {label[m]: of(m, x) for m in models} for x in (*READINGS, PILOT, *more)}
    said = [by_case(found[PILOT, m]) + (f" on {m}" if label[m] else "") for m in models]
    others = [f"{together(cases[x]).outcome} if {setting}" for x, setting in more.items()]
    rounds = [v.outcome for x in READINGS for v in cases[x].values()]
    counts = {x: f"{rounds.count(x)} are {x}" for x in OUTCOMES if x in rounds}
    far = [
        found[x, m]["AIS"]
        for x, m in found
        if x in READINGS and cases[x][label[m]].outcome == CONTRADICTED
    ]
    if far:
        numbers = f"{span([v.effect for v in far])} {far[0].unit}".strip()
        counts[CONTRADICTED] += f" ({numbers} for AIS)"
    return depends("the start of RTS", cases).said(
        f"After {PILOT_SWEEPS:,} pilot steps that are not counted, the {shown} is {listed(said)}."
        + " The paper's model is not public." * (PUBLIC not in models),
        f"With a pilot, the claim is {listed(others)}. Of {len(rounds)} cases with ten rounds, "
        f"{listed(counts.values())}.",
        ", ".join(models),
    )


def figure_3(frame: pd.DataFrame) -> list[Verdict]:
    """A verdict on each of `PARTS` with 500 hidden units, and one on all with 100."""
    bias, *public = (of_start(f"carlson-fig3-500-{x}", frame, [PUBLIC], [PARTS[x]]) for x in PARTS)
    late = effect_in_words(less_biased(bias.name, frame, PUBLIC, PILOT, LENGTHS[2:])["AIS"])
    bias = bias.said(words=f"From {LENGTHS[2]:,} sweeps on, it is {late} for AIS. {bias.words}")
    return [bias, *public, of_start("carlson-fig3-100", frame, [*HUNDRED], [*PARTS.values()])]


# Figure 4 --------------------------------------------------------------------------------------


def more_temperatures(repeats: list[pd.DataFrame], states: pd.DataFrame) -> list[Verdict]:
    """3,001 temperatures, which stand for continuous ones, against 100 on the paper's model.

    Each of the ``repeats`` has the RMSE by number of temperatures, from one run for each number.
    ``states`` has equally many runs with each, whose standard errors we scale to equal sweeps.
    """
    name, scaled = "carlson-continuous-beta", states["std_error"] * states["n_sweeps"] ** 0.5
    grown = np.array([growth(curve, 100) for curve in repeats])
    flat = ms.ratio(grown, np.ones_like(grown), paired=True)
    more = ms.ratio(*([c.loc[k, "rts"] for c in repeats] for k in (3001, 100)), paired=True)
    flat = equivalence("carlson-fig4-flat", flat, **HALF)
    chains = ms.ratio(*(scaled[states["n_temperatures"] == k - 1] for k in (3001, 100)))
    ways = each(effect, name, {"resampled states": more, "chains": chains}, **RISES)
    drawn, run = map(effect_in_words, ways.values())
    said = "On {}, the RMSE of RTS at 3,001 temperatures is {} times that at 100{}."
    fitted = ", the paper's K (by a line through larger K)"
    chains = f"From chains with equally many sweeps, its standard error is {run} times as large. "
    chains += "The 3,001 temperatures stand for a continuous β."
    more = depends("the measure", ways).said(
        said.format("resampled states", drawn, ""), chains, PUBLIC
    )
    return [
        together({PUBLIC: flat}).said(
            said.format("the paper's model", effect_in_words(flat), fitted)
        ),
        more.priced("fifty more runs with each number of temperatures (1.6 h)"),
    ]


def few_temperatures(small_errors, curves) -> Verdict:
    name = "carlson-few-temperatures"
    close = {"margin": 0.02, "reason": "less than the error of TI-RB with 20 temperatures"}
    mean = equivalence(name, small_errors, unit="nats", **close)
    grown = {x: ratios(curves, (x, 20), (x, 100)) for x in ("rts", "ti", "ti_rb")}
    over = {
        f"{other} over RTS, {model}": ms.minus(grown[x][model], grown["rts"][model])
        for model in curves
        for x, other in (("ti", "TI"), ("ti_rb", "TI-RB"))
    }
    over = each(bound, name, over, at_least=2)
    return together({"mean error of RTS": mean} | over).said(
        f"From 100 temperatures to 20, the RMSE of TI and of TI-RB grows by a factor that is "
        f"{within(over.values())} times that of RTS.",
        f"On 30 × 12 units with 20 temperatures, the mean error of RTS is {effect_in_words(mean)}.",
    )


def tirb(curves, n_states: int = 10_000) -> Verdict:
    """TI has no value in an empty bin; the paper fills empty bins by interpolation."""
    name, k = "carlson-tirb", 3001
    over = each(effect, name, ratios(curves, ("ti", k), ("ti_rb", k)), "TI over TI-RB, {}", **RISES)
    empty = k * (1 - 1 / k) ** n_states
    said, why = f"{empty:.0f} of {k:,} bins are expected to be empty", "TI has no value in them"
    unstable = statement(name, compare(empty, ">", 1), ours=said, reason=why)
    pairs = (("ti", k), ("ti", 100)), (("ti", 100), ("ti_rb", 100))
    grown, few = (span([math.exp(x.value) for x in ratios(curves, *p).values()]) for p in pairs)
    return together({"bins": unstable} | over).said(
        f"With {n_states:,} states, {said}, and {why}.",
        f"With such bins interpolated, the RMSE of TI is {grown} times that with 100 temperatures, "
        f"and {within(over.values())} times that of TI-RB ({few} times with 100).",
    )


def tirb_limit(gaps: pd.Series, curves) -> Verdict:
    """``gaps`` has TI-RB minus RTS on the same states, by K."""
    name = "carlson-tirb-limit"
    scaled = (gaps * np.square(gaps.index.to_numpy(dtype=float))).iloc[-3:]
    falls = compare(scaled.max() / scaled.min(), "<", 1.3) & compare(abs(gaps.iloc[-1]), "<", 1e-3)
    first, last = gaps.index[[0, -1]]
    said = f"{abs(gaps[first]):.3f} nats at K = {first} and {abs(gaps[last]):.5f} at K = {last}"
    limit = statement(name, falls, ours=said, reason="the difference falls as 1/K²")
    few, many = (ratios(curves, ("ti_rb", k), ("rts", k)) for k in (20, 3001))
    over = {model: ms.minus(few[model], many[model]) for model in curves}
    over = each(effect, name, over, "RMSE ratio, K = 20 over K = 3,001, {}", **RISES)
    few, many = ([math.exp(x.value) for x in of.values()] for of in (few, many))
    return together({"difference, 30 × 12": limit} | over).said(
        f"On 30 × 12 units, TI-RB and RTS differ by {said}.",
        f"On trained models, the RMSE of TI-RB is {span(few)} times that of RTS at K = 20 and "
        f"{max(many):.3f} times at K = 3,001.",
    )


def beats_mbar(chains: dict[str, tuple], drawn: tuple, curves) -> Verdict:
    """Errors of MBAR and RTS: ``chains`` from chains, by model; ``drawn`` from resampled states."""
    name = "carlson-beats-mbar"
    again = {"30 × 12": ratio_of(*map(np.std, drawn), *map(len, drawn))}
    again = each(effect, name, again | ratios(curves, ("mbar", 100), ("rts", 100)), **RISES)
    given = each(effect, name, {x: ms.rmse_ratio(*e) for x, e in chains.items()}, **RISES)
    return together(again).said(
        f"On resampled states, the error of MBAR is {within(again.values())} times that of RTS.",
        f"On the original states, the factor is {by_case(given)}.",
    )


def cost(times: pd.DataFrame, v: int = 784, h: int = 10, k: int = 100) -> Verdict:
    """MBAR is prohibitive if the 200 estimates of a point of Figure 4 take more than an hour.

    RTS adds a sum for each of k temperatures to a sweep of v × h units and the draw of beta.
    """
    name, share = "carlson-cost", k / (4 * v * h + 8 * v + 6 * h + 7 * k - 2)
    few, many = (times["mbar_seconds"][times["n_temperatures"] == n] for n in (999, 3000))
    hours, error = 200 * many.mean() / 3600, few.std() / few.mean() / math.sqrt(len(many))
    needed = ms.measured(hours, error, len(few) - 1, "log")
    added = bound(name, ms.exactly(share), at_most=0.05, unit="of those of a sweep")
    long = bound(name, needed, at_least=1, unit="h", alpha=FEW)
    return together({"operations that RTS adds": added, "200 estimates by MBAR": long}).said(
        f"RTS adds {share:.2%} to the operations of a sweep ({v} × {h} units, K = {k} "
        "temperatures) and stores K sums.",
        f"MBAR stores a number for each state. One estimate by our solver took {many.mean():.0f} s "
        f"with K = 3,001, so the 200 of a point in Figure 4 would take {effect_in_words(long)}.",
    )


# Figure 5 --------------------------------------------------------------------------------------


def tracks(trainings: dict[str, dict]) -> Verdict:
    """Within a nat if AIS is reliable, at the paper's learning rate or with most of its chains."""
    name, cases = "carlson-fig5-tracks", {}
    off = {case: found["largest difference"] for case, found in trainings.items()}
    faster = [off.pop(x) for x in trainings if x.startswith("400") and "step 1e-05" not in x]
    reason = f"only differences at which the ESS of AIS is {SOUND_ESS} or more are judged"
    for case, x in off.items():
        ours = f"{x:.2f} nats at most"
        cases[case] = statement(name, compare(x, "<", A_NAT), ours=ours, reason=reason)
    many, *own = (off[case] for case in sorted(off))
    return together(cases).said(
        f"At the paper's learning rate, the largest difference from AIS is {span(own)} nats with "
        "the gains 0.05, 0.2 and 0.5.",
        f"With 1,600 chains at 3.5 times this rate, it is {many:.3g} nats. With 400 chains at four "
        f"times this rate, it is {span(faster)} nats, and above one nat in "
        f"{sum(x > A_NAT for x in faster)} of {len(faster)} training runs.",
        "dna, 500 units, with 400 or 1,600 chains instead of 2,000",
    )


def early_stopping(trainings: dict[str, dict]) -> Verdict:
    """The best validation likelihood by AIS minus that at the best update by tracking."""
    faster = [x for x in trainings if x.startswith("400") and "step 1e-05" not in x]
    lost = [trainings[x]["nats lost"] for x in faster]
    how = {"at_most": A_NAT, "unit": "nats", "n_trainings": len(lost), "alpha": FEW, "least": 0}
    found = bound("carlson-early-stopping", lost, **how)
    return found.said(
        "Stopping where tracking, not AIS, finds the best update loses "
        f"{effect_in_words(found)} on average over {len(lost)} training runs.",
        f"The limit is one nat, and {sum(x > A_NAT for x in lost)} lose more. With 1,600 chains, "
        "the validation likelihood did not begin to fall.",
        "dna, 500 units, 400 chains",
    ).priced("training runs longer than ours with the paper's 2,000 chains (6 h)")


def prior_gradient(runs: pd.DataFrame) -> Verdict:
    over = ms.ratio(*(pick(runs, prior=prior)["variance"] for prior in ("rising", "uniform")))
    found = effect("carlson-prior-gradient", over, direction=-1)
    return found.said(
        "On dna with 500 hidden units and chains of 25 sweeps, the variance of the gradient with "
        f"the prior exp(2β) is {effect_in_words(found)} times that with the uniform prior.",
        "This is the variance of the model's term, summed over the weights.",
        "dna_cd1_500, 400 chains",
    )


# Figures 6 to 8 --------------------------------------------------------------------------------


def adaptive(mixing: pd.DataFrame, errors: dict) -> Verdict:
    """``mixing`` has stored chains by kind of step; ``errors``, live, have (k/40)² and one step."""
    name, cases = "carlson-fig6-adaptive", {}
    for (kernel, ladder, n), of in mixing.groupby(["kernel", "ladder", "n_leapfrog"]):
        of = of.set_index("steps")
        error = float(np.hypot(*(of["round_trips_error"] / of["round_trips"])))
        gain = of["round_trips"]["adaptive"] / of["round_trips"]["fixed"]
        trips = ms.measured(gain, error, of["n_chains"]["adaptive"] - 1, "log")
        move = "random walk" if kernel == "random_walk" else f"HMC, leapfrog steps: {n}"
        case = f"{move}, {'(k/40)²' if ladder == 'square' else 'k/40'}"
        cases[case] = effect(name, trips, **RISES)
    most, least = (end(cases, key=lambda case: cases[case].effect) for end in (max, min))
    smaller = ms.rmse_ratio(errors["fixed"], of=errors["adapted"], paired=False)
    smaller = effect(name, smaller, **RISES)
    every = cases | {"RMSE, fixed over adapted": smaller}
    return depends("the temperatures and the number of leapfrog steps", every).said(
        f"Adapted steps multiply round trips by {effect_in_words(cases[most])} at most ({most}) "
        f"and by {effect_in_words(cases[least])} at least ({least}).",
        f"With β = (k/40)² and one leapfrog step, the RMSE with fixed steps is "
        f"{effect_in_words(smaller)} times that with adapted steps.",
        "the mixture, 41 temperatures",
    )


def uniform_worse(rate: pd.DataFrame, uniform: pd.DataFrame, model: str, starts) -> Verdict:
    """RMSE from the uniform base divided by that from the base rate, and rounds of the start.

    ``starts`` has the number of rounds by reading and base.
    """
    name, rivals = "carlson-fig7-worse", {}
    for method, steps in product(("RTS", "AIS", "reverse AIS"), (1000, 3000)):
        both = (_errors(frame, model, method, steps, PILOT) for frame in (uniform, rate))
        over = ms.rmse_ratio(*both, paired=False)
        rivals[f"{method}, {steps:,} sweeps"] = effect(name, over, **RISES)
    longer = {
        f"rounds on pcd_10, {reading}": ms.ratio(of["uniform"], of["base rate"])
        for reading, of in starts.items()
    }
    longer = each(effect, name, longer, **RISES)
    quick = [n for of in starts.values() for n in of["base rate"]]
    return together(rivals | longer).said(
        "With the uniform base, the RMSE (for RAISE, that of reverse AIS) is "
        f"{within(rivals.values())} times that with the base rate.",
        f"On pcd_10, the start settles (within 0.5/K) after {min(quick):.0f} to "
        f"{max(quick):.0f} rounds with the base rate. With the uniform base, it takes at least "
        f"{within(longer.values())} times as many.",
        f"{model}, trained by the recipe of the paper's model; pcd_10 for the start",
    )


def uniform_similar(uniform: pd.DataFrame, model: str) -> Verdict:
    """Absolute bias of RTS minus that of AIS at first, and their difference after 10⁵ sweeps."""
    name, early, late = "carlson-fig7-similar", "after 300 sweeps", "after 10⁵ sweeps"

    def less(steps, of_ais, begun=PILOT):
        runs = (("RTS", steps, begun), ("AIS", of_ais))
        return ms.difference(*(size_of_bias(_errors(uniform, model, *x)[:, None]) for x in runs))

    rounds = "v and h, all sweeps"
    first = {
        early: less(300, 300),
        f"{early}, if the pilot counts (AIS at 3,000 sweeps)": less(300, 3000),
        f"{early}, from ten rounds that never settle ({rounds})": less(300, 300, rounds),
    }
    first = each(effect, name, first, direction=-1, unit="nats")
    margin = {"margin": 0.15, "reason": "four times the RMSE of either method"}
    later = equivalence(name, less(100_000, 100_000), **margin, unit="nats")
    at_first = depends("the start and on whether its sweeps count", first)
    words = [effect_in_words(v) for v in (*first.values(), later)]
    found = together({early: at_first, late: later})
    return found._replace(parts=together(first | {late: later}).parts).said(
        f"At 300 sweeps after a pilot, the absolute bias of RTS minus that of AIS is {words[0]} if "
        f"the pilot is not counted and {words[1]} if it is.",
        f"After 10⁵ sweeps from the pilot, it is {words[3]}.",
        f"{model}, trained by the recipe of the paper's model",
    )


def knot(narrowest: dict[str, np.ndarray], trips: dict[str, np.ndarray], model: str) -> Verdict:
    """Smallest conductance and round trips, uniform base over base rate."""
    of = {"smallest conductance": narrowest, "round trips": trips}
    over = {case: ms.ratio(x["uniform"], x["base rate"]) for case, x in of.items()}
    cases = each(bound, "carlson-fig7-knot", over, at_most=0.5)
    flow, made = map(effect_in_words, cases.values())
    return together(cases).said(
        f"With the uniform base, the smallest conductance is {flow} times that with the base rate, "
        f"and the chains make {made} times as many round trips.",
        models=f"{model}, trained by the recipe of the paper's model",
    )


def gains_a_tenth(errors: dict, chosen: dict) -> Verdict:
    """With 10 units, a reduction by 5 to 20 percent on each of the ``chosen`` models."""
    over = {
        f"{kind.upper()}, {model}": ms.rmse_ratio(of[kind], of["rts"])
        for model, of in chosen.items()
        for kind in ("rsd", "sd")
    }
    cases = each(effect, "carlson-fig8-10", over, direction=-1, size=(0.8, 0.95))
    found = by_case({model: cases[f"RSD, {model}"] for model in chosen}, "{} on {}")
    rsd, sd = (ms.factor(over_rts(errors, kind)) for kind in ("rsd", "sd"))
    by_cd = sum(model.startswith("cd1") for model in errors)
    return depends("the model, and on whether SD or RSD is meant", cases).said(
        f"With averaged moves (RSD), the RMSE divided by that of RTS is {found}.",
        f"The mean over {len(errors)} models is {rsd}. With counted moves (SD), it is {sd}.",
        f"{len(errors) - by_cd} training runs by PCD and {by_cd} by CD-1",
    )


def over_rts(errors: dict, kind: str) -> Measured:
    """Geometric mean over training runs of the RMSE divided by that of RTS, on the scale "log"."""
    ratios = [ms.rmse_ratio(of[kind], of["rts"]).value for of in errors.values()]
    return ms.mean_of(ratios)._replace(scale="log")


def gains_nothing(own: dict[str, np.ndarray]) -> Verdict:
    """Less than 5% on the model with 200 units: a larger gain counts as about 10% with 10."""
    over = {kind.upper(): ms.rmse_ratio(own[kind], of=own["rts"]) for kind in ("sd", "rsd")}
    cases = each(bound, "carlson-fig8-200", over, at_least=0.95)
    ours = f"On pcd_200, the RMSE divided by that of RTS is {by_case(cases)}."
    price = "30,000 more runs (an hour) would show whether RSD gains 5% or more"
    return together(cases).said(ours).priced(price)
