"""Live experiments on a model of 30 × 12 units and on two Gaussians, of known log Z."""

from __future__ import annotations

from dataclasses import replace
from itertools import islice
from typing import NamedTuple

import numpy as np
from scipy.special import expit, softmax

import rbmlib as rl
from rbmlib.estimators.ti import quadrature
from rbmlib.models.testsystems import GaussianMixture
from rbmlib.results import quietly

from ..testsystems import tempered_log_z
from .estimators import mixed_rts

GROUP = 16  # chains of an estimate


class Small(NamedTuple):
    """A model with its path, the exact log Z along it, and guesses that are not quite right."""

    rbm: rl.RBM
    path: rl.GeometricPath
    betas: np.ndarray
    truth: np.ndarray
    guesses: np.ndarray

    @property
    def where(self) -> tuple:
        return self.path, self.betas, self.guesses

    def shares(self, guesses) -> np.ndarray:
        """The exact q(beta_k) with these guesses (eq. 8)."""
        return softmax(self.truth - guesses)


def small_model(seed: int) -> Small:
    rbm = rl.testsystems.random_rbm(n_visible=30, n_hidden=12, coupling=6.0, rng=seed)
    path, betas = rl.GeometricPath(rbm, base=np.full(30, 0.5)), rl.schedules.linear(19)
    truth = np.array([rl.exact(path.at(beta)).log_z for beta in betas])
    return Small(rbm, path, betas, truth, truth + np.linspace(0, 0.5, 20))


def in_groups(sample, size: int = GROUP) -> list:
    """Samples of so many chains each, which are independent estimates."""
    return [sample.of_chains(slice(i, i + size)) for i in range(0, sample.n_chains, size)]


def three_routes(small: Small, sample) -> tuple[dict[str, float], float]:
    """log Z by eq. (12), and by the maxima of (14) and (18), whose slope at the first is given."""
    rts = rl.rts_of_sample(sample)
    expected = sample.prior * np.exp(rts.log_z_path - sample.log_z_path)
    expected /= expected.sum()
    q = law_of_beta(sample.delta.ravel(), small.betas, rts.log_z_path - np.log(expected))
    derivatives = expected - q.mean(axis=0)
    by_mbar = rl.solve_mbar(sample.delta, expected * sample.delta.size, small.betas).log_z[-1]
    routes = {"RTS, eq. (12)": rts.log_z, "likelihood (14)": float(mixed_rts([sample])[-1])}
    routes["MBAR, expected counts"] = float(by_mbar + small.path.log_z_base)
    return routes, float(np.abs(derivatives).max())


def ends_over_due(small: Small, tilt: float, seed: int, n_chains: int = 8000) -> np.ndarray:
    """Mean q at both ends over what is due with tilted guesses, by blocks of 25 sweeps, chains."""
    guesses = small.truth + tilt * small.betas
    own = small.path, small.betas, guesses, n_chains
    settled = rl.simulated_tempering(*own, 200, seed, n_blocks=1, record_every=200)
    how = {"start": settled, "n_blocks": 16, "record_every": 400}
    sample = rl.simulated_tempering(*own, 400, seed + 1, **how)
    return sample.occupation()[:, :, [0, -1]] / small.shares(guesses)[[0, -1]]


class Biased(NamedTuple):
    """Runs of four chains: their errors, these less what is linear in c, and the formula's bias."""

    errors: np.ndarray
    less_linear: np.ndarray
    predicted: float


