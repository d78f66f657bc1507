"""For each hint at a task of one lesson that asks for a function the one that deserves it."""

import numpy as np
from helpers_hints import LOG_2, lme, lse, soft


def entropies(m):
    return -(m * np.log(m)).sum() - ((1 - m) * np.log(1 - m)).sum()


def energy(v, h, W, b, a):
    return v @ (W @ h + b) + h @ a


def euler(x, p, gradient, eps, n):
    for _ in range(n):
        x, p = x + eps * p, p + eps * gradient(x)
    return x, p


def leapfrog(x, p, gradient, eps, n):
    p = p + eps / 2 * gradient(x)
    for step in range(n):
        x = x + eps * p
        p = p + (eps if step < n - 1 else eps / 2) * gradient(x)
    return x, p


def smoothed(x, share, start):
    kept, found = start, []
    for value in x:
        kept = (1 - share) * kept + share * value
        found.append(kept)
    return found


def cut(grid, height, n):
    """Where equal parts of the area under a line of straight pieces end."""
    area = np.append(0, np.cumsum(np.diff(grid) * (height[:-1] + height[1:]))) / 2
    return np.interp(np.arange(n + 1) / n * area[-1], area, grid)


def length_squared(schedule, grid, g, at=0.5, power=(2, 1)):
    length = np.diff(schedule)
    values = np.interp(schedule[:-1] + at * length, grid, g)
    return length ** power[0] * values ** power[1]


def leaky(n, j, c, s, visible=None, square=None):
    visible = n if visible is None else visible
    square = c * s * s if square is None else square
    halves = 1 / np.sqrt(1 - s * s) + 1 / np.sqrt(1 - square)
    return visible * np.log(2 * np.pi) / 2 + j * np.log(halves / 2)


def leaky_score(v, W, b, c, square=0.5, normal=0.5):
    x = v @ W + b
    slope = np.where(x > 0, 1, c)
    return square * np.einsum("nj,nj->n", slope, x * x) - normal * np.einsum("ni,ni->n", v, v)


def leave(p, q, w):
    """The probability of leaving each state, where w is compared."""
    return np.array([sum(q * np.minimum(1, w / w[i])) for i in range(len(p))])


def share(p):
    return p / p.sum()


def walked(log_p, x, width, rng, u):
    """A step whose chains share one random number."""
    y = x + width * rng.normal(size=len(x))
    return np.where(u < np.exp(log_p(y) - log_p(x)), y, x)


def potts_score(v, W, b, c, own=1.0, half=0.5, constant=1.0):
    x = v @ W + c
    square = half * (x**2).sum(axis=1)
    return own * (v @ b) + square + constant * W.shape[1] / 2 * np.log(2 * np.pi)


def of_letters(v, site, *m):
    """Scores with each of four letters at a site."""
    every = np.repeat(v[None], 4, axis=0)
    every[:, 4 * site : 4 * site + 4] = np.eye(4)
    return potts_score(every, *m)


