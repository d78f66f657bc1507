"""Every verdict by `judge.statement` comes out of comparisons, and turns when they turn."""

import ast
import json
from pathlib import Path

import pytest

from rbmbook import judge, leaky_bias, leaky_table2
from rbmbook.claims import claims
from rbmbook.verdicts import CONTRADICTED, REPRODUCED

BOOK = Path(__file__).parents[1] / "book"
COMPARING = {"allclose", "array_equal", "isclose"}


class Forced(ast.NodeTransformer):
    """An expression whose comparisons, and calls about them, all come out alike.

    A comparison of typed numbers stays as it is, since nothing that is computed turns it.
    """

    def __init__(self, value: bool, assigned):
        self.value, self.assigned = value, assigned

    def visit_Compare(self, node):
        return ast.Constant(self.value) if is_computed(node, self.assigned) else node

    def visit_Call(self, node):
        inside = list(ast.walk(node))
        named = {x.attr for x in inside if isinstance(x, ast.Attribute)} & COMPARING
        compares = named or any(isinstance(x, ast.Compare) for x in inside)
        forced = compares and is_computed(node, self.assigned)
        return ast.Constant(self.value) if forced else self.generic_visit(node)


class Inlined(ast.NodeTransformer):
    """An expression whose names are replaced by what they were assigned, if it was once."""

    def __init__(self, assigned):
        self.assigned = assigned

    def visit_Name(self, node):
        return self.assigned.get(node.id, node)


def is_computed(node: ast.expr, assigned, depth: int = 5) -> bool:
    """Does something enter that is not typed: an argument, an import, what a call returns?"""
    for x in ast.walk(node):
        if isinstance(x, ast.Name) and x.id not in ("bool", "np"):
            value = assigned.get(x.id)
            if value is None or (depth and is_computed(value, assigned, depth - 1)):
                return True
    return False


def assigned_in(tree) -> dict[str, ast.expr]:
    return {
        node.targets[0].id: node.value
        for node in ast.walk(tree)
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name)
    }


def turns(flag: ast.expr, assigned=None) -> bool:
    """Does a flag change with the comparisons of which it is made? A literal has none."""
    found = []
    for value in (True, False):
        # comparisons first: what is compared need not be known
        whole = ast.parse(ast.unparse(flag), mode="eval")
        for _ in range(5):
            whole = Forced(value, assigned or {}).visit(whole)
            whole = ast.parse(ast.unparse(Inlined(assigned or {}).visit(whole)), mode="eval")
        try:
            code = compile(ast.fix_missing_locations(whole), "flag", "eval")
            found.append(bool(eval(code, {"__builtins__": {"bool": bool}})))
        except NameError:
            return False
    return found[0] != found[1]


def calls_in(tree):
    for node in ast.walk(tree):
        named = isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)
        if named and node.func.attr == "statement" and ast.unparse(node.func.value) == "judge":
            yield node


def statements():
    """Places of the book that call `judge.statement`: source, name of the claim, flag, names."""
    for path in sorted(BOOK.glob("*.ipynb")):
        cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
        code = ["".join(c["source"]) for c in cells if c["cell_type"] == "code"]
        tree = ast.parse("\n".join(code))
        for call in calls_in(tree):
            yield path.stem, call, assigned_in(tree)
    for path in sorted((BOOK / "lab").rglob("*.py")):
        for function in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(function, ast.FunctionDef):
                for call in calls_in(function):
                    yield path.stem, call, assigned_in(function)


CALLS = list(statements())


@pytest.mark.parametrize(
    ("call", "assigned"),
    [pytest.param(c, a, id=f"{s}-{ast.unparse(c.args[0])}") for s, c, a in CALLS],
)
def test_a_statement_turns_with_its_comparisons(call, assigned):
    assert turns(call.args[1], assigned), (
        f"{ast.unparse(call)}: its flag is no outcome of a comparison. Compute it, or use "
        "judge.argued with a proof"
    )


def test_the_calls_are_found():
    assert len(CALLS) > 15
    literals = {"kiwaki-eq9", "kiwaki-algorithm3", "li-s41-formula", "carlson-s33-taylor"}
    assert literals <= {ast.literal_eval(c.args[0]) for _, c, _ in CALLS if is_plain(c.args[0])}


def is_plain(node) -> bool:
    return isinstance(node, ast.Constant)


@pytest.mark.parametrize(
    ("flag", "names", "wanted"),
    [
        ("True", "", False), ("bool(1)", "", False), ("100 * 10 == 1000", "", False),
        ("bool(1 < 2)", "", False), ("a < 1", "a = 0.5", False), ("a < 1", "a = f(x)", True),
        ("np.allclose(1, 1)", "", False), ("a < b", "a = 2 * c\nb = 3\nc = 1", False),
        ("x < 1", "", True), ("not x < 1", "", True), ("bool((x > 0).all())", "", True),
        ("same", "same = np.allclose(a, b)", True), ("holds", "holds = True", False),
        ("a or b", "a = x < 1\nb = True", False), ("unknown", "", False),
    ],
)  # fmt: skip
def test_what_turns(flag, names, wanted):
    parsed = ast.parse(flag, mode="eval").body
    assert turns(parsed, assigned_in(ast.parse(names))) is wanted


def test_every_claim_of_a_statement_has_both_verdicts():
    for name in claims():
        found = [judge.statement(name, x, ours="o", reason="r").outcome for x in (True, False)]
        assert found == [REPRODUCED, CONTRADICTED]


def stored_comparisons():
    import pandas as pd

    from rbmlib import datasets

    table = leaky_table2.table_2(pd.read_csv(datasets.committed("results/leaky_table2.csv")))
    return {v.name: v.outcome for v in leaky_table2.comparisons(table)}


def test_statements_on_table_2_turn_with_what_is_computed(monkeypatch):
    before = stored_comparisons()
    slow, error = leaky_bias.slow_bias, leaky_table2._std_error
    monkeypatch.setattr(leaky_bias, "slow_bias", lambda *x: -slow(*x))
    monkeypatch.setattr(leaky_table2, "_std_error", lambda *x: 1 / error(*x))
    after = stored_comparisons()
    for name in ("li-t2-errors", "li-s41-stable"):
        assert {before[name], after[name]} == {REPRODUCED, CONTRADICTED}


def exact_numbers():
    """Places of the book that judge a number without error, `exactly`: its argument, and names."""
    for path in sorted(BOOK.glob("*.ipynb")):
        cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
        tree = ast.parse("\n".join("".join(c["source"]) for c in cells if c["cell_type"] == "code"))
        for call in ast.walk(tree):
            if isinstance(call, ast.Call) and ast.unparse(call.func).endswith(".exactly"):
                yield path.stem, call.args[0], assigned_in(tree)


def test_no_number_without_error_is_typed():
    found = list(exact_numbers())
    typed = [f"{page}: {ast.unparse(x)}" for page, x, named in found if not is_computed(x, named)]
    assert len(found) > 5
    assert not typed, "judged as if it had been computed"
    assert not is_computed(ast.parse("round(3.9, 1)", mode="eval").body, {"round": ast.Constant(0)})
