"""Data sets and trained RBMs: committed with the package, or published and fetched once.

Committed files (``data/`` of the repository, installed with the package) need no network:
:func:`load_mnist`, :func:`load_dna`, and the RBMs that :func:`list_rbms` calls "committed".
Published files are looked for first in the folder named by the environment variable
``RBMLIB_DATA`` (never written to), then in the user cache folder, and are downloaded there
otherwise. Every binary file is checked against the SHA-256 in ``datasets/register.py`` each time
it is opened; a file that differs is refused, never overwritten.
"""

from .data import Dataset as Dataset
from .data import load_course_test as load_course_test
from .data import load_dna as load_dna
from .data import load_mnist as load_mnist
from .download import DataCorrupt as DataCorrupt
from .download import DataUnavailable as DataUnavailable
from .download import cache_folder as cache_folder
from .files import committed as committed
from .files import fetch as fetch
from .rbms import RBMInfo as RBMInfo
from .rbms import list_rbms as list_rbms
from .rbms import load_rbm as load_rbm
from .reference import Reference as Reference
from .reference import load_reference as load_reference
from .rows import load_rows as load_rows
from .standardisation import Standardisation as Standardisation