FUNCTIONS = {
    ("start", "no_weights"): {
        "this is Z": lambda b, a: (1 + np.exp(np.append(b, a))).prod(),
        "the hidden units count": lambda b, a: soft(b).sum(),
        "each unit is 0 or 1": lambda b, a: np.append(b, a).sum(),
        "a hidden unit has a bias": lambda b, a: soft(np.append(b, 0 * a)).sum(),
    },
    ("ais", "jensen_gap"): {
        "the moment generating": lambda variance: variance,
        "the gap grows": lambda variance: variance**0.5 / 2,
        "log Z lies above": lambda variance: -variance / 2,
    },
    ("ais", "from_above"): {
        "this is the published": lme,
        "this is the bound": np.mean,
        "the mean of exp(-R) estimates": lambda r: lme(-r),
        "this is the sum": lambda r: -lse(-r),
    },
    ("varopt", "possible_gain"): {
        "the root is taken": lambda t, g: np.trapezoid(g, t) / np.trapezoid(g**0.5, t),
        "equal steps over": lambda t, g: np.trapezoid(g**0.5, t) ** 2 / np.trapezoid(g, t),
        "this is the best": lambda t, g: np.trapezoid(g**0.5, t) ** 2,
    },
    ("varopt", "equal_areas"): {
        "cut the area": cut,
        "where g is large": lambda t, g, n: cut(t, g**-0.5, n),
        "these are equal": lambda t, g, n: np.arange(n + 1) / n,
    },
    ("varopt", "cost"): {
        "variances grow": lambda s, t, g: length_squared(s, t, g, power=(1, 1)).sum(),
        "g is a variance": lambda s, t, g: length_squared(s, t, g, power=(2, 2)).sum(),
        "take g at the middle": lambda s, t, g: length_squared(s, t, g, at=0).sum(),
        "this is the mean": lambda s, t, g: length_squared(s, t, g).sum() / (len(s) - 1),
    },
    ("rts", "with_prior"): {
        "divide by the share": lambda c, g, r, z: z + g - g[0] + np.log(c * r / (c[0] * r[0])),
        "the prior is not used": lambda c, g, r, z: z + g - g[0] + np.log(c / c[0]),
        "log Z at β = 0": lambda c, g, r, z: g + np.log(c / r),
        "shift to log Z_0": lambda c, g, r, z: g - g[0] + np.log(c / c[0]) - np.log(r / r[0]),
        "the first entry must be log_z_0: guess, share": lambda c, g, r, z: z + g + np.log(c / r),
        "the first entry must be log_z_0: the guess of": lambda c, g, r, z: (
            z + g + np.log(c / c[0]) - np.log(r / r[0])
        ),
        "these are the Z": lambda c, g, r, z: np.exp(z + g - g[0]) * c / r / c[0] * r[0],
    },
    ("rts_continuous", "angle"): {
        "this is the angle": lambda eps: eps,
        "the sine of half": lambda eps: np.arctan(eps / np.sqrt(4 - eps**2)),
        "in radians": lambda eps: np.arccos(1 - eps**2 / 2) * 180 / np.pi,
    },
    ("rts_continuous", "leapfrog"): {
        "this is Euler's": euler,
        "the gradient of log p*": lambda x, p, f, e, n: leapfrog(x, p, lambda y: -f(y), e, n),
        "one step fewer": lambda x, p, f, e, n: leapfrog(x, p, f, e, n - 1),
        "one step more": lambda x, p, f, e, n: leapfrog(x, p, f, e, n + 1),
    },
    ("sams", "forgotten"): {
        "each sweep leaves": lambda c, t: 1 - c * sum(1 / s for s in range(1, t + 1)),
        "sweeps are counted": lambda c, t: np.prod([1 - c / s for s in range(2, t + 2)]),
        "with gains c/s": lambda c, t: np.exp(t * np.log1p(-c / t)),
    },
    ("tap", "two_units"): {
        "the state with both": lambda w, b, a: np.log(np.exp(b) + np.exp(a) + np.exp(a + b + w)),
        "both units on": lambda w, b, a: lse(np.array([0, b, a, w])),
        "this is Z": lambda w, b, a: 1 + np.exp(b) + np.exp(a) + np.exp(a + b + w),
        "without the weight": lambda w, b, a: soft(a) + soft(b),
    },
    ("tap", "lower_bound"): {
        "the entropy raises": lambda v, h, *m: energy(v, h, *m) - entropies(np.append(v, h)),
        "the entropy of the hidden": lambda v, h, *m: energy(v, h, *m) + entropies(v),
        "the entropy is missing": energy,
        "the sign": lambda v, h, *m: -energy(v, h, *m) - entropies(np.append(v, h)),
        "each unit has two": lambda v, h, *m: (
            energy(v, h, *m) - np.log(np.append(v, h) ** np.append(v, h)).sum()
        ),
    },
    ("tap", "second_order"): {
        "the factor 1/2": lambda v, h, W: (np.outer(v * (1 - v), h * (1 - h)) * W**2).sum(),
        "the weights are": lambda v, h, W: (np.outer(v * (1 - v), h * (1 - h)) * W).sum() / 2,
        "the variance of a unit": lambda v, h, W: (np.outer(v, h) * W**2).sum() / 2,
        "it raises": lambda v, h, W: -(np.outer(v * (1 - v), h * (1 - h)) * W**2).sum() / 2,
    },
    ("tracking", "lag"): {
        "the filter sees": lambda rise, gain: rise / gain,
        "a smaller gain": lambda rise, gain: gain * rise,
        "this is what is left": lambda rise, gain: rise - gain * rise,
        "the guess is below": lambda rise, gain: rise - rise / gain,
    },
    ("tracking", "log_ratio"): {
        "this is a lower": lambda m, n, v: np.mean(n.log_density(v)) - m.log_density(v).mean(),
        "new over old": lambda m, n, v: lme(m.log_density(v) - n.log_density(v)),
        "divide by the number": lambda m, n, v: lse(n.log_density(v) - m.log_density(v)),
        "the sign": lambda m, n, v: -lme(n.log_density(v) - m.log_density(v)),
    },
    ("tracking", "follow"): {
        "gain is the share": lambda x, gain: smoothed(x, 1 - gain, x[0]),
        "the new value counts": lambda x, gain: [x[0], *smoothed(x[:-1], gain, x[0])],
        "begin at the first": lambda x, gain: smoothed(x, gain, 0.0),
        "these are the values": lambda x, gain: x,
        "a running mean": lambda x, gain: [x[: i + 1].mean() for i in range(len(x))],
    },
    ("leaky_rbm", "orthogonal"): {
        "this is the printed": lambda n, j, c, s: leaky(n, j, c, s, visible=-n),
        "a visible direction": lambda n, j, c, s: leaky(n, j, c, s, visible=j),
        "each half is half": lambda n, j, c, s: leaky(n, j, c, s) + j * LOG_2,
        "the leakiness multiplies": lambda n, j, c, s: leaky(n, j, c, s, square=(c * s) ** 2),
    },
    ("leaky_rbm", "score"): {
        "a negative field": lambda v, W, b, c: leaky_score(v, W, b, c * c),
        "the biases of the hidden": lambda v, W, b, c: leaky_score(v, W, 0, c),
        "the normal factor": lambda v, W, b, c: leaky_score(v, W, b, c, normal=0),
        "negative fields": lambda v, W, b, c: leaky_score(v, W, b, 0),
        "without leakiness": lambda v, W, b, c: leaky_score(v, W, b, 1),
        "half of the square": lambda v, W, b, c: leaky_score(v, W, b, c, square=1),
    },
    ("leaky_rbm", "project"): {
        "cut each singular": lambda W, s: W * s / np.linalg.norm(W, 2),
        "cut the singular": lambda W, s: np.maximum(np.minimum(W, s), -s),
        "nothing was cut": lambda W, s: W,
        "the columns have": lambda W, s: W / np.maximum(1, np.sqrt((W**2).sum(axis=0)) / s),
    },
    ("proteins", "too_low"): {
        "the bias is half": lambda n, bar: n * bar**2,
        "this is the bias of": lambda n, bar: bar**2 / 2,
        "s² is n": lambda n, bar: n * bar / 2,
    },
    ("proteins", "score"): {
        "the biases of the hidden": lambda v, W, b, c: potts_score(v, W, b, 0 * c),
        "the biases of the letters": lambda v, W, b, c: potts_score(v, W, b, c, own=0),
        "half of the square": lambda v, W, b, c: potts_score(v, W, b, c, half=1),
        "each hidden unit brings": lambda v, W, b, c: potts_score(v, W, b, c, constant=0),
        "these hidden units": lambda v, W, b, c: v @ b + soft(v @ W + c).sum(axis=1),
    },
    ("proteins", "of_one_site"): {
        "probabilities add": lambda v, i, *m: np.exp((s := of_letters(v, i, *m)) - s[0]),
        "this is the logarithm": lambda v, i, *m: (s := of_letters(v, i, *m)) - lse(s),
        "the other sites": lambda v, i, W, b, c: share(np.exp(b[4 * i : 4 * i + 4])),
    },
    ("mcmc_basics", "no_repeat"): {
        "without repeats": lambda p, q: share(p / leave(p, q, p / q)),
        "this is the target": lambda p, q: p,
        "the ratio of proposals": lambda p, q: share(p * leave(p, q, p)),
        "the law must add": lambda p, q: p * leave(p, q, p / q),
        "this is the law": lambda p, q: share(p * q),
    },
    ("mcmc_basics", "step"): {
        "all chains share": lambda log_p, x, width, rng: walked(log_p, x, width, rng, rng.random()),
        "every proposal was": lambda log_p, x, width, rng: walked(log_p, x, width, rng, 0.0),
    },
}
