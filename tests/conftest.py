"""Shared by all tests: where the repository is, and its notebooks."""

import json
from pathlib import Path

import pytest
from helpers_book import REPOSITORY, chapter_paths


@pytest.fixture(scope="session")
def repository() -> Path:
    return REPOSITORY


@pytest.fixture(scope="session")
def read_notebook():
    def read(path: Path) -> dict:
        return json.loads(path.read_text(encoding="utf-8"))

    return read


def pytest_generate_tests(metafunc):
    """A test with the argument `chapter` runs once for each notebook of the book."""
    if "chapter" in metafunc.fixturenames:
        metafunc.parametrize("chapter", chapter_paths(), ids=lambda path: path.stem)
