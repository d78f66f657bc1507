"""Contrastive divergence (CD-k, Hinton 2002), persistent chains (PCD, Tieleman 2008), and chains
of simulated tempering (Carlson et al. 2016).

The gradient of the mean log-likelihood is ``E_data[v E(h | v)] - E_model[v E(h | v)]`` for the
weights; for a bias, the factor h or v is absent. CD-k starts the chains of the second term at the
mini-batch and moves them by k sweeps; PCD continues the chains of the last update. With
``method="tempered"`` the second term is a mean over the chains of a `LogZTracker`, each weighted by
its probability of beta = 1 (section 4.4). BLAS computes these sums, so their last bits depend on
the processor.

`ContrastiveDivergence` is the NumPy implementation for any two layers. For two layers of bits,
`CompiledDivergence` uses exact sums of integers (`_kernels.learning`): the same seed gives the same
bits on any processor.
"""

from collections.abc import Iterator

import numpy as np

from .._kernels import learning
from .._kernels.layers import Run, read_rows
from ..checks import LARGEST
from ..models.enumeration import exact_log_z, n_states
from ..models.named import BernoulliRBM
from ..models.rbm import RBM
from ..numerics import ChainStream, expit
from .loop import Learner, seen_by
from .tracking import LogZTracker

MAX_EXACT_STATES = 2**20
AN_UPDATE = 1500  # states that are summed in the time of an update, at 784 x 20
SEEN, SUMMED = 1000, 10_000  # rows for the reconstruction error and for exact log-likelihoods


class ContrastiveDivergence(Learner):
    """A learner that steps along the difference of statistics of the data and of the chains."""

    dtype: type = float

    def __init__(
        self, start: RBM, data: np.ndarray, settings: dict, rng: np.random.Generator,
        batches: Iterator[np.ndarray] | None = None, tracker: LogZTracker | None = None,
    ):  # fmt: skip
        super().__init__(data, settings, rng)
        self.model, self.batches, self.tracker = start, batches, tracker
        self.begin(start.weights, start.visible.bias, start.hidden.bias)
        self.prepare()
        self.chains = self.next_batch()

    def prepare(self) -> None:
        self.stream = ChainStream(self.rng, self.settings["batch_size"])

    def update(self, rate: float) -> None:
        model, batch = self.rbm(), self.next_batch()
        chains = batch if self.settings["method"] == "cd" else self.chains
        for _ in range(self.settings["n_sweeps"]):
            chains = model.gibbs(chains, self.stream)
        positive, negative = model.statistics(batch), model.statistics(chains)
        visible, hidden, products = (p - n for p, n in zip(positive, negative, strict=True))
        decay = self.settings["weight_decay"] * self.weights
        self.step(rate, (products - decay, visible, hidden))
        self.chains = chains

    def rbm(self) -> RBM:
        """Return the current model."""
        self.check_finite(*self.parameters, largest=LARGEST)
        visible = self.model.visible.with_(bias=self.visible_bias.copy())
        hidden = self.model.hidden.with_(bias=self.hidden_bias.copy())
        return RBM(visible, hidden, self.weights, log_scale=self.model.log_scale).with_()

    @property
    def apart(self) -> int:
        """The number of updates that take as long as the exact sum of an evaluation, at least 1."""
        states = n_states(self.model.hidden)
        return max(1, int(states) // AN_UPDATE) if states <= MAX_EXACT_STATES else 1

    def look(self, monitor) -> dict[str, float]:
        """Return the reconstruction error, and the exact mean log-likelihood (nats) if feasible."""
        rbm, sample = self.rbm(), self.data[:SEEN].astype(float)
        means = rbm.visible.mean(rbm.visible_field(rbm.hidden.mean(rbm.field(sample))))
        error = float(np.abs(means - sample).sum(axis=1).mean())
        seen = {"update": self.n_done, "reconstruction_error": error}
        if n_states(rbm.hidden) <= MAX_EXACT_STATES:
            rows = self.data[:SUMMED].astype(float)
            seen["log_likelihood"] = float(rbm.log_density(rows).mean() - exact_log_z(rbm))
        return seen | seen_by(monitor, rbm)


class CompiledDivergence(ContrastiveDivergence):
    """Contrastive divergence for two layers of bits, in single precision and on integers.

    Rows and chains are words of bits; each step also updates the integer weights.
    """

    dtype = np.float32

    def prepare(self) -> None:
        # weights that are all zero do not determine the scale of the integers
        likely = self.weights if self.weights.any() else np.full_like(self.weights, 0.01)
        self.integers = learning.integers_of(likely)
        self.seed, self.draw = np.uint64(self.rng.integers(2**64, dtype=np.uint64)), 0
        self.words, self.rounded = read_rows(self.data), False

    def next_batch(self) -> np.ndarray:
        return read_rows(next(self.batches)) if self.batches else self.words[self.next_rows()]

    def update(self, rate: float) -> None:
        phases, sweeps = self.both_phases()
        velocities = learning.Parameters(*self.averages)
        numbers = rate, self.settings["momentum"], self.settings["weight_decay"]
        step = learning.Momentum(*map(np.float32, numbers))
        self.rounded = learning.contrastive_divergence(*phases, velocities, step, sweeps)

    def both_phases(self) -> tuple[tuple, Run]:
        """Return the rows, chains, integers and parameters for the compiled loops, and a `Run`."""
        while not self.rounded:
            self.rounded = learning.requantise(self.weights, self.integers)
            if not self.rounded:
                self.check_finite(*self.parameters, largest=LARGEST)
                self.integers = self.integers._replace(scale=2 * self.integers.scale)
        batch = self.next_batch()
        if self.settings["method"] == "cd":
            self.chains = batch.copy()
        sweeps = Run(self.seed, 0, self.draw, 0, self.settings["n_sweeps"])
        self.draw += 2 * self.settings["n_sweeps"]
        parameters = learning.Parameters(*self.parameters)
        return (batch, self.chains, self.integers, parameters), sweeps

    def rbm(self) -> RBM:
        self.check_finite(*self.parameters, largest=LARGEST)
        return BernoulliRBM(self.weights, self.visible_bias, self.hidden_bias)


class Tempered(CompiledDivergence):
    """Training whose negative phase comes from the chains of a tracker."""

    next_batch = Learner.next_batch  # floats for BLAS
    tracker: LogZTracker

    def __init__(self, *given):
        super().__init__(*given)
        self.tracker.update(self.rbm())

    def update(self, rate: float) -> None:
        batch = self.next_batch()
        means = expit(batch @ self.weights + self.hidden_bias)
        size = np.float32(len(batch))
        positive = batch.T @ means / size, batch.mean(axis=0), means.mean(axis=0)
        negative = self.tracker.negative_phase()
        weights, *biases = (p - n for p, n in zip(positive, negative, strict=True))
        weights -= np.float32(self.settings["weight_decay"]) * self.weights
        self.step(rate, (weights, *biases))
        self.tracker.update(self.rbm())
