"""Models on which estimates of log Z go wrong without a sign of it, each with its log Z.

Small layers are enumerated; larger models are made of parts that do not touch, whose log Z add up.
Exchanging the states of units, their order and the two layers changes no log Z, and hides how a
model was made (`disguised_rbm`).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from rbmlib import BernoulliRBM
from rbmlib.checks import generator, instance, one_of
from rbmlib.numerics import expit, logsumexp, softplus

from .counted_models import first_order, mean_field, parities
from .testsystems import of_spins

MAX_ENUMERATED = 16
BLOCK_ROWS = 4096
PCD_STEPS, PCD_CHAINS, PCD_RATE = 1500, 50, 0.05


class KnownModel(NamedTuple):
    """A model, its log Z in nats, and of which kind it is."""

    rbm: BernoulliRBM
    log_z: float
    kind: str


def hard_rbm(kind: str, rng=None) -> KnownModel:
    """A random hard model of a ``kind``, disguised, with its log Z.

    Parameters
    ----------
    kind : {"random", "frustrated", "ferromagnet", "hopfield", "pocket", "sparse", "unequal", \
"degenerate", "tall", "idle", "masked", "trained", "union", "union of pockets", "mean field", \
"random field", "first order", "spike in slab", "golf", "glass", "large weights", "wide modes", \
"parities"}
        "random": Gaussian weights of any strength. "frustrated": all spins couple by plus or minus
        the same. "ferromagnet": two signs of unequal weight. "hopfield": patterns of unequal depth,
        each with its opposite. "pocket": one or two hidden units that, when they are on, hold
        the visible ones in a pattern, with 20% to 95% of Z and nothing that leads there. "sparse":
        each hidden unit has few, strong weights. "unequal": scales of hidden units that differ by
        orders of magnitude. "degenerate": orthogonal patterns of the same depth. "tall": one layer
        ten times the other. "idle": any of these and units without weights. "masked": units that
        a bias holds at one state. "trained": on noisy prototypes, by PCD. "union": two to four of
        the others that do not touch; "union of pockets" with a pocket in each. "mean field": up to
        1,000 spins, every pair across the layers coupled alike, in a field; "random field": the
        same with a random field on each. "first order": a few strong hidden units, all on or all
        off, with nothing between. "spike in slab": a single visible state holds 20% to 95% of Z.
        "golf": three to six such states on a flat ground. "glass": couplings of plus or minus one
        at a low temperature. "large weights": trained by CD-1 at a rate that is too high. "wide
        modes": patterns of hundreds of visible units just above where they begin to hold.
        "parities": a planted solution of random equations of five units each modulo 2, to which
        nothing leads, and a decoy to which everything does.
    rng : int, Generator or None
        The same seed gives the same model.

    Returns
    -------
    KnownModel
        ``rbm``, ``log_z`` and ``kind``.

    Examples
    --------
    >>> import rbmlib as rl
    >>> rbm, log_z, kind = hard_rbm("pocket", rng=0)
    >>> abs(rl.exact(rbm).log_z - log_z) < 1e-8
    True
    """
    one_of("kind", kind, HARD_KINDS)
    rng = generator(rng)
    rbm, log_z = _KINDS[kind](rng)
    return KnownModel(disguised_rbm(rbm, rng), log_z, kind)


def disguised_rbm(rbm: BernoulliRBM, rng=None) -> BernoulliRBM:
    """The same log Z: states of random units exchanged, units in another order, layers perhaps too.

    Examples
    --------
    >>> import rbmlib as rl
    >>> rbm = rl.testsystems.random_rbm(12, 6, rng=0)
    >>> other = disguised_rbm(rbm, rng=1)
    >>> abs(rl.exact(rbm).log_z - rl.exact(other).log_z) < 1e-9
    True
    """
    instance("rbm", rbm, BernoulliRBM, "a BernoulliRBM")
    rng = generator(rng)
    visible, hidden = (rng.random(n) < 0.5 for n in rbm.weights.shape)
    w, b, a = rbm.weights.copy(), rbm.visible_bias.copy(), rbm.hidden_bias.copy()
    b += w[:, hidden].sum(axis=1)  # h -> 1 - h
    scale = rbm.log_scale + a[hidden].sum()
    w[:, hidden] *= -1
    a[hidden] *= -1
    a += w[visible].sum(axis=0)  # v -> 1 - v
    scale += b[visible].sum()
    w[visible] *= -1
    b[visible] *= -1
    rows, columns = (rng.permutation(n) for n in w.shape)
    other = BernoulliRBM(w[np.ix_(rows, columns)], b[rows], a[columns], log_scale=scale)
    return other.transposed() if rng.random() < 0.5 else other


def union_rbm(*rbms: BernoulliRBM) -> BernoulliRBM:
    """One model of several that do not touch: its log Z is the sum of theirs."""
    n_visible, n_hidden = np.sum([rbm.weights.shape for rbm in rbms], axis=0)
    weights, row, column = np.zeros((n_visible, n_hidden)), 0, 0
    for rbm in rbms:
        rows, columns = rbm.weights.shape
        weights[row : row + rows, column : column + columns] = rbm.weights
        row, column = row + rows, column + columns
    return BernoulliRBM(
        weights,
        np.concatenate([rbm.visible_bias for rbm in rbms]),
        np.concatenate([rbm.hidden_bias for rbm in rbms]),
        log_scale=sum(rbm.log_scale for rbm in rbms),
    )


# kinds: functions of a generator, to a model and its log Z ----------------------------------


def enumerated(rbm: BernoulliRBM) -> tuple[BernoulliRBM, float]:
    """The model, and the sum over the states of its smaller layer."""
    small = rbm if rbm.n_hidden <= rbm.n_visible else rbm.transposed()
    n = small.n_hidden
    if n > MAX_ENUMERATED:
        raise ValueError(f"there are {n} units in the smaller layer: expected {MAX_ENUMERATED}")
    logs = []
    for start in range(0, 2**n, BLOCK_ROWS):
        codes = np.arange(start, min(start + BLOCK_ROWS, 2**n))
        hidden = (codes[:, None] >> np.arange(n) & 1).astype(float)
        fields = hidden @ small.weights.T + small.visible_bias
        logs.append(logsumexp(hidden @ small.hidden_bias + softplus(fields).sum(axis=1)))
    return rbm, float(logsumexp(np.array(logs))) + rbm.log_scale


def _layers(rng, least: int = 20, most: int = 80) -> tuple[int, int]:
    return int(rng.integers(least, most)), int(rng.integers(6, 15))


def _random(rng, shape=None, strongest: float = 12.0):
    n, m = shape or _layers(rng)
    weights = rng.normal(scale=rng.uniform(1, strongest) / np.sqrt(n), size=(n, m))
    return enumerated(BernoulliRBM(weights, rng.normal(0, 0.5, n), rng.normal(0, 0.5, m)))


def _spins(rng, couplings: np.ndarray, field: float = 0.0):
    """Of spins, with random small fields."""
    n, m = couplings.shape
    return enumerated(of_spins(couplings, field * rng.normal(size=n), field * rng.normal(size=m)))


def _frustrated(rng):
    shape = _layers(rng)
    signs = rng.choice([-1.0, 1.0], size=shape)
    return _spins(rng, rng.uniform(0.5, 4) * signs / np.sqrt(sum(shape)), rng.choice([0, 0.05]))


def _ferromagnet(rng):
    n, m = _layers(rng)
    couplings = np.full((n, m), rng.uniform(1.1, 4) / np.sqrt(n * m))
    tilt = rng.uniform(0, 2) / (n + m)  # of all spins: the two signs differ by a few nats
    return enumerated(of_spins(couplings, np.full(n, tilt), np.full(m, tilt)))


def _hopfield(rng, equal: bool = False):
    n, m = _layers(rng)
    patterns = rng.choice([-1.0, 1.0], size=(n, m))
    if equal:
        patterns = np.sqrt(n) * np.linalg.qr(patterns)[0]
    spread = 0.0 if equal else rng.uniform(0.05, 0.6)
    depths = rng.uniform(1.2, 4) * np.linspace(1 - spread, 1 + spread, m)
    return _spins(rng, depths * patterns / np.sqrt(n), 0.0 if equal else rng.choice([0, 0.02]))


def _pocket(rng, shape=None):
    """A weak model, and hidden units whose biases give the states where they are on a share of Z.

    All their weights are of one size, so that they hold the visible units against the rest; the
    log-odds of a unit is the log-ratio of Z with the unit on and off, which shifts with its bias.
    """
    n, m = shape or _layers(rng, 30, 120)
    rbm, log_z = _random(rng, (n, m), 3.0)
    weights, b, a = rbm.weights, rbm.visible_bias, rbm.hidden_bias
    for _ in range(rng.integers(1, 3)):
        strength = rng.uniform(2, 6)
        pocket = strength * rng.choice([-1.0, 1.0], n)
        pocket *= rng.random(n) < rng.uniform(0.5, 1)
        on = enumerated(BernoulliRBM(weights, b + pocket, a))[1]
        share = rng.uniform(0.2, 0.95)
        odds = np.log(share / (1 - share))
        weights = np.column_stack([weights, pocket])
        a = np.append(a, log_z - on + odds)
        log_z += softplus(odds)
    return BernoulliRBM(weights, b, a), float(log_z)


def _sparse(rng):
    n, m = _layers(rng)
    weights = rng.normal(scale=rng.uniform(1, 5), size=(n, m))
    few = np.argsort(rng.random((n, m)), axis=0) < rng.integers(3, 9)
    centred = -0.5 * (weights * few).sum(axis=0) + rng.normal(0, 1, m)
    return enumerated(BernoulliRBM(weights * few, rng.normal(0, 0.5, n), centred))


def _unequal(rng):
    n, m = _layers(rng)
    scales = np.exp(rng.normal(0.5, 1.2, m)).clip(0.05, 15)
    weights = rng.normal(size=(n, m)) * scales / np.sqrt(n)
    return enumerated(BernoulliRBM(weights, rng.normal(0, 0.5, n), rng.normal(0, 1, m)))


def _tall(rng):
    n, m = int(rng.integers(150, 300)), int(rng.integers(6, 12))
    return _random(rng, (n, m), 10.0)


def _of(rng, kinds):
    return _KINDS[str(rng.choice(kinds))](rng)


def _idle(rng):
    rbm, log_z = _of(rng, TOUCHING)
    n, m = rng.integers(1, 40, 2)
    b, a = rng.normal(0, 2, n), rng.normal(0, 2, m)
    alone = BernoulliRBM(np.zeros((n, m)), b, a)
    return union_rbm(rbm, alone), log_z + float(softplus(b).sum() + softplus(a).sum())


def _masked(rng):
    rbm, _ = _of(rng, TOUCHING)
    few = rng.random(rbm.n_visible) < rng.uniform(0.05, 0.4)
    b = np.where(few, rng.choice([-1, 1], few.size) * rng.uniform(15, 60), rbm.visible_bias)
    return enumerated(BernoulliRBM(rbm.weights, b, rbm.hidden_bias, log_scale=rbm.log_scale))


def _trained(rng, rate: float = PCD_RATE, persistent: bool = True):
    """By (persistent) contrastive divergence on prototypes with noise, of unequal frequency."""
    n, m = _layers(rng)
    prototypes = rng.random((rng.integers(2, 9), n)) < rng.uniform(0.2, 0.5)
    shares = rng.dirichlet(np.ones(len(prototypes)))
    noise = rng.uniform(0.01, 0.1)
    w, b, a = rng.normal(0, 0.05, (n, m)), np.zeros(n), np.zeros(m)
    chains = (rng.random((PCD_CHAINS, n)) < 0.5).astype(float)
    for _ in range(PCD_STEPS):
        data = prototypes[rng.choice(len(shares), PCD_CHAINS, p=shares)]
        data = (data ^ (rng.random(data.shape) < noise)).astype(float)
        chains = chains if persistent else data
        hidden = rng.random((PCD_CHAINS, m)) < expit(chains @ w + a)
        chains = (rng.random(chains.shape) < expit(hidden @ w.T + b)).astype(float)
        here, there = expit(data @ w + a), expit(chains @ w + a)
        w += rate * (data.T @ here - chains.T @ there) / PCD_CHAINS
        b += rate * (data - chains).mean(axis=0)
        a += rate * (here - there).mean(axis=0)
    return enumerated(BernoulliRBM(w, b, a))


def _union(rng, kinds=None):
    parts = [_of(rng, kinds or TOUCHING) for _ in range(rng.integers(2, 5))]
    parts = [(rbm.transposed() if rng.random() < 0.5 else rbm, log_z) for rbm, log_z in parts]
    return union_rbm(*(rbm for rbm, _ in parts)), float(sum(log_z for _, log_z in parts))


def _random_field(rng):
    n, m = _layers(rng)
    couplings = np.full((n, m), rng.uniform(1.1, 4) / np.sqrt(n * m))
    fields = rng.uniform(0, 0.5) * rng.normal(size=n), rng.uniform(0, 0.5) * rng.normal(size=m)
    return enumerated(of_spins(couplings, *fields))


def _spikes(rng, number: int, ground: float, shape=None):
    """Hidden units that hold all visible ones in one state each, of a share of Z together.

    Each weighs as much as the ground times its odds, on its own; the sum over all is enumerated.
    """
    n, m = shape or (int(rng.integers(20, 60)), int(rng.integers(4, 8)))
    rbm, log_z = _random(rng, (n, m), ground)
    share = rng.uniform(0.2, 0.95)
    patterns = rng.uniform(6, 12) * rng.choice([-1.0, 1.0], (n, number))
    alone = [
        enumerated(BernoulliRBM(rbm.weights, rbm.visible_bias + p, rbm.hidden_bias))[1]
        for p in patterns.T
    ]
    odds = np.log(rng.dirichlet(np.ones(number)) * share / (1 - share))
    weights = np.column_stack([rbm.weights, patterns])
    a = np.concatenate([rbm.hidden_bias, log_z - np.array(alone) + odds])
    return enumerated(BernoulliRBM(weights, rbm.visible_bias, a))


def _glass(rng):
    shape = int(rng.integers(16, 50)), int(rng.integers(10, 16))
    strength = rng.uniform(0.4, 1.2)
    return _spins(rng, strength * rng.choice([-1.0, 1.0], size=shape), rng.choice([0, 0.1]))


def _wide_modes(rng):
    n, m = int(rng.integers(250, 480)), int(rng.integers(10, 16))
    n_modes = int(rng.integers(2, 5))
    patterns = rng.choice([-1.0, 1.0], size=(n, n_modes))
    shared = rng.choice([-1.0, 1.0], size=(n_modes, m)) * (rng.random((n_modes, m)) < 0.6)
    couplings = patterns @ shared * rng.uniform(1.0, 1.6) / np.sqrt(n * m)
    return _spins(rng, couplings + rng.normal(0, 0.2 / np.sqrt(n), (n, m)), 0.02)


_KINDS = {
    "random": _random,
    "frustrated": _frustrated,
    "ferromagnet": _ferromagnet,
    "hopfield": _hopfield,
    "pocket": _pocket,
    "sparse": _sparse,
    "unequal": _unequal,
    "degenerate": lambda rng: _hopfield(rng, equal=True),
    "tall": _tall,
    "idle": _idle,
    "masked": _masked,
    "trained": _trained,
    "union": _union,
    "union of pockets": lambda rng: _union(rng, ["pocket"]),
    "mean field": mean_field,
    "random field": _random_field,
    "first order": first_order,
    "spike in slab": lambda rng: _spikes(rng, 1, 3.0),
    "golf": lambda rng: _spikes(rng, int(rng.integers(3, 7)), 1.0),
    "glass": _glass,
    "large weights": lambda rng: _trained(rng, rate=1.0, persistent=False),
    "wide modes": _wide_modes,
    "parities": parities,
}
HARD_KINDS = tuple(_KINDS)
TOUCHING = HARD_KINDS[:9]  # those that are one part
