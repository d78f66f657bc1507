"""Private compiled cores: the only room that knows about float32, threads or SIMD.

Public functions elsewhere validate and explain; what is here trusts its input.
Layout: `simd` (sixteen lanes as one value), `random` (stateless random numbers), `elementwise`
(exp, Bernoulli draws and log-weight increments), `layers` (weights as exact integers, states as
bits), `gibbs` (many chains, by the routes `narrow` and `wide`, the latter with its `groups`),
`tempering` and `adaptive` (draws of beta), `units` (draws of colours and of halves of Gaussians),
`learning` (contrastive divergence), `leaky` (normals,
and annealing without weights), `float_sums` (float64), `beam` (states that differ in one unit),
`threads` (chunks of chains on threads).

numba's on-disk cache does not notice a change in a function that a kernel calls from
another file, so the cache folder is named after a hash of all files of this room.
"""

import hashlib
import os
import tempfile
import warnings
from pathlib import Path

import numba

_ROOM = Path(__file__).parent
_OUTER_CACHE = numba.config.CACHE_DIR


def _roots():
    """Where compiled kernels may be kept, best first."""
    yield Path(_OUTER_CACHE) if _OUTER_CACHE else _ROOM / "__pycache__"
    cache = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    yield Path(cache, "rbmlib")


def _cache_folder() -> str:
    digest = hashlib.sha256()
    for source in sorted(_ROOM.glob("*.py")):
        digest.update(source.name.encode())
        digest.update(source.read_bytes())
    for root in _roots():
        folder = root / f"rbmlib-{digest.hexdigest()[:16]}"
        try:
            folder.mkdir(parents=True, exist_ok=True)
            with tempfile.TemporaryFile(dir=folder):  # it may be there, and not for us to write
                return str(folder)
        except OSError:
            continue
    return _temporary_folder()


def _temporary_folder() -> str:
    """A folder of this process alone: what others could write there would be executed."""
    global _TEMPORARY
    try:
        _TEMPORARY = tempfile.TemporaryDirectory(prefix="rbmlib-")  # removed when Python ends
    except OSError as error:
        raise RuntimeError(
            f"rbmlib finds no folder to compile its kernels in ({error}): set NUMBA_CACHE_DIR to "
            "one that can be written"
        ) from None
    warnings.warn(
        "rbmlib keeps its compiled kernels in a temporary folder, and compiles them again in each "
        "process: neither the installation nor a cache folder can be written; set NUMBA_CACHE_DIR "
        "to a folder that can",
        RuntimeWarning,
        stacklevel=2,
    )
    return _TEMPORARY.name


# numba reads this setting when a kernel is decorated; other users of numba keep theirs.
_CACHE = _cache_folder()
numba.config.CACHE_DIR = _CACHE
try:
    from . import beam, float_sums, gibbs, leaky, learning, units  # noqa: F401  (which import all others)
finally:
    numba.config.CACHE_DIR = _OUTER_CACHE
