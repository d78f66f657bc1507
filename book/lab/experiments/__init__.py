"""The experiments behind the tables of the book, one file per chapter.

Importing this package registers its functions, and sweeps can name them beside those of
`rbmbook.sweeps`. A function takes parts of a task by position and settings by keyword.
"""

import importlib
import pkgutil
from pathlib import Path

from rbmbook.sweeps import Sweep, declare, estimates

for _part in pkgutil.walk_packages(__path__, f"{__name__}."):  # each registers its functions
    importlib.import_module(_part.name)


def book_sweep(source, *, folder=None, store=None, overrides=None) -> Sweep:
    """The sweep of a name in ``book/scales`` or of a given file.

    Its table is in ``data/results`` or beside the file, unless ``folder`` is given. ``overrides``
    replace settings in every grid that names them, and need a separate folder.
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
