"""The verdicts on the claims of Carlson et al. (2016).

Each function returns the verdict on one claim, or on a few. Each claim is judged over every
reading of what the paper leaves open. A reading that was not run leaves the claim open, with the
cost of the missing runs. The table ``rts_small`` has measurements on small models, with the regions
that the claims allow.
"""

from __future__ import annotations

import math
from itertools import product

import numpy as np
import pandas as pd

from .. import judge
from .. import measured as ms
from ..judge import bound, compare, effect, equivalence, statement
from ..measured import FEW, Measured
from ..page import pick
from ..tables import listed
from ..verdicts import OUTCOMES, Verdict, depends, effect_in_words, together
from . import runs
from .runs import FEWEST, LENGTHS, PILOT, PUBLIC, READINGS, SOUND_ESS, growth, ratio_of, ratios
from .small import GROUP

RISES = {"direction": +1}
TWOFOLD = {"direction": +1, "size": (2, math.inf)}
START = "which variables β is conditioned on and which sweeps of a round are used"
QUARTER = {"margin": 1.25, "reason": "about 50% more samples reduce an error by this factor"}
HALF = {"margin": 1.5, "reason": "as for equally effective, a stronger claim of the paper"}
A_NAT = 1.0  # a difference of a nat distinguishes two models
COUNTED, PILOT_SWEEPS = "a pilot whose sweeps count", 4000
RIVALS = dict.fromkeys((PUBLIC, "h100", "spectral_100"), ("AIS", "RAISE"))


def each(judged, name: str, cases: dict, label: str = "{}", **how) -> dict[str, Verdict]:
    """Verdicts on all cases by one function; ``label`` formats their names."""
    return {label.format(case): judged(name, found, **how) for case, found in cases.items()}


def span(found, form: str = ".2f") -> str:
    """The range of numbers, or of the effects of verdicts, as text."""
    numbers = [getattr(v, "effect", v) for v in found]
    low, high = (format(x, form).replace("-", "−") for x in (min(numbers), max(numbers)))
    return low if low == high else f"{low} to {high}"


def by_case(cases: dict[str, Verdict]) -> str:
    """The effects of cases as text: "1.2 [1.1, 1.3] for AIS and 1.4 [1.2, 1.6] for RAISE"."""
    return " and ".join(f"{effect_in_words(v)} for {case}" for case, v in cases.items())


# sections 2 and 3 ------------------------------------------------------------------------------


def rao_blackwell(small, many, first: pd.DataFrame) -> Verdict:
    """``many`` has chains with the guesses of ``small``; ``first`` has rounds of Figure 1."""
    name, q = "carlson-rao-blackwell", small.shares(small.guesses)
    sums = (x[1:, :, 0].sum(axis=0) for x in (many.mixed, many.visited))
    c, n = (x / x.sum(axis=-1, keepdims=True) for x in sums)
    close = {"margin": 0.02, "reason": "an error of 2% in q changes log Z by 0.02 nats"}
    ends = {"β = 0": c[:, 0] / q[0] - 1, "β = 1": c[:, -1] / q[-1] - 1}
    cases = each(equivalence, name, ends, "mean of c/q − 1, {}", **close)
    apart = (x[:, -1].reshape(-1, GROUP).mean(axis=1) - q[-1] for x in (c, n))
    spread = effect(name, ms.rmse_ratio(*apart), direction=-1)
    rough = {
        f"{model}, β given {begun}": ms.ratio(g["counted"], g["roughness_8"], paired=True)
        for (model, begun), g in first.groupby(["model", "begun"])
    }
    rough = each(effect, name, rough, "roughness of counts over that of averages, {}", **TWOFOLD)
    cases |= {"error of averages over that of counts, 30 × 12": spread}
    return together(cases | rough).said(
        "After eight rounds, log ĉ from counts is "
        f"{span(rough.values(), '.0f')} times as rough as log ĉ from averages.",
        f"At equilibrium, the average c_K is unbiased, and its error is {spread.effect:.2f} times "
        "that of counts.",
    )


def same_estimator(routes: dict[str, float], derivative: float) -> Verdict:
    holds = compare(np.ptp(list(routes.values())), "<", 1e-6) & compare(derivative, "<", 1e-9)
    ours = "On 30 × 12 units, the three estimates of log Z differ by less than 10⁻⁶ nats."
    reason = "both likelihoods have their maximum at the solution of eq. (12)"
    return statement("carlson-same-estimator", holds, ours=ours, reason=reason)


