"""Doors of a training: batches that come from elsewhere, any schedule of rates."""

import hashlib
import warnings

import numpy as np
import pytest

import rbmlib as rl
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


def test_streams_that_are_wrong_are_refused():
    with pytest.raises(ValueError, match=r"data has ended after 40 rows: expected n_updates \* ba"):
        trained(iter([DATA]))
    with pytest.raises(ValueError, match="data has ended after 0 rows"):
        trained(iter([]))
    with pytest.raises(ValueError, match=r"a batch of data has shape \(20, 5\): expected"):
        trained(iter([DATA[:20], DATA[20:, :5]]))
    with pytest.raises(ValueError, match=r"a batch of data holds values .*one of 0, 1; binarise"):
        trained(iter([DATA, DATA / 2]))


LETTERS = np.eye(4, dtype=np.uint8)[np.random.default_rng(2).integers(0, 4, (40, 5))].reshape(
    40, 20
)


def test_letters_that_are_trained_as_bits_are_told():
    """One-hot rows of two units or more, not bits that happen to be as many."""
    settings = {"n_hidden": 2, "n_updates": 2, "batch_size": 5, "rng": 0}
    with pytest.warns(UserWarning, match=r"5 groups of 4 with a single 1.*rl\.Potts\(np\.zer.*q=4"):
        rl.train(LETTERS, **settings)
    start = rl.RBM(rl.Potts(np.zeros(20), q=4), rl.Binary(np.zeros(2)), np.zeros((20, 2)))
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


def test_a_schedule_of_rates():
    """As an array or a list; one that is constant is a number."""
    rates = np.linspace(0.5, 0.1, 12)
    found = trained(learning_rate=rates)
    assert found.settings["learning_rate"].tolist() == rates.tolist()
    assert same(found, trained(learning_rate=rates.tolist()))
    assert not same(found, trained(learning_rate=rates[::-1]))
    assert same(trained(learning_rate=[0.5] * 12), trained(learning_rate=0.5))


def test_settings_of_many_rates_print_their_ends():
    found = trained(learning_rate=0.1 / (1 + np.arange(1200)), n_updates=1200)
    assert found.settings["learning_rate"][1] == 0.05
    assert len(str(found.settings)) < 1000


@pytest.mark.parametrize(("rates", "said"), [
    ([0.1] * 11, r"learning_rate has shape \(11,\): expected a number, or \(12,\), one an update"),
    (np.full((12, 2), 0.1), r"learning_rate has shape \(12, 2\)"),
    (0.1 - np.arange(12), r"learning_rate is -10.9: expected a number of at least 0"),
    ([0.1] * 11 + [1e39], r"learning_rate is 1e\+39: expected"),
    (lambda u: 0.1, r"learning_rate is <function"),
])  # fmt: skip
def test_rates_that_are_wrong_are_refused(rates, said):
    with pytest.raises(ValueError, match=said):
        trained(learning_rate=rates)


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
    "100 rows of 784": "edf130c2b53067dd",
}


@pytest.mark.parametrize("case", DIGESTS)
def test_training_gives_these_bits_on_any_processor(case):
    options = {"cd": {"method": "cd", "n_sweeps": 2},
               "pcd, momentum, decay": {"momentum": 0.5, "weight_decay": 0.01}}  # fmt: skip
    size, n_hidden = (784, 70) if case[0] == "1" else (45, 33)
    numbers = np.arange(300 * size, dtype=np.uint64).reshape(300, size)
    data = (numbers * np.uint64(2654435761) % np.uint64(2**32) < 2**30).astype(np.uint8)
    result = trained(data, n_hidden, None, batch_size=100, n_updates=40, **options.get(case, {}))
    found = hashlib.sha256(
        b"".join(part.astype("<f4").tobytes() for part in parameters(result.rbm))
    )
    assert found.hexdigest()[:16] == DIGESTS[case]
