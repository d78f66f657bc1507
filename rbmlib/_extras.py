"""Packages that estimating log Z does not need: whoever misses one is told what installs it."""

from __future__ import annotations

from importlib import import_module
from typing import Any

EXTRAS = {"distributed": "dask", "yaml": "dask", "pandas": "book", "matplotlib": "book"}
PACKAGES = {"yaml": "pyyaml"}  # where its name is another


def needed(module: str, what: str) -> Any:
    """Import a package of an extra, such as "distributed", for ``what``.

    Raises ImportError, with the command that installs it.
    """
    try:
        return import_module(module)
    except ModuleNotFoundError as error:
        if error.name != module:
            raise
        raise ImportError(
            f"{what} needs {PACKAGES.get(module, module)}, which is not installed: "
            f"pip install 'rbmlib[{EXTRAS[module]}]'"
        ) from None
