"""Planted errors stay true of the code: texts, patches and tests are there."""

import ast

import pytest
from plant import apply, planted

import rbmbook
import rbmlib

ERRORS = planted()


def test_the_code_is_that_of_the_repository(repository):
    for package, folder in ((rbmlib, "rbmlib"), (rbmbook, "book/lab")):
        assert package.__file__ == str(repository / folder / "__init__.py")
    assert len({error.what for error in ERRORS.values()}) == len(ERRORS) >= 83


@pytest.mark.parametrize("error", ERRORS.values(), ids=ERRORS)
def test_an_error_can_still_be_planted_and_its_test_is_there(repository, error):
    if not error.patch:
        ast.parse(error.changed((repository / error.file).read_text(encoding="utf-8")))
    else:
        apply(error.patch, repository, "--check")
    file, _, name = error.test.partition("::")
    assert f"def {name}(" in (repository / "tests" / file).read_text(encoding="utf-8")
    for first in error.first():
        assert (repository / "tests" / first).is_file(), first
