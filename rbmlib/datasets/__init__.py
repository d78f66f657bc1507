"""Data sets and trained RBMs, committed with the package or published elsewhere.

Committed files (``data/`` of the repository, installed with the package) need no network. They
serve :func:`load_mnist`, :func:`load_dna`, :func:`load_ww` and the RBMs that :func:`list_rbms`
marks "committed". Published files are read from the folder in the environment variable
``RBMLIB_DATA``, which is never written to, or from the user's cache folder, to which missing files
are downloaded. The SHA-256 of a binary file is compared with ``datasets/register.py`` each time the
file is opened. A file that differs is refused and never overwritten.
"""

from .alignments import Alignment as Alignment
from .alignments import load_fasta as load_fasta
from .alignments import load_ww as load_ww
from .files import DataCorrupt as DataCorrupt
from .files import DataUnavailable as DataUnavailable
from .files import cache_folder as cache_folder
from .files import committed as committed
from .files import fetch as fetch
from .named import Dataset as Dataset
from .named import RBMInfo as RBMInfo
from .named import list_rbms as list_rbms
from .named import load_dna as load_dna
from .named import load_mnist as load_mnist
from .named import load_rbm as load_rbm
from .own import load_rows as load_rows
