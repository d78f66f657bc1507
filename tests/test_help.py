"""What ``help`` says of an estimator: each argument once, and what it returns."""

import inspect
import re

import pytest

import rbmlib as rl

NAMES = [
    name
    for name, thing in vars(rl).items()
    if inspect.isfunction(thing) and thing.__module__.startswith("rbmlib.estimators.")
]
WITHOUT_A_CLOCK = {"sample", "solve_mbar"}  # functions that are not estimators


@pytest.mark.parametrize("name", sorted(set(NAMES) - WITHOUT_A_CLOCK))
def test_every_argument_is_described_once(name):
    function = getattr(rl, name)
    sections = re.split(r"(?m)^(\w+)\n-+$", inspect.getdoc(function))
    assert [sections.count(title) for title in ("Parameters", "Returns")] == [1, 1]
    lines = re.findall(r"(?m)^(\w[\w, ]*) : ", sections[sections.index("Parameters") + 1])
    described = [word for line in lines for word in line.split(", ")]
    assert sorted(described) == sorted(inspect.signature(function).parameters)
