"""How often the judge is wrong, on simulated claims whose truth is known.

Each case is simulated where a false verdict is likeliest: at the edge of what the claim allows, or
just where it is true. No case may be false in more than 5% of its repeats; where the errors are
normal, not more often than its declared chance.
"""

import math

import numpy as np
import pytest
from helpers_book import NIGHTLY
from scipy.stats import binom

from rbmbook import claims, judge
from rbmbook import measured as ms
from rbmbook.verdicts import CONTRADICTED, NOT_DECIDED, REPRODUCED, SIGN_ONLY

N = 4000 if NIGHTLY else 1600  # simulated claims of each case
TRUE = {CONTRADICTED, SIGN_ONLY}  # false of a claim that is true
UNTRUE = {REPRODUCED}  # false of a claim that is not
EDGE = TRUE | UNTRUE  # at the edge any decision is by chance

BASE, FULL_SD, RUNS = 100.0, 2.0, 20  # of the printed numbers
MARGIN = ms.resolution(RUNS - 1) * FULL_SD / math.sqrt(RUNS)
VARIANCE_MARGIN = math.exp(ms.resolution(math.inf) * math.sqrt(2 / (RUNS - 1)))


@pytest.fixture
def print_number(monkeypatch):
    """Let the source print this number, to full precision."""

    def say(value):
        row = claims.Claim("claim", "Wang", "table", "ais", "words", f"{value:.12f}")
        monkeypatch.setattr(claims, "claims", lambda: {"claim": row})

    say(0.0)
    return say


def printed_mean(off, n=RUNS, sd=FULL_SD):
    """A printed mean with its variance, and our n runs, whose mean differs by ``off``."""

    def one(rng, say):
        theirs, ours = rng.normal(BASE, FULL_SD, RUNS), rng.normal(BASE + off, sd, n)
        say(theirs.mean())
        return judge.printed_value(
            "claim", ours, printed_variance=theirs.var(ddof=1), printed_n=RUNS
        )

    return one


def printed_with_margin(off):
    def one(rng, say):
        say(rng.normal(BASE, 0.1))
        ours = rng.normal(BASE + off, FULL_SD, 50)
        return judge.printed_value("claim", ours, printed_error=0.1, margin=1.0, reason="r")

    return one


def printed_variance(ratio, n=RUNS):
    def one(rng, say):
        say(rng.normal(0, 1, RUNS).var(ddof=1))
        ours = rng.normal(0, math.sqrt(ratio), n)
        return judge.printed_variance("claim", ours, printed_n=RUNS)

    return one


def direction(mean, sd=1.0, size=None, n=8):
    return lambda rng, say: judge.effect("claim", rng.normal(mean, sd, n), direction=1, size=size)


def printed_effect(off):
    """A printed effect of 3 with a known error of 0.5; ours differs by ``off``."""

    def one(rng, say):
        size = ms.measured(rng.normal(3, 0.5), 0.5)
        return judge.effect("claim", rng.normal(3 + off, 1, 30), direction=1, size=size)

    return one


def alike(ratio):
    """Means of skewed positive numbers (log-normal), alike up to a factor of 1.25."""

    def one(rng, say):
        a, b = rng.lognormal(math.log(ratio), 0.5, 50), rng.lognormal(0, 0.5, 50)
        return judge.equivalence("claim", ms.ratio(a, b), margin=1.25, reason="r")

    return one


def alike_errors(ratio, paired):
    """Errors of two estimators with a common part, alike up to a factor of 1.5."""

    def one(rng, say):
        both, a, b = rng.normal(0, math.sqrt(0.5), (3, 60))
        other = (both if paired else rng.normal(0, math.sqrt(0.5), 60)) + b
        found = ms.rmse_ratio(ratio * (both + a), other, paired)
        return judge.equivalence("claim", found, margin=1.5, reason="r")

    return one


def alike_means(off):
    def one(rng, say):
        found = ms.difference(rng.normal(off, 1, 10), rng.normal(0, 3, 40))
        return judge.equivalence("claim", found, margin=2.0, reason="r")

    return one


def below(mean):
    return lambda rng, say: judge.bound("claim", rng.normal(mean, 1, 6), at_most=5.0)


def share(chance, n):
    """A claimed share of 0.9 of independent repeats."""
    return lambda rng, say: judge.bound("claim", ms.share_of(rng.random(n) < chance), at_least=0.9)


def trainings(effect):
    """Five trainings that differ by 1, each measured 20 times with an error of 0.1."""

    def one(rng, say):
        groups = rng.normal(rng.normal(effect, 1, (5, 1)), 0.1, (5, 20))
        return judge.effect("claim", ms.by_training(groups), direction=1, n_trainings=5)

    return one


