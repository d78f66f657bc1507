"""The public names of a package, which stand in its ``__init__`` once, and are loaded when used.

An ``__init__`` says where a name comes from by an import that only type checkers and editors
follow, in a block of its own:

    if TYPE_CHECKING:
        from .ais import ais as ais
        from . import hmc as hmc
        from .models import *

`declare` reads these lines, makes ``__all__`` of them, and imports the file behind a name when the
name is first asked for. ``import rbmlib`` therefore loads neither SciPy nor numba, which take a
second or more, and a program loads what it uses. Lines outside such a block count as well: they
are imported at once, as ever.
"""

from __future__ import annotations

import ast
import sys
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType
from typing import NamedTuple


class Home(NamedTuple):
    """Where a public name comes from: an attribute of a module, or the module itself."""

    module: str
    attribute: str | None


class Package(ModuleType):
    """A package whose public names, and whose files, are imported when they are asked for."""

    _homes: dict[str, Home]

    def __getattr__(self, name: str):
        home = self.__dict__.get("_homes", {}).get(name)
        if home is not None:
            thing = import_module(home.module)
            if home.attribute is not None:
                thing = getattr(thing, home.attribute)
            super().__setattr__(name, thing)
            return thing
        file = f"{self.__name__}.{name}"
        if not name.startswith("__") and find_spec(file) is not None:
            return import_module(file)
        message = f"module {self.__name__!r} has no attribute {name!r}"
        raise AttributeError(message, name=name, obj=self)

    def __setattr__(self, name: str, value) -> None:
        """Python binds a file to its name when it has been imported: of two things that bear the
        same name, the file ``ais`` and the function in it, the public one is kept."""
        home = self.__dict__.get("_homes", {}).get(name)
        is_file = isinstance(value, ModuleType) and value.__name__ == f"{self.__name__}.{name}"
        if is_file and home is not None and home.module == value.__name__ and home.attribute:
            value = getattr(value, home.attribute)
        super().__setattr__(name, value)

    def __dir__(self):
        return sorted({*self.__dict__, *self._homes})

    def __reduce__(self):
        """By its name, as other modules: a function that uses it may be sent to a worker."""
        return import_module, (self.__name__,)


def declare(namespace: dict) -> None:
    """Make ``__all__`` of what an ``__init__`` says it imports, and import it when it is used."""
    package = namespace["__name__"]
    namespace["_homes"] = homes(package, Path(namespace["__file__"]))
    namespace["__all__"] = sorted(namespace["_homes"])
    sys.modules[package].__class__ = Package


def homes(package: str, init: Path) -> dict[str, Home]:
    """The public names of a package, read off the imports in the file ``init``.

    Those of the form ``from .x import y as y``, which type checkers take for public too, those of
    ``from .room import *``, and other names that are given to one of these: ``y = _x``.
    """
    found: dict[str, Home] = {}
    for node in _statements(ast.parse(init.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.level == 1:
            for alias in node.names:
                if alias.name == "*":
                    room = f"{package}.{node.module}"
                    names = homes(room, init.parent / str(node.module) / "__init__.py")
                    found |= {name: Home(room, name) for name in names if name[0] != "_"}
                elif node.module is None:
                    found[alias.asname or alias.name] = Home(f"{package}.{alias.name}", None)
                else:
                    home = Home(f"{package}.{node.module}", alias.name)
                    found[alias.asname or alias.name] = home
        elif isinstance(node, ast.Assign) and isinstance(node.value, ast.Name):
            for target in node.targets:
                if isinstance(target, ast.Name) and node.value.id in found:
                    found[target.id] = found[node.value.id]
    return {name: home for name, home in found.items() if name[0] != "_"}


def _statements(module: ast.Module):
    """What stands at the left edge of a file, and in its blocks for type checkers."""
    for node in module.body:
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
            yield from node.body
        else:
            yield node
