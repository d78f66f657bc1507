"""Annealing of leaky RBMs with diagonal weights: every direction u_j moves on its own.

The random numbers are those of `ChainStream`: of a step the normals of h, the normals of the
proposal and, for the exact kernel, the uniforms that decide on it.
"""

import numba
import numpy as np

from .random import bits31, draw_key, high, low

_INLINE = {"inline": "always", "error_model": "numpy"}


@numba.njit(**_INLINE)
def _polynomial(x, c):
    high_half = ((c[7] * x + c[6]) * x + c[5]) * x + c[4]
    return (((high_half * x + c[3]) * x + c[2]) * x + c[1]) * x + c[0]


# Wichura (1988), algorithm AS 241, PPND16: relative accuracy 1e-16
_A = (3.3871328727963666080e0, 1.3314166789178437745e2, 1.9715909503065514427e3,
      1.3731693765509461125e4, 4.5921953931549871457e4, 6.7265770927008700853e4,
      3.3430575583588128105e4, 2.5090809287301226727e3)  # fmt: skip
_B = (1.0, 4.2313330701600911252e1, 6.8718700749205790830e2, 5.3941960214247511077e3,
      2.1213794301586595867e4, 3.9307895800092710610e4, 2.8729085735721942674e4,
      5.2264952788528545610e3)  # fmt: skip
_C = (1.42343711074968357734e0, 4.63033784615654529590e0, 5.76949722146069140550e0,
      3.64784832476320460504e0, 1.27045825245236838258e0, 2.41780725177450611770e-1,
      2.27238449892691845833e-2, 7.74545014278341407640e-4)  # fmt: skip
_D = (1.0, 2.05319162663775882187e0, 1.67638483018380384940e0, 6.89767334985100004550e-1,
      1.48103976427480074590e-1, 1.51986665636164571966e-2, 5.47593808499534494600e-4,
      1.05075007164441684324e-9)  # fmt: skip
_E = (6.65790464350110377720e0, 5.46378491116411436990e0, 1.78482653991729133580e0,
      2.96560571828504891230e-1, 2.65321895265761230930e-2, 1.24266094738807843860e-3,
      2.71155556874348757815e-5, 2.01033439929228813265e-7)  # fmt: skip
_F = (1.0, 5.99832206555887937690e-1, 1.36929880922735805310e-1, 1.48753612908506148525e-2,
      7.86869131145613259100e-4, 1.84631831751005468180e-5, 1.42151175831644588870e-7,
      2.04426310338993978564e-15)  # fmt: skip


@numba.njit(error_model="numpy")
def quantile(p):
    """The standard normal quantile of p in (0, 1)."""
    q = p - 0.5
    if abs(q) <= 0.425:
        r = 0.180625 - q * q
        return q * _polynomial(r, _A) / _polynomial(r, _B)
    r = np.sqrt(-np.log(p if q < 0 else 1.0 - p))
    if r <= 5.0:
        r -= 1.6
        value = _polynomial(r, _C) / _polynomial(r, _D)
    else:
        r -= 5.0
        value = _polynomial(r, _E) / _polynomial(r, _F)
    return -value if q < 0 else value


@numba.njit(**_INLINE)
def _uniform(unit, key):
    return (np.float64(bits31(unit, high(key), low(key))) + 0.5) / 2147483648.0


@numba.njit(cache=True, nogil=True, error_model="numpy")
def anneal_diagonal(u, gains, model, points, slopes, exact, seed, first_chain, first_draw):
    """Steps of AIS in place: each weighs by the slope, then moves at the next point.

    ``model``: (3, n) scales, hidden and visible biases. ``points``: (n_steps, 3) increments of
    beta, and leakiness and scale of the fields after them. ``slopes``: factors of eta^2 / 2
    in the slope where eta <= 0 and where eta > 0, of fields that are not scaled.
    """
    draws = 3 if exact else 2
    for chain in range(u.shape[0]):
        for k in range(points.shape[0]):
            step, c, t = points[k]
            draw = first_draw + draws * k
            of_h = draw_key(seed, first_chain + chain, draw)
            of_v = draw_key(seed, first_chain + chain, draw + 1)
            of_a = draw_key(seed, first_chain + chain, draw + 2)
            root, factor, constant = np.sqrt(c), (1 - 1 / c) / 2, -np.log(c) / 2
            slope = 0.0
            for j in range(u.shape[1]):
                s, a, b = model[0, j], model[1, j], model[2, j]
                eta = s * u[chain, j] + a
                up = eta > 0
                slope += eta * eta * (slopes[1] if up else slopes[0])
                mean, sd = (t * eta, 1.0) if up else (c * t * eta, root)
                h = mean + sd * quantile(_uniform(j, of_h))
                new = b + t * s * h + quantile(_uniform(j, of_v))
                if exact and (s * new + a > 0) != up:
                    gain = factor * h * h + constant  # log g(h; c) - log g(h; 1)
                    if np.log(_uniform(j, of_a)) >= (gain if up else -gain):
                        continue
                u[chain, j] = new
            gains[chain] += step * slope / 2
