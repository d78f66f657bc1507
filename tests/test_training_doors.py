"""Doors of a training: batches that come from elsewhere, any schedule of rates, centred steps."""

import hashlib
import warnings

import numpy as np
import pytest
from helpers_stats import joint_table, log_sum

import rbmlib as rl
from rbmlib.numerics import expit
from rbmlib.training import cd, loop

RNG = np.random.default_rng(8)
DATA = (RNG.random((40, 6)) < [0.9, 0.2, 0.5, 0.7, 0.1, 0.5]).astype(np.uint8)
WEIGHTS, VISIBLE, HIDDEN = (RNG.normal(size=size) / 2 for size in ((6, 3), 6, 3))
START = rl.BernoulliRBM(WEIGHTS, VISIBLE, HIDDEN)
NAMES = ("weights", "visible_bias", "hidden_bias")


def parameters(model):
    return [getattr(model, name) for name in NAMES]


def trained(data=DATA, n_hidden=3, start=START, **options):
    options = {"n_updates": 12, "batch_size": 8, "learning_rate": 0.5, "rng": 3} | options
    return rl.train(data, n_hidden, start=start, **options)


def same(one, two) -> bool:
    return all(map(np.array_equal, parameters(one.rbm), parameters(two.rbm)))


# batches from elsewhere -------------------------------------------------------------------


@pytest.mark.parametrize("size", [3, 8, 29])
def test_a_stream_of_the_same_rows_trains_to_the_same_bits(monkeypatch, size):
    """In pieces of any size, of any type of number."""
    taken, original = [], loop.Learner.next_rows
    monkeypatch.setattr(loop.Learner, "next_rows", lambda s: taken.append(original(s)) or taken[-1])
    wanted = trained(method="cd")
    rows = DATA[np.concatenate(taken[1:])].astype(float)  # the first would start persistent chains
    pieces = (rows[i : i + size] for i in range(0, len(rows), size))
    assert same(trained(pieces, method="cd"), wanted)
    assert not same(trained((r for r in rows[::-1]), method="cd"), wanted)


class Loader:
    """Batches as a loader of another library gives them: gone through as often as asked."""

    def __iter__(self):
        return iter([DATA[:30], DATA[30:]])


@pytest.mark.parametrize("options", [{}, {"n_hidden": 4, "start": None}, {"centred": True}])
def test_a_loader_is_gone_through_again(options):
    assert same(trained(Loader(), **options), trained(iter([DATA] * 3), **options))


def test_streams_that_are_wrong_are_refused():
    with pytest.raises(ValueError, match=r"data has ended after 40 rows: expected n_updates \* ba"):
        trained(iter([DATA]))
    with pytest.raises(ValueError, match="data has ended after 0 rows"):
        trained(iter([]))
    with pytest.raises(ValueError, match=r"a batch of data has shape \(20, 5\): expected"):
        trained(iter([DATA[:20], DATA[20:, :5]]))
    with pytest.raises(ValueError, match="a batch of data holds values other than"):
        trained(iter([DATA, DATA / 2]))


LETTERS = np.eye(4, dtype=np.uint8)[np.random.default_rng(2).integers(0, 4, (40, 5))].reshape(
    40, 20
)


def test_letters_that_are_trained_as_bits_are_told():
    """One-hot rows of two units or more, not bits that happen to be as many."""
    settings = {"n_hidden": 2, "n_updates": 2, "batch_size": 5, "rng": 0}
    with pytest.warns(
        UserWarning, match=r"5 groups of 4 with a single 1.*rl\.Categories\(np\.zer.*q=4"
    ):
        rl.train(LETTERS, **settings)
    start = rl.RBM(rl.Categories(np.zeros(20), q=4), rl.Bits(np.zeros(2)), np.zeros((20, 2)))
    moved = LETTERS.copy()
    moved[0, 3:5] = moved[0, 4:2:-1]  # from one group to another
    moved[0, :4] = [1, 1, 0, 0]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        rl.train(LETTERS, **settings, start=start)
        rl.train(LETTERS[:, :19], **settings)
        rl.train(moved, **settings)
        rl.train(np.eye(6), **settings)
        rl.train(np.tile([[1, 0, 0, 1], [0, 1, 0, 1]], (5, 1)), **settings)


def test_fewer_rows_than_a_batch_are_told_the_batch_that_fits():
    with pytest.raises(ValueError, match=r"data has 10 rows.*which is 100; give batch_size=10 or"):
        rl.train(np.eye(10), 3)


# rates ------------------------------------------------------------------------------------


@pytest.mark.parametrize("given", [lambda u: 0.5 - u / 32, 0.5 - np.arange(12) / 32,
                                   (0.5 - np.arange(12) / 32).tolist()])  # fmt: skip
