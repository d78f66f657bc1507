"""The judge: each outcome where it must come out, and just beside it, where it must not; and how
often it is wrong, on simulated claims whose truth is known."""

import json
import math
from functools import partial

import numpy as np
import pytest
from helpers_book import NIGHTLY
from scipy.stats import binom

from rbmbook import claims, judge
from rbmbook import measured as ms
from rbmbook import verdicts as vs
from rbmbook.judge import SIZE_DIFFERS
from rbmbook.measured import rmse
from rbmbook.verdicts import CONTRADICTED, DEPENDS, OPEN, REPRODUCED

HALF = ms.quantile(1 - ms.ALPHA / 2, math.inf)  # of an interval, in standard errors


@pytest.fixture(autouse=True)
def listed(monkeypatch):
    """Claims that no source makes, so that the tests do not hang on what is printed."""
    rows = {
        name: claims.Claim(name, "Wang", "table", "a < claim", printed, "a measure", "", old)
        for name, printed, old in (
            ("ten", "10.00", ""), ("two", "2.0", ""), ("words", "flat", "words older-name"),
            ("e", "1.0e-4", ""), ("one", "0.0001", ""),
        )
    }  # fmt: skip
    monkeypatch.setattr(claims, "claims", lambda: rows)


def at(value, error=1.0):
    """A measurement whose error is known."""
    return ms.measured(value, error)


def factor(ratio, error=0.1):
    return ms.measured(ratio, error, scale="log")


def printed(ours, error=None, **given):
    return partial(judge.printed_value, "ten", ours, printed_error=error, **given)


def variance(ours, name="two", **given):
    return partial(judge.printed_variance, name, ours, **given)


def up(ours, sign=+1, **given):
    return partial(judge.effect, "words", ours, direction=sign, **given)


def alike(ours, margin, **given):
    return partial(judge.equivalence, "words", ours, margin=margin, reason="r", **given)


def within(ours, **given):
    return partial(judge.bound, "words", ours, **given)


def proof(*compared):
    return partial(judge.statement, "words", judge.compare(*compared), reason="r")


TWENTY = {"printed_variance": 0.8, "printed_n": 20}  # a standard error of 0.2


def runs_like(mean):
    """Twenty runs of the printed variance."""
    shape = np.linspace(-1, 1, 20)
    return mean + math.sqrt(0.8) * shape / shape.std(ddof=1)


# Each line: what it is, a verdict, and its outcome. Neighbours differ by a hair.
PRINTED = [
    ("near", printed(at(10.01, 0.01), error=0.1), REPRODUCED),
    ("at the edge", printed(at(10.13, 0.001), error=0.1), REPRODUCED),
    ("too few of ours", printed(at(10.01, 0.1), error=0.1), OPEN),
    ("beyond the edge", printed(at(10.14, 0.001), error=0.1), OPEN),
    ("all but off", printed(at(10.33, 0.001), error=0.1), OPEN),
    ("off", printed(at(10.34, 0.001), error=0.1), CONTRADICTED),
    ("as many runs", printed(runs_like(10.1), **TWENTY), REPRODUCED),
    ("as many, further off", printed(runs_like(10.4), **TWENTY), OPEN),
    ("as many, off", printed(runs_like(11.1), **TWENTY), CONTRADICTED),
    ("rounding", printed(ms.exactly(10.004), error=1e-9), REPRODUCED),
    ("not rounding", printed(ms.exactly(10.006), error=1e-9), CONTRADICTED),
]  # fmt: skip

VARIANCES = [
    ("alike", variance(2.0, n=math.inf, printed_n=400), REPRODUCED),
    ("few of ours", variance(2.0, n=20, printed_n=400), OPEN),
    ("too few printed", variance(2.0, n=math.inf, printed_n=5), OPEN),
    ("off for so few", variance(200.0, n=math.inf, printed_n=5), CONTRADICTED),
    ("larger", variance(2.8, n=math.inf, printed_n=400), CONTRADICTED),
    ("not clearly larger", variance(2.6, n=math.inf, printed_n=400), OPEN),
    ("smaller", variance(0.1, n=20, printed_n=20), CONTRADICTED),
    ("rounded", variance(6e-5, "one", n=math.inf, printed_n=99_999), OPEN),
    ("more than rounded", variance(4e-5, "one", n=math.inf, printed_n=99_999), CONTRADICTED),
]  # fmt: skip