def counts_unstable(first: pd.DataFrame, curves) -> Verdict:
    name, groups = "carlson-counts-unstable", first.groupby(["model", "begun"])
    shares = {f"{model}, β given {begun}": g["empty"] for (model, begun), g in groups}
    empty = each(effect, name, shares, "share of empty bins, {}", **RISES)
    more = ratios(curves, ("ts", 3001), ("ts", 100))
    more = each(
        effect, name, more, "RMSE of TS with 3,001 temperatures over that with 100, {}", **TWOFOLD
    )
    percent = span([100 * v.effect for v in empty.values()], ".0f")
    ours = f"After eight rounds, {percent}% of the bins are empty."
    times = span(more.values(), ".1f")
    words = f"The RMSE of TS with 3,001 temperatures is {times} times that with 100."
    return together(empty | more).said(ours, words)


def start_rounds(first: pd.DataFrame, frame: pd.DataFrame) -> Verdict:
    """Limits: max |r − c| K ≤ 0.5 after eight rounds (10 units), or 10 nats after 1,000 sweeps."""
    name, cases, off = "carlson-start-rounds", {}, []
    for reading in READINGS:
        distances = dict(list(first[first["begun"] == reading].groupby("model")["distance_8"]))
        large = {m: np.abs(_errors(frame, m, "RTS", 1000, reading)) for m in (*RIVALS, "cd25_500")}
        large = {model: e for model, e in large.items() if len(e) >= FEWEST}
        found = each(bound, name, large, at_most=10, unit="nats", least=0)
        near = each(bound, name, distances, at_most=0.5, unit="× 1/K", least=0)
        cases[reading] = near | found
        off += found.values()
    far = first[first["model"] == "h10"].groupby("begun")["distance_8"].mean()
    every = [(f"{x}, {m}", v) for x, models in cases.items() for m, v in models.items()]
    sure = [case for case, v in every if v.outcome == judge.REPRODUCED]
    public = sum(PUBLIC in case for case in sure) or "none"
    return depends(f"{START}, and on the model", cases).said(
        f"On h10, max |r − c| after eight rounds is {span(far)} times 1/K.",
        "After ten rounds and 1,000 sweeps on larger models, the error of RTS is "
        f"{span(off, '.0f')} nats. In {len(sure)} of {len(every)} cases, the value is surely below "
        "0.5/K or ten nats "
        f"({'; '.join(sure)}): {public} of these cases is on the paper's model. With 10 units, the "
        f"value is below 0.1/K in {sum(first['distance_8'] < 0.1)} of {len(first)} starts.",
    )


def _of_ways(ways: pd.DataFrame, of: str) -> dict[tuple, Measured]:
    """Error of a variant of ten rounds over that of the paper's rounds, by reading and model."""
    return {
        key: ms.rmse_ratio(*((g[x] - g["exact"]).to_numpy() for x in (of, "log_z")))
        for key, g in ways.groupby(["begun", "model"])
    }


def simple_updates(ways: pd.DataFrame) -> Verdict:
    """``ways`` is the table rts_ways. The updates may have 1.5 times the error."""
    name, cases = "carlson-simple-updates", {}
    for (begun, model), ratio in _of_ways(ways, "likelihood").items():
        cases.setdefault(begun, {})[model] = bound(name, ratio, at_least=1 / 1.5)
    times = ms.ratio(ways["likelihood_seconds"], ways["updates_seconds"])
    work = bound(name, times, at_least=1, unit="times that of the updates")
    off = span(v.effect for of in cases.values() for v in of.values())
    error = depends(START, cases).said(f"{off} times that of the updates")
    return together({"error by the likelihood": error, "computing time": work}).said(
        "On h10 and pcd_10, maximising the likelihood of all rounds gives "
        f"{off} times the error of the updates and takes {work.effect:.0f} times as long, without "
        "the sampling.",
        "The updates count as equally effective if they have at most 1.5 times the error of this "
        "maximisation.",
    )


