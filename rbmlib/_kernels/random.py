"""Stateless random numbers: a uniform is a function of (seed, chain, draw, unit).

Chains share nothing, so results do not depend on threads, chunks or the order of chains. The
SplitMix64 finaliser (Steele, Lea & Flood 2014) hashes (seed, chain, draw) to a 64-bit key. A
finaliser with two multiplications then hashes the index of each unit with the two halves of the
key. A uniform is ``(r + 1/2) / 2**31`` for a 31-bit ``r``, so the error of a probability is at most
2**-32.
"""

import numpy as np

from .simd import count, inline, njit

u32 = np.uint32
u64 = np.uint64


@inline
def _mix64(z):
    z = z + u64(0x9E3779B97F4A7C15)
    z = (z ^ (z >> u64(30))) * u64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> u64(27))) * u64(0x94D049BB133111EB)
    return z ^ (z >> u64(31))


@inline
def draw_key(seed, chain, draw):
    """Return the 64-bit key that all units of a layer share in a draw of a chain."""
    return _mix64(_mix64(_mix64(u64(seed)) ^ u64(chain)) ^ (u64(draw) * u64(0xD1342543DE82EF95)))


@inline
def uniform(unit, key):
    """Return a uniform number in (0, 1), float64, from 31 random bits of a unit.

    The casts keep products in 32 bits, which numba widens.
    """
    k0, k1 = u32(key >> u64(32)), u32(key & u64(0xFFFFFFFF))
    x = u32(u32(unit) * u32(0x9E3779B9)) ^ k0
    x = u32(u32(x ^ u32(x >> u32(16))) * u32(0x7FEB352D))
    x = u32(u32(u32(x ^ u32(x >> u32(15))) ^ k1) * u32(0x846CA68B))
    x = u32(u32(x ^ u32(x >> u32(16))) >> u32(1))
    return (np.float64(x) + 0.5) / 2147483648.0


# The first round, x ^ (x >> 16) for x = unit ^ key, may be applied to unit and key separately,
# so it is computed once for each key and once for each unit.


@inline
def mixed_keys(key):
    """Return both halves of a key for `bits31_lanes`."""
    k0 = u32(key >> u64(32))
    return u32(k0 ^ u32(k0 >> u32(16))), u32(key & u64(0xFFFFFFFF))


@inline
def mixed_units(first_unit):
    """Return sixteen units from ``first_unit`` on for `bits31_lanes`."""
    x = count(u32(u32(first_unit) * u32(0x9E3779B9)), u32(0x9E3779B9))
    return x ^ (x >> u32(16))


@inline
def bits31_lanes(units, k0, k1):
    """Return the bits of `uniform` for sixteen units as lanes."""
    x = (units ^ k0) * u32(0x7FEB352D)
    x = ((x ^ (x >> u32(15))) ^ k1) * u32(0x846CA68B)
    return (x ^ (x >> u32(16))) >> u32(1)


@njit
def fill_uniforms(seed, first_chain, draw, out):
    """Fill ``out`` (n_chains, n_units) with float64 uniforms in (0, 1)."""
    for chain in range(out.shape[0]):
        key = draw_key(seed, first_chain + chain, draw)
        for unit in range(out.shape[1]):
            out[chain, unit] = uniform(unit, key)
