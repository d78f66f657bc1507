"""What the methods of every path ask of their arguments, where a caller comes in."""

from __future__ import annotations

import numpy as np

from .._streams import ChainStream
from .._validation import count, generator, numeric, refuse_nan

METHODS = (
    "sample_base", "log_density", "log_density_slope", "log_density_slopes", "transition",
    "joint_transition", "visible_of", "sweep", "anneal", "joint_sweeps",
)  # fmt: skip
BEYOND = 1e-3  # of the ends of a path: differences may be taken there


def _state(path, state, others):
    state = path.checked_state(state)
    if not isinstance(state.coordinates, np.ndarray):
        raise TypeError(
            f"state holds a {type(state.coordinates).__name__}: expected an array, such as "
            "rl.State(np.asarray(visible))"
        )
    return state


def _numbers(name: str, value, meaning: str) -> np.ndarray:
    betas = numeric(name, value, meaning).astype(float)
    refuse_nan(name, betas, meaning)
    if betas.size and not (betas.min() >= -BEYOND and betas.max() <= 1 + BEYOND):
        raise ValueError(f"{name} runs from {betas.min()} to {betas.max()}: expected {meaning}")
    return betas


def _beta(path, value, others):
    """One beta; where chains may have one each, or densities are wanted at several, so many."""
    state = others.get("state")
    n = state.n_chains if "rng" in others or "stream" in others else None
    meaning = "a point of the path, from 0 to 1" + (", or one a chain" if n else "")
    betas = _numbers("beta", value, meaning)
    many = betas.ndim == 1 and betas.size > 0 and (n is None or betas.size == n)
    if betas.ndim and not many:
        raise ValueError(f"beta has shape {betas.shape}: expected {meaning}")
    return float(betas) if betas.ndim == 0 else betas


def _one_beta(path, value, others):
    """Of a slope, which is at one point of the path."""
    beta = _beta(path, value, others)
    if np.ndim(beta):
        raise ValueError(f"beta has shape {np.shape(beta)}: expected one point of the path, from "
                         "0 to 1; use log_density_slopes for several")  # fmt: skip
    return beta


def _betas(path, value, others):
    meaning = "betas from 0 to 1, two or more, such as rl.schedules.linear(100)"
    betas = _numbers("betas", value, meaning)
    if betas.ndim != 1 or betas.size < 1 + ("stream" in others):
        raise ValueError(f"betas has shape {betas.shape}: expected {meaning}")
    return betas


def _rng(path, value, others):
    """What draws, as it is; else a generator from a seed."""
    return value if callable(getattr(value, "random", None)) else generator(value)


def _stream(path, value, others):
    """Random numbers of each chain: from a seed or a generator, unless they are that already."""
    n = others["state"].n_chains
    if isinstance(value, ChainStream):
        if value.n_chains != n:
            raise ValueError(f"stream is of {value.n_chains} chains: expected {n}, as in state")
        return value
    if callable(getattr(value, "random", None)) and not isinstance(value, np.random.Generator):
        return value
    return ChainStream(generator(value), n)


def _n_chains(path, value, others):
    return count("n_chains", value)


def _n_sweeps(path, value, others):
    return count("n_sweeps", value, 0)


CHECKS = {
    "n_chains": _n_chains, "state": _state, "n_sweeps": _n_sweeps, "beta": _beta, "betas": _betas,
    "rng": _rng, "stream": _stream,
}  # fmt: skip
SLOPE = CHECKS | {"beta": _one_beta}