def test_a_schedule_of_rates(given):
    """A line that is exact in floating point: as numbers, as an array, as a function."""
    found = trained(learning_rate=given)
    assert same(found, trained(learning_rate=0.5, final_learning_rate=0.5 - 11 / 32))
    assert found.settings["learning_rate"].tolist() == (0.5 - np.arange(12) / 32).tolist()
    assert not same(found, trained())


def test_settings_of_many_rates_print_their_ends():
    found = trained(learning_rate=lambda u: 0.1 / (1 + u), n_updates=1200)
    assert found.settings["learning_rate"][1] == 0.05
    assert len(str(found.settings)) < 1000


@pytest.mark.parametrize(("options", "said"), [
    ({"learning_rate": [0.1] * 11}, "learning_rate has 11 values"),
    ({"learning_rate": [0.1] * 12, "final_learning_rate": 1}, "final_learning_rate is 1: expected"),
    ({"learning_rate": lambda u: 0.1 - u}, r"learning_rate\[1\] is -0.9: expected"),
    ({"learning_rate": lambda u: None}, r"learning_rate\[0\] is None: expected"),
    ({"learning_rate": np.full((12, 2), 0.1)}, r"learning_rate\[0\] is array"),
])  # fmt: skip
def test_rates_that_are_wrong_are_refused(options, said):
    with pytest.raises(ValueError, match=said):
        trained(**options)


# centred gradients ------------------------------------------------------------------------

CENTRE = np.array([0.8, 0.3, 0.5, 0.6, 0.2, 0.4]), np.array([0.3, 0.6, 0.5])
ENDS = np.cumsum([18, 6])


def parts(theta):
    weights, visible, hidden = np.split(theta, ENDS)
    return weights.reshape(6, 3), visible, hidden


def plain(theta):
    """Weights and biases of the model of ``(v - mu)' W (h - lambda) + b'v + a'h``."""
    weights, visible, hidden = parts(theta)
    mu, lam = CENTRE
    return weights, visible - weights @ lam, hidden - weights.T @ mu


def log_likelihood(model):
    table = joint_table(*model)
    rows = DATA @ (1 << np.arange(6))
    return (log_sum(table, axis=1) - log_sum(table))[rows].mean()


def slope(f, x, step=1e-5):
    """By central differences."""
    return np.array([(f(x + e) - f(x - e)) / (2 * step) for e in step * np.eye(len(x))])


def test_a_centred_step_is_a_gradient_step_of_the_centred_model():
    """Both by differences of exact likelihoods; the second also says how far it must rise."""
    mu, lam = CENTRE
    theta = np.concatenate([WEIGHTS.ravel(), VISIBLE + WEIGHTS @ lam, HIDDEN + WEIGHTS.T @ mu])
    now = plain(theta)
    np.testing.assert_allclose(now[1], VISIBLE)
    flat = np.concatenate([part.ravel() for part in now])
    gradients = parts(slope(lambda x: log_likelihood(parts(x)), flat))
    step = cd.centred(gradients, mu, lam)
    ascent = slope(lambda x: log_likelihood(plain(x)), theta)
    rate = 1e-4
    moved = [part + rate * change for part, change in zip(now, step, strict=True)]
    for found, wanted in zip(moved, plain(theta + rate * ascent), strict=True):
        np.testing.assert_allclose(found, wanted, rtol=0, atol=1e-12)
    rise = log_likelihood(moved) - log_likelihood(now)
    assert rise == pytest.approx(rate * ascent @ ascent, rel=0.01)
    assert np.abs(step[1] - gradients[1]).max() > 0.01, "otherwise plain gradients would pass"


class RareBits(rl.Bits):
    """Bits of which the rarer value lies at u = 0: those that mean the opposite are drawn alike."""

    def draw(self, x, rng, n=None):
        p, u = expit(x), rng.random(x.shape)
        return np.where(p > 0.5, 1 - u <= p, u < p).astype(np.float32)


def flipped(model, which):
    """The model of ``1 - v`` in some units: the same probabilities."""
    sign = np.where(which, -1, 1)
    weights, visible, hidden = model
    return weights * sign[:, None], visible * sign, hidden + weights[which].sum(axis=0)


