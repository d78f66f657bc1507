"""Private compiled cores: the only room that knows about float32, threads or SIMD.

Public functions elsewhere validate and explain; what is here trusts its input.
Layout: `simd` (sixteen lanes as one value), `random` (stateless random numbers), `elementwise`
(exp, Bernoulli draws and log-weight increments), `layers` (weights as exact integers, states as
bits), `gibbs` (many chains, by the routes `narrow` and `wide`, the latter with its `groups`),
`tempering` and `adaptive` (draws of beta), `units` (draws of colours and of halves of Gaussians),
`learning` (contrastive divergence), `float_sums` (float64), `beam` (states that differ in one
unit), `threads` (chunks of chains on threads).

numba's on-disk cache does not notice a change in a function that a kernel calls from
another file, so the cache folder is named after a hash of all files of this room.
"""

import hashlib
import os
import tempfile
from pathlib import Path

import numba

_ROOM = Path(__file__).parent
_OUTER_CACHE = numba.config.CACHE_DIR


def _cache_folder() -> str:
    """Named after all files; where the installation cannot be written, in the user's cache."""
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
            with tempfile.TemporaryFile(dir=folder):  # it may be there, and not for us to write
                return str(folder)
        except OSError:
            continue
    remedy = "set NUMBA_CACHE_DIR to one that can be written"
    raise RuntimeError(f"rbmlib finds no folder to compile in of {[*map(str, roots)]}: {remedy}")


# numba reads this setting when a kernel is decorated; other users of numba keep theirs.
numba.config.CACHE_DIR = _cache_folder()
try:
    from . import beam, float_sums, gibbs, learning, units  # noqa: F401  (which import all others)
finally:
    numba.config.CACHE_DIR = _OUTER_CACHE