def fresh_beta(ways: pd.DataFrame) -> Verdict:
    """Each variant must have a larger error than the last x with a fresh beta."""
    name, cases, new = "carlson-fresh-beta", {}, _of_ways(ways, "from_base")
    kept = _of_ways(ways, "same_betas")
    for (begun, model), ratio in kept.items():
        over = {"β kept": ratio, "new x": new[begun, model]}
        both = each(effect, name, over, unit="times the error", **RISES)
        cases.setdefault(begun, {})[model] = together(both)

    def times(of: dict, *words: str) -> str:
        return span(math.exp(x.value) for key, x in of.items() if words[0] in key[0]
                    and key[1] in (words[1:] or key[1]))  # fmt: skip

    every = [(f"{x}, {m}", v) for x, models in cases.items() for m, v in models.items()]
    sure = [case for case, v in every if v.outcome == judge.REPRODUCED]
    return depends("which sweeps of a round are used, and on the model", cases).said(
        f"If all sweeps of a round are used, the RMSE of chains that keep their β is "
        f"{times(kept, 'all')} times that of the paper's rounds. If 10 are left out, it is "
        f"{times(kept, '10', 'h10')} times on h10 and {times(kept, '10', 'pcd_10')} times on "
        f"pcd_10. From a new x, it is {times(new, '')} times.",
        f"The claim is reproduced in {len(sure)} of {len(every)} cases ({'; '.join(sure)}).",
    )


# Figures 2 and 3 -------------------------------------------------------------------------------


def figure_2(errors: dict[str, np.ndarray], fine: dict[str, Verdict]) -> Verdict:
    """``errors`` are on the same states; ``fine`` has verdicts with 3,001 temperatures."""
    over = {k: ms.rmse_ratio(e, of=errors["RTS"]) for k, e in errors.items() if k != "RTS"}
    few = each(equivalence, "carlson-fig2-alike", over, **QUARTER)
    cases = {"K = 41": few, "K = 3,001": fine}
    riemann = [f"{of['TI Riemann'].effect:.2f}" for of in (few, fine)]
    others = span(v for of in cases.values() for k, v in of.items() if k != "TI Riemann")
    ours = f"The RMSE of the Riemann sum is {riemann[0]} times that of RTS with K = 41 and "
    ours += f"{riemann[1]} times that of RTS with K = 3,001."
    words = f"For the other estimators, the factor is {others}. With K = 3,001, we ran only the "
    words += "Riemann sum and the trapezoid rule, both with the means of TI-RB."
    return depends("the number of temperatures", cases).said(ours, words)


def sandwich(frame: pd.DataFrame) -> Verdict:
    """Mean errors over runs with 100, 300 and 1,000 temperatures, one number per seed."""
    cases = {}
    public = frame[(frame["model"] == PUBLIC) & frame["steps"].isin((100, 300, 1000))]
    for sign, which in ((-1, {"method": "AIS"}), (+1, {"method": "RAISE", "n_images": 100})):
        by_seed = pick(public, **which).pivot_table("error", "seed", "steps").dropna().mean(axis=1)
        judged = effect("carlson-sandwich", by_seed.to_numpy(), direction=sign, unit="nats")
        cases[f"mean error of {which['method']}"] = judged
    low, high = (abs(case.effect) for case in cases.values())
    ours = f"On average, AIS is {low:.1f} nats too low, and RAISE is {high:.1f} nats too high."
    return together(cases).said(ours, models=f"{PUBLIC}, 100 to 1,000 steps")


def truth_variance(frame: pd.DataFrame) -> Verdict:
    """Is 0.006 right within a factor of two, as variance or deviation of RTS, AIS or their mean?"""
    name, cases, ours = "carlson-truth-variance", {}, []
    for model in (PUBLIC, "h100"):
        rts, ais = (_errors(frame, model, method, 10_000, PILOT) for method in ("RTS", "AIS"))
        n = min(len(rts), len(ais))
        of = {"RTS": rts[:n], "AIS": ais[:n], "their average": (rts[:n] + ais[:n]) / 2}
        for (method, e), (meant, power) in product(
            of.items(), (("variance", 1), ("standard deviation", 2))
        ):
            ms_of = ms.measured(np.var(e, ddof=1), np.sqrt(2 / (n - 1)), n - 1, "log")
            how = {"at_least": (0.006 / 2) ** power, "at_most": (0.006 * 2) ** power}
            case = f"our variance, if 0.006 is the {meant} of {method}"
            cases.setdefault(case, {})[model] = bound(name, ms_of, **how)
        said = listed(f"{e.var(ddof=1):.4f} for {method}" for method, e in of.items())
        ours.append(f"Over {n} runs of each method on {model}, the variance is {said}.")
    words = "A factor of two is allowed. The paper's model with 100 units is not public."
    setting = "what 0.006 is, and of which estimate and model"
    return depends(setting, cases).said(" ".join(ours), words, f"{PUBLIC}, h100")


def _errors(*of) -> np.ndarray:
    return _by_seed(*of).to_numpy()


