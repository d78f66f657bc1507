"""Live computations with leaky RBMs: scores, bounds and distances of chains."""

from itertools import groupby, product

import numpy as np
from scipy.sparse.linalg import eigsh

import rbmlib as rl
from rbmlib.models.normal import gaussian_draws

from .. import measured as ms
from ..live import noted_warnings
from ..paths import GaussianBasePath, bracket_log_z
from ..training import annealed_leakiness, train_gaussian


def held_out_log_likelihood(rbm, images, held_out, seed: int) -> dict:
    """Mean log p of held-out images; log Z is by AIS from a Gaussian fitted to chains."""
    (model, span), stream = rbm.reduced(), np.random.default_rng(seed)
    u = span.coordinates(images[:200])
    for _ in range(100):
        u = model.gibbs(u, stream)
    start = GaussianBasePath(rbm, span(u, stream))
    with noted_warnings():
        run = rl.ais(start, rl.schedules.linear(100), 50, seed)
    mean = rbm.log_density(held_out).mean()
    return {"log_likelihood": mean - run.log_z, "std_error": run.std_error, "ess": run.ess}


def trained(pixels, held_out, n_hidden: int, n_updates: int, seed: int, **how):
    """A leaky RBM trained by CD-20, with its held-out log-likelihood at four updates."""
    return train_gaussian(
        pixels, n_hidden, n_updates=n_updates, rng=seed, monitor_every=max(1, n_updates // 4),
        monitor=lambda rbm: held_out_log_likelihood(rbm, pixels, held_out, seed), **how,
    )  # fmt: skip


STEPS = 100, 1000, 3000


def gaps(models: dict[str, rl.LeakyRBM], images, seed: int) -> dict[tuple, ms.Measured]:
    """Mean log-weight of 100 chains with the published move minus the middle of bounds on log Z."""
    paths = {"AIS-Leaky": rl.LeakinessPath, "AIS-Energy": rl.EnergyPath}
    few = {"n_chains": 50, "n_temperatures": 200, "n_leapfrog": 10, "rng": seed}
    found = {}
    with noted_warnings():
        for name, rbm in models.items():
            middle = np.mean([end.mean_log_z for end in bracket_log_z(rbm, images, **few)])
            for (method, path), k in product(paths.items(), STEPS):
                run = rl.ais(path(rbm, kernel="gibbs"), rl.schedules.linear(k), 100, seed)
                gap = ms.measured(run.mean_log_z - middle, run.mean_std_error, 99)
                found[name, method, k] = gap
    return found


def noisy_gaussian(pixels, held_out, n_directions: int = 100) -> tuple[float, ms.Measured]:
    """Probabilistic PCA: the noise, and the log-likelihood of a held-out image."""
    gram, n, rest = (pixels @ pixels.T).astype(float), len(pixels), pixels.shape[1] - n_directions
    squares, axes = eigsh(gram, n_directions, v0=np.ones(n))
    spread, noise = squares / n, (np.trace(gram) - squares.sum()) / n / rest
    u = (held_out @ (pixels.T @ axes / np.sqrt(squares))) ** 2
    far = u @ (1 / spread) + ((held_out**2).sum(axis=1) - u.sum(axis=1)) / noise
    logs = np.log(spread).sum() + rest * np.log(noise) + pixels.shape[1] * np.log(2 * np.pi)
    return np.sqrt(noise), ms.mean_of(-(far + logs) / 2)


SUMMED = 1, 2, 4, 8, 16, 20  # sweeps over which distances are averaged


def distances(rbm, images, n_repeats: int, seed: int, n_sweeps: int = 20) -> dict[str, np.ndarray]:
    """Distances from settled chains of a trained model after ``n_sweeps``, by start.

    Starts are the Gaussian of leakiness 1, N(0, I), and one image, at the model's leakiness ("cd")
    or while it falls from 1 ("mix"). "gaussian, on the way" averages over the sweeps `SUMMED`,
    which end with ``n_sweeps``. "same" is the average distance of two samples of one distribution.
    """
    (model, span), n, c = rbm.reduced(), len(images), rbm.leakiness
    data, zero = (span.coordinates(v) for v in (images.astype(float), np.zeros((1, rbm.n_visible))))
    steady, falling = np.full(n_sweeps, c), annealed_leakiness(c, n_sweeps)
    names = "gaussian", "normal", "cd", "mix"
    found: dict[str, list] = {x: [] for name in names for x in (name, f"{name}, on the way")}
    for i in range(n_repeats):
        rng, one = np.random.default_rng([seed, i]), data[[i % n]].repeat(n, axis=0)
        gaussian = gaussian_draws(model, n, rng), steady
        normal = zero + rng.standard_normal(data.shape), steady
        settled = model.field([*chains(model, data, np.full(60, c), rng)][-1])
        starts = gaussian, normal, (one, steady), (one, falling)
        for name, start in zip(names, starts, strict=True):
            states = enumerate(chains(model, *start, rng), 1)
            far = [mean_distance(model.field(u), settled) for k, u in states if k in SUMMED]
            found[name].append(far[-1])
            found[f"{name}, on the way"].append(np.mean(far))
    same = np.full(n_repeats, np.sqrt(np.pi / n) * np.log(2))
    return {name: np.array(values) for name, values in found.items()} | {"same": same}


def mean_distance(one, other) -> float:
    """Kolmogorov-Smirnov distance of two samples, averaged over columns."""
    order = np.concatenate([one, other]).argsort(axis=0)
    steps = np.where(order < len(one), 1 / len(one), -1 / len(other))
    return float(np.abs(steps.cumsum(axis=0)).max(axis=0).mean())


def growth(rbm, images, seed: int, n_sweeps: int = 60) -> float:
    """Mean size of a visible unit of chains from images after all sweeps, over that after one."""
    (model, span), rng = rbm.reduced(), np.random.default_rng(seed)
    u = [*chains(model, span.coordinates(images), np.full(n_sweeps, rbm.leakiness), rng)]
    first, last = (np.abs(span(x, rng)).mean() for x in (u[0], u[-1]))
    return last / first


def chains(model, u, leakinesses, rng):
    """States of chains from u after each sweep."""
    for c, sweeps in groupby(leakinesses):
        at = model.with_(hidden=model.hidden.with_(below=c))
        for _ in sweeps:
            u = at.gibbs(u, rng)
            yield u
