"""What is known of a page's model."""

import math

import pytest

import rbmlib as rl
from rbmbook import live_model
from rbmbook.known_value import value_and_sentence


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
