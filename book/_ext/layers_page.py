"""How many lines a kind of unit takes: a table of the page on architecture, from the source."""

import ast
import inspect
import textwrap

from rbmlib._kernels import units
from rbmlib.models import layers

MARK = "<!-- lines of each layer -->"
WHAT = {  # a unit of each kind
    "Layer": "what all kinds share", "Binary": "0 or 1", "Spin": "-1 or +1",
    "Potts": "one of q states (Potts)", "Gaussian": "a real number, Gaussian given its field",
    "LeakyReLU": "summed over: a slope on each side", "DoubleReLU": "half a Gaussian on each side",
}  # fmt: skip


def lines_of(source) -> int:
    """Lines of a class or module without comments, docstrings and empty ones."""
    text = textwrap.dedent(inspect.getsource(source))
    said: set[int] = set()
    for node in ast.walk(ast.parse(text)):
        documented = isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef))
        if documented and ast.get_docstring(node) is not None:
            said.update(range(node.body[0].lineno, node.body[0].end_lineno + 1))
    lines = enumerate(map(str.strip, text.splitlines()), 1)
    return sum(n not in said and bool(line) and not line.startswith("#") for n, line in lines)


def page() -> str:
    """Markdown: a row a class."""
    rows = ["| layer | a unit | lines of code |", "|---|---|---|"]
    rows += [f"| `{n}` | {what} | {lines_of(getattr(layers, n))} |" for n, what in WHAT.items()]
    compiled = (
        "`Potts` and `DoubleReLU` draw by compiled loops, which are there for speed, "
        f"{lines_of(units)} lines more (`rbmlib/_kernels/units.py`)."
    )
    return "\n".join(rows) + f"\n\n{compiled} Comments and docstrings are not counted."
