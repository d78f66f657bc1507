"""Checks of arguments. Errors name the argument, its value, what was expected, and a remedy.

Only code that users call checks arguments: constructors, estimators, starts and readers of files.
"""

import contextlib
import difflib
import math
import numbers
import os
from pathlib import Path

import numpy as np

INF = math.inf
MOST = 10**9  # largest accepted count: no machine has the time or the memory for more
LARGEST_NUMBER = 1e300
LARGEST = 1e12  # largest model parameter: beyond it, float64 cannot hold log p* to 1e-3 nats
LARGEST_SCALE = 1e7  # largest log_scale: every slope includes it, and their variance must survive
LARGEST_STATE = np.float64(1e100)  # largest real state: squares are summed (not in float32)
PARAMETERS = ("weights", "visible_bias", "hidden_bias", "bias")  # of models
MOST_BETAS = 32_767  # a ladder stores the indices of its betas in 16 bits
BOOLS = (bool, np.bool_)
NO_NUMBERS = (*BOOLS, np.timedelta64)  # although Python counts them as numbers
PATH_MEANING = "an annealing path, such as rl.GeometricPath(rbm), or rl.LeakinessPath(leaky_rbm)"
ALSO = {"seed": "rng", "random_state": "rng"}  # names of arguments in other programs


def arguments(name: str, signature, given: tuple, options: dict) -> dict:
    """Return the arguments of a call by name, or raise a TypeError that suggests a valid name."""
    for option in options.keys() - signature.parameters.keys():
        close = difflib.get_close_matches(ALSO.get(option, option), signature.parameters, n=1)
        meant = f"; did you mean {close[0]}?" if close else ""
        if option in ("n_threads", "progress"):
            meant = f"; set it by: with rl.using({option}=...):"
        raise TypeError(f"{name} has no argument {option}{meant}")
    try:
        return signature.bind(*given, **options).arguments
    except TypeError as error:
        raise TypeError(f"{name}: {error}") from None


def _is_real(value) -> bool:
    return isinstance(value, numbers.Real) and not isinstance(value, NO_NUMBERS)


def count(name: str, value, least: int = 1, most: float = MOST) -> int:
    """Return a whole number from ``least`` to ``most`` as an int; 1000.0 counts as 1000."""
    real = _is_real(value) and (isinstance(value, int) or math.isfinite(value))
    if not real or value != int(value) or value < least:
        raise ValueError(f"{name} is {value!r}: expected a whole number, {least} or more")
    if value > most:
        raise ValueError(f"{name} is {value!r:.20}: expected a whole number, {most:,} at most")
    return int(value)


def number(name: str, value, meaning: str, *, above=-INF, least=-INF, below=INF, most=INF) -> float:
    """Return a finite real number as a float; ``above`` and ``below`` are exclusive limits."""
    with contextlib.suppress(OverflowError):  # raised by whole numbers of hundreds of digits
        found = float(value) if _is_real(value) else math.nan
        if abs(found) < LARGEST_NUMBER and above < found < below and least <= found <= most:
            return found
    raise ValueError(f"{name} is {value!r}: expected {meaning}")


def in_memory(name: str, value, n_bytes: float) -> None:
    """Raise a ValueError if ``value`` objects of ``n_bytes`` each do not fit in memory."""
    memory = memory_of_machine()
    if _is_real(value) and float(value) * n_bytes > memory:
        most = f"at most {int(memory / n_bytes):,}, because each takes {n_bytes / 1e3:,.3g} kB"
        raise ValueError(f"{name} is {value:,}: expected {most}; or rl.join several runs")


