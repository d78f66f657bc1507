"""The public names of a package, which stand in its ``__init__`` once: where they are imported."""

from types import ModuleType


def declare(namespace: dict, *modules: str) -> None:
    """Make ``__all__`` of what an ``__init__`` imports: things without an underscore.

    Each import has the form ``from .x import y as y``, or ``from .room import *``, which tells type
    checkers and editors the same. Python leaves the files of a package in its namespace as well:
    they are public only under another name or if ``modules`` names them.
    """

    def is_public(name: str, thing) -> bool:
        own_file = f"{namespace['__name__']}.{name}"
        is_file = isinstance(thing, ModuleType) and thing.__name__ == own_file
        return not name.startswith("_") and (not is_file or name in modules)

    namespace["__all__"] = sorted(n for n, thing in namespace.items() if is_public(n, thing))
