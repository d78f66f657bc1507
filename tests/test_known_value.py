"""What is known of a page's model, and what runs say beside it, with numbers by hand."""

import math
from types import SimpleNamespace

import pytest

import rbmlib as rl
from rbmbook import live_model
from rbmbook.known_value import (
    Known,
    bases_in_words,
    bracket_in_words,
    known_value,
    rule_in_words,
    value_and_sentence,
)

REFERENCE, NOTHING = Known(210.0, 0.3, "reference"), Known(math.nan, 0.0, "not known")


def run(log_z=0.0, ess=50.0, mean=0.0, converged=True, start="auto"):
    return SimpleNamespace(
        log_z=log_z, ess=ess, mean_log_z=mean, converged=converged, n_chains=100,
        mean_std_error=0.1, settings={"start": start},
    )  # fmt: skip


def test_the_best_value_that_there_is():
    small, large = rl.testsystems.random_rbm(6, 4, rng=0), rl.testsystems.random_rbm(30, 30, rng=0)
    listed = SimpleNamespace(log_z=3.0, std_error=0.1)
    exact = known_value(SimpleNamespace(rbm=small, reference=listed))
    assert exact[1:] == (0.0, "exact")
    assert exact.log_z == pytest.approx(rl.exact(small).log_z)
    assert known_value(SimpleNamespace(rbm=large, reference=listed)) == (3.0, 0.1, "reference")
    assert not known_value(SimpleNamespace(rbm=large, reference=None))


def test_what_is_known_in_words():
    assert Known(1.23456, 0.0, "exact").sentence() == "The exact value is log Z = 1.2346 nats."
    assert "reference value of log Z is 210.000 ± 0.300 nats" in REFERENCE.sentence()
    assert "not known" in NOTHING.sentence()


def test_errors_of_both_numbers_count():
    assert REFERENCE.beside(209.0, 0.4) == {"minus reference": "-1.000 ± 0.500"}
    assert NOTHING.beside(209.0, 0.4) == {}


def test_the_rule_names_each_run_once():
    runs = {"a": run(), "b": run(converged=False), "c": run()}
    assert rule_in_words(runs) == (
        "By the rule for the ESS: a, c passed; b failed, and rbmlib warns."
    )
    assert rule_in_words({"a": run()}) == "By the rule for the ESS: a passed."


def test_the_bracket_and_its_upper_side():
    up, down = run(mean=209.0), run(mean=211.5)
    says = bracket_in_words(up, down, REFERENCE)
    assert says.startswith("The bracket runs from 208.80 to 211.70; the gap is 2.50 nats. ")
    assert "The reference value, 210.00, lies inside. The way down begins" in says
    assert "lies outside" in bracket_in_words(up, down, Known(212.0, 0.0, "exact"))
    exactly = bracket_in_words(up, run(mean=211.5, start="exact samples"), NOTHING)
    assert exactly.endswith("2.50 nats. ")


def test_bases_are_compared():
    runs = {"near": run(209.5, 80.0, 208.0), "far": run(206.0, 3.0, 205.0)}
    assert bases_in_words(runs, REFERENCE) == (
        "*near* has the largest ESS, 80 of 100, and also the highest log Z. "
        "More than a nat from the reference value: *far* (-4.0). "
    )
    runs["far"].log_z = 214.5
    assert "and *far* the highest" in bases_in_words(runs, NOTHING)


def test_what_is_known_comes_with_a_sentence(tmp_path):
    value, said = value_and_sentence(live_model("pcd_20"))
    assert said == f"Its log Z is {value:.4f} (the book's reference)."
    small = rl.testsystems.random_rbm(8, 3, rng=0)
    small.save(tmp_path / "small.npz")
    rl.testsystems.random_rbm(40, 30, rng=0).save(tmp_path / "large.npz")
    value, said = value_and_sentence(live_model(str(tmp_path / "small.npz")))
    assert value == pytest.approx(rl.exact(small).log_z)
    assert "(exact)" in said
    value, said = value_and_sentence(live_model(str(tmp_path / "large.npz")))
    assert math.isnan(value)
    assert "not known" in said
