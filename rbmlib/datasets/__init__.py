"""Data sets and trained RBMs: committed with the package, or published and fetched once.

Committed files (``data/`` of the repository, installed with the package) need no network:
:func:`load_mnist`, :func:`load_dna`, :func:`load_cifar10` (a subset of 2,500 images), and the
RBMs that :func:`list_rbms` calls "committed".
Published files are looked for first in the folder named by the environment variable
``RBMLIB_DATA`` (never written to), then in the user cache folder, and are downloaded there
otherwise. Every binary file is checked against the SHA-256 in ``datasets/register.py`` each time
it is opened; a file that differs is refused, never overwritten.
"""

from .download import DataCorrupt, DataUnavailable, cache_folder
from .files import committed, fetch
from .images import Standardisation
from .rbms import RBMInfo, list_rbms, load_rbm, rbm_files  # noqa: F401
from .reference import Reference, load_reference
from .register import (  # noqa: F401  (what tasks and the scripts of data/ look up)
    CIFAR_BATCHES,
    CIFAR_FOLDER,
    COMMITTED,
    COMMITTED_GAUSSIAN,
    COMMITTED_RBMS,
    PUBLISHED_RBMS,
    RBMS,
    REMOTE,
    Remote,
)
from .vectors import (
    Dataset,
    cifar10_scale,
    load_cifar10,
    load_course_test,
    load_dna,
    load_mnist,
    load_svhn,
)

__all__ = [
    "DataCorrupt",
    "DataUnavailable",
    "Dataset",
    "RBMInfo",
    "Reference",
    "Standardisation",
    "cache_folder",
    "cifar10_scale",
    "committed",
    "fetch",
    "list_rbms",
    "load_cifar10",
    "load_course_test",
    "load_dna",
    "load_mnist",
    "load_rbm",
    "load_reference",
    "load_svhn",
]
