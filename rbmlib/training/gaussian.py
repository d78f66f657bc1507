"""Training models with Gaussian visible units: leaky RBMs and Gaussian-Bernoulli RBMs.

The gradient of the mean log-likelihood is ``E_data[v F'(eta)] - E_model[v F'(eta)]`` for the
weights, with eta = v W + a (`rbmlib.models.gaussian_visible`). Methods differ in the chains of the
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

import json
import os
import time
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from scipy.linalg import solve_triangular
from scipy.special import expit

from .. import __version__
from .._files import checked_target, read_npz, write_npz
from .._kernels import threads
from .._streams import progress_bar
from .._validation import (
    PARAMETERS,
    callback,
    count,
    finite_array,
    generator,
    number,
    one_of,
    seen_by,
)
from ..datasets.images import check_standardised
from ..models import GaussianRBM, LeakyRBM
from ..models.projection import LARGEST, checked_largest, clipping
from ..moves.leaky import KERNELS

METHODS = {"leaky": ("cd", "pcd", "leaky", "mix"), "bernoulli": ("cd", "pcd")}
EXACT = tuple(name for name in KERNELS if name in ("slice", "hmc", "metropolis"))
FAR = 2.0  # a singular value from which the projection is repeated
JITTER = 1e-6  # variance added to fields, if G is about 1: its Cholesky root exists after rounding


class GaussianTrainingResult(NamedTuple):
    """A trained model, what was seen on the way, and how it was made."""

    rbm: LeakyRBM | GaussianRBM
    history: dict[str, np.ndarray]  # "update", "reconstruction_error", "largest_singular_value", …
    settings: dict[str, Any]
    seconds: float


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
    learning_rate: float = 1e-3,
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
) -> GaussianTrainingResult:
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
    n_sweeps : int
        Sweeps an update (the k of CD-k).
    n_updates, batch_size : int
        Mini-batches, drawn epoch by epoch without replacement.
    learning_rate, final_learning_rate : float
        Constant, or falling linearly to the second.
    momentum, weight_decay : float
        Decay acts on the weights, not on the biases.
    start_weights : array (n_visible, n_hidden), optional
        Default: U(0, 0.01), as in the paper; for the leaky RBM they are projected before the
        first update (at 3072 x 500 their largest singular value is 6.2). Biases start at 0.
    rng : int, Generator or None
    monitor_every : int or None
        Updates between two looks at the model; None: ten looks. Each records the mean square
        error of a pixel's reconstruction from the first 1,000 rows, and the largest singular
        value of W.
    monitor : function, optional
        ``monitor(rbm)`` -> dict of numbers, recorded at each look.
    checkpoint : path, optional
        An .npz written at each look. If it is there, training goes on from it, to the same bits
        as without a break, if data and ``start_weights`` are the same, which is not checked; a
        file of other settings (those in the result) is refused.
    n_threads : int
        Of BLAS. With one the same seed gives the same bits on the same machine.

    Returns
    -------
    GaussianTrainingResult

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
    settings = _checked_settings(locals())
    callback("monitor", monitor)
    pixels = np.ascontiguousarray(check_standardised("data", data), np.float32)
    if len(pixels) < settings["batch_size"]:
        raise ValueError(
            f"data has {len(pixels)} rows: expected at least batch_size, which is {batch_size}"
        )
    learner = _Learner(pixels, settings, start_weights, generator(rng))
    every = settings.pop("monitor_every") or max(1, -(-n_updates // 10))
    rates = np.linspace(learning_rate, settings["final_learning_rate"], n_updates)
    store = _Checkpoint(checkpoint, settings)
    started, before = time.perf_counter(), store.load(learner)
    looks = learner.looks or [learner.look(monitor)]
    learner.looks = looks
    with (
        threads.blas_threads(n_threads),
        progress_bar(n_updates, f"{method}-{n_sweeps}", progress) as bar,
    ):
        bar.update(learner.n_done)
        while learner.n_done < n_updates:
            learner.update(rates[learner.n_done])
            bar.update(1)
            if learner.n_done % every == 0 or learner.n_done == n_updates:
                looks.append(learner.look(monitor))
                store.save(learner, before + time.perf_counter() - started)
    history = {name: np.array([look[name] for look in looks]) for name in looks[0]}
    seconds = before + time.perf_counter() - started
    return GaussianTrainingResult(learner.rbm(), history, settings, seconds)


def _checked_settings(arguments: dict) -> dict:
    """The arguments of `train_gaussian`, validated, as they go beside the result."""
    settings = {}
    hidden = one_of("hidden", arguments["hidden"], METHODS)
    for name, words in (
        ("hidden", METHODS),
        ("method", METHODS[hidden]),
        ("kernel", ("gibbs", *EXACT)),
    ):
        settings[name] = one_of(name, arguments[name], words)
    if hidden == "bernoulli" and settings["kernel"] != "gibbs":
        raise ValueError(
            f"kernel is {settings['kernel']!r}: expected 'gibbs', which is exact for Bernoulli "
            "hidden units"
        )
    for name in ("n_hidden", "n_sweeps", "n_updates", "batch_size", "n_threads"):
        settings[name] = count(name, arguments[name])
    every = arguments["monitor_every"]
    settings["monitor_every"] = None if every is None else count("monitor_every", every)
    if arguments["final_learning_rate"] is None:
        arguments["final_learning_rate"] = arguments["learning_rate"]
    for name in ("learning_rate", "final_learning_rate", "momentum", "weight_decay"):
        settings[name] = number(name, arguments[name], "a number of at least 0", least=0)
    if settings["momentum"] >= 1:
        raise ValueError(f"momentum is {settings['momentum']}: expected at least 0 and below 1")
    if hidden == "leaky":
        largest = arguments["largest"]
        settings["largest"] = None if largest is None else checked_largest(largest)
        c = number("leakiness", arguments["leakiness"], "a number in (0, 1]", above=0)
        if c > 1:
            raise ValueError(f"leakiness is {c}: expected a number in (0, 1]")
        settings["leakiness"] = c
    seed = arguments["rng"]
    settings["rng"] = int(seed) if isinstance(seed, (int, np.integer)) else None
    settings["version"] = __version__
    return settings


class _Learner:
    """Parameters and their velocities (float32), the chains, the order of the data."""

    def __init__(self, data, settings: dict, start_weights, rng: np.random.Generator):
        self.data, self.settings, self.rng = data, settings, rng
        shape = data.shape[1], settings["n_hidden"]
        if start_weights is None:
            start_weights = rng.uniform(0, 0.01, shape)
        meaning = f"{shape}, one row a visible unit"
        self.weights = np.array(
            finite_array("start_weights", start_weights, shape, meaning), np.float32
        )
        self.visible_bias = np.zeros(shape[0], np.float32)
        self.hidden_bias = np.zeros(shape[1], np.float32)
        self.velocities = [np.zeros_like(x) for x in self.parameters]
        self.leaky = settings["hidden"] == "leaky"
        self.order = np.empty(0, int)
        self.chains = None
        self.n_done, self.looks = 0, []
        self._project()

    @property
    def parameters(self):
        return self.weights, self.visible_bias, self.hidden_bias

    def _project(self) -> None:
        """Clip the singular values, if that is asked for, and keep W'W."""
        again = True
        while again:
            self._find_gram()
            again = self._clip() > FAR  # from there single precision does not arrive in one step

    def _find_gram(self) -> None:
        with np.errstate(over="ignore", invalid="ignore"):
            self.gram = (self.weights.T @ self.weights).astype(float)
        if not np.isfinite(self.gram).all():
            raise FloatingPointError(
                "training diverged: parameters are no longer finite; lower learning_rate "
                f"(now {self.settings['learning_rate']}) or momentum"
            )

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

    def _next_batch(self) -> np.ndarray:
        size = self.settings["batch_size"]
        if self.order.size < size:
            self.order = self.rng.permutation(len(self.data))
        rows, self.order = self.order[:size], self.order[size:]
        return self.data[rows]

    def update(self, rate: float) -> None:
        batch = self._next_batch()
        settings, size = self.settings, np.float32(len(batch))
        eta = batch @ self.weights + self.hidden_bias
        up = self._mean(eta)
        chains = self._negative(batch, eta)
        down = self._mean(chains @ self.weights + self.hidden_bias)
        gradients = (
            (batch.T @ up - chains.T @ down) / size
            - np.float32(settings["weight_decay"]) * self.weights,
            (batch - chains).mean(axis=0),
            (up - down).mean(axis=0),
        )
        for parameter, velocity, gradient in zip(
            self.parameters, self.velocities, gradients, strict=True
        ):
            velocity *= np.float32(settings["momentum"])
            velocity += np.float32(rate) * gradient
            parameter += velocity
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
        reduction, move = whole.reduced(), KERNELS[self.settings["kernel"]]
        if self.settings["method"] == "leaky":
            pull = (self.visible_bias @ self.weights + self.hidden_bias).astype(float)
            start = whole.sample_visible(self._gaussian_hidden(pull), self.rng)
        u = reduction.coordinates(start)
        for c in self._leakiness():
            u = move(reduction.model, u, c, 1.0, self.rng)
        return reduction.expand(u, self.rng).astype(np.float32)

    # what is seen ------------------------------------------------------------------------------

    def rbm(self) -> LeakyRBM | GaussianRBM:
        if not self.leaky:
            return GaussianRBM(*self.parameters)
        c = self.settings["leakiness"]
        if self.settings["largest"] is not None:
            return LeakyRBM(*self.parameters, leakiness=c)
        empty = LeakyRBM(0 * self.weights, *self.parameters[1:], leakiness=c)
        return empty._with(weights=self.weights.astype(float))  # improper, but it can be looked at

    def look(self, monitor) -> dict[str, float]:
        """What is recorded of the model now."""
        sample = self.data[:1000]
        up = self._mean(sample @ self.weights + self.hidden_bias)
        error = up @ self.weights.T + self.visible_bias - sample
        seen = {
            "update": self.n_done,
            "reconstruction_error": float((error**2).mean()),
            "largest_singular_value": float(np.linalg.eigvalsh(self.gram)[-1] ** 0.5),
        }
        return seen | seen_by(monitor, self.rbm())


