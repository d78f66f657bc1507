"""Estimators of log Z, one published method a file; each returns an `Estimate`."""

import functools
import inspect
import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from .. import __version__, checks
from ..context import configured
from ..paths.path import Path
from ..results import Estimate


def estimator(function: Callable[..., Estimate]) -> Callable[..., Estimate]:
    """Decorator: what all estimators share.

    Threads and progress by keyword, the clock, seed and version in the settings, and that a
    ``path`` is one.
    """
    signature = inspect.signature(function)

    @functools.wraps(function)
    def run(*args, **options):
        started = time.perf_counter()
        try:
            given = signature.bind(*args, **options).arguments
        except TypeError as error:
            raise TypeError(f"{function.__name__}: {error}") from None
        first = next(iter(given.values()))
        if "path" in given:
            checks.instance("path", given["path"], Path, checks.PATH_MEANING)
        found = function(*args, **options)
        about: dict[str, Any] = {"version": __version__}
        if isinstance(first, Path):
            about["path"] = repr(first)
        if "rng" in signature.parameters:
            seed = given.get("rng")
            about["rng"] = int(seed) if isinstance(seed, (int, np.integer)) else None
        # a sample's or an earlier run's seconds count, too
        before = sum(getattr(x, "seconds", 0.0) for x in given.values())
        seconds = before + time.perf_counter() - started
        return replace(found, seconds=seconds, settings=about | found.settings)

    return configured(run)


from .ais import ais as ais  # noqa: E402
from .bar import bar as bar  # noqa: E402
from .bar_of_sample import bar_of_sample as bar_of_sample  # noqa: E402
from .exact import exact as exact  # noqa: E402
from .exact import exact_samples as exact_samples  # noqa: E402
from .join import join as join  # noqa: E402
from .mbar import mbar as mbar  # noqa: E402
from .mbar import mbar_of_sample as mbar_of_sample  # noqa: E402
from .mbar_equations import solve_mbar as solve_mbar  # noqa: E402
from .multicanonical import multicanonical as multicanonical  # noqa: E402
from .nrpt import nrpt as nrpt  # noqa: E402
from .reverse_ais import reverse_ais as reverse_ais  # noqa: E402
from .rts import rts as rts  # noqa: E402
from .rts import rts_of_sample as rts_of_sample  # noqa: E402
from .sams import sams as sams  # noqa: E402
from .smc import smc as smc  # noqa: E402
from .stepping_stone import stepping_stone_of_sample as stepping_stone_of_sample  # noqa: E402
from .tap import tap as tap  # noqa: E402
from .ti import ti as ti  # noqa: E402
from .trajectory import trajectory as trajectory  # noqa: E402
from .wang_landau import wang_landau as wang_landau  # noqa: E402