def _by_seed(frame, model: str, method: str, steps: int, reading: str = "") -> pd.Series:
    """Errors of runs; ``reading`` is the start of RTS. RAISE has one chain per image.

    If the sweeps of the pilot count, other methods get as many additional sweeps.
    """
    if reading == COUNTED:
        steps, reading = steps + PILOT_SWEEPS * (method != "RTS"), PILOT
    more = {"RTS": {"begun": reading}, "RAISE": {"n_images": 100}}.get(method, {})
    return runs.by_seed(frame, model=model, method=method, steps=steps, **more)


def _columns(frame, model, other, reading, lengths) -> list[np.ndarray]:
    """Errors of RTS and of another method: a column per length that both have, a row per seed.

    A length without a run from a seed has NaN.
    """
    pairs = ([_by_seed(frame, model, x, k, reading) for x in ("RTS", other)] for k in lengths)
    sides = zip(*(pair for pair in pairs if min(map(len, pair)) >= FEWEST), strict=True)
    return [pd.concat(of, axis=1).to_numpy() for of in sides]


def size_of_bias(errors: np.ndarray) -> Measured:
    """Absolute mean error, averaged over columns, which may share seeds (rows)."""
    mean, n = np.nanmean(errors, axis=0), (~np.isnan(errors)).sum(axis=0)
    parts = (np.nan_to_num(errors - mean) * np.sign(mean) / n).mean(axis=1)  # of each seed
    variance = (parts**2).sum() * n.min() / (n.min() - 1)
    return ms.measured(np.abs(mean).mean(), math.sqrt(variance), n.min() - 1)


def less_biased(name, frame, model, reading) -> Verdict:
    """Absolute bias of RTS minus that of each other method, averaged over all lengths."""
    less = {}
    for other in RIVALS[model]:
        sides = _columns(frame, model, other, reading, LENGTHS)
        less[other] = ms.difference(*map(size_of_bias, sides))
    cases = each(effect, name, less, direction=-1, unit="nats")
    return together(cases, by_case(cases))


def needs_tenfold(name, frame, model, reading) -> Verdict:
    """RMSE of AIS with ten times the sweeps, divided by that of RTS with 1,000 sweeps."""
    sweeps = 10 * (1000 + PILOT_SWEEPS * (reading == COUNTED))
    ais, rts = _errors(frame, model, "AIS", sweeps), _errors(frame, model, "RTS", 1000, reading)
    over = ms.rmse_ratio(ais, of=rts, paired=False)
    cases = {f"AIS at {sweeps:,} sweeps": effect(name, over, **RISES)}
    return together(cases, by_case(cases))


def dominates(name, frame, model, reading) -> Verdict:
    """RMSE of each other method divided by that of RTS, averaged over 1,000 sweeps and more."""
    over = {}
    for other in RIVALS[model]:
        rts, errors = _columns(frame, model, other, reading, LENGTHS[2:])
        over[other] = mean_ratio(errors, of=rts)
    cases = each(effect, name, over, **RISES)
    return together(cases, by_case(cases))


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
    "tenfold": ("RMSE divided by that of RTS at 1,000 sweeps", needs_tenfold),
    "dominates": ("RMSE divided by that of RTS at equal sweeps", dominates),
}


def of_start(name: str, frame, models, parts, price: str) -> Verdict:
    """Some of `PARTS` over every reading of the start; of several, the card shows "tenfold"."""

    def of(model, reading):
        if any(len(_errors(frame, model, x, 1000, reading)) < FEWEST for x in ("RTS", "AIS")):
            return judge.left_open(name, "not run")
        every = {}
        for part in parts:
            words, judged = PARTS[part]
            every[words] = judged(name, frame, model, reading)
            if part == "tenfold" or len(parts) == 1:
                found[model, reading] = f"{words} is {every[words].ours}"
        return together(every) if len(every) > 1 else every[words]

    found: dict[tuple[str, str], str] = {}
    more = [runs.PILOT_GIVEN_V, COUNTED] if PUBLIC in models else []
    where = {m: m for m in models} if len(models) > 1 else dict.fromkeys(models, "")
    cases = {
        reading: {where[m]: of(m, reading) for m in models} for reading in (*READINGS, PILOT, *more)
    }
    heads = {PILOT: "If a pilot replaces the rounds", COUNTED: "If the sweeps of the pilot count"}
    said = [
        f"{head}{f' on {where[m]}' if where[m] else ''}, the {found[m, reading]}."
        for reading, head in heads.items()
        for m in models
        if (m, reading) in found
    ]
    verdict = depends("the start of RTS", cases)
    rounds = [v.outcome for reading in READINGS for v in cases[reading].values()]
    counts = listed(f"{rounds.count(x)} are {x}" for x in OUTCOMES if x in rounds)
    said.append(f"Of {len(rounds)} cases with the paper's ten rounds, {counts}.")
    return verdict.said(" ".join(said), models=", ".join(models)).priced(price)


