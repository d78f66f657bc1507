"""Bennett's acceptance ratio (Bennett 1976; Crooks 1999): the root of

    sum_i s(w_i - log Z - M) = sum_j s(log Z + M - R_j),    M = log(n_F / n_R),

of forward and reverse work values: of annealing both ways, or of neighbouring betas of a sample.
"""

from typing import NamedTuple

import numpy as np
from scipy.optimize import brentq

from .. import checks
from ..numerics import ChainStream, expit
from ..results import Check, enough, finished, of_chains, student_interval, summarise
from ..sampling import anneal
from . import estimator
from .reverse_ais import begun

MINIMUM_ANCESTORS, MINIMUM_SHARE, FEWEST, OVERLAP = 100, 0.8, 10, 10
SKEW = 10  # per nat of the error of resampled forward weights: intervals are wider above


class Bennett(NamedTuple):
    log_z: float
    forward: np.ndarray  # (n_F,) s(w - log Z - M)
    reverse: np.ndarray  # (n_R,) s(log Z + M - R)

    @property
    def slope(self):
        """Minus the derivative of the equation: changes of its terms over this move log Z."""
        return float(sum((s * (1 - s)).sum() for s in (self.forward, self.reverse)))


def bennett(w, r):
    m = np.log(w.size / r.size)

    def imbalance(log_z):
        return expit(w - log_z - m).sum() - expit(log_z + m - r).sum()

    low, high = min(w.min(), r.min()) - abs(m) - 1, max(w.max(), r.max()) + abs(m) + 1
    while imbalance(low) <= 0:
        low -= 10
    while imbalance(high) >= 0:
        high += 10
    log_z = brentq(imbalance, low, high, xtol=1e-12, rtol=1e-14)
    return Bennett(float(log_z), expit(w - log_z - m), expit(log_z + m - r))


@estimator
def bar(path, betas, n_chains=1000, rng=None, *, n_burn_in=100, start="auto"):
    """Estimate log Z from annealing ``n_chains`` each way. Chains and descendants count as one."""
    betas, n_chains = checks.schedule(betas), checks.count("n_chains", n_chains, 2)
    source = checks.generator(rng)
    stream = ChainStream(source, n_chains)
    source = source.spawn(1)[0]
    back = ChainStream(source, n_chains)
    v, gains = anneal(path, path.sample_base(n_chains, stream), betas, stream)
    forward = gains + path.log_z_base
    v, words, ancestors = begun(
        path, start, n_chains, source, n_burn_in, lambda: (v, forward, back)
    )
    v, gains = anneal(path, v, betas[::-1], back)
    root = bennett(forward, path.log_z_base - gains)
    error, families = bennett_error(root, ancestors)
    below, overlap = summarise(forward), 4 * root.slope
    found = [
        Check(
            f"{overlap:.0f} of {2 * n_chains} work values lie where both directions reach",
            enough(overlap, 2 * n_chains),
        )
    ]
    low, high = student_interval(root.log_z, error, families)
    if ancestors is not None:
        needed = min(MINIMUM_ANCESTORS, max(FEWEST, MINIMUM_SHARE * n_chains))
        found.append(
            Check(f"effective ancestors {below.ess:.1f}, {needed:.0f} or more", below.ess >= needed)
        )
        high = root.log_z + (high - root.log_z) * (1 + SKEW * below.std_error)
    return finished(
        "bar",
        root.log_z,
        error,
        found,
        families,
        interval=(low, high),
        ess=below.ess,
        n_chains=n_chains,
        n_sweeps=2 * (betas.size - 1),
        log_weights=forward,
        states=v,
        remedy="more temperatures, then more chains",
        settings={"start": words, "overlap": overlap, "families": families},
    )


def bennett_error(root, ancestors):
    """The error, and on how many independent values it rests, of forward chains' families."""
    forward, reverse = (s - s.mean() for s in (root.forward, root.reverse))
    if ancestors is None:
        variance = sum(s @ s * s.size / (s.size - 1) for s in (forward, reverse))
        return float(np.sqrt(variance) / root.slope), forward.size
    families = forward - np.bincount(ancestors, weights=reverse, minlength=forward.size)
    squares = families**2
    effective = squares.sum() ** 2 / (squares @ squares)
    variance = squares.sum() * squares.size / (squares.size - 1)
    return float(np.sqrt(variance) / root.slope), float(max(effective, 2.0))


def bar_of_sample(sample, skip=0):
    """log Z as a sum of Bennett's log-ratios between neighbouring betas of tempered states."""
    delta, index = sample.delta[skip:].ravel(), sample.index[skip:].ravel()
    used, n = np.unique(index), sample.betas.size
    if used[0] != 0 or used[-1] != n - 1:
        raise ValueError("sample holds no state at one end of the betas: run more sweeps")
    influences, log_z, overlaps = np.zeros(delta.size), np.zeros(n), []
    for low, high in zip(used, used[1:]):
        step, one, two = sample.betas[high] - sample.betas[low], index == low, index == high
        root = bennett(step * delta[one], step * delta[two])
        log_z[high] = log_z[low] + root.log_z
        influences[one] += root.forward / root.slope - 1 / one.sum()
        influences[two] += 1 / two.sum() - root.reverse / root.slope
        overlaps.append(4 * root.slope)
    check = Check(
        f"states where neighbours overlap {min(overlaps):.0f}, {OVERLAP} or more",
        min(overlaps) >= OVERLAP,
    )
    blocks = in_blocks(influences.reshape(-1, sample.index.shape[1]), sample.n_ladders)
    return of_chains("bar (neighbours)", sample, sample.log_z_base + log_z, blocks, [check])


def in_blocks(influences, n_ladders, n_blocks=20):
    """Influences of states, (n_kept, n_columns), as deviations of blocks of time and ladders."""
    rows = np.array_split(influences, min(n_blocks, len(influences)))
    blocks = np.stack([part.sum(axis=0) for part in rows])
    return n_ladders * blocks.reshape(len(rows), n_ladders, -1).sum(axis=2)