class _Checkpoint:
    """The state of a training in one file, for the same data; only the settings are compared."""

    def __init__(self, path, settings: dict):
        if not isinstance(path, (str, os.PathLike, type(None))):
            raise TypeError(f"checkpoint is {path!r}: expected a path to an .npz, or None")
        self.path = None if path is None else Path(path)
        if self.path is not None and self.path.suffix != ".npz":
            raise ValueError(f"checkpoint is {str(path)!r}: expected a path to an .npz")
        if self.path is not None and not self.path.parent.is_dir():
            raise FileNotFoundError(
                f"checkpoint is {str(path)!r}: there is no folder {str(self.path.parent)!r}"
            )
        if self.path is not None:
            checked_target(self.path, "checkpoint")
        self.settings = json.dumps(settings)

    def save(self, learner: _Learner, seconds: float) -> None:
        if self.path is None:
            return
        arrays = dict(zip(PARAMETERS, learner.parameters, strict=True))
        arrays |= {f"velocity_{n}": v for n, v in zip(PARAMETERS, learner.velocities, strict=True)}
        state = {
            "n_done": learner.n_done, "looks": learner.looks, "seconds": seconds,
            "rng": learner.rng.bit_generator.state, "settings": self.settings,
        }  # fmt: skip
        arrays |= {"order": learner.order, "chains": learner.chains, "gram": learner.gram}
        write_npz(self.path, arrays | {"state": json.dumps(state)}, zipfile.ZIP_STORED)

    def load(self, learner: _Learner) -> float:
        """Seconds spent before."""
        if self.path is None or not self.path.is_file():
            return 0.0
        try:
            arrays = read_npz(self.path)
            state = json.loads(str(arrays["state"]))
            same = state["settings"] == self.settings
            if same:
                self._restore(learner, arrays, state)
        except (KeyError, TypeError, ValueError) as error:
            raise ValueError(
                f"checkpoint is {str(self.path)!r}, which is damaged or no checkpoint ({error}): "
                "delete it to start again, or give the path of a new file"
            ) from None
        if not same:
            raise ValueError(
                f"checkpoint {self.path.name} is of a training with other settings: expected "
                "the same ones, or the path of a new file"
            )
        return state["seconds"]

    @staticmethod
    def _restore(learner: _Learner, arrays: dict, state: dict) -> None:
        for name, velocity in zip(PARAMETERS, learner.velocities, strict=True):
            getattr(learner, name)[:] = arrays[name]
            velocity[:] = arrays[f"velocity_{name}"]
        learner.order, learner.chains = arrays["order"], arrays["chains"]
        learner.gram = arrays["gram"]
        learner.rng.bit_generator.state = state["rng"]
        learner.n_done, learner.looks = state["n_done"], state["looks"]
