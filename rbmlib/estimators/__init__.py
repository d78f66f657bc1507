"""Estimators of log Z, with one published method in each file; each returns an `Estimate`.

The first argument is a path, a model or a tempered sample; ``rng`` supplies the random numbers.

A wrong argument raises a ValueError or TypeError that names it, before any number is drawn. A run
that fails one of its checks returns an estimate all the same: `Estimate.converged` is False, a
`ConvergenceWarning` says what failed and what to change, ``details["checks"]`` holds the checks,
and the standard error includes the largest disagreement found. The book's page on calibration
shows how often the intervals of runs that passed their checks contain log Z. The module
``rbmlib.estimators.ais`` defines the function ``rl.ais``; this package imports neither.
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
    """Decorate an estimator: record time, version and seed, and check the result.

    Only the result of the outermost estimator is checked (`search.check`).
    """
    signature = inspect.signature(function)

    @functools.wraps(function)  # keep signature and docstring
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
        # include the seconds of a given sample or earlier run
        before = sum(getattr(x, "seconds", 0.0) for x in given.values())
        seconds = before + time.perf_counter() - started
        return replace(found, seconds=seconds, settings=about | found.settings | of_model)

    return run  # type: ignore[return-value]
