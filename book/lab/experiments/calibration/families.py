"""Families of models with known log Z, on which nothing of the library was tuned.

`FAMILIES` has a function of each, ``(rng, scale=1.0) -> (rbm, log_z)``. log Z in nats is a sum or
an integral written here, free of sampling and of the library's own sums. Sizes and strengths are
drawn over broad ranges, so some models are easy and some may be out of reach; a ``scale`` below 1
shrinks the sizes, for tests. Units stand in random order, and the values of Binary and Spin units
and the colours of Potts units may be renamed (`disguised`). Each function says the kinds of units
(visible x hidden, which may be exchanged), their numbers, and how log Z is known.

In this file a kind of units is `rl.Binary` or `rl.Spin`, a number q for `rl.Potts` of q states, or
another function from biases to a layer of real units.
"""

from __future__ import annotations

from functools import partial

import numpy as np
from scipy.linalg import block_diag
from scipy.special import erfcx, gammaln, log_ndtr, logsumexp

import rbmlib as rl

LOW = {rl.Binary: 0.0, rl.Spin: -1.0}  # the other value is 1
TWO_VALUED, LOG_2PI = list(LOW), np.log(2 * np.pi)

# drawing ------------------------------------------------------------------------------------


def size(rng, low, high, scale=1.0) -> int:
    """An integer from low to high, both shrunk by ``scale``, but 2 at least."""
    return max(2, round(scale * rng.integers(low, high + 1)))


def spread(rng, low, high, n=None):
    """Log-uniform in (low, high)."""
    return np.exp(rng.uniform(np.log(low), np.log(high), n))


def biases(rng, low, high, *sizes):
    """Normal ones of each layer, of a deviation that is log-uniform in (low, high)."""
    deviation = spread(rng, low, high)
    return [deviation * rng.normal(size=n) for n in sizes]


def layer(kind, bias):
    return rl.Potts(bias, kind) if isinstance(kind, int) else kind(bias)


def flipped(rng, kind, w, b, a, log_z):
    """The values of some hidden units exchanged, of none in half of the models."""
    at = (rng.random(len(a)) < rng.choice([0.0, 0.5])) & (kind in LOW)
    if kind is rl.Binary:  # h = 1 - h'
        b, log_z = b + w[:, at].sum(axis=1), log_z - a[at].sum()
    return w * np.where(at, -1, 1), b, a * np.where(at, -1, 1), log_z


