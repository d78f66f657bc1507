"""Training models with Gaussian visible units: leaky RBMs and Gaussian-Bernoulli RBMs.

The gradient of the mean log-likelihood is ``E_data[v F'(eta)] - E_model[v F'(eta)]`` for the
weights, with eta = v W + a (`rbmlib.models`). Methods differ in the chains of the
second term, which move n_sweeps times (Li et al. 2016, sections 3.2 and 5):

* "cd" starts them at the mini-batch;
* "pcd" where they ended at the last update;
* "leaky" at exact draws of the model of leakiness 1, a Gaussian, and lowers the leakiness sweep
  by sweep to the model's (Algorithm 2);
* "mix" lowers it likewise, but starts at the mini-batch.

Sweeps cost n_hidden, not n_visible numbers a unit: with v = b + W h + e, e ~ N(0, I), the next
fields are ``eta = G h + W'b + a + W'e``, G = W'W, and W'e ~ N(0, G). Only the last v is drawn as
such. G also tells whether the weights must be projected, and yields the draws of leakiness 1:
there h ~ N((I - G)^-1 (W'b + a), (I - G)^-1). So "leaky" costs hardly more than "cd".
"""

from __future__ import annotations

import os
from collections.abc import Callable

import numpy as np
from scipy.linalg import solve_triangular
from scipy.special import expit

from .. import checks
from ..context import using
from ..datasets.own import check_standardised
from ..models.named import GaussianRBM, LeakyRBM, checked_leakiness
from ..models.normal import LARGEST, checked_largest, clipping
from ..paths.moves import LEAKY
from . import checkpoint as checkpoints
from . import loop
from .loop import Learner, TrainingResult

METHODS = {"leaky": ("cd", "pcd", "leaky", "mix"), "bernoulli": ("cd", "pcd")}
EXACT = ("slice", "hmc", "metropolis")
FAR = 2.0  # a singular value from which the projection is repeated
JITTER = 1e-6  # variance added to fields, if G is about 1: its Cholesky root exists after rounding


def train_gaussian(
    data,
    n_hidden: int,
    *,
    hidden: str = "leaky",
    method: str = "cd",
    kernel: str = "gibbs",
    leakiness: float = 0.01,
    largest: float | None = LARGEST,
    n_sweeps: int = 20,
    n_updates: int = 10_000,
    batch_size: int = 100,
    learning_rate: loop.Rate = 1e-3,
    final_learning_rate: float | None = None,
    momentum: float = 0.9,
    weight_decay: float = 0.0,
    start_weights=None,
    rng=None,
    monitor_every: int | None = None,
    monitor: Callable[[LeakyRBM | GaussianRBM], dict[str, float]] | None = None,
    checkpoint: str | os.PathLike | None = None,
    n_threads: int = 1,
    progress: bool | None = None,
) -> TrainingResult[LeakyRBM | GaussianRBM]:
    """Train a leaky or Gaussian-Bernoulli RBM on standardised real data.

    Parameters
    ----------
    data : array (n_samples, n_visible)
        Of mean about 0 and variance about 1, by `Standardisation`. Computed with in float32.
    n_hidden : int
    hidden : {"leaky", "bernoulli"}
        A `LeakyRBM` or a `GaussianRBM`.
    method : {"cd", "pcd", "leaky", "mix"}
        How negative chains start and are annealed: see the top of this module. Bernoulli hidden
        units have the first two.
    kernel : {"gibbs", "slice", "hmc", "metropolis"}
        Transitions of the leaky RBM: the published ones, which are quick and leave a slightly
        other law invariant, or exact ones, which cost a singular value decomposition an update.
    leakiness : float
        Of the leaky RBM.
    largest : float or None
        After each update the weights of a leaky RBM are projected onto those of singular values
        of at most this. None: never, and then it need not be a probability model.
    n_sweeps, n_updates, batch_size, learning_rate, final_learning_rate, momentum, weight_decay
        As `rbmlib.train`.
    start_weights : array (n_visible, n_hidden), optional
        Default: U(0, 0.01), as in the paper; for the leaky RBM they are projected before the
        first update (at 3072 x 500 their largest singular value is 6.2). Biases start at 0.
    rng : int, Generator or None
    monitor_every, monitor
        As `rbmlib.train`; a look records the mean square error of a pixel's reconstruction from
        the first 1,000 rows, and the largest singular value of W.
    checkpoint : path, optional
        An .npz written at each look. If it is there, training goes on from it, to the same bits
        as without a break, if data and ``start_weights`` are the same, which is not checked; a
        file of other settings (those in the result) is refused.
    n_threads : int
        Of BLAS. With one the same seed gives the same bits on the same machine.

    Returns
    -------
    TrainingResult

    Raises
    ------
    ValueError
        If the data are not standardised, or a setting is wrong.
    FloatingPointError
        If parameters are no longer finite.

    Examples
    --------
    >>> import numpy as np, rbmlib as rl
    >>> latent = np.random.default_rng(0).normal(size=(1000, 1))
    >>> data = rl.Standardisation(latent * [1, 1, 1, -1] + 0.5 * np.sin(9 * latent))(
    ...     latent * [1, 1, 1, -1] + 0.5 * np.sin(9 * latent))
    >>> result = rl.train_gaussian(data, n_hidden=2, n_updates=300, learning_rate=0.01, rng=0)
    >>> error = result.history["reconstruction_error"]
    >>> bool(error[-1] < 0.5 * error[0])
    True
    """
    settings = {
        "hidden": checks.one_of("hidden", hidden, METHODS),
        "method": checks.one_of("method", method, METHODS[hidden]),
        "kernel": checks.one_of("kernel", kernel, ("gibbs", *EXACT)),
    }
    if hidden == "bernoulli" and kernel != "gibbs":
        raise ValueError(
            f"kernel is {kernel!r}: expected 'gibbs', which is exact for Bernoulli hidden units"
        )
    settings |= loop.common_settings(
        rng, learning_rate, final_learning_rate, momentum, weight_decay, n_hidden=n_hidden,
        n_sweeps=n_sweeps, n_updates=n_updates, batch_size=batch_size, n_threads=n_threads,
    )  # fmt: skip
    if hidden == "leaky":
        settings["largest"] = None if largest is None else checked_largest(largest)
        settings["leakiness"] = checked_leakiness(leakiness)
    every = loop.looks_every(monitor_every, settings["n_updates"])
    checks.callback("monitor", monitor)
    pixels = np.ascontiguousarray(check_standardised("data", data), np.float32)
    file = checkpoints.checked(checkpoint)
    learner = _Learner(pixels, settings, start_weights, checks.generator(rng))
    with using(n_threads=n_threads, progress=progress):
        if file is None:
            return loop.run(learner, loop.Looks(learner, monitor), every)
        checkpoints.restore(file, learner)
        looks = loop.Looks(learner, monitor)
        return loop.run(learner, looks, every, lambda: checkpoints.save(file, learner))