DIRECTIONS = [
    ("up", up(at(HALF + 0.01)), REPRODUCED),
    ("not clearly up", up(at(HALF - 0.01)), OPEN),
    ("down", up(at(-HALF - 0.01)), CONTRADICTED),
    ("down as claimed", up(at(-HALF - 0.01), sign=-1), REPRODUCED),
    ("a ratio", up(factor(2)), REPRODUCED),
    ("of size", up(factor(2), size=(1.4, 2.9)), REPRODUCED),
    ("size open", up(factor(2), size=(1.5, 2.9)), OPEN),
    ("smaller", up(factor(2), size=(2.8, 9)), REPRODUCED),
    ("not clearly smaller", up(factor(2), size=(2.7, 9)), OPEN),
    ("no such size", up(factor(1.1), size=(1.6, 9)), CONTRADICTED),
    ("none that matters", up(factor(1.0, 0.01), matters=1.04, reason="r"), CONTRADICTED),
    ("one that may matter", up(factor(1.0, 0.01), matters=1.03, reason="r"), OPEN),
    ("small, but there", up(factor(1.04, 0.01), matters=2, reason="r"), REPRODUCED),
    ("down, none that matters", up(at(-1, 0.5), -1, matters=3, reason="r"), CONTRADICTED),
    ("down, one that may", up(at(-1, 0.5), -1, matters=2, reason="r"), OPEN),
    ("the opposite", up(factor(0.5), size=(1.6, 9)), CONTRADICTED),
]  # fmt: skip

ALIKE = [
    ("alike", alike(factor(1.0, 0.05), margin=1.25), REPRODUCED),
    ("not significant", alike(factor(1.0, 0.1), margin=1.25), OPEN),
    ("significant, small", alike(factor(1.1, 0.01), margin=1.25), REPRODUCED),
    ("other", alike(factor(1.5, 0.05), margin=1.25), CONTRADICTED),
    ("other, below", alike(factor(1 / 1.5, 0.05), margin=1.25), CONTRADICTED),
    ("significant, open", alike(factor(1.4, 0.05), margin=1.25), OPEN),
    ("a difference", alike(at(0.1, 0.1), margin=0.5), REPRODUCED),
]  # fmt: skip

BOUNDS = [
    ("below", within(at(5), at_most=5 + HALF + 0.01), REPRODUCED),
    ("about", within(at(5), at_most=5 + HALF - 0.01), OPEN),
    ("above", within(at(5), at_most=5 - HALF - 0.01), CONTRADICTED),
    ("at least", within(factor(2), at_least=1.4), REPRODUCED),
    ("between", within(at(5), at_least=0, at_most=9), REPRODUCED),
]  # fmt: skip

EXACT = [
    ("digits", partial(judge.digits, "ten", 10.0049), REPRODUCED),
    ("other digits", partial(judge.digits, "ten", 10.0051), CONTRADICTED),
    ("a power of ten", partial(judge.digits, "e", 1.04e-4), REPRODUCED),
    ("another", partial(judge.digits, "e", 1.06e-4), CONTRADICTED),
    ("less", proof([1, 2], "<", 3), REPRODUCED),
    ("not all less", proof([1, 3], "<", 3), CONTRADICTED),
    ("at most", proof(3.0, "<=", 3), REPRODUCED),
    ("more", proof(4, ">", [1, 3.9]), REPRODUCED),
    ("at least", proof(2, ">=", 3), CONTRADICTED),
    ("equal", proof(1 / 3, "==", 0.3333333333333333), REPRODUCED),
    ("all but equal", proof(1.00001, "==", 1), CONTRADICTED),
    ("missing", proof(math.nan, "<", 1), CONTRADICTED),
    ("left open", lambda: judge.left_open("words", "no model"), OPEN),
]  # fmt: skip

