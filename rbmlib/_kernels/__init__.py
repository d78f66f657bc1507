"""Private compiled kernels: all code for float32, threads and SIMD.

The kernels do not check their input; public functions do. The files are `simd` (sixteen
lanes as one value), `random` (stateless random numbers), `elementwise` (exp, Bernoulli draws and
log-weight increments), `layers` (weights as exact integers, states as bits), `gibbs` (many chains,
by `narrow` or by `wide` with `groups`), `tempering` and `adaptive` (draws of beta), `units` (draws
of Potts states and of half-Gaussians), `learning` (contrastive divergence), `float_sums` (float64),
`beam` (states that differ in one unit) and `threads` (chunks of chains on threads).

The on-disk cache of numba does not notice a change in a function that a kernel calls from another
file, so the name of the cache folder contains a hash of all files of this package.
"""

import hashlib
import os
import tempfile
from pathlib import Path

import numba

_ROOM = Path(__file__).parent
_OUTER_CACHE = numba.config.CACHE_DIR


def _cache_folder() -> str:
    """Return the cache folder, in the user's cache if the installation is not writable."""
    digest = hashlib.sha256()
    for source in sorted(_ROOM.glob("*.py")):
        digest.update(source.name.encode())
        digest.update(source.read_bytes())
    cache = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    roots = Path(_OUTER_CACHE) if _OUTER_CACHE else _ROOM / "__pycache__", Path(cache, "rbmlib")
    for root in roots:
        folder = root / f"rbmlib-{digest.hexdigest()[:16]}"
        try:
            folder.mkdir(parents=True, exist_ok=True)
            with tempfile.TemporaryFile(dir=folder):  # an existing folder may not be writable
                return str(folder)
        except OSError:
            continue
    remedy = "set NUMBA_CACHE_DIR to one that can be written"
    raise RuntimeError(f"rbmlib finds no folder to compile in of {[*map(str, roots)]}: {remedy}")


# numba reads this setting when a kernel is decorated; afterwards it is restored for other packages.
numba.config.CACHE_DIR = _cache_folder()
try:
    from . import beam, float_sums, gibbs, learning, units  # noqa: F401  (they import the others)
finally:
    numba.config.CACHE_DIR = _OUTER_CACHE
