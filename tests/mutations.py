"""The errors that `tests/mutants.py` can plant: one changed node of a syntax tree each."""

from __future__ import annotations

import ast
import copy
import re

ARITHMETIC = {
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Div, ast.Div: ast.Mult,
    ast.FloorDiv: ast.Div, ast.Mod: ast.FloorDiv, ast.Pow: ast.Mult, ast.BitAnd: ast.BitOr,
    ast.BitOr: ast.BitAnd,
}  # fmt: skip
SHARPNESS = {ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt}
DIRECTION = {
    ast.Lt: ast.Gt, ast.LtE: ast.GtE, ast.Gt: ast.Lt, ast.GtE: ast.LtE, ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq, ast.In: ast.NotIn, ast.NotIn: ast.In, ast.Is: ast.IsNot, ast.IsNot: ast.Is,
}  # fmt: skip
OTHER = {
    "min": "max", "max": "min", "argmin": "argmax", "argmax": "argmin", "sum": "mean",
    "mean": "sum", "any": "all", "all": "any", "zeros": "ones", "ones": "zeros",
    "minimum": "maximum", "maximum": "minimum", "floor": "ceil", "ceil": "floor",
    "union1d": "intersect1d", "log": "log1p", "exp": "expm1", "append": "setdiff1d",
}  # fmt: skip
SPREAD = {"std": "var", "var": "std", "sqrt": "abs", "hypot": "add", "median": "mean"}
ERRORS = re.compile(r"error|variance|spread|half|width|squares|influence|ess$|families|bias$")
COMPILED = re.compile(r"njit|inline|intrinsic|type_callable|register_model")
GROUPS = {
    "constant": "constants",
    "term dropped": "terms",
    "sign or negation dropped": "signs",
    "truth": "constants",
    "branches exchanged": "branches",
    "and <-> or": "branches",
}


def group_of(what: str) -> str:
    """Errors are drawn from groups of equal weight: constants would be a third of all."""
    for words, group in (("direction", "comparisons"), ("sharpness", "comparisons"),
                         ("end of slice", "indices")):  # fmt: skip
        if words in what:
            return group
    operator = what[:1].isupper()
    return GROUPS.get(what, "operators" if operator else "functions")


STATISTICAL = {"std <-> var", "sqrt dropped", "ddof", "n - 1", "times 0.9", "hypot", "level"}


def found_in(source, change: int | None = None, kernels: bool = False) -> list[dict]:
    """All errors of a module (text or tree), numbered; that of number ``change`` with its tree.

    Of a module of kernels only functions that Python runs: Numba keeps compiled ones, with the
    constants of their module, where a change in memory does not reach them.
    """
    tree = ast.parse(source) if isinstance(source, str) else source
    finder = _Finder()
    for node in tree.body:
        if not kernels or isinstance(node, ast.FunctionDef | ast.ClassDef):
            finder.visit(node)
    found = []
    functions = [n for n in ast.walk(tree) if isinstance(n, ast.FunctionDef)]
    for number, (what, node, edit) in enumerate(finder.places):
        row = {"number": number, "what": what, "line": node.lineno, "end": node.end_lineno}
        row["inside"] = any(f.lineno < node.lineno <= f.end_lineno for f in functions)
        if number == change:
            # the same node of a copy, found by its place in a walk
            place = next(i for i, n in enumerate(ast.walk(tree)) if n is node)
            other = copy.deepcopy(tree)
            edit(next(n for i, n in enumerate(ast.walk(other)) if i == place))
            row["tree"] = other
        found.append(row)
    return found


def _become(node, other) -> None:
    """Turn a node into another, in place."""
    place = {name: getattr(node, name) for name in ("lineno", "col_offset", "end_lineno",
                                                    "end_col_offset")}  # fmt: skip
    other = copy.deepcopy(other)
    node.__class__ = other.__class__
    node.__dict__.clear()
    node.__dict__.update(other.__dict__)
    node.__dict__.update(place)