def of_four_chains(over_due: np.ndarray, n_sweeps: int) -> Biased:
    x = over_due[: n_sweeps // 25].mean(axis=0).reshape(-1, 4, 2).mean(axis=1)
    errors, linear = np.log(x[:, 1] / x[:, 0]), x[:, 1] - x[:, 0]
    return Biased(errors, errors - linear, (x[:, 0].var(ddof=1) - x[:, 1].var(ddof=1)) / 2)


def relative_ends(c: np.ndarray) -> np.ndarray:
    """What each chain adds to log Z, to first order: c over its mean, at both ends."""
    mean = c.mean(axis=0)
    return c[..., -1] / mean[-1] - c[..., 0] / mean[0]


def variance_by_lags(q: np.ndarray, cut: str) -> float:
    """Variance of a chain's mean by its autocovariances, eqs. (27), (28); ``cut`` ends the sum."""
    x = q - q.mean()
    n = len(x)
    lags = np.correlate(x, x, "full")[n - 1 : n - 1 + n // 2] / n
    if cut != "none" and (lags < 0).any():
        lags = lags[: np.argmax(lags < 0)]
    return (2 * lags.sum() - lags[0]) / n


def two_ways(q: np.ndarray, cuts) -> dict[str, np.ndarray]:
    """Variance of c (n_sweeps, n_chains) by autocorrelations and by the spread, over its own."""
    actual = q.mean(axis=0).var(ddof=1) / GROUP
    groups = [q[:, i : i + GROUP] for i in range(0, q.shape[1], GROUP)]
    spread = [g.mean(axis=0).var(ddof=1) / GROUP for g in groups]
    found = {"spread of chains": np.array(spread) / actual}
    for cut in cuts:
        by_lags = [np.mean([variance_by_lags(chain, cut) for chain in g.T]) / GROUP for g in groups]
        found[cut] = np.array(by_lags) / actual
    return found


def joined_errors(small: Small, first, second) -> np.ndarray:
    """Errors of runs of 20 chains whose halves, maybe of other guesses, are joined by eq. (A)."""
    pairs = zip(in_groups(first, 20), in_groups(second, 20), strict=True)
    return np.array([mixed_rts(pair)[-1] for pair in pairs]) - small.truth[-1]


def largest_curvatures(small: Small, seed: int, n_places: int = 20) -> np.ndarray:
    """The largest eigenvalue of the curvature of that likelihood at random places."""
    tilts = [-small.guesses, -(small.truth + 0.4 * np.sin(np.arange(20)))]
    places = small.truth + np.random.default_rng(seed).normal(0, 1, (n_places, 20))

    def curvature(x):
        return -sum(np.diag(q) - np.outer(q, q) for q in (softmax(x + a) for a in tilts))

    return np.array([np.linalg.eigvalsh(curvature(x)).max() for x in places])


# control variates, in plain NumPy ---------------------------------------------------------------


def _bits(p, rng):
    return (rng.random(p.shape) < p).astype(float)


def law_of_beta(delta, betas, log_z):
    """q(beta_k | x), eq. (7), of states with these slopes."""
    return softmax(delta[..., None] * betas - log_z, axis=-1)


def sweeps_of_rts(rbm, b0, betas, log_z, n_chains, rng):
    """Algorithm 1 without end: beta, h, the chance of v, v, the slope, and q(k | x)."""
    v = _bits(np.tile(expit(b0), (n_chains, 1)), rng)
    k = rng.integers(betas.size, size=n_chains)
    while True:
        beta = betas[k][:, None]
        h = _bits(expit(beta * (v @ rbm.weights + rbm.hidden_bias)), rng)
        p = expit((1 - beta) * b0 + beta * (h @ rbm.weights.T + rbm.visible_bias))
        v = _bits(p, rng)
        on = ((v @ rbm.weights) * h).sum(axis=1)
        delta = v @ (rbm.visible_bias - b0) + h @ rbm.hidden_bias + on
        q = law_of_beta(delta, betas, log_z)
        k = (q.cumsum(axis=1) < rng.random((n_chains, 1))).sum(axis=1)
        yield beta[:, 0], h, p, v, delta, q


def watched_runs(rbm, b0, betas, log_z, n_chains, n_sweeps, seed) -> tuple:
    """Chain means of four control variates, and what each chain adds to log Z.

    U = Delta(v, h) - E[Delta | h, beta] has mean zero whatever the law of (h, beta); the others are
    beta U, U where beta < 1/2, and the units of v that are on, less their mean.
    """
    sweeps = sweeps_of_rts(rbm, b0, betas, log_z, n_chains, np.random.default_rng(seed))
    watched, c = np.zeros((n_chains, 4)), np.zeros((n_chains, betas.size))
    for beta, h, p, v, delta, q in islice(sweeps, n_sweeps):
        field = rbm.visible_bias - b0 + h @ rbm.weights.T
        u = delta - (h @ rbm.hidden_bias + (p * field).sum(axis=1))
        on = (v - p).sum(axis=1)
        watched += np.stack([u, beta * u, u * (beta < 0.5), on], axis=1) / n_sweeps
        c += q / n_sweeps
    return watched, relative_ends(c)


def explained(watched: np.ndarray, added: np.ndarray) -> float:
    """Adjusted share of the variance that a regression on the control variates explains."""
    centred, n = watched - watched.mean(axis=0), len(added)
    about = added - added.mean()
    fit = centred @ np.linalg.lstsq(centred, about, rcond=None)[0]
    return 1 - (1 - fit.var() / added.var()) * (n - 1) / (n - 1 - watched.shape[1])


PRIORS = {
    "uniform": np.ones_like,
    "ends": lambda betas: 1 + np.exp(-betas / 0.1) + np.exp(-(1 - betas) / 0.1),
    "rising": lambda betas: np.exp(2 * betas),
    "falling": lambda betas: np.exp(-2 * betas),
}  # of the temperatures, up to a factor


def prior_errors(small: Small, n_chains: int, seed: int, size: int = 4) -> dict[str, np.ndarray]:
    """Errors of groups of so many chains under each prior, without the first fifth of sweeps."""
    found = {}
    for i, (name, prior) in enumerate(PRIORS.items()):
        own, r = (*small.where, n_chains, 300, seed + i), prior(small.betas)
        sample = rl.simulated_tempering(*own, prior=r, record_every=300)
        c = sample.occupation()[2:].mean(axis=0).reshape(-1, size, r.size).mean(axis=1)
        log_z = small.guesses + np.log(c / sample.prior)
        found[name] = log_z[:, -1] - log_z[:, 0] - (small.truth[-1] - small.truth[0])
    return found


def gradient_spread(seed: int, n_groups: int = 160, n_chains: int = 400) -> dict[str, np.ndarray]:
    """Squared deviations of gradients from exact draws at every beta, 12 × 6, by the prior."""
    rbm, betas = rl.testsystems.random_rbm(12, 6, coupling=3.0, rng=seed + 1), np.linspace(0, 1, 20)
    levels = [rl.GeometricPath(rbm, base=np.zeros(12)).at(beta) for beta in betas]
    log_z = [rl.exact(level).log_z for level in levels]
    rng, found = np.random.default_rng(seed), {}
    for name, r in (("uniform", np.ones(20)), ("exp(2β)", np.exp(2 * betas))):
        counts = rng.multinomial(n_groups * n_chains, r / r.sum())
        drawn = [rl.sample(m, k, rng=rng).states for m, k in zip(levels, counts, strict=True) if k]
        v = rng.permutation(np.concatenate(drawn).astype(float))
        log_p = np.array([m.log_density(v) - z for m, z in zip(levels, log_z, strict=True)])
        q = softmax(np.log(r)[:, None] + log_p, axis=0)[-1].reshape(n_groups, n_chains, 1)
        f = v[:, :, None] * expit(v @ rbm.weights + rbm.hidden_bias)[:, None, :]
        f = f.reshape(n_groups, n_chains, -1)
        gradients = (q * f).sum(axis=1) / q.sum(axis=1)
        found[name] = ((gradients - gradients.mean(axis=0)) ** 2).sum(axis=1)
    return found


def conductance(moves: np.ndarray) -> np.ndarray:
    """At each cut of the ladder: the share of moves across over the time on the lesser side."""
    moves = moves / moves.sum()
    above, under = np.triu(moves, 1), np.tril(moves, -1)
    cuts = range(1, len(moves))
    cross = [(above[:m, m:].sum() + under[m:, :m].sum()) / 2 for m in cuts]
    below = moves.sum(axis=1).cumsum()[:-1]
    return np.array(cross) / np.minimum(below, 1 - below)


def riemann_error(mixture: GaussianMixture, base_variance: float, betas) -> float:
    """Error of TI by rectangles where the mean slopes are exact: differences of log Z."""
    h = 1e-3 * betas + 1e-6
    low, high = (tempered_log_z(mixture, base_variance, b) for b in (betas - h, betas + h))
    return float(quadrature(betas, "riemann") @ ((high - low) / (2 * h)) - mixture.log_z)


def first_blocks(sample: rl.TemperedSample, n_blocks: int) -> rl.TemperedSample:
    """The first blocks of time of tempered states, all of which were kept."""
    kept = int(sample.block_sweeps[:n_blocks].sum())
    return replace(
        sample,
        temperature=sample.temperature[:kept], delta=sample.delta[:kept],
        visited=sample.visited[:n_blocks], mixed=sample.mixed[:n_blocks],
    )  # fmt: skip


def on_fine_ladder(
    path: rl.DensityPath, mixture: GaussianMixture, n_steps: int, n_repeats: int, seed: int
) -> dict[str, np.ndarray]:
    """Errors of RTS and of two rules of TI-RB, from 10,000 states on a ladder of many betas.

    Guesses are exact. Of TI, which counts, hardly a beta has a state: its rules read TI-RB's means.
    """
    betas = rl.schedules.linear(n_steps) ** 2
    guesses = tempered_log_z(mixture, 30.0, betas)
    found: dict[str, list[float]] = {"RTS": [], "TI Riemann": [], "TI trap": []}
    for r in range(n_repeats):
        source = np.random.default_rng([seed, n_steps, r])
        own = path, betas, guesses, 10
        warm = rl.simulated_tempering(*own, 100, source, n_blocks=1, record_every=100)
        how = {"start": warm, "n_blocks": 20, "record_every": 1000}
        sample = rl.simulated_tempering(*own, 1000, source, **how)
        with quietly():  # ten short chains make few round trips
            found["RTS"].append(rl.rts_of_sample(sample).log_z)
            for name, rule in (("TI Riemann", "riemann"), ("TI trap", "trapezoid")):
                found[name].append(rl.ti(sample, rule=rule).log_z)
    return {name: np.array(values) - mixture.log_z for name, values in found.items()}