TRAININGS = [
    ("one", up(at(99), n_trainings=1), OPEN),
    ("four", up([9.9, 10, 10.1, 10], n_trainings=4), REPRODUCED),
    ("four that differ", up([1, 10, 19, 10], n_trainings=4), OPEN),
    ("one, bound", within(at(0), at_most=9, n_trainings=1), OPEN),
    ("three, 99.9%", up([0.9, 1, 1.1], n_trainings=3), OPEN),
    ("three, 95%", up([0.9, 1, 1.1], n_trainings=3, alpha=ms.FEW), REPRODUCED),
    ("three, 95%, apart", up([0.2, 1, 1.8], n_trainings=3, alpha=ms.FEW), OPEN),
]  # fmt: skip


OUTCOMES = PRINTED + VARIANCES + DIRECTIONS + ALIKE + BOUNDS + EXACT + TRAININGS


@pytest.mark.parametrize(("name", "call", "outcome"), OUTCOMES)
def test_outcome(name, call, outcome):
    assert call().outcome == outcome, name


def test_another_size_is_said():
    assert SIZE_DIFFERS in up(factor(2), size=(2.8, 9))().note
    assert SIZE_DIFFERS not in up(factor(2), size=(1.4, 2.9))().note
    assert SIZE_DIFFERS not in up(factor(1.1), size=(1.6, 9))().note


def test_a_verdict_says_what_was_judged():
    found = judge.printed_value("ten", [10.2, 10.4, 10.3], printed_variance=0.2, printed_n=20)
    low, high = found.low, found.high
    assert (found.name, found.ours, found.alpha) == ("ten", "10.3000 ± 0.0577", ms.ALPHA)
    assert found.effect == pytest.approx(0.3)
    assert (low + high) / 2 == pytest.approx(0.3)
    assert found.intervals == 1
    assert found.note.startswith("smallest detectable effect: ")
    assert "margin" in found.note


@pytest.mark.parametrize(
    ("call", "never"),
    [
        (printed(at(10.2, 0.001), error=0.1), True),  # between the edges, whatever is run
        (printed(at(10.2, 0.1), error=0.1), False),
        (variance(2.0, n=math.inf, printed_n=5), True),
        (variance(2.0, n=20, printed_n=400), False),
        (up(factor(2), size=(1.5, 2.9)), False),
        (up(at(HALF - 0.01)), False),
    ],
)
def test_where_no_run_decides_the_verdict_says_so(call, never):
    found = call()
    assert found.outcome == OPEN
    assert (judge.TOO_ROUGH in found.note, "detectable" in found.note) == (never, not never)


def test_what_could_have_been_seen_is_seen_nine_times_in_ten():
    rng = np.random.default_rng(3)
    see = ms.mean_of(rng.normal(size=1000)).could_see()
    seen = [ms.mean_of(x).interval()[0] > 0 for x in rng.normal(see, 1, (2000, 1000))]
    assert abs(np.mean(seen) - ms.POWER) < 4 * math.sqrt(0.09 / 2000) + 0.02  # see is estimated


def test_one_claim_of_several_models():
    good, open_, bad = (judge.effect("words", at(x), direction=+1) for x in (9, 0, -9))
    assert vs.together({"h10": good, "h20": good}).outcome == REPRODUCED
    assert vs.together({"h10": good, "h20": open_}).outcome == OPEN
    mixed = vs.together({"h10": good, "h20": bad, "h100": open_})
    assert (mixed.outcome, mixed.intervals) == (CONTRADICTED, 3)
    assert "h20: −9.00 [" in mixed.ours
    assert mixed.parts[1][::2] == ("h20", CONTRADICTED)
    turns = open_._replace(outcome=DEPENDS)
    assert vs.together({"a": good, "b": turns}).outcome == DEPENDS
    assert vs.together({"a": open_, "b": turns}).outcome == OPEN
    assert vs.together({"h10": bad._replace(note="few runs")}).note == "few runs"
    with pytest.raises(ValueError, match="cases"):
        vs.together({"a": good, "b": judge.digits("ten", 10)})