class _Finder(ast.NodeVisitor):
    def __init__(self):
        self.places: list[tuple] = []

    def add(self, what, node, edit) -> None:
        self.places.append((what, node, edit))

    # texts, annotations and what is refused in words are no place for an error
    def visit_JoinedStr(self, node):
        pass

    def visit_Raise(self, node):
        pass

    def visit_AnnAssign(self, node):
        if node.value is not None:
            self.visit(node.value)

    def visit_arg(self, node):
        pass

    def visit_FunctionDef(self, node):
        if any(COMPILED.search(ast.unparse(decorator)) for decorator in node.decorator_list):
            return
        self.visit(node.args)
        for statement in node.body:
            self.visit(statement)

    def visit_Call(self, node):
        name = node.func.attr if isinstance(node.func, ast.Attribute) else ""
        if not name and isinstance(node.func, ast.Name):
            name = node.func.id
        if name in ("warn", "repr"):
            return
        if name in OTHER:
            self.add(f"{name} for {OTHER[name]}", node, lambda n: _renamed(n, OTHER[name]))
        if name in SPREAD:
            what = "sqrt dropped" if name == "sqrt" else "hypot" if name == "hypot" else None
            self.add(what or "std <-> var", node, lambda n: _renamed(n, SPREAD[name]))
        for i, keyword in enumerate(node.keywords):
            if keyword.arg == "ddof":
                self.add("ddof", node, lambda n, i=i: n.keywords.pop(i))
        if name == "student_interval":
            self.add("level", node, lambda n: _become(
                n.args[1], ast.BinOp(copy.deepcopy(n.args[1]), ast.Mult(), ast.Constant(0.9))
            ))  # fmt: skip
        self.generic_visit(node)

    def visit_BinOp(self, node):
        kind = type(node.op)
        text = isinstance(node.left, ast.Constant) and isinstance(node.left.value, str)
        text = text or isinstance(node.left, ast.JoinedStr) or isinstance(node.right, ast.JoinedStr)
        text = text or isinstance(getattr(node.right, "value", None), str)
        if kind in ARITHMETIC and not text:
            other = ARITHMETIC[kind]
            self.add(f"{kind.__name__} for {other.__name__}", node,
                     lambda n: setattr(n, "op", other()))  # fmt: skip
            if kind in (ast.Add, ast.Sub, ast.Mult):
                self.add("term dropped", node, lambda n: _become(n, n.left))
        one = isinstance(node.right, ast.Constant) and node.right.value == 1
        if kind is ast.Sub and one:
            self.add("n - 1", node, lambda n: _become(n, n.left))
        self.generic_visit(node)

    def visit_UnaryOp(self, node):
        if not (isinstance(node.op, ast.USub) and isinstance(node.operand, ast.Constant)):
            self.add("sign or negation dropped", node, lambda n: _become(n, n.operand))
        self.generic_visit(node)

    def visit_Compare(self, node):
        kind = type(node.ops[0])
        for name, table in (("sharpness", SHARPNESS), ("direction", DIRECTION)):
            if kind in table:
                self.add(f"{name} of {kind.__name__}", node,
                         lambda n, table=table: n.ops.__setitem__(0, table[kind]()))  # fmt: skip
        self.generic_visit(node)

    def visit_BoolOp(self, node):
        other = ast.Or if isinstance(node.op, ast.And) else ast.And
        self.add("and <-> or", node, lambda n: setattr(n, "op", other()))
        self.generic_visit(node)

    def visit_IfExp(self, node):
        def exchange(n):
            n.body, n.orelse = n.orelse, n.body

        self.add("branches exchanged", node, exchange)
        self.generic_visit(node)

    def visit_Slice(self, node):
        for name in ("lower", "upper"):
            if getattr(node, name) is not None:
                self.add(f"{name} end of slice dropped", node,
                         lambda n, name=name: setattr(n, name, None))  # fmt: skip
        self.generic_visit(node)

    def visit_Constant(self, node):
        value = node.value
        if isinstance(value, bool):
            self.add("truth", node, lambda n: setattr(n, "value", not value))
        elif isinstance(value, int):
            self.add("constant", node, lambda n: setattr(n, "value", value + 1))
        elif isinstance(value, float):
            self.add("constant", node, lambda n: setattr(n, "value", value * 1.2 or 0.1))

    def visit_Assign(self, node):
        names = " ".join(n.id for t in node.targets for n in ast.walk(t) if isinstance(n, ast.Name))
        single = len(node.targets) == 1 and isinstance(node.targets[0], ast.Name)
        computed = isinstance(node.value, (ast.BinOp, ast.Call))
        if single and computed and ERRORS.search(names):
            self.add("times 0.9", node.value, lambda n: _become(
                n, ast.BinOp(copy.deepcopy(n), ast.Mult(), ast.Constant(0.9))))  # fmt: skip
        self.generic_visit(node)


def _renamed(call, name: str) -> None:
    if isinstance(call.func, ast.Attribute):
        call.func.attr = name
    else:
        call.func.id = name
