"""What this machine can do at most: the parts of an annealing step on their own, for `bench.py`."""

import os
import statistics
import time

import numba
import numpy as np
import pandas as pd
from llvmlite.binding import get_host_cpu_name

from rbmlib._kernels.elementwise import SERIES, draw_lanes, exp_negative, increment_lanes
from rbmlib._kernels.layers import layer
from rbmlib._kernels.random import bits31_lanes, mixed_keys, mixed_units
from rbmlib._kernels.simd import LANES, absolute, fma, load, spread, store, to_floats, where

f32 = np.float32
ROWS = 64


@numba.njit(nogil=True, error_model="numpy")
def _products(v, h, up, down, n):
    """The two products of ``n`` steps of ROWS chains."""
    for _ in range(n):
        np.dot(v, up)
        np.dot(h, down)


@numba.njit(nogil=True, error_model="numpy")
def _draw_hidden(fields, slope, beta, step, k, h, out):
    """Hidden units and their increments in one pass."""
    total, (k0, k1) = spread(f32(0)), mixed_keys(np.uint64(k))
    for j in range(0, fields.size - LANES + 1, LANES):
        s = fma(load(fields, j), f32(1e-3), load(slope, j))
        t = s * beta
        e = exp_negative(absolute(t))
        bits = draw_lanes(t, e, mixed_units(j), k0, k1)
        store(h, j, where(bits, spread(f32(1)), spread(f32(0))))
        total = total + increment_lanes(s, t, e, step, SERIES)
    store(out, 0, total)


@numba.njit(nogil=True, error_model="numpy")
def _draw_visible(fields, slope, beta, k, v):
    k0, k1 = mixed_keys(np.uint64(k))
    for j in range(0, fields.size - LANES + 1, LANES):
        t = fma(load(fields, j), f32(1e-3), load(slope, j)) * beta
        bits = draw_lanes(t, exp_negative(absolute(t)), mixed_units(j), k0, k1)
        store(v, j, where(bits, spread(f32(1)), spread(f32(0))))


@numba.njit(nogil=True, error_model="numpy")
def _draws(x, y, hidden, visible, h, v, out, n):
    """Exponentials, random numbers and increments of ``n`` steps of ROWS chains."""
    for k in range(n):
        for row in range(ROWS):
            _draw_hidden(x[row], hidden.slope, f32(0.5), f32(1e-4), k + row, h[row], out)
            _draw_visible(y[row], visible.slope, f32(0.5), k - row, v[row])


@numba.njit(nogil=True, error_model="numpy")
def _exponentials(x, n):
    total = spread(f32(0))
    for _ in range(n):
        for j in range(0, x.size, LANES):
            total = total + exp_negative(load(x, j))
    store(x, 0, total * f32(0) + spread(f32(0.5)))


@numba.njit(nogil=True, error_model="numpy")
def _random_numbers(x, n):
    total = spread(f32(0))
    for k in range(n):
        for j in range(0, x.size, LANES):
            total = total + to_floats(bits31_lanes(mixed_units(j), np.uint32(k), np.uint32(7)))
    store(x, 0, total * f32(0) + spread(f32(0.5)))


def bounds(rbm) -> dict:
    """Parts of a step: name -> (function, number of chain-steps it stands for)."""
    rng = np.random.default_rng(0)
    n_visible, n_hidden = rbm.weights.shape
    up = rng.integers(-99, 99, (n_visible, n_hidden)).astype(f32)
    v, h = ((rng.random((ROWS, n)) < 0.3).astype(f32) for n in (n_visible, n_hidden))
    x, y = v @ up, h @ up.T
    down = np.ascontiguousarray(up.T)
    layers = [layer(1e-3, np.zeros(n), np.zeros(n)) for n in (n_hidden, n_visible)]
    n = max(1, 20_000 // n_hidden)  # long enough for a clock and the start of threads
    return {
        "alone: matrix products": (lambda: _products(v, h, up, down, n), n * ROWS),
        "alone: exp and random": (
            lambda: _draws(x, y, *layers, h.copy(), v.copy(), np.zeros(LANES, f32), 4 * n),
            4 * n * ROWS,
        ),
    }  # fmt: skip


def rates(n_rounds: int) -> pd.DataFrame:
    """Rates of one thread: products, exponentials, random numbers."""
    rng = np.random.default_rng(0)
    a, b = (rng.random(shape, f32) for shape in ((ROWS, 784), (784, 512)))
    x, n = rng.random(4096, f32), 500
    plan = {
        "sgemm (10^9 operations/s)": (lambda: _products(a, a[:, :16], b, b[:16], 20),
                                      20 * ROWS * 2 * (784 * 512 + 16 * 512)),
        "exp (10^9/s)": (lambda: _exponentials(x, n), n * x.size),
        "random numbers (10^9/s)": (lambda: _random_numbers(x, n), n * x.size),
    }  # fmt: skip
    rows = []
    for name, (work, size) in plan.items():
        work()
        times = []
        for _ in range(n_rounds):
            started = time.perf_counter()
            work()
            times.append(time.perf_counter() - started)
        rows.append((name, size / statistics.median(times) / 1e9))
    return pd.DataFrame(rows, columns=["machine, one thread", "rate"])


def description() -> str:
    """The kind of processor by the name that compilers have for it, and how many there are."""
    return f"{get_host_cpu_name()}, {os.cpu_count()} processors"
