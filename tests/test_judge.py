"""The judge: each outcome where it must come out, and just beside it, where it must not."""

import math
from functools import partial

import numpy as np
import pytest

from rbmbook import claims, judge
from rbmbook import measured as ms
from rbmbook import verdicts as vs
from rbmbook.verdicts import (
    ARGUED,
    CEILING,
    CONTRADICTED,
    NOT_DECIDED,
    REPRODUCED,
    SIGN_ONLY,
    UNCHECKED,
)

HALF = ms.quantile(1 - ms.ALPHA / 2, math.inf)  # of an interval, in standard errors


@pytest.fixture(autouse=True)
def listed(monkeypatch):
    """Two claims that no source makes, so that the tests do not hang on what is printed."""
    rows = {
        name: claims.Claim(name, "Wang", "table", "ais", "a claim", printed)
        for name, printed in (
            ("ten", "10.00"), ("two", "2.0"), ("words", "flat"), ("e", "1.0e-4"), ("one", "0.0001"),
        )
    }  # fmt: skip
    monkeypatch.setattr(claims, "claims", lambda: rows)


def at(value, error=1.0):
    """A measurement whose error is known."""
    return ms.measured(value, error)


def factor(ratio, error=0.1):
    return ms.measured(ratio, error, scale="log")


def outcomes(cases):
    return [pytest.param(*case[1:], id=f"{i}-{case[0]}") for i, case in enumerate(cases)]


def printed(ours, error=None, **given):
    spread = {} if error is None else {"printed_error": error}
    return partial(judge.printed_value, "ten", ours, **reasoned(given), **spread)


def variance(ours, name="two", **given):
    return partial(judge.printed_variance, name, ours, **reasoned(given))


def up(ours, sign=+1, **given):
    return partial(judge.effect, "words", ours, direction=sign, **given)


def alike(ours, margin, **given):
    return partial(judge.equivalence, "words", ours, margin=margin, reason="r", **given)


def within(ours, **given):
    return partial(judge.bound, "words", ours, **given)


PROOF = "a word " * 10


def proof(holds):
    return partial(judge.statement, "words", holds, ours="so", reason="r")


def reasoned(given):
    return given | ({"reason": "r"} if "margin" in given else {})


# Each line: what it is, a verdict, and its outcome. Neighbours differ by a hair.
PRINTED = [
    ("near", printed(at(10.01, 0.01), error=0.1), REPRODUCED),
    ("at the edge", printed(at(10.13, 0.001), error=0.1), REPRODUCED),
    ("too few of ours", printed(at(10.01, 0.1), error=0.1), NOT_DECIDED),
    ("beyond the edge", printed(at(10.14, 0.001), error=0.1), NOT_DECIDED),
    ("all but off", printed(at(10.33, 0.001), error=0.1), NOT_DECIDED),
    ("off", printed(at(10.34, 0.001), error=0.1), CONTRADICTED),
    ("a margin", printed(at(10.06, 0.01), margin=0.1), REPRODUCED),
    ("over it", printed(at(10.08, 0.01), margin=0.1), NOT_DECIDED),
    ("beyond it", printed(at(10.14, 0.01), margin=0.1), CONTRADICTED),
    ("not all beyond", printed(at(10.13, 0.01), margin=0.1), NOT_DECIDED),
    ("rounding", printed(ms.exactly(10.004), margin=1e-9), REPRODUCED),
    ("not rounding", printed(ms.exactly(10.006), margin=1e-9), CONTRADICTED),
]  # fmt: skip

VARIANCES = [
    ("alike", variance(2.0, n=math.inf, printed_n=400), REPRODUCED),
    ("few of ours", variance(2.0, n=20, printed_n=400), NOT_DECIDED),
    ("too few printed", variance(2.0, n=math.inf, printed_n=5), NOT_DECIDED),
    ("off for so few", variance(200.0, n=math.inf, printed_n=5), CONTRADICTED),
    ("larger", variance(2.8, n=math.inf, printed_n=400), CONTRADICTED),
    ("not clearly larger", variance(2.3, n=math.inf, printed_n=400), NOT_DECIDED),
    ("smaller", variance(0.1, n=20, printed_n=20), CONTRADICTED),
    ("within a factor", variance(2.2, n=9999, printed_n=9999, margin=1.5), REPRODUCED),
    ("rounded", variance(6e-5, "one", n=math.inf, printed_n=99_999), NOT_DECIDED),
    ("more than rounded", variance(4e-5, "one", n=math.inf, printed_n=99_999), CONTRADICTED),
    ("beyond a factor", variance(4.0, n=9999, printed_n=9999, margin=1.5), CONTRADICTED),
]  # fmt: skip

