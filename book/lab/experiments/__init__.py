"""The experiments of the book: what only its own tables compute, one file a chapter.

Importing this room registers its words, so that a sweep can name them beside those of
`rbmbook.sweeps`: each function is given parts of a task by position and settings by keyword.
"""

import importlib
import pkgutil

from rbmbook.sweeps import task
from rbmbook.sweeps.sweep import Sweep
from rbmbook.sweeps.task import ESTIMATES

for _chapter in pkgutil.iter_modules(__path__):  # each registers its words
    importlib.import_module(f"{__name__}.{_chapter.name}")


def estimate(**settings) -> dict:
    """`rbmbook.sweeps.task.estimate`, found here by workers, which so know the book's words."""
    return task.estimate(**settings)


BOOK_ESTIMATES = ESTIMATES._replace(compute=estimate)


def book_sweep(path, **options) -> Sweep:
    """The sweep that a file in ``book/scales`` declares: see `Sweep.from_yaml`."""
    return Sweep.from_yaml(path, BOOK_ESTIMATES, **options)