NORMAL = {
    "printed mean, equal": (printed_mean(0), TRUE),
    "printed mean, equal, many runs of ours": (printed_mean(0, n=500, sd=0.5), TRUE),
    "printed mean, at the margin": (printed_mean(MARGIN, n=500), UNTRUE),
    "printed mean, below the margin": (printed_mean(-MARGIN, n=40), UNTRUE),
    "printed mean, stated margin, at it": (printed_with_margin(1.0), EDGE),
    "printed variance, equal": (printed_variance(1), TRUE),
    "printed variance, at the margin": (printed_variance(VARIANCE_MARGIN, n=500), UNTRUE),
    "printed variance, below": (printed_variance(1 / VARIANCE_MARGIN, n=500), UNTRUE),
    "direction, no effect": (direction(0), EDGE),
    "direction, opposite": (direction(-0.5), UNTRUE),
    "direction, as claimed": (direction(0.5), TRUE),
    "size, at its lower end": (direction(2, sd=0.3, size=(2, 3)), EDGE),
    "size, at its upper end": (direction(3, sd=0.3, size=(2, 3)), EDGE),
    "size, within": (direction(2.2, sd=0.3, size=(2, 3)), TRUE),
    "printed effect, equal": (printed_effect(0), TRUE),
    "printed effect, at the margin": (printed_effect(ms.resolution(math.inf) * 0.5), UNTRUE),
    "alike means, at the margin": (alike_means(2.0), EDGE),
    "alike means, within": (alike_means(1.5), TRUE),
    "bound, at it": (below(5.0), EDGE),
    "trainings, no effect": (trainings(0), EDGE),
}

SKEWED = {
    "alike ratio, at the margin": (alike(1.25), EDGE),
    "alike ratio, equal": (alike(1.0), TRUE),
    "alike errors, paired, at the margin": (alike_errors(1.5, True), EDGE),
    "alike errors, at the margin": (alike_errors(1.5, False), EDGE),
    "share of 8, at the bound": (share(0.9, 8), EDGE),
    "share of 100, at the bound": (share(0.9, 100), EDGE),
    "alike errors, equal": (alike_errors(1.0, True), TRUE),
}

# Where the answer is plain, it must come out as often as the power says, or more.
DECIDED = {
    "printed mean, far off": (printed_mean(4 * MARGIN), CONTRADICTED),
    "printed mean, equal, many of ours": (printed_mean(0, n=2000, sd=0.1), REPRODUCED),
    "printed variance, far off": (printed_variance(100), CONTRADICTED),
    "direction": (direction(4), REPRODUCED),
    "size": (direction(2.5, sd=0.1, size=(2, 3)), REPRODUCED),
    "size differs": (direction(1, sd=0.1, size=(2, 3)), SIGN_ONLY),
    "printed effect": (direction(-3), CONTRADICTED),
    "other ratio": (alike(2.5), CONTRADICTED),
    "bound": (below(0.0), REPRODUCED),
    "trainings": (trainings(20), REPRODUCED),
    "no power": (alike_means(0), NOT_DECIDED),
}


def outcomes_of(case, print_number, n):
    rng = np.random.default_rng(16)
    return [case(rng, print_number).outcome for _ in range(n)]


@pytest.mark.parametrize("name", NORMAL | SKEWED)
def test_false_verdicts_are_rare(name, print_number):
    case, false = (NORMAL | SKEWED)[name]
    wrong = sum(outcome in false for outcome in outcomes_of(case, print_number, N))
    assert wrong <= 0.05 * N
    if name in NORMAL:
        assert wrong <= binom.ppf(0.9999, N, ms.ALPHA), f"{wrong} of {N}"


@pytest.mark.parametrize("name", DECIDED)
def test_plain_answers_come_out(name, print_number):
    case, wanted = DECIDED[name]
    found = outcomes_of(case, print_number, 200)
    assert found.count(wanted) >= 0.75 * 200, {outcome: found.count(outcome) for outcome in found}


def test_pooled_repeats_of_few_trainings_would_be_false(print_number):
    """What `by_training` is for: all repeats taken as independent, a false verdict is the rule."""
    rng = np.random.default_rng(16)
    groups = rng.normal(rng.normal(0, 1, (200, 5, 1)), 0.1, (200, 5, 20))
    pooled = [judge.effect("claim", g.ravel(), direction=1).decided for g in groups]
    assert np.mean(pooled) > 0.3