def figure_3(frame: pd.DataFrame) -> list[Verdict]:
    """A verdict on each of `PARTS` with 500 hidden units, and one on all with 100."""
    price = "rounds with 20 and 25 sweeps left out, and 30 runs from a pilot (1 h on two cores)"
    hundred = of_start("carlson-fig3-100", frame, ["h100", "spectral_100"], PARTS, price)
    public = [
        of_start(f"carlson-fig3-500-{part}", frame, [PUBLIC], [part], "more runs") for part in PARTS
    ]
    bias, tenfold, best = public
    enough = f"AIS has the RMSE of RTS with 1,000 sweeps from a pilot after {as_good(frame):,.0f} "
    enough += "sweeps. We do not have the start of the authors."
    return [bias, tenfold.said(words=enough), best, hundred]


def as_good(frame: pd.DataFrame) -> float:
    """Sweeps, interpolated, with which AIS has the RMSE of RTS with 1,000 sweeps from a pilot."""
    of_ais = [ms.rmse(_errors(frame, PUBLIC, "AIS", k)) for k in LENGTHS]
    of_rts = ms.rmse(_errors(frame, PUBLIC, "RTS", 1000, PILOT))
    return float(np.exp(np.interp(-np.log(of_rts), -np.log(of_ais), np.log(LENGTHS))))


# Figure 4 --------------------------------------------------------------------------------------


def more_temperatures(repeats: list[pd.DataFrame]) -> list[Verdict]:
    """3,001 temperatures, which stand for continuous ones, against 100 on the paper's model.

    Each of the ``repeats`` has the RMSE by number of temperatures, from one run for each number.
    """
    grown = np.array([growth(curve, 100) for curve in repeats])
    flat = ms.ratio(grown, np.ones_like(grown), paired=True)
    more = ms.ratio(*([c.loc[k, "rts"] for c in repeats] for k in (3001, 100)), paired=True)
    said = "The RMSE of RTS with 3,001 temperatures is {} times that with 100{}."
    fitted = ", by a line fitted through all K from 100"
    both = [each(equivalence, "carlson-fig4-flat", {PUBLIC: flat}, **HALF)]
    both += [each(effect, "carlson-continuous-beta", {PUBLIC: more}, **RISES)]
    return [
        together(found).said(said.format(effect_in_words(found[PUBLIC]), how), models=PUBLIC)
        for found, how in zip(both, (fitted, ""), strict=True)
    ]


def few_temperatures(small_errors, curves, off: dict[str, float]) -> Verdict:
    """``off`` has the errors of RTS with all states of the run at K = 10, by model."""
    name, over = "carlson-few-temperatures", {}
    close = {"margin": 0.02, "reason": "less than the error of the trapezoid rule on this model"}
    mean = equivalence(name, small_errors, unit="nats", **close)
    for model, curve in curves.items():
        worst, n = curve.max() / curve.min(), curve["n"].min() / 2  # of two points, each
        for column, other in (("ti", "TI"), ("ti_rb", "TI-RB")):
            over[f"{other} over RTS, {model}"] = ratio_of(worst[column], worst["rts"], n, n)
    over = each(effect, name, over, "largest RMSE over smallest, {}", **TWOFOLD)
    ours = "Over all K, the ratio of the largest RMSE to the smallest is "
    ours += f"{span(over.values(), '.0f')} times as large for TI and TI-RB as for RTS."
    words = "At K = 10, chains hardly mix, and the value of the whole run is itself off by "
    words += f"{listed(f'{x:.1f} nats on {m}' for m, x in off.items())}.".replace("-", "−")
    return together({"mean error of RTS, 20 temperatures, 30 × 12": mean} | over).said(ours, words)


def tirb(curves, n_states: int = 10_000) -> Verdict:
    """TI has no value in an empty bin; the paper fills empty bins by interpolation."""
    name, k = "carlson-tirb", 3001
    over = ratios(curves, ("ti", k), ("ti_rb", k))
    over = each(effect, name, over, "TI over TI-RB, 3,001 temperatures, {}", **RISES)
    empty = k * (1 - 1 / k) ** n_states
    said = f"{empty:.0f} of {k:,} bins are empty on average"
    unstable = statement(name, compare(empty, ">", 1), ours=said, reason="TI has no value in them")
    grown = span(math.exp(x.value) for x in ratios(curves, ("ti", k), ("ti", 100)).values())
    ours = f"With 3,001 temperatures, {said}. After the paper's interpolation, the RMSE of TI is "
    ours += f"{span(over.values(), '.1f')} times that of TI-RB."
    words = f"After this interpolation, the RMSE of TI with 3,001 temperatures is {grown} times "
    words += "that with 100."
    return together({"bins without states, by arithmetic": unstable} | over).said(ours, words)


