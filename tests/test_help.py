"""What ``help`` says of an estimator: its own words, and those that all of them share."""

import inspect
import re

import pytest

import rbmlib as rl
from rbmlib.estimators import SHARED, documented

NAMES = [
    name
    for name, thing in vars(rl).items()
    if inspect.isfunction(thing) and thing.__module__.startswith("rbmlib.estimators.")
]
WITHOUT_A_CLOCK = {"exact_samples", "solve_mbar"}  # functions that are not estimators


@pytest.mark.parametrize("name", sorted(set(NAMES) - WITHOUT_A_CLOCK))
def test_every_argument_is_described_once(name):
    function = getattr(rl, name)
    sections = re.split(r"(?m)^(\w+)\n-+$", inspect.getdoc(function))
    assert [sections.count(title) for title in ("Parameters", "Returns")] == [1, 1]
    lines = re.findall(r"(?m)^(\w[\w, ]*) : ", sections[sections.index("Parameters") + 1])
    described = [word for line in lines for word in line.split(", ")]
    assert sorted(described) == sorted(inspect.signature(function).parameters)


def test_what_a_function_says_itself_is_not_said_again():
    def one(path, betas, n_chains):
        """One.

        Parameters
        ----------
        betas, n_chains : mine
            Of this one.

        Raises
        ------
        ValueError
        """

    text = documented(one, inspect.signature(one).parameters)
    assert text.startswith("One.\n\nParameters\n----------\npath : Path\n")
    assert SHARED["path"] in text
    assert "\nbetas, n_chains : mine\n    Of this one.\nn_threads, progress : optional\n" in text
    assert not any(SHARED[name] in text for name in ("betas", "n_chains", "rng"))
    assert text.index("Returns\n---") < text.index("\n\nRaises\n---")


def test_a_line_is_enough():
    def one(rng):
        """One."""

    text = documented(one, inspect.signature(one).parameters)
    assert text.startswith(f"One.\n\nParameters\n----------\nrng : {SHARED['rng']}\n")
    assert documented(lambda: None, ()).count("n_threads, progress : ") == 1
