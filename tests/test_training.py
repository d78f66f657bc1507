"""Training: updates against plain NumPy with the same draws, batches, rates, and what it is for."""

import hashlib

import numpy as np
import pytest
from helpers_kernels import uniforms
from helpers_models import on_threads
from scipy.special import expit

import rbmlib as rl
from rbmbook.training import rates, sharp  # which registers a method
from rbmlib.training import loop

RNG = np.random.default_rng(4)
DATA = (RNG.random((12, 6)) < [0.9, 0.2, 0.5, 0.7, 0.1, 0.5]).astype(np.uint8)
PATTERNS = np.array([[1, 1, 1, 0, 0, 0], [0, 0, 0, 1, 1, 1], [1, 0, 1, 0, 1, 0]], np.uint8)
DOZEN = np.tile(PATTERNS, (4, 1))


def bernoulli(p, u):
    """The rarer bit lies at u = 0, as in the compiled samplers."""
    return np.where(p > 0.5, 1 - u <= p, u < p).astype(float)


def spectral(square, gradient, rms_decay=0.99):
    """RMSspectral (Carlson et al. 2015) by a full SVD; ``square`` is changed in place."""
    square *= rms_decay
    square += (1 - rms_decay) * gradient**2
    scale = np.sqrt(1e-5 + np.sqrt(square))
    x = gradient / scale
    if x.ndim == 1:
        return np.abs(x).sum() * np.sign(x) / scale
    left, singular, right = np.linalg.svd(x, full_matrices=False)
    return singular.sum() * left @ right / scale


def reference(data, n_hidden, method, n_sweeps, rates, momentum, decay, seed):
    """Contrastive divergence in float64, written from Hinton (2002) and Tieleman (2008)."""
    rng = np.random.default_rng(seed)
    w = rng.normal(scale=0.01, size=(data.shape[1], n_hidden))
    p = (data.mean(axis=0) + 0.05) / 1.1
    b, a = np.log(p / (1 - p)), np.zeros(n_hidden)
    key = rng.integers(2**64, dtype=np.uint64)
    chains = data[rng.permutation(len(data))].astype(float)
    speed = [np.zeros_like(w), np.zeros_like(b), np.zeros_like(a)]
    draw = 0
    for rate in rates:
        v = data[rng.permutation(len(data))].astype(float)
        if method == "cd":
            chains = v
        for _ in range(n_sweeps):
            h_mean = expit(chains @ w + a)
            h = bernoulli(h_mean, uniforms(key, draw, h_mean.shape))
            v_mean = expit(h @ w.T + b)
            chains = bernoulli(v_mean, uniforms(key, draw + 1, v_mean.shape))
            draw += 2
        up, down = expit(v @ w + a), expit(chains @ w + a)
        if method == "spectral":  # which turns rounding of the gradient into whole steps
            up, down = np.rint(up * 2**16) / 2**16, np.rint(down * 2**16) / 2**16
        gradients = [
            (v.T @ up - chains.T @ down) / len(v) - decay * w,
            (v - chains).mean(axis=0),
            (up - down).mean(axis=0),
        ]
        if method == "spectral":
            steps = [rate * spectral(s, g) for s, g in zip(speed, gradients, strict=True)]
            w, b, a = w + steps[0], b + steps[1], a + steps[2]
            continue
        speed = [momentum * s + rate * g for s, g in zip(speed, gradients, strict=True)]
        w, b, a = w + speed[0], b + speed[1], a + speed[2]
    return w, b, a


CASES = [
    ("cd", 1, 1, {}),
    ("cd", 1, 12, {}),
    ("cd", 3, 12, {"momentum": 0.5, "weight_decay": 0.02}),
    ("pcd", 1, 12, {}),
    ("pcd", 1, 12, {"momentum": 0.5}),
    ("pcd", 2, 12, {"weight_decay": 0.02, "learning_rate": np.linspace(2, 0.5, 12)}),
]
RATE = 2.0  # large, so that each update changes the draws of the next


