"""The examples in docstrings of `rbmbook`, under the name by which chapters import it."""

import doctest
import importlib
import pkgutil

import pytest

import rbmbook

MODULES = [m.name for m in pkgutil.walk_packages(rbmbook.__path__, "rbmbook.")]


@pytest.mark.parametrize("name", [name for name in MODULES if not name.endswith("__main__")])
def test_examples(name):
    assert doctest.testmod(importlib.import_module(name)).failed == 0
