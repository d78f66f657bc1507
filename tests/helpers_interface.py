"""The public interface as it has been promised: names, and arguments in their order.

``python tests/helpers_interface.py`` writes what stands today to ``public_interface.txt``.
"""

import ast
import inspect
from pathlib import Path

RECORD = Path(__file__).parent / "public_interface.txt"


def interface() -> dict[str, list[str]]:
    """Public names, and those of `datasets` and `schedules`, with their arguments.

    An argument is as it can be given: "x" by place or name, "*x" by name only, "x=" if it may be
    left out. A class has those of its constructor, and its public attributes as names of their own.
    """
    import rbmlib as rl

    found: dict[str, list[str]] = {}
    for name in public(rl):
        thing = getattr(rl, name)
        found[name] = arguments(thing)
        if inspect.ismodule(thing):
            members = public(thing)
        elif inspect.isclass(thing) and not issubclass(thing, Exception):
            members = [m for m in dir(thing) if not m.startswith("_")]
        else:
            members = []
        for member in members:
            part = inspect.getattr_static(thing, member) if inspect.isclass(thing) else None
            got = getattr(thing, member, None)
            found[f"{name}.{member}"] = [] if isinstance(part, property) else arguments(got)
    return found


def public(module) -> list[str]:
    """The names that a package imports as themselves, or that a module lists in ``__all__``."""
    if hasattr(module, "__all__"):
        return [name for name in module.__all__ if not name.startswith("_")]
    tree = ast.parse(Path(module.__file__).read_text(encoding="utf-8"))
    aliases = [a for node in ast.walk(tree) if isinstance(node, ast.ImportFrom) for a in node.names]
    return sorted(a.name for a in aliases if a.asname == a.name)


def arguments(thing) -> list[str]:
    if not callable(thing) or getattr(thing, "_is_protocol", False):
        return []
    try:
        parameters = inspect.signature(thing).parameters.values()
    except (TypeError, ValueError):
        return []
    stars = {inspect.Parameter.KEYWORD_ONLY: "*", inspect.Parameter.VAR_KEYWORD: "**",
             inspect.Parameter.VAR_POSITIONAL: "*args:"}  # fmt: skip
    return [
        stars.get(p.kind, "") + p.name + ("" if p.default is p.empty else "=")
        for p in parameters
        if p.name != "self"
    ]


def read(text: str) -> dict[str, list[str]]:
    lines = [line.partition("(") for line in text.splitlines() if line and line[0] != "#"]
    return {n: [a for a in rest.rstrip(")").split(", ") if a] for n, _, rest in lines}


if __name__ == "__main__":
    head = "# What has been promised; made by: python tests/helpers_interface.py\n"
    lines = (f"{n}({', '.join(a)})\n" for n, a in sorted(interface().items()))
    RECORD.write_text(head + "".join(lines), encoding="utf-8")
