"""Elliptical slice sampling (Murray, Adams & MacKay 2010): a Gaussian prior, nothing to tune.

From x, less the prior's mean, and y ~ N(0, prior covariance) a chain moves to
``cos(angle) x + sin(angle) y``, a point of an ellipse through x at angle 0, whose likelihood is
above that of x times a uniform draw.
"""

from __future__ import annotations

import numpy as np

SHRINKS = 40  # of the bracket of a slice, at most; after them the state stays, which is exact too


def slice_angle(log_likelihood, bracket, n_chains: int, rng) -> np.ndarray:
    """The angle on its ellipse to which each chain moves: (n_chains,).

    Parameters
    ----------
    log_likelihood : callable
        ``log_likelihood(chains, angle)`` of some chains, by number, at an angle each.
    bracket : callable
        ``bracket(share)`` -> both ends of a whole turn about 0, at a uniform ``share`` of it; the
        second is the first angle that is tried.
    n_chains : int
    rng : Generator or ChainStream
    """
    uniforms = rng.random((n_chains, SHRINKS + 1))
    floor = np.log(uniforms[:, 0]) + log_likelihood(np.arange(n_chains), np.zeros(n_chains))
    low, first = bracket(uniforms[:, 1])
    return _shrink(
        lambda chains, angle: log_likelihood(chains, angle) <= floor[chains],
        low, first, uniforms[:, 2:],
    )  # fmt: skip


def _shrink(outside, low, angle, uniforms) -> np.ndarray:
    """The angles to which a bracket of each chain shrinks.

    ``outside(chains, angle)`` says which are not on the slice; the bracket from ``low`` to the
    first ``angle``, a whole turn, shrinks towards 0 until all are, or by one draw of ``uniforms``
    (n_chains, n) after the other until these are used up: 0 then, where the chain was.
    """
    high, angle, todo = angle.copy(), angle.copy(), np.arange(angle.size)
    for draws in uniforms.T:
        todo = todo[outside(todo, angle[todo])]
        if not todo.size:
            break
        new = angle[todo]
        low[todo] = np.where(new < 0, new, low[todo])
        high[todo] = np.where(new < 0, high[todo], new)
        angle[todo] = low[todo] + (high[todo] - low[todo]) * draws[todo]
    angle[todo] = 0.0
    return angle