def test_a_setting_that_is_not_stated_decides_if_one_model_shows_it():
    good, bad, open_ = (judge.effect("words", at(x), direction=1) for x in (9, -9, 0))
    assert [v.outcome for v in (good, bad, open_)] == [REPRODUCED, CONTRADICTED, OPEN]

    def outcome(one, other):
        return vs.depends("the base", {"own": one, "rate": other}).outcome

    turns = vs.depends("the base", {"own": {"a": good}, "rate": {"a": bad}})
    assert (turns.outcome, turns.note, turns.intervals) == (DEPENDS, "on the base", 2)
    by_case = {case: outcome for case, _, outcome, _ in turns.parts}
    assert by_case == {"own, a": REPRODUCED, "rate, a": CONTRADICTED}
    assert outcome(good, bad) == DEPENDS  # of all models together
    assert outcome(good, open_) == outcome(open_, bad) == OPEN
    assert outcome({"a": good, "b": open_}, {"a": bad, "b": good}) == DEPENDS
    # no single model shows it: another model is no other base
    assert outcome({"a": good, "b": bad}, {"a": open_, "b": open_}) == OPEN
    assert outcome({"a": good}, {"b": bad}) == OPEN
    assert outcome({"a": open_}, {"a": bad}) == OPEN
    for same in (good, bad):
        assert outcome({"a": same}, {"a": same}) == same.outcome


@pytest.mark.parametrize(
    ("call", "argument"),
    [
        (lambda: judge.effect("flat", [1, 2], direction=1), "name"),
        (lambda: judge.effect("words", [1, 2], direction=0), "direction"),
        (lambda: judge.effect("words", [1.0], direction=1), "values"),
        (lambda: judge.effect("words", at(1), direction=1, size=(-1, 2)), "size"),
        (lambda: judge.effect("words", [1, 2], direction=1, n_trainings=5), "n_trainings"),
        (lambda: judge.effect("words", at(0), direction=1, matters=1), "reason"),
        (lambda: judge.equivalence("words", at(0), margin=0, reason="r"), "margin"),
        (lambda: judge.printed_value("words", [1, 2], printed_error=1), "printed"),
        (lambda: judge.printed_value("ten", [1, 2]), "printed_error"),
        (lambda: judge.printed_value("ten", factor(2), printed_error=1), "ours"),
        (lambda: judge.printed_variance("two", [1, 2], printed_n=1), "printed_n"),
        (lambda: judge.bound("words", at(1)), "at_most"),
        (lambda: judge.statement("words", True, reason="r"), "holds"),
        (lambda: judge.compare([], "<", 1), "empty"),
        (lambda: ms.measured(1, -1), "std_error"),
        (lambda: ms.ratio([1, 2], [0, 1]), "b"),
        (lambda: ms.ratio([1, 2], [1, 2, 3], paired=True), "pairs"),
        (lambda: ms.share_of([0, 2]), "flags"),
        (lambda: vs.show_verdicts([judge.left_open("ten", "r")] * 2), "verdicts"),
    ],
)
def test_bad_input_is_named(call, argument):
    with pytest.raises((ValueError, TypeError), match=rf"\b{argument}\b"):
        call()


def test_equal_repeats_are_not_exact():
    """Twenty of twenty happen with a chance of 12% where the share is 0.9."""
    every = [1.0] * 20
    for ours in (every, ms.difference(every, [0.5] * 3), ms.difference(every, ms.exactly(0))):
        found = judge.bound("words", ours, at_least=0.45)
        assert found.outcome == OPEN
        assert found.intervals == 1
    assert judge.bound("words", ms.exactly(1), at_least=0.9).outcome == REPRODUCED
    assert judge.bound("words", ms.share_of(every), at_least=0.9).outcome == OPEN
    assert judge.bound("words", ms.share_of(every), at_least=0.5).outcome == REPRODUCED
    open_ = judge.bound("words", every, at_least=0)
    assert open_.note.startswith("smallest detectable effect: unknown")
    assert vs.in_brackets(open_.effect, open_.low, open_.high) == "1"