def tirb_limit(gaps: pd.Series, curves) -> Verdict:
    """``gaps`` has TI-RB minus RTS on the same states, by K."""
    name = "carlson-tirb-limit"
    scaled = (gaps * np.square(gaps.index.to_numpy(dtype=float))).iloc[-3:]
    falls = compare(scaled.max() / scaled.min(), "<", 1.3) & compare(abs(gaps.iloc[-1]), "<", 1e-3)
    first, last = gaps.index[[0, -1]]
    said = f"{abs(gaps[first]):.3f} nats at K = {first} and {abs(gaps[last]):.5f} at K = {last}"
    limit = statement(name, falls, ours=said, reason="the difference falls as 1/K²")
    few, many = (ratios(curves, ("ti_rb", k), ("rts", k)) for k in (10, 3001))
    over = {model: ms.minus(few[model], many[model], "log") for model in curves}
    over = each(
        effect, name, over, "RMSE of TI-RB over that of RTS, K = 10 over K = 3,001, {}", **RISES
    )
    found = together({"difference, 30 × 12": limit} | over)
    ours = f"On 30 × 12 units, TI-RB and RTS differ by {said}."
    return found.said(ours, "The difference falls as 1/K².")


def beats_mbar(chains: dict[str, tuple], drawn: tuple, curves) -> Verdict:
    """Errors of MBAR and RTS: ``chains`` from chains, by model; ``drawn`` from resampled states."""
    name = "carlson-beats-mbar"
    again = {"30 × 12": ratio_of(*map(np.std, drawn), *map(len, drawn))}
    again = each(effect, name, again | ratios(curves, ("mbar", 100), ("rts", 100)), **RISES)
    ours = f"On resampled states, the error of MBAR is {span(again.values())} times that of RTS."
    given = (math.exp(ms.rmse_ratio(*errors).value) for errors in chains.values())
    given = listed(f"{x:.2f} ({model})" for x, model in zip(given, chains, strict=True))
    words = f"On the original states, the error of MBAR is {given} times that of RTS."
    return together(again).said(ours, words)


def cost(times: pd.DataFrame, v: int = 784, h: int = 10, k: int = 100) -> Verdict:
    """MBAR is prohibitive if the 200 estimates of a point of Figure 4 take more than an hour.

    RTS adds a sum for each of k temperatures to a sweep of v × h units and the draw of beta.
    """
    name, share = "carlson-cost", k / (4 * v * h + 8 * v + 6 * h + 7 * k - 2)
    few, many = (times["mbar_seconds"][times["n_temperatures"] == n] for n in (999, 3000))
    seconds = (
        f"{few.mean():.1f} s with 1,000 temperatures ({len(few)} runs) and {many.mean():.0f} s "
    )
    seconds += f"with 3,001 ({len(many)} run)"
    hours, error = 200 * many.mean() / 3600, few.std() / few.mean() / math.sqrt(len(many))
    needed = ms.measured(hours, error, len(few) - 1, "log")
    added = bound(name, ms.exactly(share), at_most=0.05, unit="of those of a sweep")
    long = bound(name, needed, at_least=1, unit="h", alpha=FEW)
    cases = {"operations that RTS adds": added, "200 estimates by MBAR, 3,001 temperatures": long}
    ours = (
        f"RTS adds {share:.2%} to the operations of a sweep. An estimate by our MBAR solver takes "
    )
    ours += f"{seconds}. So 200 estimates would take {effect_in_words(long)}."
    words = "RTS stores K numbers, whereas MBAR stores all states."
    return together(cases).said(ours, words, "784 × 10 units")


# Figure 5 --------------------------------------------------------------------------------------