def order(rng, kind, n):
    """A random order of units, and of the colours of each; that of real units is kept."""
    if isinstance(kind, int):
        colours = rng.permuted(np.tile(np.arange(kind), (n // kind, 1)), axis=1)
        return (rng.permutation(n // kind)[:, None] * kind + colours).ravel()
    return rng.permutation(n) if kind in LOW else np.arange(n)


def disguised(rng, visible, hidden, w, b, a, log_z):
    """(rbm, log Z) of the same model with its units renamed; if both layers can be counted, they
    may be exchanged."""
    w, b, a, log_z = flipped(rng, hidden, w, b, a, log_z)
    w, a, b, log_z = flipped(rng, visible, w.T, a, b, log_z)
    rows, columns = order(rng, visible, len(b)), order(rng, hidden, len(a))
    rbm = rl.RBM(layer(visible, b[rows]), layer(hidden, a[columns]), w.T[rows][:, columns])
    counted = rbm.visible.values is not None and rbm.hidden.values is not None
    return rbm.transposed() if counted and rng.random() < 0.5 else rbm, float(log_z)


# sums ---------------------------------------------------------------------------------------


def cumulant(kind, x):
    """log of the sum over the states of free units in fields x (..., n): (...)."""
    if kind is rl.Gaussian:
        return (x**2 + LOG_2PI).sum(axis=-1) / 2
    if isinstance(kind, int):
        return logsumexp(x.reshape(*x.shape[:-1], -1, kind), axis=-1).sum(axis=-1)
    return np.logaddexp(LOW[kind] * x, x).sum(axis=-1)


def totals(kind, copies):
    """Sums of groups of so many like units in all combinations (n, n_groups), and of how many
    states each is, in logarithms (n,)."""
    m = np.array(copies)
    on = np.indices(m + 1).reshape(len(m), -1).T
    ways = gammaln(m + 1) - gammaln(on + 1) - gammaln(m - on + 1)
    return LOW[kind] * (m - on) + on, ways.sum(axis=1)


def given(kind, w, b, h, own):
    """log of the sum of exp(own + h W' v + b v) over rows h (n, k) and visible states, for each of
    the biases b (m, n_visible): (m,)."""
    parts = np.array_split(np.c_[own, h], 1 + len(h) * b.size // 2**22)
    sums = [cumulant(kind, b[:, None] + part[:, 1:] @ w.T) + part[:, 0] for part in parts]
    return logsumexp([logsumexp(one, axis=1) for one in sums], axis=0)


def of_blocks(rng, visible, hidden, blocks, hub, n_hubs=1, copies=1):
    """Blocks (w, b, a) side by side, and hidden hubs that see all visible units with Gaussian
    weights, of a deviation between the two of ``hub``.

    Of each hub there are ``copies`` units, which share its weights. Its bias is such that its units
    all on against all off have odds from exp(-9) to exp(6). The hidden units of each block are
    enumerated given the sums of the hubs.
    """
    w, b, a = zip(*blocks, strict=True)
    hubs = spread(rng, *hub) * rng.normal(size=(sum(map(len, b)), n_hubs))
    on, log_p = totals(hidden, [copies] * n_hubs)
    fields = np.concatenate(b) + on @ hubs.T / copies
    ends = np.cumsum([len(field) for field in b])[:-1]
    for one, field, own in zip(w, np.split(fields, ends, axis=1), a, strict=True):
        h, _ = totals(hidden, [1] * len(own))
        log_p = log_p + given(visible, one, field, h, h @ own)
    alone = copies * (copies + 1) ** np.arange(n_hubs)[::-1]
    tilt, width = rng.uniform(-9, 6, n_hubs), copies * (1 - LOW[hidden])
    bias = (log_p[0] - log_p[alone] + tilt) / width
    w = np.c_[block_diag(*w), np.repeat(hubs / copies, copies, axis=1)]
    a, log_z = np.r_[(*a, np.repeat(bias, copies))], logsumexp(log_p + on @ bias)
    return disguised(rng, visible, hidden, w, np.concatenate(b), a, log_z)


def random_blocks(rng, n, rows, columns, coupling, field, q=1, draw=np.random.Generator.normal):
    """Blocks (w, b, a) of so many visible (of q states) and hidden units, of deviations that are
    log-uniform: of weights ``coupling / sqrt(rows)``, of biases ``field``."""
    coupling, field = spread(rng, *coupling), spread(rng, *field)
    shapes = [(rng.integers(*rows), rng.integers(*columns)) for _ in range(n)]
    weights = [coupling / m**0.5 * draw(rng, size=(m * q, k)) for m, k in shapes]
    return [[w, *(field * draw(rng, size=n) for n in w.shape)] for w in weights]


def of_lattice_sums(kind, n, c, b, a, hidden_sum):
    """log Z of weights n c' with integers n (N, d): the visible states are summed over, one unit
    after the other, for each value of sum_i n_i v_i; ``hidden_sum(fields)`` is that of the rest."""
    reach, low = np.abs(n).sum(axis=0), int(LOW[kind])
    log_p, axes = np.full(2 * reach + 1, -np.inf), tuple(range(len(reach)))
    log_p[tuple(reach)] = 0.0
    for step, field in zip(n, b, strict=True):
        one, other = np.roll(log_p, low * step, axes), np.roll(log_p, step, axes)
        log_p = np.logaddexp(one + low * field, other + field)
    reached = np.argwhere(log_p > -np.inf)
    parts = np.array_split(reached, 1 + len(reached) * len(a) // 2**22)
    sums = [log_p[tuple(part.T)] + hidden_sum((part - reach) @ c.T + a) for part in parts]
    return logsumexp(np.concatenate(sums))


def of_sparse(kind, w, b, a, places):
    """log Z by summing over one unit after the other, visible and hidden, in the order of places:
    a table of its neighbours takes the place of each."""
    s, n = np.array([LOW[kind], 1.0]), len(b)
    tables = {(i,): field * s for i, field in enumerate(np.r_[b, a])}
    edges = np.argwhere(w).tolist()
    tables |= {(i, n + j): w[i, j] * np.outer(s, s) for i, j in edges}
    for unit in np.argsort(places).tolist():
        own = [of for of in tables if unit in of]
        scope = sorted({i for of in own for i in of})
        table = sum(tables.pop(of).reshape([1 + (i in of) for i in scope]) for of in own)
        rest = tuple(i for i in scope if i != unit)
        tables[rest] = tables.get(rest, 0) + np.logaddexp.reduce(table, axis=scope.index(unit))
    return tables[()]


# blocks and hubs ----------------------------------------------------------------------------


def spin_glass_blocks(rng, scale=1.0):
    """Spin x Spin, wide: 15-50 blocks of 5-9 hidden units with Gaussian couplings, and one or two
    weak hubs. Blocks are enumerated given the hubs."""
    n = size(rng, 15, 50, scale)
    blocks = random_blocks(rng, n, (5, 17), (5, 10), (0.2, 4), (0.01, 1))
    return of_blocks(rng, rl.Spin, rl.Spin, blocks, (0.02, 1), rng.integers(1, 3))


def frozen_or_free(rng, scale=1.0):
    """Binary or Spin, wide: 10-40 blocks of 3-8, and one to three hubs, or one of 2-40 units, which
    freeze the visible units in a pattern. Blocks are enumerated given how many of these are on."""
    kind, n = rng.choice(TWO_VALUED), size(rng, 10, 40, scale)
    blocks = random_blocks(rng, n, (4, 14), (3, 9), (0.1, 3), (0.01, 1))
    copies = ((1, size(rng, 2, 40, scale)), (2, 1), (3, 1))[rng.integers(3)]
    return of_blocks(rng, kind, kind, blocks, (0.3, 8), *copies)


def heavy_tailed(rng, scale=1.0):
    """Binary or Spin, narrow: 50-300 x 20-40, blocks of 5-9 hidden units, couplings and biases of
    Student's t with 1.2-3 degrees of freedom, and a hub. Blocks are enumerated given the hub."""
    kind, dof, n = rng.choice(TWO_VALUED), rng.uniform(1.2, 3), size(rng, 4, 4, scale)
    rows, draw = (4, 9 if scale < 1 else 75), lambda rng, size: rng.standard_t(dof, size)
    blocks = random_blocks(rng, n, rows, (5, 10), (0.1, 3), (0.05, 2), draw=draw)
    return of_blocks(rng, kind, kind, blocks, (0.01, 1))


def strong_biases(rng, scale=1.0):
    """Binary, wide: 15-50 blocks of 4-8 hidden units, near-frozen by biases of deviation 3-12 and
    couplings of any strength, and a hub. Blocks are enumerated given the hub."""
    n = size(rng, 15, 50, scale)
    blocks = random_blocks(rng, n, (5, 15), (4, 9), (0.3, 30), (3, 12))
    return of_blocks(rng, rl.Binary, rl.Binary, blocks, (0.5, 10))


def potts_blocks(rng, scale=1.0):
    """Potts of 3-6 states x Binary or Spin, narrow: 24-60 sites x 20-40, blocks of 5-9 hidden
    units, and a hub. Blocks are enumerated given the hub."""
    q, kind, n = int(rng.integers(3, 7)), rng.choice(TWO_VALUED), size(rng, 4, 4, scale)
    rows = (1, 4) if scale < 1 else (6, 16)
    blocks = random_blocks(rng, n, rows, (5, 10), (0.2, 5), (0.05, 2), q)
    return of_blocks(rng, q, kind, blocks, (0.05, 2))


def trained_block(rng, kind, scale):
    """(w, b, a) of 10-40 visible units of this kind x 6-10 hidden ones, trained a short or a long
    while on noisy copies of a few random words."""
    n, k = size(rng, 10, 40, scale), size(rng, 6, 10, scale)
    q = kind if isinstance(kind, int) else 2
    words = rng.integers(q, size=(rng.integers(2, 9), n))
    data = words[rng.choice(len(words), 1000, p=rng.dirichlet(np.ones(len(words))))]
    noise = rng.random(data.shape) < rng.uniform(0.02, 0.3)
    data = np.where(noise, rng.integers(q, size=data.shape), data)
    if kind is rl.Gaussian:
        data = spread(rng, 1, 4) * (data - data.mean(axis=0)) + rng.normal(size=data.shape)
    if kind == q:
        data = np.eye(q)[data].reshape(len(data), -1)
    w, n_updates = 0.05 * rng.normal(size=(data.shape[1], k)), round(spread(rng, 100, 3000))
    start = rl.RBM(layer(kind, np.zeros(len(w))), rl.Binary(np.zeros(k)), w)
    options = {"learning_rate": spread(rng, 0.005, 0.05), "monitor_every": n_updates}
    rbm = rl.train(data, k, start=start, n_updates=n_updates, rng=rng, **options).rbm
    return [np.float64(x) for x in (rbm.weights, rbm.visible_bias, rbm.hidden_bias)]


def trained(rng, scale=1.0):
    """Binary, Gaussian or Potts of 3-5 states x Binary, narrow: one to four trained models of 10-40
    x 6-10 units side by side, and a hub. Trained models are enumerated given the hub."""
    kind = (rl.Binary, rl.Gaussian, int(rng.integers(3, 6)))[rng.integers(3)]
    blocks = [trained_block(rng, kind, scale) for _ in range(rng.integers(1, 5))]
    return of_blocks(rng, kind, rl.Binary, blocks, (0.1, 1))


# few different columns, or low rank ---------------------------------------------------------


def copied_columns(rng, scale=1.0):
    """Binary or Spin, narrow or wide: 50-400 x 18-216, dense Gaussian columns of which three, six
    or nine differ. The sum is over how many units of each column are on."""
    kind, n = rng.choice(TWO_VALUED), size(rng, 50, 400, scale)
    k, most = ((3, 72), (3, 24), (6, 7), (9, 3))[rng.integers(4)]
    copies = [size(rng, most // 2 + 1, most, scale) for _ in range(k)]
    w = spread(rng, 0.1, 4) * rng.normal(size=(n, k)) / np.sqrt(n * np.array(copies))
    b, a = biases(rng, 0.01, 1, n, k)
    on, ways = totals(kind, copies)
    log_z = given(kind, w, b[None], on, on @ a + ways)[0]
    return disguised(rng, kind, kind, np.repeat(w, copies, axis=1), b, np.repeat(a, copies), log_z)


def ferromagnet(rng, scale=1.0):
    """Binary or Spin, wide: 100-400 x 60-400, weights n_i c_j of unequal integers n_i and unequal
    c_j, weak to strong, and random fields. The sum is over sum_i n_i v_i."""
    kind, n, m = rng.choice(TWO_VALUED), size(rng, 100, 400, scale), size(rng, 60, 400, scale)
    steps = np.minimum(rng.zipf(rng.uniform(1.7, 4), (n, 1)), 8)
    c, (b, a) = spread(rng, 0.3, 3, (m, 1)), biases(rng, 1e-3, 1, n, m)
    c *= spread(rng, 0.1, 4) / (np.linalg.norm(steps) * np.linalg.norm(c))
    if kind is rl.Binary:  # the same couplings as of spins
        c *= 4
        b, a = b - (steps @ c.T).sum(axis=1) / 2, a - (steps @ c.T).sum(axis=0) / 2
    log_z = of_lattice_sums(kind, steps, c, b, a, partial(cumulant, kind))
    return disguised(rng, kind, kind, steps @ c.T, b, a, log_z)


def two_patterns(rng, scale=1.0):
    """Binary or Spin, wide: 50-120 x 40-200, weights of rank two, small integers or signs times
    Gaussian rows. The sum is over the two sums of the integers."""
    kind, n, m = rng.choice(TWO_VALUED), size(rng, 50, 120, scale), size(rng, 40, 200, scale)
    steps = rng.choice(([-1, 1], [-2, -1, 0, 1, 2])[rng.integers(2)], (n, 2))
    c, (b, a) = rng.normal(size=(m, 2)) * spread(rng, 0.3, 1, 2), biases(rng, 1e-2, 1, n, m)
    c *= spread(rng, 0.2, 8) / np.sqrt(n * m)
    log_z = of_lattice_sums(kind, steps, c, b, a, partial(cumulant, kind))
    return disguised(rng, kind, kind, steps @ c.T, b, a, log_z)


def potts_ferromagnet(rng, scale=1.0):
    """Potts x Potts of 3 or 4 states, narrow or wide: 30-100 (45 of 4 states) x 20-80 sites,
    unequal couplings of like colours. The sum is over the numbers of visible sites of each."""
    q = int(rng.integers(3, 5))
    n, m = size(rng, 30, 100 if q == 3 else 45, scale), size(rng, 20, 80, scale)
    coupling = spread(rng, 0.4, 3, m) * q * spread(rng, 0.3, 2.5) / np.sqrt(n * m)
    b, a = biases(rng, 1e-3, 0.3, q, m * q)
    counts = np.indices((n + 1,) * (q - 1)).reshape(q - 1, -1).T
    counts = np.c_[counts, n - counts.sum(axis=1)]
    counts = counts[counts[:, -1] >= 0]
    log_p = gammaln(n + 1) - gammaln(counts + 1).sum(axis=1) + counts @ b
    w = np.kron(coupling, np.eye(q))
    log_p += sum(cumulant(q, counts @ w[:, j : j + q] + a[j : j + q]) for j in range(0, m * q, q))
    return disguised(rng, q, q, np.tile(w, (n, 1)), np.tile(b, n), a, logsumexp(log_p))


# sparse -------------------------------------------------------------------------------------


def receptive_fields(rng, scale=1.0):
    """Binary or Spin, wide: 60-300 visible units in a row, a hidden unit at each window of 3-7,
    with a filter that varies more or less by place. Units are summed over one by one."""
    kind, k = rng.choice(TWO_VALUED), int(rng.integers(3, 8 if scale == 1 else 5))
    m, variation = size(rng, 60, 300, scale), rng.uniform(0, 1)
    filters = rng.normal(size=k) + variation * rng.normal(size=(m, k))
    filters *= spread(rng, 0.2, 5) / np.sqrt(k)
    w, (b, a) = np.zeros((m + k - 1, m)), biases(rng, 0.01, 2, m + k - 1, m)
    for j in range(m):
        w[j : j + k, j] = filters[j]
    log_z = of_sparse(kind, w, b, a, np.r_[0 : len(b), 0:m])
    return disguised(rng, kind, kind, w, b, a, log_z)


def lattice_strip(rng, scale=1.0):
    """Spin x Spin, narrow or wide: Ising model on 3-6 x 10-100 sites of a square lattice, weak to
    strong, ferromagnetic, of random signs or Gaussian. Units are summed over one by one."""
    n, m = (rng.integers(3, 7), size(rng, 10, 100)) if scale == 1 else (rng.integers(2, 4), 5)
    x = np.indices((m, n)).reshape(2, -1).T
    even, joined = x.sum(axis=1) % 2 == 0, np.abs(x[:, None] - x).sum(axis=2) == 1
    draws = np.ones(joined.shape), rng.choice([-1, 1], joined.shape), rng.normal(size=joined.shape)
    w = (joined * draws[rng.integers(3)] * spread(rng, 0.1, 1.5))[even][:, ~even]
    b, a = biases(rng, 1e-3, 0.5, *w.shape)
    log_z = of_sparse(rl.Spin, w, b, a, np.r_[np.flatnonzero(even), np.flatnonzero(~even)])
    return disguised(rng, rl.Spin, rl.Spin, w, b, a, log_z)


def sparse_graph(rng, scale=1.0):
    """Binary or Spin, wide: a random tree of 100-500 units, up to eight more edges, couplings of
    Student's t, and a hidden hub that sees all visible units. Units are summed over given it."""
    kind, n = rng.choice(TWO_VALUED), size(rng, 50, 250, scale)
    strength, more = spread(rng, 0.3, 4), rng.integers(n, size=(rng.integers(0, 9), 2))
    earlier = np.maximum(0, np.arange(n) - rng.integers(1, 20, n))
    pairs = rng.permuted(np.c_[np.arange(n), earlier], axis=1)[1:]  # of which one is visible
    edges, w = np.r_[np.tile(np.arange(n), (2, 1)).T, pairs, more].T, np.zeros((n, n))
    w[tuple(edges)] = strength * rng.standard_t(rng.uniform(1.5, 10), edges.shape[1])
    hub, (b, a) = spread(rng, 0.05, 3) * rng.normal(size=n), biases(rng, 0.01, 2, n, n + 1)
    fields, own = (np.outer([LOW[kind], 1], x) for x in (hub, a[-1:]))
    places = np.tile(-np.arange(n), 2)
    log_p = [of_sparse(kind, w, b + field, a[:-1], places) for field in fields]
    return disguised(rng, kind, kind, np.c_[w, hub], b, a, logsumexp(log_p + own[:, 0]))


# real units ---------------------------------------------------------------------------------


def unequal(rng, size):
    return spread(rng, 0.3, 3) * rng.normal(size=size)


def gaussian_blocks(rng, scale=1.0):
    """Gaussian x Binary or Spin, narrow or wide: 20-500 x 20-400, 4-50 blocks of 5-8 hidden units.

    Blocks have scales and subspaces of their own, and a direction that all see; further directions
    are free, and all are rotated. Given the place z along the shared direction, over which is a
    quadrature, blocks are enumerated. The density of z is a sum of terms exp(k z - z^2 / 2): the
    trapezoidal rule of step d has a relative error of 2 exp(-2 pi^2 / d^2).
    """
    kind, n, step = rng.choice(TWO_VALUED), max(2, round(scale * spread(rng, 4, 50))), 0.5
    blocks = random_blocks(rng, n, (2, 6), (5, 9), (0.2, 3), (0.05, 1), 1, unequal)
    shared = spread(rng, 0.02, 1.5) / np.sqrt(6 * n)
    c = [shared * rng.normal(size=len(a)) for *_, a in blocks]
    reach = np.abs(np.concatenate(c)).sum() + 9
    z = np.arange(-reach, reach, step)
    log_p = np.log(step) - z**2 / 2
    for (w, b, a), own in zip(blocks, c, strict=True):
        if kind is rl.Binary:  # about as often on as off
            a -= w.T @ (b + w.sum(axis=1) / 2)
        h, _ = totals(kind, [1] * len(a))
        rest = cumulant(rl.Gaussian, b + h @ w.T) + h @ a
        log_p += logsumexp(np.outer(z, h @ own) + rest, axis=1)
    w, b, a = zip(*blocks, strict=True)
    w, b = np.vstack([block_diag(*w), np.concatenate(c)]), np.r_[(*b, 0)]
    extra = size(rng, 2, 280, scale)
    turn = np.linalg.qr(rng.normal(size=(len(b) + extra, len(b))))[0]
    log_z = logsumexp(log_p) + extra / 2 * LOG_2PI
    return disguised(rng, rl.Gaussian, kind, turn @ w, turn @ b, np.concatenate(a), log_z)


def rectified_sum(units, x):
    """log of the integrals over DoubleReLU units, in fields x (n, m): (n,); ``units`` (4, m) are
    a_plus, a_minus, theta_plus and theta_minus."""
    sd = units[:2, None] ** -0.5
    z = sd * (np.stack([x, -x]) - units[2:, None])
    low = np.log(erfcx(np.maximum(-z, 0) / np.sqrt(2)) / 2)
    sides = np.where(z < 0, low, log_ndtr(z) + z**2 / 2) + np.log(sd) + LOG_2PI / 2
    return np.logaddexp(*sides).sum(axis=1)


def rectified_counts(rng, scale=1.0):
    """Binary or Spin x DoubleReLU, narrow or wide: 60-300 x 20-200, weights n_i c_j with integers
    n_i of both signs. The sum is over sum_i n_i v_i."""
    kind, n, m = rng.choice(TWO_VALUED), size(rng, 60, 300, scale), size(rng, 20, 200, scale)
    units = np.r_[spread(rng, 0.5, 20, (2, m)), spread(rng, 0.1, 2) * rng.normal(size=(2, m))]
    steps = rng.choice([-3, -2, -1, 1, 1, 2], (n, 1))
    c = rng.normal(size=(m, 1)) * np.sqrt(units[:2].min(axis=0))[:, None]
    c *= spread(rng, 0.1, 3) / (np.linalg.norm(steps) * np.linalg.norm(c))
    b, a = biases(rng, 0.01, 1, n, m)
    log_z = of_lattice_sums(kind, steps, c, b, a, partial(rectified_sum, units))
    return disguised(rng, kind, lambda x: rl.DoubleReLU(x, *units), steps @ c.T, b, a, log_z)


_ALL = (
    spin_glass_blocks, frozen_or_free, heavy_tailed, strong_biases, potts_blocks, trained,
    copied_columns, ferromagnet, two_patterns, potts_ferromagnet, receptive_fields, lattice_strip,
    sparse_graph, gaussian_blocks, rectified_counts,
)  # fmt: skip
FAMILIES = {family.__name__: family for family in _ALL}