def test_the_interval_of_a_size_ends_at_zero():
    off = [0.1, 0.2, 3.0]
    found, whole = (judge.bound("words", off, at_most=10, **k) for k in ({"least": 0}, {}))
    assert whole.low < 0 == found.low
    assert (found.outcome, found.high) == (whole.outcome, whole.high)
    near = ms.measured(3.0, 0.1)
    assert judge.bound("words", near, at_most=10, least=0).low == pytest.approx(near.interval()[0])


def test_several_comparisons_must_all_hold():
    yes, no = judge.compare(1, "<", 2), judge.compare([3, 4], "<", 2)
    assert [(yes & yes).holds, (yes & no).holds, (no & yes).holds] == [True, False, False]
    assert (yes & no).words == "1 < 2; 3 to 4 < 2"
    assert judge.statement("words", no, reason="r").ours == "3 to 4 < 2"


def test_a_number_may_be_printed_beside_others():
    assert judge.digits("words", 10.04, printed="10.0").outcome == REPRODUCED
    assert judge.digits("words", 10.04, printed="10.00").outcome == CONTRADICTED
    found = judge.printed_value("words", at(0.2, 0.001), printed=0.25, printed_error=0.1)
    assert found.effect == pytest.approx(-0.05)
    assert judge.printed_variance("words", 2.0, n=math.inf, printed=1.0, printed_n=99).effect == 2


# ---------------------------------------------------------------- what is measured, by hand


def test_measurements():
    a, b = np.array([2.0, 4.0, 6.0]), np.array([1.0, 2.0, 3.0])
    assert ms.mean_of(a - b)[:2] == (2.0, pytest.approx(1 / math.sqrt(3)))
    welch = ms.difference(a, b)
    assert welch.std_error == pytest.approx(math.sqrt(4 / 3 + 1 / 3))
    assert welch.freedom == pytest.approx((5 / 3) ** 2 / (16 / 9 / 2 + 1 / 9 / 2))
    ratio = ms.ratio(a, b)  # each mean has a relative error of 1 / sqrt(12)
    assert (math.exp(ratio.value), ratio.std_error) == pytest.approx((2, math.sqrt(1 / 6)))
    assert ms.ratio(a, b, paired=True)[:2] == (pytest.approx(math.log(2)), pytest.approx(0))
    assert ms.ratio([1, 8], [1, 2], paired=True).value == pytest.approx(math.log(2))
    assert math.exp(ms.rmse_ratio(a, b).value) == pytest.approx(2)
    assert ms.difference(a, np.arange(9.0)).n == 3
    assert ms.exactly(3).interval() == (3, 3)
    assert rmse([3.0, -4.0, 0.0, 0.0]) == pytest.approx(2.5)


def test_a_share_is_shrunk_as_much_as_its_level_asks():
    """Agresti and Coull: z²/2 of either kind, z = 1.96 or 3.29."""
    for alpha, z in ((0.05, 1.959964), (0.001, 3.290527)):
        found = ms.share_of([True] * 15 + [False] * 5, alpha)
        assert found.value == pytest.approx((15 + z * z / 2) / (20 + z * z))
        assert found.interval(alpha)[1] == pytest.approx(found.value + z * found.std_error)


def test_a_printed_variance_is_of_single_runs():
    found = judge._mean_of_printed(3.0, 0.2, 20)
    assert (found.value, found.freedom, found.n) == (3.0, 19, 20)
    assert found.std_error == pytest.approx(0.1)


def test_a_ratio_of_errors_is_jackknifed_by_pairs():
    """By hand, one pair left out at a time; n pairs leave n - 1 degrees of freedom."""
    a, b = np.array([1.0, 4.0, 2.0, 7.0]), np.array([2.0, 1.0, 5.0, 3.0])
    found = ms.rmse_ratio(np.sqrt(a), np.sqrt(b))
    kept = [np.arange(4) != i for i in range(4)]
    without = np.array([np.log(a[k].mean() / b[k].mean()) / 2 for k in kept])
    assert found.value == pytest.approx(np.log(14 / 11) / 2)
    assert found.std_error == pytest.approx(np.sqrt(3 * without.var()))
    assert (found.freedom, found.n) == (3, 4)
    apart = ms.rmse_ratio(np.sqrt(a), np.sqrt(b), paired=False)
    alone = np.log([[x[k].mean() for k in kept] for x in (a, b)]) / 2
    assert apart.std_error == pytest.approx(np.sqrt(3 * alone.var(axis=1).sum()))


