"""The running log Z of a model while it is trained (Carlson et al. 2016, section 4.4).

Chains of simulated tempering go on from one parameter update to the next. A few sweeps at the
new parameters give new occupations c_k of the betas, and log Z_k moves a part of the way to what
they say (eq. 24). The chains are there already where they also give the negative phase of the
gradient, ``rl.train(..., method="tempered")``; any other training can be followed by chains of
the tracker's own.
"""

import contextlib
import time

import numpy as np

from .. import checks
from ..context import using
from ..models.conversion import as_rbm_of_bits
from ..models.layers import Binary
from ..models.rbm import RBM
from ..numerics import ChainStream, expit, logmeanexp, logsumexp
from ..paths.named import GeometricPath
from ..sampling.anneal import anneal
from ..sampling.sample import TemperedSample
from ..sampling.tempered import simulated_tempering
from ..schedules import linear

START_SWEEPS = 1000  # of the annealing run from the base to the first model
PRIOR_SLOPE = 2.0  # beta has the prior r_k ~ exp(PRIOR_SLOPE * beta_k)
RECENT = 0.05  # weight of the last update in the mean square of lags


class LogZTracker:
    """Running log Z of a model that changes slowly (Carlson et al. 2016, eq. 24).

    Parameters
    ----------
    base : array (n_visible,)
        Visible biases of the base, the same all along: ``rl.base_rate(training_data)``.
    betas : array (K,), optional
        From 0 to 1; 100 equally spaced ones by default.
    n_chains, n_sweeps : int
        Chains, and sweeps of each at every update of the parameters.
    gain : float
        The alpha of eq. (24), in (0, 1]: what share of the way log Z moves at an update. A model
        whose log Z rises by d nats an update is followed with a lag of ``d (1 - gain) / gain``:
        give 1 where a monitor looks once in hundreds of updates.
    rng : int, Generator or None

    Attributes
    ----------
    log_z, std_error : float
        The running estimate for the model of the last `update`, and its standard error: the
        `noise`, and the root mean square of recent lags, in squares. It cannot see what all
        chains have in common: a mode of the model that none of them has found.
    noise : float
        From the spread over chains of their exponentially weighted influences on log Z, in which
        the memory of each chain is counted.
    lag : float
        How far the estimate is behind, judged by the average of recent innovations: to be added.
        It may cross zero while the estimate is off, so that ``std_error`` takes squares instead.
    noise_with_lag : float
        As ``noise``, of ``log_z + lag``: adding the lag costs noise.
    round_trips : ndarray (n_chains,)
        From one end of the ladder to the other and back, of each chain since the start.
    log_z_path : ndarray (K,)
    sample : TemperedSample
        The chains after the last update.
    seconds : dict
        Processor seconds of "start", of "sampling" (the sweeps, which training driven by these
        chains needs anyway) and of "tracking".

    Examples
    --------
    >>> import rbmlib as rl
    >>> data = rl.testsystems.random_rbm(8, 4, rng=0)
    >>> rows = rl.sample(data, 200, rng=1).states
    >>> tracker = rl.LogZTracker(rl.base_rate(rows), rl.schedules.linear(9), n_chains=200, rng=2)
    >>> result = rl.train(rows, 4, method="tempered", tracker=tracker, n_updates=100, rng=3)
    >>> abs(tracker.log_z - rl.exact(result.rbm).log_z) < 4 * tracker.std_error
    True
    """

    def __init__(
        self, base, betas=None, *, n_chains: int = 2000, n_sweeps: int = 25, gain: float = 0.2,
        rng=None,
    ):  # fmt: skip
        self.base = checks.array("base", base, (None,), "(n_visible,), such as rl.base_rate(data)")
        self.betas = linear(99) if betas is None else checks.schedule(betas)
        self.n_chains = checks.count("n_chains", n_chains, 2)
        checks.in_memory("n_chains", self.n_chains, 24 * self.base.size)  # as many hidden units
        self.n_sweeps = checks.count("n_sweeps", n_sweeps)
        self.gain = checks.number("gain", gain, "a number above 0, 1 at most", above=0, most=1)
        self.prior = np.exp(PRIOR_SLOPE * (self.betas - 1))
        self.prior /= self.prior.sum()
        self.rng = checks.generator(rng)
        self.seconds = dict.fromkeys(("start", "sampling", "tracking"), 0.0)
        self.sample: TemperedSample | None = None
        self.rbm: RBM | None = None
        self.n_updates, self.lag, self._squares = 0, 0.0, 0.0
        self.round_trips = np.zeros(self.n_chains)
        self._influences, self._lag_influences = np.zeros((2, self.n_chains))

    # following a model ---------------------------------------------------------------------

    def update(self, rbm: RBM) -> float:
        """Move the chains at ``rbm`` and log Z by eq. (24); returns log Z (nats)."""
        rbm = as_rbm_of_bits("rbm", rbm, "a BernoulliRBM")
        if (n := rbm.n_visible) != self.base.size:
            raise ValueError(f"rbm has {n} visible units: expected {self.base.size} as in base")
        path = GeometricPath(rbm, base=self.base)
        if self.sample is None:
            with self._timed("start"):
                start, index, _ = self._start(path)
        else:
            start, index = self.sample, None  # the chains go on
        with self._timed("sampling"):
            self.sample = simulated_tempering(
                path, self.betas, self.log_z_path, self.n_chains, self.n_sweeps, self.rng,
                prior=self.prior, start=start, index=index, record_every=self.n_sweeps,
                n_blocks=1,
            )  # fmt: skip
        self.rbm = rbm
        self.round_trips += self.sample.round_trips
        with self._timed("tracking"):
            self._track(self.sample.mixed[0, :, 0] / self.n_sweeps)
        return self.log_z

    def _track(self, occupation: np.ndarray) -> None:
        """Eq. (24) from the occupations (n_chains, K) of this update."""
        c = occupation.mean(axis=0)
        innovation = np.log(c) - np.log(self.prior)
        innovation -= innovation[0]
        self.log_z_path = self.sample.log_z_path + self.gain * innovation
        change = occupation[:, -1] / c[-1] - occupation[:, 0] / c[0] - self._influences
        self._influences += self.gain * change
        self._lag_influences += self.gain * ((1 - self.gain) * change - self._lag_influences)
        self.lag += self.gain * ((1 - self.gain) * innovation[-1] - self.lag)
        self.n_updates += 1
        # of an innovation, its noise is the spread of `change`; the rest of its square is lag's
        lag_squared = innovation[-1] ** 2 - change.var(ddof=1) / change.size
        self._squares += max(RECENT, 1 / self.n_updates) * (lag_squared - self._squares)

    @property
    def log_z(self) -> float:
        self._sampled()
        return float(self.log_z_path[-1])

    @property
    def noise(self) -> float:
        return float(self._influences.std(ddof=1) / np.sqrt(self._influences.size))

    @property
    def noise_with_lag(self) -> float:
        influences = self._influences + self._lag_influences
        return float(influences.std(ddof=1) / np.sqrt(influences.size))

    @property
    def std_error(self) -> float:
        self._sampled()
        lag = (1 - self.gain) * np.sqrt(max(self._squares, 0.0))
        return float(np.hypot(self.noise, lag))

    def _start(self, path: GeometricPath) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Anneal to the first model; each chain stops at a beta of its own, in shares of r_k.

        States, indices of betas, and log-weights there.
        """
        ends = np.cumsum(self.prior)
        index = np.searchsorted(ends, (np.arange(self.n_chains) + 0.5) / self.n_chains * ends[-1])
        index = self.rng.permutation(index)
        each = -(-START_SWEEPS // (self.betas.size - 1))
        stream = ChainStream(self.rng, self.n_chains)
        start = path.sample_base(self.n_chains, stream)
        visible, own = start.copy(), np.zeros(self.n_chains)
        self.log_z_path = np.full(self.betas.size, path.log_z_base)

        def look(step, v, log_weights):
            k = step // each
            here = index == k
            visible[here], own[here] = v[here], log_weights[here]
            self.log_z_path[k] += logmeanexp(log_weights)

        k = self.betas.size
        fine = np.interp(np.arange(each * (k - 1) + 1) / each, np.arange(k), self.betas)
        fine[::each] = self.betas
        with using(progress=False):
            _, log_weights = anneal(path, start, fine, stream, range(each, fine.size, each), look)
        self._influences = np.exp(log_weights - logmeanexp(log_weights)) - 1
        return visible, index, own

    # the negative phase --------------------------------------------------------------------

    def conditional(self) -> np.ndarray:
        """q(beta_k | v, h) of the chains where they are (eq. 7): (n_chains, K)."""
        sample = self._sampled()
        logits = sample.delta[-1][:, None] * self.betas + np.log(self.prior) - sample.log_z_path
        return np.exp(logits - logsumexp(logits, axis=1)[:, None])

    def negative_phase(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """E[v h] (n_visible, n_hidden), E[v] and E[h] of the model of the last `update`.

        Over the chains, each with its probability of beta = 1 as weight, and with p(h | v) for h.
        """
        weights = self.conditional()[:, -1]
        visible = np.asarray(self.sample.states, np.float32)
        rbm = self.rbm
        weights = (weights / weights.sum()).astype(np.float32)
        means = expit(visible @ rbm.weights.astype(np.float32) + rbm.hidden_bias.astype(np.float32))
        return (visible * weights[:, None]).T @ means, weights @ visible, weights @ means

    def _sampled(self) -> TemperedSample:
        if self.sample is None:
            raise ValueError("the tracker has no chains yet: call update(rbm) first")
        return self.sample

    # watching a training -------------------------------------------------------------------

    def monitor(self, **data):
        """A ``monitor`` of `train`: log Z, and the mean log-likelihood of each of ``data``.

        ``tracker.monitor(train=x, validation=y)`` gives a function of the model whose results are
        "log_z", "log_z_error", "train" and "validation" (nats). A model at which the chains are
        not yet is first given an `update`: so any training can be followed.
        """
        data = {name: checks.states(name, rows, Binary(self.base)) for name, rows in data.items()}

        def look(rbm: RBM) -> dict[str, float]:
            if self.rbm is None or not _same(self.rbm, rbm):
                self.update(rbm)
            with self._timed("tracking"):
                means = {name: rbm.log_density(rows).mean() for name, rows in data.items()}
            names = ("log_z", "noise", "lag", "noise_with_lag")
            seen = {name: getattr(self, name) for name in names}
            seen |= {"log_z_error": self.std_error, "round_trips": self.round_trips.mean()}
            return seen | {name: float(m) - self.log_z for name, m in means.items()}

        return look

    @contextlib.contextmanager
    def _timed(self, name: str):
        started = time.process_time()
        yield
        self.seconds[name] += time.process_time() - started


def _same(one: RBM, other: RBM) -> bool:
    names = ("weights", "visible_bias", "hidden_bias", "log_scale")
    return all(np.array_equal(getattr(one, n), getattr(other, n)) for n in names)