DIRECTIONS = [
    ("up", up(at(HALF + 0.01)), REPRODUCED),
    ("not clearly up", up(at(HALF - 0.01)), NOT_DECIDED),
    ("down", up(at(-HALF - 0.01)), CONTRADICTED),
    ("down as claimed", up(at(-HALF - 0.01), sign=-1), REPRODUCED),
    ("a ratio", up(factor(2)), REPRODUCED),
    ("of size", up(factor(2), size=(1.4, 2.9)), REPRODUCED),
    ("size open", up(factor(2), size=(1.5, 2.9)), NOT_DECIDED),
    ("smaller", up(factor(2), size=(2.8, 9)), SIGN_ONLY),
    ("not clearly smaller", up(factor(2), size=(2.7, 9)), NOT_DECIDED),
    ("no such size", up(factor(1.1), size=(1.6, 9)), CONTRADICTED),
    ("the opposite", up(factor(0.5), size=(1.6, 9)), CONTRADICTED),
    ("a printed effect", up(factor(1.5, 0.01), size=factor(1.6)), REPRODUCED),
    ("another", up(factor(1.1, 0.01), size=factor(1.6)), SIGN_ONLY),
    ("not resolved", up(factor(1.3, 0.01), size=factor(1.6)), NOT_DECIDED),
    ("printed, not here", up(factor(1.0, 0.01), size=factor(1.6)), CONTRADICTED),
]  # fmt: skip

FULL, HALF_FULL = (980, 1000), (500, 1000)
CEILINGS = [
    ("no room", up(factor(1.01), ceiling=FULL), CEILING),
    ("room", up(factor(1.01), ceiling=HALF_FULL), NOT_DECIDED),
    ("no room for the size", up(factor(1.02, 1e-3), size=(1.5, 2), ceiling=FULL), CEILING),
    ("room for the size", up(factor(1.02, 1e-3), size=(1.5, 2), ceiling=HALF_FULL), SIGN_ONLY),
    ("a gain is a gain", up(factor(1.02, 1e-3), ceiling=FULL), REPRODUCED),
    ("a loss is a loss", up(factor(0.9, 1e-3), ceiling=FULL), CONTRADICTED),
    ("a floor", up(at(-0.1), sign=-1, ceiling=(0.5, 0.0)), CEILING),
]  # fmt: skip

ALIKE = [
    ("alike", alike(factor(1.0, 0.05), margin=1.25), REPRODUCED),
    ("not significant", alike(factor(1.0, 0.1), margin=1.25), NOT_DECIDED),
    ("significant, small", alike(factor(1.1, 0.01), margin=1.25), REPRODUCED),
    ("other", alike(factor(1.5, 0.05), margin=1.25), CONTRADICTED),
    ("significant, open", alike(factor(1.4, 0.05), margin=1.25), NOT_DECIDED),
    ("a difference", alike(at(0.1, 0.1), margin=0.5), REPRODUCED),
]  # fmt: skip

BOUNDS = [
    ("below", within(at(5), at_most=5 + HALF + 0.01), REPRODUCED),
    ("about", within(at(5), at_most=5 + HALF - 0.01), NOT_DECIDED),
    ("above", within(at(5), at_most=5 - HALF - 0.01), CONTRADICTED),
    ("at least", within(factor(2), at_least=1.4), REPRODUCED),
    ("between", within(at(5), at_least=0, at_most=9), REPRODUCED),
]  # fmt: skip

EXACT = [
    ("digits", partial(judge.digits, "ten", 10.0049), REPRODUCED),
    ("other digits", partial(judge.digits, "ten", 10.0051), CONTRADICTED),
    ("a power of ten", partial(judge.digits, "e", 1.04e-4), REPRODUCED),
    ("another", partial(judge.digits, "e", 1.06e-4), CONTRADICTED),
    ("proved", proof(True), REPRODUCED),
    ("disproved", proof(np.False_), CONTRADICTED),
    ("argued", lambda: judge.argued("words", True, PROOF), ARGUED),
    ("argued against", lambda: judge.argued("words", False, PROOF), ARGUED),
    ("cannot", lambda: judge.unchecked("words", "no model")[0], UNCHECKED),
]  # fmt: skip

TRAININGS = [
    ("one", up(at(99), n_trainings=1), NOT_DECIDED),
    ("four", up([9.9, 10, 10.1, 10], n_trainings=4), REPRODUCED),
    ("four that differ", up([1, 10, 19, 10], n_trainings=4), NOT_DECIDED),
    ("one, alike", alike(at(0, 0.1), margin=1, n_trainings=1), NOT_DECIDED),
    ("one, printed", printed(at(10.01, 0.01), error=0.1, n_trainings=1), NOT_DECIDED),
    ("one, bound", within(at(0), at_most=9, n_trainings=1), NOT_DECIDED),
]  # fmt: skip