# ---------------------------------------------------------------- cards


def test_a_card_says_ours_then_the_effect_then_the_verdict_and_carries_its_data(monkeypatch):
    import IPython.display

    kept = []
    monkeypatch.setattr(IPython.display, "display", lambda data, raw: kept.append(data))
    cases = {"x": up(factor(2))(), "y": up(factor(3))()}
    every = [vs.together(cases).said(ours="2 & 3", words="more", models="pcd_20"),
             judge.left_open("ten", "a run (1.5 h)")]  # fmt: skip
    vs.show_verdicts(every)
    text = kept[0]["text/html"]
    order = ['id="words"', 'id="older-name"', "a &lt; claim", "2 &amp; 3", "more", "✔ reproduced",
             "<details>", "flat", "a measure", "y: 3.0", "pcd_20"]  # fmt: skip
    places = [text.index(part) for part in order]
    assert places == sorted(places)
    assert text.count('id="words"') == 1
    assert "a run (1.5 h)" in text
    assert kept[0]["text/plain"] == "words: reproduced\nten: open"
    back = [vs.from_json(fields) for fields in json.loads(json.dumps(kept[0][vs.MIME]))]
    assert [vs.card(v) for v in back] == [vs.card(v) for v in every]
    assert back[0].parts == every[0].parts
    assert math.isnan(back[1].low)


@pytest.mark.parametrize(
    ("numbers", "text"),
    [
        ((-0.1234567, -0.4567, 0.2098), "−0.123 [−0.457, 0.210]"),
        ((1234.567, 1200.1, 1269.0), "1,234.6 [1,200.1, 1,269.0]"),
        ((2.0, 1.5, math.inf), "2.000 [1.500, ∞]"),
        ((2.0, 2.0, 2.0), "2"),
    ],
)
def test_digits_of_an_effect(numbers, text):
    assert vs.in_brackets(*numbers) == text
    assert (vs.with_error(0.5, 0.0), vs.with_error(0.5, 0.1)) == ("0.5", "0.500 ± 0.100")


# ---------------------------------------------------------------- how often it is wrong
#
# Each case is simulated where a false verdict is likeliest: at the edge of what the claim allows,
# or just where it is true. No case may be false in more than 5% of its repeats; where the errors
# are normal, not more often than its declared chance.

N = 4000 if NIGHTLY else 1600  # simulated claims of each case
TRUE = {CONTRADICTED}  # false of a claim that is true
UNTRUE = {REPRODUCED}  # false of a claim that is not
EDGE = TRUE | UNTRUE  # at the edge any decision is by chance
SIZED = {CONTRADICTED, SIZE_DIFFERS}  # false of a claim whose size is true

RUNS, SD = 20, 2.0  # of the printed numbers
MARGIN = ms.Measured(0.0, SD * math.sqrt(2 / RUNS), 2 * (RUNS - 1), RUNS).could_see()
VARIANCE_MARGIN = math.exp(ms.Measured(0.0, math.sqrt(4 / (RUNS - 1)), math.inf, RUNS).could_see())


def printed_mean(rng, off, n=RUNS, sd=SD):
    """A printed mean with its variance, and our n runs, whose mean differs by ``off``."""
    theirs, ours = rng.normal(100, SD, RUNS), rng.normal(100 + off, sd, n)
    spread = {"printed_variance": theirs.var(ddof=1), "printed_n": RUNS}
    return judge.printed_value("ten", ours, printed=theirs.mean(), **spread)


def printed_variance(rng, ratio, n=RUNS):
    theirs = rng.normal(0, 1, RUNS).var(ddof=1)
    ours = rng.normal(0, math.sqrt(ratio), n)
    return judge.printed_variance("two", ours, printed=theirs, printed_n=RUNS)


