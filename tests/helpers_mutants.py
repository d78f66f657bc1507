"""Wrong answers made from right ones: one small change of the code at a time."""

import ast
import copy

SWAPS = {
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Div, ast.Div: ast.Mult, ast.Pow: ast.Mult,
    ast.Lt: ast.Gt, ast.Gt: ast.Lt, ast.LtE: ast.Gt, ast.GtE: ast.Lt, ast.Eq: ast.NotEq,
    ast.BitAnd: ast.BitOr,
}  # fmt: skip
CALLS = {
    "exp": "log", "log": "exp", "mean": "sum", "sum": "mean", "logaddexp": "add", "min": "max",
    "max": "min", "maximum": "minimum", "minimum": "maximum", "cumsum": "cumprod", "std": "var",
    "zeros": "ones", "sqrt": "square", "hypot": "add", "tanh": "sin", "cos": "sin",
}  # fmt: skip


class _Change(ast.NodeTransformer):
    """Makes the change of one number, and counts the changes there are."""

    def __init__(self, number: int, names: list[str]):
        self.number, self.names, self.seen, self.what = number, names, -1, ""

    def due(self, what: str) -> bool:
        self.seen += 1
        if self.seen == self.number:
            self.what = what
        return self.seen == self.number

    def visit_BinOp(self, node):
        old = ast.unparse(node)
        for side in (node.left, node.right):
            if self.due(f"{old} -> {ast.unparse(side)}"):
                return side
        if type(node.op) in SWAPS and self.due(f"{old}: other operator"):
            node.op = SWAPS[type(node.op)]()
            return node
        if isinstance(node.op, ast.MatMult) and self.due(f"{old}: elementwise"):
            node.op = ast.Mult()
            return node
        return self.generic_visit(node)

    def visit_Name(self, node):
        if isinstance(node.ctx, ast.Load) and node.id in self.names:
            for other in self.names:
                what = f"{node.id} (column {node.col_offset}) -> {other}"
                if other != node.id and self.due(what):
                    return ast.copy_location(ast.Name(other, ast.Load()), node)
        return node

    def visit_Call(self, node):
        if node.args and self.due(f"{ast.unparse(node)} -> its argument"):
            return node.args[0]
        return self.generic_visit(node)

    def visit_Compare(self, node):
        if type(node.ops[0]) in SWAPS and self.due(f"{ast.unparse(node)}: turned round"):
            node.ops[0] = SWAPS[type(node.ops[0])]()
            return node
        return self.generic_visit(node)

    def visit_UnaryOp(self, node):
        if isinstance(node.op, ast.USub) and self.due(f"{ast.unparse(node)}: no minus"):
            return node.operand
        return self.generic_visit(node)

    def visit_Constant(self, node):
        number = isinstance(node.value, int | float) and not isinstance(node.value, bool)
        if number and self.due(f"{node.value} -> {node.value + 1}"):
            return ast.copy_location(ast.Constant(node.value + 1), node)
        return node

    def visit_Attribute(self, node):
        if node.attr == "T" and self.due("no transposition"):
            return node.value
        if node.attr in CALLS and self.due(f"{node.attr} -> {CALLS[node.attr]}"):
            node.attr = CALLS[node.attr]
            return node
        return self.generic_visit(node)

    def visit_keyword(self, node):
        if node.arg == "keepdims":
            return node
        return self.generic_visit(node)

    def visit_Assign(self, node):
        if self.due(f"without the line {ast.unparse(node)}"):
            return ast.copy_location(ast.Pass(), node)
        return self.generic_visit(node)

    def visit_AugAssign(self, node):
        old = ast.unparse(node)
        if self.due(f"without the line {old}"):
            return ast.copy_location(ast.Pass(), node)
        if type(node.op) in SWAPS and self.due(f"{old}: other operator"):
            node.op = SWAPS[type(node.op)]()
            return node
        return self.generic_visit(node)


def mutants(function: str, most: int = 400) -> dict[str, str]:
    """Code of a function by what was changed in it."""
    tree, found = ast.parse(function), {}
    arguments = next(n for n in ast.walk(tree) if isinstance(n, ast.arguments))
    names = [argument.arg for argument in arguments.args]
    for number in range(most):
        change = _Change(number, names)
        changed = ast.fix_missing_locations(change.visit(copy.deepcopy(tree)))
        if not change.what:
            break
        code = ast.unparse(changed)
        if code != ast.unparse(tree):
            found.setdefault(change.what, code)
    return found
