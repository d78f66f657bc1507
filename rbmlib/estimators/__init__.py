"""Estimators of log Z, one published method a file; each returns an `Estimate`."""

import functools
import inspect
import time
from dataclasses import replace

from ..context import using
from ..models.rbm import RBM

RUNS = {"n_threads": None, "progress": None}


def estimator(function):
    """What all estimators share: threads and progress by keyword, the clock, the seed."""

    signature = inspect.signature(function)

    @functools.wraps(function)
    def run(*args, n_threads=None, progress=None, **options):
        started = time.perf_counter()
        given = signature.bind(*args, **options)
        if isinstance(path := given.arguments.get("path", None), RBM):
            raise TypeError(
                f"path is an {path!r}: expected a path to it, such as GeometricPath(rbm)"
            )
        changed = {
            k: v for k, v in (("n_threads", n_threads), ("progress", progress)) if v is not None
        }
        with using(**changed):
            found = function(*args, **options)
        seed = given.arguments.get("rng")
        about = {"path": repr(given.args[0]), "rng": seed if isinstance(seed, int) else None}
        seconds = time.perf_counter() - started
        return replace(found, seconds=seconds, settings=about | found.settings)

    more = [
        inspect.Parameter(n, inspect.Parameter.KEYWORD_ONLY, default=d) for n, d in RUNS.items()
    ]
    run.__signature__ = signature.replace(parameters=[*signature.parameters.values(), *more])
    return run


from .ais import ais  # noqa: E402, F401
from .bar import bar, bar_of_sample  # noqa: E402, F401
from .exact import exact  # noqa: E402, F401
from .join import more_chains  # noqa: E402, F401
from .mbar import mbar, mbar_of_sample  # noqa: E402, F401
from .reverse_ais import reverse_ais  # noqa: E402, F401
from .rts import rts, rts_of_sample  # noqa: E402, F401
from .sams import sams  # noqa: E402, F401
from .ti import ti, ti_of_sample  # noqa: E402, F401
