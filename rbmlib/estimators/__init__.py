"""Estimators of log Z, one published method a file; each returns an `Estimate`.

The function ``rl.ais`` stands in the module ``rbmlib.estimators.ais``: this room imports neither.
"""

import functools
import time
from dataclasses import replace
from typing import Any

import numpy as np

from .. import __version__, checks
from ..context import Function, configured, own_signature, settings
from ..paths.path import Path
from ..search.opinion import checked


def estimator(function: Function) -> Function:
    """Decorator: what all estimators share.

    Threads and progress by keyword, the clock, seed and version in the settings, that a ``path``
    is one, and a second opinion (`search.opinion`) on what the outermost of them returns.
    """
    signature = own_signature(function)

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
        asked = settings.get()
        token = settings.set(asked._replace(second_opinion=False))  # of what it runs itself
        try:
            found = function(*args, **options)
        finally:
            settings.reset(token)
        if asked.second_opinion:
            found = checked(
                first if isinstance(first, Path) else getattr(first, "path", None), found
            )
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

    return configured(run)  # type: ignore[return-value]
