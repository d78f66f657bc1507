"""Models on which estimates of log Z go wrong without a sign of it, each with its log Z.

A family is a function of a generator, to a model and its log Z: enumerated, summed over counts of
equal units, or the sum of parts that do not touch. `make_bench.FAMILIES` says where the mass lies.
"""

from __future__ import annotations

import numpy as np
from scipy.special import gammaln

from rbmbook.models import of_spins
from rbmlib import RBM, BernoulliRBM, Potts
from rbmlib.numerics import expit, logsumexp, softplus

BLOCK_ROWS = 4096
PCD_STEPS, PCD_CHAINS, PCD_RATE = 1500, 50, 0.05


def disguised_rbm(rbm: BernoulliRBM, rng) -> BernoulliRBM:
    """The same log Z: states of some units exchanged, units in another order, or layers too."""
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


def enumerated(rbm: BernoulliRBM) -> tuple[BernoulliRBM, float]:
    """The model, and the sum over the states of its smaller layer."""
    small = rbm if rbm.n_hidden <= rbm.n_visible else rbm.transposed()
    n = small.n_hidden
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
    return MODELS[str(rng.choice(kinds))](rng)


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


def counted(n: int, m: int, coupling: float, b: float, a: float) -> float:
    """log Z of n x m units of equal weights and biases: a sum over how many of each are on."""
    on, up = np.arange(n + 1)[:, None], np.arange(m + 1)
    ways = log_choose(n)[:, None] + log_choose(m)
    return float(logsumexp((ways + coupling * on * up + b * on + a * up).ravel()))


def log_choose(n: int) -> np.ndarray:
    """Logarithms of the binomial coefficients of n, (n + 1,)."""
    k = np.arange(n + 1)
    return gammaln(n + 1) - gammaln(k + 1) - gammaln(n - k + 1)


def mean_field(rng):
    """Spins of one coupling J and one field: s s' J = (4 v h - 2 v - 2 h + 1) J."""
    n, m = int(rng.integers(40, 600)), int(rng.integers(10, 400))
    coupling = rng.uniform(0.7, 2.5) / np.sqrt(n * m)
    field = rng.choice([0, 1]) * rng.uniform(0, 1.5) / (n + m)
    rbm = of_spins(np.full((n, m), coupling), np.full(n, field), np.full(m, field))
    weight, b, a = rbm.weights[0, 0], rbm.visible_bias[0], rbm.hidden_bias[0]
    return rbm, counted(n, m, weight, b, a) + rbm.log_scale


def first_order(rng):
    """Hidden units of equal weights c: all on at many visible units, all off at few.

    log p*(k visible units on) = log C(n, k) + b k + m softplus(a + c k); their bias a gives the
    states above and below k = -a / c a share of Z, found by bisection.
    """
    n, m = int(rng.integers(60, 300)), int(rng.integers(6, 40))
    weight, b = rng.uniform(2, 5) / m, -rng.uniform(0, 1)
    share, on = rng.uniform(0.1, 0.9), np.arange(n + 1)

    def odds(a):
        logs = log_choose(n) + b * on + m * softplus(a + weight * on)
        above = on > -a / weight
        return logsumexp(logs[above]) - logsumexp(logs[~above])

    low, high = -weight * n * (1 - 1e-9), -1e-9
    for _ in range(60):
        a = (low + high) / 2
        low, high = (a, high) if odds(a) < np.log(share / (1 - share)) else (low, a)
    rbm = BernoulliRBM(np.full((n, m), weight), np.full(n, b), np.full(m, a))
    return rbm, counted(n, m, weight, b, a)


def parities(rng):
    """Planted 5-XORSAT: 16 hidden units a check, one for each pattern of its five units.

    A pattern at distance d is worth softplus(depth - steep d), so that a check, by symmetry, is
    worth one of two values: that of even distances if it is satisfied, else that of odd ones. A
    last hidden unit holds all visible ones in the decoy, with a share of Z. All visible states are
    summed over.
    """
    n = int(rng.integers(16, 21))
    n_checks = round(rng.uniform(1.1, 1.4) * n)
    planted, decoy = rng.integers(0, 2, (2, n))
    depth, strength = rng.uniform(3, 6), rng.uniform(2, 6)
    steep, distance = 2 * depth, np.arange(6)
    worth = np.exp(log_choose(5)).round() * softplus(depth - steep * distance)
    codes, log_p = np.arange(2**n), np.zeros(2**n)
    every = np.arange(32)[:, None] >> np.arange(5) & 1
    weights, a = np.zeros((n, 16 * n_checks + 1)), np.zeros(16 * n_checks + 1)
    for check in range(n_checks):
        units, of = rng.choice(n, 5, replace=False), slice(16 * check, 16 * check + 16)
        parity = planted[units].sum() % 2
        patterns = every[every.sum(axis=1) % 2 == parity]
        weights[units, of] = steep * (2 * patterns.T - 1)
        a[of] = depth - steep * patterns.sum(axis=1)
        satisfied = np.bitwise_count(codes & np.sum(1 << units)) % 2 == parity
        log_p += np.where(satisfied, worth[::2].sum(), worth[1::2].sum())
    weights[:, -1] = strength * (2 * decoy - 1)
    held = log_p + (codes[:, None] >> np.arange(n) & 1) @ weights[:, -1]
    share, log_z = rng.uniform(0.2, 0.8), logsumexp(log_p)
    odds = np.log(share / (1 - share))
    a[-1] = log_z - logsumexp(held) + odds
    return BernoulliRBM(weights, np.zeros(n), a), float(log_z + softplus(odds))


def large_biases(rng):
    """Weak to strong weights, and biases that hold most visible units."""
    n, m = int(rng.integers(20, 80)), int(rng.integers(6, 15))
    weights = rng.normal(scale=rng.uniform(1, 12) / np.sqrt(n), size=(n, m))
    held = rng.choice([-1, 1], n) * rng.uniform(5, 30, n) * (rng.random(n) < 0.8)
    return enumerated(BernoulliRBM(weights, held, rng.normal(0, 3, m)))


def potts(rng):
    """Two layers of sites of q colours, each pair coupled by J if of one colour, near the
    transition: log Z is a sum over how many sites have each colour; colours are shuffled."""
    q, n, m = 3, int(rng.integers(20, 40)), int(rng.integers(10, 25))
    coupling = rng.uniform(0.9, 1.2) * 4 * np.log(q - 1) * (q - 1) / (q - 2) / q / np.sqrt(n * m)
    ways, counts = zip(*(_compositions(k, q) for k in (n, m)), strict=True)
    joint = ways[0][:, None] + ways[1] + coupling * counts[0] @ counts[1].T
    colours = [np.concatenate([np.eye(q)[rng.permutation(q)] for _ in range(k)]) for k in (n, m)]
    layers = [Potts(np.zeros(q * k), q) for k in (n, m)]
    return RBM(*layers, coupling * colours[0] @ colours[1].T), float(logsumexp(joint.ravel()))


def _compositions(n, q):
    """Logarithms of the ways in which n sites have so many of each of 3 colours, and the counts."""
    first, second = np.meshgrid(np.arange(n + 1), np.arange(n + 1), indexing="ij")
    counts = np.stack([first, second, n - first - second], axis=-1).reshape(-1, q)
    counts = counts[(counts >= 0).all(axis=1)]
    return gammaln(n + 1) - gammaln(counts + 1).sum(axis=1), counts


# in the order in which "idle", "masked" and "union" draw from the first nine, which are one part
MODELS = {
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
    "large biases": large_biases,
    "potts": potts,
}
TOUCHING = [*MODELS][:9]