@pytest.mark.parametrize(("method", "n_sweeps", "n_updates", "options"), CASES)
def test_updates_follow_plain_numpy(method, n_sweeps, n_updates, options):
    """Rounding of probabilities moves rate * 2**-16 an update; with momentum, up to four times."""
    rates = np.broadcast_to(options.get("learning_rate", RATE), n_updates)
    momentum, decay = options.get("momentum", 0.0), options.get("weight_decay", 0.0)
    wanted = reference(DOZEN, 3, method, n_sweeps, rates, momentum, decay, seed=2)
    rbm = rl.train(
        DOZEN, 3, method=method, n_sweeps=n_sweeps, n_updates=n_updates, batch_size=12, rng=2,
        **{"learning_rate": RATE} | options,
    ).rbm  # fmt: skip
    tolerance = 4 * n_updates * RATE * 2.0**-16
    for found, right in zip(parameters(rbm), wanted, strict=True):
        np.testing.assert_allclose(found, right, atol=tolerance)


class RareBits(rl.Binary):
    """Binary drawn as the compiled loops draw them."""

    def draw(self, x, rng, n=None):
        return bernoulli(expit(x), rng.random(x.shape)).astype(np.float32)


@pytest.mark.parametrize(("method", "n_sweeps"), [("cd", 2), ("pcd", 1)])
def test_compiled_updates_are_those_of_any_two_layers(method, n_sweeps):
    weights, visible, hidden = (RNG.normal(size=size) / 4 for size in ((6, 3), 6, 3))
    layers = RareBits(visible), RareBits(hidden)
    options = dict(method=method, n_sweeps=n_sweeps, n_updates=6, batch_size=5, learning_rate=RATE,
                   momentum=0.5, weight_decay=0.02, rng=9)  # fmt: skip
    defined = rl.train(DATA, 3, start=rl.RBM(*layers, weights), **options).rbm
    found = rl.train(DATA, 3, start=rl.BernoulliRBM(weights, visible, hidden), **options).rbm
    assert np.abs(defined.weights - weights).max() > 1, "otherwise the test sees nothing"
    tolerance = 4 * 6 * RATE * 2.0**-16
    for one, wanted in zip(parameters(found), parameters(defined), strict=True):
        np.testing.assert_allclose(one, wanted, atol=tolerance)


@pytest.mark.parametrize("weight_decay", [0.0, 0.02])
def test_spectral_updates_follow_plain_numpy(weight_decay):
    rates = np.full(12, 0.02)
    wanted = reference(DOZEN, 3, "spectral", 1, rates, 0.0, weight_decay, 2)
    rbm = rl.train(
        DOZEN, 3, method="spectral", n_updates=12, batch_size=12, learning_rate=0.02,
        weight_decay=weight_decay, rng=2,
    ).rbm  # fmt: skip
    assert np.abs(wanted[0]).max() > 0.5, "otherwise the draws would hardly depend on the steps"
    for found, right in zip(parameters(rbm), wanted, strict=True):
        np.testing.assert_allclose(found, right, atol=0.002)


def test_history_has_the_looks_that_were_asked_for():
    calls = []

    def monitor(rbm):
        calls.append(rbm)
        return {"largest": float(np.abs(rbm.weights).max())}

    result = rl.train(
        DATA, 3, n_updates=25, batch_size=5, rng=0, monitor_every=10, monitor=monitor, n_sweeps=2
    )
    assert result.history["update"].tolist() == [0, 10, 20, 25]
    assert len(calls) == 4
    assert result.history["largest"][-1] == np.abs(result.rbm.weights).max()
    assert all(len(column) == 4 for column in result.history.values())
    error = np.abs(DATA - result.rbm.visible_mean(result.rbm.hidden_mean(DATA))).sum(axis=1).mean()
    assert result.history["reconstruction_error"][-1] == pytest.approx(error)
    likelihood = rl.log_likelihood(result.rbm, DATA, rl.exact(result.rbm)).mean()
    assert result.history["log_likelihood"][-1] == pytest.approx(likelihood, abs=1e-9)
    assert result.settings["n_updates"] == 25
    assert result.settings["rng"] == 0


