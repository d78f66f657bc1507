"""The experiments of the book: what only its own tables compute, one file or folder a chapter.

Importing this room registers its words, so that a sweep can name them beside those of
`rbmbook.sweeps`: each function is given parts of a task by position and settings by keyword.
"""

import importlib
import pkgutil
from pathlib import Path

from rbmbook.sweeps import Sweep, declare, estimates

for _part in pkgutil.walk_packages(__path__, f"{__name__}."):  # each registers its words
    importlib.import_module(_part.name)


def book_sweep(source, *, folder=None, store=None, overrides=None) -> Sweep:
    """A sweep of ``book/scales`` by its name, or that of a file of one's own.

    Its table is in ``data/results``, or beside the file, unless ``folder`` names another.
    ``overrides`` replace settings in every grid that names them, and need a folder of their own.
    """
    found = declare.read(source, overrides)
    if overrides and (folder is None or Path(folder).resolve() == found.folder):
        raise ValueError(
            f"{found.name}: overrides without a folder of their own: expected a folder "
            f"(--folder out) other than {found.folder}, whose table has other settings"
        )
    with declare.named(found.where):
        folder = folder or found.folder
        return estimates(found.tasks, name=found.name, folder=folder, store=store)
