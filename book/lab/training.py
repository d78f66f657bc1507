"""Training in addition to `rbmlib.train`: Gaussian visible units and spectral steps.

**Gaussian visible units** of leaky and Gaussian-Bernoulli RBMs.
The gradient of the mean log-likelihood for the weights is
``E_data[v F'(eta)] - E_model[v F'(eta)]``, with eta = v W + a (`rbmlib.models`). Methods differ in
the chains of the second term, which make n_sweeps sweeps (Li et al. 2016, sections 3.2 and 5):

* "cd" starts the chains at the mini-batch, "pcd" where they ended at the last update;
* "leaky" starts them at exact draws of the model of leakiness 1, a Gaussian, and lowers the
  leakiness sweep by sweep to the model's (Algorithm 2); "mix" does so from the mini-batch.

A sweep costs n_hidden instead of n_visible numbers per unit. With v = b + W h + e, e ~ N(0, I), the
next fields are ``eta = G h + W'b + a + W'e``, where G = W'W and W'e ~ N(0, G). Only the last v is
drawn itself. At leakiness 1, h ~ N((I - G)^-1 (W'b + a), (I - G)^-1).

**Spectral steps** (Carlson et al. 2015): importing `rbmbook` adds
``rl.train(..., method="spectral")``, by PCD, and ``method="spectral tempered"``. An upper bound on
log Z is its tangent plus a multiple of the squared Schatten-infinity norm (largest singular value)
of the change of the weights. The best step for this bound is ``rate * X#``, with
``X# = |X|_S1 U V'`` for a gradient ``X = U S V'`` with nuclear norm ``|X|_S1``. For biases, the
norm is the largest entry, and ``x# = |x|_1 sign(x)``. RMSspectral steps by ``(X / d)# / d``, where
``d = sqrt(floor + r)``, entry by entry, and r is a running root-mean-square gradient.

The rate must be much smaller than for gradients (1e-5 to 1e-4). It must rise over the first updates
(`rates`), because r begins at zero and the first steps would be about ten times too long. The last
bits of singular values by LAPACK differ between processors.
"""

import numpy as np
from scipy.linalg import eigh, solve_triangular
from scipy.special import expit

from rbmlib import GaussianRBM, LeakyRBM, checks, using
from rbmlib._kernels import learning, threads
from rbmlib.models.normal import LARGEST
from rbmlib.training import loop
from rbmlib.training.cd import CompiledDivergence, Tempered
from rbmlib.training.train import METHODS

LEAKINESS = 0.01
FAR = 2.0  # singular values above this repeat the projection
JITTER = 1e-6  # variance added to fields, so that the Cholesky root of G (about 1) exists
RMS_DECAY = 0.99  # share of the mean square gradient that a step keeps
RMS_FLOOR = 1e-5  # prevents steps from noise where gradients have always been tiny
RANK = 1e-7  # singular values below this share of the largest are noise and get no step


# Gaussian visible units ---------------------------------------------------------------------


def train_gaussian(
    data, n_hidden: int, *, hidden: str = "leaky", method: str = "cd", n_sweeps: int = 20,
    largest: float = LARGEST, n_updates: int, learning_rate, rng=None,
    monitor_every: int | None = None, monitor=None,
) -> loop.TrainingResult:  # fmt: skip
    """Train a leaky or Gaussian-Bernoulli RBM, with momentum 0.9 and batches of 100.

    ``hidden`` is "leaky", for a `LeakyRBM` of leakiness 0.01, or "bernoulli", for a `GaussianRBM`.
    ``method`` is "cd" or "pcd", or, for leaky hidden units, also "leaky" or "mix". ``largest``
    bounds the singular values of a leaky RBM, whose weights are projected after each update.
    Weights begin at U(0, 0.01), as in the paper. Chains make the published sweeps, whose stationary
    distribution differs slightly from the leaky RBM. An evaluation records the mean squared
    reconstruction error per pixel, and the largest singular value of W.
    """
    settings = {
        "hidden": hidden, "method": method, "n_hidden": n_hidden, "n_sweeps": n_sweeps,
        "n_updates": n_updates, "batch_size": 100, "momentum": 0.9, "learning_rate": learning_rate,
        "rng": checks.seed_of(rng),
    }  # fmt: skip
    if hidden == "leaky":
        settings |= {"largest": largest, "leakiness": LEAKINESS}
    every = loop.looks_every(monitor_every, n_updates)
    pixels = np.ascontiguousarray(data, np.float32)
    source = checks.generator(rng)
    start = source.uniform(0, 0.01, (pixels.shape[1], n_hidden))
    learner = GaussianLearner(pixels, settings, start, source)
    with using(n_threads=1, progress=False):
        return loop.run(learner, loop.Looks(learner, monitor), every)


def annealed_leakiness(leakiness: float, n_sweeps: int) -> np.ndarray:
    """Leakiness of each sweep: the first is below 1, and the last is the model's."""
    return 1 - np.arange(1, n_sweeps + 1) / n_sweeps * (1 - leakiness)