@pytest.mark.parametrize(
    ("call", "outcome"),
    outcomes(PRINTED + VARIANCES + DIRECTIONS + CEILINGS + ALIKE + BOUNDS + EXACT + TRAININGS),
)
def test_outcome(call, outcome):
    assert call().outcome == outcome


def test_every_outcome_of_every_kind_is_tried():
    kinds = (PRINTED, VARIANCES, DIRECTIONS, ALIKE, BOUNDS)
    for kind in kinds:
        assert {REPRODUCED, CONTRADICTED, NOT_DECIDED} <= {outcome for *_, outcome in kind}
    tried = {o for kind in (*kinds, CEILINGS, EXACT) for *_, o in kind}
    assert tried == set(vs.OUTCOMES) - {vs.DEPENDS}  # for which see `depends`


def test_a_verdict_says_what_was_judged():
    found = judge.printed_value("ten", [10.2, 10.4, 10.3], printed_variance=0.2, printed_n=20)
    low, high = found.low, found.high
    assert found[:5] == ("ten", "Wang", "table", "a claim", "10.00")
    assert found.effect == pytest.approx(0.3)
    assert (low + high) / 2 == pytest.approx(0.3)
    assert found.intervals == 1
    assert found.note.startswith("power: an effect of")
    assert "margin" in found.note


@pytest.mark.parametrize(
    ("call", "never"),
    [
        (printed(at(10.2, 0.001), error=0.1), True),  # between the edges, whatever is run
        (printed(at(10.2, 0.1), error=0.1), False),
        (printed(at(10.08, 0.01), margin=0.1), False),
        (variance(2.0, n=math.inf, printed_n=5), True),
        (variance(2.0, n=20, printed_n=400), False),
        (up(factor(1.3, 0.01), size=factor(1.6)), True),
        (up(factor(1.3, 0.1), size=factor(1.6)), False),
        (up(factor(2), size=(1.5, 2.9)), False),
        (up(at(HALF - 0.01)), False),
    ],
)
def test_where_no_run_decides_the_verdict_says_so(call, never):
    """What is printed leaves it open for each value that ours may have, had that no error."""
    found = call()
    assert found.outcome == NOT_DECIDED
    assert (vs.NO_RUN in found.note, "power:" in found.note) == (never, not never)


def test_a_number_of_an_unknown_kind_of_training_cannot_be_checked():
    open_ = up(at(99), n_trainings=1)()
    found = judge.of_unknown_kind(open_, "no settings")
    assert (found.outcome, found.note, found.ours) == (UNCHECKED, "no settings", open_.ours)
    decided = up(at(99))()
    assert judge.of_unknown_kind(decided, "no settings") == decided
    with pytest.raises(ValueError, match="reason"):
        judge.of_unknown_kind(open_, " ")


def test_what_could_have_been_seen_is_seen_nine_times_in_ten():
    rng = np.random.default_rng(3)
    see = ms.mean_of(rng.normal(size=1000)).could_see()
    seen = [ms.mean_of(x).interval()[0] > 0 for x in rng.normal(see, 1, (2000, 1000))]
    assert abs(np.mean(seen) - ms.POWER) < 4 * math.sqrt(0.09 / 2000) + 0.02  # see is estimated


def test_one_claim_of_several_models():
    good, open_, bad = (judge.effect("words", at(x), direction=+1) for x in (9, 0, -9))
    assert vs.together({"h10": good, "h20": good}).outcome == REPRODUCED
    assert vs.together({"h10": good, "h20": open_}).outcome == NOT_DECIDED
    mixed = vs.together({"h10": good, "h20": bad, "h100": open_})
    assert (mixed.outcome, mixed.intervals) == (CONTRADICTED, 3)
    assert "h20: −9.00 [" in mixed.ours
    assert vs.together({"h10": bad._replace(note="few runs")}).note == "few runs"
    with pytest.raises(ValueError, match="cases"):
        vs.together({"a": good, "b": judge.digits("ten", 10)})


