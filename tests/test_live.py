"""The model of a chapter's live part: its data, its base, and what a chapter cannot take."""

import numpy as np
import pytest

import rbmlib as rl
from rbmbook import live_model
from rbmbook.live import NO_THRESHOLD, live_rows
from rbmbook.page import begin_families

RNG = np.random.default_rng(0)
ROWS = (RNG.random((40, 9)) < 0.4).astype(np.uint8)


@pytest.fixture
def mine(tmp_path):
    path = tmp_path / "mine.npz"
    rl.testsystems.random_rbm(9, 4, rng=0).save(path)
    return str(path)


@pytest.fixture
def rows(tmp_path):
    return stored(tmp_path, ROWS)


def test_a_model_of_ones_own_with_data(mine, rows):
    live = live_model(mine, rows)
    np.testing.assert_array_equal(live.train, ROWS)
    np.testing.assert_array_equal(live.base, rl.base_rate(ROWS))
    assert live.reference is None
    assert "9 visible and 4 hidden units" in live.sentence()
    assert "base rate of 40 rows of data" in live.sentence()


def test_without_data_the_base_is_a_mean_field_fit(mine):
    live = live_model(mine)
    assert live.train is None
    np.testing.assert_array_equal(live.base, rl.mean_field_bias(live.rbm))
    assert "no data are given" in live.sentence()


def test_published_sizes_have_mnist_but_for_data_of_ones_own(tmp_path):
    live = live_model("pcd_10")
    assert live.train.shape == (60_000, 784)
    assert live.reference is not None
    assert "images of MNIST" in live.sentence()
    live = live_model("pcd_10", stored(tmp_path, (RNG.random((30, 784)) < 0.4).astype(np.uint8)))
    assert "base rate of 30 rows of data" in live.sentence()


def test_intensities_need_a_threshold(mine, tmp_path):
    grey = RNG.random((20, 9))
    path = stored(tmp_path, grey)
    with pytest.raises(ValueError, match=r"intensities.*-p threshold 0\.5"):
        live_model(mine, path)
    np.testing.assert_array_equal(live_model(mine, path, 0.5).train, grey > 0.5)


def test_a_model_of_spins_is_no_model_of_a_chapter(mine, tmp_path):
    """Neither by its rows, with or without a threshold, nor by what is said of its units; of a
    file that says nothing of them the first line names those that were taken."""
    np.save(signs := str(tmp_path / "signs.npy"), 2.0 * ROWS - 1)
    rbm = rl.load_rbm(mine)
    arrays = {"J": rbm.weights.T, "u": rbm.visible_bias, "v": rbm.hidden_bias}
    np.savez(tmp_path / "f.npz", **arrays)
    names, spins = "weights=J,visible_bias=u,hidden_bias=v", str(tmp_path / "spins.npz")
    rl.load_rbm(tmp_path / "f.npz", names=names, units="spins").save(spins)
    for threshold in ((), (0.0,)):
        with pytest.raises(ValueError, match=r"data.*-1 and \+1 alone.*--units spins"):
            live_model(mine, signs, *threshold)
    with pytest.raises(ValueError, match=r"data.*-1 and \+1 alone.*--units spins"):
        live_rows(signs, -1.0, 0)
    with pytest.raises(ValueError, match=r"RBM\(Spin\(9\), Spin\(4\)\): expected.*0 and 1"):
        live_model(spins)
    live = live_model(mine)
    np.testing.assert_array_equal(live.rbm.weights, rbm.weights)
    assert "9 visible and 4 hidden units of 0 and 1;" in live.sentence()


def test_what_a_chapter_cannot_take_is_refused_by_the_parameter(mine, rows, tmp_path):
    rl.GaussianRBM(np.ones((4, 2))).save(tmp_path / "g.npz")
    np.save(tmp_path / "wide.npy", np.zeros((3, 5)))
    for arguments, words in (
        ((str(tmp_path / "g.npz"),), "model.*a BernoulliRBM"),
        (("no_such_model",), "model.*no_such_model"),
        ((str(tmp_path / "absent.npz"),), r"model.*absent\.npz"),
        ((mine, str(tmp_path / "wide.npy")), r"data.*wide\.npy holds an array of shape"),
        ((mine, str(tmp_path / "absent.npy")), r"data.*absent\.npy"),
        ((mine, "", 0.5), "threshold is 0.5, but no data are given"),
        ((mine, rows, 2.0), "threshold is 2.0, and makes all"),
    ):
        with pytest.raises(ValueError, match=words):
            live_model(*arguments)