class GaussianLearner(loop.Learner):
    """Parameters with their velocities, the chains, and W'W."""

    def __init__(self, data, settings: dict, start_weights, rng: np.random.Generator):
        super().__init__(data, settings, rng)
        self.begin(start_weights, *map(np.zeros, start_weights.shape))
        self.leaky = settings["hidden"] == "leaky"
        self.chains = None
        self._project()

    def _project(self) -> None:
        """Clip the singular values, if they are bounded, and keep W'W."""
        again = True
        while again:
            with np.errstate(over="ignore", invalid="ignore"):
                self.gram = (self.weights.T @ self.weights).astype(float)
            self.check_finite(self.gram)
            again = self._clip() > FAR  # single precision then needs more than one step

    def _clip(self) -> float:
        """Clip singular values; return the largest clipped one, or 0."""
        if (bound := self.settings.get("largest")) is None:
            return 0.0
        try:
            np.linalg.cholesky(bound**2 * np.eye(len(self.gram)) - self.gram)
            return 0.0
        except np.linalg.LinAlgError:
            squares, right = eigh(self.gram, subset_by_value=(bound**2, np.inf))
        if not squares.size:
            return 0.0
        single, shrink = right.astype(np.float32), (1 - bound / np.sqrt(squares)).astype(np.float32)
        self.weights -= (self.weights @ single) * shrink @ single.T
        self.gram = self.gram - (right * (squares - bound**2)) @ right.T
        return float(np.sqrt(squares.max()))

    def update(self, rate: float) -> None:
        batch = self.next_batch()
        size = np.float32(len(batch))
        eta = batch @ self.weights + self.hidden_bias
        up = self._mean(eta)
        chains = self._negative(batch, eta)
        down = self._mean(chains @ self.weights + self.hidden_bias)
        weights = (batch.T @ up - chains.T @ down) / size
        self.step(rate, (weights, (batch - chains).mean(axis=0), (up - down).mean(axis=0)))
        self._project()

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
        n, method = self.settings["n_sweeps"], self.settings["method"]
        target = self.settings.get("leakiness", 1.0)
        if method in ("leaky", "mix"):
            return annealed_leakiness(target, n)
        return np.full(n, target)

    def _negative(self, batch, eta) -> np.ndarray:
        method = self.settings["method"]
        if method == "pcd":
            if self.chains is None:
                self.chains = batch
            eta = self.chains @ self.weights + self.hidden_bias
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

    def rbm(self) -> LeakyRBM | GaussianRBM:
        if not self.leaky:
            return GaussianRBM(*self.parameters)
        return LeakyRBM(*self.parameters, leakiness=self.settings["leakiness"])

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


# spectral steps -----------------------------------------------------------------------------


def rates(first: float, last: float, n_updates: int, warm_up: int) -> np.ndarray:
    """Rates from first to last, times a factor that rises from 0 to 1 in ``warm_up`` updates."""
    rising = np.minimum(1, np.arange(1, n_updates + 1) / max(1, warm_up))
    return np.linspace(first, last, n_updates) * rising


def step(learner, rate: float, gradients) -> None:
    """Make a step of RMSspectral, with averages of the squared gradients."""
    kept = np.float32(RMS_DECAY)
    for parameter, square, gradient in zip(
        learner.parameters, learner.averages, gradients, strict=True
    ):
        square *= kept
        square += (1 - kept) * gradient**2
        scale = np.sqrt(RMS_FLOOR + np.sqrt(square))
        with threads.blas_threads(1):  # the same bits on any number of threads
            parameter += (rate * sharp(gradient / scale) / scale).astype(np.float32)


class Spectral(CompiledDivergence):
    step = step

    def update(self, rate: float) -> None:
        phases, sweeps = self.both_phases()
        found = learning.both_phases(*phases, sweeps)
        size, n_hidden = np.float32(self.settings["batch_size"]), self.hidden_bias.size
        decay, unit = np.float32(self.settings["weight_decay"]), learning.GRID * size
        active = zip(found.rows, found.n_active, strict=True)
        products = np.stack([found.counts[rows[:n]].sum(axis=0) for rows, n in active])
        weights = products[:, :n_hidden] / unit - decay * self.weights
        self.step(rate, (weights, found.visible / size, found.hidden[:n_hidden] / unit))
        self.rounded = False


class SpectralTempered(Tempered):
    step = step


METHODS |= {"spectral": Spectral, "spectral tempered": SpectralTempered}


def sharp(x: np.ndarray) -> np.ndarray:
    """The step ``x#``, which maximises <x, s> - |s|**2 / 2 over s."""
    x = x.astype(float)
    if x.ndim == 1:
        return np.abs(x).sum() * np.sign(x)
    if x.shape[0] < x.shape[1]:
        return sharp(x.T).T
    squares, right = np.linalg.eigh(x.T @ x)
    singular = np.sqrt(np.maximum(squares, 0))
    kept = singular > RANK * singular[-1]
    right = right[:, kept]
    return singular.sum() * (x @ (right / singular[kept])) @ right.T
