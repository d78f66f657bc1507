"""A running estimate of log Z during training (Carlson et al. 2016, section 4.4).

Chains of simulated tempering continue from one parameter update to the next. A few sweeps with the
new parameters give new occupations c_k of the betas, and log Z_k moves part of the way to the value
that they imply (eq. 24). With ``rl.train(..., method="tempered")`` the same chains give the
negative phase of the gradient. With other methods, the tracker runs its chains for log Z alone.
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

START_SWEEPS = 1000  # sweeps of the annealing run from the base to the first model
PRIOR_SLOPE = 2.0  # the prior of the betas is r_k ~ exp(PRIOR_SLOPE * beta_k)
RECENT = 0.05  # weight of the last update in the mean square lag


class LogZTracker:
    """Running log Z of a model that changes slowly (Carlson et al. 2016, eq. 24).

    Parameters
    ----------
    base : array (n_visible,)
        Visible biases of the base for all updates, such as ``rl.base_rate(training_data)``.
    betas : array (K,), optional
        Increasing from 0 to 1. By default, 100 equally spaced betas.
    n_chains, n_sweeps : int
        Number of chains, and sweeps of each chain at every update of the parameters.
    gain : float
        The alpha of eq. (24), in (0, 1]: the fraction of the innovation by which log Z moves at
        an update. If log Z rises by d nats at each update, the estimate lags by
        ``d (1 - gain) / gain``. Use 1 if a monitor evaluates the model once in hundreds of updates.
    rng : int, Generator or None

    Attributes
    ----------
    log_z, std_error : float
        The running estimate for the model of the last `update`, and its standard error, which
        combines `noise` and the root mean square of recent lags in quadrature. It does not account
        for modes that no chain has found.
    noise : float
        Standard error from the spread over chains of their exponentially weighted influences on
        log Z. It accounts for the autocorrelation of each chain.
    lag : float
        Estimate of the lag in nats, from the average of recent innovations; ``log_z + lag``
        corrects log Z. The lag may cross zero while the estimate is off, so ``std_error`` uses
        squared lags instead.
    noise_with_lag : float
        Standard error of ``log_z + lag``, which is larger than ``noise``.
    round_trips : ndarray (n_chains,)
        Round trips of each chain between beta = 0 and beta = 1 since the start.
    log_z_path : ndarray (K,)
        Running estimates of log Z at the betas.
    sample : TemperedSample
        The chains after the last update.
    seconds : dict
        Processor seconds for "start", "sampling" (the sweeps, which tempered training needs in any
        case) and "tracking".

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
        checks.in_memory("n_chains", self.n_chains, 24 * self.base.size)  # for n_hidden = n_visible
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

    # tracking a model ----------------------------------------------------------------------

    def update(self, rbm: RBM) -> float:
        """Move the chains for the model ``rbm``, update log Z by eq. (24), and return it (nats)."""
        rbm = as_rbm_of_bits("rbm", rbm, "a BernoulliRBM")
        if (n := rbm.n_visible) != self.base.size:
            raise ValueError(f"rbm has {n} visible units: expected {self.base.size} as in base")
        path = GeometricPath(rbm, base=self.base)
        if self.sample is None:
            with self._timed("start"):
                start, index, _ = self._start(path)
        else:
            start, index = self.sample, None  # continue the chains
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
        """Apply eq. (24) to the occupations (n_chains, K) of this update."""
        c = occupation.mean(axis=0)
        innovation = np.log(c) - np.log(self.prior)
        innovation -= innovation[0]
        self.log_z_path = self.sample.log_z_path + self.gain * innovation
        change = occupation[:, -1] / c[-1] - occupation[:, 0] / c[0] - self._influences
        self._influences += self.gain * change
        self._lag_influences += self.gain * ((1 - self.gain) * change - self._lag_influences)
        self.lag += self.gain * ((1 - self.gain) * innovation[-1] - self.lag)
        self.n_updates += 1
        # the squared innovation less its noise, the spread of `change`, is the squared lag
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
        return float(np.hypot(self.noise, (1 - self.gain) * np.sqrt(max(self._squares, 0.0))))

    def _start(self, path: GeometricPath) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Anneal to the first model; a share r_k of the chains stops at beta_k.

        Returns the states, the indices of their betas, and the log-weights.
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
        """Return q(beta_k | v, h) of the current chains (eq. 7): (n_chains, K)."""
        sample = self._sampled()
        logits = sample.delta[-1][:, None] * self.betas + np.log(self.prior) - sample.log_z_path
        return np.exp(logits - logsumexp(logits, axis=1)[:, None])

    def negative_phase(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return E[v h] (n_visible, n_hidden), E[v] and E[h] of the model of the last `update`.

        These are means over the chains, weighted by their probability of beta = 1, with E(h | v)
        in place of h.
        """
        weights = self.conditional()[:, -1]
        rbm, visible = self.rbm, np.asarray(self.sample.states, np.float32)
        weights = (weights / weights.sum()).astype(np.float32)
        means = expit(visible @ rbm.weights.astype(np.float32) + rbm.hidden_bias.astype(np.float32))
        return (visible * weights[:, None]).T @ means, weights @ visible, weights @ means

    def _sampled(self) -> TemperedSample:
        if self.sample is None:
            raise ValueError("the tracker has no chains yet: call update(rbm) first")
        return self.sample

    # monitoring a training run -------------------------------------------------------------

    def monitor(self, **data):
        """Return a ``monitor`` for `train`: log Z and the mean log-likelihood of each data set.

        ``tracker.monitor(train=x, validation=y)`` returns a function of the model. Its results
        include "log_z", "log_z_error", "train" and "validation" (nats). The function calls `update`
        first if the model has changed, so it serves any training method.
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
