"""Shared by all tests: where the repository is, and its notebooks."""

import json
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).resolve().parent.parent


@pytest.fixture(scope="session")
def repository() -> Path:
    return REPOSITORY


@pytest.fixture(scope="session")
def read_notebook():
    def read(path: Path) -> dict:
        return json.loads(path.read_text(encoding="utf-8"))

    return read


def chapter_paths() -> list[Path]:
    return sorted((REPOSITORY / "book").glob("*.ipynb"))


def pytest_generate_tests(metafunc):
    """A test with the argument `chapter` runs once for each notebook of the book."""
    if "chapter" in metafunc.fixturenames:
        metafunc.parametrize("chapter", chapter_paths(), ids=lambda path: path.stem)
