"""Estimators of log Z, one published method a file; each returns an `Estimate`.

All take a path or a model first, or a tempered sample, and random numbers by ``rng``.

An argument that is wrong is refused with a ValueError or TypeError that names it, before anything
is drawn. A run whose own checks failed is returned all the same: `Estimate.converged` is False, a
`ConvergenceWarning` says what failed and what to change, ``details["checks"]`` holds what was
looked for, and the standard error the largest disagreement found. How often the intervals of runs
that raised no flag hold log Z is on the book's page on calibration. Inside the library a module
such as ``rbmlib.estimators.ais`` holds the function ``rl.ais``: this room imports neither.
"""

import functools
import inspect
import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any, TypeVar

from .. import checks
from ..context import __version__, inside_an_estimator
from ..models.conversion import as_model, described
from ..models.rbm import RBM
from ..paths.path import Path
from ..sampling.sample import bytes_of_chain
from ..search.check import checked

Function = TypeVar("Function", bound=Callable)


def estimator(function: Function) -> Function:
    """Decorator, what all estimators share: clock, version, seed, and a check of the result.

    The result of the outermost estimator is checked (`search.check`), not of those it calls.
    """
    signature = inspect.signature(function)

    @functools.wraps(function)  # signature and docstring are the function's
    def run(*args, **options):
        started = time.perf_counter()
        given = checks.arguments(function.__name__, signature, args, options)
        first = next(iter(given.values()))
        if "path" in given:
            checks.instance("path", first, Path, checks.PATH_MEANING)
        checks.in_memory("n_chains", given.get("n_chains", 1), bytes_of_chain(first))
        with inside_an_estimator() as asked:
            found = function(*args, **options)
        target = as_model("rbm", getattr(first, "path", first))
        if asked.independent_check:
            found = checked(target, found)
        about: dict[str, Any] = {"version": __version__}
        if isinstance(first, Path):
            about["path"] = repr(first)
        if "rng" in signature.parameters:
            about["rng"] = checks.seed_of(given.get("rng"))
        model = getattr(target, "rbm", target)
        of_model = described(model) if isinstance(model, RBM) else {}
        # a sample's or an earlier run's seconds count, too
        before = sum(getattr(x, "seconds", 0.0) for x in given.values())
        seconds = before + time.perf_counter() - started
        return replace(found, seconds=seconds, settings=about | found.settings | of_model)

    return run  # type: ignore[return-value]
