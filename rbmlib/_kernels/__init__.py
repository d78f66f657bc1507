"""Private compiled cores: the only room that knows about float32, threads or SIMD.

Public functions elsewhere validate and explain; what is here trusts its input.
Layout: `simd` (sixteen lanes as one value), `random` (stateless random numbers), `elementwise`
(exp, Bernoulli draws and log-weight increments), `active` (lists of active units), `fixed_point`
(weights as exact integers), `gibbs` (annealing and Gibbs sweeps of many chains, by the routes
`narrow`, `wide` and `amx`), `tempering` (sweeps with draws of beta),
`adaptive` (the same with log Z adjusted on the way), `learning` (contrastive
divergence), `enumeration` (sums over all states), `multistate` (sums over samples of many
temperatures), `fields` (float64 fields), `threads` (chunks of chains on threads).

numba's on-disk cache does not notice a change in a function that a kernel calls from
another file, so the cache folder is named after a hash of all files of this room.
"""

import hashlib
from pathlib import Path

import numba

_ROOM = Path(__file__).parent
_OUTER_CACHE = numba.config.CACHE_DIR


def _cache_folder() -> str:
    digest = hashlib.sha256()
    for source in sorted(_ROOM.glob("*.py")):
        digest.update(source.name.encode())
        digest.update(source.read_bytes())
    root = Path(_OUTER_CACHE) if _OUTER_CACHE else _ROOM / "__pycache__"
    folder = root / f"rbmlib-{digest.hexdigest()[:16]}"
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError:  # a read-only installation: let numba choose a folder of the user's
        return _OUTER_CACHE
    return str(folder)


# numba reads this setting when a kernel is decorated; other users of numba keep theirs.
numba.config.CACHE_DIR = _cache_folder()
try:
    from . import (
        active,
        adaptive,
        amx,
        elementwise,
        enumeration,
        fields,
        fixed_point,
        gibbs,
        learning,
        multistate,
        narrow,
        random,
        simd,
        tempering,
        threads,
        wide,
    )
finally:
    numba.config.CACHE_DIR = _OUTER_CACHE

__all__ = [
    "active",
    "adaptive",
    "amx",
    "elementwise",
    "enumeration",
    "fields",
    "fixed_point",
    "gibbs",
    "learning",
    "multistate",
    "narrow",
    "random",
    "simd",
    "tempering",
    "threads",
    "wide",
]