def test_a_number_that_a_monitor_gives_at_times_is_nan_at_others():
    def monitor(rbm):
        grown = np.abs(rbm.weights).max() > 0.05
        return {"late": 1.0} if grown else {"validation": 2.0}

    looks = {"monitor": monitor, "monitor_every": 10, "patience": 2}
    history = rl.train(DATA, 3, n_updates=300, batch_size=5, rng=0, **looks).history
    n = len(history["update"])
    assert [len(column) for column in history.values()] == [n] * len(history)
    early, late = np.isfinite(history["validation"]), np.isfinite(history["late"])
    assert early[0]
    assert late[-1]
    assert (early != late).all()


def test_batches_go_through_the_data_without_replacement(monkeypatch):
    taken, original = [], loop.Learner.next_rows
    monkeypatch.setattr(loop.Learner, "next_rows", lambda s: taken.append(original(s)) or taken[-1])
    rl.train(np.eye(12, dtype=np.uint8), 2, n_updates=5, batch_size=4, rng=0)
    for epoch in (taken[:3], taken[3:]):
        assert sorted(np.concatenate(epoch)) == list(range(12))


def test_weights_may_outgrow_their_first_grid():
    w, b, a = reference(DOZEN, 2, "cd", 1, [30.0] * 3, 0.0, 0.0, seed=5)
    assert np.abs(w).max() > 5
    rbm = rl.train(DOZEN, 2, method="cd", n_updates=3, learning_rate=30.0, batch_size=12, rng=5).rbm
    for found, wanted in zip(parameters(rbm), (w, b, a), strict=True):
        np.testing.assert_allclose(found, wanted, atol=0.02)


@pytest.mark.parametrize("monitor_every", [1, 50])
def test_divergence_is_an_error_that_names_the_remedy(monitor_every):
    with pytest.raises(FloatingPointError, match="lower learning_rate"):
        rl.train(
            DATA, 3, n_updates=50, batch_size=12, learning_rate=3e38, momentum=0.99, rng=0,
            monitor_every=monitor_every,
        )  # fmt: skip


def test_training_goes_on_from_a_model_without_weights():
    """They say nothing of the scale on which they are to be rounded; tiny ones say too little."""
    trained = []
    for weight in (0.0, 1e-30):
        hidden = np.array([0.4, -0.3, 0.1])
        start = rl.BernoulliRBM(np.full((6, 3), weight), np.zeros(6), hidden)
        result = rl.train(
            DOZEN, start=start, n_hidden=3, n_updates=100, batch_size=12, learning_rate=0.1, rng=5,
        )  # fmt: skip
        trained.append(result.rbm.weights)
    np.testing.assert_allclose(*trained, atol=0.05)  # fields of zero are 0.3 off


DRAWN = np.random.default_rng(8)
ROWS = (DRAWN.random((40, 6)) < [0.9, 0.2, 0.5, 0.7, 0.1, 0.5]).astype(np.uint8)
WEIGHTS, VISIBLE, HIDDEN = (DRAWN.normal(size=size) / 2 for size in ((6, 3), 6, 3))
START = rl.BernoulliRBM(WEIGHTS, VISIBLE, HIDDEN)


def parameters(model):
    return [getattr(model, name) for name in ("weights", "visible_bias", "hidden_bias")]


def same(one, two) -> bool:
    return all(map(np.array_equal, parameters(one.rbm), parameters(two.rbm)))


def trained(data=ROWS, n_hidden=3, start=START, **options):
    options = {"n_updates": 12, "batch_size": 8, "learning_rate": 0.5, "rng": 3} | options
    return rl.train(data, n_hidden, start=start, **options)


@pytest.mark.parametrize("size", [3, 8, 29])
def test_a_stream_of_the_same_rows_trains_to_the_same_bits(monkeypatch, size):
    taken, original = [], loop.Learner.next_rows
    monkeypatch.setattr(loop.Learner, "next_rows", lambda s: taken.append(original(s)) or taken[-1])
    wanted = trained(method="cd")
    rows = ROWS[np.concatenate(taken[1:])].astype(float)  # the first would start persistent chains
    pieces = (rows[i : i + size] for i in range(0, len(rows), size))
    assert same(trained(pieces, method="cd"), wanted)
    assert not same(trained((r for r in rows[::-1]), method="cd"), wanted)