def test_a_setting_that_is_not_stated_decides_if_one_model_shows_it():
    good, bad, open_ = (judge.effect("words", at(x), direction=1) for x in (9, -9, 0))
    assert [v.outcome for v in (good, bad, open_)] == [REPRODUCED, CONTRADICTED, NOT_DECIDED]

    def outcome(one, other, **more):
        return vs.depends("the base", {"own": one, "rate": other}, **more).outcome

    turns = vs.depends("the base", {"own": {"a": good}, "rate": {"a": bad}}, n_trainings=1)
    assert turns.outcome == vs.DEPENDS
    assert turns.note == "the base decides: own: reproduced on a; rate: contradicted on a"
    assert turns.intervals == 2
    assert outcome({"a": good, "b": open_}, {"a": bad, "b": good}) == vs.DEPENDS
    # no single model shows it: another model is no other base
    assert outcome({"a": good, "b": bad}, {"a": open_, "b": open_}) == NOT_DECIDED
    assert outcome({"a": good}, {"b": bad}) == NOT_DECIDED
    assert outcome({"a": open_}, {"a": bad}) == NOT_DECIDED
    for same in (good, bad):
        assert outcome({"a": same}, {"a": same}) == same.outcome
    assert outcome({"a": good}, {"a": good}, n_trainings=1) == NOT_DECIDED


@pytest.mark.parametrize(
    ("call", "argument"),
    [
        (lambda: judge.effect("flat", [1, 2], direction=1), "name"),
        (lambda: judge.effect("words", [1, 2], direction=0), "direction"),
        (lambda: judge.effect("words", [1.0], direction=1), "values"),
        (lambda: judge.effect("words", [1, math.nan], direction=1), "values"),
        (lambda: judge.effect("words", at(1), direction=1, size=(-1, 2)), "size"),
        (lambda: judge.effect("words", at(1), direction=1, size=3), "size"),
        (lambda: judge.effect("words", at(1), direction=1, size=factor(2)), "size"),
        (lambda: judge.effect("words", at(1), direction=1, ceiling=(5, 4)), "ceiling"),
        (lambda: judge.effect("words", [1, 2], direction=1, n_trainings=0), "n_trainings"),
        (lambda: judge.effect("words", [1, 2], direction=1, n_trainings=5), "n_trainings"),
        (lambda: judge.equivalence("words", at(0), margin=0, reason="r"), "margin"),
        (lambda: judge.equivalence("words", factor(1), margin=0.5, reason="r"), "margin"),
        (lambda: judge.equivalence("words", at(0), margin=1, reason=" "), "reason"),
        (lambda: judge.printed_value("words", [1, 2], printed_error=1), "printed"),
        (lambda: judge.printed_value("ten", [1, 2]), "margin"),
        (lambda: judge.printed_value("ten", [1, 2], printed_error=0), "printed_error"),
        (lambda: judge.printed_value("ten", [1, 2], printed_variance=1), "printed_n"),
        (lambda: judge.printed_value("ten", [1, 2], printed_error=1, printed_n=3), "printed_error"),
        (lambda: judge.printed_value("ten", factor(2), printed_error=1), "ours"),
        (lambda: judge.printed_variance("two", -1, n=3, printed_n=20), "ours"),
        (lambda: judge.printed_variance("two", [1, 2], printed_n=1), "printed_n"),
        (lambda: judge.bound("words", at(1)), "at_most"),
        (lambda: judge.bound("words", at(1), at_least=2, at_most=1), "at_most"),
        (lambda: judge.digits("ten", "10"), "ours"),
        (lambda: judge.statement("words", 1, ours="x", reason="r"), "holds"),
        (lambda: judge.argued("words", True, "it is clear"), "proof"),
        (lambda: judge.unchecked("words", ""), "reason"),
        (lambda: ms.measured(1, -1), "std_error"),
        (lambda: ms.measured(-1, 1, scale="log"), "value"),
        (lambda: ms.measured(1, 1, 0), "freedom"),
        (lambda: ms.measured(1, 1, scale="root"), "scale"),
        (lambda: ms.ratio([1, 2], [0, 1]), "b"),
        (lambda: ms.difference([1, 2], [1, 2, 3], paired=True), "pairs"),
        (lambda: ms.rmse_ratio([1, 2], [1, 2, 3]), "pairs"),
        (lambda: ms.from_interval(3, 1, 2), "low"),
        (lambda: ms.share_of([0, 2]), "flags"),
        (lambda: vs.show_verdicts([1]), "verdicts"),
        (lambda: vs.show_verdicts(judge.unchecked(["ten", "ten"], "r")), "verdicts"),
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
        assert found.outcome == NOT_DECIDED
        assert found.intervals == 1
    assert judge.bound("words", ms.exactly(1), at_least=0.9).outcome == REPRODUCED
    assert judge.bound("words", ms.share_of(every), at_least=0.9).outcome == NOT_DECIDED
    assert judge.bound("words", ms.share_of(every), at_least=0.5).outcome == REPRODUCED
    open_ = judge.bound("words", every, at_least=0)
    assert open_.note.startswith("power: none")
    assert vs.in_brackets(*open_[6:9]) == "1"
