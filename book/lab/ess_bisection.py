"""A schedule that a few chains of its own find (Zhou, Johansen & Aston 2016)."""

from __future__ import annotations

import numpy as np

from rbmlib import Path
from rbmlib.checks import count, instance, number
from rbmlib.context import bar
from rbmlib.numerics import LEAST, ChainStream, logsumexp
from rbmlib.sampling import sweep


def ess_bisection(
    path: Path,
    n_temperatures: int,
    n_chains: int = 100,
    rng=None,
    *,
    target: float = 0.99,
) -> np.ndarray:
    """Choose each next beta from the chains at hand.

    The conditional effective sample size of a step, ``(sum W u)^2 / sum W u^2`` for weights W so
    far and increments u, is held at ``target`` by bisection; the closer to 1, the more steps find
    the curve, which is cut into ``n_temperatures`` steps. For small ones that is `varopt`.
    """
    instance("path", path, Path, "an annealing path, such as rl.GeometricPath(rbm)")
    n, n_chains = count("n_temperatures", n_temperatures), count("n_chains", n_chains, 2)
    number("target", target, "a number between 0 and 1, such as 0.99", above=0, below=1)
    stream = ChainStream(rng, n_chains)
    v, log_weights = path.sample_base(n_chains, stream), np.zeros(n_chains)
    betas, last_step = [0.0], 1.0
    with bar(1000, "ess bisection") as shown:  # thousandths of the path
        while betas[-1] < 1:
            beta, last_step = _next_beta(path, v, log_weights, betas[-1], last_step, target)
            before, after = path.log_density(v, np.array([betas[-1], beta])).T
            log_weights += after - before
            v = sweep(path, v, beta, 1, stream)
            shown.update(int(1000 * beta) - int(1000 * betas[-1]))
            betas.append(beta)
    position = np.arange(len(betas), dtype=float)
    share = (betas[-1] - betas[-2]) / last_step  # of the last step, which is cut short
    position[-1] += max(share, LEAST) - 1
    return np.interp(np.arange(n + 1) / n * position[-1], position, betas)


def _next_beta(path, v, log_weights, beta, last_step, target) -> tuple[float, float]:
    """The beta to which the conditional ESS falls to ``target``, and the step to where it would.

    If 1 comes before, that is an estimate from the square root of the loss.
    """
    from scipy.optimize import brentq

    here, log_w = path.log_density(v, beta), log_weights - logsumexp(log_weights)

    def excess(b):
        u = path.log_density(v, b) - here
        return 2 * logsumexp(log_w + u) - logsumexp(log_w + 2 * u) - np.log(target)

    high, surplus = beta, 1.0
    while surplus > 0 and high < 1:
        high = min(1.0, beta + (1.5 if high == beta else 2.0) * last_step)
        surplus, last_step = excess(high), high - beta
    if surplus > 0:
        return 1.0, (1 - beta) * np.sqrt(np.log(target) / min(np.log(target) + surplus, -1e-300))
    while excess((beta + high) / 2) < 0:  # then the root is in the upper half
        high = (beta + high) / 2
    found = brentq(excess, (beta + high) / 2, high, xtol=1e-3 * (high - beta))
    return found, found - beta
