"""Where chains that anneal back begin: exact draws of the target, or what can stand for them."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from .._validation import named
from ..paths.base import State
from .exact import can_enumerate, check_exact_start, exact_samples

STARTS = ("auto", "exact", "chains")


class ReverseStart(NamedTuple):
    """States to begin from, in words where they come from, and whose descendants they are."""

    states: State
    words: str
    ancestors: np.ndarray | None = None


def kind_of_start(path, start, n_chains: int) -> str:
    """What an argument ``start`` asks for: "given", "exact" or "chains"."""
    if isinstance(start, State):
        if start.n_chains != n_chains:
            raise ValueError(f"start holds {start.n_chains} chains, but n_chains is {n_chains}")
        path.checked_state(start, "start")
        return "given"
    if not (isinstance(start, str) and start in STARTS):
        raise ValueError(f"start is {named(start)}: expected one of {STARTS}, or a State")
    if start == "auto":
        target = path.at(1.0)
        enumerable = hasattr(target, "n_enumerated") and can_enumerate(target)
        return "exact" if enumerable else "chains"
    if start == "exact":
        check_exact_start(path)
    return start


def reverse_start(
    path, start, kind: str, n_chains: int, rng, n_burn_in: int, forward: Callable, **options
) -> ReverseStart:
    """States of a ``kind`` to begin from.

    Where it is "chains", ``forward()`` says what to resample: annealed states, their log-weights,
    and the stream of those that are drawn.
    """
    if kind == "given":
        return ReverseStart(start, "given")
    if kind == "exact":
        states = State(exact_samples(path.at(1.0), n_chains, rng))
        return ReverseStart(states, "exact samples")
    states, log_weights, stream = forward()
    ancestors = resample(log_weights, rng)
    states = moved_on(path, states, ancestors, n_burn_in, stream, **options)
    words = f"chains annealed forward, resampled, {n_burn_in} sweeps at beta = 1"
    return ReverseStart(states, words, ancestors)


def resample(log_weights: np.ndarray, rng: np.random.Generator, n: int | None = None):
    """Indices of ``n`` chains (default: all) drawn in proportion to their weights, systematic."""
    weights = np.exp(log_weights - log_weights.max())
    n = weights.size if n is None else n
    positions = (np.arange(n) + rng.random()) / n
    indices = np.searchsorted(np.cumsum(weights) / weights.sum(), positions)
    return np.minimum(indices, weights.size - 1)


def moved_on(path, states: State, chosen, n_sweeps: int, stream, **options) -> State:
    """Some of the states, moved at beta = 1: copies of one chain part from each other."""
    states = State(*(array[chosen] for array in states))
    return path.sweep(states, 1.0, n_sweeps, stream, **options)
