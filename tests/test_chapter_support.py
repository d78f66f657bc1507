"""What chapters lean on: parameters, verdicts, warnings as text."""

import math
import warnings

import pytest

from rbmlib import tables
from rbmlib.notebooks import checked_parameters, noted_warnings, refused_parameter


def namespace(**values):
    kinds = {"model": str, "n_chains": int, "rate": float, "steps": list[int], "seed": int}
    defaults = {"model": "a", "n_chains": 10, "rate": 0.5, "steps": [1, 2], "seed": 0}
    return {"__annotations__": kinds, "In": [], "_": 1} | defaults | values


def test_good_parameters_pass_and_are_converted():
    given = namespace(n_chains=1000.0, rate=1, steps=[1.0, 5])
    checked_parameters(given)
    assert given["n_chains"] == 1000
    assert isinstance(given["n_chains"], int)
    assert given["steps"] == [1, 5]


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({"n_chains": "ten"}, ["n_chains", "'ten'", "whole number"]),
        ({"n_chains": 0}, ["n_chains", "1 or more"]),
        ({"n_chains": 10.5}, ["n_chains", "whole number"]),
        ({"n_chains": True}, ["n_chains"]),
        ({"seed": -1}, ["seed", "0 or more"]),
        ({"model": 3}, ["model", "word"]),
        ({"steps": "[1,2]"}, ["steps", "list"]),
        ({"steps": [1, "x"]}, ["steps", "'x'"]),
        ({"n_chain": 5}, ["n_chain", "did you mean n_chains"]),
    ],
)
def test_wrong_parameters_are_refused_by_name(wrong, words):
    with pytest.raises(ValueError) as error:  # noqa: PT011 (the words are checked below)
        checked_parameters(namespace(**wrong))
    assert all(word in str(error.value) for word in words)


def test_minimum_is_honoured():
    with pytest.raises(ValueError, match="20 or more"):
        checked_parameters(namespace(), n_chains=20)


def test_errors_inside_name_the_parameter():
    with pytest.raises(ValueError, match="model is 'x': no such"), refused_parameter("model", "x"):
        raise FileNotFoundError("no such file")


def test_warnings_become_text():
    with noted_warnings() as notes:
        warnings.warn("low", stacklevel=1)
    assert notes == ["low"]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ((10.29, 0.1, 10.0), "agrees (+2.9 s.e.)"),
        ((10.31, 0.1, 10.0), "too high by 0.31 (+3.1 s.e.)"),
        ((9.0, 0.03, 10.0, 0.04), "too low by 1.00 (-20.0 s.e.)"),
        ((9.0, 0.1, math.nan), "no reference"),
    ],
)
def test_verdict_is_a_distance_in_standard_errors(arguments, words):
    assert tables.verdict(*arguments) == words


def test_verdict_needs_an_error():
    with pytest.raises(ValueError, match="standard errors"):
        tables.verdict(1.0, 0.0, 1.0)


def test_replicates():
    summary = tables.replicate_summary([1.0, 2.0, 3.0, 6.0])
    assert summary["mean"] == 3.0
    assert summary["variance"] == pytest.approx(14 / 3)
    assert summary["std_error"] == pytest.approx(math.sqrt(14 / 3 / 4))
