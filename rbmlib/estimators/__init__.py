"""Estimators of log Z, one published method a file; each returns an `Estimate`.

All take a path or a model first, or a tempered sample, and random numbers by ``rng``. A docstring
here says what is its own: `estimator` adds what is `SHARED` to what ``help`` shows.

An argument that is wrong is refused with a ValueError or TypeError that names it, before anything
is drawn. A run whose own checks failed is returned all the same: `Estimate.converged` is False, a
`ConvergenceWarning` says what failed and what to change, ``settings["checks"]`` holds what was
looked for, and the standard error the largest disagreement found. How often the intervals of runs
that raised no flag hold log Z is on the book's page on calibration. Inside the library a module
such as ``rbmlib.estimators.ais`` holds the function ``rl.ais``: this room imports neither.
"""

import functools
import inspect
import re
import time
from dataclasses import replace
from typing import Any

import numpy as np

from .. import checks
from ..context import Function, __version__, configured, own_signature, settings
from ..models.conversion import as_model, described
from ..models.rbm import RBM
from ..paths.path import Path
from ..sampling.sample import bytes_of_chain
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
        checks.in_memory("n_chains", given.get("n_chains", 1), bytes_of_chain(first))
        asked = settings.get()
        token = settings.set(asked._replace(second_opinion=False))  # of what it runs itself
        try:
            found = function(*args, **options)
        finally:
            settings.reset(token)
        target = as_model("rbm", getattr(first, "path", first))
        if asked.second_opinion:
            found = checked(target, found)
        about: dict[str, Any] = {"version": __version__}
        if isinstance(first, Path):
            about["path"] = repr(first)
        model = getattr(target, "rbm", target)
        of_model = described(model) if isinstance(model, RBM) else {}
        if "rng" in signature.parameters:
            seed = given.get("rng")
            about["rng"] = int(seed) if isinstance(seed, (int, np.integer)) else None
        # a sample's or an earlier run's seconds count, too
        before = sum(getattr(x, "seconds", 0.0) for x in given.values())
        seconds = before + time.perf_counter() - started
        return replace(found, seconds=seconds, settings=about | found.settings | of_model)

    run.__doc__ = documented(function, signature.parameters)
    return configured(run)  # type: ignore[return-value]


# what a docstring need not say -------------------------------------------------------------

PARAMETERS = "Parameters\n----------\n"
RETURNS = (
    "Returns\n-------\nEstimate\n    Of log Z in nats, with its error bar and what was checked."
)
SHARED = {
    "path": """Path
    From a base whose log Z is known to the target, such as ``rl.GeometricPath(rbm)``.""",
    "sample": """TemperedSample
    Of `rbmlib.simulated_tempering` or `rbmlib.parallel_tempering`, two chains or more.""",
    "betas": """array (K,)
    Rising from 0 to 1, such as ``rl.schedules.linear(1000)``. Where they may be left out, pilots
    choose them: `rbmlib.rts` says how.""",
    "n_chains": """int
    Independent chains; of methods that exchange, ladders.""",
    "n_sweeps": """int
    Sweeps of each chain. Where they may be left out, `rbmlib.rts` says how many are taken.""",
    "rng": """int, Generator or None
    Seed; the same seed gives the same bits, whatever ``n_threads``.""",
    "prior": """array (K,), optional
    r_k > 0, how often each of the betas is to be visited; uniform by default.""",
    "rao_blackwell": """bool
    Average the probabilities of the betas (True), or count those drawn.""",
    "skip": """int
    What of the beginning is not used: kept states of each chain, or, by `rbmlib.rts_of_sample` and
    `rbmlib.ti`, blocks of time, of which there are 20.""",
    "n_burn_in": """int
    Sweeps of chains begun elsewhere that are not used.""",
    "record_every": """int
    Every how many sweeps a state is kept in `Estimate.states`.""",
    "n_threads, progress": """optional
    As of `rbmlib.using`.""",
}


def documented(function: Function, names) -> str:
    """The docstring of an estimator, with what is `SHARED` of what it leaves out."""
    text = inspect.cleandoc(function.__doc__ or "")
    if PARAMETERS not in text:
        before, *parts = re.split(r"\n\n(?=\w+\n---)", text, maxsplit=1)
        text = "\n\n".join([before, PARAMETERS + "".join(f"\n\n{part}" for part in parts)])
    before, after = text.split(PARAMETERS)
    own, end, rest = after.partition("\n\n")
    described = ", ".join(re.findall(r"(?m)^(\w[\w, ]*) : ", own)).split(", ")
    *entries, context = [
        f"{name} : {meaning}"
        for name, meaning in SHARED.items()
        if name not in described and (name in names or name == "n_threads, progress")
    ]
    parameters = "\n".join([*entries, *([own] if own else []), context])
    returns = "" if "Returns\n---" in rest else f"\n\n{RETURNS}"
    return before + PARAMETERS + parameters + returns + end + rest