# rows of a live training that overfits ----------------------------------------------------------


def stored(folder, rows) -> str:
    np.save(folder / "rows.npy", rows)
    return str(folder / "rows.npy")


@pytest.mark.parametrize(("n", "few", "others"), [(50, 25, 25), (150, 75, 75), (900, 100, 600)])
def test_own_rows_are_used_once(tmp_path, n, few, others):
    own = (np.arange(n)[:, None] >> np.arange(10) & 1).astype(np.uint8)  # rows that differ
    rows = live_rows(stored(tmp_path, own), NO_THRESHOLD, 3)
    assert (len(rows.few), len(rows.validation)) == (few, others)
    used = np.concatenate([rows.few, rows.validation])
    assert len(np.unique(used, axis=0)) == few + others
    assert not np.array_equal(used, own[: few + others])


def test_a_threshold_makes_bits(tmp_path):
    own = np.tile([0.2, 0.6], (60, 1))
    assert live_rows(stored(tmp_path, own), 0.5, 0).few.tolist() == [[0, 1]] * 30


def test_dna_without_data_and_what_is_refused(tmp_path):
    rows = live_rows("", NO_THRESHOLD, 0)
    assert (rows.few.shape, rows.validation.shape) == ((100, 180), (600, 180))
    with pytest.raises(ValueError, match=r"threshold is 0\.5, but no data"):
        live_rows("", 0.5, 0)
    with pytest.raises(ValueError, match=r"data is .*39 rows: expected 40 or more"):
        live_rows(stored(tmp_path, np.ones((39, 3), np.uint8)), NO_THRESHOLD, 0)


LETTERS = np.random.default_rng(0).integers(0, 4, size=(60, 8))


def fasta(path, letters=LETTERS):
    words = ("".join("ACGT"[k] for k in row) for row in letters)
    path.write_text("".join(f">s\n{word}\n" for word in words))
    return str(path)


def begun(model="", data="", alphabet="ACGT"):
    names = {"model": model, "data": data, "alphabet": alphabet}
    begin_families(names | {"__annotations__": dict.fromkeys(names, str)})


def test_what_the_lesson_on_proteins_cannot_take_is_refused_by_the_parameter(tmp_path):
    good = fasta(tmp_path / "good.fasta")
    few = fasta(tmp_path / "few.fasta", np.tile(LETTERS[:39], (2, 1)))
    bad = tmp_path / "bad.fasta"
    bad.write_text(">a\nACGT\n>b\nACXT\n")
    rl.testsystems.random_rbm(32, 3, rng=0).save(tmp_path / "bits.npz")
    for arguments, words in (
        (("no-such-model", good), "model is 'no-such-model'"),
        (
            (str(tmp_path / "bits.npz"), good),
            "model.*expected, as the data have, Potts of 8 sites with 4",
        ),
        (("", str(bad)), r"data is .*line 4: 'X' is not in the alphabet"),
        (("", "absent.fasta"), "data is 'absent.fasta': no FASTA file"),
        (("", few), "39 different sequences: expected 40"),
        (("", good, "AAC"), "alphabet is 'AAC'"),
        (("", ""), "data is '': the WW domain has an alphabet of its own"),
    ):
        with pytest.raises(ValueError, match=words):
            begun(*arguments)


def test_a_model_of_the_readers_own_is_taken(tmp_path):
    rbm = rl.RBM(rl.Potts(np.zeros(32), 4), rl.Binary(np.zeros(2)), np.ones((32, 2)))
    rbm.save(tmp_path / "mine.npz")
    begun(str(tmp_path / "mine.npz"), fasta(tmp_path / "s.fasta"))
