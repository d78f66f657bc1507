"""The page on the library's architecture: its code runs, and what it names is there."""

import re
import sys
from pathlib import Path

import pytest
from test_structure import LEVEL, ROOMS

from rbmbook.sweeps.words import ESTIMATORS
from rbmlib.models.layers import KINDS, Layer

sys.path.insert(0, str(Path(__file__).parents[1] / "book" / "_ext"))
import layers_page


@pytest.fixture(scope="module")
def page(pytestconfig):
    return (pytestconfig.rootpath / "book" / "architecture.md").read_text(encoding="utf-8")


def blocks(page: str, language: str) -> list[str]:
    return re.findall(rf"(?ms)^```{language}\n(.*?)^```$", page)


def test_its_examples_run(page):
    """Every block of Python, in order, as one program; what it claims, it asserts."""
    before, code = dict(ESTIMATORS), blocks(page, "python")
    assert sum("assert " in block for block in code) >= 7
    names = {"__name__": "architecture"}
    try:
        for number, block in enumerate(code, 1):
            exec(compile(block, f"architecture.md, block {number}", "exec"), names)
    finally:
        ESTIMATORS.clear()
        ESTIMATORS.update(before)
    new = names["importance_sampling"](names["BiasesFirst"](names["easy"]), 5000, rng=1)
    assert abs(new.log_z - names["rl"].exact(names["easy"]).log_z) < 4 * new.std_error


def test_it_lists_the_rooms_in_the_order_of_their_imports(page):
    listed = [line.split()[0] for line in blocks(page, "text")[0].splitlines()]
    assert set(listed) == {"_kernels", "results", *ROOMS, "__main__"}
    level = [LEVEL[room] for room in listed]
    assert level == sorted(level, reverse=True)


def test_the_files_that_it_names_exist(page, repository):
    named = set(re.findall(r"`(rbmlib/[\w/]+(?:\.py)?)`", page))
    named |= {
        f"rbmlib/{name}" for name in re.findall(r"\s([\w]+/\w+\.py)", blocks(page, "text")[1])
    }
    named.discard("book/lab/experiments/NAME")
    assert len(named) > 10
    missing = sorted(name for name in named if not (repository / name).exists())
    assert [name for name in missing if "NAME" not in name] == []


def test_a_kind_of_unit_is_one_short_class(page):
    """45 lines of code at most, and its row is the count; a comment or docstring is no line."""
    assert page.count(layers_page.MARK) == 1
    ours = {"Layer": Layer} | {n: c for n, c in KINDS.items() if c.__module__ == Layer.__module__}
    assert set(layers_page.WHAT) == set(ours), "give it a row of WHAT in book/_ext/layers_page.py"
    rows = dict(re.findall(r"\| `(\w+)` \| .* \| (\d+) \|", layers_page.page()))
    assert {name: layers_page.lines_of(kind) for name, kind in ours.items()} == {
        name: int(n) for name, n in rows.items()
    }
    assert max(int(n) for name, n in rows.items() if name != "Layer") <= 45

    class Counted:
        """Two lines of a docstring,
        this is the second."""

        one = 1  # with a comment

        def two(self):
            """Said."""
            # and said
            return "#", self.one

    assert layers_page.lines_of(Counted) == 4