@pytest.mark.parametrize("options", [{}, {"momentum": 0.5}, {"weight_decay": 0.05}])
@pytest.mark.parametrize("method", ["cd", "pcd"])
@pytest.mark.parametrize("centred", [True, False])
def test_flipped_data_train_the_flipped_model_if_steps_are_centred(method, centred, options):
    which = np.array([True, False, True, True, False, False])
    found = []
    for data, (weights, *biases) in (
        (DATA, (WEIGHTS, VISIBLE, HIDDEN)),
        (DATA ^ which, flipped((WEIGHTS, VISIBLE, HIDDEN), which)),
    ):
        start = rl.RBM(*map(RareBits, biases), weights)
        result = trained(data, start=start, method=method, centred=centred, **options)
        found.append(parameters(result.rbm))
    assert np.abs(found[0][0] - WEIGHTS).max() > 0.1, "otherwise the test sees nothing"
    off = [np.abs(a - b).max() for a, b in zip(flipped(found[0], which), found[1], strict=True)]
    if centred:
        assert max(off) < 1e-12
    else:
        assert max(off) > 0.01


@pytest.mark.parametrize("method", ["cd", "pcd"])
def test_compiled_centred_updates_are_those_of_any_two_layers(method):
    options = {"method": method, "centred": True, "momentum": 0.5, "weight_decay": 0.02, "rng": 9}
    layers = RareBits(VISIBLE), RareBits(HIDDEN)
    defined = trained(start=rl.RBM(*layers, WEIGHTS), **options).rbm
    found = trained(**options).rbm
    assert np.abs(defined.weights - trained(**options | {"centred": False}).rbm.weights).max() > 0.1
    for one, two in zip(parameters(found), parameters(defined), strict=True):
        np.testing.assert_allclose(one, two, atol=4 * 12 * 2.0**-16)


def test_centred_training_reaches_the_patterns_when_almost_all_bits_are_on():
    """Three patterns, flipped: plain steps of as many updates are worse."""
    patterns = np.array([[1, 1, 1, 0, 0, 0], [0, 0, 0, 1, 1, 1], [1, 0, 1, 0, 1, 0]], np.uint8)
    data = np.tile(1 - np.hstack([patterns, 0 * patterns]), (40, 1))
    seen = [
        trained(data, 4, None, n_updates=1500, batch_size=60, learning_rate=0.1, centred=centred)
        .history["log_likelihood"][-1] for centred in (False, True)
    ]  # fmt: skip
    assert seen[0] < seen[1] < -np.log(3)
    assert seen[1] > -1.6


def test_tempered_steps_and_steps_of_ones_own_can_be_centred():
    means = []

    def step(parameters, averages, gradients, rate):
        means.append(gradients[1])

    for centred in (True, False):
        tracker = rl.LogZTracker(rl.base_rate(DATA), n_chains=50, n_sweeps=2, rng=1)
        trained(method="tempered", tracker=tracker, optimizer=step, n_updates=1, centred=centred)
    assert (means[0] != means[1]).any()
    with pytest.raises(TypeError, match="centred is a str: expected True or False"):
        trained(centred="yes")


# looks ------------------------------------------------------------------------------------


def test_looks_take_no_longer_than_what_they_look_at():
    """Sums over 2**20 states are not made ten times in a short training."""
    for n_hidden, n_updates, every in ((20, 10, 10), (20, 1400, 699), (3, 1400, 140)):
        model = rl.BernoulliRBM(np.zeros((6, n_hidden)), VISIBLE, np.zeros(n_hidden))
        learner = cd.ContrastiveDivergence.__new__(cd.ContrastiveDivergence)
        learner.model = model
        found = loop.looks_every(None, n_updates, learner.apart)
        assert min(found, n_updates) == every


# the same bits on any processor -------------------------------------------------------------

DIGESTS = {  # of an x86-64 with AVX2; `make test-all` runs this without its vector units
    "cd": "f2f011281892cfe2",
    "pcd, momentum, decay": "b088fbae27b235dc",
    "centred": "db66bd9eba25afd3",
    "100 rows of 784": "edf130c2b53067dd",
}


@pytest.mark.parametrize("case", DIGESTS)
def test_training_gives_these_bits_on_any_processor(case):
    options = {"cd": {"method": "cd", "n_sweeps": 2}, "centred": {"centred": True, "momentum": 0.5},
               "pcd, momentum, decay": {"momentum": 0.5, "weight_decay": 0.01}}  # fmt: skip
    size, n_hidden = (784, 70) if case[0] == "1" else (45, 33)
    numbers = np.arange(300 * size, dtype=np.uint64).reshape(300, size)
    data = (numbers * np.uint64(2654435761) % np.uint64(2**32) < 2**30).astype(np.uint8)
    result = trained(data, n_hidden, None, batch_size=100, n_updates=40, **options.get(case, {}))
    found = hashlib.sha256(
        b"".join(part.astype("<f4").tobytes() for part in parameters(result.rbm))
    )
    assert found.hexdigest()[:16] == DIGESTS[case]