def tracks(trainings: dict[str, dict]) -> Verdict:
    """Within a nat if AIS is reliable, with each gain, at the paper's learning rate."""
    name, cases, faster = "carlson-fig5-tracks", {}, []
    reason = "only differences at which the ESS of AIS is 50 or more are judged"
    for case, found in trainings.items():
        off = found["largest difference"]
        if "step 1e-05" not in case:
            faster.append(off)
            continue
        ours = f"{off:.2f} nats at most, {found['RMS difference']:.2f} nats RMS"
        cases[case] = statement(name, compare(off, "<", A_NAT), ours=ours, reason=reason)
    off = span(trainings[case]["largest difference"] for case in cases)
    ours = f"At the paper's learning rate, the largest difference from AIS is {off} nats with the "
    ours += "gains 0.05, 0.2 and 0.5."
    words = (
        f"In {len(faster)} training runs at 3.5 or four times this rate, the largest difference "
    )
    words += (
        f"is {span(faster)} nats, and more than a nat in {sum(x > A_NAT for x in faster)} runs."
    )
    return together(cases).said(ours, words, "dna, 500 units")


def early_stopping(trainings: dict[str, dict]) -> Verdict:
    """The best validation likelihood by AIS minus that at the best update by tracking."""
    turns = [case for case in trainings if case.startswith("400") and "1e-05" not in case]
    few = [trainings[case] for case in turns]
    sound, other = ([f["nats lost"] for f in few if (f["ESS at best tracked"] >= SOUND_ESS) == x]
                    for x in (True, False))  # fmt: skip
    how = {"at_most": A_NAT, "unit": "nats", "n_trainings": len(sound), "alpha": FEW, "least": 0}
    found = bound("carlson-early-stopping", sound, **how).said(
        f"In the {len(sound)} training runs with a sound AIS there (ESS of {SOUND_ESS} or more), "
        f"stopping at the best update by tracking loses {span(sound)} nats.",
        f"In {len(other)} with an unsound AIS, it loses {span(other)} nats. With 2,000 chains, as "
        "in the paper, the validation likelihood did not begin to fall.",
        "dna, 500 units, 400 chains, gains 0.05, 0.2 (13 training runs) and 0.5",
    )
    return found.priced("training runs longer than ours with 2,000 chains (6 h)")


# Figures 6 to 8 --------------------------------------------------------------------------------


def adaptive(mixing: pd.DataFrame, errors: dict) -> Verdict:
    """``mixing`` has stored chains by kind of step; ``errors``, live, have (k/40)² and one step."""
    name, cases, gains = "carlson-fig6-adaptive", {}, {"square": [], "linear": []}
    for (kernel, ladder, n), of in mixing.groupby(["kernel", "ladder", "n_leapfrog"]):
        of = of.set_index("steps")
        error = float(np.hypot(*(of["round_trips_error"] / of["round_trips"])))
        gain = of["round_trips"]["adaptive"] / of["round_trips"]["fixed"]
        trips = ms.measured(gain, error, of["n_chains"]["adaptive"] - 1, "log")
        move = "random walk" if kernel == "random_walk" else f"HMC, leapfrog steps: {n}"
        case = f"round trips, {'(k/40)²' if ladder == 'square' else 'k/40'}, {move}"
        cases[case] = effect(name, trips, **RISES)
        if kernel == "hmc":
            gains[ladder].append(f"{gain:.2f}")
    smaller = ms.rmse_ratio(errors["fixed"], of=errors["adapted"], paired=False)
    cases["1 / RMSE, (k/40)², HMC, leapfrog steps: 1"] = effect(name, smaller, **RISES)
    found = depends("the temperatures and the number of leapfrog steps", cases)
    ours = "With β = (k/40)² and 1, 3 and 10 leapfrog steps, adapted steps multiply the round "
    ours += f"trips of HMC by {listed(gains['square'])}. With β = k/40, they multiply them by "
    ours += f"{listed(gains['linear'])}."
    less = f"{math.exp(smaller.value):.2f}"
    words = f"With (k/40)² and one leapfrog step, they divide the RMSE by {less}."
    return found.said(ours, words, "the mixture, 41 temperatures")


def uniform_worse(rate: pd.DataFrame, uniform: pd.DataFrame, model: str) -> Verdict:
    """RMSE from the uniform base divided by that from the base rate, and the error of the start."""
    name, rivals = "carlson-fig7-worse", {}

    def both(*where):
        return [_errors(frame, model, *where) for frame in (uniform, rate)]

    for method, steps in product(("RTS", "AIS", "reverse AIS"), (1000, 3000)):
        over = ms.rmse_ratio(*both(method, steps, PILOT), paired=False)
        rivals[f"{method}, {steps:,} sweeps"] = effect(name, over, **RISES)
    far = [np.abs(errors).mean() for errors in both("RTS", 1000, "v and h, all sweeps")]
    why = "no start of ours from ten rounds settles with either base; needed to decide: the start "
    start = {"start of RTS": judge.left_open(name, why + "of the authors, which is not available")}
    ours = f"With the uniform base, the RMSEs are {span(rivals.values(), '.1f')} times as large as "
    ours += "with the base rate."
    words = "After ten rounds (v and h, all sweeps) and 1,000 sweeps, RTS is off by "
    words += f"{far[0]:.0f} nats with the uniform base and by {far[1]:.0f} nats with the base rate."
    return together(rivals | start).said(ours, words, model)