LETTERS = np.eye(4, dtype=np.uint8)[DRAWN.integers(0, 4, (40, 5))].reshape(40, 20)


@pytest.mark.filterwarnings("error")
def test_letters_that_are_trained_as_bits_are_told():
    """One-hot rows of two units or more, not bits that happen to be as many."""
    settings = {"n_hidden": 2, "n_updates": 2, "batch_size": 5, "rng": 0}
    with pytest.warns(UserWarning, match=r"5 groups of 4 with a single 1.*rl\.Potts\(np\.zer.*q=4"):
        rl.train(LETTERS, **settings)
    start = rl.RBM(rl.Potts(np.zeros(20), q=4), rl.Binary(np.zeros(2)), np.zeros((20, 2)))
    moved = LETTERS.copy()
    moved[0, :4] = [1, 1, 0, 0]
    rl.train(LETTERS, **settings, start=start)
    for rows in (LETTERS[:, :19], moved, np.eye(6)):
        rl.train(rows, **settings)


DIGESTS = {  # of an x86-64 with AVX2; `make test-all` runs this without its vector units
    "cd": "f2f011281892cfe2",
    "pcd, momentum, decay": "b088fbae27b235dc",
    "100 rows of 784": "edf130c2b53067dd",
}


@pytest.mark.parametrize("case", DIGESTS)
def test_training_gives_these_bits_on_any_processor_and_threads(case):
    options = {"cd": {"method": "cd", "n_sweeps": 2},
               "pcd, momentum, decay": {"momentum": 0.5, "weight_decay": 0.01}}  # fmt: skip
    size, n_hidden = (784, 70) if case[0] == "1" else (45, 33)
    numbers = np.arange(300 * size, dtype=np.uint64).reshape(300, size)
    data = (numbers * np.uint64(2654435761) % np.uint64(2**32) < 2**30).astype(np.uint8)
    settings = {"batch_size": 100, "n_updates": 40} | options.get(case, {})
    for n_threads in (1, 2):
        rbm = on_threads(n_threads, trained, data, n_hidden, None, **settings).rbm
        found = hashlib.sha256(b"".join(part.astype("<f4").tobytes() for part in parameters(rbm)))
        assert found.hexdigest()[:16] == DIGESTS[case]


@pytest.mark.parametrize("shape", [(7, 4), (4, 7), (5, 5), (6,)])
def test_sharp_is_the_best_step_of_its_length(shape):
    """max <x, s> - |s|**2 / 2 is |x|_dual**2 / 2; the norms are Schatten (or l) infinity and 1."""
    rng = np.random.default_rng(0)
    matrix = len(shape) == 2

    def length(s):
        return np.linalg.norm(s, 2) if matrix else np.abs(s).max()

    def gain(x, s):
        return (x * s).sum() - length(s) ** 2 / 2

    x = rng.normal(size=shape)
    dual = np.linalg.norm(x, "nuc") if matrix else np.abs(x).sum()
    best = sharp(x)
    assert length(best) == pytest.approx(dual)
    assert gain(x, best) == pytest.approx(dual**2 / 2)
    for _ in range(200):
        other = best + rng.normal(size=shape) * 10.0 ** rng.uniform(-3, 1)
        assert gain(x, other) < gain(x, best)


def test_sharp_leaves_directions_without_gradient_alone():
    x = np.outer([1.0, 2.0, 2.0], [3.0, 4.0])  # rank 1, nuclear norm 3 * 5
    np.testing.assert_allclose(sharp(x), x, atol=1e-6)  # 15 times (1, 2, 2)/3 (3, 4)/5
    assert not sharp(np.zeros((3, 2))).any()


def test_rates_rise_to_those_of_the_line():
    assert rates(0.8, 0.2, 4, 0).tolist() == np.linspace(0.8, 0.2, 4).tolist()
    np.testing.assert_allclose(rates(0.8, 0.2, 4, 2), [0.4, 0.6, 0.4, 0.2])