class _Learner(Learner):
    """Parameters and their velocities, the chains, and W'W."""

    def __init__(self, data, settings: dict, start_weights, rng: np.random.Generator):
        super().__init__(data, settings, rng)
        shape = data.shape[1], settings["n_hidden"]
        if start_weights is None:
            start_weights = rng.uniform(0, 0.01, shape)
        meaning = f"{shape}, one row a visible unit"
        weights = checks.array("start_weights", start_weights, shape, meaning)
        self.begin(weights, *map(np.zeros, shape))
        self.leaky = settings["hidden"] == "leaky"
        self.chains = None
        self._project()

    def _project(self) -> None:
        """Clip the singular values, if that is asked for, and keep W'W."""
        again = True
        while again:
            self._find_gram()
            again = self._clip() > FAR  # from there single precision does not arrive in one step

    def _find_gram(self) -> None:
        with np.errstate(over="ignore", invalid="ignore"):
            self.gram = (self.weights.T @ self.weights).astype(float)
        self.check_finite(self.gram)

    def _clip(self) -> float:
        """The largest singular value that had to be clipped, or 0."""
        bound = self.settings.get("largest")
        clip = None if bound is None else clipping(self.gram, bound)
        if clip is None:
            return 0.0
        vectors = clip.vectors.astype(np.float32)
        self.weights -= (self.weights @ vectors) * clip.shrink.astype(np.float32) @ vectors.T
        self.gram = clip.gram(self.gram)
        return clip.largest

    def update(self, rate: float) -> None:
        batch = self.next_batch()
        size = np.float32(len(batch))
        eta = batch @ self.weights + self.hidden_bias
        up = self._mean(eta)
        chains = self._negative(batch, eta)
        down = self._mean(chains @ self.weights + self.hidden_bias)
        gradients = (
            (batch.T @ up - chains.T @ down) / size
            - np.float32(self.settings["weight_decay"]) * self.weights,
            (batch - chains).mean(axis=0),
            (up - down).mean(axis=0),
        )
        self.momentum_step(rate, gradients)
        self.n_done += 1
        self._project()

    # the negative chains -----------------------------------------------------------------------

    def _mean(self, eta, c: float | None = None) -> np.ndarray:
        """F'(eta): the mean of h given v."""
        if not self.leaky:
            return expit(eta)
        return np.maximum(eta, np.float32(self.settings["leakiness"] if c is None else c) * eta)

    def _draw_hidden(self, eta, c: float) -> np.ndarray:
        mean = self._mean(eta, c)
        if not self.leaky:
            return (self.rng.random(eta.shape, np.float32) < mean).astype(np.float32)
        spread = np.where(eta > 0, np.float32(1), np.float32(np.sqrt(c)))
        return mean + spread * self._normals(eta.shape)

    def _normals(self, shape) -> np.ndarray:
        return self.rng.standard_normal(shape, np.float32)

    def _leakiness(self) -> np.ndarray:
        """Of each sweep."""
        n, method = self.settings["n_sweeps"], self.settings["method"]
        target = self.settings.get("leakiness", 1.0)
        if method in ("leaky", "mix"):
            return 1 - np.arange(1, n + 1) / n * (1 - target)
        return np.full(n, target)

    def _negative(self, batch, eta) -> np.ndarray:
        """States v of the chains after their sweeps."""
        method = self.settings["method"]
        if method == "pcd":
            if self.chains is None:
                self.chains = batch
            eta = self.chains @ self.weights + self.hidden_bias
        if self.settings["kernel"] != "gibbs":
            self.chains = self._exact_sweeps(self.chains if method == "pcd" else batch)
            return self.chains
        pull = self.visible_bias @ self.weights + self.hidden_bias
        jitter = JITTER * max(1.0, np.linalg.norm(self.gram))
        root = np.linalg.cholesky(self.gram + jitter * np.eye(len(self.gram)))
        mixing = np.concatenate([self.gram, root.T]).astype(np.float32)
        both = np.empty((len(batch), len(mixing)), np.float32)
        hidden, noise = both[:, : len(root)], both[:, len(root) :]
        if method == "leaky":
            hidden[:] = self._gaussian_hidden(pull)
            noise[:] = self._normals(noise.shape)
            eta = both @ mixing + pull
        *first, last = self._leakiness()
        for c in first:
            hidden[:] = self._draw_hidden(eta, c)
            noise[:] = self._normals(noise.shape)
            eta = both @ mixing + pull
        visible = self._draw_hidden(eta, last) @ self.weights.T + self.visible_bias
        self.chains = visible + self._normals(visible.shape)
        return self.chains

    def _gaussian_hidden(self, pull) -> np.ndarray:
        """Exact draws of h at leakiness 1."""
        root = np.linalg.cholesky(np.eye(len(self.gram)) - self.gram)
        half = solve_triangular(root, pull.astype(float), lower=True)
        draws = half[:, None] + self.rng.standard_normal((len(pull), self.settings["batch_size"]))
        return solve_triangular(root, draws, lower=True, trans=1).T

    def _exact_sweeps(self, start) -> np.ndarray:
        whole = self.rbm()
        (model, span), move = whole.reduced(), LEAKY[self.settings["kernel"]]
        if self.settings["method"] == "leaky":
            pull = (self.visible_bias @ self.weights + self.hidden_bias).astype(float)
            hidden = self._gaussian_hidden(pull)
            start = whole.visible.draw(hidden @ whole.weights.T + whole.visible_bias, self.rng)
        u = span.coordinates(start)
        for c in self._leakiness():
            u = move(model.with_leakiness(c), u, self.rng)
        return span(u, self.rng).astype(np.float32)

    # what is seen ------------------------------------------------------------------------------

    def rbm(self) -> LeakyRBM | GaussianRBM:
        if not self.leaky:
            return GaussianRBM(*self.parameters)
        c = self.settings["leakiness"]
        if self.settings["largest"] is not None:
            return LeakyRBM(*self.parameters, leakiness=c)
        empty = LeakyRBM(0 * self.weights, *self.parameters[1:], leakiness=c)
        return empty.with_(weights=self.weights.astype(float))  # improper, but it can be looked at

    def look(self, monitor) -> dict[str, float]:
        sample = self.data[:1000]
        up = self._mean(sample @ self.weights + self.hidden_bias)
        error = up @ self.weights.T + self.visible_bias - sample
        seen = {
            "update": self.n_done,
            "reconstruction_error": float((error**2).mean()),
            "largest_singular_value": float(np.linalg.eigvalsh(self.gram)[-1] ** 0.5),
        }
        return seen | loop.seen_by(monitor, self.rbm())