def uniform_similar(uniform: pd.DataFrame, model: str) -> Verdict:
    """Absolute bias of RTS minus that of AIS at first, and their difference after 10⁵ sweeps."""
    name, counts = (
        "carlson-fig7-similar",
        {"is not counted": 300, "is counted (AIS at 3,000 sweeps)": 3000},
    )

    def bias(method, steps, begun=PILOT):
        return size_of_bias(_errors(uniform, model, method, steps, begun)[:, None])

    less = {how: ms.difference(bias("RTS", 300), bias("AIS", k)) for how, k in counts.items()}
    rounds = bias("RTS", 300, "v and h, all sweeps")
    less["consists of ten rounds (v and h, all sweeps)"] = ms.difference(rounds, bias("AIS", 300))
    less = each(effect, name, less, direction=-1, unit="nats")
    first = depends("the start and on whether its sweeps count", less)
    last = ms.difference(bias("RTS", 100_000), bias("AIS", 100_000))
    margin = {"margin": 0.5, "reason": "less than a tenth of the difference after 300 sweeps"}
    later = equivalence(name, last, **margin, unit="nats")
    early = listed(f"{said} if the start {how}" for how, said, *_ in first.parts)
    found = together({"at first": first.said(early), "after 10⁵ sweeps": later})
    ours = (
        "At first (300 sweeps after a pilot of 4,000 steps), the absolute bias of RTS minus that "
    )
    ours += f"of AIS is {early}."
    words = f"After 10⁵ sweeps, the difference is {effect_in_words(later)}."
    return found.said(ours, words, model)


def knot(narrowest: dict[str, list[float]], trips: dict[str, np.ndarray]) -> Verdict:
    """Smallest conductance with 10 units and round trips with 500, uniform base over base rate."""
    of = {"smallest conductance, pcd_10": narrowest, "round trips, cd25_500": trips}
    over = {case: ms.ratio(x["uniform"], x["base rate"]) for case, x in of.items()}
    how = {"direction": -1, "size": (0, 0.5)}
    cases = each(effect, "carlson-fig7-knot", over, "{}, uniform base over base rate", **how)
    flow, made = (f"{v.effect:.2f}" for v in cases.values())
    ours = f"With the uniform base, the smallest conductance on pcd_10 is {flow} times that with "
    ours += f"the base rate, and the chains on cd25_500 make {made} times as many round trips."
    return together(cases).said(ours)


def gains_a_tenth(errors: dict) -> Verdict:
    """With 10 units, a mean reduction by 5 to 20 percent over training runs. The text names RSD."""
    of = {"RSD (text)": over_rts(errors, "rsd"), "SD (caption)": over_rts(errors, "sd")}
    cases = each(effect, "carlson-fig8-10", of, direction=-1, size=(0.8, 0.95))
    said = " and ".join(f"{math.exp(x.value):.2f} for {words}" for words, x in of.items())
    single = [math.exp(ms.rmse_ratio(e["rsd"], e["rts"]).value) for e in errors.values()]
    said += f" (for RSD, {span(single)} on single models)"
    ours = f"Averaged over {len(errors)} training runs, the RMSE of 40 chains divided by that of "
    ours += f"RTS is {said}."
    price = "about 350 training runs (2 h on two cores) would show whether the mean gain is 5% or "
    price += "more; the paper's model is not public"
    return depends("whether SD or RSD is meant", cases).said(ours).priced(price)


def over_rts(errors: dict, kind: str) -> Measured:
    """Geometric mean over training runs of the RMSE divided by that of RTS, on the scale "log"."""
    ratios = [ms.rmse_ratio(of[kind], of["rts"]).value for of in errors.values()]
    return ms.mean_of(ratios)._replace(scale="log")


def gains_nothing(own: dict[str, np.ndarray]) -> Verdict:
    """Less than 5% on the model with 200 units: a larger gain counts as about 10% with 10."""
    over = {kind.upper(): ms.rmse_ratio(own[kind], of=own["rts"]) for kind in ("sd", "rsd")}
    cases = each(bound, "carlson-fig8-200", over, at_least=0.95, alpha=FEW)
    ours = f"The RMSE divided by that of RTS is {by_case(cases)}."
    return together(cases).said(ours, models="pcd_200")