def memory_of_machine() -> float:
    """Return the memory in bytes of the machine, or of the container of this process."""
    known = [8e9]  # if the system does not report it
    with contextlib.suppress(AttributeError, OSError, ValueError):
        known = [os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")]
    with contextlib.suppress(OSError, ValueError):  # no such file, or "max"
        known.append(int(Path("/sys/fs/cgroup/memory.max").read_text()))
    return float(min(known))


def one_of(name: str, value, words) -> str:
    """Return ``value`` if it is one of ``words``."""
    if not isinstance(value, str) or value not in words:
        raise ValueError(f"{name} is {value!r}: expected one of {', '.join(map(repr, words))}")
    return value


def numeric(name: str, value, meaning: str) -> np.ndarray:
    """Return an array of booleans, integers or floats of any shape, without masked values."""
    rows = value if isinstance(value, (list, tuple)) else [value]
    if any(map(np.ma.is_masked, rows)):  # np.asarray would ignore the mask
        remedy = "leave these out, or fill them with .filled(number)"
        raise ValueError(f"{name} holds masked values: expected {meaning}; {remedy}")
    array = np.array(None)
    with contextlib.suppress(ValueError):  # raised by rows of different lengths
        array = np.asarray(_of_tensor(value))
    if hasattr(value, "toarray"):
        came = f"a sparse {type(value).__name__}"
        raise ValueError(f"{name} is {came}: expected {meaning}; {name}.toarray() makes one")
    if array.dtype.kind not in "buif":
        plain = isinstance(value, (str, int, type(None)))
        came = repr(value) if plain else f"a {type(value).__name__} of {array.dtype}"
        raise ValueError(f"{name} is not an array of numbers but {came:.60}: expected {meaning}")
    return array


def _of_tensor(value):
    """Convert a tensor of any device, with or without a gradient, to an array."""
    if not hasattr(value, "detach"):
        return value
    value = value.detach().cpu()
    try:
        return value.numpy()
    except TypeError:  # NumPy lacks this precision
        return value.double().numpy()


def instance(name: str, value, kind: type | tuple[type, ...], meaning: str) -> None:
    if not isinstance(value, kind):
        raise TypeError(f"{name} is a {type(value).__name__}: expected {meaning}")


def array(
    name: str, value, shape: tuple, meaning: str, *, flatten: bool = False, largest: float = INF
) -> np.ndarray:
    """Return a read-only float64 array of finite numbers; None in ``shape`` is any length."""
    found = np.array(numeric(name, value, meaning), dtype=np.float64)
    if flatten and found.ndim:  # (1, n) and (n, 1), as MATLAB stores vectors
        found = found.ravel()
    wanted = zip(shape, found.shape, strict=False)
    if found.ndim != len(shape) or not all(want in (None, have) for want, have in wanted):
        turned = "; is it transposed?" * (found.shape == shape[::-1])
        raise ValueError(f"{name} has shape {found.shape}: expected {meaning}{turned}")
    if bad := int((~np.isfinite(found)).sum()):
        remedy = "; did the training diverge?" * (name.partition(" ")[0] in PARAMETERS)
        remedy += " A bias of -1e4 freezes a unit" * bool(np.isneginf(found).any())
        held = f"{bad} NaN or infinite value{'s' * (bad > 1)}"
        raise ValueError(f"{name} holds {held}: expected finite numbers{remedy}")
    reached = float(np.abs(found).max(initial=0.0))
    if reached > largest:
        meaning = f"at most {largest:.0e}, because log-densities lose digits; -1e4 freezes a unit"
        raise ValueError(f"{name} reaches {reached:.3g} in magnitude: expected {meaning}")
    found.flags.writeable = False
    return found


def states(name: str, value, layer) -> np.ndarray:
    """Return states (n_states, n_units) of a `Layer`; a single state may be one-dimensional."""
    meaning = f"(n_states, {len(layer)}), one column per unit of the model{layer.entries}"
    found = np.atleast_2d(numeric(name, value, meaning))
    if found.ndim != 2 or found.shape[1] != len(layer):
        raise ValueError(f"{name} has shape {np.shape(value)}: expected {meaning}")
    if not layer.holds(found):
        refuse_nan(name, found, layer._meaning)
        raise ValueError(f"{name} holds {layer._refusal(found)}")
    return found


def refuse_nan(name: str, array: np.ndarray, expected: str) -> None:
    """Raise a ValueError that locates NaN, before an error about values out of bounds."""
    if bad := np.argwhere(np.isnan(array)).tolist():
        held = f"{len(bad)} NaN value{'s' * (len(bad) > 1)}"
        raise ValueError(f"{name} holds {held}, the first at {bad[0]}: expected {expected}")


def point(beta) -> float:
    return number("beta", beta, "a point of the path, from 0 to 1", least=0, most=1)


def schedule(value, name: str = "betas") -> np.ndarray:
    """Return a schedule, which increases strictly from exactly 0 to exactly 1."""
    meaning = "a schedule that rises from 0 to 1, such as rl.schedules.linear(10_000)"
    betas = np.array(numeric(name, value, meaning), dtype=np.float64)
    if betas.ndim != 1 or betas.size < 2:
        raise ValueError(f"{name} has shape {betas.shape}: expected {meaning}")
    refuse_nan(name, betas, meaning)
    if betas[0] != 0.0 or betas[-1] != 1.0:
        raise ValueError(f"{name} runs from {betas[0]} to {betas[-1]}: expected {meaning}")
    rises = np.diff(betas) > 0
    if not rises.all():
        k = int(np.argmin(rises))
        step = f"at step {k + 1} (from {betas[k]} to {betas[k + 1]})"
        raise ValueError(f"{name} do not rise {step}: expected {meaning}")
    betas.flags.writeable = False
    return betas


def ladder(value) -> np.ndarray:
    """Return a `schedule` with no more betas than a 16-bit index can number."""
    betas = schedule(value)
    if betas.size > MOST_BETAS:
        raise ValueError(f"betas holds {betas.size:,} values: expected {MOST_BETAS:,} at most")
    return betas


def prior(value, n: int) -> np.ndarray:
    """Return the normalised prior r_k of n betas, which is uniform by default."""
    if value is None:
        return np.full(n, 1 / n)
    found = array("prior", value, (n,), f"({n},), one positive number per beta")
    if not (found > 0).all():
        raise ValueError(f"prior has the smallest value {found.min()}: expected positive numbers")
    return found / found.sum()


def generator(rng) -> np.random.Generator:
    """Return a generator from a seed (a whole number), a generator, or None (fresh entropy)."""
    if rng is None or isinstance(rng, np.random.Generator):
        return np.random.default_rng(rng)
    try:
        return np.random.default_rng(count("rng", rng, 0, math.inf))
    except (TypeError, ValueError) as error:
        raise type(error)(f"{error}, a numpy.random.Generator, or None") from None


def source_of_random(rng):
    """Return ``rng`` if it can draw, like a Generator or a `ChainStream`; else a `generator`."""
    return rng if hasattr(rng, "random") else generator(rng)


def seed_of(rng) -> int | None:
    """Return ``rng`` as an int if it is a seed, else None."""
    return int(rng) if isinstance(rng, (int, np.integer)) else None