def direction(rng, mean, sd=1.0, size=None, n=8):
    return judge.effect("words", rng.normal(mean, sd, n), direction=1, size=size)


def alike_ratio(rng, ratio):
    """Means of skewed positive numbers (log-normal), alike up to a factor of 1.25."""
    a, b = rng.lognormal(math.log(ratio), 0.5, 50), rng.lognormal(0, 0.5, 50)
    return judge.equivalence("words", ms.ratio(a, b), margin=1.25, reason="r")


def alike_errors(rng, ratio, paired):
    """Errors of two estimators with a common part, alike up to a factor of 1.5."""
    both, apart, a, b = rng.normal(0, math.sqrt(0.5), (4, 60))
    found = ms.rmse_ratio(ratio * (both + a), (both if paired else apart) + b, paired)
    return judge.equivalence("words", found, margin=1.5, reason="r")


def alike_means(rng, off):
    found = ms.difference(rng.normal(off, 1, 10), rng.normal(0, 3, 40))
    return judge.equivalence("words", found, margin=2.0, reason="r")


def below(rng, mean):
    return judge.bound("words", rng.normal(mean, 1, 6), at_most=5.0)


def share(rng, n):
    """A claimed share of 0.9 of independent repeats."""
    return judge.bound("words", ms.share_of(rng.random(n) < 0.9), at_least=0.9)


def trainings(rng, effect):
    """Five trainings that differ by 1, each measured 20 times with an error of 0.1."""
    groups = rng.normal(rng.normal(effect, 1, (5, 1)), 0.1, (5, 20))
    return judge.effect("words", ms.mean_of(groups.mean(axis=1)), direction=1, n_trainings=5)


NORMAL = {
    "printed mean, equal": (printed_mean, {"off": 0}, TRUE),
    "many runs of ours": (printed_mean, {"off": 0, "n": 500, "sd": 0.5}, TRUE),
    "printed mean, at the margin": (printed_mean, {"off": MARGIN, "n": 500}, UNTRUE),
    "printed variance, equal": (printed_variance, {"ratio": 1}, TRUE),
    "variance margin": (printed_variance, {"ratio": VARIANCE_MARGIN, "n": 500}, UNTRUE),
    "variance, below": (printed_variance, {"ratio": 1 / VARIANCE_MARGIN, "n": 500}, UNTRUE),
    "direction, no effect": (direction, {"mean": 0}, EDGE),
    "size, lower end": (direction, {"mean": 2, "sd": 0.3, "size": (2, 3)}, EDGE | SIZED),
    "size, upper end": (direction, {"mean": 3, "sd": 0.3, "size": (2, 3)}, EDGE | SIZED),
    "alike means, at the margin": (alike_means, {"off": 2.0}, EDGE),
    "bound, at it": (below, {"mean": 5.0}, EDGE),
    "trainings, no effect": (trainings, {"effect": 0}, EDGE),
}  # fmt: skip
SKEWED = {
    "alike ratio, at the margin": (alike_ratio, {"ratio": 1.25}, EDGE),
    "alike errors, paired": (alike_errors, {"ratio": 1.5, "paired": True}, EDGE),
    "alike errors, apart": (alike_errors, {"ratio": 1.5, "paired": False}, EDGE),
    "share of 8": (share, {"n": 8}, EDGE),
    "share of 100": (share, {"n": 100}, EDGE),
}


@pytest.mark.parametrize("name", NORMAL | SKEWED)
def test_false_verdicts_are_rare(name):
    (case, settings, false), rng = (NORMAL | SKEWED)[name], np.random.default_rng(16)
    found = [case(rng, **settings) for _ in range(N)]
    said = [SIZE_DIFFERS if SIZE_DIFFERS in v.note else v.outcome for v in found]
    wrong = sum(outcome in false for outcome in said)
    assert wrong <= 0.05 * N
    if name in NORMAL:
        assert wrong <= binom.ppf(0.9999, N, ms.ALPHA), f"{wrong} of {N}"
